"""A finding stays when its value goes through an attribute, a container, a helper, another class.

How many stay may only become more: `floors.json` is what held when it was written, and
`python -m tests.metamorphic.test_moved sample` (or `whole`) writes it again. What is tried is a
part, the same one each time; in the slow half, and with TFMEMLINT_METAMORPHIC=all, every finding
goes every way.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.metamorphic.moves import MOVES
from tests.metamorphic.programs import NotTheSame
from tests.metamorphic.variants import Place, Variant, moved, places
from tfmemlint import Rule, registry

RULES = registry.load()
FLOORS = Path(__file__).with_name("floors.json")
WHOLE = os.environ.get("TFMEMLINT_METAMORPHIC") == "all"
OF_ALL, OF_EACH = 0.9, 0.75
"""What is promised of all ways of all findings, and of those of each rule."""
FEWER = {
    "TFM304": "a model that a helper's helper loads is followed by what gives it back alone",
    "TFM709": "seven variants, of which two put what a call gives away into a list",
}
"""Rules of which fewer stay, and why."""
SAMPLED = ("bad.py", "flat.py", "helpers.py", "trainer.py")
"""What every rule has, so that a case more changes no floor."""
UNMOVED = {"TFM709"}
"""What speaks of statements whose values nobody has, so that there is nothing to move."""


def fixtures(rule: Rule) -> list[Path]:
    folder = registry.folder(rule)
    found = [folder / "bad.py", *sorted((folder / "cases").glob("*.py"))]
    return [each for each in found if ".fixed" not in each.name]


def wanted(rule: Rule, whole: bool) -> Iterator[tuple[Place, list[str]]]:
    """The findings, and the moves that are tried of each."""
    moves = [*MOVES]
    for path in fixtures(rule):
        found = places(rule, path)
        if whole:
            yield from ((each, moves) for each in found)
        elif path.name == "bad.py" and found:
            yield found[0], moves
        elif path.name in SAMPLED and found:
            turn = SAMPLED.index(path.name)
            yield found[0], [each for at, each in enumerate(moves) if at % 3 == turn % 3]


def variants(rule: Rule, whole: bool) -> Iterator[Variant]:
    for place, moves in wanted(rule, whole):
        for move in moves:
            try:
                yield moved(place, move)
            except NotTheSame:
                continue


@cache
def shares(whole: bool) -> dict[str, tuple[int, int]]:
    """How many findings stay, and of how many, by rule, by move, and of all."""
    stay, tried = Counter[str](), Counter[str]()
    for rule in RULES.values():
        for each in variants(rule, whole):
            is_kept = each.is_kept
            for key in (rule.code, each.move, "all"):
                tried[key] += 1
                stay[key] += is_kept
    return {key: (stay[key], tried[key]) for key in sorted(tried)}


def floors(whole: bool) -> dict[str, float]:
    read: dict[str, dict[str, float]] = json.loads(FLOORS.read_text())
    return read["whole" if whole else "sample"]


@pytest.mark.parametrize("key", ["all", *MOVES, *sorted(RULES.keys() - UNMOVED)])
def test_at_least_as_many_findings_stay_as_did(key: str) -> None:
    stay, tried = shares(WHOLE)[key]

    assert stay / tried >= floors(WHOLE).get(key, 0), f"{stay} of {tried}"


@pytest.mark.slow
def test_of_all_ways_nine_of_ten_findings_stay() -> None:
    stay, tried = shares(whole=True)["all"]

    assert stay / tried >= OF_ALL, f"{stay} of {tried}"


@pytest.mark.slow
@pytest.mark.parametrize("key", ["all", *MOVES, *RULES])
def test_of_all_ways_as_many_findings_stay_as_did(key: str) -> None:
    stay, tried = shares(whole=True)[key]

    promised = 0 if key in FEWER else OF_EACH
    assert stay / tried >= max(promised, floors(whole=True).get(key, 0)), f"{stay} of {tried}"


def test_a_fixture_says_the_same_as_ast_writes_it() -> None:
    for rule in RULES.values():
        found = places(rule, registry.folder(rule) / "bad.py")

        assert len(found) == len(found[0].rows)


def test_every_move_makes_programs_and_every_rule_is_moved() -> None:
    tried = shares(WHOLE)

    assert tried.keys() == {"all", *MOVES, *RULES} - UNMOVED

    assert all(tried[move][1] >= 50 for move in MOVES)


def record(names: list[str]) -> None:
    """Writes down what holds now, of the sample, the whole, or both."""
    measured: dict[str, dict[str, float]] = json.loads(FLOORS.read_text())
    for name in names or measured:
        assert name in measured, f"{name} is neither of {', '.join(measured)}"
        found = shares(name == "whole").items()
        measured[name] = {key: 100 * stay // tried / 100 for key, (stay, tried) in found}
        FLOORS.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    record(sys.argv[1:])
