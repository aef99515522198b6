"""`cache` behind a `map` that makes elements larger keeps all of them at their largest.

## What it finds
A tf.data pipeline that keeps in memory, with `cache()`, what a `map` has read from files, decoded
or enlarged. What the mapped function does is followed through the module.

## Why it costs memory
`cache` holds every element of the data set for as long as the pipeline is there. As a tensor of
floats, a picture takes up many times what it did when it was encoded.

## What to do instead
Cache what is small and map what is read from the cache; or give `cache` the name of a file, where
the disk is large and fast; or read the files in every epoch, and let `prefetch` hide that.

## Fix safety
Unsafe: the mapped function runs in every epoch, which takes time, and what it draws at random is
drawn again. Not offered where only the names of files would be cached, and where other steps, or
other statements, stand between.

## When to ignore it
When all of it fits, and time matters more. The rule is silent by itself where it sees that there is
little of it, where a comment in the line says so (`# fits in RAM`), where elements take 4 KB at the
most and nobody knows how many there are, for pipelines that are only evaluated, for what
`tfds.load` has for tests, and for caches in files. Where elements are only cast, TFM212 says so.
Less than 256 MB in the cache are hidden.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from math import inf

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Law, Metric, Rule, costs, edits
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.pipelines.buffers import Buffered
from tfmemlint.facts.pipelines.chains import BATCHING, Step
from tfmemlint.facts.pipelines.consumers import Into
from tfmemlint.facts.pipelines.elements import Passage

MOVABLE = BATCHING | {"prefetch", "with_options"}
"""Steps with which `cache` may change places."""
KEEPS = methods.PASSING
_FITS = re.compile(r"\bfits\b|\bfit in\b|\bsmall\b|\benough (?:ram|memory)\b", re.IGNORECASE)
_DOUBTS = re.compile(r"\bif\b|\bno\b|\bnot\b|n't\b|\bonly\b|\btoo\b|\?|todo", re.IGNORECASE)


def check(file: File) -> Iterator[Diagnostic]:
    for call, caches in file.tf.buffers.expansions.items():
        found = [each for each in caches if _may_run(file, each) and not each.is_for_tests]
        if not found or _is_for_evaluation(file, call) or _is_said_to_fit(file, call):
            continue
        chain, first, cache, passage = found[0]
        fixes = {_fix(file, each) for each in found}
        streams = file.tf.streams
        held = streams.all(chain, cache)
        if streams.are_small(chain, cache, held):
            continue
        worth = costs.NOTICED
        yield Diagnostic(
            file.step(call),
            f"`cache` keeps every element that {_says(file, chain.steps[first], passage)}",
            fixes.pop() if len(fixes) == 1 else None,
            costs.cost(held, Law.DATA, streams.all(chain, first), worth),
        )


def _may_run(file: File, site: Buffered) -> bool:
    """Whether it caches as it is called, or as its function's defaults have it."""
    step = site.chain.steps[site.buffer]
    return file.tf.conditions.runs(step.call, step.frame) is not False


def _is_said_to_fit(file: File, cache: ast.Call) -> bool:
    """Whether a comment in its line says that all of it fits: `# fits in RAM`."""
    end = file.step(cache).end
    _, _, said = file.text[end:].partition("\n")[0].partition("#")
    return _FITS.search(said) is not None and _DOUBTS.search(said) is None


def _is_for_evaluation(file: File, cache: ast.Call) -> bool:
    """Whether what is cached is only evaluated: such data sets are a small part of all there is."""
    ends = [
        end
        for end in file.tf.consumers.ends
        if any(step.call is cache for chain in end.chains for step in chain.steps)
    ]
    return bool(ends) and all(
        end.into in (Into.EVALUATE, Into.PREDICT) or end.argument == "validation_data"
        for end in ends
    )


def _says(file: File, step: Step, passage: Passage) -> str:
    who = file.called(step.argument("map_func"), "the `map` before it")
    if passage.growth == inf:
        return f"{who} has read from files"
    return f"{who} has {_how(passage)}"


def _how(passage: Passage) -> str:
    if passage.is_resized:
        return "made floats"
    return "decoded" if passage.is_decoded else f"made {passage.growth:.0f} times as large"


def _fix(file: File, site: Buffered) -> Fix | None:
    """The maps put behind the cache, and behind what may hold its elements after it."""
    chain, methods, elements = site.chain, site.chain.methods, file.tf.elements
    passages = elements.passages(chain, site.buffer, MOVABLE)
    data = [(place, passage.growth) for place, passage in passages if 2 <= passage.growth < inf]
    last = chain.sharing(site.buffer, KEEPS)
    if not data or last is None:  # only names of files, or a shuffle that would hold what is mapped
        return None
    first, _ = max(data, key=lambda found: found[1])
    if site.passage.is_resized or elements.passage(chain, site.map, first).growth >= 2:
        return None  # much of it would be kept all the same
    batched = not BATCHING.isdisjoint(methods[first : site.buffer])
    moved = chain.steps[first : last + 1]
    if not file.tf.neighbours.adjoin(moved) or (batched and last > site.buffer):
        return None
    calls = [step.call for step in moved]
    kept = calls[site.buffer - first :]
    found = edits.reordered(file, calls, [*kept, *calls[: site.buffer - first]])
    return Fix("Cache before mapping", found, Applicability.UNSAFE) if found else None


RULE = Rule(
    code="TFM204",
    name="cache-after-expand",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.3, because="the cache holds what is smaller", of_host=True
    ),
    triggers=("cache", "map"),
    check=check,
)
