"""A big NumPy array that traced code reads becomes a constant in every graph.

## What it finds
A NumPy array of a megabyte or more, by the sizes and dtypes that the code spells out, that a traced
function reads as a global, from the function around it or as an attribute, and hands to TensorFlow:
`tf.gather(table, ids)`, `x * table`, or `tf.constant(table)` inside the function.

In code that makes its graph by hand, for a session, it finds what becomes a constant of that graph:
`tf.constant(vectors)`, `tf.get_variable("words", initializer=vectors)`,
`tf.constant_initializer(vectors)`, `sess.run(tf.assign(words, vectors))`. The array, or the
variable that is declared for it, is known to be large, or it is a table in which rows are looked
up: all that a file holds, or made beforehand and filled row by row.

## Why it costs memory
A graph cannot point at a NumPy array, so tracing copies it into the graph as a constant: once as
the text of the graph, once as a tensor, and again wherever the graph is optimised, for every trace.
Graphs of more than 2 GB cannot be made at all. A tensor made outside is captured as it is.
Measured in a session of TensorFlow 2.21, with a variable that starts as an array of 97 MB: 1,373 MB
more on the host at most; 108 MB where it is fed, 207 MB with `words.load(vectors, sess)`. With
195 MB: 2,744 MB, 214 MB and 410 MB.

## What to do instead
Make a tensor of the array once, outside, and let the traced function read that. In a graph made by
hand, start the variable as a placeholder, `words = tf.Variable(given)`, and feed that once:
`sess.run(words.initializer, {given: vectors})`.

## Fix safety
Safe where rows are looked up, as in `tf.gather(table, ids)`, at places that are surely tensors: the
array is bound once, made there and only read, and `tf.constant(table)` is put behind it. Unsafe
where anything is calculated of the array itself: what a graph has as a constant is calculated in
advance, so that `table / 3.0` has other last digits. Unsafe also where a tensor may come too early,
or be missed: where the file sets up devices, forks processes or imports code of its own that may,
saves graphs or draws random numbers in them. There, and where the operation converts the array to
the dtype of its other operand, it is offered for float32 alone. Not offered for attributes, where
the array may be changed under any name, and where graphs are made by hand.

## When to ignore it
When the constant is wanted: a model for TensorFlow Lite or a frozen graph has to bring its tables
along. The rule is silent in files that export so, and where the size is not known, other than of
what a file holds, in which rows are looked up: that is a table. In graphs made by hand it is silent
where less than 256 MB would be saved, as with arrays of 18 MB, and rows are not looked up where
`tf.where` finds which ones, such as those of a cluster.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

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
from tfmemlint.facts.library.kinds import Extent
from tfmemlint.facts.library.words import TRACED_WORDS
from tfmemlint.facts.sizes.amounts import count
from tfmemlint.facts.syntax.bindings import Binding
from tfmemlint_rules._analyses.graph_constants import LOOKS_UP, GraphConstant, GraphConstants

CONVERSIONS = frozenset({"tensorflow.constant", "tensorflow.convert_to_tensor"})
COPIES = 14
"""Times that a session holds an array for which its graph has a constant, at its largest."""
EXPORTS = (
    "coremltools",
    "tensorflow.compat.v1.graph_util",
    "tensorflow.graph_util",
    "tensorflow.lite",
    "tensorflow.python.framework.convert_to_constants",
    "tf2onnx",
)


def check(file: File) -> Iterator[Diagnostic]:
    captures = file.tf.captures
    sized = [each for each in captures.all if each.value.nbytes or _is_table(file, each)]
    taken = [each for each in sized if captures.op(each.use) is not None]
    constants = file.tf.of(GraphConstants).all
    if not (taken or constants) or file.tf.names.uses(EXPORTS):
        return
    yield from (_of_session(file, each) for each in constants)
    seen: set[object] = set()
    for capture in taken:
        array = capture.binding or (ast.unparse(capture.use), capture.function)
        if array not in seen:
            seen.add(array)
            together = [each for each in taken if each.binding == capture.binding]
            fix = _fix(file, capture.binding, together) if capture.binding else None
            yield Diagnostic(file.span(capture.use), _message(capture), fix, _cost(file, capture))


def _of_session(file: File, found: GraphConstant) -> Diagnostic:
    """What a graph holds that is made by hand, once, and all that is made of it to run it."""
    known = found.nbytes.value if found.nbytes.is_certain else None
    of_size = f" of {costs.size(int(known))}" if known is not None else ""
    array = f"`{file.named(found.array)}` is a NumPy array{of_size}"
    return Diagnostic(
        file.span(found.array),
        f"{array}: as a constant of its graph it is held many times over",
        None,
        costs.cost(found.nbytes.times(count(COPIES)), after=found.nbytes, worth=costs.NOTICED),
    )


def _is_table(file: File, capture: Capture) -> bool:
    """Whether rows are looked up in all of what a file holds, however much that is."""
    call = file.tf.captures.op(capture.use)
    looks_up = isinstance(call, ast.Call) and file.tf.names.is_any(call.func, LOOKS_UP)
    return looks_up and capture.value.extent is Extent.WHOLE


def _message(capture: Capture) -> str:
    nbytes = capture.value.nbytes
    of_size = f" of {costs.size(nbytes)}" if nbytes else ""
    function = "the lambda"
    if not isinstance(capture.function, ast.Lambda):
        function = f"`{capture.function.name}`"
    array = ast.unparse(capture.use)
    return f"`{array}` is a NumPy array{of_size}: each trace of {function} copies it into its graph"


def _cost(file: File, capture: Capture) -> Cost:
    """The copy in one graph; there is another in each."""
    return costs.cost(file.tf.arrays.nbytes(capture.use), Law.STEPS)


def _fix(file: File, binding: Binding, captures: Sequence[Capture]) -> Fix | None:
    """A tensor made where the array gets its name, and read in place of it."""
    statement = file.tf.tree.statement(binding.node)
    tf = file.tf.names.module("tensorflow", statement)
    if tf is None or not isinstance(statement, ast.Assign) or file.tf.captures.makes_graphs:
        return None
    if file.tf.tracing.why(statement) is not None or not file.tf.unchanged.stays(binding):
        return None
    if not _imported_before(file, tf, statement):
        return None
    conversions = {_conversion(file, each) for each in captures}
    made, safety = f"{tf}.constant({binding.name})", Applicability.SAFE
    places: list[ast.expr] = [each.use for each in captures]
    if None not in conversions and len(conversions) == 1:
        places = [call for each in captures if (call := file.tf.captures.op(each.use)) is not None]
        made = conversions.pop() or made
    elif not all(_is_alone(file, each) for each in captures):
        safety = Applicability.UNSAFE
        if captures[0].value.dtype != "float32" or any(conversions):
            return None
    elif any(conversions):
        return None
    if not _is_sure(file, captures) or not all(_only_looks_up(file, each) for each in captures):
        safety = Applicability.UNSAFE
    suffix = "_TENSOR" if binding.name.isupper() else "_tensor"
    name = edits.fresh(file, binding.name + suffix)
    line = edits.below(file, statement, f"{name} = {made}")
    replaced = [edits.replaced(file, each, name) for each in places]
    title = f"Make one tensor of `{binding.name}`"
    return None if line is None else Fix(title, (line, *replaced), safety)


def _conversion(file: File, capture: Capture) -> str | None:
    """`tf.constant(table, tf.float32)`, where what else it is given is the same everywhere."""
    call = file.tf.captures.op(capture.use)
    if not isinstance(call, ast.Call) or call.args[:1] != [capture.use]:
        return None
    others = (*call.args[1:], *(each.value for each in call.keywords))
    settled = all(
        isinstance(each, ast.Constant) or file.tf.names.qualified(each) for each in others
    )
    converts = file.tf.names.is_any(call.func, CONVERSIONS)
    return file.source(call) if converts and settled else None


def _is_alone(file: File, capture: Capture) -> bool:
    """Whether an array is converted before any other operand is looked at: it comes first."""
    call = file.tf.captures.op(capture.use)
    if not isinstance(call, ast.Call) or call.args[:1] != [capture.use]:
        return False
    return (file.tf.names.qualified(call.func) or "").startswith("tensorflow.")


def _is_sure(file: File, captures: Sequence[Capture]) -> bool:
    """Whether a tensor may be made earlier, and nobody keeps the graphs or draws by them."""
    sure = file.tf.sure_traced
    return (
        not file.tf.captures.wants_tensors_late
        and sure.imports_libraries_alone
        and sure.keeps_no_graphs
        and not any(sure.draws(each.function) for each in captures)
    )


def _only_looks_up(file: File, capture: Capture) -> bool:
    """Whether rows are taken out of an array at places that are tensors: there is none to fold.

    What is calculated with a constant is calculated beforehand, or in another order: its last
    digits are others than those of the same with a tensor.
    """
    call, sure = file.tf.captures.op(capture.use), file.tf.sure_traced
    if not isinstance(call, ast.Call) or not file.tf.names.is_any(call.func, LOOKS_UP):
        return False
    function, places = capture.function, call.args[1:2]
    place = places[0] if places else None
    if len(call.args) != 2 or call.keywords or not isinstance(place, ast.Name):
        return False
    if file.tf.bindings.home(place.id, place) is not function:
        return False
    bound = file.tf.bindings.of(function, place.id)
    calls = sure.calls(function)
    passed = [file.tf.callers.argument(each, function, place.id) for each in calls or ()]
    known = all(each is not None and sure.is_tensor(each) for each in passed)
    return len(bound) == 1 and bool(passed) and known


def _imported_before(file: File, tf: str, statement: ast.stmt) -> bool:
    home = file.tf.bindings.home(tf, statement)
    found = file.tf.bindings.of(home, tf) if home is not None else ()
    inner = home is not file.tf.tree.scope(statement)
    return inner or all(getattr(each.node, "lineno", 0) < statement.lineno for each in found)


RULE = Rule(
    code="TFM105",
    name="numpy-captured-as-constant",
    claim=Claim(
        Metric.HOST_PEAK, at_most=0.2, because="the array is converted once, and no graph holds it"
    ),
    triggers=(
        "assign disable_eager_execution disable_v2_behavior get_variable placeholder "
        f"{TRACED_WORDS}",
        "datasets joblib get_variable numpy pandas placeholder sklearn",
    ),
    check=check,
)
