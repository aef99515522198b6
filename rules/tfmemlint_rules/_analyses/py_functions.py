"""Calls of `tf.py_function`: which of them tapes never let go, and which could do with arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Over
from tfmemlint.facts.flow.many_rounds import ManyRounds
from tfmemlint.facts.graphs.tapes import Tape
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import names_in
from tfmemlint.facts.syntax.tree import FunctionNode
from tfmemlint.light_typing import NamedTuple

_PY_FUNCTION = "tensorflow.py_function"
_EXACT = ("bool", "int", "string", "uint")
"""What the names of types begin with that have no gradients."""
_MOST_HOPS = 3
"""Functions around a call that are called but once."""
_FEW = 4_096
"""Rounds: 150 MB of what was measured."""


class KeptCall(NamedTuple):
    """A call that runs again and again, of which something stays after every time."""

    call: ast.Call
    tape: Tape | None
    """What records it, though no gradient goes back through it; None where nothing records."""


class PyFunctions:
    """The calls of `tf.py_function` in a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._values = tf.values
        self._flow = tf.flow
        self._callers = tf.callers
        self._tapes = tf.tapes
        self._tracing = tf.tracing
        self._per_batch = tf.per_batch
        self._consumers = tf.consumers
        self._loops = tf.loops
        self._many_rounds = tf.of(ManyRounds)

    @cached_property
    def kept(self) -> tuple[KeptCall, ...]:
        """The calls in eager code whose tensors are put aside for a gradient that never comes."""
        found: dict[ast.Call, KeptCall] = {}
        for tape in self._tapes.all:
            if self._is_traced(tape.block) or not self._per_batch.runs_again(tape.block):
                continue
            for call in self._calls_under(tape):
                if call not in found and self._is_kept(call, tape):
                    found[call] = KeptCall(call, tape)
        for call, _ in self._names.calls(frozenset({_PY_FUNCTION})):
            if self._is_eager_again(call):
                found.setdefault(call, KeptCall(call, None))
        return tuple(found.values())

    def conversions(self, call: ast.Call) -> list[ast.Call] | None:
        """Each `x.numpy()` that the function would do without if it were given arrays.

        None where it is out of sight, asks more of what it is given, or is used elsewhere, too.
        """
        given = argument(call, 0, "func")
        function = self._functions.function(given) if given is not None else None
        if given is None or function is None:
            takes_arrays = (self._names.qualified(given) or "").startswith("numpy.")
            return [] if takes_arrays else None
        asked = list(self._asked(function))
        found = [each for each in asked if each is not None]
        whole = len(found) == len(asked) and (not found or self._is_used_once(given))
        return found if whole else None

    # What is kept.

    def _is_traced(self, node: ast.AST) -> bool:
        return self._tracing.why(node) is not None

    def _calls_under(self, tape: Tape) -> Iterator[ast.Call]:
        """The calls that a tape records, in its block or in functions that it calls."""
        for call in self._consumers.run_by(tape.block.body):
            if isinstance(call, ast.Call) and self._names.qualified(call.func) == _PY_FUNCTION:
                above = self._tree.ancestors(call)
                if not self._is_traced(call) and not any(map(_stops_recording, above)):
                    yield call

    def _is_eager_again(self, call: ast.Call) -> bool:
        """Whether a call surely runs eagerly, in a loop that goes on, and no tape records it."""
        if self._tracing.by_hand or not self._tracing.surely_eager(call):
            return False
        if any(map(self._tapes.recording, self._callers.leading_to(call, _MOST_HOPS))):
            return False
        loop, rounds = self._many_rounds.of(call) or (None, 0)
        if loop is None or loop.over is Over.EPOCHS:
            return False
        return rounds is None or rounds > _FEW

    def _is_kept(self, call: ast.Call, tape: Tape) -> bool:
        """Whether surely no gradient that the tape is asked for goes back through a call.

        It makes what has no gradient, or is given nothing that the gradient is asked for.
        """
        types, given = argument(call, 2, "Tout"), argument(call, 1, "inp")
        if types is not None and all(map(self._is_exact, _each(types))):
            return True
        recorded = self._tapes.recording(self._under(call))
        alone = [each.call for each in recorded] == [tape.call]
        asked_inside = any(self._tree.inside(each, tape.block) for each in tape.asked)
        if given is None or not alone or not tape.asked or asked_inside or tape.escapes:
            return False
        sources = [source for each in tape.asked for source in each.args[1:2]]
        followed = self._origins((*sources, *tape.watched))
        before = [self._made_before(each, tape) for each in _each(given)]
        return all(each is not None and not followed & self._origins([each]) for each in before)

    def _under(self, call: ast.Call) -> ast.Call:
        """Where a tape's block runs a call: the call itself, or the only one of its function."""
        for _ in range(_MOST_HOPS):
            calls = self._callers.around(call)
            if self._tapes.recording(call) or len(calls) != 1:
                break
            (call,) = calls
        return call

    def _is_exact(self, dtype: ast.expr) -> bool:
        """Whether a type is one that has no gradients."""
        name = self._names.qualified(dtype) or self._values.dtype(dtype) or ""
        return name.rpartition(".")[2].startswith(_EXACT)

    def _made_before(self, given: ast.expr, tape: Tape) -> ast.Name | None:
        """The name of what was made before the tape began, and of no variable, if it is that."""
        here = self._tree.function(tape.block)
        for each in self._flow.same(given):
            function = self._tree.function(each)
            if not isinstance(each, ast.Name):
                continue
            if function is here or self._bindings.home(each.id, each) is not function:
                made = self._bindings.reaching(each)
                inside = any(self._tree.inside(one.node, tape.block) for one in made)
                if made and not inside and self._values.of(each).kind is not Kind.VARIABLE:
                    return each
        return None

    def _origins(self, expressions: Iterable[ast.expr]) -> set[str]:
        """What expressions are made of: names, and attributes of `self`, as far back as is seen."""
        found, seen = set[str](), set[ast.AST]()
        pending = [self._flow.put_there(each) or each for each in expressions]
        for expression in pending:
            for name in ast.walk(expression):
                if not isinstance(name, ast.Name):
                    continue
                made = self._bindings.reaching(name)
                if all(each.how in (How.DEFINED, How.IMPORTED) for each in made):
                    continue
                above = self._tree.parent(name)
                of_object = name.id == "self" and isinstance(above, ast.Attribute)
                found.add(ast.unparse(above) if of_object and above else name.id)
                for binding in made:
                    if binding.value is not None and binding.node not in seen:
                        seen.add(binding.node)
                        pending.append(binding.value)
        return found

    # What takes arrays.

    def _asked(self, function: FunctionNode) -> Iterator[ast.Call | None]:
        """Each `x.numpy()` of a parameter; None where more is asked of one than its shape."""
        parameters = {each.arg for each in function.args.args}
        for node in self._bodies.body(function):
            above = self._tree.parent(node)
            if isinstance(node, ast.Attribute) and node.attr == "numpy":
                if isinstance(node.value, ast.Name) and isinstance(above, ast.Call):
                    binding = self._bindings.only(node.value)
                    is_given = binding is not None and isinstance(binding.node, ast.arg)
                    yield above if is_given else None
                elif not self._is_made_by_tensorflow(node.value):
                    yield None
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                is_shape = node.attr == "shape" and not isinstance(above, ast.Attribute)
                if node.value.id in parameters - {"self"} and not is_shape:
                    yield None
            elif isinstance(node, ast.Call) and self._functions.function(node.func) is not None:
                names = names_in(node)
                if not parameters.isdisjoint(names):
                    yield None

    def _is_made_by_tensorflow(self, node: ast.expr) -> bool:
        """Whether this is a tensor whatever the function is given: `tf.sort(x)`."""
        return self._names.called(node).startswith("tensorflow.")

    def _is_used_once(self, given: ast.expr) -> bool:
        """Whether a function is mentioned nowhere but where it is given."""
        if isinstance(given, ast.Attribute):
            named = (each for each in self._tree.all(ast.Attribute) if each.attr == given.attr)
            return len([*named]) == 1
        binding = self._bindings.only(given)
        readers = self._bindings.readers(binding) if binding is not None else []
        return isinstance(given, ast.Lambda) or readers == [given]


def _stops_recording(node: ast.AST) -> bool:
    """`with tape.stop_recording():`."""
    opened = [each.context_expr for each in node.items] if isinstance(node, ast.With) else []
    called = [each.func for each in opened if isinstance(each, ast.Call)]
    return any(isinstance(each, ast.Attribute) and each.attr == "stop_recording" for each in called)


def _each(several: ast.expr) -> list[ast.expr]:
    return several.elts if isinstance(several, (ast.List, ast.Tuple)) else [several]
