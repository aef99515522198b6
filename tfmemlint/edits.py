"""Edits that move the user's own text, confirmed by libcst; None where one cannot be whole."""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Iterable, Sequence
from itertools import pairwise

from tfmemlint.light_typing import TYPE_CHECKING
from tfmemlint.source import CELL
from tfmemlint.vocabulary import Edit, Span

if TYPE_CHECKING:
    from tfmemlint.source import File, Located


_IN_TURN = (ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)


def replaced(file: File, node: Located, text: str) -> Edit:
    """`text` in place of a node."""
    return Edit(file.span(node), text)


def instead(file: File, node: Located, text: str) -> Edit | None:
    """`text` in place of a node; None where a comment would be lost."""
    lost = file.source(node).count("#") > text.count("#")
    return None if lost else replaced(file, node, text)


def behind(file: File, node: Located, text: str) -> Edit:
    """`text` right behind a node."""
    end = file.span(node).end
    return Edit(Span(end, end), text)


def whole(edits: Iterable[Edit | None]) -> tuple[Edit, ...] | None:
    """Edits that belong together: all of them, or None where one cannot be made."""
    found = tuple(edits)
    made = tuple(each for each in found if each is not None)
    return made if len(made) == len(found) else None


def method_call(file: File, call: ast.Call) -> Span | None:
    """As `File.step`, to be edited: None where that is no method, or libcst reads it otherwise."""
    span = file.step(call)
    return span if span != file.span(call) and file.concrete(call) is not None else None


def renamed(file: File, call: ast.Call, method: str) -> Edit | None:
    """Another method called with the same arguments."""
    span = method_call(file, call)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return Edit(Span(span.start, span.start + len(name)), method) if span is not None else None


def swapped(file: File, first: ast.Call, second: ast.Call) -> tuple[Edit, ...] | None:
    """Two method calls changing places, each with its arguments and the comment behind it."""
    return reordered(file, (first, second), (second, first))


def reordered(
    file: File, calls: Sequence[ast.Call], wanted: Sequence[ast.Call]
) -> tuple[Edit, ...] | None:
    """Method calls taking each other's places, each with its arguments and the comment behind it.

    Where each of `calls` stands comes the one at the same place of `wanted`; where each stands in a
    statement of its own, with the comment above it.
    """
    found = [method_call(file, call) for call in calls]
    spans = [span for span in found if span is not None]
    apart = all(one.end <= other.start for one, other in pairwise(sorted(spans)))
    if len(spans) < len(calls) or not apart or any(map(_acts_in_turn, calls)):
        return None
    longer = [_with_comment(file, span) for span in spans]
    if None not in longer:
        spans = [span for span in longer if span is not None]
    texts = {call: file.source(span) for call, span in zip(calls, spans, strict=True)}
    places = zip(calls, spans, wanted, strict=True)
    moved = tuple(Edit(span, texts[new]) for call, span, new in places if new is not call)
    return (*moved, *_comments_reordered(file, calls, wanted))


def _acts_in_turn(call: ast.Call) -> bool:
    """Whether the arguments of a call do what has to be done before, or after, something else."""
    given = (*call.args, *(each.value for each in call.keywords))
    return any(isinstance(node, _IN_TURN) for each in given for node in ast.walk(each))


def _comments_reordered(
    file: File, calls: Sequence[ast.Call], wanted: Sequence[ast.Call]
) -> tuple[Edit, ...]:
    """The comments above the statements of calls that take each other's places.

    One above the first of them may be about all, and stays if no other comes there.
    """
    above: dict[ast.Call, Span] = {}
    for call in calls:
        statement = file.tf.tree.statement(call)
        start = file.lines.start(file.span(statement).start)
        cell = max((each for each in file.cells if each <= start), default=0)
        above[call] = Span(max(_commented(file, start), cell), start)
    statements = [file.tf.tree.statement(call) for call in calls]
    margins = {margin(file, each) for each in statements}
    texts = {call: file.source(span) for call, span in above.items()}
    between = file.source(Span(*sorted((above[calls[0]].end, above[calls[-1]].end))))
    marked = any(line.lstrip().startswith(CELL) for line in between.splitlines())
    if len(set(statements)) < len(calls) or len(margins) > 1 or marked:
        return ()
    top = calls[0]
    if not texts[wanted[0]]:
        texts[wanted[0]], texts[top] = texts[top], ""
    places = zip(calls, wanted, strict=True)
    return tuple(
        Edit(above[call], texts[new])
        for call, new in places
        if texts[new] != file.source(above[call])
    )


def reduced(
    file: File, whole: ast.Call | ast.Subscript, part: ast.expr, before: str = "", after: str = ""
) -> Edit | None:
    """A part in place of the whole, `ds` for `list(ds)`, `x` for `x[:]`, between other text."""
    import libcst as cst  # noqa: PLC0415

    concrete = file.concrete(whole)
    kind = cst.Call if isinstance(whole, ast.Call) else cst.Subscript
    found = concrete.find(whole, kind) if concrete else None
    outer, inner = file.span(whole), file.span(part)
    dropped = file.text[outer.start : inner.start] + file.text[inner.end : outer.end]
    spreads = part.lineno != part.end_lineno and not after.endswith(")")
    if found is None or "#" in dropped or spreads:
        return None
    return Edit(outer, before + file.source(inner) + after)


def chained(file: File, call: ast.expr, text: str) -> Edit | None:
    """A method call, `.batch(32)`, behind another: on a line of its own where that one has one.

    Or behind a name.
    """
    if isinstance(call, (ast.Attribute, ast.Name)):
        end = file.span(call).end
        return Edit(Span(end, end), text)
    import libcst as cst  # noqa: PLC0415

    concrete = file.concrete(call)
    found = concrete.find(call, cst.Call) if concrete else None
    if concrete is None or found is None:
        return None
    end = file.span(call).end
    dot = concrete.span(found.func.dot) if isinstance(found.func, cst.Attribute) else None
    start = file.lines.start(dot.start) if dot is not None else 0
    if dot is None or file.text[start : dot.start].strip():
        return Edit(Span(end, end), text)
    text = newline(file) + file.text[start : dot.start] + text
    if file.text[:start].rstrip("\r\n").endswith("\\"):
        return Edit(Span(end, end), " \\" + text)
    rest = file.text[end : file.lines.end(file.lines.position(end)[0])].rstrip()
    at = end + len(rest) if rest.lstrip().startswith("#") else end
    return Edit(Span(at, at), text)


def unchained(file: File, call: ast.Call) -> Edit | None:
    """A method call taken out of its chain, with its own line if it has one; comments stay."""
    import libcst as cst  # noqa: PLC0415

    concrete = file.concrete(call)
    found = concrete.find(call, cst.Call) if concrete else None
    if concrete is None or found is None or not isinstance(found.func, cst.Attribute):
        return None
    dot, end = concrete.span(found.func.dot).start, file.span(call).end
    taken = file.source(Span(dot, end))
    if "#" in taken:
        return None
    start = file.lines.start(dot)
    if file.text[start:dot].strip():
        return Edit(Span(dot, end), "")
    above = file.text[:start].rstrip("\r\n")
    if above.endswith("\\"):
        return Edit(Span(len(above[:-1].rstrip()), end), "")
    finish = file.lines.end(file.lines.position(end)[0])
    alone = not file.text[end:finish].strip()
    return Edit(Span(start, finish) if alone else Span(dot, end), "")


def without_argument(file: File, call: ast.Call, name: str) -> Edit | None:
    """The keyword argument `name` taken out of a call, with its comma and its own line."""
    import libcst as cst  # noqa: PLC0415

    concrete = file.concrete(call)
    found = concrete.find(call, cst.Call) if concrete else None
    if concrete is None or found is None:
        return None
    keywords = [arg.keyword.value if arg.keyword else None for arg in found.args]
    if name not in keywords:
        return None
    place = keywords.index(name)
    spans = [concrete.span(arg) for arg in found.args]
    own = spans[place]
    line = _own_lines(file, own)
    if line is not None:
        return Edit(line, "")
    if place + 1 < len(spans):
        gone = Span(own.start, spans[place + 1].start)
    else:
        gone = Span(spans[place - 1].end if place else own.start, own.end)
    return None if "#" in file.source(gone).replace(file.source(own), "") else Edit(gone, "")


def called_with_first(file: File, call: ast.Call, method: str) -> tuple[Edit, ...] | None:
    """`model.test(x)` for `model.run(x, verbose=0)`: another method, and its first argument."""
    import libcst as cst  # noqa: PLC0415

    concrete = file.concrete(call)
    found = concrete.find(call, cst.Call) if concrete else None
    if concrete is None or found is None or not isinstance(found.func, cst.Attribute):
        return None
    dropped = Span(concrete.span(found.args[0]).end, concrete.span(found.args[-1]).end)
    if "#" in file.source(dropped):
        return None
    renamed = Edit(concrete.span(found.func.attr), method)
    return (renamed, Edit(dropped, "")) if len(found.args) > 1 else (renamed,)


def with_argument(file: File, call: ast.Call, text: str) -> Edit | None:
    """A keyword argument, `name=value`, added behind the arguments a call has."""
    import libcst as cst  # noqa: PLC0415

    concrete = file.concrete(call)
    found = concrete.find(call, cst.Call) if concrete else None
    if concrete is None or found is None:
        return None
    if not found.args:
        end = file.span(call).end - 1
        return Edit(Span(end, end), text)
    last = concrete.span(found.args[-1])
    start = file.lines.start(last.start)
    margin = file.text[start : last.start]
    if margin.strip():
        return Edit(Span(last.end, last.end), f", {text}")
    rest = file.text[last.end : file.lines.end(file.lines.position(last.end)[0])].rstrip()
    if rest.startswith(",") and rest[1:].lstrip()[:1] in ("", "#"):  # its comment stays with it
        at = last.end + len(rest)
        return Edit(Span(at, at), newline(file) + margin + text + ",")
    return Edit(Span(last.end, last.end), "," + newline(file) + margin + text)


def whole_lines(file: File, first: ast.stmt, last: ast.stmt | None = None) -> Span | None:
    """The lines statements stand on, from margin to line end; None if other code shares them."""
    start, end = file.span(first, last)
    begin = file.lines.start(start)
    finish = file.lines.end(file.lines.position(end)[0])
    rest = file.text[end:finish].strip()
    if file.text[begin:start].strip() or (rest and not rest.startswith("#")):
        return None
    return Span(begin, finish)


def without_statement(file: File, statement: ast.stmt) -> Edit | None:
    """A statement taken out with its lines; None where its block would be left empty."""
    lines = whole_lines(file, statement)
    alone = len(file.tf.tree.place(statement)[0]) == 1
    return None if lines is None or alone else _taken_out(file, statement, lines)


def _taken_out(file: File, statement: ast.stmt, lines: Span) -> Edit:
    """A statement's lines taken out; the last ones of a block with what is before them.

    So whoever takes out the last statement and whoever takes out the one above it meet, and wait
    for each other: a block that all of it goes of, in one round, would be left empty.
    """
    block, place = file.tf.tree.place(statement)
    if not place or place < len(block) - 1 or block is file.tree.body:
        return Edit(lines, "")
    above = file.span(block[place - 1]).end
    start = above + len(file.text[above : _line_end(file, above)].rstrip("\r\n"))
    return Edit(Span(start, lines.end), file.text[start : lines.start])


def below(file: File, statement: ast.stmt, text: str) -> Edit | None:
    """A line of code put right below a statement; None if other code shares its lines."""
    lines = whole_lines(file, statement)
    if lines is None:
        return None
    at = lines.start + len(file.source(lines).rstrip("\r\n"))  # not on the far side of a cell's end
    return Edit(Span(at, at), f"{newline(file)}{margin(file, statement)}{text}")


def margin(file: File, statement: ast.stmt) -> str:
    """The white space a statement's line begins with."""
    start = file.lines.start(file.span(statement).start)
    line = file.text[start : file.span(statement).start]
    return _indent(line)


def _indent(line: str) -> str:
    """What a line is indented by: Python counts anew behind a form feed."""
    white = line[: len(line) - len(line.lstrip(" \t\f"))]
    return white[white.rfind("\f") + 1 :]


def indent_unit(file: File) -> str:
    """One level of indentation, as the file has it: that of its first indented block."""
    for statement in file.tf.tree.all(ast.FunctionDef, ast.For, ast.If):
        inner, outer = margin(file, statement.body[0]), margin(file, statement)
        if len(inner) > len(outer) and inner.startswith(outer):
            return inner[len(outer) :]
    return "    "


def newline(file: File) -> str:
    """The line ending the file uses."""
    first = file.text[: file.lines.starts[1]] if len(file.lines.starts) > 1 else "\n"
    return first[len(first.rstrip("\r\n")) :]


def lifted(file: File, statement: ast.stmt, anchor: ast.stmt) -> tuple[Edit, Edit] | None:
    """A statement and the comments right above it, moved in front of one that holds it.

    None where that deletes what the statement gives a name, or where nothing else stands beside it:
    a block cannot be empty.
    """
    lines, outer = whole_lines(file, statement), whole_lines(file, anchor)
    if lines is None or outer is None or _deletes(anchor, _bound_by(statement)):
        return None
    if len(file.tf.tree.place(statement)[0]) == 1:
        return None
    lines = Span(_commented(file, lines.start), lines.end)
    end = lines.end
    while end < len(file.text) and not file.text[end : _line_end(file, end)].strip():
        end = _line_end(file, end)
    blank = newline(file) if hasattr(statement, "body") else ""
    text = reindented(file, lines, margin(file, anchor)) + blank
    at = _commented(file, outer.start)
    return Edit(Span(at, at), text), _taken_out(file, statement, Span(lines.start, end))


def _bound_by(statement: ast.stmt) -> frozenset[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return frozenset({statement.name})
    names = (each for each in ast.walk(statement) if isinstance(each, ast.Name))
    return frozenset(each.id for each in names if isinstance(each.ctx, ast.Store))


def _deletes(anchor: ast.stmt, names: frozenset[str]) -> bool:
    found = (each for each in ast.walk(anchor) if isinstance(each, ast.Name))
    return any(isinstance(each.ctx, ast.Del) and each.id in names for each in found)


def postponed(
    file: File, statement: ast.Assign, value: str, anchor: ast.stmt
) -> tuple[Edit, Edit] | None:
    """An assignment of another value, with its comment, moved down to in front of a statement."""
    lines = whole_lines(file, statement)
    if lines is None:
        return None
    (first, _), (begin, end) = file.span(statement), file.span(statement.value)
    moved = margin(file, anchor) + file.text[first:begin] + value + file.text[end : lines.end]
    at = _commented(file, file.lines.start(file.span(anchor).start))
    return Edit(lines, ""), Edit(Span(at, at), moved)


def given_back(
    file: File, call: ast.Call, method: str, argument: str
) -> tuple[Edit, Edit, Edit] | None:
    """`xs = xs.write(i, x)` for `xs.append(x)`: another method, an argument more, its result."""
    import libcst as cst  # noqa: PLC0415

    concrete = file.concrete(call)
    found = concrete.find(call, cst.Call) if concrete else None
    if concrete is None or found is None or not isinstance(found.func, cst.Attribute):
        return None
    start, place = file.span(call).start, concrete.span(found.args[0]).start
    return (
        Edit(Span(start, start), f"{file.source(concrete.span(found.func.value))} = "),
        Edit(concrete.span(found.func.attr), method),
        Edit(Span(place, place), f"{argument}, "),
    )


def _commented(file: File, start: int) -> int:
    """Where the comments begin that stand right above a line; `# %%` begins a cell of a script."""
    while start:
        above = file.text[file.lines.start(start - 1) : start].lstrip()
        if not above.startswith("#") or above.startswith(CELL):
            break
        start = file.lines.start(start - 1)
    return start


def _line_end(file: File, offset: int) -> int:
    return file.lines.end(file.lines.position(offset)[0])


def reindented(file: File, lines: Span, to: str) -> str:
    """Whole lines with the margin of the first one changed; what stands in strings stays.

    `lines` begins at the start of a line, as `whole_lines` gives it.
    """
    first = file.text[lines.start : lines.end]
    was = _indent(first)
    held = _lines_in_strings(file)
    number = file.lines.position(lines.start)[0]
    out: list[str] = []
    start = lines.start
    while start < lines.end:
        end = min(file.lines.end(number), lines.end)
        line = file.text[start:end]
        if number not in held:
            line = line.lstrip("\f")
        if number not in held and line.strip() and line.startswith(was):
            line = to + line[len(was) :]
        out.append(line)
        start, number = end, number + 1
    return "".join(out)


def nested(file: File, lines: Span, header: str, inside: Iterable[Edit] = ()) -> Edit:
    """Whole lines, with edits made inside them, one level deeper under a line of their own."""
    first = file.text[lines.start : lines.end]
    outer = _indent(first)
    unit, held = indent_unit(file), _lines_in_strings(file)
    number = file.lines.position(lines.start)[0]
    starts = [each for each in file.lines.starts[number - 1 :] if each < lines.end]
    deeper: list[Edit] = []
    for at, start in enumerate(starts, number):
        line = file.text[start : file.lines.end(at)]
        if at not in held and line.strip():
            code = start + len(line) - len(line.lstrip(" \t\f"))
            deeper.append(Edit(Span(code, code), unit))
    pieces, reached = [outer, header, newline(file)], lines.start
    for span, text in sorted((*deeper, *inside)):
        pieces += file.text[reached : span.start], text
        reached = span.end
    return Edit(lines, "".join((*pieces, file.text[reached : lines.end])))


def fresh(file: File, *wanted: str) -> str:
    """The first of these names that nothing in the module uses, else the last with a number."""
    taken = _names(file)
    for name in wanted:
        if name not in taken:
            return name
    number = 2
    while f"{wanted[-1]}_{number}" in taken:
        number += 1
    return f"{wanted[-1]}_{number}"


_AUTOTUNE = "tensorflow.data.AUTOTUNE"


def autotune(file: File, at: ast.expr | ast.stmt) -> str | None:
    """How code at `at` can say `tf.data.AUTOTUNE`; None where it has no name for it."""
    names, bindings, tree = file.tf.names, file.tf.bindings, file.tf.tree
    for scope in (tree.scope(at), tree.module):
        for name in sorted(bindings.names(scope)):
            given = bindings.of(scope, name)
            is_it = len(given) == 1 and names.qualified(given[0].value) == _AUTOTUNE
            before = is_it and tree.statement(given[0].node).lineno < at.lineno
            if before and bindings.home(name, at) is scope:
                return name
    for used in tree.all(ast.Name):  # imported under a name of its own
        if names.qualified(used) == _AUTOTUNE:
            home = bindings.home(used.id, used)
            given = () if home is None else bindings.of(home, used.id)
            imported = len(given) == 1 and isinstance(given[0].node, ast.alias)
            if imported and bindings.home(used.id, at) is home:
                return used.id
    old = file.tensorflow is not None and file.tensorflow < (2, 4)
    old = old or "data.experimental.AUTOTUNE" in file.text or file.tf.tracing.by_hand
    old = old or names.uses(("tensorflow.enable_eager_execution",))  # 1 alone has to be told
    autotune = "experimental.AUTOTUNE" if old else "AUTOTUNE"
    tensorflow, data = names.module("tensorflow", at), names.module("tensorflow.data", at)
    if tensorflow is not None:
        return f"{tensorflow}.data.{autotune}"
    return None if data is None else f"{data}.{autotune}"


def numpy(file: File, at: ast.expr) -> tuple[str, Edit | None] | None:
    """What code at `at` calls NumPy, and what imports it where nothing does yet.

    None where there is no place for the import, or the name is taken.
    """
    name = file.tf.names.module("numpy", at)
    if name is not None:
        return name, None
    block = file.tree.body
    imports = [each for each in block if isinstance(each, (ast.Import, ast.ImportFrom))]
    later = [each for each in imports if getattr(each, "module", "") != "__future__"]
    first = later[0] if later else None
    if first is None or first.lineno > at.lineno or fresh(file, "np") != "np":
        return None
    lines = whole_lines(file, first)
    start = file.span(first).start
    made = Edit(Span(start, start), f"import numpy as np{newline(file)}")
    return None if lines is None else ("np", made)


def _with_comment(file: File, span: Span) -> Span | None:
    """A span with the comment behind it; None where other code follows on its last line."""
    rest = file.text[span.end : file.lines.end(file.lines.position(span.end)[0])].rstrip()
    if rest.strip() and not rest.lstrip().startswith("#"):
        return None
    return Span(span.start, span.end + len(rest))


def _own_lines(file: File, argument: Span) -> Span | None:
    """The lines of an argument that shares them with nothing but its comma and a comment."""
    begin = file.lines.start(argument.start)
    finish = file.lines.end(file.lines.position(argument.end)[0])
    rest = file.text[argument.end : finish].strip().removeprefix(",").strip()
    if file.text[begin : argument.start].strip() or (rest and not rest.startswith("#")):
        return None
    return Span(begin, finish)


def _lines_in_strings(file: File) -> frozenset[int]:
    """The numbers of the lines that begin inside a string."""
    found: set[int] = set()
    for node in file.tf.tree.all(ast.Constant, ast.JoinedStr):
        text = not isinstance(node, ast.Constant) or isinstance(node.value, (str, bytes))
        if text and node.end_lineno is not None:
            found.update(range(node.lineno + 1, node.end_lineno + 1))
    return frozenset(found)


def _names(file: File) -> frozenset[str]:
    tree = file.tf.tree
    found = {each.id for each in tree.all(ast.Name)}
    found.update(each.arg for each in tree.all(ast.arg))
    found.update(
        each.name for each in tree.all(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    )
    for alias in tree.all(ast.alias):
        found.add(alias.asname or alias.name.partition(".")[0])
    return frozenset({*found, *keyword.kwlist, *dir(builtins)})
