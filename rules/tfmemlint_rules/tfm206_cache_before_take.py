"""`take` behind `cache` throws away what was cached.

## What it finds
A tf.data pipeline in which `take` follows `cache()`, with at most maps, batches and `prefetch`
between the two, and which is read again, or may be.

## Why it costs memory
A cache is complete when its pipeline has been read to the end. `take(k)` stops before that: what
was cached is thrown away after each epoch, and made again in the next. The memory for `k` elements
is held all the same, and buys nothing: each epoch takes as long as the first.

## What to do instead
Take first, then cache: the cache is complete after `k` elements. That saves the time to make them
in every epoch but the first, not memory: as many elements are held, and from then on they stay.

## Fix safety
Safe where the elements are surely the same, in the same order, whenever they are made, and cannot
fail: they are made of numbers or arrays, by functions that only compute and read nothing that can
change, and nothing but elements is looked at of the pipeline. Unsafe otherwise, as with files,
which may be written between epochs: what was made anew in each epoch, since nothing was cached, is
made once. No fix is offered where batches are made between the two, which count otherwise than
elements, where an argument does something of its own when its turn comes, and where several
pipelines that share the `cache` would each be mended in another way.

## When to ignore it
When `k` is larger than the number of elements: then the cache is complete. The rule is silent by
itself where it sees that, where making the elements takes no work, where they are read once only,
for caches in files, and where anything else reads the cache, as `skip` does in a split.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Metric, Rule, edits
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.pipelines.chains import BATCHING, Chain, From
from tfmemlint.facts.pipelines.consumers import End, Into
from tfmemlint.facts.pipelines.epochs import Again
from tfmemlint.light_typing import NamedTuple

ELEMENTWISE = frozenset({"map", "prefetch"})
AT_HAND = frozenset({From.FILES, From.RANGE, From.SLICES, From.TENSORS})
"""What is there without being read or made."""
READS_ONCE = frozenset({Into.EVALUATE, Into.ITERATOR, Into.LIST, Into.LOOP, Into.PREDICT})


class Site(NamedTuple):
    """A `cache` in a chain, and the `take` that stops it, by their places."""

    chain: Chain
    cache: int
    take: int


def check(file: File) -> Iterator[Diagnostic]:
    found: dict[ast.Call, list[Site]] = {}
    for chain in file.tf.datasets.chains:
        for site in _sites(chain):
            if _is_cut_short(file, site) and _is_read_again(file, site):
                found.setdefault(chain.steps[site.take].call, []).append(site)
    for sites in found.values():
        chain, cache, take = sites[0]
        count = chain.steps[take].argument("count")
        if count is None:
            continue
        cached = chain.steps[cache].call
        fixes = {_fix(file, site) for site in sites}
        yield Diagnostic(
            file.step(cached),
            f"`cache` is thrown away after each epoch: `take({ast.unparse(count)})` ends it early",
            fixes.pop() if len(fixes) == 1 else None,
        )


def _sites(chain: Chain) -> Iterator[Site]:
    cache: int | None = None
    for place, step in enumerate(chain.steps):
        if step.method == "cache":
            cache = place if step.caches_in_memory else None
        elif step.method == "take" and cache is not None:
            yield Site(chain, cache, place)
            cache = None
        elif step.method not in ELEMENTWISE | BATCHING:
            cache = None


def _is_cut_short(file: File, site: Site) -> bool:
    """Whether `take` alone reads the cache, stops before its end, and so has work done again."""
    chain, cache, take = site
    steps = chain.steps[cache : take + 1]
    taken = file.tf.values.number(steps[-1].argument("count"), steps[-1].frame)
    there = file.tf.lengths.at_most(chain, cache)
    batched = not BATCHING.isdisjoint(chain.methods[cache:take])
    all_of_it = taken is not None and (
        taken < 0 or (there is not None and taken > there and not batched)
    )
    worked_for = chain.source.kind not in AT_HAND or "map" in chain.methods[:cache]
    return file.tf.neighbours.follow(steps) and worked_for and not all_of_it


def _is_read_again(file: File, site: Site) -> bool:
    """Whether a loop or Keras reads what is taken again, or what is out of sight may."""
    call = site.chain.steps[site.take].call
    if file.tf.loops.around(site.chain.steps[site.cache].call):
        return False  # it begins with a new cache each time
    ends = [
        end
        for end in file.tf.consumers.ends
        if any(step.call is call for chain in end.chains for step in chain.steps)
    ]
    return not ends or any(_repeats(file, end) for end in ends)


def _repeats(file: File, end: End) -> bool:
    function = file.tf.tree.function(end.at)
    runs = [end.at, *(file.tf.callers.calls_of(function) if function else ())]
    if any(map(file.tf.loops.around, runs)):
        return True
    if end.into is Into.FIT and isinstance(end.at, ast.Call):
        epochs = argument(end.at, 3, "epochs")
        return epochs is not None and file.tf.values.number(epochs) != 1
    return end.into not in READS_ONCE


def _fix(file: File, site: Site) -> Fix | None:
    chain, cache, take = site
    if not ELEMENTWISE.issuperset(chain.methods[cache + 1 : take]):
        return None
    if not file.tf.neighbours.adjoin(chain.steps[cache : take + 1]):
        return None
    calls = [step.call for step in chain.steps[cache : take + 1]]
    found = edits.reordered(file, calls, [calls[-1], *calls[:-1]])
    same = file.tf.epochs.again(chain, take) is Again.SAME
    same = same and not file.tf.datasets.leave_out_failures
    same = same and file.tf.sure_pipelines.may_be_reordered(chain, cache, take)
    applicability = Applicability.SAFE if same else Applicability.UNSAFE
    return Fix("Take before caching", found, applicability) if found else None


RULE = Rule(
    code="TFM206",
    name="cache-before-take",
    claim=Claim(Metric.STEP_TIME, at_most=0.6, because="an epoch reads what the first has cached"),
    triggers=("cache", "take"),
    check=check,
)
