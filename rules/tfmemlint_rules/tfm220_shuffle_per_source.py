"""Each of many sources is shuffled in a buffer of its own before they are mixed.

## What it finds
`sample_from_datasets` of pipelines that a comprehension or a loop makes, each with a `shuffle` of
its own: in sight or in a helper function.

## Why it costs memory
`shuffle(n)` holds `n` elements, and all sources are read at the same time: with `k` sources that
makes `k * n` elements.

## What to do instead
Draw from the sources as they are, and shuffle once afterwards: one buffer holds `n` elements.

## Fix safety
Unsafe: the elements come in another order. With the same buffer an element moves less far within
its own source than it did. Not offered where the `shuffle` stands in a function, where its
buffer differs from source to source, or where the sources are read by themselves, too.

## When to ignore it
When the elements of a source have to be mixed among themselves thoroughly, as where a source is
sorted by class. The rule is silent by itself for up to three sources, for file names and numbers,
for slices of arrays, whose memory the buffers share, unless their rows are known to be copies, for
elements known to be small, and where further steps follow the `shuffle` of a source, as a
`map` that reads the file or a `take` that picks a few.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import (
    Applicability,
    Claim,
    Cost,
    Diagnostic,
    File,
    Fix,
    Metric,
    Rule,
    costs,
    edits,
)
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.library.makers import argument, given_to
from tfmemlint.facts.pipelines.chains import Chain, From, Step
from tfmemlint.facts.pipelines.held import tensors
from tfmemlint.light_typing import NamedTuple

MIXES = frozenset(
    {
        "tensorflow.data.Dataset.sample_from_datasets",
        "tensorflow.data.experimental.sample_from_datasets",
    }
)
FEW = 3
"""Sources."""
KEEPS_ELEMENTS = frozenset({"prefetch", "repeat", "with_options"})
LITTLE = 1024
"""Bytes of a row: labels."""
LONG = 40


class Sources(NamedTuple):
    """What a list of pipelines is made of."""

    each: ast.expr
    """The pipeline that is made of one source."""
    loop: Loop


def check(file: File) -> Iterator[Diagnostic]:
    for mix, _ in file.tf.names.calls(MIXES):
        given = argument(mix, 0, "datasets")
        sources = _sources(file, given) if given is not None else None
        if sources is None or (sources.loop.trips is not None and sources.loop.trips <= FEW):
            continue
        found = (_shuffle(file, chain) for chain in file.tf.datasets.of(sources.each))
        for shuffle in {each.call: each for each in found if each is not None}.values():
            buffer = shuffle.argument("buffer_size")
            if buffer is None:
                continue
            over = ast.unparse(sources.loop.iterable) if sources.loop.iterable else ""
            each = f"each of `{over}`" if 0 < len(over) <= LONG else "each source"
            yield Diagnostic(
                file.step(shuffle.call),
                f"{each} is shuffled in a buffer of `{ast.unparse(buffer)}` elements of its own",
                _fix(file, mix, sources, shuffle),
                _cost(file, sources, shuffle),
            )


def _cost(file: File, sources: Sources, shuffle: Step) -> Cost:
    """As many buffers as sources, and a single one."""
    streams = file.tf.streams
    one = streams.buffered(*streams.around(shuffle))
    return costs.cost(file.tf.numbers.rounds(sources.loop.node).times(one), after=one)


def _sources(file: File, given: ast.expr, hops: int = 2) -> Sources | None:
    if isinstance(given, (ast.ListComp, ast.GeneratorExp)):
        return Sources(given.elt, file.tf.loops.loop(given.generators[-1]))
    binding = file.tf.bindings.only(given)
    if binding is None or binding.value is None or not hops:
        return None
    for growth in file.tf.loops.growths:
        if growth.start == binding and len(growth.elements) == 1:
            return Sources(growth.elements[0], growth.loops[0])
    return None if binding.path else _sources(file, binding.value, hops - 1)


def _shuffle(file: File, chain: Chain) -> Step | None:
    """The `shuffle` of a source, if its elements are drawn as they come out of it."""
    steps = [place for place, method in enumerate(chain.methods) if method not in KEEPS_ELEMENTS]
    place = steps[-1] if steps else None
    if place is None or chain.methods[place] != "shuffle":
        return None
    small = chain.source.kind in (From.FILES, From.RANGE)
    plain = small and not {"map", "interleave"} & {*chain.methods}
    shuffle = chain.steps[place]
    number = file.tf.values.number(shuffle.argument("buffer_size"), shuffle.frame)
    return None if plain or number == 1 or _are_slices(file, chain, place) else shuffle


def _are_slices(file: File, chain: Chain, place: int) -> bool:
    """Whether a buffer shares the memory of an array, unless its rows are known to be copies."""
    if chain.source.kind is not From.SLICES or not methods.PASSING.issuperset(
        chain.methods[:place]
    ):
        return False
    rows = tensors(file.tf.elements.entering(chain, place))
    return all(each.is_view or (each.nbytes or 0) < LITTLE for each in rows)


def _fix(file: File, mix: ast.Call, sources: Sources, shuffle: Step) -> Fix | None:
    tree, loops = file.tf.tree, file.tf.loops
    arguments = given_to(shuffle.call)
    fixed = all(loops.invariant(each, sources.loop) for each in arguments)
    given = argument(mix, 0, "datasets")
    binding = file.tf.bindings.only(given)
    readers = file.tf.bindings.readers(binding) if binding is not None else []
    shared = [each for each in readers if each is not given and not _grows(tree.parent(each))]
    if not tree.inside(shuffle.call, sources.each) or not fixed or shared:
        return None
    span = edits.method_call(file, shuffle.call)
    taken = edits.unchained(file, shuffle.call)
    text = file.source(span) if span is not None else ""
    added = edits.chained(file, mix, f".{text}")
    if taken is None or added is None or not text or "\n" in text:
        return None
    return Fix("Shuffle once, behind the mixing", (taken, added), Applicability.UNSAFE)


def _grows(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "append"


RULE = Rule(
    code="TFM220",
    name="shuffle-per-source",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.3, because="one buffer holds what many did", of_host=True
    ),
    triggers=("sample_from_datasets", "shuffle"),
    check=check,
)
