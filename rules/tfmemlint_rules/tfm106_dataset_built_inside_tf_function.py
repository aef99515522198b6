"""A dataset made of an array inside traced code: the graph holds the data.

## What it finds
`from_tensor_slices` or `from_tensors` in traced code, given a NumPy array that the function reads
from around it: one that is loaded, or of a megabyte or more by the sizes that the code spells out.

## Why it costs memory
What a graph does, its text has to say: the array becomes a constant, one for all of the data, in
each trace. It is held as text, as a tensor and once more by the dataset, copied whenever the graph
is optimised, and a graph of more than 2 GB cannot be made at all. Made outside, the dataset has one
copy, and the graph refers to it.

## What to do instead
Make the dataset once, outside, and read it in the traced function, or pass it as an argument.

## Fix safety
Safe where what the dataset is made of is bound once, made there and only read, and the function is
called and nothing else: the dataset is made behind the array, and the steps that follow stay where
they are. Unsafe where a dataset may come too early, or be missed: where the file sets up devices,
forks processes or imports code of its own that may, saves graphs, which cannot hold a dataset made
outside, or draws random numbers in them. Not offered for attributes, where arrays may be changed
under any name, and where graphs are made by hand.

## When to ignore it
When the graph is exported and has to bring its data along. The rule is silent for arrays that are
arguments of the traced function, since those arrive as tensors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import (
    Applicability,
    Claim,
    Cost,
    Diagnostic,
    File,
    Fix,
    Law,
    Metric,
    Rule,
    costs,
    edits,
)
from tfmemlint.facts.graphs.captures import Capture
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.library.words import TRACED_WORDS
from tfmemlint.facts.sizes.amounts import total
from tfmemlint.facts.syntax.bindings import Binding

SOURCES = frozenset(
    {
        "tensorflow.data.Dataset.from_tensor_slices",
        "tensorflow.data.Dataset.from_tensors",
    }
)

MOST_HOPS = 3
"""Places in turn that an array is put."""


def check(file: File) -> Iterator[Diagnostic]:
    made: dict[ast.Call, list[Capture]] = {}
    for capture in file.tf.captures.all:
        call = _source_of(file, capture.use)
        if call is not None:
            made.setdefault(call, []).append(capture)
    taken: set[str] = set()
    for call, captures in made.items():
        big = [each for each in captures if _is_data(file, each)]
        if big:
            direct = all(file.tf.tree.inside(each.use, call) for each in captures)
            named = direct and all(
                each.binding or isinstance(each.use, ast.Attribute) for each in captures
            )
            fix = _fix(file, call, taken) if named else None
            yield Diagnostic(file.span(call), _message(call, big[0]), fix, _cost(file, big))


def _source_of(file: File, use: ast.expr, hops: int = MOST_HOPS) -> ast.Call | None:
    """The call that makes a dataset of an array, alone or beside others."""
    held, above = [use], file.tf.tree.parent(use)
    while isinstance(above, (ast.Tuple, ast.List, ast.Dict, ast.keyword)):
        held += [above] if isinstance(above, ast.expr) else []
        above = file.tf.tree.parent(above)
    if isinstance(above, ast.Call) and file.tf.names.is_any(above.func, SOURCES):
        return above
    if not isinstance(above, (ast.Assign, ast.Call, ast.For, ast.Return)) or not hops:
        return None
    carried = (one for each in held for one in file.tf.objects.carried(each) or ())
    return next(filter(None, (_source_of(file, each, hops - 1) for each in carried)), None)


def _is_data(file: File, capture: Capture) -> bool:
    if capture.value.nbytes is not None:
        return True
    whole = file.tf.wholes.of(capture.use)
    return whole is not None and whole.loaded


def _message(call: ast.Call, capture: Capture) -> str:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    size = capture.value.nbytes
    array = ast.unparse(capture.use)
    what = f"`{array}`" if size is None else f"`{array}`, {costs.size(size)},"
    function = capture.function
    where = "the lambda" if isinstance(function, ast.Lambda) else f"`{function.name}`"
    return f"`{name}` makes {what} part of the graph: each trace of {where} copies it"


def _cost(file: File, captures: list[Capture]) -> Cost:
    """The copies in one graph; there are others in each."""
    return costs.cost(total(file.tf.arrays.nbytes(each.use) for each in captures), Law.STEPS)


def _fix(file: File, call: ast.Call, taken: set[str]) -> Fix | None:
    """The dataset made where the last of its arrays gets its name."""
    bindings = [] if file.tf.captures.makes_graphs else _bindings(file, call)
    if not bindings or not all(map(file.tf.unchanged.stays, bindings)):
        return None
    statements = [file.tf.tree.statement(each.node) for each in bindings]
    last = max(statements, key=lambda each: each.lineno)
    block = file.tf.tree.place(last)[0]
    if any(file.tf.tree.place(each)[0] is not block for each in statements):
        return None
    if not isinstance(last, ast.Assign) or file.tf.tracing.why(last) is not None:
        return None
    wanted = f"{bindings[0].name}_dataset"
    name = edits.fresh(file, f"{wanted}_{len(taken) + 1}" if wanted in taken else wanted)
    taken.add(name)
    text = file.source(call)
    if "\n" in text or not _is_known_above(file, call, last):
        return None
    line, read = edits.below(file, last, f"{name} = {text}"), edits.replaced(file, call, name)
    safety = Applicability.SAFE if _is_sure(file, call) else Applicability.UNSAFE
    return line and Fix("Make the dataset outside", (line, read), safety)


def _is_sure(file: File, call: ast.Call) -> bool:
    """Whether a dataset may be made earlier, and nobody keeps the graphs or draws by them."""
    sure, function = file.tf.sure_traced, file.tf.tree.function(call)
    return (
        function is not None
        and not file.tf.captures.wants_tensors_late
        and sure.imports_libraries_alone
        and sure.keeps_no_graphs
        and sure.calls(function) is not None
        and not sure.draws(function)
    )


def _bindings(file: File, call: ast.Call) -> list[Binding]:
    """Where the names among the arguments get their values; none where one has several."""
    found: list[Binding] = []
    for argument in given_to(call):
        for node in ast.walk(argument):
            if isinstance(node, (ast.Attribute, ast.Call, ast.Lambda, ast.comprehension)):
                return []
            if isinstance(node, ast.Name):
                binding = file.tf.bindings.only(node)
                if binding is None:
                    return []
                found.append(binding)
    return found


def _is_known_above(file: File, call: ast.Call, statement: ast.stmt) -> bool:
    """Whether what is called is imported where the statement stands, under the same name."""
    root: ast.expr = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    home = file.tf.bindings.home(root.id, statement) if isinstance(root, ast.Name) else None
    if home is None or not isinstance(root, ast.Name):
        return False
    found = file.tf.bindings.of(home, root.id)
    inner = home is not file.tf.tree.scope(statement)
    earlier = all(getattr(each.node, "lineno", 0) < statement.lineno for each in found)
    return len(found) == 1 and (inner or earlier)


RULE = Rule(
    code="TFM106",
    name="dataset-built-inside-tf-function",
    claim=Claim(Metric.HOST_PEAK, at_most=0.4, because="no graph holds a copy of the array"),
    triggers=(
        "from_tensor_slices from_tensors",
        TRACED_WORDS,
    ),
    check=check,
)
