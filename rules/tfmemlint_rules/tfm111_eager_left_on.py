"""A debugging mode that is left on: everything runs without graphs.

## What it finds
`run_eagerly=True` in `compile`, `model.run_eagerly = True`, and
`tf.config.run_functions_eagerly(True)` that nothing in the file turns off again.

## Why it costs memory
A graph gives the memory of each result back, or to the next operation, as soon as the last one has
read it. Eager code keeps every result for as long as a Python name holds it, so all that a step
calculates on its way is there at once.

## What to do instead
Turn it on to debug, and off afterwards.

## Fix safety
Unsafe: Python code in a traced function runs once for each trace, not for each call. What prints,
counts, or asks a tensor for its value works in eager mode alone. Offered where the argument, or the
statement, can be taken out alone.

## When to ignore it
When the code needs Python for each step. The rule is silent by itself where the mode depends on a
condition, a setting or a caller, for models that nothing in sight fits or has predict, be they
parts of an object, or that are fitted to up to 1,024 rows next, where neither a model is run nor
anything else would be a graph or take gradients, in tests, beside `breakpoint` and `pdb`, where
what is run asks tensors for their values, formats them as numbers or draws from NumPy's or Python's
random numbers, where a graph could not be made, of code that makes variables each time, or would
hold the body of a loop more than 32 times, and in loops that compile one model after the other,
which leak less without graphs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, Edit, File, Fix, Metric, Rule, costs, edits
from tfmemlint.facts.sizes.amounts import Amount
from tfmemlint_rules._analyses.eager import EagerMode, EagerSwitch

FEW = 8
"""Rounds of a loop that can well compile a model each."""

ON_THE_WAY = Amount(("what a step calculates on its way",), of_bytes=True)


def check(file: File) -> Iterator[Diagnostic]:
    mode = file.tf.of(EagerMode)
    if not mode.left_on or mode.is_debugged:
        return
    for switch in mode.left_on:
        meant = mode.is_needed(switch) or not mode.runs(switch)
        if not meant and not _makes_many(file, switch):
            cost = costs.cost(ON_THE_WAY)
            yield Diagnostic(file.span(switch), _message(switch), _fix(file, switch), cost)


def _makes_many(file: File, switch: EagerSwitch) -> bool:
    """Whether a loop compiles one model after the other."""
    rounds = (each.trips for each in file.tf.loops.around(switch))
    many = any(trips is None or trips > FEW for trips in rounds)
    return many and isinstance(switch, ast.keyword)


def _message(switch: EagerSwitch) -> str:
    text = "run_eagerly=True" if isinstance(switch, ast.keyword) else ast.unparse(switch)
    what = "`tf.function`" if isinstance(switch, ast.Call) else "step of the model"
    return f"`{text}` has every {what} run as plain Python, without a graph"


def _fix(file: File, switch: EagerSwitch) -> Fix | None:
    if isinstance(switch, ast.keyword):
        call = file.tf.tree.parent(switch)
        assert isinstance(call, ast.Call)
        edit = edits.without_argument(file, call, "run_eagerly")
    else:
        edit = _without_statement(file, switch)
    return edit and Fix("Let graphs be made again", (edit,), Applicability.UNSAFE)


def _without_statement(file: File, switch: ast.Call | ast.Assign) -> Edit | None:
    """The statement taken out, if it does nothing else."""
    statement = file.tf.tree.statement(switch)
    called = isinstance(statement, ast.Expr) and statement.value is switch
    assigned = isinstance(switch, ast.Assign) and len(switch.targets) == 1
    return edits.without_statement(file, statement) if called or assigned else None


RULE = Rule(
    code="TFM111",
    name="eager-left-on",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.75, because="a graph frees what has been read for good"
    ),
    triggers=("run_eagerly run_functions_eagerly experimental_run_functions_eagerly",),
    check=check,
)
