"""A pipeline is made of an array that was turned into a list of Python's numbers.

## What it finds
`from_tensor_slices(x.tolist())`.

## Why it costs memory
A number of Python's own takes 24 bytes, and the list 8 more for it, where the array took 4 or 8.

## What to do instead
Give the array itself.

## Fix safety
Unsafe: a list of floats becomes float32, whatever the array was. Not offered over several lines.

## When to ignore it
Never.
"""

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, Edit, File, Fix, Metric, Rule, Span

SLICES = frozenset({"tensorflow.data.Dataset.from_tensor_slices"})


def check(file: File) -> Iterator[Diagnostic]:
    for call, _ in file.tf.names.calls(SLICES):
        match call.args:
            case [ast.Call(func=ast.Attribute(value=array, attr="tolist"), args=[]) as made]:
                gone = Span(file.span(array).end, file.span(made).end)
                fix = Fix("Give the array", (Edit(gone, ""),), Applicability.UNSAFE)
                whole = "\n" not in file.source(gone)  # a comment may stand between lines
                message = "a list takes several times the memory of its array"
                yield Diagnostic(file.span(made), message, fix if whole else None)


RULE = Rule(
    code="ACM101",
    name="list-of-array",
    claim=Claim(Metric.HOST_PEAK, at_most=0.5, because="the array is a fourth of the list"),
    triggers=("tolist", "from_tensor_slices"),
    check=check,
)
