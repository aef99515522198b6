"""How the weight of a program grows with the constant it marks `# scales`."""

from __future__ import annotations

import ast
import math
from typing import NamedTuple

from tfmemlint.lines import Lines
from tfmemlint.verify.marks import line_numbers, marked_lines

MARK = "scales"
FACTORS = (0.5, 1.0, 2.0)
"""Whether a claim holds is told from the first two: twice the data takes longer than both."""


class ScalingError(Exception):
    """The program does not say what sets the amount of its data; the message says why."""


class Scaling(NamedTuple):
    """What the two programs weigh, by the metric that is claimed, at the FACTORS or the first."""

    bad: tuple[float, ...]
    fixed: tuple[float, ...]


def scaled(text: str, factor: float) -> str:
    """The program with the constant on its line `# scales` multiplied."""
    value = _marked_value(text)
    lines = Lines(text)
    start = lines.offset(value.lineno, value.col_offset)
    end = lines.offset(value.end_lineno or 0, value.end_col_offset or 0)
    number = value.value if isinstance(value, ast.Constant) else None
    if isinstance(number, bool) or not isinstance(number, int) or number <= 0:
        raise ScalingError(f"what is marked `# {MARK}` is not one whole number above zero")
    return f"{text[:start]}{max(1, round(number * factor))}{text[end:]}"


def exponent(weights: tuple[float, ...], resolution: float) -> float:
    """The power of its data that a program grows with, from its weights at the FACTORS.

    Weights under the meter's resolution count as that: noise on nothing is not growth.
    """
    least, *_, most = (max(weight, resolution) for weight in weights)
    return math.log(most / least) / math.log(FACTORS[len(weights) - 1] / FACTORS[0])


def order(power: float) -> str:
    """An exponent in a word."""
    orders = ("constant", "linear", "quadratic", "cubic or steeper")
    return orders[min(max(round(power), 0), len(orders) - 1)]


def _marked_value(text: str) -> ast.expr:
    marked = marked_lines(text, MARK)
    values = [
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        and node.value is not None
        and marked & line_numbers(node)
    ]
    if len(values) != 1:
        raise ScalingError(f"{len(values) or 'no'} assignments are marked `# {MARK}`; it takes one")
    return values[0]
