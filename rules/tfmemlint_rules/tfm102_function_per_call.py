"""A `tf.function` that is made again and again is traced again and again.

## What it finds
A `tf.function` that is made in a loop and called there: a decorated `def`, `tf.function(f)`, a
lambda that is wrapped where it is called, or a call of a factory that returns one. Also a function
or method that wraps, and calls at once, whenever it is called itself. Factories in other files are
known where those are checked in the same run, unless `follow-imports` is off.

## Why it costs memory
Graphs belong to the object that `tf.function` makes, and a new one starts with none: all it runs is
traced and optimised afresh. When it is dropped its graphs go with it, unless something in them
registers with TensorFlow for good. An optimizer's `apply_gradients` does, so do `silu` and
`tf.recompute_grad`: then every graph stays until the process ends. Time is lost always.

## What to do instead
Make the function once, before the loop, and call it there. What changes from round to round becomes
an argument: tensors for numbers, so that they do not have it traced again.

## Fix safety
Safe where the function, moved in front of the loop, is known to be traced to the same graph there,
and nothing but calls with tensors is made of it, in the loop alone: it is plainly decorated, reads
numbers, tensors, variables and plain Keras objects that are bound once, lists of them that nothing
changes, and the loop sets no attributes of any object and calls nothing out of sight. Unsafe
elsewhere: where the loop gives it numbers of Python's own, of which 1 and 1.0 share a trace, where
`reduce_retracing` would have shapes left open, where anything else looks at it or its graphs are
saved, and where it draws random numbers, since those of a new `tf.function` begin anew. Not offered
where it reads what the loop makes or changes, or prints, or where the loop deletes it.

## When to ignore it
When the process is to end soon anyway. The rule is silent by itself for loops of few rounds, in
tests, where functions are stored for later, handed out by functions that make them, or made under a
condition (`if self._step is None`), and where each belongs to a model or an optimizer that is made
in the same round, or is called with one: TensorFlow wants one for each there, and TFM301 and TFM302
tell what stays. A lambda that `tf.map_fn` is given in eager code is not traced: 600 calls left
nothing behind.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, Edit, File, Fix, Metric, Rule, Span, edits
from tfmemlint.facts.flow.remade_functions import Remake
from tfmemlint.facts.graphs.wrappings import Made
from tfmemlint_rules._analyses.same_graphs import SameGraphs


def check(file: File) -> Iterator[Diagnostic]:
    named = 0
    for remake in file.tf.remade_functions.all:
        fix = _fix(file, remake, edits.fresh(file, f"traced_{named + 1}" if named else "traced"))
        named += fix is not None and _is_called_at_once(remake)
        yield Diagnostic(_span(file, remake), _message(file, remake), fix)


def _span(file: File, remake: Remake) -> Span:
    if isinstance(remake.maker, ast.Call):
        return file.span(remake.maker)
    wraps = file.tf.tracers.makes_tf_function
    return file.span(next(each for each in remake.maker.decorator_list if wraps(each)))


def _message(file: File, remake: Remake) -> str:
    made, maker, within = remake.made, remake.maker, remake.within
    rounds = (
        f"in every round of `{file.named(remake.loop.node)}`" if remake.loop is not None else ""
    )
    if within is not None:
        name = f"`{getattr(within, 'name', 'lambda')}` makes another `tf.function` at every call"
        return f"{name} and is called {rounds}" if rounds else f"{name}, to be traced anew"
    if isinstance(maker, ast.Call) and maker is remake.used:
        name = f"`{ast.unparse(maker.func)}` makes another `tf.function` at every call"
        return f"{name} and is called {rounds}"
    if isinstance(maker, ast.Call) and maker is not made:
        return f"`{ast.unparse(maker.func)}` gives another `tf.function` {rounds}, traced anew"
    if isinstance(maker, ast.Call):
        return f"`{file.named(maker)}` is another function {rounds}, traced anew"
    return f"`{maker.name}` is another `tf.function` {rounds}, traced anew"


def _fix(file: File, remake: Remake, name: str) -> Fix | None:
    """The function made above the loop, if nothing there could make it another one."""
    made, loop = remake.made, remake.loop
    if loop is None or made is None or remake.within is not None or remake.maker is not made:
        return None
    if not file.tf.of(SameGraphs).before(made, loop):
        return None
    anchor = file.tf.tree.statement(loop.node)
    edited = (
        _named(file, made, anchor, name)
        if _is_called_at_once(remake)
        else _lifted(file, made, anchor)
    )
    steady, code = file.tf.steady, file.tf.loops.extent(loop)
    certain = steady.is_steady(made) and steady.leaves_alone(code, made)
    certain = certain and _is_only_called(file, made, loop.node)
    safety = Applicability.SAFE if certain else Applicability.UNSAFE
    return None if edited is None else Fix("Make the function before the loop", edited, safety)


def _is_only_called(file: File, made: Made, loop: ast.AST) -> bool:
    """Whether each round calls the function with tensors, and nobody looks at it otherwise."""
    sure, tree = file.tf.sure_traced, file.tf.tree
    if not isinstance(made, ast.FunctionDef) or not sure.keeps_no_graphs:
        return False
    calls = sure.calls(made)
    defaults = [*made.args.defaults, *(each for each in made.args.kw_defaults if each)]
    return (
        bool(calls)
        and not defaults
        and all(tree.inside(call, loop) for call in calls or ())
        and all(not call.keywords and sure.are_tensors(call.args) for call in calls or ())
    )


def _is_called_at_once(remake: Remake) -> bool:
    return isinstance(remake.made, ast.Call) and remake.used.func is remake.made


def _lifted(file: File, made: Made, anchor: ast.stmt) -> tuple[Edit, ...] | None:
    """The definition, or the assignment of `tf.function(f)`, moved above the loop."""
    tree, bindings = file.tf.tree, file.tf.bindings
    statement = tree.statement(made)
    name = getattr(statement, "name", "") if statement is made else ""
    if isinstance(statement, ast.Assign) and statement.value is made:
        name = getattr(statement.targets[0], "id", "") if len(statement.targets) == 1 else ""
    within = getattr(anchor, "body", None)
    once = len(bindings.of(tree.scope(statement), name)) == 1
    straight = isinstance(within, list) and tree.place(statement)[0] is within
    return edits.lifted(file, statement, anchor) if once and straight else None


def _named(file: File, made: Made, anchor: ast.stmt, name: str) -> tuple[Edit, ...] | None:
    """`tf.function(f)(x)` as `traced(x)`, with `traced = tf.function(f)` above the loop."""
    lines = edits.whole_lines(file, anchor)
    if lines is None or not isinstance(made, ast.Call) or made.lineno != made.end_lineno:
        return None
    assigned = f"{edits.margin(file, anchor)}{name} = {file.source(made)}{edits.newline(file)}"
    return Edit(Span(lines.start, lines.start), assigned), edits.replaced(file, made, name)


RULE = Rule(
    code="TFM102",
    name="function-per-call",
    claim=Claim(Metric.TRACES, at_most=0.06, because="the function is traced once, not per round"),
    triggers=("function",),
    check=check,
)
