"""Python numbers that change from call to call, given to traced functions.

A number of Python's own is part of what a graph is made for: each new one has the function traced
again. A tensor of it is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cached_property

from tfmemlint.facts.bindings import Binding, How
from tfmemlint.facts.kinds import Kind
from tfmemlint.facts.loops import Loop
from tfmemlint.facts.remakes import A_FEW
from tfmemlint.facts.tracing import TracedBy
from tfmemlint.facts.tree import FunctionNode
from tfmemlint.facts.wrappings import RUNS
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow

_MAX_HOPS = 5


class Handled(Enum):
    """What a traced function does with a number."""

    CAST = "is given to `tf.cast`"
    SUMMARY = "is the step of a summary"
    OPERAND = "is an operand or argument of TensorFlow's"
    ARITHMETIC = "is added, multiplied, compared"
    BRANCH = "is asked for by Python"
    STRUCTURE = "says what the graph looks like: a count, a size, a key"
    OTHER = "goes out of sight"


class Retrace(NamedTuple):
    """One argument of one call."""

    call: ast.Call
    argument: ast.expr
    parameter: str
    function: FunctionNode
    loop: Loop
    """What gives the number its next value."""
    whole: bool
    """Whether it is an integer, as far as can be told."""


class Given(NamedTuple):
    """One argument of a call that has a function traced, if it is of a new kind."""

    call: ast.Call
    function: FunctionNode
    parameter: str
    argument: ast.expr


class _Varies(NamedTuple):
    loop: Loop
    whole: bool


class Retraces:
    """Where loops call traced functions with other numbers each time."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._values = tf.values
        self._loops = tf.loops
        self._tracing = tf.tracing
        self._tensors = tf.tensors

    @cached_property
    def all(self) -> tuple[Retrace, ...]:
        """Every such argument, in source order."""
        found: list[Retrace] = []
        for call, function, parameter, argument in self.given(_SIGNED):
            varies = self._varies(argument, call, _MAX_HOPS)
            if varies is not None and not self._is_picked(argument, call):
                found.append(Retrace(call, argument, parameter, function, *varies))
        return tuple(sorted(found, key=lambda each: (each.call.lineno, each.argument.col_offset)))

    def given(self, settled: tuple[str, ...]) -> Iterator[Given]:
        """What eager code gives to functions of `tf.function` that set none of these keywords."""
        for function, why in self._tracing.functions.items():
            if why.by is TracedBy.TF_FUNCTION and not _sets(why.at, settled):
                for call in self._functions.calls_of(function):
                    yield from self._of_call(call, function)
                for call, given in self._runs.get(function, ()):
                    yield from self._of_run(call, given, function)

    def varies(self, number: ast.expr, at: ast.AST) -> Loop | None:
        """The loop that gives a Python number another of many values each time `at` runs."""
        found = self._varies(number, at, _MAX_HOPS)
        return found and found.loop

    def handled(
        self, function: FunctionNode, parameter: str, hops: int = _MAX_HOPS
    ) -> frozenset[Handled]:
        """Everything that a function, and those it passes the number to, do with it."""
        found: set[Handled] = set()
        for binding in self._bindings.of(function, parameter):
            if binding.how is not How.PARAMETER:
                return frozenset({Handled.OTHER})
            for use in self._bindings.readers(binding):
                found.update(self._handles(use, hops))
        return frozenset(found)

    def _of_call(self, call: ast.Call, function: FunctionNode) -> Iterator[Given]:
        if self._tracing.why(call) is not None or self._is_untraced(call.func, function):
            return
        arguments = function.args
        for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            given = self._functions.argument(call, function, parameter.arg)
            if given is not None and self._tree.inside(given, call):
                yield Given(call, function, parameter.arg, given)

    @cached_property
    def _runs(self) -> Mapping[FunctionNode, list[tuple[ast.Call, ast.Tuple]]]:
        """The calls that hand a function and its arguments on: `strategy.run(step, args=(x,))`."""
        found: dict[FunctionNode, list[tuple[ast.Call, ast.Tuple]]] = {}
        for call in self._tree.all(ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr in RUNS and call.args:
                named = (each.value for each in call.keywords if each.arg == "args")
                given = next(iter((*call.args[1:2], *named)), None)
                function = self._functions.function(call.args[0])
                if function is not None and isinstance(given, ast.Tuple):
                    found.setdefault(function, []).append((call, given))
        return found

    def _of_run(self, call: ast.Call, given: ast.Tuple, function: FunctionNode) -> Iterator[Given]:
        if self._tracing.why(call) is not None or self._is_untraced(call.args[0], function):
            return
        if any(isinstance(each, ast.Starred) for each in given.elts):
            return
        taken = _parameters(function)[self._functions.class_of(function) is not None :]
        for parameter, argument in zip(taken, given.elts):  # noqa: B905  others may have defaults
            yield Given(call, function, parameter, argument)

    def _is_picked(self, given: ast.expr, call: ast.Call) -> bool:
        """Whether a test lets few values of a number through: `if step == 0:`."""
        names = {ast.unparse(each) for each in ast.walk(given) if isinstance(each, _NAMES)}
        return any(
            isinstance(above, ast.If)
            and any(self._tree.inside(call, each) for each in above.body)
            and any(_picks(part, names) for part in _conjuncts(above.test))
            for above in self._tree.ancestors(call)
        )

    def _is_untraced(self, callee: ast.expr, function: FunctionNode) -> bool:
        """Whether a call runs the plain function, not what `tf.function` made of it."""
        wraps = self._functions.makes_tf_function
        if any(map(wraps, getattr(function, "decorator_list", ()))):
            return False
        if isinstance(callee, ast.Name):
            binding = self._bindings.only(callee)
            return binding is None or binding.how is How.DEFINED
        return isinstance(callee, ast.Attribute) and callee.attr == getattr(function, "name", "")

    # What changes.

    def _varies(self, number: ast.expr, at: ast.AST, hops: int) -> _Varies | None:
        """What gives a Python number another value each time the code at `at` runs."""
        if hops == 0:
            return None
        if isinstance(number, ast.Name):
            found = [self._bound(each, at, hops) for each in self._bindings.reaching(number)]
            return next((each for each in found if each is not None), None)
        if isinstance(number, ast.UnaryOp) and isinstance(number.op, ast.USub):
            return self._varies(number.operand, at, hops)
        if isinstance(number, ast.BinOp):
            return self._calculated(number, at, hops)
        if isinstance(number, ast.Call):
            return self._called(number, at, hops)
        if isinstance(number, ast.Attribute):
            return self._counted(number, at)
        return None

    def _counted(self, attribute: ast.Attribute, at: ast.AST) -> _Varies | None:
        """`self.step`, where `self.step += 1` is run by a loop that runs the code at `at`."""
        counts = self._counts.get(attribute.attr, ())
        owner = self._functions.instance_of(attribute.value) if counts else None
        if owner is None:
            return None
        values = self._functions.attributes(owner, attribute.attr)
        if len(values) != 1 or not all(map(self._is_number, values)):
            return None  # set anew it may have few values
        loops = [*self._run_by(at)]
        for count in counts:
            target = count.target
            assert isinstance(target, ast.Attribute)
            if self._functions.instance_of(target.value) is owner and self._is_number(count.value):
                shared = (each for each in self._run_by(count) if each in loops)
                loop = next((each for each in shared if _is_many(each)), None)
                if loop is not None:
                    numbers = (*values, count.value)
                    whole = all(isinstance(getattr(each, "value", None), int) for each in numbers)
                    return _Varies(loop, whole and isinstance(count.op, (ast.Add, ast.Sub)))
        return None

    def _run_by(self, node: ast.AST, hops: int = 2) -> Iterator[Loop]:
        """The loops around a node, and around the calls of its function."""
        yield from self._loops.around(node)
        function = self._tree.function(node) if hops else None
        for call in self._functions.calls_of(function) if function is not None else ():
            yield from self._run_by(call, hops - 1)

    @cached_property
    def _counts(self) -> Mapping[str, list[ast.AugAssign]]:
        """What counts an attribute, by the attribute's name."""
        found: dict[str, list[ast.AugAssign]] = {}
        for each in self._tree.all(ast.AugAssign):
            counts = isinstance(each.op, (ast.Add, ast.Sub, ast.Mult, ast.Div))
            if counts and isinstance(each.target, ast.Attribute):
                found.setdefault(each.target.attr, []).append(each)
        return found

    def _bound(self, binding: Binding, at: ast.AST, hops: int) -> _Varies | None:
        around = self._loops.around(at)
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
            is_number = self._values.bound(binding).kind is Kind.NUMBER
            return _Varies(loop, True) if loop and is_number and _is_many(loop) else None
        if binding.how is How.AUGMENTED:
            loop = next((each for each in around if self._in_body(binding, each)), None)
            if loop is None or not _is_many(loop) or self._is_seldom(binding.node):
                return None
            others = self._bindings.of(self._tree.scope(binding.node), binding.name)
            values = [each.value for each in others if each.value is not None]
            numbers = len(values) == len(others) and all(map(self._is_number, values))
            whole = all(isinstance(getattr(each, "value", None), int) for each in values)
            return _Varies(loop, whole) if numbers else None
        if binding.how is How.ASSIGNED and binding.value is not None and not binding.path:
            if any(self._in_body(binding, each) for each in around):
                return self._varies(binding.value, binding.node, hops - 1)
            return None
        if binding.how is How.PARAMETER:
            return self._passed(binding, hops)
        return None

    def _is_seldom(self, node: ast.AST) -> bool:
        """Whether a remainder tells in which rounds code runs: `if epoch % 50 == 0:`."""
        above = self._tree.parent(self._tree.statement(node))
        return isinstance(above, ast.If) and any(
            isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod)
            for each in ast.walk(above.test)
        )

    def _passed(self, binding: Binding, hops: int) -> _Varies | None:
        found = (
            self._varies(given, call, hops - 1) for call, given in self._tracing.given(binding)
        )
        return next(filter(None, found), None)

    def _calculated(self, number: ast.BinOp, at: ast.AST, hops: int) -> _Varies | None:
        if isinstance(number.op, (ast.Mod, ast.FloorDiv, ast.MatMult)):
            return None  # few values, or not a number
        sides = (number.left, number.right)
        found = [self._varies(each, at, hops - 1) for each in sides]
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

    def _called(self, call: ast.Call, at: ast.AST, hops: int) -> _Varies | None:
        """`float(x)`, `x.item()`, and functions of the module that give back numbers."""
        builtin = call.func.id if isinstance(call.func, ast.Name) else ""
        given = call.args[0] if len(call.args) == 1 else None
        if isinstance(call.func, ast.Attribute) and call.func.attr == "item":
            builtin, given = "float", call.func.value
        if builtin in ("float", "int") and given is not None:
            varies = self._varies(given, at, hops - 1)
            if varies is not None:
                return varies._replace(whole=builtin == "int")
            changing = (
                loop
                for loop in self._loops.around(at)
                if _is_many(loop) and not self._loops.invariant(given, loop)
            )
            loop = next(changing, None)
            return _Varies(loop, builtin == "int") if loop is not None else None
        if self._values.of(call).kind is not Kind.NUMBER:
            return None
        passed = (self._varies(each, at, hops - 1) for each in call.args)
        first = next((each for each in passed if each is not None), None)
        return first and first._replace(whole=False)

    def _is_number(self, expression: ast.expr) -> bool:
        """Whether an expression is a number of Python's own: one known, or one that loops count."""
        if self._values.number(expression) is not None:
            return True
        if self._values.of(expression).kind is Kind.NUMBER:
            return True
        if isinstance(expression, ast.Call):
            return isinstance(expression.func, ast.Name) and expression.func.id in _NUMBERS
        if isinstance(expression, ast.BinOp):
            return self._is_number(expression.left) and self._is_number(expression.right)
        binding = self._bindings.only(expression) if isinstance(expression, ast.Name) else None
        return binding is not None and any(
            isinstance(above := self._tree.parent(use), ast.Call)
            and isinstance(above.func, ast.Name)
            and above.func.id == "range"
            for use in self._bindings.readers(binding)
        )

    def _in_body(self, binding: Binding, loop: Loop) -> bool:
        return self._tree.inside(binding.node, loop.node)

    # What is done with it.

    def _handles(self, use: ast.expr, hops: int) -> frozenset[Handled]:
        node: ast.AST = use
        above = self._tree.parent(node)
        arithmetic = False
        while isinstance(above, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)):
            node, above, arithmetic = above, self._tree.parent(above), True
        if isinstance(above, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            return frozenset({Handled.BRANCH})
        if isinstance(above, ast.FormattedValue):
            return frozenset({Handled.BRANCH})
        keyword = above if isinstance(above, ast.keyword) else None
        if keyword is not None:
            above = self._tree.parent(keyword)
        if isinstance(above, ast.Call) and above.func is not node:
            found = self._given(above, node, keyword, arithmetic, hops)
        elif isinstance(above, ast.Subscript):
            several = isinstance(above.slice, ast.Tuple) or self._tensors.is_tensor(above.value)
            found = frozenset({Handled.OPERAND if several else Handled.STRUCTURE})
        elif isinstance(above, ast.Tuple) and isinstance(self._tree.parent(above), ast.Subscript):
            found = frozenset({Handled.OPERAND})
        elif isinstance(above, (ast.List, ast.Tuple)):
            found = frozenset({Handled.OPERAND if self._is_packed(above) else Handled.STRUCTURE})
        elif isinstance(above, (ast.Slice, ast.Dict)):
            found = frozenset({Handled.STRUCTURE})
        else:
            found = frozenset({Handled.OTHER})
        return found | {Handled.ARITHMETIC} if arithmetic else found

    def _is_packed(self, several: ast.List | ast.Tuple) -> bool:
        """Whether what is listed is data: `tf.stack([seed, 0])`, `run(step, args=(x, n))`."""
        above = self._tree.parent(several)
        if isinstance(above, ast.keyword):
            return above.arg in ("args", "seed")
        return isinstance(above, ast.Call) and self._names.is_any(above.func, _PACKS)

    def _given(
        self,
        call: ast.Call,
        node: ast.AST,
        keyword: ast.keyword | None,
        arithmetic: bool,
        hops: int,
    ) -> frozenset[Handled]:
        """What is done with a number by what it is an argument of."""
        function = self._functions.function(call.func)
        if function is not None and hops:
            for parameter in _parameters(function):
                if self._functions.argument(call, function, parameter) is node:
                    return self.handled(function, parameter, hops - 1)
            return frozenset({Handled.OTHER})
        name = self._names.qualified(call.func) or ""
        if isinstance(call.func, ast.Name) and call.func.id in _STRUCTURAL:
            return frozenset({Handled.STRUCTURE})
        if isinstance(call.func, ast.Name) and call.func.id in _ASKS:
            return frozenset({Handled.BRANCH})
        if name == "tensorflow.cast" and call.args[:1] == [node] and not arithmetic:
            return frozenset({Handled.CAST})
        is_step = keyword is not None and keyword.arg == "step"
        if name.startswith("tensorflow.summary.") and is_step and not arithmetic:
            return frozenset({Handled.SUMMARY})
        if name in _SIZES or (keyword is not None and keyword.arg in _SIZE_NAMES):
            return frozenset({Handled.STRUCTURE})
        if name.startswith(("tensorflow.", "keras.")):
            return frozenset({Handled.OPERAND})
        if name:
            return frozenset({Handled.BRANCH})  # NumPy and the like want Python's own
        return frozenset({Handled.OTHER})


_NUMBERS = frozenset({"float", "int", "len", "round"})
_PACKS = frozenset(
    {
        "keras.ops.convert_to_tensor",
        "keras.ops.stack",
        "tensorflow.constant",
        "tensorflow.convert_to_tensor",
        "tensorflow.stack",
    }
)
_ASKS = frozenset({"bool", "float", "int", "max", "min", "print", "round"})
_STRUCTURAL = frozenset({"format", "getattr", "range", "str"})
_SIZE_NAMES = frozenset({"axis", "depth", "k", "multiples", "num", "paddings", "shape", "size"})
_SIZES = frozenset(
    {
        "tensorflow.eye",
        "tensorflow.fill",
        "tensorflow.image.central_crop",
        "tensorflow.image.resize",
        "tensorflow.linspace",
        "tensorflow.math.top_k",
        "tensorflow.nn.top_k",
        "tensorflow.ones",
        "tensorflow.range",
        "tensorflow.repeat",
        "tensorflow.reshape",
        "tensorflow.roll",
        "tensorflow.split",
        "tensorflow.tile",
        "tensorflow.zeros",
    }
)


def _conjuncts(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _picks(test: ast.expr, names: set[str]) -> bool:
    """Whether a test holds for one value, or a few, of a variable of one of these names."""

    def is_named(side: ast.expr) -> bool:
        return isinstance(side, _NAMES) and ast.unparse(side) in names

    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_named(test.operand)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    sides = (test.left, test.comparators[0])
    if isinstance(test.ops[0], ast.Eq):
        return any(map(is_named, sides))
    written = isinstance(sides[1], (ast.List, ast.Set, ast.Tuple)) and len(sides[1].elts) <= A_FEW
    is_in = isinstance(test.ops[0], ast.In) and written
    return is_in and is_named(sides[0])


_NAMES = (ast.Attribute, ast.Name)
_SIGNED = ("input_signature", "experimental_follow_type_hints")
"""By which a function says what it takes: then numbers become tensors by themselves."""


def _is_many(loop: Loop) -> bool:
    return loop.trips is None or loop.trips > A_FEW


def _sets(why: ast.AST, keywords: tuple[str, ...]) -> bool:
    return isinstance(why, ast.Call) and any(each.arg in keywords for each in why.keywords)


def _parameters(function: FunctionNode) -> list[str]:
    arguments = function.args
    return [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
