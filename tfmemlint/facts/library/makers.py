"""What functions of NumPy, TensorFlow, Keras and the file system give back: tables, no logic."""

from __future__ import annotations

import ast

from tfmemlint.facts.library import traits
from tfmemlint.facts.library.signatures import APIS, having
from tfmemlint.facts.library.traits import Filled


def argument(call: ast.Call, place: int | None, keyword: str) -> ast.expr | None:
    """An argument by keyword or place; None where it is left out or hidden behind stars."""
    for each in call.keywords:
        if each.arg == keyword:
            return each.value
    if place is None or place >= len(call.args):
        return None
    if any(isinstance(each, ast.Starred) for each in call.args[: place + 1]):
        return None
    return call.args[place]


def given_to(call: ast.Call) -> list[ast.expr]:
    """Everything that a call is given, by place or by name."""
    return [*call.args, *(each.value for each in call.keywords)]


DTYPE_BYTES = {
    "bool": 1,
    "bool_": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "float16": 2,
    "half": 2,
    "bfloat16": 2,
    "int32": 4,
    "uint32": 4,
    "float32": 4,
    "single": 4,
    "int64": 8,
    "uint64": 8,
    "float64": 8,
    "double": 8,
    "complex64": 8,
    "complex128": 16,
}

FILLED = {name: row.filled for name, row in APIS.items() if row.filled is not None}
DIMENSIONS_AS_ARGUMENTS = frozenset({"numpy.random.rand", "numpy.random.randn", "rand", "randn"})
RANDOM_GENERATORS = having(traits.GENERATOR)
GENERATED = {
    "choice": Filled(1, "size", None, filler=(0, "a")),
    "integers": Filled(2, "size", "int64", 3),
    "normal": Filled(2, "size", "float64"),
    "rand": Filled(0, "size", "float64"),
    "randint": Filled(2, "size", "int64", 3),
    "randn": Filled(0, "size", "float64"),
    "random": Filled(0, "size", "float64", 1),
    "random_sample": Filled(0, "size", "float64"),
    "standard_normal": Filled(0, "size", "float64", 1),
    "uniform": Filled(2, "size", "float64"),
}
"""What the methods of NumPy's random generators make."""
COUNTED = {name: row.counts for name, row in APIS.items() if row.counts is not None}
"""Functions that count from one number to another, and their dtypes for integers and floats."""
SPACED = {name: row.dtype for name, row in APIS.items() if row.traits & traits.SPACED}
"""Functions that space so many numbers evenly, and their dtypes."""

PERMUTES = frozenset({"numpy.random.permutation"})
"""What names each row once, in some order."""
LOADS_WHOLE = having(traits.LOADS)
STORED = having(traits.STORED)
FRAMES = having(traits.FRAME)
FRAME_METHODS = frozenset(
    {"astype", "copy", "drop", "dropna", "fillna", "pop", "reset_index", "sample", "sort_values"}
)
ARRAY_METHODS = frozenset(
    {
        "astype",
        "clip",
        "copy",
        "flatten",
        "numpy",
        "ravel",
        "reshape",
        "squeeze",
        "swapaxes",
        "transpose",
    }
)
GIVES_FLOATS = having(traits.FLOATS)
"""Functions that keep the dtype of floats, and make some float of anything else."""
SHAPE_OF = having(traits.GIVES_SHAPE, outside=("keras.backend.",))
SCALERS = "sklearn.preprocessing."
SCALES = frozenset({"fit_transform", "transform"})
KEEPS_FLOATS = frozenset(
    f"{SCALERS}{name}"
    for name in ("MaxAbsScaler", "MinMaxScaler", "Normalizer", "RobustScaler", "StandardScaler")
)
"""Scalers that give floats of the type they are given, and float64 of anything else."""
_SPLITS = having(traits.SPLITS)
_SHUFFLES = having(traits.SHUFFLES)


def given_back(
    name: str | None, call: ast.Call, path: tuple[int, ...]
) -> tuple[ast.expr, tuple[int, ...]] | None:
    """The argument that a call gives back, all or most of it, at a place, and where in that."""
    if any(each.arg in ("n_samples", None) for each in call.keywords):
        return None
    if name in _SHUFFLES and len(call.args) == 1:
        return call.args[0], path
    parts = 1 if name in _SHUFFLES else 2 if name in _SPLITS else 0
    known = parts and path and 0 <= path[0] // parts < len(call.args)
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    return (call.args[path[0] // parts], path[1:]) if known and not starred else None


KEEPS_DATA = {name: row.of for name, row in APIS.items() if row.traits & traits.DATA}
_MOVES_ROWS = frozenset(
    {"expand_dims", "moveaxis", "ravel", "repeat", "reshape", "squeeze", "tile", "transpose"}
)
KEEPS_ROWS = {
    name: of for name, of in KEEPS_DATA.items() if name.rpartition(".")[2] not in _MOVES_ROWS
}
"""What gives as many rows as it is given, and the argument that has them."""
METHODS_KEEP_ROWS = frozenset({"astype", "clip", "copy", "numpy", "to_numpy", "tolist"})
KEEPS_SHAPE = having(traits.SHAPE)
DTYPE_PLACE = {name: row.dtype_place for name, row in APIS.items() if row.dtype_place is not None}
"""Where those that can be told a dtype are told it."""
HAS_DTYPE = {name: row.dtype for name, row in APIS.items() if row.traits & traits.OWN_DTYPE}
"""The dtype of what they give if they are told none, where it is not that of the data."""
TOLD = {name: row.told for name, row in APIS.items() if row.told and not row.traits & traits.PIECES}
"""What tells the shape of the result: the second argument, by its keyword."""
JOINS = frozenset(
    {
        "numpy.concatenate",
        "numpy.hstack",
        "numpy.vstack",
        "tensorflow.concat",
    }
)
MODELS = having(traits.MODEL)

PATHS = having(traits.PATHS)
PATH = having(traits.PATH)
FILE_SUFFIXES = (
    ".bmp",
    ".gif",
    ".jpeg",
    ".jpg",
    ".npy",
    ".npz",
    ".png",
    ".tfrecord",
    ".tif",
    ".tiff",
    ".wav",
)
RANGES = frozenset({"range", "trange"})
"""What counts, by its own name."""
WRAPS_ITERABLE = having(traits.WRAPS)


def makes_up(name: str | None, made: ast.Call | None) -> bool:
    """Whether numbers are made up: random ones, or ones and zeros."""
    if made is None or name is None:
        return made is not None and isinstance(made.func, ast.Attribute)
    return name in FILLED
