"""`tf.py_function` in eager code keeps its function for good, and under a tape its tensors.

## What it finds
`tf.py_function` in eager code under a `tf.GradientTape`, itself or in a function that is called
there, again and again, where no gradient goes back through it: it makes integers, booleans or
strings, or is given what was made before the tape began. Without a tape, the call in code that
surely runs eagerly, in a loop that goes on.

## Why it costs memory
TensorFlow opens a tape of its own for each call, and puts it aside with the inputs and outputs, for
the gradient to take. Where no gradient goes that way nothing ever takes them: every step leaves
its tensors behind until the program ends.

Without a tape it is the function that stays, and with it all that it has captured: the default
graph, which eager code has, too, keeps it anew for each call, as long as it lives. Measured with
TensorFlow 2.21, a call: 37 KB for a function that captures nothing, 1 MB for one that captures
1 MB; `tf.numpy_function` keeps nothing.

## What to do instead
`tf.numpy_function`, which keeps nothing and, in eager code, just calls the function; or call the
function itself; or, for its tensors, call it before the tape begins. In traced code
`tf.py_function` keeps the tensors of one call at most.

## Fix safety
Unsafe: the function gets NumPy arrays in place of tensors, so that it can do without `.numpy()`.
Not offered where it is out of sight, hands what it gets to other functions of the module, or asks
more of it than its shape.

## When to ignore it
When only a few steps are made, on small tensors. The rule is silent by itself without a tape in up
to 4,096 rounds, or as many epochs as nobody tells, in graphs made by hand, in traced code, where
recording is stopped, for code that runs once or that nothing in the file calls, since that may be
traced elsewhere, and where a gradient may go through the function: then its tensors are let go,
though smaller things are not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import (
    Applicability,
    Claim,
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
from tfmemlint.facts.sizes.amounts import Amount
from tfmemlint_rules._analyses.py_functions import PyFunctions

ARGUMENTS = {"func", "inp", "Tout"}

FUNCTION = Amount(("the function of each call, and what it has captured",), of_bytes=True)
TENSORS = Amount(("the tensors of each step",), of_bytes=True)


def check(file: File) -> Iterator[Diagnostic]:
    for call, tape in file.tf.of(PyFunctions).kept:
        what = file.called(argument(call, 0, "func"), "a function")
        stays = f"{what}, with what it has captured, stays after every call by `tf.py_function`"
        kept = FUNCTION
        if tape is not None:
            recorder = f"`{tape.name}`" if tape.name else "a tape"
            given = f"the tensors that {what} is given and gives, under {recorder}"
            stays, kept = f"{given}, stay after every step", TENSORS
        cost = costs.cost(kept, Law.STEPS)
        yield Diagnostic(file.span(call.func), stays, _fix(file, call), cost)


def _fix(file: File, call: ast.Call) -> Fix | None:
    understood = len(call.args) <= 3 and {each.arg for each in call.keywords} <= ARGUMENTS
    conversions = file.tf.of(PyFunctions).conversions(call) if understood else None
    if conversions is None or not isinstance(call.func, ast.Attribute):
        return None
    module = file.source(call.func.value)
    changes = [_without(file, each) for each in conversions]
    changes.append(edits.replaced(file, call.func, f"{module}.numpy_function"))
    whole = tuple(each for each in changes if each is not None)
    if len(whole) < len(changes):
        return None
    return Fix("Call it as `tf.numpy_function`", whole, Applicability.UNSAFE)


def _without(file: File, conversion: ast.Call) -> Edit | None:
    """`x` for `x.numpy()`, and nothing for `x = x.numpy()`."""
    assert isinstance(conversion.func, ast.Attribute)
    name, statement = conversion.func.value, file.tf.tree.statement(conversion)
    if isinstance(statement, ast.Assign) and statement.value is conversion:
        again = [ast.unparse(each) for each in statement.targets] == [ast.unparse(name)]
        edit = edits.without_statement(file, statement) if again else None
        if edit is not None and "#" not in file.source(edit.span):
            return edit
    return edits.reduced(file, conversion, name)


RULE = Rule(
    code="TFM218",
    name="py-function-under-tape",
    claim=Claim(
        Metric.DEVICE_GROWTH,
        at_most=0.05,
        because="no step leaves its tensors behind",
        of_host=True,
    ),
    triggers=("py_function", "for while"),
    check=check,
)
