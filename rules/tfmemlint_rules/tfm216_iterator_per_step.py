"""`next(iter(dataset))` in a loop starts the pipeline anew for every element.

## What it finds
`next(iter(ds))`, `iter(ds).get_next()` and `next(ds.as_numpy_iterator())` in a loop in which `ds`
does not change.

## Why it costs memory
Every round makes an iterator with buffers of its own, fills them for one element and drops them:
`shuffle(n)` draws `n` elements each time, caches never come to be whole. The peak is that of one
iterator; time is what is lost, and the data: each round begins at the beginning, so without a
`shuffle` all of them get the same element.

## What to do instead
Make the iterator before the loop and take the next element of it in every round, or go over the
data set itself: `for batch in ds.take(steps)`.

## Fix safety
Unsafe: the rounds get one element after another where each got a first one. Offered for loops, not
for comprehensions, where the data set is the same in every round and the call fits on its line.

## When to ignore it
When the first element is what every round wants. The rule is silent by itself in loops over epochs,
which may look at one batch after each, in those of up to 32 rounds, where a remainder picks some of
them (`if step % 500 == 0`), for one element or batch that was taken, and in traced code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, Edit, File, Fix, Metric, Rule, Span, edits
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.library.words import PIPELINE_WORDS
from tfmemlint.facts.pipelines.consumers import End, Into

FEW = 32
STEPPING = frozenset(
    {Over.ARRAY, Over.CONDITION, Over.DATASET, Over.FOREVER, Over.OFFSETS, Over.RANGE, Over.UNKNOWN}
)


def check(file: File) -> Iterator[Diagnostic]:
    for end in file.tf.consumers.gone_over:
        if end.into is not Into.ITERATOR or not isinstance(end.at, ast.Call):
            continue
        taken = _next(file, end.at)
        loop = _loop(file, end) if taken is not None else None
        if taken is None or loop is None or file.tf.tracing.why(taken) is not None:
            continue
        if any("take" in chain.methods for chain in end.chains):
            continue
        yield Diagnostic(
            file.span(taken),
            f"`{ast.unparse(end.at)}` starts the pipeline anew in every round, for one element",
            _fix(file, end, loop),
        )


def _next(file: File, iterator: ast.Call) -> ast.Call | None:
    """The call that takes one element of an iterator just made, which nothing else reads."""
    taken = _takes(file, iterator)
    if taken is not None:
        return taken
    carried = file.tf.objects.carried(iterator) or ()
    reads = [each for each in carried if not isinstance(file.tf.tree.parent(each), ast.Assign)]
    once = len(reads) == 1 and _runs_with(file, reads[0], iterator)
    return _takes(file, reads[0]) if once else None


def _runs_with(file: File, read: ast.expr, iterator: ast.Call) -> bool:
    """Whether an iterator is read as often as it is made, be it in a function called for that."""
    tree, around = file.tf.tree, file.tf.loops.around
    function = tree.function(iterator)
    at: list[ast.expr] = [read]
    inner = tree.function(read)
    if inner is not None and inner is not function and not around(read):
        at = [*file.tf.callers.calls_of(inner)]
    return len(at) == 1 and all(
        tree.function(each) is function and around(each) == around(iterator) for each in at
    )


def _takes(file: File, iterator: ast.expr) -> ast.Call | None:
    """The call that takes an element of an iterator where it stands."""
    above = file.tf.tree.parent(iterator)
    if isinstance(above, ast.Attribute) and above.attr == "get_next":
        above = file.tf.tree.parent(above)
        return above if isinstance(above, ast.Call) else None
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Name):
        return above if above.func.id == "next" and above.args[:1] == [iterator] else None
    return None


def _loop(file: File, end: End) -> Loop | None:
    """The outermost loop around an iterator whose rounds are steps and leave the data set alone.

    Be it around a call of the function that makes the iterator of what it is given.
    """
    loops, function = file.tf.loops, file.tf.tree.function(end.at)
    if function is None or loops.around(end.at):
        return _stepping(file, end.at, end.dataset)
    for call in file.tf.callers.calls_of(function):
        frame = file.tf.flow.enter(call, None) if loops.around(call) else None
        root = _root(end.dataset)[0]
        way = file.tf.sources.same(root, frame) if frame is not None else ()
        given = [each.node for each in way if each.frame is None]
        if given and isinstance(given[0], ast.expr):
            found = _stepping(file, call, given[0])
            if found is not None:
                return found
    return None


def _stepping(file: File, at: ast.AST, dataset: ast.expr) -> Loop | None:
    loops, (root, given) = file.tf.loops, _root(dataset)
    found: Loop | None = None
    many = False
    for loop in loops.around(at):
        comprehension = isinstance(loop.node, ast.comprehension)
        if comprehension or loop.over not in STEPPING or loops.is_seldom(at, loop):
            break
        if not loops.unvarying(root, loop) or any(
            not loops.invariant(each, loop) for each in given
        ):
            break
        found, many = loop, many or loop.trips is None or loop.trips > FEW
    return found if many else None


def _root(dataset: ast.expr) -> tuple[ast.expr, list[ast.expr]]:
    """What a fluent chain of calls begins with, and what its calls are given."""
    given: list[ast.expr] = []
    while isinstance(dataset, ast.Call) and isinstance(dataset.func, ast.Attribute):
        given += given_to(dataset)
        dataset = dataset.func.value
    return dataset, given


def _fix(file: File, end: End, loop: Loop) -> Fix | None:
    """The iterator of a repeated pipeline, made before the loop."""
    made, at = end.at, loop.node
    if isinstance(at, ast.comprehension) or not isinstance(made, ast.Call):
        return None
    if not file.tf.tree.inside(made, at) or _takes(file, made) is None:
        return None
    if not file.tf.loops.invariant(end.dataset, loop):
        return None
    lines = edits.whole_lines(file, at)
    if lines is None or made.lineno != made.end_lineno:
        return None
    name = edits.fresh(file, _named_after(end.dataset))
    repeats = all("repeat" in chain.methods for chain in end.chains)
    dataset = file.source(end.dataset) + ("" if repeats else ".repeat()")
    span, whole = file.span(end.dataset), file.span(made)
    text = file.text[whole.start : span.start] + dataset + file.text[span.end : whole.end]
    line = f"{edits.margin(file, at)}{name} = {text}{edits.newline(file)}"
    changes = Edit(Span(lines.start, lines.start), line), edits.replaced(file, made, name)
    return Fix("Make the iterator before the loop", changes, Applicability.UNSAFE)


def _named_after(dataset: ast.expr) -> str:
    """A name that iterators of two data sets do not share."""
    word = dataset.attr if isinstance(dataset, ast.Attribute) else getattr(dataset, "id", "")
    return f"{word}_iterator" if word else "iterator"


RULE = Rule(
    code="TFM216",
    name="iterator-per-step",
    claim=Claim(Metric.STEP_TIME, at_most=0.2, because="buffers are filled once, not every step"),
    triggers=(PIPELINE_WORDS, "iter as_numpy_iterator", "for while"),
    check=check,
)
