"""What a rule says of a program hangs little on the files that it is written in."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest

from tests.metamorphic.files import PROGRAM, SPLITS, split
from tests.metamorphic.programs import NotTheSame
from tests.metamorphic.test_moved import RULES, fixtures
from tfmemlint.cli import main

AT_LEAST = {"module": 0.95, "by its module": 0.95, "numbers": 0.97, "package": 0.95}
"""Which share of the findings is left, of all that are there in one file."""


def said(folder: Path, files: dict[str, str], code: str) -> int:
    """How often a rule speaks of a program in these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    given = ("--isolated", "--no-cache", "--min-bytes", "0", "--output-format", "json")
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(out):
        main(["check", *given, "--select", code, str(folder)])
    out.seek(0)
    return len(json.loads(out.read()))


@pytest.mark.slow
@pytest.mark.parametrize("way", SPLITS)
def test_most_is_said_in_several_files(way: str, tmp_path: Path) -> None:
    whole = left = 0
    lost: list[str] = []
    for code, rule in RULES.items():
        for path in fixtures(rule):
            text = path.read_text(encoding="utf-8")
            try:
                files = split(text, SPLITS[way])
            except NotTheSame:
                continue
            one = said(tmp_path / code / path.stem / "one", {PROGRAM: text}, code)
            several = said(tmp_path / code / path.stem / "several", files, code)
            whole += one
            left += min(one, several)
            lost += [f"{code} {path.stem}: {several} of {one}"] if several < one else []

    assert whole > 150
    assert left >= AT_LEAST[way] * whole, lost
