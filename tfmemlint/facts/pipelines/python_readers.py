"""Functions of plain Python that read files which they are told of: `np.load(name.decode())`."""

from __future__ import annotations

import ast

from tfmemlint.facts.library import makers, reading
from tfmemlint.facts.syntax.functions import Functions
from tfmemlint.facts.syntax.names import Names
from tfmemlint.facts.syntax.nodes import names_in, stored_in
from tfmemlint.facts.syntax.tree import FunctionNode, parameters

_READS = makers.LOADS_WHOLE | reading.LOADS | {"tensorflow.io.read_file"}
_DEEPEST = 3


def reads_arguments(
    function: FunctionNode, names: Names, functions: Functions, hops: int = _DEEPEST
) -> bool:
    """Whether a function reads a file whose name it works out from what it is given."""
    told = {each.arg for each in parameters(function)}
    for node in functions.bodies.body(function):
        if isinstance(node, ast.Assign) and not told.isdisjoint(names_in(node.value)):
            told |= stored_in(*node.targets)
        if not isinstance(node, ast.Call) or told.isdisjoint(names_in(*node.args)):
            continue
        if names.is_any(node.func, _READS):
            return True
        called = functions.function(node.func) if hops else None
        if called is not None and reads_arguments(called, names, functions, hops - 1):
            return True
    return False


def run_reads(call: ast.Call, names: Names, functions: Functions) -> bool:
    """Whether what `tf.numpy_function` and the like run reads files that it is told of."""
    given = makers.argument(call, 0, "func")
    found = functions.definitions(given) if given is not None else ()
    known = [each for each in found if not isinstance(each, ast.ClassDef)]
    return bool(known) and all(reads_arguments(each, names, functions) for each in known)


def reads_each(generator: FunctionNode, names: Names, functions: Functions) -> bool:
    """Whether a generator reads a file for each element that it gives."""
    tree = functions.tree
    giving = [[*tree.loops(each)] for each in functions.bodies.yields(generator)]
    for node in functions.bodies.body(generator):
        rounds = [*tree.loops(node)]
        if isinstance(node, ast.Call) and rounds and rounds in giving:
            called = functions.function(node.func)
            if names.is_any(node.func, _READS):
                return True
            if called is not None and reads_arguments(called, names, functions):
                return True
    return False
