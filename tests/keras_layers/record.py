"""What Keras' layers really make and weigh, of the calls in calls.txt: `python record.py` notes it.

A line of it is a call of a layer and the shapes of what it is given; what it gives back has the
shape of its output, or none where it gives several, and how many numbers its weights are.
"""

from __future__ import annotations

import json
import math
from importlib import import_module
from pathlib import Path
from typing import Any

keras: Any = import_module("keras")
HERE = Path(__file__).parent
RECORD = HERE / "recorded.json"
WORDS = ("TextVectorization", "StringLookup", "Hashing", "HashedCrossing", "IntegerLookup")
WHOLE = ("Embedding", "CategoryEncoding", "ReversibleEmbedding", *WORDS)
"""Layers that are given whole numbers."""


def calls() -> list[tuple[str, list[tuple[int, ...]]]]:
    """Each call, and the shapes of its inputs."""
    found: list[tuple[str, list[tuple[int, ...]]]] = []
    for line in (HERE / "calls.txt").read_text("utf-8").splitlines():
        call, *given = line.split(" | ")
        found.append((call, [tuple(map(int, each.split(","))) for each in given]))
    return found


def observe(call: str, shapes: list[tuple[int, ...]]) -> tuple[list[int] | None, int]:
    """The shape of what a layer gives, and how many numbers its weights are."""
    name = call.partition("(")[0]
    layer: Any = eval(f"keras.layers.{call}", {"keras": keras})
    dtype = "int32" if name in WHOLE or "Embedding" in call else "float32"
    given: list[Any] = [keras.Input(batch_shape=shape, dtype=dtype) for shape in shapes]
    separate = name in ("MultiHeadAttention", "GroupQueryAttention")
    one: Any = given[0] if len(given) == 1 else given
    made: Any = layer(*given) if separate else layer(one)
    weights = sum(math.prod(each.shape) for each in layer.weights)
    if isinstance(made, (list, tuple, dict)) or None in made.shape:
        return None, weights
    return [int(size) for size in made.shape], weights


def main() -> None:
    """Write down what is."""
    lines: list[str] = []
    for call, shapes in calls():
        made, weights = observe(call, shapes)
        lines.append(json.dumps({"call": call, "given": shapes, "made": made, "weights": weights}))
    RECORD.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
