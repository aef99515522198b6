"""Programs that nobody would write: fixtures cut up, mixed and bent, and what grammar allows."""

from __future__ import annotations

import ast
import random
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
STRANGE = ("0", "-1", "10**30", "None", "''", "'\\ud800'", "1e309", "float('nan')", "()", "...")
STRANGE_NAMES = ("tf", "np", "len", "list", "self", "ds", "x", "ñ", "_", "match", "keras")
AROUND = (
    "if {}:\n",
    "for _ in range(9):\n",
    "while True:\n",
    "with open('x') as f:\n",
    "def made(*args, **kwargs):\n",
    "async def made():\n",
    "class Made(Made):\n",
    "@tf.function\ndef made(self, x=[]):\n",
    "try:\n    pass\nfinally:\n",
)
TEXTS = (
    "\f",
    "\t",
    "\\\n",
    "\r",
    "\r\n",
    "# noqa\n",
    "# tfmemlint: ignore\n",
    "# fmt: off\n",
    "\0",
)
MORE_TEXTS = (
    "\ufeff",
    "é",
    "𝄞",
    "\u2028",
    "(",
    ")",
    '"""',
    "'",
    ";",
    ":",
    "#",
    "\n\n\n",
    "%%time\n",
)


@cache
def programs() -> tuple[str, ...]:
    """The fixtures, all of them."""
    return tuple(path.read_text("utf-8") for path in sorted(FIXTURES.rglob("*.py")))


def generated(chosen: random.Random) -> Iterator[str]:
    """Ever other programs."""
    while True:
        text = chosen.choice(programs())
        for _ in range(chosen.choice((1, 1, 2, 3, 5))):
            text = chosen.choice(MUTATIONS)(text, chosen)
        yield text[:50_000]


def from_grammar(number: int) -> list[str]:
    """Programs that hypothesmith makes of Python's grammar, between what has rules look at them."""
    import hypothesmith  # noqa: PLC0415  it is wanted by the long run alone
    from hypothesis import HealthCheck, Phase, given, settings  # noqa: PLC0415

    found: list[str] = []

    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(hypothesmith.from_node())
    def gather(text: str) -> None:
        head = programs()[len(found) % len(programs())]
        found.append(f"{head}\n{text}")

    gather()
    return found


def _statements(text: str) -> list[tuple[int, int]]:
    """The first and the last line of each statement that ends with its line, from 0."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [
        (each.lineno - 1, each.end_lineno)
        for each in ast.walk(tree)
        if isinstance(each, ast.stmt) and each.end_lineno is not None
    ]


def _with_statement(
    text: str, chosen: random.Random, change: Callable[[list[str]], list[str]]
) -> str:
    places = _statements(text)
    if not places:
        return text
    start, end = chosen.choice(places)
    lines = text.splitlines(keepends=True)
    lines[start:end] = change(lines[start:end])
    return "".join(lines)


def _twice(text: str, chosen: random.Random) -> str:
    return _with_statement(text, chosen, lambda lines: lines * chosen.choice((0, 2, 2, 9)))


def _moved(text: str, chosen: random.Random) -> str:
    taken: list[str] = []
    without = _with_statement(text, chosen, lambda lines: taken.extend(lines) or [])  # type: ignore[func-returns-value]
    return _with_statement(without, chosen, lambda lines: [*_indented(taken, lines), *lines])


def _indented(taken: list[str], like: list[str]) -> list[str]:
    plain = textwrap.dedent("".join(taken))
    first = like[0] if like else ""
    return [textwrap.indent(plain, first[: len(first) - len(first.lstrip())])]


def _mixed(text: str, chosen: random.Random) -> str:
    other = chosen.choice(programs())
    places = _statements(other)
    if not places:
        return text
    start, end = chosen.choice(places)
    taken = other.splitlines(keepends=True)[start:end]
    return _with_statement(text, chosen, lambda lines: [*lines, *_indented(taken, lines)])


def _wrapped(text: str, chosen: random.Random) -> str:
    head = chosen.choice(AROUND)

    def around(lines: list[str]) -> list[str]:
        inside = textwrap.indent(textwrap.dedent("".join(lines)), "    ")
        return _indented([head, inside], lines)

    return _with_statement(text, chosen, around)


def _nodes(text: str, chosen: random.Random, wanted: type[ast.expr], new: str) -> str:
    """The text with one expression of a kind replaced."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    found = [each for each in ast.walk(tree) if isinstance(each, wanted)]
    one = chosen.choice(found) if found else None
    spelled = ast.get_source_segment(text, one) if one is not None else None
    if one is None or not spelled:
        return text
    lines = text.splitlines(keepends=True)
    line = lines[one.lineno - 1].encode()
    if one.end_lineno != one.lineno or one.end_col_offset is None:
        return text
    changed = line[: one.col_offset] + new.encode("utf-8", "surrogatepass")
    changed += line[one.end_col_offset :]
    lines[one.lineno - 1] = changed.decode("utf-8", "surrogatepass")
    return "".join(lines)


def _other_constant(text: str, chosen: random.Random) -> str:
    return _nodes(text, chosen, ast.Constant, chosen.choice(STRANGE))


def _other_name(text: str, chosen: random.Random) -> str:
    return _nodes(text, chosen, ast.Name, chosen.choice(STRANGE_NAMES))


def _other_call(text: str, chosen: random.Random) -> str:
    calls = (
        "f(*a)",
        "g(**k)",
        "(yield)",
        "(lambda: 0)",
        "[x for x in y]",
        "(z := 1)",
        "await_",
        "{}",
    )
    return _nodes(text, chosen, ast.Call, chosen.choice(calls))


def _cut(text: str, chosen: random.Random) -> str:
    if not text:
        return text
    start = chosen.randrange(len(text))
    return text[:start] + text[start + chosen.choice((1, 1, 5, 80)) :]


def _put_in(text: str, chosen: random.Random) -> str:
    place = chosen.randrange(len(text) + 1)
    if chosen.random() < 0.6:  # at a line's start, where most of these mean something
        place = text.rfind("\n", 0, place) + 1
    return text[:place] + chosen.choice(TEXTS + MORE_TEXTS) + text[place:]


def _other_ends(text: str, chosen: random.Random) -> str:
    return text.replace("\n", chosen.choice(("\r\n", "\r", "\n\n", "\n\f")))


def _respelled(text: str, chosen: random.Random) -> str:
    try:
        return ast.unparse(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text


def _many(text: str, chosen: random.Random) -> str:
    return text * chosen.choice((2, 3, 8))


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (
    *(_twice, _moved, _mixed, _wrapped, _other_constant, _other_name, _other_call),
    *(_mixed, _moved, _wrapped, _cut, _put_in, _other_ends, _respelled, _many),
)
