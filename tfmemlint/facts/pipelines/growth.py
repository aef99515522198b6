"""How much more is held with what a step makes of an element than with the element."""

from __future__ import annotations

from math import inf

from tfmemlint.facts.pipelines.held import (
    AS_LARGE_AS_A_FILE,
    CHANNELS,
    DECODED,
    Held,
    Tensor,
    nbytes,
    row,
    tensors,
)

_BULK = 1024
"""Bytes; what is known to be smaller does not count beside what is not."""
_MUCH = 8
"""What is known to be smaller by that does not count beside the largest part of an element."""


def growth(before: Held, after: Held) -> float:
    """How many times as large `after` is as the element it was made of, at the least."""
    was, size = nbytes(before), nbytes(after)
    if was and size is not None:
        return size / was
    found = tuple(tensors(after))
    if any(each.times == inf and each.dtype != "string" for each in found):
        return inf
    was_decoded = any(each.is_decoded for each in tensors(before))

    def grown(part: Tensor) -> float:
        known = part._replace(shape=tuple(filter(None, part.shape or (0,)))).nbytes or 0
        told = part.is_decoded and ("float" in (part.dtype or "") or not was_decoded)
        return max(part.times, DECODED) if told and known >= AS_LARGE_AS_A_FILE else part.times

    large = max((_likely(each) or 0 for each in found), default=0) // _MUCH
    return min((grown(each) for each in found if _is_bulk(each, large)), default=0.0)


def _is_bulk(part: Tensor, large: int) -> bool:
    """Whether most of an element's bytes may be in this part of it, one of at least so many."""
    size = _likely(part)
    if size is None:
        return part.is_image or part.is_packed
    return size >= large and (part.is_image or size >= _BULK)


def _likely(part: Tensor) -> int | None:
    """Its size, with the usual channels where a picture's are not known."""
    if part.is_image and part.shape and part.shape[-1] is None:
        part = part._replace(shape=(*part.shape[:-1], CHANNELS))
    return part.nbytes


def added(before: Held, after: Held) -> int | None:
    """How many bytes more are held with `after` than with the element it was made of.

    At the least, where `before` takes up nothing itself, and an unknown picture is made of it.
    """
    was, size = own(before, before), own(before, after)
    if was == 0 and size is None and any(e.is_image and not e.is_view for e in tensors(after)):
        return _BULK
    return None if was is None or size is None else size - was


def own(before: Held, after: Held) -> int | None:
    """How many bytes are held with `after` alone, and not with an array that `before` is cut of."""
    views = {id(each) for each in tensors(before) if each.is_view}
    return nbytes(row(each for each in tensors(after) if id(each) not in views))
