"""Labels are written out as rows of zeros with a single one.

## What it finds
`to_categorical(y, k)`, `tf.one_hot(y, k)` and `np.eye(k)[y]` of all labels of the data, for a model
or a step whose loss is categorical cross-entropy. Also rows that are made by hand, of labels or of
words: `np.zeros((n, k))`, or a cube `(n, steps, k)`, that a loop sets ones in, for a model, or a
cube that a session is fed with. A model may be trained in a file that imports this one. Where no
file in sight tells the loss, rows of more than 32 classes, or of as many as a tokenizer knows
words, are enough.

## Why it costs memory
Each label was one number and becomes `k` of them: 8 KB for a thousand classes, where
`to_categorical` and NumPy make float64. Keras casts the rows to float32, one copy more.

The code tells less than was measured: the second program holds 3.5 MB of data and weights, and
takes 17 MB besides, with half as much data or twice, for what TensorFlow needs to trace and run
`fit`.

## What to do instead
Give the loss the labels as they are: `sparse_categorical_crossentropy` computes the same. Words go
into an `Embedding` by their numbers. Where rows are needed, make them of each batch, in a `map` of
the pipeline.

## Fix safety
Unsafe: the losses are equal up to rounding, but whatever else looks at the labels sees numbers.
Labels, losses and metrics are changed together, or nothing is: the fix is not offered where the
rows go anywhere else, where the labels may be a list, where a loss is imported by its own name, and
for rows that are made by hand.

## When to ignore it
When there are few classes. The rule is silent by itself for up to 32 where each example is known to
have one label, such as those of MNIST and CIFAR-10, or where the models of the file end in a
`Dense` with a softmax of so few units, for up to 128 of as many examples as nobody tells, where a
batch is written out at a time, in losses that are given what a model said, where any loss or metric
of the file is not known to have a sparse form, and for label smoothing and mixed labels, which are
no longer one class each. It is silent where nothing says how many classes there are: neither the
call, nor the data set, nor a layer of more than 32 units that tells them, nor one that tells a
class for each pixel or word, nor an embedding of as many words, and where the labels are no numbers
of a list's different words. What is known to be less than 16 MiB, of a ready-made data set, such as
CIFAR-100, less than 256 MB, is hidden, unless `min-bytes` says otherwise, by hand or not; what is
split or joined of such a set is no larger than all of it. By hand, it is silent for labels of up to
32 classes, for labels of the same words beside a cube of them, and for tables as long as they are
wide, such as those of neighbours.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import prod

from tfmemlint import (
    Applicability,
    Claim,
    Cost,
    Diagnostic,
    Edit,
    File,
    Fix,
    Metric,
    Rule,
    costs,
    edits,
)
from tfmemlint.facts.sizes.amounts import held, named, product
from tfmemlint.facts.sizes.ready import Ready
from tfmemlint_rules._analyses.filled_one_hots import FilledOneHot, FilledOneHots
from tfmemlint_rules._analyses.one_hots import OneHot, OneHots, Rename

WORTH = 16 << 20
"""Bytes: less is no reason to change losses and metrics."""
SOME = 128
"""Classes, whose rows are 1 KB: it takes 260,000 examples to have 256 MB of them."""


def check(file: File) -> Iterator[Diagnostic]:
    for filled in file.tf.of(FilledOneHots).all:
        cost, kinds = _filled(file, filled), file.tf.values.number(filled.axes[-1])
        if not filled.is_label or not _are_some(kinds, cost):
            yield Diagnostic(file.span(filled.made), _advice(file, filled), None, cost)
    hots = file.tf.of(OneHots)
    found = hots.all
    fix = _fix(file, found, hots) if found else None
    for each in found:
        cost = _cost(file, each, hots)
        if _are_some(hots.classes(each), cost):
            continue
        classes = "a number for each class" if each.classes is None else _classes(file, each)
        yield Diagnostic(
            file.span(each.node),
            f"`{each.name}` makes {classes} of each label of `{file.named(each.labels)}`",
            fix,
            cost,
        )


def _are_some(classes: float | None, cost: Cost) -> bool:
    """Whether classes are few enough for as many examples as nobody knows."""
    return classes is not None and classes <= SOME and cost.at_most is None


def _advice(file: File, filled: FilledOneHot) -> str:
    kinds = file.named(filled.axes[-1])
    made = f"`{filled.name}` is `{kinds}` numbers for each"
    if filled.is_label:
        return f"{made} label, all but one of them zero: a sparse loss takes the labels as they are"
    if len(filled.axes) == 2:
        return f"{made} example, most of them zero: `CategoryEncoding` makes them of each batch"
    return f"{made} word, all but one of them zero: an `Embedding` takes the words' numbers"


def _filled(file: File, filled: FilledOneHot) -> Cost:
    axes = [named(file.named(each)) for each in filled.axes]
    text = product([*axes, held(filled.width)]).text
    most = product([*map(file.tf.numbers.of, filled.axes), held(filled.width)]).at_most
    at_most = filled.total if most is None else int(most)
    return Cost(text, filled.total, at_most=at_most, worth=WORTH)


def _classes(file: File, found: OneHot) -> str:
    assert found.classes is not None
    number = file.tf.values.number(found.classes)
    return f"`{file.named(found.classes)}` numbers" if number is None else f"{number:,} numbers"


def _cost(file: File, found: OneHot, hots: OneHots) -> Cost:
    shape, classes = file.tf.values.of(found.labels).shape or (None,), hots.classes(found)
    known = None if None in shape else prod(filter(None, shape))
    total = None if known is None or classes is None else int(known * classes * found.width)
    width = "classes" if classes is None else f"{int(classes):,}"
    width = width if found.classes is None else file.named(found.classes)
    labels = file.named(found.labels)
    is_row = all(axis == 1 for axis in shape[1:])
    rows_of = named(f"len({labels})" if is_row else f"{labels}.size")
    text = product([rows_of, named(width), held(found.width)]).text
    worth = costs.worth(ready=file.tf.of(Ready).is_array(found.labels), otherwise=WORTH)
    most = known or hots.at_most(found)
    at_most = None if most is None or classes is None else int(most * classes * found.width)
    return Cost(text, total, at_most=at_most, worth=worth)


def _fix(file: File, found: tuple[OneHot, ...], hots: OneHots) -> Fix | None:
    if not hots.renames or not hots.is_at_home or not hots.is_only_compared(found):
        return None
    changes = [_renamed(file, each) for each in hots.renames]
    for each in found:
        if not file.tf.values.of(each.labels).is_array:
            return None
        changes.append(_as_numbers(file, each))
    whole = edits.whole(changes)
    return Fix("Leave labels as numbers", whole, Applicability.UNSAFE) if whole else None


def _renamed(file: File, rename: Rename | None) -> Edit | None:
    if rename is None or file.concrete(rename.node) is None:
        return None
    if isinstance(rename.node, ast.Attribute):
        owner = file.source(rename.node.value)
        return edits.replaced(file, rename.node, f"{owner}.{rename.word}")
    text = file.source(rename.node)
    return edits.replaced(file, rename.node, text.replace(str(rename.node.value), rename.word))


def _as_numbers(file: File, found: OneHot) -> Edit | None:
    """The labels themselves; a statement that then gives a name to itself goes."""
    statement = file.tf.tree.parent(found.node)
    if isinstance(statement, ast.Assign) and isinstance(found.labels, ast.Name):
        target = statement.targets[0]
        if isinstance(target, ast.Name) and target.id == found.labels.id:
            return edits.without_statement(file, statement)
    return edits.instead(file, found.node, file.source(found.labels))


RULE = Rule(
    code="TFM503",
    name="one-hot-labels",
    claim=Claim(
        Metric.HOST_PEAK, at_most=0.3, because="a label stays one number, whatever the classes"
    ),
    triggers=(
        "to_categorical one_hot eye identity zeros",
        "CategoricalCrossentropy categorical_crossentropy feed_dict fit evaluate "
        "from_tensor_slices predict",
    ),
    check=check,
)
