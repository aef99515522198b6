"""What a program holds at its largest step, put together line by line."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from enum import Enum

from tfmemlint.facts.library.keras_apis import SLOTS
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import JOINS, RANDOM_GENERATORS, argument
from tfmemlint.facts.pipelines.consumers import Into
from tfmemlint.facts.sizes.amounts import Amount, count, held, product, total
from tfmemlint.facts.sizes.arrays import Arrays
from tfmemlint.facts.sizes.flights import Flights
from tfmemlint.facts.sizes.models import Models, Run
from tfmemlint.facts.sizes.numbers import Numbers
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow
    from tfmemlint.facts.syntax.tree import FunctionNode


class Part(Enum):
    """What something in memory is there for."""

    DATA = "data"
    WEIGHTS = "weights"
    SLOTS = "optimiser's slots"
    GRADIENTS = "gradients"
    ACTIVATIONS = "activations"
    BUFFERS = "buffers of the pipeline"


class Item(NamedTuple):
    """Something that is held, and the code that answers for it."""

    node: ast.AST
    part: Part
    what: str
    amount: Amount
    on_host: bool = False


class Moment(NamedTuple):
    """Something that a program does, with all that it holds meanwhile."""

    items: tuple[Item, ...]

    def nbytes(self, *, on_host: bool) -> float:
        """The bytes that are known: on the device, or of a process on a machine without one."""
        mine = (each for each in self.items if on_host or not each.on_host)
        return sum(each.amount.value or 0 for each in mine if each.amount.of_bytes)

    @property
    def unknown(self) -> list[Item]:
        """What is there, but of no known size."""
        return [each for each in self.items if each.amount.value is None]


_NAMED = {"adam": "Adam", "adamw": "AdamW", "rmsprop": "RMSprop", "nadam": "Nadam"}
_KERAS = {
    "evaluate": False,
    "fit": True,
    "predict": False,
    "predict_on_batch": False,
    "train_on_batch": True,
}
_BATCH = 32
_ALLOCATION = 256
"""Bytes, of which memory is given out in multiples."""
_VIEWS = frozenset({"numpy", "ravel", "reshape", "transpose"})
"""Methods whose result shares the memory of the array."""
_UNMODELLED = frozenset({"histogram_freq", "max_queue_size", "zca_whitening"})
"""Arguments that have Keras make, or keep, what is not in the code."""
UNSEEN = Amount(("activations",), of_bytes=True)
_READS = frozenset({Into.FIT, Into.EVALUATE, Into.PREDICT, Into.LOOP, Into.ITERATOR})


class Plans:
    """The moments of a file's program."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._values = tf.values
        self._tracing = tf.tracing
        self._consumers = tf.consumers
        self._datasets = tf.datasets
        self._loops = tf.loops
        self._passes = tf.passes
        self._tapes = tf.tapes
        self._captures = tf.captures
        self._anew = tf.anew
        self._numbers = tf.of(Numbers)
        self._arrays = tf.of(Arrays)
        self._models = tf.of(Models)
        self._flights = tf.of(Flights)

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
        for model in self._anew.models:
            runs = self._models.runs(model.made, None) if isinstance(model.made, ast.expr) else None
            weights = self._models.weights(runs) if runs else None
            found += [weights] if weights is not None else []
        return total(found) if found else None

    def moments(self) -> list[Moment]:
        """What the program holds all along, with each of what it does in turn."""
        lasting = [*self._data(None), *self._lists(None), *self._unmodelled()]
        weights, steps = self._steps()
        lasting += weights
        moving: list[list[Item]] = [[]]
        moving += [[*self._data(each), *self._lists(each)] for each in self._entered()]
        moving += self._readings()
        moving += self._computing()
        every = [[*one, *step] for one in moving for step in [[], *steps]]
        return [Moment((*lasting, *each)) for each in every]

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
        return (each for each, *_ in self._runs() if self._tree.inside(each, block))

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
            amount = self._arrays.nbytes(node.value) if side is not None else None
            if amount is not None and amount.value is None:
                yield Item(node, Part.DATA, f"`{target.id}`", UNSEEN)
            elif amount is not None:
                sizes.setdefault(target.id, []).append((node, amount, side is Kind.ARRAY))
        for name, found in sizes.items():
            node, amount, host = max(found, key=lambda each: each[1].value or 0)
            reads = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
            yield Item(node, Part.DATA, f"`{name}`", amount, host)
            others = [each for each in found if each[0] is not node]
            if others and name in reads:
                before = max(others, key=lambda each: each[1].value or 0)
                yield Item(before[0], Part.DATA, f"`{name}` before", before[1], before[2])

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
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Constant)):
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

    # Models.

    def _steps(self) -> tuple[list[Item], list[list[Item]]]:
        """The weights of all models, and what steps hold besides."""
        weights: dict[ast.AST, Item] = {}
        slots: dict[ast.AST, Item] = {}
        steps: dict[ast.AST, list[Item]] = {}
        for call, callee, inputs, trains in self._runs():
            runs = self._models.runs(callee, inputs)
            made = self._values.of(callee).origin or callee
            name = ast.unparse(callee)
            if not runs:
                lost = Item(call, Part.ACTIVATIONS, f"of `{name}`", UNSEEN)
                steps.setdefault(call, []).append(lost)
                continue
            size = self._models.weights(runs)
            step = steps.setdefault(self._together(call), [])
            if size is not None and size.value and made not in weights:
                weights[made] = Item(made, Part.WEIGHTS, f"`{name}`", size)
                several = self._slots() if trains else 0
                if several:
                    slot = count(several).times(size).folded()
                    slots[made] = Item(made, Part.SLOTS, f"of `{name}`", slot)
            if trains and size is not None and size.value:
                step.append(Item(call, Part.GRADIENTS, f"of `{name}`", size))
                if self._slots():
                    widest = max(each.weights or 0 for each in runs)
                    update = held(2 * 4 * widest)  # of one weight at a time
                    step.append(Item(call, Part.SLOTS, "while they are updated", update))
            made_of = self._models.activations(runs, trains=trains)
            step.append(Item(call, Part.ACTIVATIONS, _summed(runs), made_of))
            if inputs is None:
                step.append(Item(call, Part.ACTIVATIONS, f"a batch for `{name}`", UNSEEN))
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            if not trains and method not in _KERAS and self._tracing.why(call) is None:
                outputs = [each.keeps for each in runs if each.keeps is not None]
                largest = max(outputs, key=lambda each: each.value or 0, default=held(0))
                step.append(
                    Item(
                        call,
                        Part.ACTIVATIONS,
                        "of the largest layer before its activation",
                        largest,
                    )
                )
            step += self._given(call, inputs)
        return [*weights.values(), *slots.values()], [*steps.values()]

    def _together(self, call: ast.Call) -> ast.AST:
        """The tape that keeps what a call makes; other calls are steps of their own."""
        tapes = list(self._tapes.recording(call))
        return tapes[0].block if tapes else call

    def _given(self, call: ast.Call, inputs: tuple[Amount, ...] | None) -> list[Item]:
        """What a model is given: a batch, and all of an array that Keras takes to the device."""
        found: list[Item] = []
        on_device = call.args and self._values.of(call.args[0]).kind is Kind.TENSOR
        if inputs and not on_device:
            batch = product(inputs).times(held(4)).folded()
            found.append(Item(call, Part.DATA, "the batch", batch))
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method in ("fit", "evaluate", "predict"):
            for each in call.args[:2]:
                if self._values.of(each).kind is Kind.ARRAY:
                    copied = self._arrays.nbytes(each)
                    found.append(Item(call, Part.DATA, f"`{ast.unparse(each)}` copied", copied))
        return found

    def _runs(self) -> Iterable[tuple[ast.Call, ast.expr, tuple[Amount, ...] | None, bool]]:
        """Each call that runs a model: the model, the shape of its input, whether it learns."""
        for call in self._tree.all(ast.Call):
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            if method in _KERAS and isinstance(call.func, ast.Attribute):
                if self._values.of(call.func.value).kind is Kind.MODEL:
                    batch = self._batch(call, method)
                    yield call, call.func.value, batch, _KERAS[method]
            elif self._applies(call) and call.args:
                sized = self._arrays.of(call.args[0])
                inputs = sized.dims if sized is not None else None
                recorded = any(True for _ in self._tapes.recording(call))
                yield call, call.func, inputs, recorded

    def _applies(self, call: ast.Call) -> bool:
        """Whether a call runs a model, or a layer by itself that is recorded."""
        if self._passes.is_model(call.func):
            return self._functions.enclosing_class(call) is None
        layer = self._values.of(call.func).kind is Kind.LAYER
        return layer and any(True for _ in self._tapes.recording(call))

    def _batch(self, call: ast.Call, method: str) -> tuple[Amount, ...] | None:
        """The shape of what Keras takes at a time."""
        x = argument(call, 0, "x")
        if x is None:
            return None
        if self._datasets.is_dataset(x):
            chain = self._datasets.of(x)[0]
            return self._flights.shape(chain)
        sized = self._arrays.of(x)
        if sized is None or not sized.dims:
            return None
        if method.endswith("_on_batch"):
            return sized.dims
        places = {"fit": 2, "predict": 1, "evaluate": 2}
        given = argument(call, places[method], "batch_size")
        size = count(_BATCH) if given is None else self._numbers.of(given)
        rows = sized.dims[0]
        known_both = rows.value is not None and size.value is not None
        return (_less(size, rows) if known_both else size, *sized.dims[1:])

    def _slots(self) -> int:
        """How many slots an optimiser keeps for each weight, as far as one is in sight."""
        for made, name in self._names.calls(_OPTIMISERS):
            last = name.rpartition(".")[2]
            momentum = argument(made, 1, "momentum") if last == "SGD" else None
            return 1 if momentum is not None else SLOTS.get(last, 0)
        for compiled, _ in self._tree.methods("compile"):
            given = argument(compiled, 0, "optimizer")
            if isinstance(given, ast.Constant):
                return SLOTS.get(_NAMED.get(str(given.value).lower(), ""), 0)
        return 0


_OPTIMISERS = frozenset(
    f"keras.optimizers{middle}.{name}"
    for middle in ("", ".legacy", ".experimental")
    for name in (*SLOTS, "SGD")
)


def _summed(runs: list[Run]) -> str:
    return f"of {len(runs)} layers" if len(runs) != 1 else "of 1 layer"


def _less(one: Amount, other: Amount) -> Amount:
    return one if (one.value or 0) <= (other.value or 0) else other
