"""A memory of steps holds pictures as floats, or each of them several times.

## What it finds
`memory.append((state, action, reward, next_state, done))` of a program that learns by trial and
error, and `self.states[self.count % size] = state`, where the state is a picture: what a game shows
that is made by a name which is known to give pictures, what OpenCV, Pillow, scikit-image or
`tf.image` makes of what an environment shows, what is divided by 255, an array of bytes with many
rows and columns. The memory is a `deque` of more than 64 steps, a list from which steps are drawn
by chance, or arrays of NumPy that are filled from the beginning again. It is reported where pixels
are kept as float32 or float64, and where each frame is kept in several stacks of frames.

## Why it costs memory
A pixel of a game is a byte, or three. Divided by 255 it is eight of them, as float32 four. Four
frames that are stacked with `np.stack` are a copy of each, and the next state holds three of the
same again. Arrays for `state` and `next_state` hold each of them once more; in a `deque` they are
the same object, which costs nothing, unless each is made anew for it. All of that is multiplied: a
step of 84 by 84 pixels takes 7 KB as bytes and 226 KB as four frames of float64, and a memory of a
million of them 7 or 226 GB. It grows for hours, and then the program is killed.

## What to do instead
Keep bytes, and divide when they are drawn: `np.uint8` arrays, `states / 255.0` for the 32 of a
batch, or a `Rescaling` layer in the model. Keep single frames, in one array of all steps, and put
four of them together when they are drawn: `frames[places[:, None] + [-3, -2, -1, 0]]`; the frame
that follows is at the next place. Where states are objects, gymnasium's `LazyFrames` share their
frames as long as nobody makes an array of them.

## Fix safety
Unsafe: where bytes are put into arrays of floats, or are cast just where they are put away, they
stay bytes. They have the same values, but arithmetic with them is that of bytes: `states - 128`
wraps around, `states / 255.0` does not. What reads them must be looked at. Not offered where
something is computed before: to divide later, or to stack later, is for people to write.

## When to ignore it
When the memory is small. The rule is silent by itself for poles, landers and whatever else shows a
few numbers, where it cannot be seen that states are pictures, for the last 64 steps, for lists that
are emptied after an episode, and for bytes that are kept as `state` and as `next_state`, twice as
much as need be.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tfmemlint import (
    Applicability,
    Claim,
    Cost,
    Diagnostic,
    Edit,
    File,
    Fix,
    Law,
    Metric,
    Rule,
    costs,
    edits,
)
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes.amounts import Amount, held, product, total
from tfmemlint_rules._analyses.pictures import Picture, Pictures, Sort
from tfmemlint_rules._analyses.replays import Memory, Replays

BYTES = {2: "two", 4: "four", 8: "eight"}
TIMES = {2: "twice", 3: "three times", 4: "four times", 8: "eight times"}
STEPS = Amount(("the steps",))
STEP = Amount(("what is kept of a step",), of_bytes=True)


def check(file: File) -> Iterator[Diagnostic]:
    for memory in file.tf.of(Replays).all:
        if any(_is_wide(each) or each.is_stacked for each in memory.pictures):
            yield Diagnostic(
                file.span(memory.at),
                _message(file, memory),
                _fix(file, memory),
                _cost(file, memory),
            )


def _is_wide(picture: Picture) -> bool:
    return picture.width is not None and picture.width > 1


def _message(file: File, memory: Memory) -> str:
    most, told = memory.widest, list[str]()
    wide = max(memory.pictures, key=lambda each: each.width or 0)
    if _is_wide(wide):
        width = BYTES.get(wide.width or 1, "many")
        told.append(f"pictures as {wide.dtype}, {width} bytes for each of a pixel")
    copies = len(memory.pictures)
    if copies > 1 or most.is_stacked:
        times = copies * most.frames if most.is_stacked and most.frames else copies
        known = most.frames is not None or not most.is_stacked
        how_often = TIMES.get(times, f"{times} times") if known else "several times"
        told.append(f"each frame {how_often}")
    return f"`{file.source(memory.holder)}` keeps {', and '.join(told)}"


def _cost(file: File, memory: Memory) -> Cost:
    """All steps that are kept, and a byte for each number of one frame a step."""
    law, most = Law.CONSTANT, memory.widest
    if memory.arrays:
        now = total(file.tf.arrays.nbytes(each) for each in memory.arrays)
        frames = (most.frames or 1) if most.is_stacked else 1
        one = None if now.value is None else held(now.value / (most.width or 1) / frames)
        return costs.cost(now, law, one)
    if memory.most is not None:
        steps = file.tf.numbers.of(memory.most)
    else:
        law, steps = Law.STEPS, _rounds(file, memory)
    sizes = [_bytes(each) for each in memory.pictures]
    each = STEP if None in sizes else held(sum(size for size in sizes if size))
    frame = most.numbers
    after = None if frame is None else frame / ((most.frames or 1) if most.is_stacked else 1)
    return costs.cost(steps.times(each), law, None if after is None else steps.times(held(after)))


def _rounds(file: File, memory: Memory) -> Amount:
    grown = file.tf.growths.at(memory.at)
    rounds = [file.tf.numbers.rounds(loop.node) for each in grown[:1] for loop in each.loops]
    return product(rounds) if rounds else STEPS


def _bytes(picture: Picture) -> int | None:
    numbers, width = picture.numbers, picture.width
    return None if numbers is None or width is None else numbers * width


def _fix(file: File, memory: Memory) -> Fix | None:
    """Bytes where bytes are given, and nothing but the memory makes floats of them."""
    if any(each.is_stacked for each in memory.pictures):
        return None
    by = _arrays_of_bytes if memory.arrays else _bytes_as_they_are
    changes = edits.whole(by(file, memory))
    return Fix("Keep the bytes", changes, Applicability.UNSAFE) if changes else None


def _arrays_of_bytes(file: File, memory: Memory) -> Iterable[Edit | None]:
    for made, value, kept in zip(memory.arrays, memory.parts, memory.pictures, strict=True):
        numpy = file.tf.names.module("numpy", made)
        if not _is_wide(kept):
            continue
        if numpy is None or not _is_of_bytes(file, value):
            yield None
            return
        told = argument(made, 1, "dtype")
        dtype = f"{numpy}.uint8"
        if told is not None:
            yield edits.instead(file, told, dtype)
        else:
            yield edits.with_argument(file, made, f"dtype={dtype}")


def _bytes_as_they_are(file: File, memory: Memory) -> Iterable[Edit | None]:
    for part, kept in zip(memory.parts, memory.pictures, strict=True):
        if not _is_wide(kept):
            continue
        cast = part.func if isinstance(part, ast.Call) else None
        is_cast = isinstance(cast, ast.Attribute) and cast.attr == "astype"
        if not (is_cast and isinstance(cast, ast.Attribute) and _is_of_bytes(file, cast.value)):
            yield None
            return
        yield edits.instead(file, part, file.source(cast.value))


def _is_of_bytes(file: File, value: ast.expr) -> bool:
    found = file.tf.of(Pictures).of(value)
    return found.sort is Sort.PICTURE and found.dtype == "uint8" and found.surely


RULE = Rule(
    code="TFM611",
    name="replay-buffer-of-frames",
    claim=Claim(
        Metric.HOST_PEAK, at_most=0.2, because="a pixel takes one byte, and a frame is held once"
    ),
    triggers=("append appendleft empty ones zeros", "choice render reset sample step"),
    check=check,
)
