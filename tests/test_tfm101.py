"""When a tensor in place of a number changes nothing but the number of traces."""

from __future__ import annotations

import pytest

from tfmemlint import Applicability, File, registry

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE

STEP = """\
import time
import numpy as np
import tensorflow as tf

w = tf.Variable(tf.zeros([8]))
writer = tf.summary.create_file_writer("logs")
temperature = 1.0
calls = []

@tf.function
def step(x, n):
    {body}

for n in range(50):
    step(tf.ones([8]), n)
    {after}
"""
AGENT = """\
import tensorflow as tf

class Agent:
    def __init__(self):
        self.epsilon = 1.0
        self.w = tf.Variable(1.0)

    @tf.function
    def step(self, x, n):
        return {body} / tf.cast(n, tf.float32)

    def train(self):
        for n in range(50):
            self.step(1.0, n)
            {after}
"""
HEIR = """
class Heir(Agent):
    @tf.function
    def step(self, x, n):
        {body}
"""


def safety(source: str) -> Applicability | None:
    (found,) = registry.load()["TFM101"].check(File("code.py", source))
    return found.fix.applicability if found.fix else None


@pytest.mark.parametrize(
    ("body", "after", "expected"),
    [
        ("return x * tf.cast(n, tf.float32)", "pass", UNSAFE),
        ("w.assign_add(x / tf.cast(n, tf.float32))", "pass", UNSAFE),
        ("return x / temperature", "pass", SAFE),
        ("return x", "print(n)", SAFE),
        ("return x / temperature", "temperature *= 0.9", UNSAFE),
        ("return x + np.random.normal(size=8)", "pass", UNSAFE),
        ("return x + tf.random.normal([8])", "pass", UNSAFE),
        ("return x + time.time()", "pass", UNSAFE),
        ("calls.append(1); return x", "pass", UNSAFE),
        ("return x * float('{n}'.format(**locals()))", "pass", UNSAFE),
        ("return unknown(x)", "pass", UNSAFE),
    ],
)
def test_one_trace_has_to_do_what_many_did(body: str, after: str, expected: Applicability) -> None:
    assert safety(STEP.format(body=body, after=after)) is expected


@pytest.mark.parametrize(
    ("between", "expected"), [("print(epoch)", UNSAFE), ("unknown(model)", UNSAFE)]
)
def test_every_loop_that_runs_the_call_has_to_leave_alone_what_is_traced(
    between: str, expected: Applicability
) -> None:
    code = """
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

@tf.function
def step(x, n):
    return model(x) / tf.cast(n, tf.float32)

def train(epoch):
    for n in range(100):
        step(tf.ones([1, 8]), epoch * 100 + n)

for epoch in range(9):
    {between}
    train(epoch)
"""

    assert safety(code.format(between=between)) is expected


@pytest.mark.parametrize(
    ("inside", "expected"),
    [("with writer.as_default():", SAFE), ("with writer.as_default(), seen():", UNSAFE)],
)
def test_summaries_are_written_by_steps(inside: str, expected: Applicability) -> None:
    body = f"{inside}\n        tf.summary.scalar('sum', tf.reduce_sum(x), step=n)"

    assert safety(STEP.format(body=body, after="pass")) is expected


@pytest.mark.parametrize(
    ("body", "after", "expected"),
    [
        ("self.w", "pass", UNSAFE),
        ("self.epsilon", "pass", UNSAFE),
        ("self.epsilon", "self.epsilon *= 0.9", UNSAFE),
    ],
)
def test_attributes_have_to_stay(body: str, after: str, expected: Applicability) -> None:
    assert safety(AGENT.format(body=body, after=after)) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return x + tf.cast(n, tf.float32)", UNSAFE),
        ("return x + tf.random.normal([])", UNSAFE),
        ("return x if n < 5 else -x", None),
    ],
)
def test_what_an_heir_does_counts_as_well(body: str, expected: Applicability | None) -> None:
    assert safety(AGENT.format(body="x", after="pass") + HEIR.format(body=body)) is expected
