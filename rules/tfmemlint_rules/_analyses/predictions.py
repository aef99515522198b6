"""Calls of `predict` that loops repeat, each for a row or a batch of its own."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts.flow.iterables import called
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.library import makers
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple
from tfmemlint_rules._analyses.batches import FEW, LARGE, Batches, Rows

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow

_MAX_HOPS = 4

_COMPUTES = ("keras.", "numpy", "tensorflow")
_PLOTS = "matplotlib.pyplot."
_DRAWS = ("matplotlib",)
_SHOWS = frozenset({"matplotlib.pyplot.show"})
_ASKS_PEOPLE = frozenset({"google.colab.files.upload"})
_SEES = frozenset({"detectMultiScale", "detect_faces", "findContours"})
"""What finds objects in a picture."""
_SAMPLES = frozenset({"random.choices", "random.sample"})
_OF_ALL = frozenset({"amax", "argmax", "argmin", "max", "min"})
"""Functions that take what they are given for one row, unless they are told an axis."""


class Prediction(NamedTuple):
    """One call of `predict` that is run many times for little each time."""

    call: ast.Call
    loop: Loop
    """The innermost loop that has many rounds, be it around a call of the function."""
    rows: Rows


class Predictions:
    """What models are asked to predict in loops."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._functions = tf.functions
        self._flow = tf.flow
        self._loops = tf.loops
        self._counters = tf.counters
        self._values = tf.values
        self._consumers = tf.consumers
        self._iterables = tf.iterables
        self._passes = tf.passes
        self._batches = tf.of(Batches)
        self._tracing = tf.tracing
        self._uses = tf.uses

    @cached_property
    def repeated(self) -> tuple[Prediction, ...]:
        """Every such call, in source order."""
        found = (self._prediction(*each) for each in self._tree.methods("predict"))
        calls = [each for each in found if each is not None]
        # there `predict` runs a session, and makes no pipeline
        return () if calls and self._tracing.by_hand else tuple(calls)

    def _prediction(self, call: ast.Call, callee: ast.Attribute) -> Prediction | None:
        given = makers.argument(call, 0, "x")
        told = any(each.arg in ("steps", None) for each in call.keywords) or len(call.args) > 3
        if given is None or told:
            return None
        loop = self._repeats(call, callee.value, [given], _MAX_HOPS)
        if loop is None or not self._passes.is_model(callee.value):
            return None
        if self._functions.function(callee) is not None or self._tracing.why(call) is not None:
            return None
        rows = self._batches.of_inputs(given)
        rows = rows or (Rows.ONE if self._is_read_as_one(call) else None)
        if rows is None and self._trains_beside(call) and not self._is_large(given):
            rows = Rows.BATCH
        return None if rows is None else Prediction(call, loop, rows)

    def _repeats(
        self,
        node: ast.AST,
        model: ast.expr | None,
        given: list[ast.expr],
        hops: int,
        inner: Loop | None = None,
        times: int = 1,
    ) -> Loop | None:
        """The innermost loop that runs `node` for something else each time, if that is often."""
        for loop in self._loops.around(node):
            if self._counters.are_few(node, loop, FEW) or self._is_picked(node, loop):
                return None
            if self._is_watched(loop):
                return None
            if model is not None and not self._loops.invariant(model, loop):
                return None
            if loop.over is Over.EPOCHS and not self._is_of_steps(loop):
                return None
            if any(self._fits_again(each, loop) for each in loop.body):
                return None
            if self._changes(given, loop):
                rounds = self._rounds(loop)
                if inner is None or self._rounds(inner) <= FEW < rounds:
                    inner = loop
                times *= rounds
            if times > FEW:
                return inner
        function = self._tree.function(node)
        if not isinstance(function, ast.FunctionDef) or hops == 0:
            return None
        for call in self._functions.calls_of(function):
            if self._tree.function(call) is not function:
                passed = [call.func, *call.args, *(each.value for each in call.keywords)]
                outer = self._functions.argument(call, function, getattr(model, "id", ""))
                found = self._repeats(call, outer, passed, hops - 1, inner, times)
                if found is not None:
                    return found
        return None

    def _rounds(self, loop: Loop) -> int:
        """How often a loop goes round: many times if nothing says that it does not."""
        left = self._counters.left_after(loop)
        if left is not None and left <= FEW:
            return left
        if loop.trips is not None:
            return loop.trips
        if loop.over is Over.LITERAL:
            return 1
        return FEW + 1 if loop.iterable is None else self._elements(loop.iterable)

    def _elements(self, iterable: ast.expr) -> int:
        """How many elements something is taken to have: a part to look at is no more than one."""
        if isinstance(iterable, ast.Call) and called(iterable) in makers.RANGES:
            return FEW + 1
        for each in [each.value for each in self._flow.origins(iterable) or ()] or [iterable]:
            if isinstance(each, ast.Call) and (_is_next(each) or self._gives_few(each)):
                return 1
            if isinstance(each, ast.Call) and self._names.is_any(each.func, _SAMPLES):
                count = makers.argument(each, 1, "k")
                drawn = None if count is None else self._values.number(count)
                return FEW + 1 if drawn is None else int(drawn)
        few = self._iterables.is_part(iterable) or self._is_chosen_by_people(iterable)
        return 1 if few else FEW + 1

    def _gives_few(self, call: ast.Call) -> bool:
        """Whether a call lists devices, or what is seen in one picture."""
        method = call.func.attr if isinstance(call.func, ast.Attribute) else None
        name = self._names.qualified(call.func) or ""
        return method in _SEES or name.startswith("tensorflow.config.")

    def _is_chosen_by_people(self, iterable: ast.expr) -> bool:
        origins = self._flow.origins(_owner(iterable)) or ()
        made = (each.value.func for each in origins if isinstance(each.value, ast.Call))
        return any(self._names.is_any(each, _ASKS_PEOPLE) for each in made)

    def _changes(self, given: list[ast.expr], loop: Loop) -> bool:
        """Whether what is given is not the same in every round; objects may have changed."""
        nodes = [each for whole in given for each in ast.walk(whole)]
        if any(map(self._may_differ, nodes)):
            return True
        if not all(self._loops.invariant(whole, loop) for whole in given):
            return True
        read = {each.id for each in nodes if isinstance(each, ast.Name)}
        return any(
            isinstance(each, ast.Subscript)
            and isinstance(each.ctx, ast.Store)
            and isinstance(each.value, ast.Name)
            and each.value.id in read
            for each in loop.body
        )

    def _may_differ(self, node: ast.AST) -> bool:
        """Whether code gives something else each time though it is the same: `env.state`, `f()`."""
        if not isinstance(node, (ast.Attribute, ast.Call)):
            return False
        name = self._names.qualified(node.func if isinstance(node, ast.Call) else node)
        return name is None or not name.startswith(_COMPUTES) or ".random." in name

    def _is_picked(self, node: ast.AST, loop: Loop) -> bool:
        """Whether a test picks rounds for `node` by what the loop goes over: `name == best`."""
        tests = (test for test, _ in self._tree.tests(node, loop.node))
        parts = (each for test in tests for each in ast.walk(test))
        return any(isinstance(each, ast.Compare) and self._picks(each, loop) for each in parts)

    def _picks(self, test: ast.Compare, loop: Loop) -> bool:
        named = {each.id for each in ast.walk(test) if isinstance(each, ast.Name)}
        exact = any(isinstance(each, (ast.Eq, ast.In)) for each in test.ops)
        return exact and not named.isdisjoint(loop.targets)

    def _is_watched(self, loop: Loop) -> bool:
        """Whether each round shows people something or asks them: then there are not many."""
        for each in loop.body:
            if isinstance(each, ast.Call):
                name = self._names.qualified(each.func) or ""
                if called(each) == "input" or name.startswith(_PLOTS):
                    return True
                if not name and _is_on_axes(each) and self._names.uses(_DRAWS):
                    return True
        ran = self._consumers.run_by(loop.body) if self._may_show else ()
        return any(isinstance(each, ast.Call) and self._shows(each) for each in ran)

    @cached_property
    def _may_show(self) -> bool:
        return any(self._names.calls(_SHOWS))

    def _shows(self, call: ast.Call) -> bool:
        return self._names.is_any(call.func, _SHOWS)

    def _is_of_steps(self, loop: Loop) -> bool:
        """Whether a loop over what it calls epochs trains on one batch, or a few, in each."""
        for each in loop.body:
            if _trains_on_batch(each):
                inner = [between for between in self._loops.around(each) if between is not loop]
                inner = [each for each in inner if self._tree.inside(each.node, loop.node)]
                return all(between.trips is not None for between in inner)
        return False

    def _fits_again(self, node: ast.AST, loop: Loop) -> bool:
        """Whether code trains on the same data in each round of a loop: rounds are epochs then."""
        call = node.func if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not isinstance(call, ast.Attribute):
            return False
        return call.attr == "fit" and bool(node.args) and self._loops.invariant(node.args[0], loop)

    def _trains_beside(self, call: ast.Call) -> bool:
        """Whether the innermost loop around a call trains on a batch: then this is one, too."""
        around = self._loops.around(call)
        return bool(around) and any(map(_trains_on_batch, around[0].body))

    def _is_large(self, given: ast.expr) -> bool:
        shape = self._values.of(given).shape
        rows = shape[0] if shape else None
        return rows is not None and rows > LARGE

    def _is_read_as_one(self, call: ast.Call) -> bool:
        """Whether what is predicted is read as one row: `argmax(model.predict(x)[0])`."""
        trails = self._uses.here(call) or ()
        reads = [self._reads_one(trail[-1]) for trail in trails]
        return None not in reads and any(reads)

    def _reads_one(self, use: ast.expr) -> bool | None:
        """Whether a use surely reads one row: false if it may be one array of several, too."""
        above = self._tree.parent(use)
        if not isinstance(above, ast.Subscript) or above.value is not use:
            return self._reads_all(use) or None
        index = above.slice
        if isinstance(index, ast.Tuple):
            return bool(index.elts and _is_zero(index.elts[0])) or None
        if not _is_zero(index):
            return None
        return isinstance(self._tree.parent(above), ast.Subscript) or self._reads_all(above)

    def _reads_all(self, use: ast.expr) -> bool:
        """Whether a use makes one number of an array: `np.argmax(y)`, `float(y)`, `y.item()`."""
        above = self._tree.parent(use)
        if isinstance(above, ast.Attribute):
            call = self._tree.parent(above)
            whole = isinstance(call, ast.Call) and not call.args and not call.keywords
            return whole and (above.attr == "item" or above.attr in _OF_ALL)
        if not isinstance(above, ast.Call) or above.args != [use] or above.keywords:
            return False
        if called(above) in ("float", "int"):
            return True
        name = self._names.qualified(above.func) or ""
        return name.startswith("numpy.") and name.rpartition(".")[2] in _OF_ALL


def _is_next(call: ast.Call) -> bool:
    """Whether a call takes the next element from an iterator: `next(batches)`, `it.next()`."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else None
    return called(call) == "next" or method in ("get_next", "next")


def _is_on_axes(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "imshow"


def _owner(iterable: ast.expr) -> ast.expr:
    """`uploaded` for `uploaded.keys()`."""
    method = iterable.func if isinstance(iterable, ast.Call) else None
    return method.value if isinstance(method, ast.Attribute) else iterable


def _trains_on_batch(node: ast.AST) -> bool:
    method = node.func if isinstance(node, ast.Call) else None
    return isinstance(method, ast.Attribute) and method.attr == "train_on_batch"


def _is_zero(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value == 0 and index.value is not False
