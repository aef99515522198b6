"""Each program with an antipattern that holds too much: the right line of it is named."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import pytest

from tfmemlint import registry
from tfmemlint.measure.advice import advise
from tfmemlint.measure.command import measure
from tfmemlint.measure.statements import Statement
from tfmemlint.vocabulary import Metric

pytestmark = pytest.mark.tensorflow

RULES = {
    code: registry.folder(rule) / "bad.py"
    for code, rule in registry.load().items()
    if rule.claim.metric is Metric.DEVICE_PEAK
}
ELSEWHERE: Mapping[str, str] = {
    # What is marked holds nothing itself: it has the lines of a function keep what they make.
    "TFM111": "weighted = tf.square(edges) + 0.1 * edges",
    # A batch that is too large costs most where it is used.
    "TFM226": "loss = train_step(x, y)",
}
"""The statements that hold the memory of those programs in which it is not the marked one."""


@pytest.mark.parametrize("code", RULES)
def test_the_line_that_holds_the_memory_is_named_with_the_rule_that_finds_it(code: str) -> None:
    program = RULES[code]
    account = measure(program, out=sys.stderr)
    text = program.read_text(encoding="utf-8")
    most = account.held[0].bytes
    named = [line.statement for line in account.held if line.bytes > 0.9 * most]
    named.append(account.stack[-1])
    if code in ELSEWHERE:
        assert ELSEWHERE[code] in (_text(text, statement) for statement in named)
        return
    (marked,) = _marked(text, code)
    assert any(statement.line <= marked <= statement.end for statement in named)
    codes = {each.code for file in advise(account).here for each in file.findings}
    assert code in codes


def _marked(text: str, code: str) -> set[int]:
    return {number for number, line in enumerate(text.splitlines(), 1) if f"# want {code} " in line}


def _text(text: str, statement: Statement) -> str:
    return text.splitlines()[statement.line - 1].partition("  #")[0].strip()
