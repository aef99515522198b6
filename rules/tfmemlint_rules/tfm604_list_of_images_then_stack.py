"""Images are loaded into a list, file by file, and the list is stacked.

## What it finds
A list that gets an array for each file of a data set, in a loop or a comprehension over paths, and
that is then stacked with `tf.stack`, `np.array` or one of their relatives. The arrays are decoded
by `tf.io`, read by OpenCV, Pillow, `load_img`, `np.load` and the like, or come from a function that
does so, here or in another file that is checked in the same run.

## Why it costs memory
The list holds every example of the data set, decoded, and stacking copies them all: for that moment
the data is in memory twice, and once from then on. Both grow with the number of files. An image
that was resized by TensorFlow is float32 besides, four times the size of its pixels.

## What to do instead
Let a `tf.data` pipeline load each file when its turn comes, so that a batch is in memory at a time:
`tf.data.Dataset.from_tensor_slices(paths).map(load).batch(32)`. Where the whole array is needed,
fill one that was made beforehand, `np.empty((len(paths), height, width, 3), np.float32)`: that
saves the list.

## Fix safety
Unsafe: what was an array becomes a pipeline. It gives the same elements in the same order, but
reads and decodes the files at each pass: they must stay where they are, and each pass takes time.
The loop becomes the function of a `map`, and the uses follow: iteration, `len`, batches by slicing,
`predict`, `from_tensor_slices`. The fix is offered where the loop applies nothing but deterministic
TensorFlow operations, and every use in the module is one of these. Other modules that import the
function have to follow by hand.

## When to ignore it
When the data is small beside the memory there is, and is read many times.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import pairwise

from tfmemlint import Applicability, Claim, Diagnostic, Edit, File, Fix, Metric, Rule, Span, edits
from tfmemlint.facts import Gathered, Growth, Kind, Over, Trail, argument, same_code

STACKS = {
    "keras.ops.array": "x",
    "keras.ops.convert_to_tensor": "x",
    "keras.ops.stack": "x",
    "numpy.array": "object",
    "numpy.asarray": "a",
    "numpy.concatenate": "arrays",
    "numpy.copy": "a",
    "numpy.stack": "arrays",
    "numpy.vstack": "tup",
    "tensorflow.concat": "values",
    "tensorflow.constant": "value",
    "tensorflow.convert_to_tensor": "value",
    "tensorflow.stack": "values",
}
JOINS = ("numpy.concatenate", "numpy.vstack", "tensorflow.concat")
"""These put examples one behind the other along an axis they already have."""
SLICES = "tensorflow.data.Dataset.from_tensor_slices"
LONG = 60


def check(file: File) -> Iterator[Diagnostic]:
    for stack in file.tf.tree.all(ast.Call):
        name = file.tf.names.qualified(stack.func)
        stacked = argument(stack, 0, STACKS[name]) if name in STACKS else None
        gathered = file.tf.loading.gathered(stacked) if stacked is not None else None
        if name is None or stacked is None or gathered is None:
            continue
        held = f"`{stacked.id}`, which" if isinstance(stacked, ast.Name) else "a list that"
        files = file.source(gathered.files)
        every = "each file" if "\n" in files or len(files) > LONG else f"every one of `{files}`"
        yield Diagnostic(
            span=file.span(stack.func),
            message=f"`{file.source(stack.func)}` copies {held} holds what is loaded from {every}",
            fix=_fix(file, stack, gathered, name),
        )


def _fix(file: File, stack: ast.Call, gathered: Gathered, name: str) -> Fix | None:
    trails = file.tf.uses.of(stack)
    if name in JOINS or len(stack.args) != 1 or stack.keywords or not trails:
        return None
    if not all(_stays_open(file, trail) for trail in trails):
        return None
    as_before = ".as_numpy_iterator()" if name.startswith("numpy.") else ""
    found = [*_made(file, stack, gathered)]
    for trail in trails:
        found += _served(file, trail, as_before)
    whole = [each for each in found if each is not None]
    if len(whole) < len(found):
        return None
    return Fix(
        title="Load the files in a `tf.data` pipeline, as they are needed",
        edits=tuple(whole),
        applicability=Applicability.UNSAFE,
    )


def _stays_open(file: File, trail: Trail) -> bool:
    """Whether a use is inside every `with` the loop was in: that is when files are read now."""
    tree = file.tf.tree
    for earlier, later in pairwise(trail):
        same = tree.function(earlier) is tree.function(later)
        if not _withs(file, earlier) <= (_withs(file, later) if same else frozenset()):
            return False
    return not any(file.tf.tracing.why(each) for each in trail)


def _withs(file: File, node: ast.expr) -> frozenset[ast.AST]:
    function = file.tf.tree.function(node)
    return frozenset(
        each
        for each in file.tf.tree.ancestors(node)
        if isinstance(each, (ast.With, ast.AsyncWith)) and file.tf.tree.function(each) is function
    )


# The edits. A None among them stands for one that cannot be made, which undoes them all.

Edits = Iterable[Edit | None]
NEVER: Edits = (None,)


def _instead(file: File, node: ast.expr, text: str | None) -> Edit | None:
    """`text` in place of an expression, as long as no comment is lost."""
    if text is None or file.source(node).count("#") > text.count("#"):
        return None
    return edits.replaced(file, node, text)


def _behind(file: File, node: ast.expr, text: str) -> Edit:
    end = file.span(node).end
    return Edit(Span(end, end), text)


def _header(file: File, loop: ast.For, first: ast.For | ast.expr, text: str) -> Edit | None:
    """`text` from `first` to the end of what a loop goes over, if the colon is next."""
    start, end = file.span(first).start, file.span(loop.iter).end
    bare = file.text[end:].lstrip(" \t").startswith(":")
    return Edit(Span(start, end), text) if bare and file.concrete(loop.iter) else None


def _taken_out(file: File, statement: ast.stmt, instead: str = "") -> Edit | None:
    """Something in place of a statement's lines; a comment behind the statement stays."""
    lines = edits.whole_lines(file, statement)
    if lines is None:
        return None
    start, end = file.span(statement)
    comment = file.text[end : lines.end].lstrip(" \t")
    if comment.startswith("#"):
        return Edit(Span(start, lines.end - len(comment)), "")
    return Edit(lines, instead)


# What fills the list becomes the function of a `map`.


def _made(file: File, stack: ast.Call, gathered: Gathered) -> Edits:
    if gathered.comprehension is not None and gathered.comprehension is stack.args[0]:
        return _made_of_comprehension(file, stack, gathered.comprehension)
    return _made_of_loop(file, stack, gathered.growth) if gathered.growth is not None else NEVER


def _made_of_comprehension(
    file: File, stack: ast.Call, made: ast.ListComp | ast.GeneratorExp
) -> Edits:
    match made.generators:
        case [ast.comprehension(target=ast.Name(id=path), iter=files, ifs=[], is_async=0)]:
            pass
        case _:
            return NEVER
    if not file.tf.ops.traceable([made.elt], [path]):
        return NEVER
    match made.elt:
        case ast.Call(func=function, args=[ast.Name(id=passed)], keywords=[]) if passed == path:
            load = file.source(function)
        case _:
            load = f"lambda {path}: {file.source(made.elt)}"
    return [_instead(file, stack, _pipeline(file, stack, files, load))]


def _pipeline(file: File, stack: ast.Call, files: ast.expr, load: str) -> str | None:
    tf = file.tf.names.module("tensorflow", stack)
    if tf is None or not file.tf.iterables.is_sequence(files):
        return None
    return f"{tf}.data.Dataset.from_tensor_slices({file.source(files)}).map({load})"


def _made_of_loop(file: File, stack: ast.Call, growth: Growth) -> Edits:
    tree, loop = file.tf.tree, growth.loops[0].node
    if not isinstance(loop, ast.For) or not _makes_each_of_its_path(file, growth, loop):
        return NEVER
    block, place = tree.place(loop)
    start, end = tree.statement(growth.start.node), tree.statement(stack)
    readers = {_appended_to(growth), stack.args[0]}
    if (
        block[place - 1 : place + 2] != [start, loop, end]
        or getattr(start, "targets", None) != [growth.start.node]
        or {*file.tf.bindings.readers(growth.start)} != readers
    ):
        return NEVER
    element = growth.value.id if isinstance(growth.value, ast.Name) else "one"
    load = edits.fresh(file, f"load_{element}", "load_file")
    above = _space(file, block[place - 2], start) if place > 1 else ""
    behind = file.lines.start(file.span(end).start)
    return [
        _taken_out(file, start, above),
        _header(file, loop, loop, f"def {load}({file.source(loop.target)})"),
        _returned(file, growth),
        Edit(Span(behind, behind), _space(file, loop, end)),
        _instead(file, stack, _pipeline(file, stack, loop.iter, load)),
    ]


def _makes_each_of_its_path(file: File, growth: Growth, loop: ast.For) -> bool:
    """Whether a loop does nothing else than append what operations make of its variable."""
    return (
        isinstance(loop.target, ast.Name)
        and not loop.orelse
        and file.tf.tree.parent(growth.node) is loop.body[-1]
        and not isinstance(file.tf.tree.scope(loop), ast.ClassDef)
        and file.tf.loops.is_closed(growth.loops[0])
        and file.tf.ops.traceable([*loop.body[:-1], growth.value], [loop.target.id])
    )


def _appended_to(growth: Growth) -> ast.expr | None:
    match growth.node:
        case ast.Call(func=ast.Attribute(value=grown, attr="append")):
            return grown
        case _:
            return None


def _returned(file: File, growth: Growth) -> Edit | None:
    """`return image` for `images.append(image)`."""
    call, value = file.span(growth.node), file.span(growth.value)
    if "\n" not in file.source(call):
        return Edit(call, f"return {file.source(value)}")
    if "," in file.text[value.end : call.end]:
        return None
    return Edit(Span(call.start, file.text.index("(", call.start)), "return ")


def _space(file: File, first: ast.stmt, second: ast.stmt) -> str:
    """The line ends missing between two statements when one of them becomes a function."""
    gap = file.text[file.span(first).end : file.span(second).start]
    wanted = 2 if edits.margin(file, second) else 3
    return "" if "#" in gap else edits.newline(file) * (wanted - gap.count("\n"))


# The uses follow, `as_before` where they have to get NumPy arrays as before.


def _served(file: File, trail: Trail, as_before: str) -> Edits:
    use, parent = trail[-1], file.tf.tree.parent(trail[-1])
    match parent:
        case ast.Call(func=ast.Name(id="len")):
            return []
        case _ if not _is_read_once_an_epoch(file, trail):
            return NEVER
        case _ if _is_iterated(file, use):
            return [_behind(file, use, as_before)]
        case ast.Subscript(value=images) if images is use:
            return _sliced(file, parent, as_before)
        case ast.Tuple():
            return _paired(file, parent, use)
        case ast.Call(func=ast.Attribute(value=model, attr="predict")):
            is_model = file.tf.values.of(model).kind is Kind.MODEL
            return _predicted(file, parent, use) if is_model else NEVER
        case ast.Call(args=[_], keywords=[]) if file.tf.names.qualified(parent.func) == SLICES:
            return [_instead(file, parent, file.source(use))]
        case _:
            return NEVER


def _is_read_once_an_epoch(file: File, trail: Trail) -> bool:
    """Whether no loop between the making and the use would read the files again and again."""
    tree, since = file.tf.tree, trail[-2:][0]
    between = [
        loop for loop in file.tf.loops.around(trail[-1]) if not tree.inside(since, loop.node)
    ]
    slices = isinstance(tree.parent(trail[-1]), ast.Subscript)
    return all(loop.over is Over.EPOCHS for loop in between[1 if slices else 0 :])


def _is_iterated(file: File, use: ast.expr) -> bool:
    match file.tf.tree.parent(use):
        case ast.Call(func=ast.Name(id="enumerate" | "zip")) as call:
            return use in call.args and _is_iterated(file, call)
        case ast.For(iter=iterable) | ast.comprehension(iter=iterable):
            return iterable is use
        case _:
            return False


def _paired(file: File, pair: ast.Tuple, use: ast.expr) -> Edits:
    """`Dataset.zip((images, Dataset.from_tensor_slices(labels)))`."""
    match file.tf.tree.parent(pair):
        case ast.Call(func=ast.Attribute(value=dataset) as slices, args=[_], keywords=[]):
            pass
        case _:
            return NEVER
    if file.tf.names.qualified(slices) != SLICES:
        return NEVER
    others = [each for each in pair.elts if each is not use]
    return [
        _instead(file, slices, f"{file.source(dataset)}.zip"),
        *(_instead(file, each, f"{file.source(slices)}({file.source(each)})") for each in others),
    ]


def _predicted(file: File, call: ast.Call, use: ast.expr) -> Edits:
    """`model.predict(images.batch(32))`."""
    given = {each.arg: each.value for each in call.keywords}
    understood = given.keys() <= {"x", "batch_size", "callbacks", "verbose"}
    if not understood or len(call.args) > 1 or argument(call, 0, "x") is not use:
        return NEVER
    match given.get("batch_size"):
        case None:
            return [_behind(file, use, ".batch(32)")]
        case ast.Constant(value=None):
            size = "32"
        case expression:
            size = file.source(expression)
    batched = _behind(file, use, f".batch({size})")
    return [batched, edits.without_argument(file, call, "batch_size")]


def _sliced(file: File, part: ast.Subscript, as_before: str) -> Edits:
    """`for batch in images.batch(size):` for a loop that takes one slice after another."""
    tree, facts = file.tf.tree, file.tf
    taken = tree.parent(part)
    match taken, part.value, tree.parent(taken) if taken is not None else None:
        case (
            ast.Assign(targets=[ast.Name(id=batch)]),
            ast.Name(id=images) as source,
            ast.For(
                target=ast.Name(id=offset) as target,
                iter=ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=0), stop, size]),
                body=[first, _, *_],
            ) as loop,
        ) if first is taken:
            pass
        case _:
            return NEVER
    counted = facts.values.rows(stop)
    whole = ast.parse(f"{images}[{offset}:{offset} + ({ast.unparse(size)})]", mode="eval").body
    steps = next(
        each for each in facts.bindings.of(tree.scope(loop), offset) if each.node is target
    )
    if (
        not same_code(whole, part)
        or not isinstance(counted, ast.Name)
        or facts.bindings.only(counted) != facts.bindings.only(source)
        or len(facts.bindings.readers(steps)) != 2
    ):
        return NEVER
    text = f"{batch} in {images}.batch({file.source(size)}){as_before}"
    return [_header(file, loop, target, text), _taken_out(file, first)]


RULE = Rule(
    code="TFM604",
    name="list-of-images-then-stack",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.25,
        because="a batch is in memory at a time, not the whole data set and a copy of it",
    ),
    triggers=(
        "array asarray concat concatenate constant convert_to_tensor copy stack vstack",
        "ReadImage dcmread decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg "
        "decode_png decode_raw decode_wav frombuffer fromfile fromstring genfromtxt imdecode "
        "imread load load_img loadtxt open parse_tensor read",
    ),
    check=check,
    across_files=True,
)
