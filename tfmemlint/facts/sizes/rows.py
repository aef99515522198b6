"""What else gives rows of one size: lists of numbers, padded sequences, what is heard in sounds."""

from __future__ import annotations

import ast

from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes.amounts import Amount, count, named
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Of = Callable[[ast.expr], Amount]

PYTHON_FLOATS, PYTHON_INTS = "Python floats", "Python ints"
LISTED = {PYTHON_FLOATS: ("float64", "float32"), PYTHON_INTS: ("int64", "int32")}
"""Numbers in lists, and what NumPy and TensorFlow make of them."""

NUMBERS = frozenset(f"{module}.{name}" for module in ("math", "numpy") for name in ("e", "pi"))
"""Plain numbers that libraries have names for."""
_SOUNDS = {
    "librosa.feature.chroma_cqt": ("n_chroma", 12),
    "librosa.feature.chroma_stft": ("n_chroma", 12),
    "librosa.feature.melspectrogram": ("n_mels", 128),
    "librosa.feature.mfcc": ("n_mfcc", 20),
    "librosa.feature.rms": ("", 1),
    "librosa.feature.spectral_bandwidth": ("", 1),
    "librosa.feature.spectral_centroid": ("", 1),
    "librosa.feature.spectral_rolloff": ("", 1),
    "librosa.feature.tonnetz": ("", 6),
    "librosa.feature.zero_crossing_rate": ("", 1),
}
"""What librosa tells of each frame of a sound: the parameter that says how many numbers, and how
many they are without it."""
_FRAMES = named("frames")
IDENTITIES = {
    "numpy.eye": ("N", "M", 3, "float64"),
    "numpy.identity": ("n", "", 1, "float64"),
    "tensorflow.eye": ("num_rows", "num_columns", 3, "float32"),
}
"""What makes identity matrices: the parameters that say how high they are and how wide, the place
of their type, and that of those that are told none."""


def listed(dtype: str | None) -> str | None:
    """The type of the numbers of an array in a list."""
    if dtype is None:
        return None
    return PYTHON_FLOATS if "float" in dtype else PYTHON_INTS if "int" in dtype else None


def as_array(dtype: str | None, *, tensor: bool) -> str | None:
    """The type of an array, or of a tensor, that is made of numbers in lists."""
    return LISTED[dtype][tensor] if dtype in LISTED else dtype


def spaced(node: ast.Call, of: Of) -> tuple[Amount, ...]:
    """The sizes of what `linspace` makes between two numbers."""
    told = argument(node, 2, "num")
    return (count(50) if told is None else of(told),)


def of_identity(name: str, node: ast.Call, of: Of) -> tuple[Amount, ...] | None:
    """The sizes of an identity matrix, square where only its height is told."""
    parameter, second, _, _ = IDENTITIES[name]
    high = argument(node, 0, parameter)
    wide = argument(node, 1, second) if second else None
    if high is None or (second == "num_columns" and argument(node, 2, "batch_shape")):
        return None
    return of(high), of(high if wide is None else wide)


def of_sound(name: str, node: ast.Call, of: Of) -> tuple[Amount, ...] | None:
    """The sizes of what librosa tells of a sound: a row for each number that it has of a frame."""
    if name == "librosa.stft":
        window = argument(node, 1, "n_fft")
        size = count(2048) if window is None else of(window)
        return None if size.value is None else (count(1 + int(size.value) // 2), _FRAMES)
    if name not in _SOUNDS:
        return None
    keyword, otherwise = _SOUNDS[name]
    told = argument(node, None, keyword) if keyword else None
    return (count(otherwise) if told is None else of(told), _FRAMES)


def padded(node: ast.Call, of: Of, length: Of) -> tuple[Amount, ...] | None:
    """The sizes of what `pad_sequences` makes, where it is told how long rows are to be."""
    given, most = argument(node, 0, "sequences"), argument(node, 1, "maxlen")
    if given is None or most is None:
        return None
    return (length(given), of(most))
