"""Images are loaded into a list, file by file, and the list is stacked.

## What it finds
A list that gets an array for each file of a data set, in a loop or a comprehension over paths, and
that is then stacked with `tf.stack`, `np.array` or one of their relatives, or given to
`from_tensor_slices` or `np.random.permutation`, which stack it themselves. The arrays are decoded
by `tf.io`, read by OpenCV, Pillow, `load_img`, `np.load` and the like, or come from a function that
does so, here or in another file that is checked in the same run. Also images that are numbers in
the rows of a text, split and given their shape: a column of pixels, the lines of a CSV file. And a
list that a loop over a tf.data pipeline fills with the elements it gives, with their inputs, be
they taken out of batches one by one, or with what it decodes of the records that are given.

## Why it costs memory
The list holds every example of the data set, decoded, and stacking copies them all: for that moment
the data is in memory twice, and once from then on. Both grow with the number of files. An image
that was resized by TensorFlow is float32 besides, four times the size of its pixels; one made of
`int`s of Python is int64, eight times.

## What to do instead
Let a `tf.data` pipeline load each file when its turn comes, so that a batch is in memory at a time:
`tf.data.Dataset.from_tensor_slices(paths).map(load).batch(32)`. Where the whole array is needed,
fill one that was made beforehand, `np.empty((len(paths), height, width, 3), np.float32)`: that
saves the list. Of a text, `tf.data.TextLineDataset(path)` gives one row after another, which
`tf.strings.split` and `tf.strings.to_number` take apart in the function of a `map`. What a pipeline
gives already, `fit`, `predict`, metrics and loops take from the pipeline itself.

## Fix safety
Unsafe: what was an array becomes a pipeline. It gives the same elements in the same order, but
reads and decodes the files at each pass: they must stay where they are, and each pass takes time.
The loop becomes the function of a `map`, and the uses follow: iteration, `len`, batches by slicing,
`predict`, `from_tensor_slices`. The fix is offered where the loop applies nothing but deterministic
TensorFlow operations, and every use in the module is one of these. Other modules that import the
function have to follow by hand. What parses rows of a text is Python, and is not fixed; nor is what
is collected from a pipeline, whose uses are to be rewritten.

## When to ignore it
When the data is small beside the memory there is, and is read many times. Of a pipeline, the rule
is silent by itself for labels, file names and what is known to be small, for up to 1,024 elements,
where the loop stops early or picks some, on the files of one picture or patient that whoever calls
picks, and in tests. Of files of unknown size, it is silent for up to 32, and for any number of
unknown files that give up to 8 KB each; of several lists that one loop fills, it speaks of the
first, unless they are fixed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import chain

from tfmemlint import (
    Applicability,
    Claim,
    Cost,
    Diagnostic,
    Edit,
    File,
    Fix,
    Law,
    Metric,
    Rule,
    costs,
    edits,
    loop_edits,
)
from tfmemlint.facts.flow.loading import Gathered
from tfmemlint.facts.flow.stacks import Stack
from tfmemlint.facts.library.kinds import Extent
from tfmemlint.facts.library.makers import PERMUTES, argument
from tfmemlint.facts.library.words import PIPELINE_WORDS, READING_WORDS
from tfmemlint.facts.sizes.amounts import Amount, count
from tfmemlint.facts.sizes.arrays import bytes_of
from tfmemlint_rules._analyses import takers
from tfmemlint_rules._analyses.collected import Collected
from tfmemlint_rules._analyses.fillings import Filling, Fillings
from tfmemlint_rules._analyses.takers import Takers

SLICES = frozenset({"tensorflow.data.Dataset.from_tensor_slices"})
LONG = 60
FEW = 32
"""Files: a batch of them, which somebody puts together."""
LARGE = 256 << 20
"""Bytes of what is made of an array in memory."""
TINY = 8 << 10
"""Bytes of what each of them gives: of ten thousand, 80 MB."""
ELEMENT = Amount(("what is in a file",), of_bytes=True)
DECODED = Amount(("what is decoded of a record",), of_bytes=True)


def check(file: File) -> Iterator[Diagnostic]:
    told: set[ast.expr] = set()
    for stack in (*file.tf.stacks.all, *_sliced(file)):
        if _refers(stack):
            continue
        loaded = file.tf.loading.gathered(stack.listed)
        gathered = loaded or file.tf.parsing.gathered(stack.listed)
        if gathered is None:
            yield from _of_pipeline(file, stack) or _of_array(file, stack)
            continue
        most = file.tf.numbers.length(gathered.files).value
        cost = _cost(file, stack, gathered)
        if most is not None and most <= FEW and cost.at_most is None:
            continue  # what is known to be small is the engine's to hide
        if loaded and most is None and _are_tiny(file, stack):
            continue
        fix = _fix(file, stack, loaded) if loaded else None
        if fix is None and gathered.files in told:
            continue  # what one loop gathers in several lists is one mistake
        told.add(gathered.files)
        made, each = ("loaded", "each file") if loaded else ("parsed", "each row")
        files = file.source(gathered.files)
        every = each if "\n" in files or len(files) > LONG else f"every one of `{files}`"
        yield Diagnostic(
            span=file.span(stack.call.func),
            message=f"{_copies(file, stack)} holds what is {made} from {every}",
            fix=fix,
            cost=cost,
        )


def _sliced(file: File) -> Iterator[Stack]:
    """Lists that a pipeline makes a tensor of: `from_tensor_slices((images, labels))`."""
    for call, name in file.tf.names.calls(SLICES):
        given = argument(call, 0, "tensors")
        several = given.elts if isinstance(given, ast.Tuple) else [given]
        yield from (Stack(call, name, each) for each in several if each is not None)


def _are_tiny(file: File, stack: Stack) -> bool:
    """Whether each element is known to be so small that it takes very many to matter."""
    each = file.tf.arrays.elements(stack.listed)
    held = bytes_of(each).at_most if each is not None else None
    return held is not None and held <= TINY


def _refers(stack: Stack) -> bool:
    """Whether the array holds what is in the list itself: `np.array(images, dtype=object)`."""
    dtype = argument(stack.call, 1, "dtype")
    return dtype is not None and ast.unparse(dtype).strip("'\"") in ("object", "np.object", "O")


def _of_array(file: File, stack: Stack) -> list[Diagnostic]:
    """A list with something made of every row of an array, known to be large: enlarged images."""
    filled = _filled(file, stack.listed)
    if filled is None:
        return []
    rows, made = filled
    value, held = file.tf.values.of(rows), file.tf.arrays.listed(stack.listed)
    large = held is not None and (held.value or 0) >= LARGE
    if held is None or not large or value.extent is not Extent.WHOLE or not value.is_array:
        return []
    if any(isinstance(each, ast.Subscript) for each in made):
        return []  # rows and windows as they are
    message = f"{_copies(file, stack)} holds what is made of every one of `{file.source(rows)}`"
    each = file.tf.arrays.elements(stack.listed)
    one = bytes_of(each).folded() if each is not None else None
    cost = costs.cost(count(2).times(held), Law.DATA, one)
    return [Diagnostic(file.span(stack.call.func), message, None, cost)]


def _filled(file: File, listed: ast.expr) -> tuple[ast.expr, list[ast.expr]] | None:
    """What a loop or a comprehension goes over that makes a list, and what it puts there."""
    made = file.tf.flow.same(listed)[-1]
    if isinstance(made, ast.ListComp):
        loop, added = file.tf.loops.loop(made.generators[0]), [made.elt]
    else:
        grown = file.tf.growths.filling(listed, None)
        if len(grown) != 1:
            return None
        loop, added = grown[0].loops[0], grown[0].elements
    if loop.iterable is None:
        return None
    return file.tf.iterables.counted(loop.iterable) or loop.iterable, added


def _of_pipeline(file: File, stack: Stack) -> list[Diagnostic]:
    """A list that a loop over a pipeline fills with what it gives."""
    found = file.tf.of(Collected).of(stack.listed)
    if found is None:
        return []
    given = file.source(found.dataset)
    all_of = "a pipeline" if "\n" in given or len(given) > LONG else f"`{given}`"
    what = "what is decoded of " if found.is_decoded else ""
    message = f"{_copies(file, stack)} holds {what}every element of {all_of}"
    if found.is_decoded:
        every = Amount((all_of,)).times(DECODED)
    else:
        every = file.tf.streams.all(file.tf.datasets.of(found.dataset)[0])
    cost = costs.cost(count(2).times(every), Law.DATA)
    return [Diagnostic(file.span(stack.call.func), message, None, cost)]


def _copies(file: File, stack: Stack) -> str:
    named = isinstance(stack.listed, ast.Name)
    held = f"`{file.source(stack.listed)}`, which" if named else "a list that"
    return f"`{file.source(stack.call.func)}` copies {held}"


def _cost(file: File, stack: Stack, gathered: Gathered) -> Cost:
    """The list and the array that is made of it, and one file at a time instead."""
    arrays, each = file.tf.arrays, file.tf.arrays.elements(stack.listed)
    if each is None:
        files = file.tf.numbers.length(gathered.files)
        every = count(2).times(files).times(ELEMENT)
        return costs.cost(every, Law.DATA, ELEMENT)
    held = arrays.listed(stack.listed) or ELEMENT
    return costs.cost(count(2).times(held), Law.DATA, bytes_of(each).folded())


def _fix(file: File, stack: Stack, gathered: Gathered) -> Fix | None:
    tf, trails = file.tf, file.tf.uses.of(stack.call)
    filling = tf.of(Fillings).of(gathered, stack.listed)
    plain = stack.is_plain and not stack.joins and stack.name not in SLICES | PERMUTES
    if filling is None or not trails or not plain:
        return None
    if not all(map(tf.uses.stays_open, trails)):
        return None
    if any(tf.tracing.why(each) for trail in trails for each in trail):
        return None
    as_before = ".as_numpy_iterator()" if stack.name.startswith("numpy.") else ""
    taken = [_taken(file, trail[-1], tf.of(Takers).of(trail), as_before) for trail in trails]
    whole = edits.whole(chain(_made(file, stack, filling), *taken))
    title = "Load the files in a `tf.data` pipeline, as they are needed"
    return Fix(title, whole, Applicability.UNSAFE) if whole is not None else None


def _made(file: File, stack: Stack, filling: Filling) -> Iterable[Edit | None]:
    """The pipeline in place of the array, and what fills the list as the function of its `map`."""
    tensorflow = file.tf.names.module("tensorflow", stack.call)
    if tensorflow is None:
        return [None]
    defined: tuple[Edit | None, ...] = ()
    match filling.appends, filling.made:
        case (loop, append), made:
            element = made.id if isinstance(made, ast.Name) else "one"
            load = edits.fresh(file, f"load_{element}", "load_file")
            defined = loop_edits.as_function(file, loop, append, load)
        case _, ast.Call(func=function, args=[ast.Name(id=given)], keywords=[]) if (
            given == filling.each
        ):
            load = file.source(function)
        case _, made:
            load = f"lambda {filling.each}: {file.source(made)}"
    slices = f"{tensorflow}.data.Dataset.from_tensor_slices({file.source(filling.sequence)})"
    return [*defined, edits.instead(file, stack.call, f"{slices}.map({load})")]


def _taken(
    file: File, rows: ast.expr, taker: takers.Taker | None, as_before: str
) -> Iterable[Edit | None]:
    """What takes the rows takes those of a pipeline, `as_before` where they were NumPy arrays."""
    match taker:
        case takers.Counted():
            return []
        case takers.Iterated():
            return [edits.behind(file, rows, as_before)]
        case takers.Cut(loop, taken, batch, size):
            batches = f"{file.source(rows)}.batch({file.source(size)}){as_before}"
            return loop_edits.over(file, loop, batch, batches, taken)
        case takers.Predicted(call, told):
            given = file.source(told) if told is not None else "None"
            batched = edits.behind(file, rows, f".batch({'32' if given == 'None' else given})")
            untold = [edits.without_argument(file, call, "batch_size")] if told is not None else []
            return [batched, *untold]
        case takers.Piped(call):
            return [edits.instead(file, call, file.source(rows))]
        case takers.Paired(slices, others):
            wrap = file.source(slices)
            return [
                edits.instead(file, slices, f"{file.source(slices.value)}.zip"),
                *(edits.instead(file, each, f"{wrap}({file.source(each)})") for each in others),
            ]
        case None:
            return [None]


RULE = Rule(
    code="TFM604",
    name="list-of-images-then-stack",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.25,
        because="a batch is in memory at a time, not the whole data set and a copy of it",
    ),
    triggers=(
        "array asarray concat concatenate constant convert_to_tensor copy from_tensor_slices "
        "permutation stack vstack",
        READING_WORDS + " rsplit split " + PIPELINE_WORDS,
    ),
    check=check,
)
