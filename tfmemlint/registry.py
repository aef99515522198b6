"""Finds rules: installed packs by entry point, a pack's rules by module."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType

from tfmemlint.vocabulary import Rule

GROUP = "tfmemlint.rules"
BUILTIN = "builtin"


class BadRules(Exception):
    """The rules at hand cannot be used; the message says why and what to do."""


def load(plugins: Iterable[str] = ()) -> Mapping[str, Rule]:
    """The rules of the built-in pack and of the installed packs named, by code."""
    installed = {entry.name: entry for entry in metadata.entry_points(group=GROUP)}
    rules: dict[str, Rule] = {}
    for name in (BUILTIN, *plugins):
        if name not in installed:
            raise BadRules(_missing(name))
        for rule in _rules_of(installed[name].load()):
            if rule.code in rules:
                raise BadRules(
                    f"two rules have the code {rule.code}; the second is in pack {name!r}"
                )
            rules[rule.code] = rule
    if not rules:
        raise BadRules("no rules found")
    return dict(sorted(rules.items()))


def folder(rule: Rule) -> Path:
    """Where a rule's fixtures and measurements are: in an installed pack or the checkout."""
    pack = import_module(rule.check.__module__.rpartition(".")[0])
    home = Path(next(iter(pack.__path__)))
    shipped = home / "_fixtures"
    fixtures = shipped if shipped.is_dir() else home.parent.parent / "fixtures"
    return fixtures / rule.code


def _rules_of(pack: ModuleType) -> Iterable[Rule]:
    for module in pkgutil.iter_modules(pack.__path__, pack.__name__ + "."):
        rule = getattr(import_module(module.name), "RULE", None)
        if isinstance(rule, Rule):
            yield rule


def _missing(name: str) -> str:
    if name == BUILTIN:
        return "the built-in rules are not installed: run `pip install -e .` in the checkout"
    return f"no installed rule pack is named {name!r}"
