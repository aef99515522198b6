"""What is known of each function of a library: one table, of which all others are projections."""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.facts.library.keras_apis import KERAS
from tfmemlint.facts.library.loaders import LOADERS
from tfmemlint.facts.library.numpy_apis import NUMPY
from tfmemlint.facts.library.tensorflow_apis import TENSORFLOW
from tfmemlint.facts.library.tensorflow_modules import MODULES
from tfmemlint.facts.library.traits import Api

APIS: Mapping[str, Api] = {**NUMPY, **TENSORFLOW, **MODULES, **KERAS, **LOADERS}
"""The functions by their canonical names."""


def having(traits: int, *, outside: tuple[str, ...] = ()) -> frozenset[str]:
    """The functions that have one of some traits, or several; but of some modules."""
    found = (name for name, row in APIS.items() if row.traits & traits)
    return frozenset(name for name in found if not name.startswith(outside))
