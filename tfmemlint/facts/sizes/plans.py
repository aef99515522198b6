"""What a program holds at its largest step, put together line by line."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import entered
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import JOINS, RANDOM_GENERATORS
from tfmemlint.facts.pipelines.consumers import Into
from tfmemlint.facts.sizes.amounts import Amount, count, held, product, total
from tfmemlint.facts.sizes.arrays import Arrays
from tfmemlint.facts.sizes.flights import Flights
from tfmemlint.facts.sizes.models import Models
from tfmemlint.facts.sizes.moments import UNSEEN, Item, Moment, Part
from tfmemlint.facts.sizes.numbers import Numbers
from tfmemlint.facts.sizes.steps import Steps
from tfmemlint.facts.syntax.nodes import names_in
from tfmemlint.facts.syntax.tree import FunctionNode

_SCALED = frozenset(
    f"tensorflow.random.{middle}{name}"
    for middle in ("", "stateless_")
    for name in ("normal", "truncated_normal", "uniform")
)
_COMPUTES = ("tensorflow.math.", "tensorflow.nn.", "tensorflow.image.", "tensorflow.reduce_")
_WINDOWS = "numpy.lib.stride_tricks.sliding_window_view"
_CALLERS = 20
_ALLOCATION = 256
"""Bytes, of which memory is given out in multiples."""
_VIEWS = frozenset({"numpy", "ravel", "reshape", "transpose"})
"""Methods whose result shares the memory of the array."""
_UNMODELLED = frozenset({"histogram_freq", "max_queue_size", "zca_whitening"})
"""Arguments that have Keras make, or keep, what is not in the code."""
_READS = frozenset({Into.FIT, Into.EVALUATE, Into.PREDICT, Into.LOOP, Into.ITERATOR})


class Plans:
    """The moments of a file's program."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._callers = tf.callers
        self._flow = tf.flow
        self._values = tf.values
        self._tracing = tf.tracing
        self._consumers = tf.consumers
        self._datasets = tf.datasets
        self._loops = tf.loops
        self._tapes = tf.tapes
        self._captures = tf.captures
        self._remade_models = tf.remade_models
        self._numbers = tf.of(Numbers)
        self._arrays = tf.of(Arrays)
        self._models = tf.of(Models)
        self._flights = tf.of(Flights)
        self._steps = tf.of(Steps)

    def largest(self, *, on_host: bool = False) -> Moment:
        """The moment at which most is held."""
        return max(self.moments(), key=lambda each: each.nbytes(on_host=on_host))

    @property
    def unknown(self) -> list[Item]:
        """What is held at some time or other, but is of no known size."""
        found = {(each.node, each.what): each for one in self.moments() for each in one.unknown}
        return [*found.values()]

    def growth(self) -> Amount | None:
        """How much more is held with every round of a loop; None where nothing grows."""
        found: list[Amount] = []
        for growth in self._loops.growths:
            if self._tracing.why(growth.node) is not None or not growth.elements:
                continue
            kept = self._arrays.nbytes(growth.elements[0])
            if kept.value is None or self._is_on_host(growth.elements[0]):
                continue
            found.append(held(-(-kept.value // _ALLOCATION) * _ALLOCATION))
        for chain in self._datasets.chains:
            found += self._flights.growing(chain)
        for model in self._remade_models.models:
            weights = self._models.weights_of(model.made)
            found += [weights] if weights is not None else []
        return total(found) if found else None

    def moments(self) -> list[Moment]:
        """What the program holds all along, with each of what it does in turn."""
        lasting = [*self._data(None), *self._lists(None), *self._unmodelled()]
        weights, steps = self._steps.held()
        lasting += weights
        moving: list[list[Item]] = [[]]
        moving += [[*self._data(each), *self._lists(each)] for each in self._entered()]
        moving += self._readings()
        moving += self._computing()
        every = [[*one, *step] for one in moving for step in [[], *steps]]
        brief = [Moment((*self._before(one, lasting), *one)) for one in self._briefly()]
        return [*(Moment((*lasting, *each)) for each in every), *brief]

    def _briefly(self) -> Iterable[list[Item]]:
        """What is held for moments of their own, in which nothing else goes on."""
        for node, what, amount in [*self._steps.drawn(), *self._drawn()]:
            if amount.value is not None:
                yield [Item(node, Part.DATA, f"while {what} drawn", count(2).times(amount))]
        yield from self._converted()
        for end in self._consumers.ends:
            made = self._flights.making(end.chains[0]) if end.into in _READS and end.chains else []
            if made:
                yield [Item(each.step, Part.BUFFERS, each.what, each.amount) for each in made]

    def _before(self, moment: list[Item], lasting: list[Item]) -> Iterable[Item]:
        """What lasts of what is there by then: nothing that the code only comes to later."""
        node = moment[0].node
        plain = self._tree.function(node) is None and not any(self._tree.loops(node))
        line = getattr(node, "end_lineno", 0)
        for each in lasting:
            later = self._tree.function(each.node) is None and _line(each.node) > line
            if not (each.part is Part.SLOTS or (plain and later)):
                yield each

    def _converted(self) -> Iterable[list[Item]]:
        """What operations hold that are given arrays by code that is not traced.

        The array as a tensor; before that a copy of it where it is a view that is not in one
        piece; and, for how far numbers vary, the distances from the mean and their squares.
        """
        for call in self._tree.all(ast.Call):
            name = self._names.qualified(call.func) or ""
            if not name.startswith(_COMPUTES) or not call.args or name in JOINS:
                continue
            given = call.args[0]
            if self._tree.function(call) is not None or self._tracing.why(call) is not None:
                continue
            if self._values.of(given).kind is not Kind.ARRAY:
                continue
            amount = self._arrays.nbytes(given)
            if amount.value is None or not amount.of_bytes:
                continue
            what = f"`{ast.unparse(given)}` as a tensor"
            varies = 2 if name.endswith(("reduce_std", "reduce_variance")) else 0
            found = [Item(call, Part.DATA, what, count(1 + varies).times(amount).folded())]
            if self._is_strided(given):
                found.append(Item(given, Part.DATA, "in one piece", amount, on_host=True))
            yield found

    def _is_strided(self, node: ast.expr) -> bool:
        """Whether an array is a part of windows that overlap, which share their memory."""
        origins = [node, *(each.value for each in self._flow.origins(_base(node)) or ())]
        calls = (each for one in origins for each in ast.walk(one) if isinstance(each, ast.Call))
        return any(self._names.qualified(each.func) == _WINDOWS for each in calls)

    def _drawn(self) -> Iterable[tuple[ast.Call, str, Amount]]:
        """Random tensors, which are scaled and shifted: each step of it makes one of its own."""
        for call, _ in self._names.calls(_SCALED):
            whole = self._tracing.why(call) is None and not self._datasets.is_dataset(call)
            amount = self._largest(call, self._tree.function(call)) if whole else None
            if amount is not None:
                yield call, f"`{_short(call)}` is", amount

    def _unmodelled(self) -> Iterable[Item]:
        """What is there, too, and cannot be told from the code alone."""
        for capture in self._captures.all:
            name = ast.unparse(capture.use)
            yield Item(capture.use, Part.DATA, f"copies of `{name}` in graphs", UNSEEN)
        for tape in self._tapes.all:
            recorded = any(True for _ in self._runs_in(tape.block))
            if self._tracing.why(tape.block) is None and not recorded:
                yield Item(tape.block, Part.ACTIVATIONS, "what the tape records", UNSEEN)
        for function in self._tree.all(ast.FunctionDef):
            traced = any(map(self._traces, function.decorator_list))
            if traced and not any(True for _ in self._runs_in(function)):
                yield Item(function, Part.ACTIVATIONS, f"what `{function.name}` computes", UNSEEN)
        for call, method in self._tree.methods("jacobian", "batch_jacobian"):
            if self._tapes.is_one(method.value):
                yield Item(call, Part.DATA, f"`{ast.unparse(call)}`", UNSEEN)
        for keyword in self._tree.all(ast.keyword):
            if keyword.arg in _UNMODELLED:
                yield Item(keyword.value, Part.DATA, f"what `{keyword.arg}` needs", UNSEEN)
        for growth in self._loops.growths:
            if self._tracing.why(growth.node) is not None:
                yield Item(growth.node, Part.DATA, f"`{growth.name}` in the graph", UNSEEN)
        for node in self._tree.all(ast.Assign):
            rebound = isinstance(node.targets[0], ast.Name) and any(self._tree.loops(node))
            if rebound and self._continues(node):
                name = ast.unparse(node.targets[0])
                yield Item(node, Part.BUFFERS, f"`{name}` of every round", UNSEEN)

    def _traces(self, decorator: ast.expr) -> bool:
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        return self._names.qualified(made) == "tensorflow.function"

    def _continues(self, node: ast.Assign) -> bool:
        """Whether a loop gives a name what it makes of the pipeline or tensor that it has."""
        target = ast.unparse(node.targets[0])
        inner = ast.walk(node.value)
        reads = any(isinstance(each, ast.Name) and each.id == target for each in inner)
        joins = isinstance(node.value, ast.Call) and self._names.is_any(node.value.func, JOINS)
        return reads and (joins or self._datasets.is_dataset(node.value))

    def _runs_in(self, block: ast.AST) -> Iterable[ast.Call]:
        return (each for each, *_ in self._steps.runs() if self._tree.inside(each, block))

    def _entered(self) -> list[FunctionNode]:
        """The functions that run as plain Python."""
        kinds = self._tree.all(ast.FunctionDef, ast.AsyncFunctionDef)
        return [each for each in kinds if self._tracing.why(each.body[0]) is None]

    def _data(self, function: FunctionNode | None) -> Iterable[Item]:
        """What is given names in a function, or outside of all: the largest it ever is."""
        sizes: dict[str, list[tuple[ast.Assign, Amount, bool]]] = {}
        for node in self._tree.all(ast.Assign):
            target = node.targets[0]
            if self._tree.function(node) is not function or not isinstance(target, ast.Name):
                continue
            side = self._side(node.value)
            amount = self._largest(node.value, function) if side is not None else None
            if amount is not None and amount.value is None:
                yield Item(node, Part.DATA, f"`{target.id}`", UNSEEN)
            elif amount is not None:
                sizes.setdefault(target.id, []).append((node, amount, side is Kind.ARRAY))
        for name, found in sizes.items():
            node, amount, host = max(found, key=lambda each: each[1].value or 0)
            reads = names_in(node.value)
            yield Item(node, Part.DATA, f"`{name}`", amount, host)
            others = [each for each in found if each[0] is not node]
            if others and name in reads:
                before = max(others, key=lambda each: each[1].value or 0)
                yield Item(before[0], Part.DATA, f"`{name}` before", before[1], before[2])

    def _largest(self, node: ast.expr, function: FunctionNode | None) -> Amount:
        """The bytes of something: in a function the most that any of its calls makes it."""
        calls = self._callers.calls_of(function) if function is not None else ()
        if function is None or not 1 < len(calls) <= _CALLERS:
            return self._arrays.nbytes(node)
        frames = [entered(function, call, None) for call in calls]
        amounts = [self._arrays.nbytes(node, each) for each in frames]
        if any(each.value is None for each in amounts):
            return self._arrays.nbytes(node)._replace(value=None)
        return max(amounts, key=lambda each: each.value or 0)

    def _is_on_host(self, node: ast.expr) -> bool:
        """Whether something is NumPy's, or Python's own."""
        called = node.func if isinstance(node, ast.Call) else None
        copied = isinstance(called, ast.Attribute) and called.attr == "numpy"
        return copied or self._values.of(node).kind in (Kind.ARRAY, Kind.NUMBER)

    def _computing(self) -> list[list[Item]]:
        """What eager code holds while it computes one value of several others."""
        found: list[list[Item]] = []
        for node in self._tree.all(ast.Assign):
            if self._tree.function(node) is not None:
                continue
            inner = [
                (each, self._arrays.nbytes(each))
                for each in ast.walk(node.value)
                if isinstance(each, (ast.BinOp, ast.Call)) and each is not node.value
            ]
            what = f"on the way to `{ast.unparse(node.targets[0])}`"
            for kind in (Kind.TENSOR, Kind.ARRAY):
                made = [
                    Item(each, Part.DATA, what, amount, kind is Kind.ARRAY)
                    for each, amount in inner
                    if amount.value is not None and self._side(each) is kind
                ]
                made.sort(key=lambda each: -(each.amount.value or 0))
                found += [made[:2]] if made else []  # an operation, and what it is done to
        return found

    def _side(self, node: ast.expr) -> Kind | None:
        """Whether an expression makes an array or a tensor; None for another name of one."""
        if isinstance(node, (ast.Name, ast.Attribute, ast.Constant)):
            return None
        if isinstance(node, ast.Subscript) and not self._values.of(node.slice).is_array:
            return None
        if isinstance(node, ast.Call) and self._names.is_any(node.func, RANDOM_GENERATORS):
            return None
        value = self._values.of(node)
        if value.kind in (Kind.ARRAY, Kind.TENSOR, Kind.VARIABLE):
            called = node.func if isinstance(node, ast.Call) else None
            is_view = isinstance(called, ast.Attribute) and called.attr in _VIEWS
            return None if is_view else value.kind
        if isinstance(node, (ast.ListComp, ast.List)):
            inner = node.elt if isinstance(node, ast.ListComp) else (node.elts or [node])[0]
            plain = isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name)
            return None if inner is node or plain else self._values.of(inner).kind
        return None

    def _lists(self, function: FunctionNode | None) -> Iterable[Item]:
        for growth in self._loops.growths:
            if self._tree.function(growth.node) is not function or not growth.elements:
                continue
            if self._tracing.why(growth.node) is not None:
                continue
            element = growth.elements[0]
            each = self._arrays.nbytes(element)
            host = self._values.of(element).kind is Kind.ARRAY
            if host and isinstance(element, ast.Subscript):
                continue  # a view
            rounds = product([self._numbers.rounds(loop.node) for loop in growth.loops])
            amount = rounds.times(each.folded())
            if amount.value is not None and each.of_bytes:
                yield Item(growth.node, Part.DATA, f"`{growth.name}`", amount, host)

    def _readings(self) -> list[list[Item]]:
        """What each reading of a pipeline has under way."""
        found: list[list[Item]] = []
        for end in self._consumers.ends:
            if end.into is Into.LIST and end.chains:
                chain = end.chains[0]
                whole = self._flights.of(chain, end.dataset)
                items = [Item(each.step, Part.BUFFERS, each.what, each.amount) for each in whole]
                every = self._flights.everything(chain)
                found.append([*items, Item(end.dataset, Part.DATA, "the list", every)])
            elif end.into in _READS and end.chains:
                flights = self._flights.of(end.chains[0], end.dataset)
                found.append(
                    [Item(each.step, Part.BUFFERS, each.what, each.amount) for each in flights]
                )
        return found


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _base(node: ast.expr) -> ast.expr:
    """What parts are taken of."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _short(call: ast.Call) -> str:
    return f"{ast.unparse(call.func)}(\u2026)"
