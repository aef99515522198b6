"""What is said of the models of `keras.applications`, beside what they were seen to be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tfmemlint import File
from tfmemlint.facts.library.ready_made import COUNTED, side_of
from tfmemlint.facts.sizes.networks import Networks
from tfmemlint.facts.sizes.weights import weights

RECORDED: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "ready_made" / "recorded.json").read_text("utf-8")
)
CLASSES = 10


def test_all_models_are_known() -> None:
    assert set(COUNTED) == set(RECORDED)


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_weights(name: str) -> None:
    seen = RECORDED[name]

    assert _weights(f"{name}(weights=None, classes=10, input_shape=(224, 224, 3))") == seen["whole"]
    if seen["made"]:  # NASNet's depend on the size of pictures if it is not told of it
        assert _weights(f'{name}(weights="imagenet", include_top=False)') == seen["body"]


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_sides(name: str) -> None:
    known = 0
    for side, (height, width, channels) in RECORDED[name]["made"].items():
        made = side_of(name, int(side))

        assert channels == COUNTED[name].channels
        assert made in (None, height)
        assert height == width
        known += made is not None
    assert known >= 7 or not RECORDED[name]["made"]


def _weights(call: str) -> int | None:
    file = File("program.py", f"import keras\nmodel = keras.applications.{call}\n")
    [layer] = file.tf.of(Networks).row_of(file.tree.body[1].value) or []  # type: ignore[attr-defined]
    return weights(layer, [])


@pytest.mark.tensorflow
@pytest.mark.slow
def test_keras_has_these_models() -> None:
    keras = pytest.importorskip("keras")

    there = {name for name in dir(keras.applications) if name[0].isupper()}
    assert there == set(COUNTED)
