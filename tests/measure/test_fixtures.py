"""Each program with an antipattern that holds too much: the right line of it is named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tfmemlint import registry
from tfmemlint.measure.account import Account
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
    # What is marked is thrown away: the data it would have made smaller is buffered as it is.
    "TFM224": "batches = images.shuffle(BUFFER).batch(BATCH_SIZE)",
    # A batch that is too large costs most where it is used.
    "TFM226": "loss = train_step(x, y)",
    # The tape that is marked still holds what it recorded when the gradients are made use of.
    "TFM402": "weight.assign_sub(0.01 * gradient)",
}
"""The statements that hold the memory of those programs in which it is not the marked one."""


@pytest.fixture(scope="module")
def account_of(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Account]]:
    """Measure ahead of the tests, two at a time; one by one where tests are spread anyway."""
    apart = "PYTEST_XDIST_WORKER" in os.environ
    names = {item.name for item in request.session.items}
    printed = tmp_path_factory.mktemp("printed") / "output"
    with printed.open("w", encoding="utf-8") as out, ThreadPoolExecutor(1 if apart else 2) as pool:

        def start(program: Path) -> Future[Account]:
            return pool.submit(measure, program, out=out)

        ahead = [code for code in RULES if not apart and f"{_TEST}[{code}]" in names]
        coming = {code: start(RULES[code]) for code in ahead}
        yield lambda code: (coming.pop(code, None) or start(RULES[code])).result()
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("code", RULES)
def test_the_line_that_holds_the_memory_is_named_with_the_rule_that_finds_it(
    code: str, account_of: Callable[[str], Account]
) -> None:
    program, account = RULES[code], account_of(code)
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


_TEST = test_the_line_that_holds_the_memory_is_named_with_the_rule_that_finds_it.__name__
