"""Finds rules: packs by name or entry point, a pack's rules by module."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module

from tfmemlint.facts.library import words
from tfmemlint.light_typing import NamedTuple
from tfmemlint.vocabulary import Metric, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

GROUP = "tfmemlint.rules"
BUILTIN = "tfmemlint_rules"


class BadRules(Exception):
    """The rules at hand cannot be used; the message says why and what to do."""


class Outline(NamedTuple):
    """What is known of a rule before it is needed."""

    code: str
    name: str
    triggers: tuple[str, ...]
    metric: Metric
    load: Callable[[], Rule]


HARMS = {
    Metric.DEVICE_PEAK: "peak",
    Metric.HOST_PEAK: "peak",
    Metric.DEVICE_GROWTH: "growth",
    Metric.HOST_GROWTH: "growth",
    Metric.TRACES: "retracing",
    Metric.GRAPH_BYTES: "graph",
    Metric.STEP_TIME: "time",
}
"""What is wrong where a rule finds something, by what it claims: a word that selects it, too."""


def load(plugins: Iterable[str] = ()) -> Mapping[str, Rule]:
    """The rules of the built-in pack and of the installed packs named, by code."""
    return {code: outline.load() for code, outline in outlines(plugins).items()}


def outlines(plugins: Iterable[str] = ()) -> Mapping[str, Outline]:
    """As `load`, without importing the built-in rules: most files need few of them."""
    found: dict[str, Outline] = {}
    builtin = _builtin()
    for pack in (builtin, *_installed(plugins)):
        for module, path in _modules(pack):
            outline = (pack is builtin and _spelt_out(module, path)) or _imported(module)
            if outline is None:
                continue
            if outline.code in found:
                where = pack.__name__
                raise BadRules(f"two rules have the code {outline.code}; the second is in {where}")
            found[outline.code] = outline
    if not found:
        raise BadRules("no rules found")
    return dict(sorted(found.items()))


def outline(rule: Rule) -> Outline:
    """What is known of a rule that is at hand."""
    metric = rule.claim.metric
    return Outline(rule.code, rule.name, rule.triggers, metric, lambda: rule)


def harms(rules: Mapping[str, Outline]) -> Mapping[str, frozenset[str]]:
    """The codes of the rules that are about each harm."""
    found: dict[str, set[str]] = {}
    for code, rule in rules.items():
        found.setdefault(HARMS[rule.metric], set()).add(code)
    return {harm: frozenset(codes) for harm, codes in found.items()}


def folder(rule: Rule) -> Path:
    """Where a rule's fixtures and measurements are: in an installed pack or the checkout."""
    from pathlib import Path  # noqa: PLC0415

    pack = import_module(rule.check.__module__.rpartition(".")[0])
    home = Path(next(iter(pack.__path__)))
    shipped = home / "_fixtures"
    fixtures = shipped if shipped.is_dir() else home.parent.parent / "fixtures"
    return fixtures / rule.code


def state_of(plugins: Iterable[str]) -> str | None:
    """Says which installed packs these are, and changes when they do; None if one is not found."""
    from importlib import metadata, util  # noqa: PLC0415

    installed = {entry.name: entry for entry in metadata.entry_points(group=GROUP)}
    found: list[str] = []
    for name in plugins:
        entry = installed.get(name)
        spec = util.find_spec(entry.module.partition(".")[0]) if entry else None
        if entry is None or spec is None or not spec.submodule_search_locations:
            return None
        found.append(f"{name} {entry.value} {entry.dist.version if entry.dist else ''}")
        for start in spec.submodule_search_locations:
            for folder, folders, files in os.walk(start):
                folders[:] = sorted(each for each in folders if each != "__pycache__")
                for file in sorted(files):
                    status = os.stat(os.path.join(folder, file))  # noqa: PTH116, PTH118
                    found.append(f"{folder} {file} {status.st_size} {status.st_mtime_ns}")
    return repr(found)


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


def _modules(pack: ModuleType) -> Iterable[tuple[str, str]]:
    """The names of a pack's modules, with their files."""
    for folder in pack.__path__:
        for name in sorted(os.listdir(folder)):  # noqa: PTH208  pathlib is slow to import
            stem, ending = os.path.splitext(name)  # noqa: PTH122
            if ending == ".py" and stem != "__init__":
                yield f"{pack.__name__}.{stem}", os.path.join(folder, name)  # noqa: PTH118


def _imported(module: str) -> Outline | None:
    rule = getattr(import_module(module), "RULE", None)
    return outline(rule) if isinstance(rule, Rule) else None


@cache
def _spelt_out(module: str, path: str) -> Outline | None:
    """The rule that the last statement of a module spells out; None in any doubt.

    To run that statement alone takes a tenth of the time that importing the module does. It is
    done once: what has been imported does not change any more, either.
    """

    @cache
    def load() -> Rule:
        rule: Rule = import_module(module).RULE
        return rule

    def rule(
        code: str,
        name: str,
        claim: Metric,
        triggers: tuple[str, ...],
        check: object,
    ) -> Outline:
        return Outline(code, name, triggers, claim, load)

    def claim(metric: Metric, *_: object, **__: object) -> Metric:
        return metric

    names = _Names(Rule=rule, Claim=claim, Metric=Metric, check=None)
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            _, _, stated = file.read().rpartition("\nRULE = ")
        outline = eval(stated.strip(), {}, names)
    except Exception:  # noqa: BLE001  whatever it is, importing the module will tell
        return None
    return outline if isinstance(outline, Outline) else None


class _Names(dict[str, object]):
    """What names mean to a statement that makes a rule: what is imported are words of the facts."""

    def __missing__(self, name: str) -> object:
        return getattr(words, name)
