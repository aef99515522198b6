"""Lists that keep a tensor of every trip of a loop, in eager code."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from enum import IntEnum
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.growths import Grown
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.flow.solver import Question
from tfmemlint.facts.graphs.wrappings import is_plain
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument, given_to
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import called, holds, root_name, same_code
from tfmemlint.facts.syntax.targets import element
from tfmemlint.facts.syntax.tree import FunctionNode
from tfmemlint.light_typing import NamedTuple

_MAX_HOPS = 4
_SEVERAL = (
    ast.Dict,
    ast.DictComp,
    ast.GeneratorExp,
    ast.List,
    ast.ListComp,
    ast.Tuple,
)
_HANDS_ON = (ast.Assign, ast.Dict, ast.List, ast.NamedExpr, ast.Return, ast.Tuple)
_SHORTENS = frozenset({"clear", "pop", "popleft", "remove"})
_ADDS = frozenset({"append", "extend", "insert"})
_CALLED_FOR_TENSORS = ("keras.losses.", "tensorflow_hub.KerasLayer", "tensorflow_hub.load")
_OUTPUTS = frozenset({"last_hidden_state", "logits", "pooler_output"})
"""The tensors of what models of `transformers` give."""
_OF_MODELS = frozenset(
    {"apply_gradients", "minimize", "trainable_variables", "trainable_weights", "variables"}
)
_OF_TAPES = frozenset({"batch_jacobian", "gradient", "jacobian", "numpy"})
_RANGES = frozenset({Over.OFFSETS, Over.RANGE})
_OF_ROWS = frozenset({Over.ARRAY, Over.OFFSETS})
_PYTHON_NUMBERS = frozenset({"float", "int"})


class Sort(IntEnum):
    """What an expression of eager code surely gives; each is also what stands before it."""

    UNKNOWN = 0
    TENSOR = 1
    NUMBER = 2
    """A tensor of a single number: a loss, what a reduction leaves."""


_SORT = Question("sort", Sort.UNKNOWN, Sort.UNKNOWN)


class Kept(NamedTuple):
    """A list that gets a tensor in each trip of a loop, and loses none."""

    growth: Grown
    tensor: ast.expr
    sort: Sort
    reads: tuple[ast.expr, ...]
    """What stands for the list where it is used for anything but to grow."""
    in_sight: bool = True
    """Whether these are surely all: one name has the list, from its beginning to its end."""
    stays: bool = True
    """Whether no attribute has the list, which other files may read."""
    beside: int = 0
    """How many more tensors each trip adds, in a row of its own: `append((loss, accuracy))`."""

    @property
    def loop(self) -> Loop:
        """The innermost loop that makes it longer."""
        return self.growth.loops[0]

    @property
    def at(self) -> ast.AST:
        """The code in that loop that adds to it."""
        return self.growth.rounds[0].at


def _in_row(added: ast.expr) -> list[ast.expr]:
    """What is added to a list: an element, or the parts of a row that is written down."""
    return added.elts if isinstance(added, (ast.List, ast.Tuple)) else [added]


class KeptTensors:
    """The lists of tensors that eager loops leave behind, outside of tapes."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._members = tf.members
        self._tracers = tf.tracers
        self._values = tf.values
        self._flow = tf.flow
        self._loops = tf.loops
        self._arrays = tf.arrays
        self._growths = tf.growths
        self._objects = tf.objects
        self._tracing = tf.tracing
        self._tapes = tf.tapes
        self._trains = tf.consumers.trains
        self._solver = tf.solver

    @cached_property
    def all(self) -> tuple[Kept, ...]:
        """Every place where such a list grows, in source order."""
        found: list[Kept] = []
        for node, _, value in self._growths.places.values():
            if not isinstance(node, ast.Call) or self._tracing.why(node):
                continue
            tensors = [each for each in _in_row(value) if self.sort(each)]
            if not tensors or self._is_for_gradients([node]):
                continue
            first = min(tensors, key=self.sort)
            for growth in self._growths.at(node):
                uses = self._uses(growth) if len(growth.elements) == 1 else None
                reads = self._reads(uses)
                if uses is None or reads is None or self._is_for_gradients(reads):
                    continue
                is_named = growth.named is not None
                if not is_named:
                    reads = [each for each in reads if not self._is_handed_on(each)]
                stays = is_named or not any(isinstance(each, ast.Attribute) for each in uses)
                more = len(tensors) - 1
                sort = self.sort(first)
                found.append(Kept(growth, first, sort, tuple(reads), is_named, stays, more))
        return () if found and self._has_keras_compute_elsewhere() else tuple(found)

    def _has_keras_compute_elsewhere(self) -> bool:
        """Whether a file tells Keras to compute with JAX or PyTorch: `environ["KERAS_BACKEND"]`."""
        return any(
            isinstance(target, ast.Subscript)
            and isinstance(target.slice, ast.Constant)
            and target.slice.value == "KERAS_BACKEND"
            and not (isinstance(each.value, ast.Constant) and each.value.value == "tensorflow")
            for each in self._tree.all(ast.Assign)
            for target in each.targets
        )

    def by_numpy(self, read: ast.expr) -> bool:
        """Whether NumPy takes a list there, and makes an array of it, or of each of its tensors."""
        above = self._tree.parent(read)
        if isinstance(above, (ast.For, ast.comprehension)) and above.iter is read:
            return self._are_copied(above.target)
        return self._names.called(above).startswith("numpy.")

    def _are_copied(self, target: ast.expr) -> bool:
        """Whether a loop asks each tensor for NumPy's copy, and for nothing else."""
        binding = self._bindings.at(target) if isinstance(target, ast.Name) else None
        reads = self._bindings.readers(binding) if binding is not None else ()
        asked = (self._tree.parent(each) for each in reads)
        return bool(reads) and all(getattr(each, "attr", "") == "numpy" for each in asked)

    def is_of_data(self, kept: Kept) -> bool:
        """Whether each trip is surely eager, and one step over the data.

        A batch of a dataset, where no graph can have such a list, or something to train on.
        """
        loop = kept.loop
        if loop.over is Over.DATASET:
            return True
        return self._trains(loop.node) and not self._is_of_models(loop) and self._is_of_steps(kept)

    def _is_of_models(self, loop: Loop) -> bool:
        """Whether a loop goes over what is trained: `for model in models`."""
        for each in loop.body:
            if isinstance(each, ast.Name) and each.id in loop.targets:
                above = self._tree.parent(each)
                trained = isinstance(above, ast.Attribute) and above.attr in _OF_MODELS
                if trained or (isinstance(above, ast.Call) and above.func is each):
                    return True
        return False

    def _is_of_steps(self, kept: Kept) -> bool:
        """Whether a loop that may have few trips takes other data in each, as steps do.

        Several updates with one batch, as critics and policies have them, are few.
        """
        loop = kept.loop
        if loop.over not in _RANGES or loop.trips is not None:
            return True
        begun = self._loops.around(kept.growth.made)
        if begun and begun[0].over is not Over.EPOCHS:
            return False
        return any(self._draws(each, loop) for each in loop.body)

    def _draws(self, node: ast.AST, loop: Loop) -> bool:
        """Whether code takes part of the data: `x[i]`, `next(batches)`, `x = sampler.take(8)`."""
        if isinstance(node, ast.Subscript):
            return not self._loops.invariant(node.slice, loop)
        if not isinstance(node, ast.Call):
            return False
        name = self._names.qualified(node.func)
        if name is not None:
            return ".random." in name or name.startswith("random.")
        if isinstance(node.func, ast.Name):
            return node.func.id == "next"
        if not isinstance(node.func, ast.Attribute) or node.func.attr in _OF_TAPES:
            return False
        assigned = isinstance(self._tree.statement(node), ast.Assign)
        resolved = self._functions.function(node.func) is not None
        return assigned and not resolved and not self._tapes.recording(node)

    def is_of_part(self, kept: Kept) -> bool:
        """Whether a call makes the tensor of an array's rows, or a `tf.function` of something else.

        Of what changes with the trips, at least.
        """
        loop = kept.loop
        nodes = (node for value in self._made(kept) for node in ast.walk(value))
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        functions = (self._functions.function(each.func) for each in calls)
        traced = any(each in self._tracing.functions for each in functions if each is not None)
        of_rows = loop.over in _OF_ROWS or (loop.over is Over.RANGE and loop.trips is not None)
        return (traced or of_rows) and any(
            not self._loops.invariant(given, loop)
            for call in calls
            for given in given_to(call)
            if not holds(ast.Call, given)
        )

    def _made(self, kept: Kept) -> list[ast.expr]:
        if not isinstance(kept.tensor, ast.Name):
            return [kept.tensor]
        return [each.value for each in self._bindings.reaching(kept.tensor) if each.value]

    def _uses(self, growth: Grown) -> Iterable[ast.expr] | None:
        named = growth.named
        if named is not None:
            return self._bindings.readers(named.start)
        uses = self._objects.uses(growth.made)
        if uses is None or not isinstance(growth.made, ast.Call):
            return uses
        # What makes the lists of a `defaultdict` stands for it, too, as the name of which they are.
        return [each for each in uses if not self._is_asked_for_entry(each)]

    def _is_asked_for_entry(self, held: ast.expr) -> bool:
        above = self._tree.parent(held)
        return isinstance(above, ast.Subscript) and above.value is held

    def _reads(self, uses: Iterable[ast.expr] | None) -> list[ast.expr] | None:
        """The uses of a list but those that add to it; None where elements are taken out."""
        found: list[ast.expr] = []
        if uses is None:
            return None
        for use in uses:
            above = self._tree.parent(use)
            if isinstance(above, ast.Attribute) and above.attr in _SHORTENS:
                return None
            if isinstance(above, ast.Subscript) and not isinstance(above.ctx, ast.Load):
                return None
            if isinstance(above, ast.Call) and self._is_shortened_by(above, use):
                return None
            if not (isinstance(above, ast.Attribute) and above.attr in _ADDS):
                found.append(use)
        return found

    def _is_handed_on(self, use: ast.expr) -> bool:
        """Whether the list is not read there, but put or given somewhere, and read from that."""
        above = self._tree.parent(use)
        if isinstance(above, ast.keyword):
            above = self._tree.parent(above)
        if isinstance(above, ast.Call):
            return use is not above.func and self._functions.definition(above.func) is not None
        return isinstance(above, _HANDS_ON)

    def _is_shortened_by(self, call: ast.Call, given: ast.expr) -> bool:
        """Whether a function of the module takes elements out of a list that it is given."""
        function = self._functions.function(call.func)
        taken = self._callers.taken_as(given, call, function) if function is not None else None
        if function is None or taken is None:
            return False
        return any(
            (isinstance(each, ast.Attribute) and each.attr in _SHORTENS)
            or (isinstance(each, ast.Subscript) and not isinstance(each.ctx, ast.Load))
            for each in self._bodies.body(function)
            if isinstance(each, (ast.Attribute, ast.Subscript)) and root_name(each) == taken.name
        )

    def _is_for_gradients(self, nodes: Iterable[ast.AST]) -> bool:
        """Whether a tape records what is done there, itself or around a function of the module."""
        for node in nodes:
            if any(self._tapes.recording(each) for each in (node, *self._callers.around(node))):
                return True
        return False

    # What expressions give.

    def sort(self, node: ast.expr, path: tuple[int, ...] = ()) -> Sort:
        """Whether an expression, or an element of what it is unpacked to, is surely a tensor."""
        node, path = element(node, path)
        found: Sort = self._solver.ask(_SORT, self._sort, node, path)
        return found

    def _sort(self, node: ast.expr, path: tuple[int, ...]) -> Sort:
        if isinstance(node, ast.Name):
            bound = self._bindings.reaching(node)
            found = min((self._bound(each, path) for each in bound), default=Sort.UNKNOWN)
            return Sort.NUMBER if found and any(map(self._is_read_as_number, bound)) else found
        if isinstance(node, ast.Call):
            return self._called(node, path)
        if path:
            return Sort.UNKNOWN
        if isinstance(node, ast.Attribute):
            if self._is_asked(node):
                return Sort.NUMBER
            return Sort.TENSOR if node.attr in _OUTPUTS and self.sort(node.value) else Sort.UNKNOWN
        if isinstance(node, ast.BinOp):
            left, right = self.sort(node.left), self.sort(node.right)
            text = isinstance(node.op, ast.Mod) and not left  # "%.3f" % loss
            return Sort.UNKNOWN if text else min(left, right) or max(left, right)
        if isinstance(node, ast.UnaryOp):
            return Sort.UNKNOWN if isinstance(node.op, ast.Not) else self.sort(node.operand)
        if isinstance(node, ast.IfExp):
            return min(self.sort(node.body), self.sort(node.orelse))
        if isinstance(node, ast.Subscript):
            return min(self.sort(node.value), Sort.TENSOR)
        return Sort.UNKNOWN

    def _is_asked(self, node: ast.Attribute) -> bool:
        """Whether a tape is asked for the gradient of an attribute in the same function."""
        function = self._tree.function(node)
        return any(
            self._tree.function(each) is function and same_code(each, node)
            for each in self._asked
            if isinstance(each, ast.Attribute)
        )

    def _bound(self, binding: Binding, path: tuple[int, ...]) -> Sort:
        if binding.how not in (How.ASSIGNED, How.AUGMENTED) or binding.value is None:
            return Sort.UNKNOWN
        if not path and binding.node in self._differentiated:
            return Sort.NUMBER
        return self.sort(binding.value, (*binding.path, *path))

    def _is_read_as_number(self, binding: Binding) -> bool:
        """Whether Python takes what a name stands for as one number: `f"{loss:.2f}"`."""
        return any(
            (isinstance(above, ast.FormattedValue) and above.format_spec is not None)
            or (isinstance(above, ast.Call) and called(above) in _PYTHON_NUMBERS)
            for above in map(self._tree.parent, self._bindings.readers(binding))
        )

    def _called(self, call: ast.Call, path: tuple[int, ...]) -> Sort:
        name = self._names.qualified(call.func)
        if name is not None:
            return Sort.UNKNOWN if path else self._computed(name, call)
        function = self._functions.function(call.func)
        if function is not None:
            if not self._is_as_written(function):
                return Sort.UNKNOWN
            sorts = (self.sort(each, path) for each in self._bodies.returns(function))
            return min(sorts, default=Sort.UNKNOWN)
        if call in self._gradients:
            return Sort.TENSOR
        if path:
            return Sort.UNKNOWN
        makers = [call.func, *(each.value for each in self._flow.origins(call.func) or ())]
        made = {
            self._names.qualified(each.func) or "" for each in makers if isinstance(each, ast.Call)
        }
        if made and all(each.startswith(_CALLED_FOR_TENSORS) for each in made):
            return Sort.TENSOR
        is_model = self._values.of(call.func).kind is Kind.MODEL
        return Sort.TENSOR if is_model else Sort.UNKNOWN

    @cached_property
    def _gradients(self) -> frozenset[ast.Call]:
        return frozenset(each for tape in self._tapes.all for each in tape.asked)

    def may_be_list(self, node: ast.expr) -> bool:
        """Whether an expression may be the gradients of several variables, which are a list."""
        if isinstance(node, ast.Name):
            bound = self._bindings.reaching(node)
            values = [each.value for each in bound if each.value is not None and not each.path]
            return any(each is not node and self.may_be_list(each) for each in values)
        return isinstance(node, ast.Call) and node in self._gradients

    def _is_as_written(self, function: FunctionNode) -> bool:
        """Whether a call surely gives what a function returns: no decorator, no heir changes it.

        Nor does it return nothing at times.
        """
        if any(
            isinstance(each, ast.Return) and each.value is None
            for each in self._bodies.body(function)
        ):
            return False
        decorators: list[ast.expr] = getattr(function, "decorator_list", [])
        makes_graph = self._tracers.makes_tf_function
        if not all(is_plain(each) or makes_graph(each) for each in decorators):
            return False
        owner = self._members.class_of(function)
        return owner is None or not any(
            isinstance(base, ast.Name)
            and base.id == owner.name
            and any(
                isinstance(each, ast.FunctionDef) and each.name == getattr(function, "name", None)
                for each in heir.body
            )
            for heir in self._tree.all(ast.ClassDef)
            for base in heir.bases
        )

    def _computed(self, name: str, call: ast.Call) -> Sort:
        if name.startswith("keras.losses."):
            return Sort.TENSOR if name.rpartition(".")[2].islower() else Sort.UNKNOWN
        ops = name.startswith(("tensorflow.", "keras.ops."))
        if not ops or self._values.of(call).kind is not Kind.TENSOR:  # Keras gives arrays, too
            return Sort.UNKNOWN
        sized = self._arrays.of(call)
        return Sort.NUMBER if sized is not None and sized.dims == () else Sort.TENSOR

    @cached_property
    def _differentiated(self) -> frozenset[ast.AST]:
        """The targets that get what a tape is asked the gradient of."""
        found: set[ast.AST] = set()
        for loss in self._asked:
            if isinstance(loss, ast.Name):
                found.update(each.node for each in self._bindings.reaching(loss))
        return frozenset(found)

    @cached_property
    def _asked(self) -> tuple[ast.expr, ...]:
        """What tapes are asked the gradient of, if that is one tensor."""
        calls = (each for tape in self._tapes.all for each in tape.asked)
        losses = (argument(each, 0, "target") for each in calls)
        return tuple(each for each in losses if each and not self._may_be_several(each, _MAX_HOPS))

    @cached_property
    def are_single(self) -> bool:
        """Whether whatever tapes are asked for is surely one tensor each.

        What code out of sight makes may be a list of them, which has a gradient, too.
        """
        targets = (argument(each, 0, "target") for tape in self._tapes.all for each in tape.asked)
        return all(self._is_single(each) for each in targets if isinstance(each, ast.Name))

    def _is_single(self, target: ast.Name) -> bool:
        return all(
            each.how is How.AUGMENTED
            or isinstance(each.value, (ast.BinOp, ast.Constant, ast.UnaryOp))
            or (each.value is not None and self.sort(each.value, each.path) is not Sort.UNKNOWN)
            or self._is_of_library(each.value)
            for each in self._bindings.reaching(target)
        )

    def _is_of_library(self, node: ast.expr | None) -> bool:
        return self._names.called(node).startswith(("keras.", "tensorflow."))

    def _may_be_several(self, target: ast.expr, hops: int) -> bool:
        """Whether a tape may be asked for the gradient of a list or a dictionary of tensors."""
        if isinstance(target, ast.Name):
            bindings = self._bindings.reaching(target)
            whole = [each.value for each in bindings if each.value is not None and not each.path]
            return hops == 0 or any(self._may_be_several(each, hops - 1) for each in whole)
        if isinstance(target, ast.Call):
            function = self._functions.function(target.func)
            returned = self._bodies.returns(function) if function is not None else ()
            made = called(target) in ("dict", "list", "tuple")
            return made or any(self._may_be_several(each, hops - 1) for each in returned)
        if isinstance(target, ast.Attribute):
            origins = self._flow.origins(target) or ()
            several = (self._may_be_several(each.value, hops - 1) for each in origins)
            return hops == 0 or not origins or any(several)
        return isinstance(target, _SEVERAL)
