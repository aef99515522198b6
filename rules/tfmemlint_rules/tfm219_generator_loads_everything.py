"""A pipeline's generator loads everything before it gives the first element.

## What it finds
A function given to `Dataset.from_generator` that fills a list from all files, stacks them, reads a
whole array from a file (`np.load(path)`, `file["images"][:]` of HDF5), and then gives the elements
one by one in a loop that wants nothing else of them.

## Why it costs memory
A generator is there so that elements need not all be in memory. This one has them all there before
the first is given, until the last one is, and anew in every epoch.

## What to do instead
Read in the loop: file by file, row by row. `h5py` reads a row where `file["images"][i]` asks for
it. `np.load(path, mmap_mode="r")` reads from the file what is asked for, too: what was read then
still counts as the process's memory, but the system may take it back at any time.

## Fix safety
Safe where a list becomes a generator expression, an `append` a `yield`, or HDF5 is read row by row:
the same elements come in the same order. Unsafe where a file may give something else when it is
loaded later, as where random numbers are drawn or code is out of sight. Not offered elsewhere. Rows
of an HDF5 file that are compressed in large pieces are slow to read one by one.

## When to ignore it
When the data is small, or reading it again and again takes too long. The rule is silent by itself
where the generator wants more of the data than its rows in order, as to shuffle or to sum them,
where it is given its file or its data, where the loop reads other files or other rows, as if this
were but their labels, and for up to 32 files written down or cut off.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, Edit, File, Fix, Metric, Rule, edits
from tfmemlint.facts import Growth, Held, Hoard, How


def check(file: File) -> Iterator[Diagnostic]:
    if file.is_test:
        return
    for hoard in file.tf.generators.hoards:
        change = _change(file, hoard)
        growth = hoard.gathered.growth if hoard.gathered else None
        yield Diagnostic(
            file.span(growth.node if growth else hoard.loaded),
            f"{_what(file, hoard)} before {_who(hoard)} gives its first element",
            Fix("Load each when its turn comes", change, _safety(file, hoard)) if change else None,
        )


def _what(file: File, hoard: Hoard) -> str:
    data = f"`{ast.unparse(hoard.data)}`" if isinstance(hoard.data, ast.Name) else "a list"
    if hoard.held is Held.FILE and isinstance(hoard.loaded, ast.Call):
        return f"`{ast.unparse(hoard.loaded.func)}` reads the whole array"
    if hoard.held is Held.HDF5:
        return f"all of `{ast.unparse(hoard.loaded)}` is read"
    if hoard.gathered is None:
        return f"{data} holds what is in all files"
    files = file.source(hoard.gathered.files)
    every = "each file" if "\n" in files or len(files) > 60 else f"every one of `{files}`"
    return f"{data} holds what is loaded from {every}"


def _who(hoard: Hoard) -> str:
    name = getattr(hoard.generator, "name", None)
    return f"`{name}`" if name else "the generator"


def _safety(file: File, hoard: Hoard) -> Applicability:
    """Safe where each file surely gives the same whenever it is loaded."""
    gathered = hoard.gathered
    if gathered is None:
        return Applicability.SAFE
    growth = gathered.growth
    code = growth.loops[-1].node if growth else hoard.loaded
    of_object = any(isinstance(each, ast.Name) and each.id == "self" for each in _parts(code))
    steady = file.tf.generators.is_steady(code, growth and growth.node) and not of_object
    return Applicability.SAFE if steady else Applicability.UNSAFE


def _parts(made: ast.AST) -> Iterator[ast.AST]:
    """All of a loop or a comprehension but what it goes over, which is looked up once."""
    first = made.generators[0].iter if isinstance(made, ast.ListComp) else getattr(made, "iter", 0)
    pending = [made]
    for node in pending:
        yield node
        pending += (each for each in ast.iter_child_nodes(node) if each is not first)


def _change(file: File, hoard: Hoard) -> tuple[Edit, ...] | None:
    if hoard.held is Held.HDF5 and isinstance(hoard.loaded, ast.Subscript):
        return _row_by_row(file, hoard, hoard.loaded)
    if hoard.gathered is None:
        return None
    if isinstance(hoard.loaded, ast.ListComp) and hoard.gathered.comprehension is hoard.loaded:
        return _lazily(file, hoard, hoard.loaded)
    return _at_once(file, hoard, hoard.gathered.growth) if hoard.gathered.growth else None


def _row_by_row(file: File, hoard: Hoard, loaded: ast.Subscript) -> tuple[Edit, ...] | None:
    """`file["images"]` for `file["images"][:]`, while the file is surely open."""
    whole = file.concrete(loaded) is not None and "#" not in file.source(loaded)
    still = _still_within(file, hoard) and not _is_closed(file, hoard, loaded)
    if not still or not whole or loaded.lineno != loaded.end_lineno:
        return None
    return (edits.replaced(file, loaded, file.source(loaded.value)),)


def _still_within(file: File, hoard: Hoard) -> bool:
    """Whether nothing that is open as the data is loaded ends before all of it is given."""
    above = file.tf.tree.ancestors(hoard.loaded)
    opened = (each for each in above if isinstance(each, (ast.With, ast.AsyncWith, ast.Try)))
    return all(file.tf.tree.inside(hoard.giving, each) for each in opened)


def _is_closed(file: File, hoard: Hoard, loaded: ast.Subscript) -> bool:
    """Whether the file may be closed by hand before the loop is over."""
    opened: ast.expr = loaded
    while isinstance(opened, ast.Subscript):
        opened = opened.value
    binding = file.tf.bindings.only(opened) if isinstance(opened, ast.Name) else None
    readers = file.tf.bindings.readers(binding) if binding is not None else []
    return any(
        getattr(file.tf.tree.parent(each), "attr", "") == "close"
        and not (
            file.tf.tree.function(each) is hoard.generator
            and each.lineno > (hoard.giving.end_lineno or 0)
        )
        for each in readers
    )


def _lazily(file: File, hoard: Hoard, made: ast.ListComp) -> tuple[Edit, ...] | None:
    """A generator expression for a list that is gone over once, and read nowhere else."""
    if isinstance(hoard.data, ast.Name):
        binding = file.tf.bindings.only(hoard.data)
        if binding is None or file.tf.bindings.readers(binding) != [hoard.data]:
            return None
    if _is_counted(hoard) or _comes_round(file, hoard) or file.concrete(made) is None:
        return None
    if not _still_within(file, hoard) or _may_change(file, hoard, made):
        return None
    text = file.source(made)
    return (edits.replaced(file, made, f"({text[1:-1]})"),)


def _may_change(file: File, hoard: Hoard, made: ast.ListComp) -> bool:
    """Whether what a list is made of is spoken of between it and the end of the loop."""
    tree, bindings, giving = file.tf.tree, file.tf.bindings, hoard.giving
    read = {
        each.id
        for each in ast.walk(made)
        if isinstance(each, ast.Name)
        and not any(
            tree.inside(binding.node, made) or binding.how in (How.DEFINED, How.IMPORTED)
            for binding in bindings.reaching(each)
        )
    }
    start, end = (made.end_lineno or 0, made.end_col_offset or 0), giving.end_lineno or 0
    return any(
        isinstance(each, ast.Name)
        and each.id in read
        and each.id in bindings.names(tree.scope(each)) | {"self"}
        and start < (each.lineno, each.col_offset)
        and each.lineno <= end
        and not (isinstance(giving, ast.For) and tree.inside(each, giving.iter))
        for each in file.tf.functions.body(hoard.generator)
    )


def _is_counted(hoard: Hoard) -> bool:
    """Whether the loop goes over `range(len(data))`, not over the data itself."""
    iterable = hoard.giving.iter if isinstance(hoard.giving, ast.For) else hoard.giving.value
    called = [each.func for each in ast.walk(iterable) if isinstance(each, ast.Call)]
    counts = any(isinstance(each, ast.Name) and each.id == "len" for each in called)
    return counts and iterable is not hoard.data


def _comes_round(file: File, hoard: Hoard) -> bool:
    """Whether the data is gone over again without being loaded again."""
    loops = file.tf.tree.loops(file.tf.tree.statement(hoard.giving))
    return not all(file.tf.tree.inside(hoard.loaded, each) for each in loops)


def _at_once(file: File, hoard: Hoard, growth: Growth) -> tuple[Edit, ...] | None:
    """`yield image` for `images.append(image)`, without the list and the loop over it."""
    tree, start = file.tf.tree, file.tf.tree.statement(growth.start.node)
    giving, above = tree.statement(hoard.giving), tree.ancestors(growth.node)
    filling = growth.loops[-1].node if growth.loops else None
    if not isinstance(filling, ast.For) or not _gives_as_is(hoard) or filling.orelse:
        return None
    block, place = tree.place(filling)
    lines = [edits.whole_lines(file, each) for each in (start, giving)]
    once = len(growth.elements) == 1 and isinstance(growth.node, ast.Call)
    readers = file.tf.bindings.readers(growth.start)
    neighbours = block[place - 1 : place + 2] == [start, filling, giving]
    if not (once and neighbours and len(readers) == 2) or file.concrete(growth.node) is None:
        return None
    if _is_changed_later(file, growth, filling) or _is_missed(file, hoard, filling):
        return None
    given = edits.replaced(file, growth.node, f"yield {file.source(growth.value)}")
    tried = any(isinstance(each, ast.Try) and tree.inside(each, filling) for each in above)
    if "\n" in file.source(growth.node) or tried or None in lines:
        return None
    first, last = (Edit(each, "") for each in lines if each is not None)
    return None if "#" in file.source(first.span) + file.source(last.span) else (first, given, last)


def _is_changed_later(file: File, growth: Growth, filling: ast.For) -> bool:
    """Whether an element is spoken of again once it is in the list, or is one object for all."""
    value = [each for each in ast.walk(growth.value) if isinstance(each, ast.Name)]
    names, reaching = {each.id for each in value}, file.tf.bindings.reaching
    if isinstance(growth.value, ast.Name) and not all(
        file.tf.tree.inside(each.node, filling) for each in reaching(growth.value)
    ):
        return True
    after = growth.node.end_lineno or 0
    return any(
        isinstance(each, ast.Name) and each.id in names and each.lineno > after
        for each in ast.walk(filling)
    )


def _is_missed(file: File, hoard: Hoard, filling: ast.For) -> bool:
    """Whether something else wants the loop: leaves early by it, or reads what it gave last."""
    if any(isinstance(each, ast.Return) for each in ast.walk(filling)):
        return True
    target = hoard.giving.target if isinstance(hoard.giving, ast.For) else None
    return isinstance(target, ast.Name) and any(
        not file.tf.tree.inside(each, hoard.giving)
        for binding in file.tf.bindings.of(hoard.generator, target.id)
        if binding.node is target
        for each in file.tf.bindings.readers(binding)
    )


def _gives_as_is(hoard: Hoard) -> bool:
    """`for image in images: yield image`, or `yield from images`."""
    match hoard.giving:
        case ast.YieldFrom(value=ast.Name()):
            return True
        case ast.For(
            target=ast.Name(id=each),
            iter=ast.Name(),
            body=[ast.Expr(value=ast.Yield(value=ast.Name(id=given)))],
            orelse=[],
        ):
            return each == given
        case _:
            return False


RULE = Rule(
    code="TFM219",
    name="generator-loads-everything",
    claim=Claim(
        Metric.HOST_PEAK,
        at_most=0.25,
        because="one file is in memory at a time",
        grows=("linear", "constant"),
    ),
    triggers=("from_generator",),
    check=check,
)
