"""Tensors are stacked only to be added up.

## What it finds
`tf.reduce_sum(tf.stack(parts), axis=0)` and `tf.reduce_mean(tf.stack(parts), axis=0)` of a list
that a loop or a comprehension fills with tensors, the same without `tf.stack`, since TensorFlow
stacks a list by itself, and `tf.stack([part] * n)` of one tensor.

## Why it costs memory
The stack is a copy of all the tensors, and stands beside them until it is added up: twice the list.
Of one tensor, repeated, it makes `n` copies, and a gradient `n` more; the loop that some have it
replace takes a hundredth of that.

## What to do instead
`tf.add_n(parts)` adds up what is in a list without a copy. `part * n` needs no list at all. Best is
to add each part to a sum when it is made, and keep none of them.

## Fix safety
Unsafe: numbers are added in another order, and round differently; a mean of integers is a float
then. Not offered for a mean of a comprehension, whose length has no name, and for `keras.ops`.

## When to ignore it
When the stack is small. The rule is silent by itself for losses and other single numbers, where the
stack, or the list, is used for something else, too, where `len(parts) == 1` is asked for, so that
there are hardly ever more, for any other axis, for up to eight tensors, or as many as there are
levels, heads or models in a list of unknown length, and for a few tensors listed one by one, or
made of what is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Cost, Diagnostic, File, Fix, Metric, Rule, edits
from tfmemlint.facts.flow.loops import Over
from tfmemlint.facts.sizes.amounts import named
from tfmemlint_rules._analyses.stack_reductions import StackReduction, StackReductions

FEW = 8
"""Tensors, of which a copy is worth no word: no more than so many."""
OF_DATA = frozenset({Over.ARRAY, Over.CONDITION, Over.DATASET, Over.FOREVER, Over.OFFSETS})
BINDS_TIGHTER = (ast.Attribute, ast.Call, ast.Constant, ast.Name, ast.Subscript)
STANDS_ALONE = (ast.Assign, ast.AugAssign, ast.Call, ast.Expr, ast.Return)


def check(file: File) -> Iterator[Diagnostic]:
    for found in file.tf.of(StackReductions).all:
        if found.repeated is None and not _may_be_many(file, found.listed):
            continue
        purpose = "take the mean" if found.is_mean else "add up"
        stacked = f"`{file.named(found.stack or found.call)}`"
        if found.repeated is not None:
            one, times = found.repeated
            message = f"{stacked} holds `{file.named(one)}` {_times(file, times)}, to {purpose}"
        else:
            listed = file.named(found.listed)
            message = f"{stacked} copies all tensors of `{listed}`, to {purpose}"
        yield Diagnostic(file.span(found.call), message, _fix(file, found), _cost(file, found))


def _may_be_many(file: File, listed: ast.expr) -> bool:
    """Whether there are more tensors than a handful of levels, heads or models, or of data."""
    long = file.tf.numbers.length(listed).value
    if long is not None:
        return long > FEW
    made = listed if isinstance(listed, ast.ListComp) else file.tf.bindings.assigned(listed)
    if isinstance(made, ast.ListComp):
        loops = [file.tf.loops.loop(each) for each in made.generators]
    else:
        loops = [each for growth in file.tf.growths.of(listed) for each in growth.loops]
    return any(
        each.trips > FEW if each.trips is not None else each.over in OF_DATA for each in loops
    )


def _times(file: File, times: ast.expr) -> str:
    number = file.tf.values.number(times)
    return f"`{file.named(times)}` times" if number is None else f"{number:,} times"


def _cost(file: File, found: StackReduction) -> Cost:
    if found.repeated is None:
        return Cost(f"`{file.named(found.listed)}`")
    one, times = found.repeated
    number, size = file.tf.values.number(times), file.tf.values.of(one).nbytes
    total = int(number * size) if number is not None and size is not None else None
    text = named(file.named(times)).times(named(file.named(one))).text
    return Cost(text, total, at_most=total)


def _fix(file: File, found: StackReduction) -> Fix | None:
    text = _instead(file, found) if found.is_written_here else None
    if text is None or file.concrete(found.call) is None:
        return None
    if " " in text and not isinstance(file.tf.tree.parent(found.call), STANDS_ALONE):
        text = f"({text})"
    changes = [edits.instead(file, found.call, text)]
    if found.assigned is not None:
        changes.append(edits.without_statement(file, found.assigned))
    whole = edits.whole(changes)
    return Fix("Add them up as they are", whole, Applicability.UNSAFE) if whole else None


def _instead(file: File, found: StackReduction) -> str | None:
    if found.repeated is not None:
        one, times = (_tight(file, each) for each in found.repeated)
        return one if found.is_mean else f"{one} * {times}"
    tf = file.tf.names.module("tensorflow", found.call)
    if not found.of_tensorflow or tf is None:
        return None
    listed = file.source(found.listed)
    if not found.is_mean:
        return f"{tf}.add_n({listed})"
    named = isinstance(found.listed, ast.Name)
    return f"{tf}.add_n({listed}) / len({listed})" if named else None


def _tight(file: File, node: ast.expr) -> str:
    text = file.source(node)
    return text if isinstance(node, BINDS_TIGHTER) else f"({text})"


RULE = Rule(
    code="TFM508",
    name="stack-then-reduce",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.55, because="the tensors are added up where they are"
    ),
    triggers=("mean reduce_mean reduce_sum sum", "append extend for stack"),
    check=check,
)
