"""Holds the rules of a pack to their fixtures, as tfmemlint holds its own to theirs.

A pack is a package that an entry point of the group `tfmemlint.rules` names. The fixtures of a rule
are in `_fixtures/CODE/` of the package:

- `bad.py` has the pattern; `fixed.py` is what the fix makes of it, or people where there is none;
- `ok.py` has look-alikes, of which nothing may be said;
- `cases/*.py` and `cases/*.ipynb` are other spellings, each beside its `NAME.fixed.py` if it has
  a fix.

A line that is to be reported ends in `# want CODE "words of the message"`.

    from tfmemlint.testing import parametrized

    @parametrized("acme")
    def test_rules(case):
        case.check()
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tfmemlint import registry
from tfmemlint.config import Config, Configs, Selection
from tfmemlint.lines import Lines
from tfmemlint.pages import fix_safety
from tfmemlint.run import Checker, Outcome
from tfmemlint.vocabulary import Applicability, Checked, Rule

__all__ = ["HEADINGS", "Case", "cases", "parametrized"]

HEADINGS = (
    "## What it finds",
    "## Why it costs memory",
    "## What to do instead",
    "## Fix safety",
    "## When to ignore it",
)
"""What a rule's page has, in this order."""

_MARK = re.compile(rb"[ \t]*# want ([A-Z]+\d.*?)(?=\r?$)", re.MULTILINE)
_MARK_IN_JSON = re.compile(rb'[ \t]*# want ([A-Z]+\d(?:[^"\\]|\\")*)')
_WANT = re.compile(rb'([A-Z]+\d+) "([^"]*)"')


class Case(NamedTuple):
    """A rule and one of its fixtures, or its page."""

    rule: Rule
    path: Path | None
    """None for the rule itself."""
    silent: bool
    """Whether nothing may be said of it."""
    pack: str

    @property
    def name(self) -> str:
        """What to call it in a list of tests."""
        return f"{self.rule.code}-{self.path.name if self.path else 'page'}"

    def check(self) -> None:
        """Raise AssertionError where the rule does not do what its fixtures say."""
        if self.path is None:
            _check_rule(self.rule)
        elif self.silent:
            found = _run(self, _unmarked(self.path)[0]).checked
            said = ", ".join(each.diagnostic.message for each in found.findings)
            assert not found.findings, f"{self.path}: nothing is wrong here, but: {said}"
        else:
            _check_marks(self, self.path)
            _check_fixes(self, self.path)


def cases(pack: str) -> Iterator[Case]:
    """All there is to check of a pack, by the name of its entry point."""
    builtin = registry.load()
    for code, rule in registry.load([pack]).items():
        if code in builtin:
            continue
        folder = registry.folder(rule)
        yield Case(rule, None, False, pack)
        programs = [folder / "bad.py", *sorted((folder / "cases").glob("*"))]
        for path in programs:
            if path.suffix in (".py", ".ipynb") and ".fixed" not in path.name:
                yield Case(rule, path, False, pack)
        quiet = [*folder.glob("ok*.py"), folder / "fixed.py", *folder.glob("cases/*.fixed.*")]
        yield from (Case(rule, path, True, pack) for path in sorted(quiet))


def parametrized(pack: str) -> Any:
    """A mark for pytest: the test is run with each `case` of a pack."""
    import pytest  # noqa: PLC0415

    return pytest.mark.parametrize("case", list(cases(pack)), ids=lambda case: case.name)


def _check_rule(rule: Rule) -> None:
    headings = tuple(line for line in rule.page.splitlines() if line.startswith("## "))
    assert headings == HEADINGS, f"the page of {rule.code} has the headings {headings}"
    opening = rule.page.strip().partition("\n\n")[0]
    assert opening.endswith("."), f"the page of {rule.code} begins with no sentence"
    folder = registry.folder(rule)
    for name in ("bad.py", "fixed.py", "ok.py"):
        assert (folder / name).is_file(), f"{folder / name} is missing"


def _check_marks(case: Case, path: Path) -> None:
    source, wants = _unmarked(path)
    assert wants, f"{path} marks no line with # want {case.rule.code}"
    checked = _run(case, source).checked
    found = [
        (*_place(checked, each.diagnostic.span.start), each.code, each.diagnostic.message)
        for each in checked.findings
    ]
    assert [each[:3] for each in found] == [want[:3] for want in wants], (
        f"{path}: found {found}, but marked are {wants}"
    )
    for (*_, message), (*_, words) in zip(found, wants, strict=True):
        assert words in message, f"{path}: {message!r} does not say {words!r}"


def _check_fixes(case: Case, path: Path) -> None:
    source, _ = _unmarked(path)
    name = "fixed.py" if path.name == "bad.py" else f"{path.stem}.fixed{path.suffix}"
    twin = path.with_name(name)
    has_fix = twin.exists() and fix_safety(case.rule) != "none"
    fixed = _run(case, source, fix=True)
    after = fixed.change.after if fixed.change else source
    expected = twin.read_bytes() if has_fix else source
    assert after == expected, f"{path}: the fix makes something else of it than {name}"
    if path.suffix == ".py":
        ast.parse(after)
    left = [each for each in fixed.checked.findings if each.diagnostic.fix]
    assert not left, f"{path}: fixes are left where all were applied"
    unasked = _run(case, source, fix=True, unsafe=False)
    safe = [
        each
        for each in _run(case, source).checked.findings
        if each.diagnostic.fix and each.diagnostic.fix.applicability is Applicability.SAFE
    ]
    assert bool(unasked.change) == bool(safe), f"{path}: an unsafe fix is applied unasked"


def _run(case: Case, source: bytes, *, fix: bool = False, unsafe: bool = True) -> Outcome:
    """What the rule alone says of a fixture, and what its fixes make of it."""
    assert case.path is not None
    config = Config(
        rules=(Selection(None, (case.rule.code,)),),
        unsafe_fixes=unsafe,
        plugins=(case.pack,),
        min_bytes=0,
    )

    def as_it_is(config: Config) -> Config:
        return config

    return Checker(Configs(as_it_is, config), fix=fix).check(case.path.name, source)


def _unmarked(path: Path) -> tuple[bytes, list[tuple[int | None, int, str, str]]]:
    """A fixture without its marks, and what they want: cell, line, code, words."""
    source = path.read_bytes()
    marks = _MARK_IN_JSON if path.suffix == ".ipynb" else _MARK
    wants = [
        (*_marked(source[: mark.start()], path.suffix), code.decode(), words.decode())
        for mark in marks.finditer(source)
        for code, words in _WANT.findall(mark[1].replace(b'\\"', b'"'))
    ]
    return marks.sub(b"", source), wants


def _marked(above: bytes, suffix: str) -> tuple[int | None, int]:
    if suffix != ".ipynb":
        return None, above.count(b"\n") + 1
    # As notebooks are written: a cell's kind comes first, its source last, line by line.
    return above.count(b'"cell_type"'), above[above.rindex(b'"source"') :].count(b"\n")


def _place(checked: Checked, offset: int) -> tuple[int | None, int]:
    """The cell, if it is a notebook's, and the line in it."""
    row, _ = Lines(checked.text).position(offset)
    inside = [cell for cell in checked.cells if cell.start <= offset]
    if not inside:
        return None, row
    return inside[-1].number, row - Lines(checked.text).position(inside[-1].start)[0] + 1
