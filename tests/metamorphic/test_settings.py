"""What a rule says does not hang on where a program's numbers are written down."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.metamorphic.shapes import Renamed, begun
from tests.metamorphic.test_moved import RULES, fixtures
from tests.metamorphic.variants import spoken

NUMBER = re.compile(r"^[A-Z_]+ = [\d_]+\b", re.MULTILINE)
PATHS = [
    (code, path)
    for code, rule in RULES.items()
    for path in fixtures(rule)
    if NUMBER.search(path.read_text(encoding="utf-8"))
]
FEWER = {
    ("TFM109", "flat", "options"): "`unroll=args.unroll`, true by default, is no number",
    ("TFM401", "flat", "options"): "a mean for each of twenty epochs is little, if it is twenty",
}


def _options(numbers: dict[str, ast.Constant]) -> tuple[str, str]:
    added = "".join(
        f"parser.add_argument('--{name}', type=int, default={ast.unparse(number)})\n"
        for name, number in numbers.items()
    )
    begun = "import argparse\nparser = argparse.ArgumentParser()\n"
    return f"{begun}{added}args = parser.parse_args()\n", "args.{}"


def _dictionary(numbers: dict[str, ast.Constant]) -> tuple[str, str]:
    entries = ", ".join(f"'{name}': {ast.unparse(each)}" for name, each in numbers.items())
    return f"config = {{{entries}}}\n", "config['{}']"


def _data_class(numbers: dict[str, ast.Constant]) -> tuple[str, str]:
    fields = "".join(f"    {name}: int = {ast.unparse(each)}\n" for name, each in numbers.items())
    begun = "import dataclasses\n@dataclasses.dataclass\nclass Config:\n"
    return f"{begun}{fields}config = Config()\n", "config.{}"


PLACES = {"options": _options, "dictionary": _dictionary, "data class": _data_class}


def kept_elsewhere(
    text: str, place: Callable[[dict[str, ast.Constant]], tuple[str, str]]
) -> str | None:
    """The program with the numbers that have names in capitals in one place of that kind."""
    top, rest = begun(ast.parse(text))
    named: dict[str, ast.Constant] = {}
    others: list[ast.stmt] = []
    for each in top:
        match each:
            case ast.Assign([ast.Name(name)], ast.Constant(int()) as number):
                named[name] = number
            case _:
                others.append(each)
    if not named:
        return None
    kept, reading = place(named)
    body = [*ast.parse(kept).body, *map(Renamed({*named}, reading).visit, rest)]
    return ast.unparse(ast.fix_missing_locations(ast.Module([*others, *body], [])))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("code", "path"), PATHS, ids=[f"{code}-{path.stem}" for code, path in PATHS]
)
def test_as_much_is_said_wherever_numbers_are_kept(code: str, path: Path, place: str) -> None:
    rule, text = RULES[code], path.read_text(encoding="utf-8")
    other = kept_elsewhere(text, PLACES[place])
    if other is None or (code, path.stem, place) in FEWER:
        return
    assert len(spoken(other, rule)) >= len(spoken(ast.unparse(ast.parse(text)), rule)), other
