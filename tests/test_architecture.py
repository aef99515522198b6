"""Which part may import which: the arrows of the design, held by reading the imports."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

import tfmemlint
import tfmemlint_rules

ENGINE = Path(tfmemlint.__file__).parent
RULES = Path(next(iter(tfmemlint_rules.__path__)))
FIXTURES = RULES.parent.parent / "fixtures"

ALLOWED = {
    "light_typing": set[str](),
    "vocabulary": set[str](),
    "lines": set[str](),
    "units": set[str](),
    "facts": {"tfmemlint.facts", "tfmemlint.units"},
    "parsing": set[str](),
    "source": {
        "tfmemlint.facts",
        "tfmemlint.lines",
        "tfmemlint.parsing",
        "tfmemlint.vocabulary",
        "tfmemlint.concrete",
    },
    "concrete": {"tfmemlint.source", "tfmemlint.vocabulary"},
    "edits": {"tfmemlint.vocabulary", "tfmemlint.source"},
    "costs": {"tfmemlint.facts", "tfmemlint.units", "tfmemlint.vocabulary"},
    "loop_edits": {"tfmemlint.edits", "tfmemlint.source", "tfmemlint.vocabulary"},
    "comparing": {"tfmemlint.vocabulary", "tfmemlint.lines"},
    "fixing": {"tfmemlint.comparing", "tfmemlint.lines", "tfmemlint.vocabulary"},
    "suppress": {"tfmemlint.vocabulary", "tfmemlint.lines"},
    "linting": {
        "tfmemlint.vocabulary",
        "tfmemlint.lines",
        "tfmemlint.parsing",
        "tfmemlint.source",
    },
    "project": {
        "tfmemlint.screen",
        "tfmemlint.decoding",
        "tfmemlint.facts",
        "tfmemlint.glances",
        "tfmemlint.importers",
        "tfmemlint.notebooks",
        "tfmemlint.parsing",
        "tfmemlint.roots",
        "tfmemlint.source",
    },
    "importers": {"tfmemlint.facts", "tfmemlint.glances"},
    "glances": {"tfmemlint.roots", "tfmemlint.screen"},
    "roots": set[str](),
    "report": {
        "tfmemlint.report",
        "tfmemlint.vocabulary",
        "tfmemlint.lines",
        "tfmemlint.units",
    },
    "writing": set[str](),
    "plots": {"tfmemlint.plots", "tfmemlint.report"},
}
"""What each part of the engine may import of ours, at run time; the others may import anything."""

FOR_ALL = {"tfmemlint.light_typing"}
FOR_ANALYSES = {"tfmemlint.facts", "tfmemlint_rules._analyses"}
FOR_RULES = {"tfmemlint", "tfmemlint.edits", *FOR_ALL}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path, *, types_too: bool = False) -> set[str]:
    """The modules a file imports, those named for type checkers alone left out."""
    found: set[str] = set()
    pending: list[ast.AST] = [parsed(path)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and not types_too and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            found.add(node.module or "")
        pending += ast.iter_child_nodes(node)
    return found


def modules(part: str) -> list[Path]:
    folder = ENGINE / part
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def within(name: str, allowed: set[str]) -> bool:
    return any(name == each or name.startswith(each + ".") for each in allowed)


@pytest.mark.parametrize("part", ALLOWED)
def test_a_part_of_the_engine_imports_only_what_it_may(part: str) -> None:
    ours = {
        (path.name, name)
        for path in modules(part)
        for name in imports(path)
        if name.partition(".")[0] in ("tfmemlint", "tfmemlint_rules")
    }

    assert {pair for pair in ours if not within(pair[1], ALLOWED[part] | FOR_ALL)} == set()


def test_the_facts_import_nothing_but_the_standard_library() -> None:
    foreign = {name.partition(".")[0] for path in modules("facts") for name in imports(path)}

    assert foreign - {*sys.stdlib_module_names, "tfmemlint"} == set()


def test_no_analysis_holds_the_facts_of_which_it_is_one() -> None:
    """Files are let go of without a search for objects that hold each other."""
    held = {
        (path.name, node.lineno)
        for path in (*modules("facts"), *RULES.rglob("*.py"))
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)
        if isinstance(node.value, ast.Name) and node.value.id == "tf"
    }

    assert held == set()


def test_the_engine_knows_no_rule_by_name() -> None:
    named = {
        path.name
        for path in ENGINE.rglob("*.py")
        if any(name.startswith("tfmemlint_rules") for name in imports(path, types_too=True))
    }

    assert named == set()


@pytest.mark.parametrize("path", sorted(RULES.glob("tfm*.py")), ids=lambda path: path.stem)
def test_a_rule_imports_the_rule_api_and_no_rule(path: Path) -> None:
    standard = {*sys.stdlib_module_names, "libcst"}
    foreign = {
        name
        for name in imports(path, types_too=True)
        if not (name in FOR_RULES or within(name, FOR_ANALYSES))
        if name.partition(".")[0] not in standard
    }

    assert foreign == set()


@pytest.mark.parametrize("path", sorted(RULES.glob("_analyses/*.py")), ids=lambda path: path.stem)
def test_an_analysis_imports_facts_and_no_rule(path: Path) -> None:
    foreign = {
        name
        for name in imports(path, types_too=True)
        if not within(name, FOR_ANALYSES | FOR_ALL)
        if name.partition(".")[0] not in sys.stdlib_module_names
    }

    assert foreign == set()


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("*/*.py")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_fixture_imports_nothing_of_ours(path: Path) -> None:
    assert not any(within(name, {"tfmemlint", "tfmemlint_rules"}) for name in imports(path))


LONGEST = 350
"""Lines of a module of the facts: what is longer holds more than one subject."""


@pytest.mark.parametrize("path", modules("facts"), ids=lambda path: path.stem)
def test_no_module_of_the_facts_is_long(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_facts_do_not_import_each_other_in_circles() -> None:
    graph = {_name(path): imports(path) for path in modules("facts")}
    followed: dict[str, bool] = {}
    pending = [(name, False) for name in graph]
    while pending:
        name, done = pending.pop()
        if done:
            followed[name] = True
        elif name not in followed:
            followed[name] = False
            pending.append((name, True))
            needed = graph[name] & graph.keys() - {"tfmemlint.facts"}
            assert [each for each in needed if followed.get(each) is False] == [], name
            pending += [(each, False) for each in needed]


def _name(path: Path) -> str:
    root = ENGINE.parent if ENGINE in path.parents else RULES.parent
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def test_no_fact_serves_one_rule_alone() -> None:
    named = {
        node.target.id: f"tfmemlint.facts.{ast.literal_eval(node.value.args[0])}"
        for node in ast.walk(parsed(ENGINE / "facts/__init__.py"))
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call)
        if isinstance(node.target, ast.Name) and ast.unparse(node.value.func) == "_named"
    }
    paths = [*modules("facts"), *RULES.rglob("*.py")]
    graph = {_name(path): _asked(path, named) for path in paths}
    rules = [name for name in graph if name.startswith("tfmemlint_rules.tfm")]
    led_to = Counter(each for rule in rules for each in _reached(rule, graph))

    assert len(named) > 40
    assert [name for name in graph if "facts." in name and led_to[name] == 1] == []


def _asked(path: Path, named: Mapping[str, str]) -> set[str]:
    """The modules that one imports, be it for types or by a name from their package, or asks."""
    tree = parsed(path)
    asked = {named.get(each.attr, "") for each in ast.walk(tree) if isinstance(each, ast.Attribute)}
    froms = [each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)]
    inner = {f"{each.module}.{alias.name}" for each in froms for alias in each.names}
    return asked | inner | imports(path, types_too=True)


def _reached(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    found = {start}
    pending = [start]
    while pending:
        further = (graph[pending.pop()] & graph.keys()) - found - {"tfmemlint.facts"}
        found |= further
        pending += further
    return found


EVALUATORS = 25
"""Functions beside `flow` and `syntax` that tell six kinds of expressions apart: they may only
become fewer, as what follows values is asked one question."""


def test_values_are_followed_in_one_place() -> None:
    paths = [*modules("facts"), *RULES.rglob("*.py")]
    rooms = {ENGINE / "facts/flow", ENGINE / "facts/syntax"}
    found = [
        f"{path.stem}.{function.name}"
        for path in paths
        if path.parent not in rooms
        for function in ast.walk(parsed(path))
        if isinstance(function, ast.FunctionDef) and _kinds_told_apart(function) >= 6
    ]

    assert len(found) <= EVALUATORS, found


def _kinds_told_apart(function: ast.FunctionDef) -> int:
    """How many kinds of expressions a function asks whether one thing is."""
    kinds: dict[str, set[str]] = {}
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "isinstance":
            subject, asked = map(ast.unparse, call.args)
            kinds.setdefault(subject, set()).update(re.findall(r"\bast\.(\w+)", asked))
    of_expressions = {each.__name__ for each in ast.expr.__subclasses__()}
    return max((len(each & of_expressions) for each in kinds.values()), default=0)
