"""A pipeline that nothing batches trains on one example at a time.

## What it finds
A tf.data pipeline of single examples (slices of whole arrays or of file names, parsed records, a
ready-made data set) given to `fit`, or to a loop that takes gradients, without a `batch` anywhere.

## Why it costs memory
It does not: one example takes less than a batch of 32. What it costs is time. Every step pays for
the pipeline, the traced function, each operation and the optimizer anew, for a single example, and
the device has too little to do at once.

## What to do instead
Batch at the end of the pipeline; 32 is Keras's own default. Keras's layers take batches only, and
most of them refuse a single example outright.

## Fix safety
Unsafe: each step follows the gradient of 32 examples, and there are fewer steps. A step of one's
own must be able to take a batch: a mean over the examples, say, in place of a single loss.
Offered where one place serves all that read the pipeline.

## When to ignore it
When a step for each example is what is wanted. The rule is silent by itself where an element may
be a batch already: from generators, windows, `flat_map` and `interleave`, from functions that add
an axis or stack, behind a `reshape` that may change the rows, and behind any step it does not know.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Metric, Rule, edits
from tfmemlint.facts.pipelines.chains import Chain
from tfmemlint_rules._analyses.examples import Examples


def check(file: File) -> Iterator[Diagnostic]:
    reported: set[ast.Call] = set()
    for end in file.tf.consumers.ends:
        if not file.tf.of(Examples).trains_as_they_come(end):
            continue
        if not all(map(file.tf.of(Examples).are_single, end.chains)):
            continue
        lasts = [each for each in dict.fromkeys(map(_last, end.chains)) if each is not None]
        single = [each for each in lasts if each not in reported]
        reported.update(single)
        for last in single[:1]:  # branches of one pipeline are batched where they have met
            shared = last in file.tf.further.regrouped
            place = file.step(last)
            yield Diagnostic(
                file.span(end.dataset) if shared else place,
                "each gradient step takes a single example: nothing batches "
                f"{file.called(end.dataset, 'the pipeline')}",
                None if shared else _fix(file, last if len(lasts) == 1 else end.dataset),
            )


def _last(chain: Chain) -> ast.Call | None:
    """The call that `batch` belongs behind: that of the last step, unless it only prefetches."""
    calls = [step.call for step in chain.steps if step.method != "prefetch"]
    if calls:
        return calls[-1]
    return chain.source.node if isinstance(chain.source.node, ast.Call) else None


def _fix(file: File, last: ast.expr) -> Fix | None:
    added = edits.chained(file, last, ".batch(32)")
    return Fix("Batch by 32", (added,), Applicability.UNSAFE) if added else None


RULE = Rule(
    code="TFM227",
    name="missing-batch",
    claim=Claim(Metric.STEP_TIME, at_most=0.5, because="32 examples share the cost of one step"),
    triggers=(
        "audio_dataset_from_directory from_tensor_slices image_dataset_from_directory list_files "
        "TFRecordDataset tensorflow_datasets text_dataset_from_directory",
        "fit GradientTape apply_gradients minimize train_on_batch",
    ),
    check=check,
)
