"""A list of a data set holds all of its elements at once.

## What it finds
`list(ds)`, `[x for x in ds]` and `zip(*ds)` of a tf.data pipeline: to count its elements, to go
over them, to stack them, or to keep them. Also `next(iter(ds.batch(n)))` of 10,000 elements or
more, or of all there are, which is the same in one piece. Pipelines are followed through names and
helper functions.

## Why it costs memory
A pipeline holds an element or a few, and makes the next when it is asked to. A list of its elements
holds them all, decoded and batched as they are; `np.array` or `tf.stack` of the list copies them
once more.

## What to do instead
Go over the pipeline itself: a loop, a metric, `model.predict(ds)`. `sum(1 for _ in ds)` counts, and
`ds.cardinality()` tells the number at once where it is known.

## Fix safety
Safe where elements are counted, by Python's own `len` and `list`. Where a loop goes over them it is
safe if they are surely the same when they are made one by one, and cannot fail: made of numbers or
arrays, by functions that only compute and read nothing that can change. Unsafe if not: a `map` may
use what the loop changes, and an error would come in the midst of the loop. Not offered where a
list is kept or stacked, or given a name within the expression.

## When to ignore it
When all of the data is to be in memory anyway, as for a nearest-neighbour search. The rule is
silent by itself for up to 1,024 elements of unknown size that are taken, numbered or written down,
for file names, where a comprehension or a `map` keeps one part of each element, such as the labels,
where records, rows, words, be it by the numbers that a `TextVectorization` gives them, or what else
is not known to be large are kept as a list, in tests, and where a notebook shows the list. Hidden
are less than 64 MiB of so few elements, and less than 256 MB of a ready-made data set, such as
MNIST.
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
    Law,
    Metric,
    Rule,
    costs,
    edits,
)
from tfmemlint.facts.library.words import PIPELINE_WORDS
from tfmemlint.facts.pipelines.chains import BATCHING, Chain, From
from tfmemlint.facts.pipelines.consumers import End, Into
from tfmemlint.facts.pipelines.overlaps import Overlaps
from tfmemlint.facts.sizes.ready import Ready
from tfmemlint.facts.syntax.nodes import called, holds

FEW = 1024
MANY = 10_000
"""Elements in a batch that is taken alone: as many as a test set has, and no batch for training."""
SMALL = 64 << 20
"""Bytes of few elements."""
LARGE = 1024
"""Bytes: a list of smaller elements is as good a place for them as any."""
KEEPS = frozenset({"cache", "prefetch", "repeat", "with_options"})


def check(file: File) -> Iterator[Diagnostic]:
    yield from _at_once(file)
    for end in file.tf.consumers.gone_over:
        made = _list(file, end)
        if made is None or any(_is_small(file, chain) for chain in end.chains):
            continue
        above, data = file.tf.tree.parent(made), ast.unparse(end.dataset)
        held = f"a list holds every element of {f'`{data}`' if len(data) <= 40 else 'the pipeline'}"
        if isinstance(made, ast.Call) and called(made) == "zip":
            if all(_is_whole(file, each) for each in end.chains):
                message = held.replace("a list", "`zip`", 1) + " at once"
                yield Diagnostic(file.span(made), message, None, _cost(file, end))
        elif isinstance(above, ast.Call) and called(above) == "len":
            change = edits.reduced(file, above, _iterated(made), "sum(1 for _ in ", ")")
            counts = _means_builtins(file, above, made) and not _binds(_iterated(made))
            safety = Applicability.SAFE if counts else Applicability.UNSAFE
            change = None if _binds(_iterated(made)) else change
            fix = Fix("Count without a list", (change,), safety) if change else None
            yield Diagnostic(file.span(made), f"{held} to count them", fix, _cost(file, end))
        elif isinstance(above, ast.For) and isinstance(made, ast.Call):
            change = edits.reduced(file, made, _iterated(made))
            safety = _safety(file, end, made)
            fix = Fix("Do without the list", (change,), safety) if change else None
            yield Diagnostic(file.span(made), f"{held} to go over them", fix, _cost(file, end))
        elif not isinstance(above, ast.Expr) and all(_is_much(file, each) for each in end.chains):
            yield Diagnostic(file.span(made), f"{held} at once", None, _cost(file, end))


def _cost(file: File, end: End) -> Cost:
    """All elements, and one of them at a time."""
    streams, chain = file.tf.streams, end.chains[0]
    one = streams.element(chain, len(chain.steps))
    otherwise = SMALL if _are_few(file, chain) else 0
    worth = costs.worth(ready=file.tf.of(Ready).is_chain(chain), otherwise=otherwise)
    return costs.cost(streams.all(chain), Law.DATA, one, worth)


def _at_once(file: File) -> Iterator[Diagnostic]:
    """`next(iter(ds.batch(n)))`, where that is all of the data."""
    for end in file.tf.consumers.gone_over:
        above = file.tf.tree.parent(end.at)
        taken = isinstance(above, ast.Call) and called(above) == "next"
        taken = taken or (isinstance(above, ast.Attribute) and above.attr == "next")
        if end.into is Into.ITERATOR and taken and end.chains:
            places = [_holds_all(file, chain) for chain in end.chains]
            if all(place is not None for place in places):
                first = places[0] or 0
                call = end.chains[0].calls[first]
                said = "one batch holds every element of the pipeline at once"
                cost = costs.cost(file.tf.streams.element(end.chains[0], first + 1), Law.DATA)
                yield Diagnostic(file.step(call), said, None, cost)


def _holds_all(file: File, chain: Chain) -> int | None:
    """Where a pipeline is batched, if its first batch holds all there is, and that is much."""
    places = [at for at, step in enumerate(chain.steps) if step.method in BATCHING]
    if len(places) != 1 or not KEEPS.issuperset(chain.methods[places[0] + 1 :]):
        return None
    step = chain.steps[places[0]]
    size = file.tf.values.number(step.argument("batch_size"), step.frame)
    there = file.tf.lengths.at_most(chain, places[0])
    if size is None:
        asked = _is_all(file, step.argument("batch_size"))
        return (
            places[0]
            if asked and _is_much(file, chain._replace(steps=chain.steps[: places[0]]))
            else None
        )
    return places[0] if size >= (MANY if there is None else max(there, FEW + 1)) else None


def _is_all(file: File, size: ast.expr | None) -> bool:
    """Whether a pipeline is asked how many elements there are: `len(ds)`, `ds.cardinality()`."""
    made = None if size is None else file.tf.flow.same(size)[-1]
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
        if made.func.attr == "cardinality":
            return file.tf.datasets.is_dataset(made.func.value)
        made = made.func.value if made.func.attr == "numpy" else None
    if isinstance(made, ast.Call) and called(made) == "len" and len(made.args) == 1:
        return file.tf.datasets.is_dataset(made.args[0])
    return isinstance(made, ast.Attribute) and made.attr == "num_examples"


def _safety(file: File, end: End, made: ast.Call) -> Applicability:
    """Whether elements are the same when each is made after the loop has dealt with the last.

    And whether each can surely be made: an error would be told in the midst of the loop.
    """
    sure = file.tf.sure_pipelines
    same = all(sure.is_steady(chain) and sure.never_fails(chain) for chain in end.chains)
    same = same and bool(end.chains) and _means_builtins(file, made)
    return Applicability.SAFE if same else Applicability.UNSAFE


def _means_builtins(file: File, *calls: ast.Call | ast.ListComp) -> bool:
    """Whether `len`, `list` and `sum` are Python's own, here and wherever the file names them."""
    called = [each.func for each in calls if isinstance(each, ast.Call)]
    free = not file.tf.bindings.named("sum") and not file.tf.imports.may_touch("sum")
    return free and all(map(file.tf.constants.is_builtin, called))


def _binds(expression: ast.expr) -> bool:
    """Whether an expression does what none may do within a comprehension's iterable."""
    unfit = (ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)
    return holds(unfit, expression)


def _list(file: File, end: End) -> ast.Call | ast.ListComp | None:
    """The list of a pipeline's elements as they are, if that is what it ends in."""
    tree = file.tf.tree
    if end.into is Into.LIST and isinstance(end.at, ast.Call):
        return end.at if called(end.at) in ("list", "tuple", "zip") else None
    above = tree.parent(end.dataset)
    if isinstance(above, ast.Attribute):  # `list(ds.as_numpy_iterator())`
        iterator = tree.parent(above)
        above = tree.parent(iterator) if iterator is not None else None
    if end.into is Into.LOOP and isinstance(above, ast.Call) and called(above) == "list":
        return above
    made = tree.parent(end.at)
    if not isinstance(end.at, ast.comprehension) or not isinstance(made, ast.ListComp):
        return None
    counted = isinstance(tree.parent(made), ast.Call) and len(made.generators) == 1
    whole = not end.at.ifs and (counted or end.at.iter is end.dataset)
    return made if whole and _keeps_element(made) else None


def _keeps_element(made: ast.ListComp) -> bool:
    """Whether a comprehension keeps all of an element, or the inputs of inputs and targets."""
    kept, target = ast.unparse(made.elt).replace(".numpy()", ""), made.generators[0].target
    first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
    inputs = isinstance(first, ast.Name)
    return inputs and kept in (ast.unparse(first), ast.unparse(target))


def _iterated(made: ast.Call | ast.ListComp) -> ast.expr:
    return made.args[0] if isinstance(made, ast.Call) else made.generators[0].iter


def _is_small(file: File, chain: Chain) -> bool:
    """Whether few elements of unknown size come out of a pipeline, or into it; or file names do."""
    if file.tf.streams.all(chain).at_most is not None:
        return False
    return file.tf.elements.are_names(chain) or _are_few(file, chain)


def _are_few(file: File, chain: Chain) -> bool:
    most = (file.tf.lengths.at_most(chain), file.tf.lengths.at_most(chain._replace(steps=())))
    return any(bound is not None and bound <= FEW for bound in most)


def _is_much(file: File, chain: Chain) -> bool:
    """Whether whole elements are kept that are large, as pictures are: others are wanted."""
    one = file.tf.streams.element(chain, len(chain.steps))
    large = (one.value or 0) >= LARGE if one.of_bytes and one.value is not None else None
    if large is None:
        last = [each for each in chain.steps if each.method == "map"][-1:]
        made = file.tf.of(Overlaps).works(chain._replace(steps=tuple(last)))
        large = made or (chain.source.kind is From.CATALOGUE and not last)
    return large and _is_whole(file, chain)


def _is_whole(file: File, chain: Chain) -> bool:
    """Whether the elements of a pipeline in sight are all there is to them, not just labels."""
    if chain.source.kind is From.UNSEEN:
        return False
    for step in chain.steps:
        if step.method == "map":
            function = file.tf.datasets.function(step)
            body = function.body if isinstance(function, ast.Lambda) else None
            if isinstance(body, (ast.Name, ast.Subscript)) and not _is_first(function, body):
                return False
    return True


def _is_first(function: ast.AST | None, kept: ast.expr) -> bool:
    """Whether `lambda x, y: x` keeps the inputs of inputs and targets."""
    given = function.args.args if isinstance(function, ast.Lambda) else []
    return len(given) > 1 and isinstance(kept, ast.Name) and kept.id == given[0].arg


RULE = Rule(
    code="TFM214",
    name="materialized-dataset",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.15,
        because="one element is held at a time",
        grows=("linear", "constant"),
    ),
    triggers=(PIPELINE_WORDS, "for list next tuple zip"),
    check=check,
)
