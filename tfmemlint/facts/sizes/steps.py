"""What models hold while they run: weights, and what a step of training makes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.keras_apis import SLOTS
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes.amounts import Amount, count, held, product
from tfmemlint.facts.sizes.arrays import Arrays
from tfmemlint.facts.sizes.flights import Flights
from tfmemlint.facts.sizes.layer_runs import Run
from tfmemlint.facts.sizes.models import Models
from tfmemlint.facts.sizes.moments import UNSEEN, Item, Part
from tfmemlint.facts.sizes.numbers import Numbers

_NAMED = {"adam": "Adam", "adamw": "AdamW", "rmsprop": "RMSprop", "nadam": "Nadam"}
_KERAS = {
    "evaluate": False,
    "fit": True,
    "predict": False,
    "predict_on_batch": False,
    "train_on_batch": True,
}
_BATCH = 32
_UPDATE = "while they are updated"


class Steps:
    """The calls of a file that run models."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._members = tf.members
        self._values = tf.values
        self._tracing = tf.tracing
        self._datasets = tf.datasets
        self._passes = tf.passes
        self._tapes = tf.tapes
        self._numbers = tf.of(Numbers)
        self._arrays = tf.of(Arrays)
        self._models = tf.of(Models)
        self._flights = tf.of(Flights)

    def held(self) -> tuple[list[Item], list[list[Item]]]:
        """The weights of all models, and what steps hold besides."""
        weights: dict[ast.AST, Item] = {}
        slots: dict[ast.AST, Item] = {}
        steps: dict[ast.AST, list[Item]] = {}
        for call, callee, inputs, trains in self.runs():
            runs = self._models.runs(callee, inputs)
            made = self._values.of(callee).origin or callee
            name = ast.unparse(callee)
            if not runs:
                lost = Item(call, Part.ACTIVATIONS, f"of `{name}`", UNSEEN)
                steps.setdefault(call, []).append(lost)
                continue
            size, trained = self._models.weights(runs), self._models.trained(runs)
            step = steps.setdefault(self._together(call), [])
            if size is None:
                weights.setdefault(made, Item(made, Part.WEIGHTS, f"`{name}`", UNSEEN))
            elif size.value:
                weights.setdefault(made, Item(made, Part.WEIGHTS, f"`{name}`", size))
            several = self._slots() if trains and size is not None and size.value else 0
            if several:
                slot = UNSEEN if trained is None else count(several).times(trained).folded()
                slots.setdefault(made, Item(made, Part.SLOTS, f"of `{name}`", slot))
            if trains and size is not None and size.value:
                changed = UNSEEN if trained is None else trained
                step.append(Item(call, Part.GRADIENTS, f"of `{name}`", changed))
                if self._slots():
                    single = (each.weights or 0 for each in runs if not each.is_ready_made)
                    widest = max(single, default=0)
                    update = held(2 * 4 * widest)  # of one weight at a time
                    step.append(Item(call, Part.SLOTS, _UPDATE, update))
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            eager = not trains and method not in _KERAS and self._tracing.why(call) is None
            made_of = self._models.activations(runs, trains=trains)
            step.append(
                Item(
                    call,
                    Part.ACTIVATIONS,
                    _summed(runs),
                    self._models.eagerly(runs) if eager else made_of,
                )
            )
            if inputs is None:
                step.append(Item(call, Part.ACTIVATIONS, f"a batch for `{name}`", UNSEEN))
            step += self._given(call, inputs)
        moments = [moment for step in steps.values() for moment in _backwards_and_updated(step)]
        return [*weights.values(), *slots.values()], moments

    def drawn(self) -> Iterable[tuple[ast.AST, str, Amount]]:
        """The largest weights that are drawn at random as each model is made."""
        seen: set[ast.AST] = set()
        for call, callee, inputs, _ in self.runs():
            made = self._values.of(callee).origin or callee
            if made in seen:
                continue
            seen.add(made)
            runs = self._models.runs(callee, inputs) or []
            kernels = [each.kernel for each in runs]
            widest = max((each for each in kernels if each is not None), default=0)
            if widest:
                yield call, f"a weight of `{ast.unparse(callee)}` is", held(widest * 4)

    def _together(self, call: ast.Call) -> ast.AST:
        """The tape that keeps what a call makes; other calls are steps of their own."""
        tapes = list(self._tapes.recording(call))
        return tapes[0].block if tapes else call

    def _given(self, call: ast.Call, inputs: tuple[Amount, ...] | None) -> list[Item]:
        """What a model is given: a batch, and all of an array that Keras takes to the device."""
        found: list[Item] = []
        kind = self._values.of(call.args[0]).kind if call.args else None
        if inputs and kind not in (Kind.TENSOR, Kind.DATASET):  # whose batches are there already
            batch = product(inputs).times(held(4)).folded()
            found.append(Item(call, Part.DATA, "the batch", batch))
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method in ("fit", "evaluate", "predict"):
            for each in call.args[:2]:
                if self._values.of(each).kind is Kind.ARRAY:
                    copied = self._arrays.nbytes(each)
                    found.append(Item(call, Part.DATA, f"`{ast.unparse(each)}` copied", copied))
        return found

    def runs(self) -> Iterable[tuple[ast.Call, ast.expr, tuple[Amount, ...] | None, bool]]:
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
            return self._members.enclosing_class(call) is None
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


def _backwards_and_updated(step: list[Item]) -> Iterable[list[Item]]:
    """First activations are there, and come to be gradients; then weights are changed by these."""
    yield [each for each in step if each.what != _UPDATE]
    if any(each.what == _UPDATE for each in step):
        yield [each for each in step if each.part is not Part.ACTIVATIONS]


def _summed(runs: list[Run]) -> str:
    return f"of {len(runs)} layers" if len(runs) != 1 else "of 1 layer"


def _less(one: Amount, other: Amount) -> Amount:
    return one if (one.value or 0) <= (other.value or 0) else other
