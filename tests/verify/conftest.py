"""Rules and programs made up for the occasion."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tfmemlint.source import File
from tfmemlint.vocabulary import Claim, Diagnostic, Metric, Rule

MakeRule = Callable[..., Rule]


@pytest.fixture
def rule(monkeypatch: pytest.MonkeyPatch) -> MakeRule:
    """Make a rule that finds nothing, with a claim and a page of its own."""

    def make(
        metric: Metric = Metric.DEVICE_PEAK,
        at_most: float = 0.5,
        safety: str = "Unsafe: the toy prints what it likes.",
        code: str = "TOY101",
        grows: tuple[str, str] | None = None,
    ) -> Rule:
        page = ModuleType(f"toy_rules.{code.lower()}", f"A toy.\n\n## Fix safety\n{safety}\n")
        monkeypatch.setitem(sys.modules, page.__name__, page)

        def check(file: File) -> Iterator[Diagnostic]:
            yield from ()

        check.__module__ = page.__name__
        return Rule(code, "toy", Claim(metric, at_most, "it is smaller", grows), (), check)

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[str, str], Path]:
    """Put a pair of programs into a folder of their own."""

    def make(bad: str, fixed: str) -> Path:
        home = tmp_path / f"pair{len(list(tmp_path.iterdir()))}"
        home.mkdir()
        home.joinpath("bad.py").write_text(bad, encoding="utf-8")
        home.joinpath("fixed.py").write_text(fixed, encoding="utf-8")
        return home

    return make


@pytest.fixture
def is_running() -> Callable[[int], bool]:
    """Tell whether a process lives; one whose end nobody has noticed yet does not."""

    def is_running(pid: int) -> bool:
        try:
            return " Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        except OSError:
            return False

    return is_running
