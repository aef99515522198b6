"""`cache` behind a cast to a wider type keeps the wider elements.

## What it finds
A tf.data pipeline that keeps in memory, with `cache()`, elements that a `map` has only cast or
scaled: `tf.cast(image, tf.float32) / 255.0`, `tf.image.convert_image_dtype`, a `Rescaling` layer.

## Why it costs memory
`cache` holds every element for as long as the pipeline is there. Pixels are bytes: as `float32`
they take up four times as much.

## What to do instead
Keep the bytes, and cast what is read: behind `cache`, and behind a `shuffle` that comes next, whose
buffer then shares the cache's memory. Casting again in each epoch costs next to nothing.

## Fix safety
Safe where the elements are made of numbers or arrays, by functions that only compute and read
nothing that can change, and nothing but elements is looked at of the pipeline: number by number,
the same operations are done to the same elements, which come in the same order. Unsafe elsewhere,
since casts behind the cache are done in every epoch. Not offered where other steps, or other
statements, stand between. What combines two parts of an element, as an image and its own scale, is
TFM204's affair: as batches they may not fit.

## When to ignore it
When the cast is not to a wider type after all. The rule is silent by itself where it sees that,
where `map` does anything else, for small ready-made data sets, where elements take 4 KB at the most
and nobody knows how many there are, and for caches in files. `shuffle`
behind a cast is TFM201's affair. Of a ready-made data set, such as MNIST, less than 256 MB in the
cache are hidden.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Law, Metric, Rule, costs, edits
from tfmemlint.facts.pipelines.buffers import Buffered
from tfmemlint.facts.sizes.ready import Ready

KEEPS = frozenset({"batch", "prefetch", "repeat", "shard", "shuffle", "skip", "take"})
"""Steps that give the same whether elements are cast before or afterwards."""


def check(file: File) -> Iterator[Diagnostic]:
    for call, found in file.tf.buffers.casts.items():
        site, fixes = found[0], {_fix(file, each) for each in found}
        chain, streams = site.chain, file.tf.streams
        held = streams.all(chain, site.buffer)
        if site.is_for_tests or streams.are_small(chain, site.buffer, held):
            continue
        function = site.chain.steps[site.map].argument("map_func")
        who = file.called(function, "the `map` before it")
        times = f"{site.passage.growth:.0f}"
        yield Diagnostic(
            file.step(call),
            f"`cache` keeps elements that {who} has cast to {times} times their size",
            fixes.pop() if len(fixes) == 1 else None,
            costs.cost(
                held,
                Law.DATA,
                streams.all(chain, site.map),
                costs.worth(ready=file.tf.of(Ready).is_chain(chain)),
            ),
        )


def _fix(file: File, site: Buffered) -> Fix | None:
    """The casts put behind the cache, and behind what may hold its elements after it."""
    last = site.chain.sharing(site.buffer, KEEPS)
    moved = site.chain.steps[site.map : last + 1] if last is not None else ()
    if not moved or not file.tf.neighbours.adjoin(moved):
        return None
    casts = [step.call for step in moved if step.method == "map"]
    others = [step.call for step in moved if step.method != "map"]
    found = edits.reordered(file, [step.call for step in moved], [*others, *casts])
    same = file.tf.sure_pipelines.may_be_reordered(site.chain, site.map, last or site.buffer)
    safety = Applicability.SAFE if same else Applicability.UNSAFE
    return Fix("Cast behind the cache", found, safety) if found else None


RULE = Rule(
    code="TFM212",
    name="cast-before-buffering",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.5, because="the cache holds bytes, not floats", of_host=True
    ),
    triggers=("cache", "map"),
    check=check,
)
