"""What the generators of pipelines load before they give their first element."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loading import Gathered
from tfmemlint.facts.flow.stored import Stored, is_everything
from tfmemlint.facts.library.kinds import Extent
from tfmemlint.facts.library.makers import WRAPS_ITERABLE, argument
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import called, names_in, same_code
from tfmemlint.facts.syntax.tree import FunctionNode
from tfmemlint.light_typing import NamedTuple

_MAX_HOPS = 4
FROM_GENERATOR = "tensorflow.data.Dataset.from_generator"


class Held(Enum):
    """As what a generator holds everything."""

    LIST = "a list of what files hold"
    STACK = "an array made of such a list"
    FILE = "the array in a file"
    HDF5 = "a data set of an HDF5 file"


class Hoard(NamedTuple):
    """Everything there is, loaded by a generator that then gives it bit by bit."""

    held: Held
    loaded: ast.expr
    """What loads it: a call, a comprehension, `file["x"][:]`."""
    data: ast.expr
    """What the loop goes over."""
    giving: ast.For | ast.YieldFrom
    """The loop that gives the elements, or what stands for it."""
    generator: FunctionNode
    gathered: Gathered | None = None
    """How it is filled, if a list."""


class Generators:
    """The generators that `Dataset.from_generator` is given, as far as they are in sight."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._imports = tf.imports
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._members = tf.members
        self._values = tf.values
        self._objects = tf.objects
        self._callers = tf.callers
        self._loops = tf.loops
        self._stored = tf.of(Stored)
        self._loading = tf.loading_anywhere
        self._per_batch = tf.per_batch

    @cached_property
    def hoards(self) -> tuple[Hoard, ...]:
        """What generators load whole and give bit by bit; one for a loop, its first data."""
        found: dict[ast.AST, Hoard] = {}
        for call, method in self._calls():
            if self._names.qualified(method) != FROM_GENERATOR:
                continue
            generator = self._generator(argument(call, 0, "generator"))
            elsewhere = generator is not None and self._tree.elsewhere(generator) is not None
            if generator is None or elsewhere or argument(call, 3, "args") is not None:
                continue  # what gets arguments may be given one file of many
            if self._per_batch.runs_once(call):
                for giving in self._giving(generator):
                    hoard = next(self._hoarded(giving, generator), None)
                    if hoard is not None:
                        found.setdefault(giving, hoard)
        return tuple(found.values())

    def _calls(self) -> Iterator[tuple[ast.Call, ast.Attribute]]:
        """What makes pipelines of generators, here or where this file's generators are imported."""
        yield from self._tree.methods("from_generator")
        for importer in self._imports.importers if self._may_generate else ():
            yield from importer.tree.methods("from_generator")

    @cached_property
    def _may_generate(self) -> bool:
        """Whether anything here gives one element after the other."""
        return any(map(self._tree.all, (ast.Yield, ast.YieldFrom)))

    def _generator(self, given: ast.expr | None) -> FunctionNode | None:
        """The function that gives the elements: behind a `lambda`, or the call of an object."""
        if isinstance(given, ast.Lambda) and isinstance(given.body, ast.Call):
            given = given.body.func
        if isinstance(given, ast.Call):
            made = self._functions.definition(given.func)
            return (
                self._functions.method(made, "__call__") if isinstance(made, ast.ClassDef) else None
            )
        return self._functions.function(given) if given is not None else None

    def _giving(self, generator: FunctionNode) -> Iterator[ast.For | ast.YieldFrom]:
        """The outermost loops of a generator that give an element, or part of one, each trip."""
        for node in self._bodies.body(generator):
            if isinstance(node, ast.YieldFrom):
                yield node
            elif isinstance(node, ast.Yield):
                loops = [each for each in self._tree.loops(node) if isinstance(each, ast.For)]
                if loops:
                    yield loops[-1]

    def _hoarded(self, giving: ast.For | ast.YieldFrom, generator: FunctionNode) -> Iterator[Hoard]:
        iterable = giving.value if isinstance(giving, ast.YieldFrom) else giving.iter
        for data in self._data(iterable):
            loaded: ast.expr | None = data
            if isinstance(data, ast.Name):
                loaded = self._loaded_here(data, giving, generator)
            if loaded is None or self._depends_on_arguments(loaded, generator):
                continue
            found = self._held(data, loaded, generator)
            if found is not None:
                held, loaded, gathered = found
                if held in (Held.FILE, Held.HDF5) and self._reads_as_it_goes(giving):
                    continue  # then this is what is small: labels, indices, names of files
                yield Hoard(held, loaded, data, giving, generator, gathered)

    def _reads_as_it_goes(self, giving: ast.For | ast.YieldFrom) -> bool:
        """Whether a loop reads from files in every trip: rows, or files that it goes over."""
        iterable = giving.value if isinstance(giving, ast.YieldFrom) else giving.iter
        rows = [
            each.value
            for each in ast.walk(giving)
            if isinstance(each, ast.Subscript) and not is_everything(each.slice)
        ]
        if any(map(self._is_in_file, (*rows, *self._data(iterable)))):
            return True
        return isinstance(giving, ast.For) and self._loading.loads_each(giving)

    def _is_in_file(self, expression: ast.expr) -> bool:
        """Whether this is a data set of an HDF5 file, or an array that is mapped from one."""
        if isinstance(expression, ast.Name):
            binding = self._bindings.only(expression)
            if binding is None or binding.value is None or binding.path:
                return False
            expression = binding.value
        if isinstance(expression, ast.Call):
            is_mapped = "mmap_mode" in {each.arg for each in expression.keywords}
            return is_mapped and self._names.is_any(expression.func, _READS)
        return self._stored.data_set(expression) is not None

    def _data(self, iterable: ast.expr) -> Iterator[ast.expr]:
        """What a loop goes over: `x` of `zip(x, y)`, of `enumerate(x)` and of `range(len(x))`."""
        if isinstance(iterable, ast.Call):
            wraps = self._names.is_any(iterable.func, WRAPS_ITERABLE)
            if wraps or called(iterable) in ("enumerate", "zip", "tqdm"):
                for each in iterable.args:
                    yield from self._data(each)
                return
            if called(iterable) == "range":
                counted = self._values.rows(iterable.args[-1]) if len(iterable.args) < 3 else None
                if counted is not None:
                    yield counted
                return
        yield iterable

    def _loaded_here(
        self, data: ast.Name, giving: ast.For | ast.YieldFrom, generator: FunctionNode
    ) -> ast.expr | None:
        """What the generator itself gives a name, whose rows are all it then wants, one by one."""
        binding = self._bindings.only(data)
        if binding is None or binding.how is not How.ASSIGNED or binding.value is None:
            return None
        here = self._tree.function(binding.node) is generator
        around = self._loops.around(binding.node)
        by_file = any(isinstance(each.node, ast.For) for each in around)
        if not here or by_file:
            return None
        uses = (each for each in self._bindings.readers(binding) if each is not data)
        return binding.value if all(self._is_row(each, giving) for each in uses) else None

    def _is_row(self, use: ast.expr, giving: ast.For | ast.YieldFrom) -> bool:
        """Whether a use wants one row, the number of rows, or to add one."""
        above = self._tree.parent(use)
        if isinstance(above, ast.Attribute):
            return above.attr in ("append", "shape")
        if isinstance(above, ast.Subscript) and isinstance(giving, ast.For):
            if same_code(giving.iter, use):
                return False  # what is looked up by what it gives is no array
            index = above.slice.elts[0] if isinstance(above.slice, ast.Tuple) else above.slice
            counted = names_in(giving.target)
            return isinstance(index, ast.Name) and index.id in counted
        if isinstance(above, ast.Call) and called(above) == "len":
            return True
        carried = self._objects.carried(use) or ()
        return bool(carried) and all(self._is_row(each, giving) for each in carried)

    def _held(
        self, data: ast.expr, loaded: ast.expr, generator: FunctionNode
    ) -> tuple[Held, ast.expr, Gathered | None] | None:
        """As what everything is held, what loads it, and how that is filled."""
        lazy = isinstance(loaded, ast.GeneratorExp) or _is_map(loaded)
        gathered = self._loading.gathered(data) if not lazy else None
        if gathered is not None:
            return Held.LIST, loaded, gathered
        if self._is_stacked(loaded):
            return Held.STACK, loaded, None
        stored = self._stored.everything(loaded)
        if stored is not None:
            return Held.HDF5, stored, None
        value = self._values.of(data)
        origin = value.origin
        if value.extent is not Extent.WHOLE or not isinstance(origin, ast.Call):
            return None
        plain = not {"allow_pickle", "mmap_mode", None} & {each.arg for each in origin.keywords}
        plain = plain and not any(_ends_in_npz(each) for each in origin.args)
        reads = plain and len(origin.args) == 1 and self._names.is_any(origin.func, _READS)
        here = self._runs_for(self._tree.function(origin), generator)
        return (Held.FILE, origin, None) if reads and here else None

    def _runs_for(self, function: FunctionNode | None, generator: FunctionNode) -> bool:
        """Whether a function is the generator, or does something for that alone."""
        if function is None or function is generator:
            return function is generator
        calls = self._callers.calls_of(function)
        return bool(calls) and all(self._tree.function(each) is generator for each in calls)

    def _is_stacked(self, made: ast.expr, hops: int = _MAX_HOPS) -> bool:
        """Whether this is an array made of a list of what files hold, or a call that gives one."""
        made = self._bindings.assigned(made) or made
        if not isinstance(made, ast.Call) or hops == 0:
            return False
        if self._names.is_any(made.func, _STACKS):
            return bool(made.args) and self._loading.gathered(made.args[0]) is not None
        function = self._functions.function(made.func)
        returned = self._bodies.returns(function) if function is not None else ()
        return any(self._is_stacked(each, hops - 1) for each in returned)

    def _depends_on_arguments(self, loaded: ast.expr, generator: FunctionNode) -> bool:
        """Whether what is loaded is told by what the generator is given: one file of many."""
        first = int(self._members.binds_first(generator))
        parameters = {each.arg for each in generator.args.args[first:]}
        return not names_in(loaded).isdisjoint(parameters)


def _is_map(made: ast.expr) -> bool:
    return isinstance(made, ast.Call) and called(made) == "map"


def _ends_in_npz(path: ast.expr) -> bool:
    return isinstance(path, ast.Constant) and str(path.value).endswith(".npz")


_READS = frozenset({"numpy.load"})
_STACKS = frozenset(
    {
        "numpy.array",
        "numpy.asarray",
        "numpy.concatenate",
        "numpy.stack",
        "numpy.vstack",
        "tensorflow.concat",
        "tensorflow.stack",
    }
)
