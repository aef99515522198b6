"""A pipeline without `prefetch` makes the training wait for its data.

## What it finds
A tf.data pipeline that reads files, decodes or resizes pictures or sounds, or runs Python, and ends
without `prefetch` in `fit`, or in a loop that takes gradients, followed there through names,
branches, helper functions and attributes. It is reported where it is made, once for all that take
it, be it as `fit(batches.repeat())`: only the first batch of an epoch is not prefetched by what
stands before a `repeat`. What trains may stand in another file, that imports this one.

## Why it costs memory
It does not; `prefetch` does. Without it the next batch is read and made while the device waits, and
the device works while nothing is read: a step takes as long as the two together, not as the longer
of them. For that, `prefetch(n)` holds up to `n` elements more, which behind `batch` are batches;
`tf.data.AUTOTUNE` begins with few and adds more as long as they are used up faster than made.

## What to do instead
End the pipeline with `prefetch(tf.data.AUTOTUNE)`, or with `prefetch(1)` where memory is short.
From version 2.12 on TensorFlow adds the first by itself, unless the option `inject_prefetch` is
False: that is how the figures of this rule were measured.

## Fix safety
Safe where the elements are made of numbers or arrays, by functions that only compute and read
nothing that can change, and nothing but elements is looked at of the pipeline. Unsafe where they
come from files, from a generator or from out of sight, or where what makes them reads variables,
draws random numbers or runs Python: it then runs ahead of what the training changes. Not offered
for what another pipeline shuffles, maps or batches further on its way into the training: there it
would not be the last step.

## When to ignore it
When memory is short and time is not. The rule is silent by itself where the project asks for
TensorFlow 2.12 or newer, in its requirements or lock files or by the setting `tensorflow`, or the
file needs Keras 3, and `inject_prefetch` is not mentioned in the file; where it is set to True
there; in tests; where there is little to do for an element: slices of arrays, also where a `map`
goes over each once, as to cast, scale or count classes, records of fields, lines of a table, words,
what a cache in memory has ready, and ready-made data sets, which prefetch what they decode; for
validation and evaluation, which are a small part of the time; for pipelines that end in what begins
several elements at once, as `map(f, num_parallel_calls=4)` does before anything asks for them; for
pipelines of up to 1,024 examples that are taken, written down or of a table that scikit-learn
brings along, or up to 32 batches that are taken and as long as nobody tells; and for pipelines that
code out of sight may prefetch: those handed to other modules or to distribution strategies. Where a
`shuffle` that comes too late is shown in the same chain of calls, that goes first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Metric, Rule, costs, edits
from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.library.words import PIPELINE_WORDS
from tfmemlint.facts.pipelines.chains import BATCHING, USUAL_BATCH, Chain
from tfmemlint.facts.pipelines.consumers import End, Into
from tfmemlint.facts.pipelines.overlaps import Overlaps
from tfmemlint.facts.sizes.ready import Ready
from tfmemlint.facts.syntax.arithmetic import constant
from tfmemlint.facts.syntax.nodes import is_literal, is_none

INJECTS = (2, 12)
FEW = 1024
"""Examples, or batches, that are gone through before waiting for them matters."""
HANDS_ON = methods.HANDS_ON - {"prefetch"}


def check(file: File) -> Iterator[Diagnostic]:
    oldest = file.tensorflow or ()
    injected = file.tf.is_for_keras_3 or oldest >= INJECTS
    told = "inject_prefetch" in file.text
    if _is_injected(file) if told else injected:
        return
    reported: set[ast.Call] = set()
    ends = [each for each in _ends(file) if _waits(*each)]
    for taker, end in ends:
        if any(map(_may_be_prefetched, end.chains)):
            continue
        waited: dict[ast.Call, None] = {}
        for chain in end.chains:
            last = _last(file, chain, end)
            if not isinstance(last, ast.Call) or last in reported or not _pays(file, chain):
                continue
            if file.tf.tree.elsewhere(last) is not None:
                continue  # it is reported there
            if any(_goes_on(last, other) for other in end.chains):
                continue  # one branch adds to what the other gives: a word about the longer will do
            if not _is_told_of(file, chain, last):
                waited[last] = None
        reported.update(waited)
        for last in [*waited][:1]:  # branches of one pipeline are prefetched where they have met
            place = last if len(waited) == 1 or taker is not file.tf else end.dataset
            yield Diagnostic(
                file.step(last),
                f"{_taker(taker, end, file.tf)} waits for each element of {_name(end.dataset)}: "
                f"nothing prefetches them{_until(file)}",
                _fix(file, place, (taker, end), [each for _, each in ends]),
            )


def _ends(file: File) -> Iterator[tuple[TensorFlow, End]]:
    """Where pipelines end up, here or in the files that import this one, with what is known there.

    Those are asked only where this file makes a pipeline whose elements may be waited for.
    """
    yield from ((file.tf, end) for end in file.tf.consumers.ends)
    chains = file.tf.datasets.chains
    if any(not _may_be_prefetched(chain) and _pays(file, chain) for chain in chains):
        for other in file.tf.imports.importers:
            if not (other.is_test or other.is_for_keras_3):
                yield from ((other, end) for end in other.consumers.ends)


def _is_injected(file: File) -> bool:
    """Whether each place that speaks of the option sets it to True."""
    named = file.tf.tree.attributes.get("inject_prefetch", ())
    above = [file.tf.tree.statement(each) for each in named]
    return bool(above) and all(
        isinstance(each, ast.Assign) and is_literal(each.value, True) for each in above
    )


def _waits(taker: TensorFlow, end: End) -> bool:
    """Whether an end does so much with each element that the next could be made meanwhile."""
    if end.into is Into.LOOP and isinstance(end.at, ast.For):
        return taker.consumers.trains(end.at)
    return end.into is Into.FIT and end.argument != "validation_data"


def _last(file: File, chain: Chain, end: End) -> ast.expr | None:
    """What makes the last elements; not what one use adds to a pipeline, as `fit(ds.repeat())`."""
    calls = [chain.source.node, *(each.call for each in chain.steps)]
    statement, use, place = file.tf.tree.statement, file.tf.tree.statement(end.at), len(chain.steps)
    while place and chain.methods[place - 1] in HANDS_ON:
        if statement(chain.steps[place - 1].call) is not use:
            break
        place -= 1
    made = calls[place]
    if not isinstance(made, ast.Call) or made in file.tf.further.regrouped:
        return calls[-1]
    return calls[-1] if statement(made) is use else made


def _goes_on(last: ast.expr, chain: Chain) -> bool:
    """Whether a pipeline makes other elements of the last ones of another."""
    calls = [chain.source.node, *(each.call for each in chain.steps)]
    if last not in calls:
        return False
    place = len(calls) - calls[::-1].index(last)  # a call may be two steps
    return not HANDS_ON.issuperset(chain.methods[place - 1 :])


def _may_be_prefetched(chain: Chain) -> bool:
    """Whether elements are prefetched, be it before they are put together, or may be."""
    parts = chain.source.parts
    if not {"prefetch", "apply"}.isdisjoint(chain.methods) or _works_ahead(chain):
        return True
    return (
        bool(parts) and BATCHING.isdisjoint(chain.methods) and all(map(_may_be_prefetched, parts))
    )


def _works_ahead(chain: Chain) -> bool:
    """Whether the last that makes elements begins several, before anything asks for them."""
    made = (each for each in reversed(chain.steps) if each.method not in HANDS_ON)
    last = next(made, None)
    calls = last.argument("num_parallel_calls") if last is not None else None
    return calls is not None and not is_none(calls) and constant(calls) != 1


def _pays(file: File, chain: Chain) -> bool:
    """Whether there is work for each element, and more than a few of them."""
    most = file.tf.lengths.at_most(chain)
    if most is None:  # of batches that are as long as nobody tells
        batches = file.tf.lengths.elements(chain)
        most = batches and batches * USUAL_BATCH
    return (most is None or most > FEW) and file.tf.of(Overlaps).works(chain)


def _is_told_of(file: File, chain: Chain, last: ast.Call) -> bool:
    """Whether the calls are reported already for a `shuffle` that comes too late: once will do."""
    late, statement = file.tf.buffers.late_shuffles, file.tf.tree.statement
    for place, step in enumerate(chain.steps):
        behind = not BATCHING.isdisjoint(chain.methods[:place])
        too_late = step.method == "shuffle" and (behind or step.call in late)
        if too_late and statement(step.call) is statement(last):
            return not _is_hidden(file, chain, place)
    return False


def _is_hidden(file: File, chain: Chain, place: int) -> bool:
    """Whether nothing is shown about a buffer, so little is in it, though elements be work."""
    most = costs.cost(file.tf.streams.buffered(chain, place)).at_most
    small = most is not None and most < costs.BUFFERED
    return small and not file.tf.of(Ready).is_chain(chain)


def _until(file: File) -> str:
    """With which versions that holds, where it is not known which one it will be."""
    unknown = file.tensorflow is None and "inject_prefetch" not in file.text
    return " before TensorFlow 2.12" if unknown else ""


def _taker(taker: TensorFlow, end: End, here: TensorFlow) -> str:
    where = f" of {taker.others.name}" if taker is not here and taker.others else ""
    if isinstance(end.at, ast.Call) and isinstance(end.at.func, ast.Attribute):
        return f"`{end.at.func.attr}`{where}"
    return f"the training loop{where}"


def _name(dataset: ast.expr) -> str:
    """What a message calls a pipeline."""
    while isinstance(dataset, ast.Call) and isinstance(dataset.func, ast.Attribute):
        if dataset.func.attr not in HANDS_ON:
            break
        dataset = dataset.func.value
    named = isinstance(dataset, (ast.Name, ast.Attribute))
    return f"`{ast.unparse(dataset)}`" if named else "the pipeline"


def _fix(file: File, last: ast.expr, taken: tuple[TensorFlow, End], ends: list[End]) -> Fix | None:
    taker, end = taken
    inner = any(_goes_on(last, chain) for each in ends for chain in each.chains)
    if inner or last in file.tf.further.regrouped:
        return None
    size = edits.autotune(file, last) or "1"
    added = edits.chained(file, last, f".prefetch({size})")
    sure = file.tf.sure_pipelines
    same = taker is file.tf and sure.is_only_read(last)
    same = same and all(sure.is_steady(chain) for chain in end.chains)
    safety = Applicability.SAFE if same and end.chains else Applicability.UNSAFE
    return Fix("Prefetch at the end", (added,), safety) if added else None


RULE = Rule(
    code="TFM223",
    name="missing-prefetch",
    claim=Claim(Metric.STEP_TIME, at_most=0.8, because="data is made while the device works"),
    triggers=(
        PIPELINE_WORDS,
        "fit fit_generator GradientTape apply_gradients minimize train_on_batch",
    ),
    check=check,
)
