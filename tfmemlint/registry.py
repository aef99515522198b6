"""Finds rules: packs by name or entry point, a pack's rules by module."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import ModuleType

from tfmemlint.vocabulary import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

GROUP = "tfmemlint.rules"
BUILTIN = "tfmemlint_rules"


class BadRules(Exception):
    """The rules at hand cannot be used; the message says why and what to do."""


def load(plugins: Iterable[str] = ()) -> Mapping[str, Rule]:
    """The rules of the built-in pack and of the installed packs named, by code."""
    rules: dict[str, Rule] = {}
    for pack in (_builtin(), *_installed(plugins)):
        for rule in _rules_of(pack):
            if rule.code in rules:
                where = pack.__name__
                raise BadRules(f"two rules have the code {rule.code}; the second is in {where}")
            rules[rule.code] = rule
    if not rules:
        raise BadRules("no rules found")
    return dict(sorted(rules.items()))


def folder(rule: Rule) -> Path:
    """Where a rule's fixtures and measurements are: in an installed pack or the checkout."""
    from pathlib import Path  # noqa: PLC0415

    pack = import_module(rule.check.__module__.rpartition(".")[0])
    home = Path(next(iter(pack.__path__)))
    shipped = home / "_fixtures"
    fixtures = shipped if shipped.is_dir() else home.parent.parent / "fixtures"
    return fixtures / rule.code


def _builtin() -> ModuleType:
    try:
        return import_module(BUILTIN)
    except ModuleNotFoundError as error:
        if error.name != BUILTIN:
            raise
        reason = "the built-in rules are not installed: run `pip install -e .` in the checkout"
        raise BadRules(reason) from error


def _installed(plugins: Iterable[str]) -> Iterable[ModuleType]:
    names = tuple(plugins)
    if not names:
        return
    # Reading the metadata of every installed package takes longer than linting a file.
    from importlib import metadata  # noqa: PLC0415

    installed = {entry.name: entry for entry in metadata.entry_points(group=GROUP)}
    for name in names:
        if name not in installed:
            raise BadRules(f"no installed rule pack is named {name!r}")
        yield installed[name].load()


def _rules_of(pack: ModuleType) -> Iterable[Rule]:
    for folder in pack.__path__:
        for name in sorted(os.listdir(folder)):  # noqa: PTH208  pathlib is slow to import
            stem, ending = os.path.splitext(name)  # noqa: PTH122
            if ending == ".py" and stem != "__init__":
                rule = getattr(import_module(f"{pack.__name__}.{stem}"), "RULE", None)
                if isinstance(rule, Rule):
                    yield rule
