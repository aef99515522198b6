"""A tensor grows in a loop by being joined to a little more in each round.

## What it finds
`out = tf.concat([out, y], 0)` in a loop that does nothing else with `out`: with the `concat` and
`concatenate` of TensorFlow, Keras and NumPy, `np.append` and `vstack`, in a name or in `self.out`,
from the first round on or from the second. The loop goes over batches, rows or a large range, or is
one loop of a graph; NumPy arrays count where they hold what a model, a pipeline or `next(batches)`
gives, or get the rows of each of many files that the loop reads. Of several arrays that one loop
gathers, the first is named, unless they are fixed.

## Why it costs memory
Each round copies all that `out` holds. Where a gradient is taken, every one of these copies is kept
until then: by the tape in eager code, by the loop itself in a graph, `tf.range` and the like. After
a thousand rounds that is five hundred times what `out` holds in the end. Without a gradient a copy
is dropped when the next one is made: the peak is that of a list and one `concat`, and what grows
with the square of the rounds is the time. A few numbers an example do not show; of features, logits
or images, tens of kilobytes a round make a thousand rounds several times as slow.
A Python loop that tracing writes out costs neither, and the rule is silent there.

## What to do instead
Append to a list and join once, behind the loop. In a loop of a graph, write to a `tf.TensorArray`
and take its `concat()`. Where the size is known beforehand, NumPy needs half: fill
`np.empty((rows, width), np.float32)`. Keras does it all in `model.predict(ds)`.

## Fix safety
Unsafe. The start becomes the list's first element, so values, order and dtype stay where it is a
tensor, or an array of enough axes, no rounds included. But what cannot be joined is told behind the
loop, a gradient through `out` is summed up in another order, a start that is a Python list is not
joined by no rounds, and arrays may be views, of several types, or be written to again. Not offered
in a loop of a graph, where the size of `out` is asked for, where what is added comes first or may
be a variable, an array that is surely written to or a Python number, where only the first round
makes `out`, for `self.out`, or in a `try` that the loop goes on from.

## When to ignore it
When the rounds are few, or what they add is small and no gradient is taken. The rule is silent on
loops that read `out`, as decoding, caches and windows do, on up to 16 rounds, over layers and
levels, on whole numbers in a graph, of which no gradient is taken, where NumPy joins nothing but
one number an example, such as labels or `argmax`, what `argmax` is asked of, what a metric has
come to, or rows of up to 32 numbers, to an array that starts so (`np.empty((0, 10))`), and in
tests.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import (
    Applicability,
    Claim,
    Cost,
    Diagnostic,
    Edit,
    File,
    Fix,
    Law,
    Metric,
    Rule,
    costs,
    edits,
)
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes.amounts import Amount, count, product, total
from tfmemlint_rules._analyses.growing_rounds import GrowingRounds
from tfmemlint_rules._analyses.joins import Joined, Joins
from tfmemlint_rules._analyses.joins_as_lists import JoinsAsLists

FEW = 16
"""Rounds whose copies together are a few times the whole."""


def check(file: File) -> Iterator[Diagnostic]:
    joins = file.tf.of(Joins).all
    told, unfixed, rounds = set[Joined](), set[ast.AST](), file.tf.of(GrowingRounds)
    for joined in joins:
        if joined in told or not rounds.are_many(joined, FEW) or not rounds.copy_tensors(joined):
            continue
        told.update(file.tf.of(Joins).alike(joined))
        fix, loop = _fix(file, joined), joined.loops[0].node
        if fix is None:
            if loop in unfixed:
                continue  # what one loop gathers in several arrays is one mistake
            unfixed.add(loop)
        function, name = ast.unparse(joined.call.func), file.source(joined.target)
        yield Diagnostic(
            file.span(joined.call),
            f"`{function}` copies all of `{name}` in each round of "
            f"`{file.named(joined.loops[0].node)}`{_keeper(file, joined)}",
            fix,
            _cost(file, joined),
        )


def _cost(file: File, joined: Joined) -> Cost:
    """What there is in the last round, twice, or all that a gradient keeps of earlier ones."""
    rounds = product([file.tf.numbers.rounds(each.node) for each in joined.loops])
    each = total([file.tf.arrays.nbytes(added) for added in joined.added])
    last = rounds.times(each)
    twice = count(2).times(last)
    if not file.tf.of(GrowingRounds).may_have_gradient(joined):
        return costs.cost(twice, Law.DATA, last)
    every = last.times(rounds).times(Amount(("1/2",), None, 0.5, 0.5))
    if file.tf.of(GrowingRounds).is_for_gradient(joined):
        return costs.cost(every, Law.SQUARE, last)
    return costs.cost(twice._replace(at_most=every.at_most), Law.DATA, last)


def _keeper(file: File, joined: Joined) -> str:
    """What keeps the copies, as the end of a sentence."""
    if not file.tf.of(GrowingRounds).is_for_gradient(joined):
        return ""
    tape = file.tf.of(Joins).tape(joined)
    if tape is not None:
        return f", and {f'`{tape.name}`' if tape.name else 'the tape'} keeps every copy"
    return ", and a gradient keeps every copy"


def _fix(file: File, joined: Joined) -> Fix | None:
    """A list, whose first element is what the array starts as, and one join behind the loop."""
    loop, joins = joined.loops[-1].node, file.tf.of(Joins).alike(joined)
    start, calls = file.tf.of(JoinsAsLists).start(joined), {_call(file, each) for each in joins}
    call = calls.pop() if len(calls) == 1 else None
    if (
        not joined.is_direct
        or start is None
        or call is None
        or isinstance(loop, ast.comprehension)
        or loop.orelse
    ):
        return None
    if file.tf.tracing.why(loop) is not None:
        return None
    change = edits.whole(
        (
            edits.below(file, loop, f"{ast.unparse(joined.target)} = {call}"),
            edits.instead(file, start.value, f"[{file.source(start.value)}]"),
            *(_appended(file, each) for each in joins),
        )
    )
    new = all(map(file.tf.of(JoinsAsLists).adds_new, joins))
    if change is None or (joined.is_numpy and not new):  # an array that is written to again
        return None
    told = "Append to a list and join once, behind the loop"
    return Fix(told, tuple(sorted(change)), Applicability.UNSAFE)


def _call(file: File, joined: Joined) -> str | None:
    """The join as it stands behind the loop: `tf.concat(out, 0)`, of the user's own words."""
    call, function, name = joined.call, file.source(joined.call.func), ast.unparse(joined.target)
    direct = joined.node.value is call and file.tf.names.qualified(call.func) == joined.function
    if not direct or not joined.appended:
        return None
    if joined.function == "numpy.append":
        axis, module = argument(call, 2, "axis"), function.removesuffix("append")
        along = "None" if axis is None else file.source(axis)
        return f"{module}concatenate({name}, axis={along})" if module != function else None
    given = [("", each) for each in call.args]
    given += [(f"{each.arg}=", each.value) for each in call.keywords]
    listed = [each for _, each in given if isinstance(each, (ast.List, ast.Tuple))]
    others = [each for _, each in given if each not in listed]
    constant = all(isinstance(each, (ast.Constant, ast.UnaryOp)) for each in others)
    if len(listed) != 1 or not constant:
        return None
    texts = [word + (name if each in listed else file.source(each)) for word, each in given]
    return f"{function}({', '.join(texts)})"


def _appended(file: File, joined: Joined) -> Edit | None:
    """`out.append(y)` for `out = tf.concat([out, y], 0)`."""
    if joined.is_numpy and any(isinstance(each, ast.Subscript) for each in joined.added):
        return None  # it may be a view, and a list would hold all that it is a view of
    name, added = ast.unparse(joined.target), [file.source(each) for each in joined.added]
    text = f"{name}.append({added[0]})" if len(added) == 1 else f"{name} += [{', '.join(added)}]"
    return edits.instead(file, joined.node, text)


RULE = Rule(
    code="TFM110",
    name="concat-in-loop",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.2,
        because="the tape keeps what each round adds, not all that was there before",
    ),
    triggers=(
        "append concat concatenate dstack hstack vstack",
        "concat concatenate dstack hstack numpy ops vstack",  # what `append` is one of
        "for while",
    ),
    check=check,
)
