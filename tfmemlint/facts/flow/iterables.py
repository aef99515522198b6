"""What loops go over: all of something or a few of it, in an order that stays or not."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.flow import Origin
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library import makers, traits
from tfmemlint.facts.library.keras_apis import IMAGE_GENERATORS
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.shapes import written_out
from tfmemlint.facts.library.signatures import having
from tfmemlint.facts.syntax.arithmetic import constant
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import called, is_literal

FEW = 32
"""As many as one batch: a literal list of them is no data set."""
MANY = 256
"""As many are a data set of their own, even if they were taken from a larger one."""
HALF = 0.5
_MAX_HOPS = 8


class Iterables:
    """How much of the data an iterable is."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._callers = tf.callers
        self._bindings = tf.bindings
        self._names = tf.names
        self._flow = tf.flow
        self._values = tf.values
        self._numbers = tf.numbers

    def counted(self, node: ast.expr) -> ast.expr | None:
        """`paths` for `range(len(paths))`."""
        if isinstance(node, ast.Call) and called(node) in makers.RANGES and node.args:
            return self._values.rows(_stop(node))
        return None

    def named_in(
        self, header: ast.For, body: Iterable[ast.AST]
    ) -> Iterator[tuple[ast.AST, ast.expr]]:
        """What stands for an element of something that a loop goes over, and what that is.

        The loop itself, where it gives nothing else; names: `for x, y in zip(xs, ys)`; `xs[i]`.
        """
        counted = self.counted(header.iter)
        if counted is not None and isinstance(header.target, ast.Name):
            for each in body:
                place = each.slice if isinstance(each, ast.Subscript) else None
                is_at = isinstance(place, ast.Name) and place.id == header.target.id
                if isinstance(each, ast.Subscript) and is_at:
                    yield each, each.value
            return
        given, target = header.iter, header.target
        while isinstance(given, ast.Call) and given.args and called(given) in _ONE_BY_ONE:
            if called(given) == "enumerate" and isinstance(target, ast.Tuple):
                target = target.elts[-1]
            given = given.args[0]
        if not isinstance(given, ast.Call) or called(given) != "zip":
            yield (header if target is header.target else target), given
        elif isinstance(target, ast.Tuple) and len(target.elts) == len(given.args):
            yield from zip(target.elts, given.args, strict=True)

    def is_part(self, node: ast.expr, frame: Frame | None = None, hops: int = _MAX_HOPS) -> bool:
        """Whether an iterable is surely but a part of something, or a few things written down.

        A slice up to some index, what an index variable picks, a sample, a literal of up to 32.
        """
        if hops == 0:
            return False
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            starred = [each.value for each in node.elts if isinstance(each, ast.Starred)]
            parts = all(self.is_part(each, frame, hops - 1) for each in starred)
            return parts and 0 < len(node.elts) <= FEW  # an empty one is filled later
        if isinstance(node, ast.Dict):
            return None not in node.keys and 0 < len(node.keys) <= FEW
        if isinstance(node, ast.Subscript):
            put = self._flow.one_before(node, frame)
            if put is not None:
                return self.is_part(put.value, put.frame, hops - 1)
            if isinstance(node.slice, (ast.Name, ast.Attribute, ast.Call, ast.BinOp)):
                return not self._is_entry(node, frame)
            axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            cut = any(isinstance(each, ast.Slice) and _ends_early(each) for each in axes[:1])
            if cut and self._keeps_many(axes[0], node.value, frame):
                return False
            return cut or self.is_part(node.value, frame, hops - 1)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return any(self.is_part(each.iter, frame, hops - 1) for each in node.generators)
        if isinstance(node, ast.BinOp):
            return all(self.is_part(each, frame, hops - 1) for each in (node.left, node.right))
        if isinstance(node, ast.IfExp):
            return all(self.is_part(each, frame, hops - 1) for each in (node.body, node.orelse))
        if isinstance(node, ast.Call):
            return self._is_part_call(node, frame, hops - 1)
        if self._is_written_out(node):
            return True
        origins = self._flow.origins(node, frame) or ()
        return bool(origins) and all(
            each.how is How.ASSIGNED
            and not each.path
            and self.is_part(each.value, each.frame, hops - 1)
            and not self._stands_in(each, hops - 1)
            for each in origins
        )

    def belongs_to_one(self, read: ast.expr) -> bool:
        """Whether what is read is that of one of many, picked there or by whoever calls a function.

        As the files in a folder whose name is worked out of `self.images[number]`.
        """
        pending = [read]
        for each in pending:
            for node in ast.walk(each):
                if isinstance(node, ast.Subscript) and self._is_picked(node):
                    return True
                binding = self._bindings.only(node) if isinstance(node, ast.Name) else None
                known = binding.value if binding is not None else None
                if known is not None and known not in pending and len(pending) < _MAX_HOPS:
                    pending.append(known)
        return False

    def _is_picked(self, node: ast.Subscript) -> bool:
        if isinstance(constant(node.slice), int) and self._values.of(node).kind is Kind.PATH:
            above = self._tree.ancestors(node)  # `patients[0]`, but not the folder all are in
            return not any(self._names.call_of(each, _FOLDER_OF) for each in above)
        bound = self._bindings.reaching(node.slice) if isinstance(node.slice, ast.Name) else ()
        function = self._tree.function(node)
        return (
            bool(bound)
            and all(each.how is How.PARAMETER for each in bound)
            and function is not None
            and not self._callers.calls_of(function)
            and not self._is_entry(node, None)
        )

    def _is_entry(self, node: ast.Subscript, frame: Frame | None) -> bool:
        """Whether this is an entry of a dictionary, by the key that a function is told: `x[split]`.

        An entry is all there is of a kind; an index picks one of many.
        """
        if not isinstance(node.slice, ast.Name):
            return False
        bound = self._bindings.reaching(node.slice)
        if not bound or any(each.how is not How.PARAMETER for each in bound):
            return False
        made = [each.value for each in self._flow.origins(node.value, frame) or ()]
        return bool(made) and all(self._is_dictionary(each) for each in made)

    def _is_dictionary(self, made: ast.expr) -> bool:
        if isinstance(made, (ast.Dict, ast.DictComp)):
            return True
        if not isinstance(made, ast.Call):
            return False
        return called(made) == "dict" or self._names.is_any(made.func, _DICTIONARIES)

    def _stands_in(self, origin: Origin, hops: int) -> bool:
        """Whether a few things written down are given to a function, which takes any number."""
        if origin.binding is None or origin.binding.how is not How.PARAMETER:
            return False
        node: ast.expr | None = origin.value
        while isinstance(node, ast.Name) and hops > 0:
            node, hops = self._bindings.assigned(node), hops - 1
        return isinstance(node, (ast.List, ast.Tuple)) and written_out(node) is not None

    def is_sequence(self, node: ast.expr, hops: int = _MAX_HOPS) -> bool:
        """Whether an iterable has a length and an order that a tensor of its elements would keep.

        Generators, sets and views do not. Names out of sight are taken to mean sequences.
        """
        if isinstance(node, (ast.List, ast.Tuple, ast.ListComp, ast.Subscript)) or hops == 0:
            return True
        if isinstance(node, ast.BinOp):
            return all(self.is_sequence(each, hops - 1) for each in (node.left, node.right))
        if isinstance(node, (ast.Name, ast.Attribute)):
            return all(
                not each.is_whole or self.is_sequence(each.value, hops - 1)
                for each in self._flow.origins(node) or ()
            )
        if not isinstance(node, ast.Call):
            return False
        name = self._names.qualified(node.func)
        if name is not None:
            return name in _SEQUENCES or name.startswith("numpy.")
        if called(node) in ("list", "sorted"):
            return True
        returned = tuple(self._flow.returned(node, None))
        if returned:
            return all(self.is_sequence(each.value, hops - 1) for each in returned)
        return isinstance(node.func, ast.Attribute) and node.func.attr in _LISTING_METHODS

    def gives_data(self, node: ast.expr, hops: int = _MAX_HOPS) -> bool:
        """Whether an iterable gives batches or rows: a data set, a tensor, `iter(...)` of anything.

        Or `x.as_numpy_iterator()`, which data sets alone have, a generator of Keras, or what a
        function of the module gives back that may be a tensor.
        """
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            opens = node.slice.upper is None
            return opens and hops > 0 and self.gives_data(node.value, hops - 1)
        if self._values.of(node).kind in (Kind.DATASET, Kind.TENSOR):
            return True
        if isinstance(node, ast.Call):
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if called(node) == "iter" or method == "as_numpy_iterator":
                return True
            made = self._made_by(node.func.value) if isinstance(node.func, ast.Attribute) else None
            if made in IMAGE_GENERATORS:
                return True
            kinds = {self._values.of(each.value, each.frame).kind for each in self._returned(node)}
            return Kind.TENSOR in kinds or Kind.DATASET in kinds
        origins = self._flow.origins(node) or ()
        return len(origins) == 1 and all(
            each.how is How.ASSIGNED
            and not each.path
            and hops > 0
            and self.gives_data(each.value, hops - 1)
            for each in origins
        )

    def _returned(self, call: ast.Call) -> list[Origin]:
        """What a function of the module returns, names followed."""
        found = list(self._flow.returned(call, None))
        for each in tuple(found):
            found += self._flow.origins(each.value, each.frame) or ()
        return found

    def _made_by(self, node: ast.expr) -> str:
        """The canonical name of what made the object that a name holds."""
        return self._names.called(self._flow.meant(node))

    def _is_written_out(self, node: ast.expr) -> bool:
        """Whether this is the `files` of `def load(*files)`, which callers write one by one."""
        binding = self._bindings.only(node)
        parameters = self._tree.parent(binding.node) if binding is not None else None
        starred = parameters.vararg if isinstance(parameters, ast.arguments) else None
        return binding is not None and starred is binding.node

    def _is_part_call(self, node: ast.Call, frame: Frame | None, hops: int) -> bool:
        name, builtin = self._names.qualified(node.func), called(node)
        few_rows = any(each.arg == "nrows" for each in node.keywords)  # `pandas.read_csv`
        if builtin == "next" and node.args and self._names.call_of(node.args[0], _WALKS):
            return False  # all there is in one folder
        if name in _SAMPLES or builtin == "next" or few_rows:
            return True
        if builtin in makers.RANGES and node.args:
            whole = self.counted(node)
            if whole is not None:
                return self.is_part(whole, frame, hops) or self._may_be_batch(node, whole, frame)
            trips = self._values.number(_stop(node), frame)
            return trips is None or trips <= FEW
        if builtin in _SEEN_THROUGH or name in makers.WRAPS_ITERABLE:
            return any(self.is_part(each, frame, hops) for each in node.args)
        returned = tuple(self._flow.returned(node, frame))
        if returned:
            return all(self.is_part(each.value, each.frame, hops) for each in returned)
        if name is None and isinstance(node.func, ast.Attribute):
            samples = node.func.attr in _SAMPLING_METHODS
            if samples and node.args and self._are_many(node.args[0], frame):
                samples = False
            return samples or self.is_part(node.func.value, frame, hops)
        return False

    def _are_many(self, count: ast.expr, frame: Frame | None) -> bool:
        """Whether a number of things to take is large, as callers give it or defaults have it."""
        number = self._numbers.of(count, frame).value
        return number is not None and number > MANY

    def _keeps_many(self, part: ast.expr, whole: ast.expr, frame: Frame | None) -> bool:
        """Whether a slice has as many elements as a data set, as far as it is known: `x[:3000]`.

        Or half of all of them, or more: `x[: int(0.8 * len(x))]`.
        """
        if not isinstance(part, ast.Slice) or part.upper is None or part.step is not None:
            return False
        from_first = part.lower is None or is_literal(part.lower, 0)
        if from_first and (self._values.share(part.upper, whole, frame) or 0) >= HALF:
            return True
        last = self._numbers.of(part.upper, frame).value
        first = 0 if part.lower is None else self._numbers.of(part.lower, frame).value
        return first is not None and last is not None and 0 <= first < last - MANY

    def _may_be_batch(self, counted: ast.Call, whole: ast.expr, frame: Frame | None) -> bool:
        """Whether `x` of `range(x.shape[0])` is a parameter, unseen what for, cut into its rows.

        Lists of files have no shape, and tables are not cut by `x[i]`.
        """
        stop = _stop(counted)
        named = self._bindings.only(stop)
        stop = named.value if named is not None and named.value is not None else stop
        if not isinstance(whole, ast.Name) or not isinstance(stop, ast.Subscript):
            return False
        binding = self._bindings.only(whole)
        if binding is None or binding.how is not How.PARAMETER or self._flow.origins(whole, frame):
            return False
        above = (self._tree.parent(each) for each in self._bindings.readers(binding))
        cuts = (each.slice for each in above if isinstance(each, ast.Subscript))
        return any(isinstance(each, ast.Name) for each in cuts)


def _stop(call: ast.Call) -> ast.expr:
    """Where a `range` ends."""
    return call.args[min(len(call.args), 2) - 1]


_SEEN_THROUGH = frozenset(
    {"enumerate", "filter", "list", "reversed", "set", "sorted", "tqdm", "tuple", "zip"}
)
_ONE_BY_ONE = _SEEN_THROUGH - {"zip"}
_DICTIONARIES = frozenset({"collections.OrderedDict", "collections.defaultdict"})
_FOLDER_OF = frozenset({"os.path.dirname", "os.path.split"})
_WALKS = frozenset({"os.walk"})
_SAMPLES = having(traits.SAMPLES)
_SAMPLING_METHODS = frozenset({"choice", "head", "nlargest", "sample", "tail", "take"})
_SEQUENCES = frozenset(
    {"glob.glob", "os.listdir", "tensorflow.io.gfile.glob", "tensorflow.io.gfile.listdir"}
)
_LISTING_METHODS = frozenset({"copy", "to_list", "to_numpy", "tolist"})


def _ends_early(part: ast.Slice) -> bool:
    """Whether a slice leaves out what stands at the end, or all but that: `[-2:]`."""
    return part.upper is not None or isinstance(part.lower, ast.UnaryOp)
