"""A pipeline that is batched twice gives batches of batches.

## What it finds
A `batch` of what is batched already, by the same size or by a reader such as
`image_dataset_from_directory`, with no `map` between the two, be it in helper functions.

## Why it costs memory
`batch(32)` of batches of 32 makes one element of 1,024 examples. Whatever takes it holds the
activations of all of them at once, and `prefetch`, `shuffle` and `cache` behind it hold elements
that are as large.

## What to do instead
Batch once. Where both were meant, for sequences cut from a text or for several devices, give the
two sizes names of their own.

## Fix safety
Unsafe: elements lose a dimension and become many more. Not offered where the first batches have
other uses, since then the second one may have been meant for another pipeline, and where they are
shuffled: without the second `batch`, that would be an order of batches, not of examples.

## When to ignore it
When batches of batches are meant. The rule is silent by itself where the sizes differ or have names
of their own, where a `map` stands between (the first `batch` then may cut sequences), and where the
elements are batched or taken apart again afterwards, or taken by nobody.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Cost, Diagnostic, File, Fix, Metric, Rule, costs, edits
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.library.words import PIPELINE_WORDS
from tfmemlint.facts.pipelines.chains import BATCHING, Chain, From, Step
from tfmemlint.facts.syntax.nodes import same_code

KEEPS_ELEMENTS = methods.having(methods.KEEPS, but=methods.ADDS | methods.CHOOSES)


def check(file: File) -> Iterator[Diagnostic]:
    found: dict[ast.Call, tuple[Step | None, Step]] = {}
    for chain in file.tf.datasets.chains:
        for first, second in _pairs(file, chain):
            if _is_same_size(file, first, second):
                found[second.call] = first, second
    for first, second in found.values():
        outer = second.argument("batch_size")
        inner = first.argument("batch_size") if first else None
        if outer is None or second.call in file.tf.further.regrouped:
            continue
        if _is_dropped(file, second):
            continue
        of = f"batches of `{ast.unparse(inner)}`" if inner else "batches of the reader"
        yield Diagnostic(
            file.step(second.call),
            f"`{second.method}` makes one element of up to `{ast.unparse(outer)}` {of}",
            _fix(file, second),
            _cost(file, second),
        )


def _is_dropped(file: File, step: Step) -> bool:
    """Whether nothing takes what a statement makes: there is no such element."""
    statement = file.tf.tree.statement(step.call)
    made = statement.value if isinstance(statement, ast.Expr) else None
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
        if made is step.call:
            return True
        made = made.func.value if made.func.attr in methods.METHODS else None
    return False


def _cost(file: File, second: Step) -> Cost:
    """What one element holds; what a model makes of it in a step comes on top of that."""
    streams = file.tf.streams
    chain, place = streams.around(second)
    held = streams.element(chain, place + 1)._replace(at_most=None)
    return costs.cost(held, after=streams.element(chain, place))


def _pairs(file: File, chain: Chain) -> Iterator[tuple[Step | None, Step]]:
    """Each step that batches batches, with the step that made them; None for a reader."""
    batch: Step | None = None
    batched = file.tf.read_batches.size(chain.source) is not None
    plain = chain.source.kind is From.RANGE  # numbers, as in examples of what `batch` does
    for step in chain.steps:
        if step.method in BATCHING:
            if batched and not plain:
                yield batch, step
            batch, batched = step, True
        elif step.method not in KEEPS_ELEMENTS:
            batch, batched, plain = None, False, False


def _is_same_size(file: File, first: Step | None, second: Step) -> bool:
    """Whether one number or expression stands for the sizes of both."""
    inner = first.argument("batch_size") if first else None
    outer = second.argument("batch_size")
    if first is None or inner is None or outer is None:
        return first is None
    if _have_own_names(file, inner, outer):
        return False
    number = file.tf.values.number(inner, first.frame)
    if number is not None or inner is outer:  # one call may be given two sizes
        return number == file.tf.values.number(outer, second.frame) and number not in (None, 1)
    attributes = isinstance(inner, ast.Attribute) and same_code(inner, outer)
    return attributes or file.tf.bindings.same(inner, outer)


def _have_own_names(file: File, inner: ast.expr, outer: ast.expr) -> bool:
    """Whether two sizes that may be equal are constants of different names: both were meant."""
    names = [each for each in (inner, outer) if isinstance(each, ast.Name)]
    given = [file.tf.bindings.only(each) for each in names]
    literal = [each is not None and isinstance(each.value, ast.Constant) for each in given]
    return len(names) == 2 and all(literal) and names[0].id != names[1].id


def _fix(file: File, second: Step) -> Fix | None:
    """Without the second `batch`, if every pipeline that comes to it is one of batches."""
    callee = second.call.func
    taken = callee.value if isinstance(callee, ast.Attribute) else None
    if isinstance(taken, ast.Name):
        binding = file.tf.bindings.only(taken)
        if binding is None or file.tf.bindings.readers(binding) != [taken]:
            return None
    through = [each for each in file.tf.datasets.chains if second.call in _calls(each)]
    if not all(second.call in [step.call for _, step in _pairs(file, each)] for each in through):
        return None
    if any(_shuffles_between(each, second.call) for each in through):
        return None
    edit = edits.unchained(file, second.call)
    return Fix("Batch once", (edit,), Applicability.UNSAFE) if edit else None


def _shuffles_between(chain: Chain, second: ast.Call) -> bool:
    """Whether what a `batch` in sight makes is shuffled: then it is that one that should go."""
    before = chain.methods[: _calls(chain).index(second)]
    first = max((at for at, method in enumerate(before) if method in BATCHING), default=len(before))
    return "shuffle" in before[first:]


def _calls(chain: Chain) -> list[ast.Call]:
    return [step.call for step in chain.steps]


RULE = Rule(
    code="TFM226",
    name="batched-twice",
    claim=Claim(Metric.DEVICE_PEAK, at_most=0.2, because="a step holds one batch, not many"),
    triggers=(
        PIPELINE_WORDS,
        "batch padded_batch ragged_batch",
    ),
    check=check,
)
