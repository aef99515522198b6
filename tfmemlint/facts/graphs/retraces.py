"""Python numbers that change from call to call, given to traced functions.

A number of Python's own is part of what a graph is made for: each new one has the function traced
again. A tensor of it is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.flow.remade_functions import A_FEW
from tfmemlint.facts.graphs.tracing import TracedBy
from tfmemlint.facts.graphs.wrappings import RUNS
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.tree import FunctionNode, parameters
from tfmemlint.light_typing import NamedTuple


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


class Retraces:
    """Where loops call traced functions with other numbers each time."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._functions = tf.functions
        self._callers = tf.callers
        self._members = tf.members
        self._tracers = tf.tracers
        self._tracing = tf.tracing
        self._values = tf.values
        self._changing_numbers = tf.changing_numbers

    @cached_property
    def all(self) -> tuple[Retrace, ...]:
        """Every such argument, in source order."""
        found: list[Retrace] = []
        for call, function, parameter, argument in self.given(_SIGNED):
            change = self._changing_numbers.of(argument, call)
            if change is None or self._is_picked(argument, call, whole=change.whole):
                continue
            if not self._has_model_anew(call, change[0]):
                found.append(Retrace(call, argument, parameter, function, *change))
        return tuple(sorted(found, key=lambda each: (each.call.lineno, each.argument.col_offset)))

    def given(self, settled: tuple[str, ...]) -> Iterator[Given]:
        """What eager code gives to functions of `tf.function` that set none of these keywords."""
        for function, why in self._tracing.functions.items():
            if why.by is TracedBy.TF_FUNCTION and not _sets(why.at, settled):
                for call in self._callers.calls_of(function):
                    yield from self._of_call(call, function)
                for call, given in self._runs.get(function, ()):
                    yield from self._of_run(call, given, function)

    def _of_call(self, call: ast.Call, function: FunctionNode) -> Iterator[Given]:
        if self._tracing.why(call) is not None or self._is_untraced(call.func, function):
            return
        for parameter in parameters(function):
            given = self._callers.argument(call, function, parameter.arg)
            if given is not None and self._tree.inside(given, call):
                yield Given(call, function, parameter.arg, given)

    @cached_property
    def _runs(self) -> Mapping[FunctionNode, list[tuple[ast.Call, ast.Tuple]]]:
        """The calls that hand a function and its arguments on: `strategy.run(step, args=(x,))`."""
        found: dict[FunctionNode, list[tuple[ast.Call, ast.Tuple]]] = {}
        for call, _ in self._tree.methods(*RUNS):
            if call.args:
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
        taken = parameters(function)[self._members.binds_first(function) :]
        for parameter, argument in zip(taken, given.elts):  # noqa: B905  others may have defaults
            yield Given(call, function, parameter.arg, argument)

    def _is_picked(self, given: ast.expr, call: ast.Call, *, whole: bool) -> bool:
        """Whether a test lets few values of a number through: `if step == 0:`."""
        names = {ast.unparse(each) for each in ast.walk(given) if isinstance(each, _NAMES)}
        return any(
            isinstance(above, ast.If)
            and any(self._tree.inside(call, each) for each in above.body)
            and any(self._picks(part, names, whole) for part in _conjuncts(above.test))
            for above in self._tree.ancestors(call)
        )

    def _picks(self, test: ast.expr, names: set[str], whole: bool) -> bool:
        """Whether a test holds for one value, or a few, of a variable of one of these names."""

        def is_named(side: ast.expr) -> bool:
            return isinstance(side, _NAMES) and ast.unparse(side) in names

        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return is_named(test.operand)
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return False
        left, operator, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(operator, ast.Eq):
            return is_named(left) or is_named(right)
        if isinstance(operator, (ast.Gt, ast.GtE)):
            left, right = right, left
        if isinstance(operator, (ast.Gt, ast.GtE, ast.Lt, ast.LtE)):
            most = self._values.number(right)
            return whole and is_named(left) and most is not None and most <= A_FEW
        written = isinstance(right, (ast.List, ast.Set, ast.Tuple)) and len(right.elts) <= A_FEW
        return isinstance(operator, ast.In) and written and is_named(left)

    def _has_model_anew(self, call: ast.Call, loop: Loop) -> bool:
        """Whether a call gives a model, too, that each round makes: that alone has it traced."""
        function = self._tree.function(call)
        for given in given_to(call):
            binding = self._bindings.only(given)
            if binding is None or binding.how is not How.ASSIGNED:
                continue
            anew = self._tree.inside(binding.node, loop.node)
            if function is not None and self._tree.function(binding.node) is function:
                anew = anew or not self._tree.inside(loop.node, function)
            if anew and self._values.of(given).kind is Kind.MODEL:
                return True
        return False

    def _is_untraced(self, callee: ast.expr, function: FunctionNode) -> bool:
        """Whether a call runs the plain function, not what `tf.function` made of it."""
        wraps = self._tracers.makes_tf_function
        if any(map(wraps, getattr(function, "decorator_list", ()))):
            return False
        if isinstance(callee, ast.Name):
            binding = self._bindings.only(callee)
            return binding is None or binding.how is How.DEFINED
        return isinstance(callee, ast.Attribute) and callee.attr == getattr(function, "name", "")


def _conjuncts(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


_NAMES = (ast.Attribute, ast.Name)
_SIGNED = ("input_signature", "experimental_follow_type_hints")
"""By which a function says what it takes: then numbers become tensors by themselves."""


def _sets(why: ast.AST, keywords: tuple[str, ...]) -> bool:
    """Whether `tf.function(f, ...)` has one of these keywords, or the signature by its place."""
    if not isinstance(why, ast.Call):
        return False
    signed = len(why.args) > 1 and "input_signature" in keywords
    return signed or any(each.arg in keywords for each in why.keywords)
