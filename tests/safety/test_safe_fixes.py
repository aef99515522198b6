"""A safe fix changes nothing: programs that an adversary would write, run before and after."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from compare import compare, compare_all, fixes
from forks import Forks
from generate import spoils
from programs import HEAD, MAKERS, program

from tfmemlint import pages, registry

GROUPS, OFTEN, EACH = 10, 4, 30
"""Groups of so many programs, and how many of them are in the fast half.

`python tests/safety/generate.py 3000 --least 60` is the long run.
"""


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as started:
        yield started


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "group",
    [
        pytest.param(group, marks=[pytest.mark.slow] if group >= OFTEN else [])
        for group in range(GROUPS)
    ],
)
def test_nobody_can_tell_that_a_safe_fix_was_applied(forks: Forks, group: int) -> None:
    made = generated(group)

    for text, found in zip(made, compare_all(made, forks), strict=True):
        assert found.fixed
        assert not found.problems
        assert not found.differs, f"{text}\n{found.before}\n{found.after}"


def generated(group: int) -> list[str]:
    """Programs with a safe fix."""
    chosen, found = random.Random(group), dict[str, None]()
    while len(found) < EACH:
        one = program(lambda several: chosen.choice(list(several)))
        if not spoils(one.text) and fixes(one.text):
            found[one.text] = None
    return [*found]


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


def test_every_rule_whose_page_speaks_of_a_safe_fix_is_tried() -> None:
    safe = {each.code for each in registry.load().values() if pages.fix_safety(each) == "safe"}

    assert safe <= set(MAKERS)
