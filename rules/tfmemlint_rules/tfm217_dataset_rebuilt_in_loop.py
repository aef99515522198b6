"""A pipeline that each round of a loop makes longer, or anew, holds its buffers and data again.

## What it finds
`ds = ds.shuffle(n)` in a loop that goes over `ds`, and any other step added so, round after round.
Also slices of arrays, and pipelines with a cache in memory, that a loop makes in every round though
nothing in them changes.

## Why it costs memory
Each round's `shuffle` reads from that of the round before: after ten epochs ten buffers are full.
A `cache` or `batch` added so holds the data once more each time. A pipeline that is made anew
copies its arrays before the last round's copy is gone, and fills its cache from the beginning.

## What to do instead
Make the pipeline once, before the loop. `shuffle` changes the order every time it is gone over.

## Fix safety
Safe where the pipeline is made anew of one array that nothing changes, surely gives the same in
every round, not shuffled, and the loop does nothing but go over it. Unsafe elsewhere: a step that
is added once acts once, and elements come in another order; records may be written again between
rounds; what mapped functions read may change; the name may hold something else before the loop, or
be asked for behind it. Not offered where the assignment is not the only one of its name in the
loop, does not run in every round, or reads what is defined there.

## When to ignore it
When the rounds are few and the buffers small. The rule is silent by itself where a step depends on
the round, where the loop may change the array between rounds, for `take`, `skip` and `concatenate`,
and where the loop only builds what is used after it.
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
from tfmemlint.facts.graphs.tracing import DATASET_TAKES_FUNCTION
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.library.words import PIPELINE_WORDS
from tfmemlint.facts.pipelines.chains import Chain, From
from tfmemlint.facts.pipelines.epochs import Again
from tfmemlint_rules._analyses.remade_pipelines import Rebuilt, RemadePipelines

UNCHANGING = frozenset({Kind.NUMBER, Kind.PATH, Kind.TENSOR})
HOLDS_ARRAYS = frozenset({From.SLICES, From.TENSORS})


def check(file: File) -> Iterator[Diagnostic]:
    for rebuilt in file.tf.of(RemadePipelines).all:
        name = ast.unparse(rebuilt.assignment.targets[0])
        if rebuilt.is_lengthened:
            added = ", ".join(f"`{_method(call)}`" for call in reversed(rebuilt.steps))
            message = f"`{name}` gets another {added} in every round, behind those of the last"
        elif _holds_data(rebuilt):
            message = f"`{name}` is made anew in every round, with the same data"
        else:
            continue
        span, cost = file.span(rebuilt.assignment), _cost(file, rebuilt)
        yield Diagnostic(span, message, _fix(file, rebuilt), cost)


def _holds_data(rebuilt: Rebuilt) -> bool:
    """Whether a pipeline keeps data of its own: a copy of an array, or a cache in memory."""
    return any(
        chain.source.kind in HOLDS_ARRAYS
        or any(step.method == "cache" and not step.argument("filename") for step in chain.steps)
        for chain in rebuilt.chains
    )


def _cost(file: File, rebuilt: Rebuilt) -> Cost:
    """The elements of one such pipeline: those of the last rounds stay for a while, too."""
    held = file.tf.streams.all(rebuilt.chains[0])
    return costs.cost(held._replace(at_most=None), after=held)


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _fix(file: File, rebuilt: Rebuilt) -> Fix | None:
    loop = rebuilt.loop.node
    if not file.tf.of(RemadePipelines).can_be_lifted(rebuilt) or isinstance(
        loop, ast.comprehension
    ):
        return None
    moved = edits.lifted(file, rebuilt.assignment, loop)
    once = file.tf.of(RemadePipelines).is_bound_once(rebuilt) and not rebuilt.is_lengthened
    same = (
        once
        and _is_only_gone_over(file, rebuilt)
        and all(
            file.tf.epochs.again(chain, len(chain.steps)) is Again.SAME
            and _is_of_the_same(file, chain)
            and _maps_alike(file, chain, loop)
            for chain in rebuilt.chains
        )
    )
    safety = Applicability.SAFE if same else Applicability.UNSAFE
    return Fix("Make the pipeline before the loop", moved, safety) if moved else None


def _is_only_gone_over(file: File, rebuilt: Rebuilt) -> bool:
    """Whether the loop does nothing but go over the pipeline, and no error is told earlier."""
    target, loop, sure = rebuilt.assignment.targets[0], rebuilt.loop.node, file.tf.sure_pipelines
    home = file.tf.bindings.home(target.id, target) if isinstance(target, ast.Name) else None
    if home is None or not isinstance(target, ast.Name) or not isinstance(loop, ast.For):
        return False
    loads = file.tf.bindings.loads(home, target.id)
    return (
        all(file.tf.tree.inside(each, loop) for each in loads)
        and sure.is_only_read(rebuilt.assignment.value)
        and all(
            sure.is_steady(chain, in_order=True)
            and sure.never_fails(chain)
            and all(map(sure.takes_plain, chain.steps))
            and _is_of_one_array(chain)
            for chain in rebuilt.chains
        )
    )


def _is_of_one_array(chain: Chain) -> bool:
    """Whether a pipeline is made of one name, which surely can be sliced."""
    made = chain.source.node
    return (
        isinstance(made, ast.Call)
        and len(made.args) == 1
        and isinstance(made.args[0], ast.Name)
        and not made.keywords
    )


def _maps_alike(file: File, chain: Chain, loop: ast.AST) -> bool:
    """Whether the functions that a pipeline is given are traced to the same in every round."""
    found = map(file.tf.datasets.function, chain.steps)
    functions = [each for each in found if each is not None]
    steady = file.tf.steady
    return all(map(steady.is_steady, functions)) and (
        all(step.method not in DATASET_TAKES_FUNCTION for step in chain.steps)
        or steady.leaves_alone(loop, *functions)
    )


def _is_of_the_same(file: File, chain: Chain) -> bool:
    """Whether nothing can change what a pipeline begins with, be it under another name."""
    made = chain.source.node
    if chain.source.kind not in HOLDS_ARRAYS:
        return False
    given = given_to(made) if isinstance(made, ast.Call) else ()
    names = [node for each in given for node in ast.walk(each) if isinstance(node, ast.Name)]
    found = [(name, file.tf.bindings.only(name)) for name in names]
    return all(
        file.tf.values.of(name).kind in UNCHANGING
        or (binding is not None and file.tf.unchanged.stays(binding))
        for name, binding in found
    )


RULE = Rule(
    code="TFM217",
    name="dataset-rebuilt-in-loop",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.35,
        because="one buffer is filled, not one per round",
        of_host=True,
    ),
    triggers=(PIPELINE_WORDS, "for while"),
    check=check,
)
