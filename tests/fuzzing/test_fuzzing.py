"""Nothing breaks on programs that nobody would write; `fuzz.py 20000` is the long run."""

from __future__ import annotations

import random

import pytest
from fuzz import Fuzz, made

GROUPS, EACH = 5, 100


@pytest.mark.parametrize("group", range(GROUPS))
def test_nothing_breaks_on_what_nobody_would_write(group: int) -> None:
    fuzz = Fuzz()
    answers = [fuzz.ask(data, path) for path, data in made(EACH, random.Random(group))]

    assert len(answers) == EACH
    assert [each.problem for each in answers if each.problem] == []
    assert sum(each.fixed for each in answers) > EACH // 10
