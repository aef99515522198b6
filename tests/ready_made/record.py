"""What the models of `keras.applications` really weigh and make: `python record.py` notes it.

Takes minutes, and gigabytes of memory for the largest. With names of models, it notes those anew.
"""

from __future__ import annotations

import inspect
import json
import math
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

keras: Any = import_module("keras")
RECORD = Path(__file__).parent / "recorded.json"
SIDES = (64, 96, 128, 150, 160, 192, 200, 224, 227, 256, 299, 300, 331, 384, 512)
CLASSES = 10
_NOT_KEPT = ("Dropout", "Flatten", "InputLayer", "Reshape")


def names() -> list[str]:
    """All models that there are."""
    there = keras.applications
    return [each for each in sorted(dir(there)) if inspect.isfunction(getattr(there, each))]


def observe(name: str) -> dict[str, Any]:
    """What a model weighs and makes."""
    make = getattr(keras.applications, name)
    whole = make(weights=None, classes=CLASSES)
    if whole.input_shape[1] is None:  # it takes pictures of any size, and was trained on these
        whole = make(weights=None, classes=CLASSES, input_shape=(224, 224, 3))
    seen: dict[str, Any] = {
        "side": whole.input_shape[1],
        "whole": _numbers(whole),
        "last": sum(math.prod(each.shape) for each in _last(whole).weights),
        "kept": _kept(whole),
        "made": {},
    }
    del whole
    body = make(weights=None, include_top=False, input_shape=(None, None, 3))
    seen["body"] = _numbers(body)
    for side in SIDES:
        try:
            made = body.compute_output_shape((1, side, side, 3))
        except ValueError:  # its branches come out of different sizes
            continue
        seen["made"][str(side)] = list(made)[1:]
    return seen


def _last(model: Any) -> Any:
    """The last layer with weights, which has some for each class."""
    return [each for each in model.layers if each.weights][-1]


def _numbers(model: Any) -> int:
    return sum(math.prod(each.shape) for each in model.weights)


def _kept(model: Any) -> int:
    """How many numbers all layers make of one picture, but those that only pass it on."""
    layers = (each for each in model.layers if type(each).__name__ not in _NOT_KEPT)
    return sum(math.prod(each.output.shape[1:]) for each in layers)


def main(wanted: Sequence[str]) -> None:
    """Write down what is."""
    known: dict[str, Any] = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    for name in wanted or names():
        known[name] = observe(name)
        keras.backend.clear_session()
        lines = [f"{json.dumps(each)}: {json.dumps(known[each])}" for each in sorted(known)]
        RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
