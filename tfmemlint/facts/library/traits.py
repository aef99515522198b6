"""The columns of the table of signatures: what may be known of a function, whatever its name."""

from __future__ import annotations

from tfmemlint.light_typing import NamedTuple

# What it gives.
MODEL = 1 << 0
"""A Keras model."""
PATHS = 1 << 1
"""The names of files."""
PATH = 1 << 2
"""The name of one file."""
FRAME = 1 << 3
"""A data frame: a whole table."""
LOADS = 1 << 4
"""All that is in a file, as an array."""
READS = 1 << 5
"""What one of many files holds, at about its full size: an image, a volume, a sound."""
OPENS = 1 << 6
"""An open file, or the bytes in it."""
IN_MEMORY = 1 << 7
"""Bytes, seen as a file or in another form."""
SCANS = 1 << 8
"""The fields of a row after another."""
GENERATOR = 1 << 9
"""A generator of random numbers, whose methods make arrays."""
SINGLE = 1 << 10
"""Surely one tensor."""
SEVERAL = 1 << 11
"""Several tensors, where others of its module give one."""
GIVES_SHAPE = 1 << 12
"""The shape of what it is given."""
MEASURES = 1 << 13
"""A size of what it is given, or nothing at all."""
SPACED = 1 << 14
"""So many numbers at even distances."""

# What of its first argument is left in what it gives.
DATA = 1 << 15
"""All its data, in some other form."""
SHAPE = 1 << 16
"""Its data and its shape."""
MOVES_ROWS = 1 << 17
"""Its data, but not row by row."""
SIZE = 1 << 18
"""As many numbers, or about as many."""
RESHAPES = 1 << 19
"""As many numbers or more, in another shape."""
EXPANDS = 1 << 20
"""The same numbers, with an axis more."""
EXACT = 1 << 21
"""Number by number, and to the last bit the same for one example and for a batch of them.

Others, such as `exp`, are computed by other means where numbers do not fill a whole vector.
"""
CASTS = 1 << 22
"""The same numbers of another type."""
FLOATS = 1 << 23
"""Its dtype if that is a float, and some float of anything else."""
OWN_DTYPE = 1 << 24
"""Not its dtype: that of the row if it is told none, if any is known."""
VIEW = 1 << 25
"""Perhaps the very memory it is given."""
FEWER = 1 << 26
"""A number or a few, where others of its module keep the size."""
PICKS = 1 << 27
"""As many as there are to pick, which depends on the data."""

# What it does with it.
GROWS = 1 << 28
"""Makes more numbers of it."""
JOINS = 1 << 29
"""Joins the arrays of a list along an axis that they have."""
JOINS_TWO = 1 << 30
"""Joins its second argument to its first."""
STACKS = 1 << 31
"""Puts the arrays of a list beside each other, along a new axis."""
LISTED = 1 << 32
"""Makes one array of a list that grew."""
PACKS = 1 << 33
"""Takes a list of tensors where it wants one."""
PIECES = 1 << 34
"""Cuts it into as many pieces as it is told."""
SPLITS = 1 << 35
"""Gives each of its arguments back in two parts."""
DECODES = 1 << 36
"""Makes numbers of bytes or of an open file."""
PIXELS = 1 << 37
"""Decodes an image."""
BYTES = 1 << 38
"""Takes bytes for numbers as they are."""
PARSES = 1 << 39
"""Makes tensors of serialized examples."""
IMAGES = 1 << 40
"""Takes numbers for an image."""
INTERPOLATES = 1 << 41
"""Makes floats of pixels, unless it is told to pick the nearest."""
STEADY = 1 << 42
"""Does the same whenever it is traced."""
RUNS_PYTHON = 1 << 43
"""Runs a function as Python, out of the graph."""
STATEFUL = 1 << 44
"""Runs Python for each element, prints, or reads or changes what may change."""
TENSOR_FIRST = 1 << 45
"""Says what its first argument is like, or keeps what makes it a tensor."""
SYMBOLIC = 1 << 46
"""Works on what the layers of a model that is being built give each other."""

# What loops over it mean.
WRAPS = 1 << 47
"""Gives what it is given, element by element."""
PROGRESS = 1 << 48
"""Gives what it is given, and shows how far it has come."""
ENDLESS = 1 << 49
"""Has no end."""
STORED = 1 << 51
"""An open file of arrays, which are read by their names, whole or in parts."""
SAMPLES = 1 << 50
"""Gives a part of what it is given."""
SHUFFLES = 1 << 52
"""Gives each of its arguments back in another order."""


class Filled(NamedTuple):
    """A function that makes an array of a given shape: where it takes the shape and the dtype."""

    place: int
    keyword: str
    dtype: str | None
    """That of the result where none is given; None where it is that of what it is filled with."""
    dtype_place: int | None = None
    filler: tuple[int, str] = (1, "value")


class Api(NamedTuple):
    """One function: what it gives, what of its arguments that keeps, and what else it does."""

    traits: int = 0
    of: str = ""
    """What it calls its first argument."""
    told: str = ""
    """What it calls its second argument, which tells the shape of the result or its pieces."""
    dtype: str | None = None
    """The dtype of what it gives if it is told none."""
    dtype_of: int | None = None
    """The place of the argument whose dtype the result has."""
    dtype_place: int | None = None
    """Where it can be told a dtype."""
    reads: int = 0
    """How many of its first arguments it surely only reads, for a new array."""
    sizes: tuple[int, ...] | None = None
    """Of what gives images of another size: the places where it is told which."""
    counts: tuple[str, str] | None = None
    """Of what counts from one number to another: the dtype of integers, and that of floats."""
    filled: Filled | None = None


def alike(module: str, names: str, row: Api) -> dict[str, Api]:
    """Functions of a module of which the same is known."""
    return {f"{module}.{name}": row for name in names.split()}
