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
When the rounds are few. The rule is silent by itself for up to 32 rounds, or as many epochs as
nobody tells, under a condition, where each round has a graph of its own, in code without sessions,
which runs operations and forgets them, and in tests.

In 300 public files that are written for sessions it spoke at four places, all of which are right:
helpers that get or set all weights, pictures scaled one by one, and a rate that each epoch assigns,
which is no longer told.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Claim, Cost, Diagnostic, File, Law, Metric, Rule
from tfmemlint.facts.flow.loops import Over
from tfmemlint.facts.syntax.tree import LoopNode
from tfmemlint_rules._analyses.session_ops import SessionOp, SessionOps

FEW = 32
"""Rounds: 35 MB of what was measured."""


def check(file: File) -> Iterator[Diagnostic]:
    together: dict[tuple[LoopNode | ast.comprehension, int], list[SessionOp]] = {}
    for found in file.tf.of(SessionOps).all:
        most = file.tf.numbers.rounds(found.loop.node).at_most
        few = found.loop.over is Over.EPOCHS if most is None else most <= FEW
        if few and not file.tf.loops.around(found.loop.node):
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
            Cost(f"`{made}`", law=Law.STEPS),
        )


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
