"""A loop adds operations to the graph that its session runs.

## What it finds
In code for sessions, `sess.run(tf.assign(v, x))`, `sess.run(v.assign(x))`, `sess.run(-loss)` or
`tf.argmax(y, 1).eval()` in a loop: the operation is made where it is run, or earlier in the round,
under a name, in a list or in a function that the loop calls, here or in another file. So it is by a
call of a model, of a layer and of a `hub.Module`, and by `tf.train.Saver()`. What the statements of
one block add in the same rounds is told of once, at the first of them.

## Why it costs memory
A graph only grows. Each round adds nodes to it, and a copy of each array that is given to them, and
the session is told of the larger graph before it runs. The rounds take longer and longer. Measured
with an array of 256 KB: 1.1 MB more on the host and 256 KB more on the device in every round; with
a `Saver` of a hundred variables made for each `restore`: 2.8 MB, and a hundred times as long.

## What to do instead
Make the operation before the loop, and give it what changes through a placeholder:
`assign = tf.assign(v, given)`, then `sess.run(assign, {given: x})`. `v.load(x, sess)` does so by
itself. After `tf.get_default_graph().finalize()`, whatever adds to the graph fails.

## Fix safety
None. What changes from round to round has to become a placeholder, and where it is given is for
people to say.

## When to ignore it
When the rounds are few. What assigns one number to a variable, such as `session.run` gave, adds 48
KB a round: less than 32 MB of that, in as many rounds as are known, is hidden, unless `min-bytes`
says otherwise. The rule is silent by itself for up to 32 rounds, up to 100 of a loop that something
else may end before (`while not converged and i < 100`), or as many epochs as nobody tells, where a
loop that is gone through once gives each variable its value, under a condition, where each round
has a graph of its own, in code without sessions, which runs operations and forgets them, and in
tests.

In 300 public files that are written for sessions it spoke at four places, all of which are right:
helpers that get or set all weights, pictures scaled one by one, and a rate that each epoch assigns,
which is no longer told.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Claim, Cost, Diagnostic, File, Law, Metric, Rule
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.syntax.arithmetic import constant
from tfmemlint.facts.syntax.tree import LoopNode
from tfmemlint_rules._analyses.session_ops import SessionOp, SessionOps, assigned

FEW = 32
"""Rounds: 35 MB of what was measured."""
AT_WORST = 100
"""Rounds of a loop with another end: all of k-means on 300 points added 36 MB."""
WORTH = 32 << 20
ASSIGNMENT = 64 << 10
"""Bytes: of a thousand assignments of one number each added 48 KB."""
VARIABLES = frozenset({"tensorflow.Variable"})


def check(file: File) -> Iterator[Diagnostic]:
    together: dict[tuple[LoopNode | ast.comprehension, int], list[SessionOp]] = {}
    for found in file.tf.of(SessionOps).all:
        if _are_few(file, found.loop) and not file.tf.loops.around(found.loop.node):
            continue
        block, _ = file.tf.tree.place(file.tf.tree.statement(found.made))
        together.setdefault((found.loop.node, id(block)), []).append(found)
    for first, *others in together.values():
        made, loop = file.named(first.made), file.named(first.loop.node)
        are = f"and {len(others)} more are" if others else "is"
        yield Diagnostic(
            file.span(first.made),
            f"`{made}` {are} added to the graph in every round of `{loop}`",
            None,
            Cost(f"`{made}`", law=Law.STEPS, at_most=_at_most(file, [first, *others]), worth=WORTH),
        )


def _are_few(file: File, loop: Loop) -> bool:
    """Whether a loop goes round too seldom for a word."""
    test = loop.node.test if isinstance(loop.node, ast.While) else None
    if isinstance(test, ast.BoolOp):
        most = file.tf.counted_rounds.holds_for(test, loop)
        return most is not None and most <= AT_WORST
    known = file.tf.numbers.rounds(loop.node).at_most
    return loop.over is Over.EPOCHS if known is None else known <= FEW


def _at_most(file: File, together: list[SessionOp]) -> int | None:
    """What all rounds add, where that is as many assignments of single numbers as are known."""
    loop = together[0].loop.node
    again = any(file.tf.loops.around(loop)) or file.tf.tree.function(loop) is not None
    rounds = file.tf.numbers.rounds(loop).at_most
    if again or rounds is None or not all(_sets_number(file, each.made) for each in together):
        return None
    return int(rounds) * len(together) * ASSIGNMENT


def _sets_number(file: File, made: ast.expr) -> bool:
    """Whether an operation assigns a number at hand to a variable of one: `tf.Variable(0.0)`."""
    variable = assigned(made, file.tf.names)
    if variable is None or not isinstance(made, ast.Call):
        return False
    is_method = isinstance(made.func, ast.Attribute) and made.func.value is variable
    value = argument(made, 0 if is_method else 1, "value")
    if value is None:
        return False
    begun = file.tf.names.call_of(file.tf.values.of(variable).origin, VARIABLES)
    first = argument(begun, 0, "initial_value") if begun is not None else None
    return first is not None and constant(first) is not None and _is_at_hand(file, value)


def _is_at_hand(file: File, value: ast.expr) -> bool:
    """Whether a value is no operation itself, which the graph would have besides."""
    if file.tf.values.number(value) is not None:
        return True
    found = [each.value for each in file.tf.flow.origins(value) or ()]
    methods = [each.func for each in found if isinstance(each, ast.Call)]
    runs = all(isinstance(each, ast.Attribute) and each.attr == "run" for each in methods)
    return bool(found) and len(methods) == len(found) and runs


RULE = Rule(
    code="TFM701",
    name="ops-in-session-loop",
    claim=Claim(Metric.HOST_GROWTH, at_most=0.1, because="the graph stays as it is"),
    triggers=(
        "InteractiveSession MonitoredTrainingSession Session feed_dict get_default_session "
        "get_session",
        "eval run",
        "for while",
    ),
    check=check,
)
