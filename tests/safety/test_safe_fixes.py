"""A safe fix changes nothing: programs that an adversary would write, run before and after."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from compare import compare, fixes
from forks import Forks
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from programs import HEAD, MAKERS, program

MOST = 100
"""Programs in the normal run; `python tests/safety/generate.py 3000 --least 60` is the long one."""


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as started:
        yield started


@pytest.mark.tensorflow
@settings(
    max_examples=MOST,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(data=st.data())
def test_nobody_can_tell_that_a_safe_fix_was_applied(forks: Forks, data: st.DataObject) -> None:
    one = program(lambda several: data.draw(st.sampled_from(list(several))))
    assume(fixes(one.text))

    found = compare({"main.py": one.text}, forks)

    assert not found.problems
    assert not found.differs, f"{one.text}\n{found.before}\n{found.after}"


@pytest.mark.tensorflow
def test_runs_are_told_apart_by_what_they_print_leave_behind_and_end_with(forks: Forks) -> None:
    for text in ("print(1)", "open('left', 'w').write('1')", "raise SystemExit(3)"):
        found = compare({"main.py": text}, forks)
        assert not found.fixed

    shuffled = HEAD + (
        "ds = tf.data.Dataset.range(4000).map(lambda i: tf.fill([64], i))\n"
        "print(len(list(ds)))\nprint(NAME)\n"
    )
    found = compare({"main.py": shuffled}, forks)

    assert dict(found.fixed) == {"TFM214": 1}
    assert (found.before[0].code, found.before[0].printed) == (1, "4000\n")
    assert not found.differs


@pytest.mark.parametrize("code", sorted(MAKERS))
def test_every_rule_has_programs_of_its_own_with_a_safe_fix(code: str) -> None:
    chosen = random.Random(code)
    made = (program(lambda several: chosen.choice(list(several)), code) for _ in range(40))

    assert any(fixes(each.text) for each in made)
