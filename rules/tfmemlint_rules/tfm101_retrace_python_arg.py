"""A Python number that changes with every call has a traced function traced every time.

## What it finds
A call in a loop of a function that `tf.function` traces, with an argument that is a number of
Python's own and another one each time: what `range` or `enumerate` count, what `+=` counts, be it
`self.step`, what a loop makes of itself (`rate = max(1e-5, rate * 0.99)`), what `random` draws,
what is calculated of these or comes out of `float(...)` or `.item()`. Also through functions of the
module that pass the number on, and through `strategy.run(step, args=(x, n))`. And a function that
is another object each time: a method, `model.step`, a lambda or a `partial` that stands in the
call.

## Why it costs memory
Tensors are data to a graph, but a Python number is part of what the graph is made for. For each new
one the function is traced again, and every graph is kept as long as the function lives: hundreds of
kilobytes for each step of a small network, and the time to make them.

## What to do instead
Pass a tensor: `tf.constant(step)`, or loop over `dataset.enumerate()`, whose numbers are tensors.
Give a method or a lambda a name before the loop, and pass that: 20 calls with `model.step` make 20
graphs, with one name for it 1. A method that `tf.function` decorates stays the same by itself.

## Fix safety
Safe where the function does nothing with the number, gives it to a summary as its step, or casts it
to an integer that is counted on with and returned or given to a variable; where it is only called,
with tensors besides; and where it is known to do the same in every trace: what it reads from around
it is bound once and cannot change, but for variables and plain Keras objects. Unsafe elsewhere.
Above all for floating point: with a Python number the graph's optimizer computes in advance what
hangs on it, and divides by multiplying; with a tensor it does not. Of `x / (1 - tf.pow(0.9,
tf.cast(step, tf.float32)))` about a third of the results then differ in the last digit. Also, a
Python number takes the dtype of what it is combined with, and a tensor has its own; and Python's
part of a function is then run for one trace alone. Not offered where Python has to know the number,
as in `if step == 0`, and where an integer is added, multiplied or compared.

## When to ignore it
When there are but a few numbers: up to 8 the rule is silent by itself, as it is where a number says
what the graph looks like (`range(n)`, a shape, an index into a list of layers), in functions with
an `input_signature`, and in tests. NumPy arrays and numbers become tensors by themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Metric, Rule, edits
from tfmemlint.facts.graphs.retraces import Retrace
from tfmemlint.facts.library.makers import given_to
from tfmemlint_rules._analyses.handling import Handled, Handling
from tfmemlint_rules._analyses.new_callables import NewCallables

KEEPS = {
    frozenset[Handled](): "",
    frozenset({Handled.CAST}): "",
    frozenset({Handled.SUMMARY}): "int64",
}
"""What may be done with a number that does as well with a tensor, and its dtype."""


def check(file: File) -> Iterator[Diagnostic]:
    for retrace in file.tf.retraces.all:
        handled = _handled(file, retrace)
        if Handled.STRUCTURE not in handled:
            span = file.span(retrace.argument)
            yield Diagnostic(span, _message(file, retrace), _fix(file, retrace, handled))
    for new in file.tf.of(NewCallables).all:
        given = new.given
        name = getattr(given.function, "name", ast.unparse(given.call.func))
        yield Diagnostic(
            file.span(given.argument),
            f"`{name}` is traced anew for each `{file.named(given.argument)}`, another object at "
            f"every call, in `{file.named(new.loop.node)}`",
        )


def _handled(file: File, retrace: Retrace) -> frozenset[Handled]:
    """What is done with the number by the function, and by those that run instead of it."""
    several = (retrace.function, *file.tf.functions.overrides(retrace.function))
    return frozenset[Handled]().union(
        *(file.tf.of(Handling).of(each, retrace.parameter) for each in several)
    )


def _message(file: File, retrace: Retrace) -> str:
    number = ast.unparse(retrace.argument)
    name = getattr(retrace.function, "name", ast.unparse(retrace.call.func))
    values = f"each value of `{number}`, a Python number, in `{file.named(retrace.loop.node)}`"
    return f"`{name}` is traced anew for {values}"


def _fix(file: File, retrace: Retrace, handled: frozenset[Handled]) -> Fix | None:
    tf = file.tf.names.module("tensorflow", retrace.call)
    dtype, safe = KEEPS.get(handled, ""), handled in KEEPS
    operand = retrace.whole and Handled.ARITHMETIC in handled
    if tf is None or (not safe and (operand or Handled.BRANCH in handled)):
        return None
    kind = f", {tf}.{dtype}" if dtype and retrace.whole else ""
    text = f"{tf}.constant({file.source(retrace.argument)}{kind})"
    edit = edits.replaced(file, retrace.argument, text)
    sure = safe and _is_steady(file, retrace) and _stays_whole(file, retrace, handled)
    safety = Applicability.SAFE if sure else Applicability.UNSAFE
    return Fix("Pass a tensor", (edit,), safety)


def _is_steady(file: File, retrace: Retrace) -> bool:
    """Whether one trace does what one for each number did."""
    steady, extent = file.tf.steady, file.tf.loops.extent
    rounds = {extent(each) for each in file.tf.changing_numbers.run_by(retrace.call)}
    several = (retrace.function, *file.tf.functions.overrides(retrace.function))
    return all(
        steady.is_steady(each) and all(steady.leaves_alone(code, each) for code in rounds)
        for each in several
    )


def _stays_whole(file: File, retrace: Retrace, handled: frozenset[Handled]) -> bool:
    """Whether no number that comes out has another last digit: nothing is left to be folded.

    And whether the function is called, with tensors besides, and nothing else is done with it.
    """
    sure, function = file.tf.sure_traced, retrace.function
    calls = sure.calls(function)
    if calls is None or not sure.keeps_no_graphs:
        return False
    if Handled.CAST in handled and not sure.keeps_whole(function, retrace.parameter):
        return False
    return all(
        sure.are_tensors(
            each
            for each in given_to(call)
            if file.tf.callers.argument(call, function, retrace.parameter) is not each
        )
        for call in calls
    )


RULE = Rule(
    code="TFM101",
    name="retrace-python-arg",
    claim=Claim(Metric.TRACES, at_most=0.05, because="one graph does for every number"),
    triggers=("function", "for while"),
    check=check,
)
