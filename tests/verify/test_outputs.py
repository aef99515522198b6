"""Whether two programs print the same, times and progress aside."""

from __future__ import annotations

import hashlib

import pytest

from tfmemlint.verify.outputs import agreement, same
from tfmemlint.verify.processes import Output

PROGRESS = (
    "1/2 \u2501\u2501 0s {0}ms/step - loss: 2.31\n2/2 \u2501\u2501 1s {0}us/step - loss: {1}\n"
)


def printed(*texts: str) -> tuple[Output, ...]:
    return tuple(Output(hashlib.sha256(text.encode()).hexdigest(), text) for text in texts)


@pytest.mark.parametrize(
    ("before", "after", "expected", "words"),
    [
        (("a\n", "a\n"), ("a\n", "a\n"), True, "outputs agree"),
        (("", ""), ("", ""), None, "nothing printed"),
        (
            (PROGRESS.format(12, 2.3), PROGRESS.format(13, 2.3)),
            (PROGRESS.format(14, 2.3), PROGRESS.format(2, 2.3)),
            True,
            "outputs agree but for the times in them",
        ),
        (
            ("a\nrun 7\nz\n", "a\nrun 8\nz\n"),
            ("a\nrun 9\nz\n", "a\nz\n"),
            True,
            "outputs agree in all lines that do not change from run to run",
        ),
        (
            (PROGRESS.format(12, 2.3), PROGRESS.format(13, 2.3)),
            (PROGRESS.format(12, 2.4), PROGRESS.format(13, 2.4)),
            False,
            "outputs differ: without the fixes there is '2/2 \u2501\u2501 _ _ - loss: 2.3'",
        ),
        (("a\n", "a\n"), ("", ""), False, "outputs differ: without the fixes there is 'a'"),
        (("", ""), ("a\n", "a\n"), False, "outputs differ: with the fixes there is 'a'"),
        (("a\n",), ("a\na\n",), False, "outputs differ: with the fixes there is 'a'"),
        (
            ("a\nb\n", "a\nb\n"),
            ("b\na\n", "b\na\n"),
            False,
            "outputs differ: the lines come in another order",
        ),
        (
            ("a\nb\n", "b\na\n"),
            ("b\na\n", "b\na\n"),
            True,
            "outputs agree in all lines that do not change from run to run",
        ),
        (
            ("1\n", "2\n"),
            ("3\n", "4\n"),
            None,
            "outputs cannot be compared: no line is the same in every run",
        ),
    ],
)
def test_lines_that_do_not_change_from_run_to_run_are_compared(
    before: tuple[str, ...], after: tuple[str, ...], expected: bool | None, words: str
) -> None:
    assert agreement(printed(*before), printed(*after)) == (expected, words)


def test_bars_that_are_not_full_yet_are_no_output() -> None:
    bars = "1/9 \u2501\u2501\u2501\u2501 2s\r4/9 \u2501\u2501\u2501\u2501 1s\r"
    quick, slow = (
        f"{bars}9/9 \u2501\u2501\u2501\u2501 3s\ndone\n",
        "9/9 \u2501\u2501\u2501\u2501 1s\ndone\n",
    )
    assert agreement(printed(slow, slow), printed(quick, slow)) == (
        True,
        "outputs agree but for the times in them",
    )
    going = " 50%|\u2588\u2588   | 1/2\n"
    assert agreement(printed("a\n", "a\n"), printed(f"{going}a\n", "a\n")).same


def test_a_programs_own_runs_count_where_rules_are_tried() -> None:
    assert same(printed("1"), printed("1")) is True
    assert same(printed("1", "2"), printed("1")) is False
    assert same(printed(""), printed("")) is None
