"""Each program with an antipattern that holds too much: the right line of it is named."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tfmemlint import registry
from tfmemlint.measure.advice import advise
from tfmemlint.measure.command import measure
from tfmemlint.measure.statements import Statement
from tfmemlint.verify.benches import Bench
from tfmemlint.verify.own_lines import forking
from tfmemlint.vocabulary import Metric

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

RULES = {
    code: registry.folder(rule) / "bad.py"
    for code, rule in registry.load().items()
    if rule.claim.metric is Metric.DEVICE_PEAK
}
ELSEWHERE: Mapping[str, set[str]] = {
    # What is marked holds nothing itself: it has the lines of a function keep what they make.
    "TFM111": {"weighted = tf.square(edges) + 0.1 * edges"},
    # What is marked is thrown away: the data it would have made smaller is buffered as it is.
    "TFM224": {"batches = images.shuffle(BUFFER).batch(BATCH_SIZE)"},
    # A batch that is too large costs most where it is used.
    "TFM226": {"loss = train_step(x, y)"},
    # The tape that is marked still holds what it recorded when the gradients are made and used.
    "TFM402": {"gradients = tape.gradient(loss, weights)", "weight.assign_sub(0.01 * gradient)"},
    # What is marked is told to Keras here, which has it write at the end of an epoch.
    "TFM314": {
        "history = model.fit(x, tf.reduce_mean(x, axis=1), shuffle=False, verbose=0, "
        "callbacks=[board])"
    },
    # What is marked holds one round's gradients, and does nothing for the next round's.
    "TFM405": {"gradients = tape.gradient(loss, variables)"},
    # What is marked is computed again, and held, by the lines of its function.
    "TFM408": {"x = tf.tanh(tf.matmul(x, weight))"},
    # What is marked fails, so that the layers compute in full precision.
    "TFM704": {"model = tf.keras.Sequential("},
}
"""The statements, one of which holds most, of programs in which it is not the marked one."""


@pytest.mark.parametrize("code", list(RULES))
def test_the_line_that_holds_the_memory_is_named_with_the_rule_that_finds_it(
    code: str, own_bench: Bench
) -> None:
    account = measure(RULES[code], start=forking(own_bench, "auto"))
    text = RULES[code].read_text(encoding="utf-8")
    most = account.held[0].bytes
    named = [line.statement for line in account.held if line.bytes > 0.9 * most]
    named.append(account.stack[-1])
    if code in ELSEWHERE:
        assert ELSEWHERE[code] & {_text(text, statement) for statement in named}
        return
    marked = _marked(text, code)
    assert any(statement.line <= line <= statement.end for statement in named for line in marked)
    codes = {each.code for file in advise(account).here for each in file.findings}
    assert code in codes


def _marked(text: str, code: str) -> set[int]:
    return {number for number, line in enumerate(text.splitlines(), 1) if f"# want {code} " in line}


def _text(text: str, statement: Statement) -> str:
    return text.splitlines()[statement.line - 1].partition("  #")[0].strip()
