"""Tensors that are stacked only to be added up, or to have their mean taken."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import argument
from tfmemlint.light_typing import NamedTuple
from tfmemlint_rules._analyses.kept import KeptTensors, Sort

_SUMS = frozenset({"keras.ops.sum", "tensorflow.math.reduce_sum", "tensorflow.reduce_sum"})
_MEANS = frozenset({"keras.ops.mean", "tensorflow.math.reduce_mean", "tensorflow.reduce_mean"})
_ADDS = frozenset({"tensorflow.add_n", "tensorflow.math.add_n"})
_LIBRARIES = ("keras.ops.", "tensorflow.")
_STACKS = frozenset({"keras.ops.stack", "tensorflow.stack"})


class StackReduction(NamedTuple):
    """One sum or mean along the axis of a stack."""

    call: ast.Call
    """The sum or mean."""
    is_mean: bool
    stack: ast.Call | None
    """What makes one tensor of the list; None where the sum does so itself."""
    listed: ast.expr
    assigned: ast.Assign | None
    """The statement that gives the stack a name, which nothing but the sum reads."""
    is_written_here: bool
    """Whether the stack and what it holds are written at the sum, or have one name each."""
    repeated: tuple[ast.expr, ast.expr] | None
    """The one tensor, and how often: of `[t] * n`."""
    of_tensorflow: bool


class StackReductions:
    """Such sums of a file, where what is stacked is no mere number."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._bindings = tf.bindings
        self._values = tf.values
        self._objects = tf.objects
        self._sources = tf.sources
        self._growths = tf.growths
        self._flow = tf.flow
        self._sort = tf.of(KeptTensors).sort

    @cached_property
    def all(self) -> tuple[StackReduction, ...]:
        """Every one, in source order."""
        calls = self._names.calls(_SUMS | _MEANS)
        found = (self._of(call, name) for call, name in calls)
        return tuple(each for each in found if each is not None)

    def _of(self, call: ast.Call, name: str) -> StackReduction | None:
        of_tensorflow = name.startswith("tensorflow.")
        given = argument(call, 0, "input_tensor" if of_tensorflow else "x")
        others = {each.arg for each in call.keywords} - {"axis", "input_tensor", "x", "name"}
        if given is None or others or not self._is_first(argument(call, 1, "axis")):
            return None
        stack, assigned = self._stack(given)
        listed = given if stack is None else argument(stack, 0, _first(stack))
        if listed is None or (stack is not None and not self._is_first_or_none(stack)):
            return None
        way = [end.node for end in self._sources.same(listed)]
        repeated = next(filter(None, map(_repeated, way)), None)
        if repeated is None and not self._holds_tensors(listed, way):
            return None
        if repeated is not None and stack is None:
            return None
        names = (each for each in way if isinstance(each, ast.Name))
        if any(self._is_read_otherwise(each, stack or call) for each in names):
            return None
        here = stack is None or stack is given or assigned is not None
        here = here and (repeated is None or _repeated(listed) is not None)
        return StackReduction(
            call, name in _MEANS, stack, listed, assigned, here, repeated, of_tensorflow
        )

    def _is_read_otherwise(self, listed: ast.Name, stacked: ast.Call) -> bool:
        """Whether a list is stacked for something else, too, or is mostly of a single tensor.

        TensorFlow makes one stack of a list that it is given twice in a graph, and `parts / n`
        stacks `parts`. `if len(parts) == 1: return parts[0]` tells that there are hardly more.
        """
        bindings = self._bindings.reaching(listed)
        readers = [use for each in bindings for use in self._bindings.readers(each)]
        return any(use is not listed and self._stacks_or_has_one(use, stacked) for use in readers)

    def _stacks_or_has_one(self, use: ast.expr, stacked: ast.Call) -> bool:
        above = self._tree.parent(use)
        if isinstance(above, ast.BinOp):
            return True
        if not isinstance(above, ast.Call) or above is stacked or above.func is use:
            return False
        compared = self._tree.parent(above)
        if isinstance(compared, ast.Compare):
            ends = [compared.left, *compared.comparators]
            return any(isinstance(each, ast.Constant) and each.value == 1 for each in ends)
        name = self._names.qualified(above.func) or ""
        return name.startswith(_LIBRARIES) and name not in _SUMS | _MEANS | _STACKS | _ADDS

    def _is_first(self, axis: ast.expr | None) -> bool:
        return axis is not None and self._values.number(axis) == 0

    def _is_first_or_none(self, stack: ast.Call) -> bool:
        axis = argument(stack, 1, "axis")
        return axis is None or self._is_first(axis)

    def _stack(self, given: ast.expr) -> tuple[ast.Call | None, ast.Assign | None]:
        """The call that makes a stack, and the statement that gives that alone a name."""
        if isinstance(given, ast.Call) and self._names.is_any(given.func, _STACKS):
            return given, None
        made = self._objects.made_for(given).node
        if not isinstance(made, ast.Call) or not self._names.is_any(made.func, _STACKS):
            return None, None
        statement = self._tree.parent(made)
        named = isinstance(statement, ast.Assign) and self._bindings.assigned(given) is made
        return made, statement if named and isinstance(statement, ast.Assign) else None

    def _holds_tensors(self, listed: ast.expr, way: Sequence[ast.AST]) -> bool:
        """Whether a list that grows in a loop, or by one, holds tensors that are no numbers."""
        comprised = next((each for each in way if isinstance(each, ast.ListComp)), None)
        if comprised is not None:
            over = comprised.generators[0].iter
            few = comprised is listed and isinstance(over, (ast.List, ast.Tuple))
            return not few and self._is_tensor(comprised.elt)
        grown = self._growths.filling(listed, None)
        elements = [each for growth in grown for each in growth.elements]
        return bool(elements) and all(map(self._is_tensor, elements))

    def _is_tensor(self, element: ast.expr) -> bool:
        """Whether an element is a tensor that is no mere number, such as a loss."""
        sort = self._sort(element)
        if sort is Sort.UNKNOWN:
            return self._values.of(element).is_array
        return sort is Sort.TENSOR and not self._is_loss(element)

    def _is_loss(self, element: ast.expr) -> bool:
        made: list[ast.expr] = [element]
        if isinstance(element, ast.Name):
            made = [each.value for each in self._bindings.reaching(element) if each.value]
        for each in made:
            if not isinstance(each, ast.Call):
                continue
            origins = self._flow.origins(each.func) or ()
            makers = [each.func, *(one.value for one in origins)]
            functions = [one.func if isinstance(one, ast.Call) else one for one in makers]
            names = [self._names.qualified(one) or "" for one in functions]
            if any(name.startswith("keras.losses.") for name in names):
                return True
        return False


def _first(stack: ast.Call) -> str:
    """What the first argument of a stack is called, by TensorFlow or by Keras."""
    named = {each.arg for each in stack.keywords}
    return "x" if "x" in named else "values"


def _repeated(listed: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    match listed:
        case ast.BinOp(ast.List([one]), ast.Mult(), times):
            return one, times
        case ast.BinOp(times, ast.Mult(), ast.List([one])):
            return one, times
        case _:
            return None
