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
counts, or asks a tensor for its value works in eager mode alone.

## When to ignore it
When the code needs Python for each step. The rule is silent by itself where the mode depends on a
condition or a setting, in tests, beside `breakpoint` and `pdb`, where what is run calls `.numpy()`,
and in loops that compile one model after the other, which leak less without graphs.
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
    Metric,
    Rule,
    edits,
)

SWITCHES = frozenset(
    {
        "tensorflow.config.experimental_run_functions_eagerly",
        "tensorflow.config.run_functions_eagerly",
    }
)
DEBUGGERS = ("ipdb", "pdb", "pudb")
FEW = 8

Place = ast.keyword | ast.Call | ast.Assign


def check(file: File) -> Iterator[Diagnostic]:
    found: list[Place] = [*_compiled(file), *_set(file), *_switched(file)]
    if not found or file.is_test or _is_debugged(file):
        return
    for place in found:
        if not _is_conditional(file, place):
            yield Diagnostic(file.span(place), _message(place), _fix(file, place))


def _compiled(file: File) -> Iterator[ast.keyword]:
    """`model.compile(..., run_eagerly=True)`, where nothing compiles the model again further on."""
    calls = [each for each in file.tf.tree.all(ast.Call) if _is_method(each, "compile")]
    for call in calls:
        keyword = next((each for each in call.keywords if each.arg == "run_eagerly"), None)
        again = any(
            each.lineno > call.lineno and file.tf.bindings.same(_receiver(each), _receiver(call))
            for each in calls
        )
        if keyword is None or not _is_true(keyword.value) or again:
            continue
        rounds = (each.trips for each in file.tf.loops.around(call))
        many = any(trips is None or trips > FEW for trips in rounds)
        given = (*call.args, *(each.value for each in call.keywords))
        if not many and not any(_asks_python(file, each) for each in given):
            yield keyword


def _set(file: File) -> Iterator[ast.Assign]:
    """`model.run_eagerly = True`, where nothing sets it back."""
    targets = [
        (assignment, target)
        for assignment in file.tf.tree.all(ast.Assign)
        for target in assignment.targets
        if isinstance(target, ast.Attribute) and target.attr == "run_eagerly"
    ]
    if all(_is_true(assignment.value) for assignment, _ in targets):
        yield from (assignment for assignment, _ in targets)


def _switched(file: File) -> Iterator[ast.Call]:
    """`tf.config.run_functions_eagerly(True)`, where nothing switches it back."""
    names = file.tf.names
    calls = [each for each in file.tf.tree.all(ast.Call) if names.is_any(each.func, SWITCHES)]
    given = [(*each.args, *(keyword.value for keyword in each.keywords)) for each in calls]
    if all(len(each) == 1 and _is_true(each[0]) for each in given):
        yield from calls


def _is_conditional(file: File, place: Place) -> bool:
    """Whether a test decides: `if debug:`; but what `if __name__` starts is the program."""
    above = file.tf.tree.ancestors(place)
    tests = [each.test for each in above if isinstance(each, (ast.If, ast.IfExp))]
    return not all("__name__" in ast.unparse(test) for test in tests)


def _is_debugged(file: File) -> bool:
    """Whether somebody is at it, or traced code asks tensors for their values."""
    calls = file.tf.tree.all(ast.Call)
    stops = any(isinstance(each.func, ast.Name) and each.func.id == "breakpoint" for each in calls)
    asks = file.tf.tree.all(ast.Call)
    return (
        stops
        or file.tf.names.uses(DEBUGGERS)
        or any(_is_method(each, "numpy") and file.tf.tracing.why(each) for each in asks)
    )


def _asks_python(file: File, given: ast.expr) -> bool:
    """Whether a loss or metric of the module, alone or in a list, calls `.numpy()`."""
    several = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
    functions = [file.tf.functions.function(each) for each in several]
    return any(
        isinstance(node, ast.Call) and _is_method(node, "numpy")
        for function in functions
        if function is not None
        for node in ast.walk(function)
    )


def _is_method(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == name


def _receiver(call: ast.Call) -> ast.expr:
    return call.func.value if isinstance(call.func, ast.Attribute) else call.func


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _message(place: Place) -> str:
    if isinstance(place, ast.Call):
        return (
            f"`{ast.unparse(place)}` has every `tf.function` run as plain Python, without a graph"
        )
    what = "run_eagerly=True" if isinstance(place, ast.keyword) else ast.unparse(place)
    return f"`{what}` has every step of the model run as plain Python, without a graph"


def _fix(file: File, place: Place) -> Fix | None:
    edit = _without_keyword(file, place) if isinstance(place, ast.keyword) else None
    if not isinstance(place, ast.keyword):
        edit = _without_statement(file, file.tf.tree.statement(place))
    return edit and Fix("Let graphs be made again", (edit,), Applicability.UNSAFE)


def _without_keyword(file: File, keyword: ast.keyword) -> Edit | None:
    call = file.tf.tree.parent(keyword)
    return edits.without_argument(file, call, "run_eagerly") if isinstance(call, ast.Call) else None


def _without_statement(file: File, statement: ast.stmt) -> Edit | None:
    lines = edits.whole_lines(file, statement)
    alone = len(file.tf.tree.place(statement)[0]) == 1
    simple = isinstance(statement, ast.Expr) or (
        isinstance(statement, ast.Assign) and len(statement.targets) == 1
    )
    return Edit(lines, "") if lines is not None and simple and not alone else None


RULE = Rule(
    code="TFM111",
    name="eager-left-on",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.75, because="a graph frees what has been read for good"
    ),
    triggers=("run_eagerly run_functions_eagerly experimental_run_functions_eagerly",),
    check=check,
)
