"""A pipeline's step whose result is thrown away does nothing.

## What it finds
`images.map(shrink)` as a statement: a step of a tf.data pipeline that nothing takes, while the
pipeline without it goes on being used.

## Why it costs memory
A pipeline does not change; every step gives a new one. Where the lost step is a `take`, a `filter`
or a `map` that makes elements smaller, all that comes after it, `shuffle`, `cache`, a list, holds
more or larger elements than was meant. A lost `cache` costs time: everything is made again in every
epoch. A lost `shuffle`, `batch`, `prefetch` or `repeat` saves memory rather than costing any: there
it is the results that are not what was meant.

## What to do instead
Give the result a name: `images = images.map(shrink)`.

## Fix safety
Unsafe: the step comes into effect. Not offered where the pipeline is no plain name of the same
function, in loops, or where the same step is made again further on.

## When to ignore it
When the statement is there to see whether the step can be made at all. The rule is silent by itself
for that in tests and alone in a `try`, where a notebook shows the result, where the pipeline ends
with the same steps already, and where it is not surely one of tf.data or nothing reads it
afterwards.
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
    Metric,
    Rule,
    Span,
    costs,
    edits,
)
from tfmemlint.facts.library.words import PIPELINE_WORDS
from tfmemlint.light_typing import NamedTuple

MOST_HOPS = 3
"""Places that a pipeline is read from in turn."""


Uses = list[ast.Name | ast.Attribute | ast.Subscript]


class Lost(NamedTuple):
    """A statement whose step nothing takes."""

    statement: ast.Expr
    steps: list[ast.Attribute]
    pipeline: ast.expr
    later: Uses
    """Where the pipeline is used as it was."""


def check(file: File) -> Iterator[Diagnostic]:
    if not file.tf.datasets.any_certain:
        return
    for several in _together(file, [*_lost(file)]):
        first, name = several[0], ast.unparse(several[0].pipeline)
        steps = [each.attr for lost in several for each in lost.steps]
        *most, last = (f"`{each}`" for each in steps)
        lost = f"{', '.join(most)} and {last}" if most else last
        yield Diagnostic(
            file.span(first.statement),
            f"what {lost} {'makes' if len(steps) == 1 else 'make'} of `{name}` is thrown away: "
            f"`{name}` stays as it was",
            _fix(file, several),
            _cost(file, first.pipeline),
        )


def _lost(file: File) -> Iterator[Lost]:
    for statement in file.tf.tree.all(ast.Expr):
        steps, pipeline = _thrown_away(file, statement.value)
        if (
            not isinstance(pipeline, (ast.Name, ast.Attribute, ast.Subscript))
            or not file.tf.datasets.is_dataset(pipeline)
            or not file.tf.datasets.of(statement.value)
            or _is_only_tried(file, statement)
            or _is_made_already(file, steps, pipeline)
            or file.shows(statement)
        ):
            continue
        later = _held_later(file, pipeline, statement, MOST_HOPS)
        if later:
            yield Lost(statement, steps, pipeline, later)


def _is_made_already(file: File, steps: list[ast.Attribute], pipeline: ast.expr) -> bool:
    """Whether a pipeline ends with the same steps as it is: the statement is left over."""
    before = [each.steps[-len(steps) :] for each in file.tf.datasets.of(pipeline)]
    again = [_said(file.tf.tree.parent(each)) for each in steps]
    return bool(before) and all([_said(each.call) for each in made] == again for made in before)


def _said(call: ast.AST | None) -> tuple[str, ...]:
    """A step's method and arguments, whatever it is made of."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return ()
    given = [*call.args, *call.keywords]
    return call.func.attr, *(ast.unparse(each) for each in given)


def _together(file: File, lost: list[Lost]) -> list[list[Lost]]:
    """What is thrown away of one pipeline, statement by statement, is one mistake."""
    groups: list[list[Lost]] = []
    for each in sorted(lost, key=lambda each: each.statement.lineno):
        block, place = file.tf.tree.place(each.statement)
        last = groups[-1][-1] if groups else None
        follows = last is not None and place > 0 and block[place - 1] is last.statement
        if last and follows and ast.unparse(last.pipeline) == ast.unparse(each.pipeline):
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups


def _cost(file: File, pipeline: ast.expr) -> Cost:
    """An element as it stays; what it would be is for the step to say."""
    chain = file.tf.datasets.of(pipeline)[0]
    return costs.cost(file.tf.streams.element(chain, len(chain.steps))._replace(at_most=None))


def _thrown_away(file: File, made: ast.expr) -> tuple[list[ast.Attribute], ast.expr | None]:
    """The methods that make what a statement drops, and of what, be it in a function."""
    steps = _fluent(made)
    if steps and file.tf.datasets.is_dataset(steps[0].value):
        return steps, steps[0].value
    for each in file.tf.sources.same(made)[1:]:
        steps = _fluent(each.node) if isinstance(each.node, ast.Call) else []
        function = each.frame.function if each.frame is not None else None
        if not steps or not isinstance(function, ast.FunctionDef) or len(function.body) != 1:
            continue
        way = file.tf.sources.same(steps[0].value, each.frame)
        names = (one.node for one in way if one.frame is None)
        return steps, next((one for one in names if isinstance(one, ast.Name)), None)
    return [], None


def _fluent(expression: ast.expr) -> list[ast.Attribute]:
    """The methods of `ds.map(f).batch(32)`, in the order in which they are called."""
    found: list[ast.Attribute] = []
    while isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
        found.append(expression.func)
        expression = expression.func.value
    return found[::-1]


def _is_only_tried(file: File, statement: ast.stmt) -> bool:
    """Whether a statement is there for the exception that it may raise."""
    alone = len(file.tf.tree.place(statement)[0]) == 1
    for above in file.tf.tree.ancestors(statement):
        if isinstance(above, ast.Try) and above.handlers and alone and statement in above.body:
            return True
        if isinstance(above, (ast.With, ast.AsyncWith)) and any(
            "raises" in ast.unparse(item.context_expr).lower() for item in above.items
        ):
            return True
    return False


def _held_later(file: File, pipeline: ast.expr, statement: ast.stmt, hops: int) -> Uses:
    """As `_later`, of this expression or of what is put where it is read from."""
    found: Uses = []
    if isinstance(pipeline, (ast.Name, ast.Attribute, ast.Subscript)):
        found = _later(file, pipeline, statement)
    before = file.tf.flow.meant(pipeline) if hops and not found else None
    if isinstance(before, (ast.Name, ast.Attribute, ast.Subscript)) and before is not pipeline:
        return _held_later(file, before, statement, hops - 1)
    return found


def _later(
    file: File, pipeline: ast.Name | ast.Attribute | ast.Subscript, statement: ast.stmt
) -> Uses:
    """Where the pipeline is used afterwards, as it was before the statement."""
    if isinstance(pipeline, ast.Subscript):
        spelled = ast.unparse(pipeline)
        items = file.tf.tree.all(ast.Subscript)
        loaded = (each for each in items if isinstance(each.ctx, ast.Load))
        return [
            each
            for each in loaded
            if each.lineno > statement.lineno and ast.unparse(each) == spelled
        ]
    if isinstance(pipeline, ast.Attribute):
        attributes = file.tf.tree.all(ast.Attribute)
        same = (each for each in attributes if each.attr == pipeline.attr)
        return [each for each in same if each is not pipeline and isinstance(each.ctx, ast.Load)]
    here, again = file.tf.tree.function(statement), bool(file.tf.loops.around(statement))
    made = file.tf.bindings.reaching(pipeline)
    return [
        each
        for binding in made
        for each in file.tf.bindings.readers(binding)
        if each is not pipeline
        and (again or each.lineno > statement.lineno or file.tf.tree.function(each) is not here)
    ]


def _fix(file: File, several: list[Lost]) -> Fix | None:
    changes = [_named(file, each, several) for each in several]
    whole, name = edits.whole(changes), ast.unparse(several[0].pipeline)
    return (
        Fix(f"Go on with what it gives as `{name}`", whole, Applicability.UNSAFE) if whole else None
    )


def _named(file: File, lost: Lost, several: list[Lost]) -> Edit | None:
    """The name before a statement, if nothing makes the same step further on."""
    statement, steps, tree = lost.statement, lost.steps, file.tf.tree
    pipeline = steps[0].value
    if not isinstance(pipeline, ast.Name) or any(tree.loops(statement)):
        return None
    thrown = [each.statement for each in several]
    kept = [each for each in lost.later if tree.statement(each) not in thrown]
    made_later = {method.attr for each in kept for method in _fluent(_grown(file, each))}
    own = file.tf.bindings.home(pipeline.id, statement) is tree.scope(statement)
    if not own or made_later & {each.attr for each in steps}:
        return None
    start = file.span(statement).start
    if file.concrete(statement) is None or file.text[start : start + 1] == "(":
        return None
    return Edit(Span(start, start), f"{pipeline.id} = ")


def _grown(file: File, node: ast.expr) -> ast.expr:
    """`ds.map(f).batch(32)` around `ds`."""
    method = file.tf.tree.parent(node)
    call = file.tf.tree.parent(method) if isinstance(method, ast.Attribute) else None
    is_called = isinstance(call, ast.Call) and call.func is method
    return _grown(file, call) if is_called and isinstance(call, ast.Call) else node


RULE = Rule(
    code="TFM224",
    name="discarded-transform",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.25,
        because="what comes after a step holds what it makes",
        of_host=True,
    ),
    triggers=(PIPELINE_WORDS,),
    check=check,
)
