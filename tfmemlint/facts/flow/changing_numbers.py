"""Python numbers that loops give another value in each of many rounds."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.flow.remade_functions import A_FEW
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.members import body_values
from tfmemlint.facts.syntax.nodes import called, is_negated, is_quotient, is_remainder
from tfmemlint.light_typing import NamedTuple

_MAX_HOPS = 5
_MOST_CALLS = 2
_NUMBERS = frozenset({"float", "int", "len", "round"})
_BOUNDS = frozenset({"max", "min"})
_DRAWS_WHOLE = frozenset({"numpy.random.randint", "random.randint", "random.randrange"})
_DRAWS = _DRAWS_WHOLE | {"numpy.random.uniform", "random.gauss", "random.random", "random.uniform"}
_CONSTANTS = frozenset({"math.e", "math.pi"})
_ROUNDS = ("math.ceil", "math.floor", "math.trunc")


class Change(NamedTuple):
    """How a number changes."""

    loop: Loop
    """What gives it its next value."""
    whole: bool
    """Whether it is an integer, as far as can be told."""


class ChangingNumbers:
    """The numbers of a module that have many values, one after the other."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._flow = tf.flow
        self._values = tf.values
        self._loops = tf.loops
        self._tracing = tf.tracing

    def of(self, number: ast.expr, at: ast.AST) -> Change | None:
        """What gives a Python number another of many values each time the code at `at` runs."""
        return self._change(number, at, _MAX_HOPS)

    def run_by(self, node: ast.AST) -> Iterator[Loop]:
        """The loops around a node, and around the calls of its function."""
        for each in self._callers.leading_to(node, _MOST_CALLS):
            yield from self._loops.around(each)

    # What changes.

    def _change(self, number: ast.expr, at: ast.AST, hops: int) -> Change | None:
        if hops == 0:
            return None
        if isinstance(number, ast.Name):
            found = [self._bound(each, at, hops) for each in self._bindings.reaching(number)]
            change = next((each for each in found if each is not None), None)
            return change or self._put(number, at, hops)
        if isinstance(number, ast.UnaryOp) and isinstance(number.op, ast.USub):
            return self._change(number.operand, at, hops)
        if isinstance(number, ast.BinOp):
            return self._calculated(number, at, hops)
        if isinstance(number, ast.Call):
            return self._called(number, at, hops) or self._put(number, at, hops)
        if isinstance(number, ast.Attribute):
            return self._counted(number, at) or self._put(number, at, hops)
        return self._put(number, at, hops) if isinstance(number, ast.Subscript) else None

    def _put(self, number: ast.expr, at: ast.AST, hops: int) -> Change | None:
        """What changes a number that each round puts somewhere, to be read from there."""
        origins = self._flow.origins(number) or ()
        around = [each.node for each in self._loops.around(at)]
        found: list[Change] = []
        for origin in origins:
            value, frame = origin.value, origin.frame
            while isinstance(value, ast.Name) and frame is not None:
                given = self._flow.named(value, frame) or ()
                if len(given) != 1 or not given[0].is_whole:
                    return None
                if given[0].value is value:
                    return None
                value, frame = given[0].value, given[0].frame
            in_round = any(self._tree.inside(value, each) for each in around)
            whole = origin.is_whole and value is not number
            asked = whole and (in_round or not around)
            change = self._change(value, value, hops - 1) if asked else None
            if change is None or not (in_round or change.loop in self.run_by(at)):
                return None
            found.append(change)
        return found[0] if found else None

    def _counted(self, attribute: ast.Attribute, at: ast.AST) -> Change | None:
        """`self.step`, where `self.step += 1` is run by a loop that runs the code at `at`."""
        counts = self._counts.get(attribute.attr, ())
        owner = self._functions.instance_of(attribute.value)
        if owner is None:
            return None
        name = attribute.attr
        values = self._functions.attributes(owner, name)
        carried = [each for each in values if self._is_made_of(each, name)]
        starts = [each for each in values if each not in carried] or [*body_values(owner, name)]
        if len(starts) != 1 or not all(map(self._is_number, starts)):
            return None  # set anew it may have few values
        own = (
            each
            for each in counts
            if isinstance(each.target, ast.Attribute)
            and self._functions.instance_of(each.target.value) is owner
            and self._is_number(each.value)
        )
        loops = [*self.run_by(at)]
        ways: list[ast.AugAssign | ast.expr] = [*own, *carried]
        for count in ways:
            shared = (each for each in self.run_by(count) if each in loops and _is_many(each))
            loop = next(shared, None)
            if loop is not None and not self._is_chosen(count):
                sums = isinstance(getattr(count, "op", None), (ast.Add, ast.Sub))
                numbers = (*starts, getattr(count, "value", None))
                whole = all(isinstance(getattr(each, "value", None), int) for each in numbers)
                return Change(loop, whole and sums)
        return None

    def _is_made_of(self, value: ast.expr, attribute: str) -> bool:
        """Whether an attribute is calculated of what it was: `self.rate = self.rate * 0.9`."""
        read = (each.attr for each in ast.walk(value) if isinstance(each, ast.Attribute))
        return self._is_calculated(value) and attribute in read

    def _is_chosen(self, count: ast.AugAssign | ast.expr) -> bool:
        """Whether a comparison or a call decides each time whether there is something to count."""
        function = self._tree.function(count) or self._tree.module
        return any(
            isinstance(each, (ast.Call, ast.Compare))
            for test, _ in self._tree.tests(count, function)
            for each in ast.walk(test)
        )

    @cached_property
    def _counts(self) -> Mapping[str, list[ast.AugAssign]]:
        """What counts an attribute, by the attribute's name."""
        found: dict[str, list[ast.AugAssign]] = {}
        for each in self._tree.all(ast.AugAssign):
            counts = isinstance(each.op, (ast.Add, ast.Sub, ast.Mult, ast.Div))
            if counts and isinstance(each.target, ast.Attribute):
                found.setdefault(each.target.attr, []).append(each)
        return found

    def _bound(self, binding: Binding, at: ast.AST, hops: int) -> Change | None:
        around = self._loops.around(at)
        if self._tree.function(at) is not self._tree.function(binding.node):
            around = tuple(self.run_by(at))  # a name of the code around the function
        if binding.how is How.LOOPED:
            loop = next(
                (
                    each
                    for each in around
                    if not isinstance(each.node, ast.While)
                    and self._tree.inside(binding.node, each.node.target)
                ),
                None,
            )
            if loop is None or not _is_many(loop):
                return None
            if self._values.bound(binding).kind is Kind.NUMBER:
                return Change(loop, True)
            return self._yielded(binding, loop, hops)
        if binding.how is How.AUGMENTED:
            loop = next((each for each in around if self._in_body(binding, each)), None)
            if loop is None or not _is_many(loop) or self._is_seldom(binding.node, loop):
                return None
            others = self._bindings.of(self._tree.scope(binding.node), binding.name)
            values = [each.value for each in others if each.value is not None]
            numbers = len(values) == len(others) and all(map(self._is_number, values))
            whole = all(isinstance(getattr(each, "value", None), int) for each in values)
            return Change(loop, whole) if numbers else None
        if binding.value is not None and binding.is_whole:
            loop = next((each for each in around if self._in_body(binding, each)), None)
            if loop is None:
                drawn = isinstance(binding.value, ast.Call) and self._draws(binding.value)
                here = self._tree.function(binding.node) is self._tree.function(at) is not None
                return self._change(binding.value, binding.node, 1) if drawn and here else None
            if _is_many(loop) and self._is_carried(binding, loop):
                return Change(loop, False)
            return self._change(binding.value, binding.node, hops - 1)
        if binding.how is How.PARAMETER:
            return self._passed(binding, hops)
        return None

    def _yielded(self, binding: Binding, loop: Loop, hops: int) -> Change | None:
        """What a generator of the module gives a loop: `for rate in schedule(steps)`."""
        call = loop.iterable
        whole = isinstance(loop.node, (ast.For, ast.AsyncFor)) and loop.node.target is binding.node
        function = self._functions.function(call.func) if isinstance(call, ast.Call) else None
        yielded = self._bodies.yields(function) if whole and function is not None else ()
        if len(yielded) != 1:
            return None
        change = self._change(yielded[0], yielded[0], hops - 1)
        return change and Change(loop, change.whole)

    def _is_carried(self, binding: Binding, loop: Loop) -> bool:
        """Whether a loop makes a number of itself: `rate = max(1e-5, rate * 0.99)`."""
        others = self._bindings.of(self._tree.scope(binding.node), binding.name)
        starts = [each for each in others if each is not binding]
        value = binding.value
        if value is None or not self._is_calculated(value) or len(starts) != 1:
            return False
        begun = starts[0].value
        if begun is None or starts[0].path or not self._is_number(begun):
            return False
        carried = any(
            isinstance(each, ast.Name) and binding in self._bindings.reaching(each)
            for each in ast.walk(value)
        )
        return carried and not self._is_seldom(binding.node, loop)

    def _is_calculated(self, node: ast.expr) -> bool:
        """Whether an expression is arithmetic on names and numbers, with many values."""
        if isinstance(node, ast.BinOp):
            few = isinstance(node.op, (ast.Mod, ast.FloorDiv, ast.MatMult))
            return not few and self._is_calculated(node.left) and self._is_calculated(node.right)
        if isinstance(node, ast.Call):
            bounds = called(node) in _BOUNDS
            return bounds and not node.keywords and all(map(self._is_calculated, node.args))
        return isinstance(node, (ast.Name, ast.Attribute, ast.Constant))

    def _is_seldom(self, node: ast.AST, loop: Loop) -> bool:
        """Whether a test that each round decides anew stands before it: `if loss < best:`."""
        return any(
            any(map(is_remainder, ast.walk(test)))
            or not (self._loops.invariant(test, loop) or self._is_switched_once(test, loop))
            for test, _ in self._tree.tests(node, loop.node)
        )

    def _is_switched_once(self, test: ast.expr, loop: Loop) -> bool:
        """Whether a loop gives a name one value alone: `if warm:`, where it says `warm = True`."""
        if not isinstance(test, ast.Name):
            return False
        given = [each for each in self._bindings.reaching(test) if self._in_body(each, loop)]
        return all(isinstance(each.value, ast.Constant) for each in given) and len(given) == 1

    def _passed(self, binding: Binding, hops: int) -> Change | None:
        found = (
            self._change(given, call, hops - 1) for call, given in self._tracing.given(binding)
        )
        return next(filter(None, found), None)

    def _calculated(self, number: ast.BinOp, at: ast.AST, hops: int) -> Change | None:
        if isinstance(number.op, (ast.Mod, ast.FloorDiv, ast.MatMult)):
            return None  # few values, or not a number
        sides = (number.left, number.right)
        found = [self._change(each, at, hops) for each in sides]
        if not all(
            varies is not None or self._is_number(side)
            for side, varies in zip(sides, found, strict=True)
        ):
            return None
        inner = sorted(filter(None, found), key=lambda each: -getattr(each.loop.node, "lineno", 0))
        first = inner[0] if inner else None
        divides = isinstance(number.op, (ast.Div, ast.Pow))
        floats = any(isinstance(getattr(each, "value", None), float) for each in sides)
        known = all(varies is None or varies.whole for varies in found)
        return first and first._replace(whole=known and not divides and not floats)

    def _called(self, call: ast.Call, at: ast.AST, hops: int) -> Change | None:
        """`float(x)`, `x.item()`, and functions of the module that give back numbers."""
        builtin = called(call)
        given = call.args[0] if len(call.args) == 1 else None
        if builtin in _BOUNDS and len(call.args) > 1:
            return self._bounded(call.args, at, hops)
        if self._draws(call):
            loop = next((each for each in self.run_by(at) if _is_many(each)), None)
            return loop and Change(loop, self._names.qualified(call.func) in _DRAWS_WHOLE)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "item":
            builtin, given = "float", call.func.value
        if builtin in ("float", "int") and given is not None:
            if isinstance(given, (ast.BoolOp, ast.Compare)) or is_negated(given):
                return None  # 0 or 1
            varies = self._change(given, at, hops - 1)
            if varies is not None:
                if builtin == "int" and is_quotient(given):
                    return None  # few values, as `//` has
                return varies._replace(whole=builtin == "int")
            changing = (
                loop
                for loop in self._loops.around(at)
                if _is_many(loop) and not self._loops.invariant(given, loop)
            )
            loop = next(changing, None)
            return Change(loop, builtin == "int") if loop is not None else None
        if self._is_of_math(call):
            return self._bounded(call.args, at, hops)
        passed = (self._change(each, at, hops - 1) for each in call.args)
        first = next((each for each in passed if each is not None), None)
        if first is not None and self._values.of(call).kind is not Kind.NUMBER:
            function = self._functions.function(call.func)
            found = self._bodies.returns(function) if function is not None else ()
            return self._change(found[0], found[0], hops - 1) if len(found) == 1 else None
        return first and first._replace(whole=False)

    def _is_of_math(self, call: ast.expr) -> bool:
        """Whether Python calculates a number of others, as `math.cos(x)` does."""
        return (name := self._names.called(call)).startswith("math.") and name not in _ROUNDS

    def _draws(self, call: ast.Call) -> bool:
        several = len(call.args) > 2 or any(each.arg == "size" for each in call.keywords)
        return self._names.is_any(call.func, _DRAWS) and not several

    def _bounded(self, args: list[ast.expr], at: ast.AST, hops: int) -> Change | None:
        """`min(1.0, step / 5000)`: what changes, if all the others are numbers."""
        found = [self._change(each, at, hops - 1) for each in args]
        first = next((each for each in found if each is not None), None)
        known = all(
            varies is not None or self._is_number(each)
            for each, varies in zip(args, found, strict=True)
        )
        return first and first._replace(whole=False) if known else None

    def _is_number(self, expression: ast.expr) -> bool:
        """Whether an expression is a number of Python's own: one known, or one that loops count."""
        if self._values.number(expression) is not None:
            return True
        is_number = self._values.of(expression).kind is Kind.NUMBER
        if is_number or self._names.is_any(expression, _CONSTANTS):
            return True
        if isinstance(expression, ast.Call):
            return called(expression) in _NUMBERS or self._is_of_math(expression)
        if isinstance(expression, ast.BinOp):
            return self._is_number(expression.left) and self._is_number(expression.right)
        binding = self._bindings.only(expression)
        return binding is not None and any(
            isinstance(above := self._tree.parent(use), ast.Call) and called(above) == "range"
            for use in self._bindings.readers(binding)
        )

    def _in_body(self, binding: Binding, loop: Loop) -> bool:
        return self._tree.inside(binding.node, loop.node)


def _is_many(loop: Loop) -> bool:
    return loop.trips is None or loop.trips > A_FEW
