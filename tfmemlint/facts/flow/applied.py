"""Functions that are applied to each of many things, and give a list of what they make."""

from __future__ import annotations

import ast

from tfmemlint.facts.syntax.names import Names
from tfmemlint.facts.syntax.nodes import called
from tfmemlint.light_typing import NamedTuple

_OF_POOLS = frozenset({"imap", "imap_unordered", "map"})
_OF_COLUMNS = frozenset({"apply", "map"})
_ROWS = frozenset({"to_list", "to_numpy", "tolist", "values"})
_DELAYS = frozenset({"dask.delayed", "joblib.delayed"})
_RUNS = frozenset({"joblib.Parallel"})


class Applied(NamedTuple):
    """What is applied to each of many."""

    made: ast.Call
    """What one of them becomes, `load(each)`."""
    each: ast.AST
    """What stands for one of them, or gives one after the other."""
    many: ast.expr


def applied(call: ast.Call, names: Names) -> Applied | None:
    """`map(load, paths)`, `pool.map(load, paths)`, `table["path"].apply(load)` and the like."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else None
    if len(call.args) == 2 and (called(call) == "map" or method in _OF_POOLS):
        return _of_each(call.args[0], call.args[1])
    if len(call.args) == 1 and isinstance(call.func, ast.Attribute) and method in _OF_COLUMNS:
        many = call.func.value  # a pipeline that is mapped has a name, or is made there
        column = method == "apply" or isinstance(many, ast.Subscript)
        return _of_each(call.args[0], many) if column else None
    if len(call.args) == 1 and names.call_of(call.func, _RUNS) is not None:
        return _delayed(call.args[0], names)
    return None


def column(node: ast.expr) -> ast.expr:
    """What `column.values` and `column.tolist()` are the rows of; anything else is itself."""
    method = node.func if isinstance(node, ast.Call) and not node.args else node
    is_column = isinstance(method, ast.Attribute) and method.attr in _ROWS
    return method.value if is_column and isinstance(method, ast.Attribute) else node


def _of_each(function: ast.expr, many: ast.expr) -> Applied:
    each = ast.Name("each", ast.Load())
    return Applied(ast.Call(function, [each], []), each, many)


def _delayed(given: ast.expr, names: Names) -> Applied | None:
    """`Parallel(4)(delayed(load)(path) for path in paths)`."""
    if not isinstance(given, (ast.GeneratorExp, ast.ListComp)) or len(given.generators) != 1:
        return None
    run = given.elt.func if isinstance(given.elt, ast.Call) else None
    late = names.call_of(run, _DELAYS)
    if late is None or not late.args or not isinstance(given.elt, ast.Call):
        return None
    made = ast.Call(late.args[0], given.elt.args, given.elt.keywords)
    return Applied(made, given.generators[0], given.generators[0].iter)
