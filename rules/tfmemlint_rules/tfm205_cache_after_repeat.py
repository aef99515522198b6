"""`cache` behind `repeat` keeps every repetition.

## What it finds
A tf.data pipeline that keeps in memory, with `cache()`, what `repeat` gives: in one expression, or
through names, helper functions and methods.

## Why it costs memory
`cache` takes every element that comes for a new one. Behind `repeat(n)` it holds each `n` times.
Behind an endless `repeat()` it is never complete: it grows by the whole data set in every epoch,
and nothing is ever read from it.

## What to do instead
Cache first, then repeat: one copy is held, and from the second epoch on it is read.

## Fix safety
Safe where the elements are surely the same, in the same order, whenever they are made, and cannot
fail: they are made of numbers or arrays, by functions that only compute and read nothing that can
change, and nothing but elements is looked at of the pipeline. Unsafe otherwise, as with files,
which may be written between epochs: what changed with each repetition and comes before `cache` now
is made once for all epochs. `shuffle` and functions seen to be random are put behind `cache`; where
that would leave less in the cache than was meant, no fix is offered. Nor is one where other code
takes what is between the two, where an argument does something of its own when its turn comes, and
where several pipelines that share the `cache` would each be mended in another way.

## When to ignore it
When `repeat(n)` is there to keep `n` random variants of each element. The rule is silent by itself
where they may differ: behind functions that may be random, generators and datasets out of sight.
It is silent, too, for caches in files, for `repeat(1)`, and where `take` ends the repetition.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Law, Metric, Rule, costs, edits
from tfmemlint.facts.pipelines.chains import BATCHING, Chain, Step
from tfmemlint.facts.pipelines.epochs import Again
from tfmemlint.facts.syntax.nodes import is_none
from tfmemlint.light_typing import NamedTuple

ENDS = frozenset({"apply", "take", "take_while"})
"""Steps that end an endless repetition, or may."""
MOVABLE = BATCHING | {"filter", "map", "prefetch", "repeat", "shuffle"}


class Site(NamedTuple):
    """A `repeat` in a chain, and the `cache` behind it, by their places."""

    chain: Chain
    repeat: int
    cache: int


def check(file: File) -> Iterator[Diagnostic]:
    found: dict[ast.Call, list[Site]] = {}
    for chain in file.tf.datasets.chains:
        for site in _cached_repetitions(file, chain):
            found.setdefault(chain.steps[site.cache].call, []).append(site)
    for call, sites in found.items():
        chain, cache, streams = sites[0].chain, sites[0].cache, file.tf.streams
        repeat = chain.steps[sites[0].repeat]
        count = repeat.argument("count")
        times = "" if count is None else ast.unparse(count)
        endless = _is_endless(file, repeat)
        fixes = {_fix(file, site) for site in sites}
        yield Diagnostic(
            file.step(call),
            "`cache` grows with every epoch: the `repeat` before it never ends"
            if endless
            else f"`cache` holds each element `{times}` times: it comes behind `repeat`",
            fixes.pop() if len(fixes) == 1 else None,
            costs.cost(
                streams.all(chain, cache),
                Law.STEPS if endless else Law.DATA,
                streams.all(chain, sites[0].repeat),
            ),
        )


def _cached_repetitions(file: File, chain: Chain) -> Iterator[Site]:
    repeat: int | None = None
    for place, step in enumerate(chain.steps):
        if step.method == "repeat":
            once = file.tf.values.number(step.argument("count"), step.frame) == 1
            repeat = repeat if once else place
        elif step.method in ENDS:
            repeat = None
        elif step.caches_in_memory and repeat is not None:
            endless = _is_endless(file, chain.steps[repeat])
            if endless or file.tf.epochs.again(chain, place) is not Again.UNKNOWN:
                yield Site(chain, repeat, place)
            repeat = None


def _is_endless(file: File, repeat: Step) -> bool:
    count = repeat.argument("count")
    if count is None:
        return not repeat.call.args and not repeat.call.keywords
    number = file.tf.values.number(count, repeat.frame)
    return is_none(count) or (number is not None and number < 0)


def _fix(file: File, site: Site) -> Fix | None:
    """`cache` put before `repeat` and what is random, or `repeat` behind the `cache` of a map."""
    epochs, chain = file.tf.epochs, site.chain
    random = [place for place in range(site.cache) if epochs.draws(chain, place)]
    first = min((*random, site.repeat))
    moved = chain.steps[first : site.cache + 1]
    methods = chain.methods[first : site.cache]
    maps = any(
        chain.methods[each] == "map" for each in range(first, site.cache) if each not in random
    )
    if not file.tf.neighbours.adjoin(moved) or not MOVABLE.issuperset(methods) or (maps and random):
        return None
    calls = [step.call for step in moved]
    wanted = [*calls[1:], calls[0]] if maps else [calls[-1], *calls[:-1]]
    found = edits.reordered(file, calls, wanted)
    same = epochs.again(chain, site.cache) is Again.SAME
    same = same and not file.tf.datasets.leave_out_failures
    same = same and file.tf.sure_pipelines.may_be_reordered(chain, first, site.cache)
    rebatched = maps and not BATCHING.isdisjoint(methods)  # at the ends of epochs
    applicability = Applicability.SAFE if same and not rebatched else Applicability.UNSAFE
    return Fix("Cache before repeating", found, applicability) if found else None


RULE = Rule(
    code="TFM205",
    name="cache-after-repeat",
    claim=Claim(
        Metric.DEVICE_GROWTH,
        at_most=0.05,
        because="the cache is complete after one epoch",
        of_host=True,
    ),
    triggers=("cache", "repeat"),
    check=check,
)
