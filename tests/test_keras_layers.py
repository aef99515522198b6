"""What we say of Keras' layers, beside what they were seen to make and hold: it may be unknown,
never wrong."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tfmemlint import File
from tfmemlint.facts.sizes.amounts import count
from tfmemlint.facts.sizes.layer_calls import Layer
from tfmemlint.facts.sizes.layers import output
from tfmemlint.facts.sizes.networks import Networks
from tfmemlint.facts.sizes.weights import weights

FOLDER = Path(__file__).parent / "keras_layers"
RECORDED: list[dict[str, Any]] = json.loads((FOLDER / "recorded.json").read_text("utf-8"))
LEFT_OUT = frozenset(
    """CutMix FlaxLayer GRUCell InputLayer InputSpec JaxLayer LSTMCell Lambda Layer
    MaxNumBoundingBoxes MixUp Pipeline STFTSpectrogram SimpleRNNCell StackedRNNCells StringLookup
    TFSMLayer TextVectorization TorchModuleWrapper Wrapper""".split()  # noqa: SIM905
)
"""What is no layer by itself, needs another library, or is given words or dictionaries."""
OUTPUTS, WEIGHTS = 25, 26
"""How many of the calls are of unknown output, and of unknown weights; fewer would do, too."""


def layer_of(call: str) -> Layer:
    """The layer that a program makes by this call."""
    file = File("program.py", f"import keras\nlayer = keras.layers.{call}\n")
    assigned = file.tree.body[1]
    assert isinstance(assigned, ast.Assign)
    [layer] = file.tf.of(Networks).row_of(assigned.value) or []
    return layer


def answer(call: str, shapes: Sequence[Sequence[int]]) -> tuple[list[int] | None, int | None]:
    """The shape that we say a layer makes, and how many numbers its weights are."""
    layer = layer_of(call)
    inputs = [tuple(map(count, shape)) for shape in shapes]
    made = output(layer, inputs)
    sizes = None if made is None else [int(each.value or 0) for each in made]
    return sizes, weights(layer, inputs)


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row['call']} {row['given']}")
def test_what_is_said_of_a_layer_is_so(row: dict[str, Any]) -> None:
    made, weighs = answer(row["call"], row["given"])

    assert made in (None, row["made"])
    assert weighs in (None, row["weights"])


def test_of_how_many_calls_nothing_is_said() -> None:
    answers = [answer(row["call"], row["given"]) for row in RECORDED]

    pairs = zip(answers, RECORDED, strict=True)
    assert sum(made is None and row["made"] is not None for (made, _), row in pairs) <= OUTPUTS
    assert sum(weighs is None for _, weighs in answers) <= WEIGHTS


@pytest.mark.tensorflow
@pytest.mark.slow
def test_keras_is_as_it_was_recorded() -> None:
    spec = importlib.util.spec_from_file_location("record", FOLDER / "record.py")
    assert spec is not None
    assert spec.loader is not None
    record = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(record)
    there = record.keras.layers
    classes = {name for name in dir(there) if inspect.isclass(getattr(there, name))}
    seen = {row["call"].partition("(")[0] for row in RECORDED}

    assert classes - seen - LEFT_OUT == set()
    for row in RECORDED:
        if row["call"].partition("(")[0] in classes:
            made, weighs = record.observe(row["call"], [tuple(each) for each in row["given"]])
            assert (made, weighs) == (row["made"], row["weights"]), row["call"]
