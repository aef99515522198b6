"""Other shapes of one program: the same statements, in classes, functions and calls of others."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from tests.metamorphic.programs import NotTheSame

Rewrite = Callable[[ast.Module], ast.Module]
_DEFINITIONS = (ast.AsyncFunctionDef, ast.ClassDef, ast.FunctionDef)


class _Parts(NamedTuple):
    imports: list[ast.stmt]
    definitions: list[ast.stmt]
    given: list[ast.stmt]
    """The statements before the first that does more than to give names their values."""
    rest: list[ast.stmt]


def shaped(text: str, how: Rewrite) -> str:
    """The program in another shape; raises NotTheSame where it has none."""
    made = ast.unparse(ast.fix_missing_locations(how(ast.parse(text))))
    try:
        compile(made, "program.py", "exec")
    except SyntaxError as error:  # a name that is both global and something else
        raise NotTheSame from error
    return made


def begun(tree: ast.Module) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """What stands at the top, docstrings, imports and constants in capitals, and the rest."""
    top = [each for each in tree.body if _is_of_top(each)]
    return top, [each for each in tree.body if each not in top]


def _is_of_top(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(ast.Constant()):
            return True
        case ast.Assign([ast.Name(name)], ast.Constant()):
            return name.isupper()
    return False


def _parts(tree: ast.Module) -> _Parts:
    top, rest = begun(tree)
    definitions: list[ast.stmt] = [each for each in rest if isinstance(each, _DEFINITIONS)]
    run = [each for each in rest if each not in definitions]
    stored = names_in(run, stored=True)
    if stored & names_in(definitions) or any(
        isinstance(each, ast.Global) for each in ast.walk(tree)
    ):
        raise NotTheSame
    first = next((at for at, each in enumerate(run) if not isinstance(each, ast.Assign)), len(run))
    if not 0 < first < len(run):
        raise NotTheSame
    return _Parts(top, definitions, run[:first], run[first:])


def names_in(nodes: list[ast.stmt], *, stored: bool = False) -> set[str]:
    found = (each for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name))
    return {each.id for each in found if not stored or isinstance(each.ctx, ast.Store)}


def _bound_inside(nodes: list[ast.stmt]) -> set[str]:
    """Names of comprehensions and lambdas, which are no variables of the program."""
    inner = [each for node in nodes for each in ast.walk(node)]
    taken = {arg.arg for each in inner if isinstance(each, ast.Lambda) for arg in each.args.args}
    clauses = [each.target for each in inner if isinstance(each, ast.comprehension)]
    return taken | {
        name.id for each in clauses for name in ast.walk(each) if isinstance(name, ast.Name)
    }


class Renamed(ast.NodeTransformer):
    """Names that are read, and given values, as something else."""

    def __init__(self, names: set[str], spelling: str) -> None:
        self.names, self.spelling = names, spelling

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names:
            return node
        found = ast.parse(self.spelling.format(node.id), mode="eval").body
        if isinstance(found, (ast.Attribute, ast.Subscript)):
            found.ctx = node.ctx
        return found


def in_a_class(tree: ast.Module) -> ast.Module:
    """What is given names first is made in `__init__`, and kept in attributes."""
    parts = _parts(tree)
    run = [*parts.given, *parts.rest]
    kept = Renamed(names_in(parts.given, stored=True) - _bound_inside(run), "self.{}")
    (made,) = ast.parse("class Trainer:\n def __init__(self): ...\n def run(self): ...").body
    assert isinstance(made, ast.ClassDef)
    for method, body in zip(made.body, (parts.given, parts.rest), strict=True):
        assert isinstance(method, ast.FunctionDef)
        method.body = [kept.visit(each) for each in body]
    begun = ast.parse("Trainer().run()").body
    return ast.Module([*parts.imports, *parts.definitions, made, *begun], [])


def as_static_methods(tree: ast.Module) -> ast.Module:
    """Its functions are static methods of one class."""
    top, rest = begun(tree)
    functions = [each for each in rest if isinstance(each, ast.FunctionDef)]
    names = {each.name for each in functions}
    arguments = {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
    if not functions or names & (names_in(rest, stored=True) | arguments):
        raise NotTheSame
    named = Renamed(names, "Tools.{}")
    for each in functions:
        each.body = [named.visit(one) for one in each.body]
        each.decorator_list = [
            ast.Name("staticmethod"),
            *(named.visit(one) for one in each.decorator_list),
        ]
    tools = ast.ClassDef("Tools", [], [], [*functions], [])
    first = rest.index(functions[0])
    others = [each for each in rest[first:] if each not in functions]
    return ast.Module(
        [*top, *rest[:first], tools, *(named.visit(each) for each in others)],
        [],
    )


class _Stepwise(ast.NodeTransformer):
    """`x = x.step()` for each step of a chain, under one name."""

    count = 0

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        chain: list[ast.Call] = []
        value = node.value
        match node.targets:
            case [ast.Name(name)]:
                pass
            case _:
                return node
        while _is_step(value) and _is_step(value.func.value):  # type: ignore[attr-defined]
            assert isinstance(value, ast.Call)
            assert isinstance(value.func, ast.Attribute)
            chain.append(value)
            value = value.func.value
        given = [arg for each in chain for arg in (*each.args, *each.keywords)]
        if not chain or any(
            getattr(one, "id", "") == name for arg in given for one in ast.walk(arg)
        ):
            return node
        self.count += 1
        for each in chain:
            assert isinstance(each.func, ast.Attribute)
            each.func.value = ast.Name(name, ast.Load())
        steps = [value, *reversed(chain)]
        return [ast.Assign([ast.Name(name, ast.Store())], each) for each in steps]


def _is_step(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def step_by_step(tree: ast.Module) -> ast.Module:
    """Pipelines, and other chains, that get their name anew with each step."""
    steps = _Stepwise()
    made: ast.Module = steps.visit(tree)
    if not steps.count:
        raise NotTheSame
    return made


class _Handed(ast.NodeTransformer):
    """`map(f)` as `map(lambda *given: f(*given))`."""

    count = 0

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Attribute(attr="map"), [ast.Name(name), *others]):
                text = f"lambda *given: {name}(*given)"
                node.args = [ast.parse(text, mode="eval").body, *others]
                self.count += 1
        return node


def by_lambdas(tree: ast.Module) -> ast.Module:
    """Functions that are mapped are called by lambdas that hand on all they get."""
    handed = _Handed()
    made: ast.Module = handed.visit(tree)
    if not handed.count:
        raise NotTheSame
    return made


def under_a_strategy(tree: ast.Module) -> ast.Module:
    """All of it in the scope of a strategy."""
    top, rest = begun(tree)
    if not any(ast.unparse(each) == "import tensorflow as tf" for each in top):
        raise NotTheSame
    made = ast.parse("strategy = tf.distribute.MirroredStrategy()\nwith strategy.scope(): ...").body
    assert isinstance(made[-1], ast.With)
    made[-1].body = rest
    return ast.Module([*top, *made], [])


SHAPES: dict[str, Rewrite] = {
    "class": in_a_class,
    "lambdas": by_lambdas,
    "static methods": as_static_methods,
    "step by step": step_by_step,
    "strategy": under_a_strategy,
}
