"""What a rule says, and how it mends it, does not hang on the types that a program writes down."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.metamorphic.test_moved import RULES, fixtures
from tests.metamorphic.variants import spoken
from tfmemlint import Rule, fixing
from tfmemlint.linting import lint

PATHS = [(code, path) for code, rule in RULES.items() for path in fixtures(rule)]


class Annotate(ast.NodeTransformer):
    """Every assignment of one name or attribute, with a type beside it."""

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if len(node.targets) > 1 or not isinstance(node.targets[0], (ast.Attribute, ast.Name)):
            return node
        return ast.AnnAssign(node.targets[0], ast.Name("object"), node.value, simple=1)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.body = [  # where it would make fields
            each if isinstance(each, ast.Assign) else self.visit(each) for each in node.body
        ]
        return node


class Plain(ast.NodeTransformer):
    """Assignments without types."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        return node if node.value is None else ast.Assign([node.target], node.value)


def rewritten(text: str, how: ast.NodeTransformer) -> str:
    return ast.unparse(ast.fix_missing_locations(how.visit(ast.parse(text))))


def mended(text: str, rule: Rule) -> str:
    fixes = [each.diagnostic.fix for each in lint("example.py", text, [rule])]
    return fixing.apply(text, [each for each in fixes if each is not None]).text


@pytest.mark.parametrize(
    ("code", "path"), PATHS, ids=[f"{code}-{path.stem}" for code, path in PATHS]
)
def test_annotations_of_what_is_assigned_change_nothing(code: str, path: Path) -> None:
    rule = RULES[code]
    plain = rewritten(path.read_text(encoding="utf-8"), Plain())
    try:
        annotated = rewritten(plain, Annotate())
        compile(annotated, str(path), "exec")
    except SyntaxError:  # of a name that is global
        return

    assert spoken(annotated, rule) == spoken(plain, rule)
    assert rewritten(mended(annotated, rule), Plain()) == rewritten(mended(plain, rule), Plain())
