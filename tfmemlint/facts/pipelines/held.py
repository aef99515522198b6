"""What an element of a pipeline holds, and what becomes of it: types, no code looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from math import inf, prod

from tfmemlint.facts.library.makers import DTYPE_BYTES
from tfmemlint.facts.library.shapes import Shape, total
from tfmemlint.light_typing import NamedTuple

AS_LARGE_AS_A_FILE = 2**18
"""Bytes; about twice what a picture takes up encoded, as data sets for training have them."""
DECODED = 2.0
"""Times as large as when they were encoded pictures are, at the least."""
CHANNELS = 3
"""What pictures for training have, where nobody says otherwise."""
_FLOAT = 4
_WIDEST = 8
_PIXELS = (127.5, 128.0, 255.0, 256.0)


class Tensor(NamedTuple):
    """One tensor of an element, as far as it is known."""

    dtype: str | None = None
    """Text, file names and encoded data are "string"."""
    shape: Shape | None = None
    times: float = 1.0
    """How many times the bytes of what it was made of it takes up, at the least.

    Infinity for what was read from a file, made of its name.
    """
    is_image: bool = False
    is_decoded: bool = False
    is_path: bool = False
    is_view: bool = False
    """Whether it is a part of an array, or kept by a cache, and takes up no memory of its own."""
    recast: bool = False
    """Whether it is floats that were cast from a type out of sight."""
    is_packed: bool = False
    """Whether it was kept as the bytes of its numbers: people do that to arrays."""
    value: float | None = None
    """The number it is, where that does not depend on the element."""
    is_lost: bool = False
    """Whether it was made of the element by what is out of sight: it may be as large as that."""

    @property
    def nbytes(self) -> int | None:
        """Its size, where shape and type are known."""
        width, numbers = DTYPE_BYTES.get(self.dtype or ""), total(self.shape)
        return None if width is None or numbers is None else width * numbers

    @property
    def is_number(self) -> bool:
        """Whether it is one number that does not depend on the element."""
        return self.times == 0.0 and self.shape == ()


class Several(NamedTuple):
    """A tuple, by place, or a dictionary, by key, of what an element holds."""

    parts: tuple[tuple[str | int | None, Held], ...]
    """The key None stands for all keys that are not known."""

    @property
    def keys(self) -> tuple[str | int | None, ...]:
        """Places or keys, in order."""
        return tuple(key for key, _ in self.parts)

    def part(self, key: str | int) -> Held:
        """What stands at a place or under a key."""
        known = dict(self.parts)
        return known.get(key, known.get(None, OUTSIDE))

    def having(self, key: str | int, part: Held) -> Several:
        """The same with something else at a place or under a key."""
        others = (each for each in self.parts if each[0] != key)
        return Several(((key, part), *others))


Held = Tensor | Several

UNKNOWN = Tensor()
"""Something of the element, about which nothing is known."""
NUMBER = Tensor(shape=(), times=0.0)
"""A number that does not depend on the element, but is not known either."""
NOTHING = Tensor(times=0.0)
"""`None`, where it is surely that."""
OUTSIDE = Tensor(times=0.0)
"""Something that may be small, however large the element is, or does not depend on it."""

LOST = OUTSIDE._replace(is_lost=True)
"""Something made of the element that is not understood."""


def lost(given: Iterable[Held]) -> Tensor:
    """What something out of sight makes of these."""
    return LOST if any(part.times > 0 for each in given for part in tensors(each)) else OUTSIDE


def number(value: float) -> Tensor:
    """A number that stands in the code."""
    return NUMBER._replace(value=value)


def row(parts: Iterable[Held]) -> Several:
    """A tuple of these."""
    return Several(tuple(enumerate(parts)))


def part_of(held: Held, key: str | int) -> Held:
    """What stands at a place or under a key; of one tensor nothing but where it comes from."""
    if isinstance(held, Several):
        return held.part(key)
    dtype = held.dtype if held.is_path else None
    return Tensor(dtype, None, held.times, is_path=held.is_path, is_lost=held.is_lost)


def tensors(held: Held) -> Iterator[Tensor]:
    """The tensors something is made of."""
    if isinstance(held, Tensor):
        yield held
    else:
        for _, part in held.parts:
            yield from tensors(part)


def nbytes(held: Held) -> int | None:
    """The size of all of it, where known; what it holds twice is there once."""
    sizes = [each.nbytes for each in {id(each): each for each in tensors(held)}.values()]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def anew(held: Held) -> Held:
    """The same, as the beginning of what is made of it next."""
    if isinstance(held, Tensor):
        return held._replace(
            times=1.0, is_decoded=False, is_view=False, recast=False, is_lost=False
        )
    return Several(tuple((key, anew(part)) for key, part in held.parts))


def shared(held: Held) -> Held:
    """The same, kept in memory by a cache: what holds it behind that holds nothing more."""
    if isinstance(held, Tensor):
        return held._replace(times=1.0, is_view=True)
    return Several(tuple((key, shared(part)) for key, part in held.parts))


def batched(held: Held) -> Held:
    """As many of the same as a batch has, which is not known."""
    if isinstance(held, Tensor):
        return held._replace(shape=None if held.shape is None else (None, *held.shape))
    return Several(tuple((key, batched(part)) for key, part in held.parts))


def either(one: Held, other: Held) -> Held:
    """What is sure of something that is one of two, as far as these are in sight."""
    if one is other or _is_lost(other):
        return one
    if _is_lost(one):
        return other
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return Tensor(
            one.dtype if one.dtype == other.dtype else None,
            one.shape if one.shape == other.shape else None,
            min(one.times, other.times),
            one.is_image or other.is_image,
            one.is_decoded or other.is_decoded,
            one.is_path and other.is_path,
            recast=one.recast and other.recast,
            is_packed=one.is_packed and other.is_packed,
            value=one.value if one.value == other.value else None,
        )
    if isinstance(one, Several) and isinstance(other, Several):
        shared = [key for key in one.keys if key in other.keys]
        if shared or one.keys == other.keys:
            of_one, of_other = dict(one.parts), dict(other.parts)
            return Several(tuple((key, either(of_one[key], of_other[key])) for key in shared))
    return min((_as_one(one), _as_one(other)), key=lambda each: each.times)


def _as_one(held: Held) -> Tensor:
    """A picture, where that is what most of it is; else what is least of it, whatever that is."""
    pictures = [each for each in tensors(held) if each.is_image]
    least = min((each.times for each in pictures or tensors(held)), default=0.0)
    decoded = bool(pictures) and all(each.is_decoded for each in pictures)
    return Tensor(times=least, is_image=bool(pictures), is_decoded=decoded)


def _is_lost(held: Held) -> bool:
    return isinstance(held, Tensor) and held.is_lost


def together(one: Tensor, other: Tensor) -> Tensor:
    """The numbers of two tensors, taken pair by pair."""
    large, small = (one, other) if one.times >= other.times else (other, one)
    shape = _combined(large, small)
    return large._replace(
        dtype=large.dtype or small.dtype,
        shape=shape,
        times=large.times * _grown(large.shape, shape),
        is_image=large.is_image or small.is_image,
        recast=large.recast and (small.recast or small.times == 0.0),
        value=None,
    )


def _combined(large: Tensor, small: Tensor) -> Shape | None:
    """The shape of two combined; what is no part of the element has few axes, or they are known."""
    if large.shape is None or small.shape in ((), large.shape):
        return large.shape
    if not large.shape:  # a number takes the shape of whatever it meets
        return small.shape
    if small.times != 0.0 or len(small.shape or ()) > len(large.shape):
        return None
    if small.shape is None:
        return None if 1 in large.shape else large.shape
    beside = (1,) * (len(large.shape) - len(small.shape)) + small.shape
    return tuple(b if a == 1 else a for a, b in zip(large.shape, beside, strict=True))


def _grown(before: Shape | None, after: Shape | None) -> float:
    """How many times as many numbers there are, where an axis of one has met a longer one."""
    if not before or not after or None in before or None in after:
        return 1.0
    return prod(each or 1 for each in after) / (prod(each or 1 for each in before) or 1)


def cast(tensor: Tensor, dtype: str | None) -> Tensor:
    """The same numbers in another type."""
    if tensor.dtype == dtype and dtype is not None:
        return tensor
    ratio = DTYPE_BYTES.get(dtype or "", 1) / DTYPE_BYTES.get(tensor.dtype or "", _WIDEST)
    recast = tensor.dtype is None and "float" in (dtype or "")
    return tensor._replace(dtype=dtype, times=tensor.times * ratio, is_path=False, recast=recast)


def scaled(tensor: Tensor, factor: float | None) -> Tensor:
    """Numbers multiplied: by 1/255 and the like, these are the pixels of an image.

    Pixels that had to be cast for that were bytes before.
    """
    if factor is None or not any(abs(factor * each - 1) < 1e-3 for each in _PIXELS):
        return tensor
    return pixels(tensor)


def pixels(tensor: Tensor) -> Tensor:
    """The same, known to be the pixels of an image."""
    if tensor.times == 0.0:
        return tensor
    width = DTYPE_BYTES.get(tensor.dtype or "", 1)
    times = max(tensor.times, width) if tensor.recast else tensor.times
    return tensor._replace(is_image=True, times=times, recast=False, is_view=False)


def resized(tensor: Tensor, shape: Shape | None, dtype: str | None) -> Tensor:
    """As many numbers as a shape says, made of fewer or more."""
    if tensor.is_decoded and shape and shape[-1] is None:  # as many channels as there are
        shape = (*shape[:-1], CHANNELS)
    made = Tensor(dtype, shape, 0.0, tensor.is_image, tensor.is_decoded)
    was, size = tensor.nbytes, made.nbytes
    if tensor.times == inf:
        return made._replace(times=inf)
    if was and size is not None:
        return made._replace(times=tensor.times * size / was)
    later = 1 if "float" in (dtype or "") else _FLOAT  # bytes may become floats yet
    if tensor.is_decoded and (size or inf) * later >= AS_LARGE_AS_A_FILE:  # crops of it, too
        made = made._replace(times=max(tensor.times * (later == 1), DECODED / later))
    return made


def sizes(held: Held | None) -> Shape | None:
    """The shape that a tuple of numbers, or one number, says."""
    if held is None:
        return None
    found = [each.value for each in tensors(held)]
    is_shape = isinstance(held, Several) or found[0] is not None
    return tuple(None if each is None else int(each) for each in found) if is_shape else None


def told(tensor: Tensor, shape: Shape | None) -> Tensor:
    """The same, where code says of which shape it is; what that leaves open stays as it was."""
    if shape is None:
        return tensor
    was = tensor.shape if tensor.shape is not None and len(tensor.shape) == len(shape) else shape
    sides = zip(shape, was, strict=True)
    return tensor._replace(shape=tuple(before if size is None else size for size, before in sides))


def each_of(held: Held) -> Held:
    """What a loop over it gets."""
    if isinstance(held, Several) and held.parts:
        return reduce(either, [each for _, each in held.parts])
    return vague(held)


def vague(held: Held) -> Tensor:
    """Something made of it, of no known size."""
    times = inf if any(each.times == inf for each in tensors(held)) else 0.0
    return Tensor(times=times, is_decoded=any(each.is_decoded for each in tensors(held)))
