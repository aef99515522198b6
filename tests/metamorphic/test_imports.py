"""What a rule says does not hang on the words by which a program imports TensorFlow and Keras."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.metamorphic.imports import STYLES, respelt
from tests.metamorphic.programs import NotTheSame
from tests.metamorphic.test_moved import RULES, fixtures
from tests.metamorphic.variants import spoken

PATHS = [(code, path) for code, rule in RULES.items() for path in fixtures(rule)]
OLD = {
    "TFM301": "what imports from `keras.engine` runs sessions, whose models `clear_session` frees",
    "TFM303": "they keep nothing of a call",
    "TFM314": "their histograms are made by an operation of their own",
}
"""Rules that are silent in code of that time, and why."""


def tried(at: int, path: Path) -> list[str]:
    """All ways of a rule's own program, and one of each case."""
    names = [*STYLES]
    return names if path.name == "bad.py" else [names[at % len(names)]]


@pytest.mark.parametrize(
    ("code", "path", "names"),
    [(code, path, tried(at, path)) for at, (code, path) in enumerate(PATHS)],
    ids=[f"{code}-{path.stem}" for code, path in PATHS],
)
def test_as_much_is_said_however_things_are_imported(
    code: str, path: Path, names: list[str]
) -> None:
    rule, text = RULES[code], path.read_text(encoding="utf-8")
    said = len(spoken(ast.unparse(ast.parse(text)), rule))
    for name in names:
        if name == "engine" and code in OLD:
            continue
        try:
            other = respelt(text, STYLES[name])
        except NotTheSame:
            continue
        assert len(spoken(other, rule)) == said, f"{name}\n{other}"


def test_most_programs_can_be_written_in_most_ways() -> None:
    written = 0
    for _, path in PATHS:
        for style in STYLES.values():
            try:
                ast.parse(respelt(path.read_text(encoding="utf-8"), style))
                written += 1
            except NotTheSame:
                pass

    assert written > 0.9 * len(PATHS) * len(STYLES)
