"""What gradient tapes are asked, and how often."""

from textwrap import dedent, indent

import pytest

from tfmemlint import File
from tfmemlint.facts.graphs.tapes import Tape

BEGINNING = """
import tensorflow as tf
def run(x, variables):
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
"""


def opened(code: str, beginning: str = BEGINNING) -> tuple[File, Tape]:
    file = File("code.py", beginning + indent(dedent(code), "    "))
    return file, file.tf.tapes.all[0]


@pytest.mark.parametrize(
    "code",
    [
        "return tape.gradient(y, x)",
        "if x is None:\n    return tape.gradient(y, x)",
        "    g = tape.gradient(y, x)",
        "    tape.watch(x)\ng = tape.gradient(y, x)\ndel tape",
        "g = tape.gradient(y, x)\nprint(tape.watched_variables())",
        "    g = tape.gradient(y, x)\nprint(tape.watched_variables())",
    ],
)
def test_a_tape_is_asked_once(code: str) -> None:
    file, tape = opened(code)

    assert file.tf.tapes.only_asked(tape) is tape.asked[0]


@pytest.mark.parametrize(
    "code",
    [
        "return None",
        "return tape.gradient(y, x), tape.gradient(y, variables)",
        "for v in variables:\n    print(tape.gradient(y, v))",
        "return [tape.gradient(y, v) for v in variables]",
        "return lambda v: tape.gradient(y, v)",
        "return list(map(tape.gradient, [y], [x]))",
        "return tape.jacobian(y, x)",
        "return tape.gradient(y, x), tape",
        "    g = tape.gradient(y, x)\n    tape.watch(g)",
        "    with tape.stop_recording():\n        g = tape.gradient(y, x)",
        "    g = tape.gradient(y, x)\n    z = y * x\nprint(tape.watched_variables())",
        "    tape.reset()\ng = tape.gradient(y, x)",
    ],
)
def test_a_tape_is_not_asked_just_once(code: str) -> None:
    file, tape = opened(code)

    assert file.tf.tapes.only_asked(tape) is None


def test_a_loop_around_tape_and_call_asks_each_tape_once() -> None:
    file, tape = opened(
        "",
        """
import tensorflow as tf
for x in xs:
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    print(tape.gradient(y, x))
""",
    )

    assert file.tf.tapes.only_asked(tape) is tape.asked[0]


def test_a_method_that_is_handed_on_lets_the_tape_escape() -> None:
    _, tape = opened("return map(tape.gradient, [y], [x])")

    assert tape.asked == ()
    assert tape.escapes


def test_the_uses_of_a_tape_are_all_that_reads_its_name() -> None:
    _, tape = opened("tape.gradient(y, x)\nprint(tape)")

    assert [use.lineno for use in tape.uses] == [6, 7]


@pytest.mark.parametrize("declared", ["global", "nonlocal"])
def test_a_tape_of_another_scope_is_not_asked_just_once(declared: str) -> None:
    _, tape = opened(
        "",
        f"""
import tensorflow as tf
tape = None
def ask(x):
    tape = None
    def record():
        {declared} tape
        with tf.GradientTape(persistent=True) as tape:
            return x * x
    y = record()
    return tape.gradient(y, x), tape.gradient(y + 1, x)
print(tape.gradient(1, 2))
""",
    )

    assert len(tape.asked) == {"global": 1, "nonlocal": 2}[declared]
