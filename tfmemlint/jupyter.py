"""The magic commands of Jupyter: `%load_ext tfmemlint` brings `%%tfmemlint` and `%%tfmeasure`.

Both read what was run in this session as one program, each cell where it was run last. Neither runs
anything in the session itself, unless it is told to with `--run`.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Sequence
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from tfmemlint import plots, report
from tfmemlint.config import Config, ConfigError, Configs
from tfmemlint.linting import lint
from tfmemlint.notebooks import Notebook, read
from tfmemlint.parser import Parser
from tfmemlint.report.escape import show
from tfmemlint.report.figures import size
from tfmemlint.report.items import ENGINE, Source
from tfmemlint.run import Checker
from tfmemlint.vocabulary import Checked, Finding

if TYPE_CHECKING:
    from tfmemlint.measure.account import Account

NAMES = ("tfmemlint", "tfmeasure")
_OURS = re.compile(rf"\s*%%?(?:{'|'.join(NAMES)})\b(?P<options>.*)")
_NOTEBOOK = "notebook.ipynb"
_HOME = "~tfmemlint~"
"""Stands in a program for the folder that it leaves its notes in."""
_SESSION = ("JPY_SESSION_NAME", "__vsc_ipynb_file__")
"""What says which notebook a session belongs to."""


class UsageError(Exception):
    """Arguments of a magic command that make no sense."""


class Cell(NamedTuple):
    """What was run, and the number that stands beside it."""

    number: int
    text: str


def load(shell: Any) -> None:
    """Make the magic commands known."""
    shell.register_magic_function(_answered(shell, check), "line_cell", NAMES[0])
    shell.register_magic_function(_answered(shell, measure), "cell", NAMES[1])


def check(shell: Any, line: str, cell: str | None) -> None:
    """Say what is found in a cell, or as `%tfmemlint` in all that was run so far."""
    parser = _Arguments(
        "%%tfmemlint",
        description="Check a cell, with what the cells before it define. `%tfmemlint` checks all "
        "that was run so far.",
        allow_abbrev=False,
    )
    parser.add_argument("--select", type=_list, metavar="RULE,...", help="the rules to run")
    parser.add_argument("--ignore", type=_list, metavar="RULE,...", help="rules not to run")
    parser.add_argument("--min-bytes", metavar="SIZE", help="hide what is known to hold less")
    parser.add_argument("--run", action="store_true", help="run the cell afterwards")
    asked = parser.parse_args(shlex.split(line))
    given = {"select": asked.select, "ignore": asked.ignore, "min-bytes": asked.min_bytes}
    checker = Checker(
        Configs(_as_they_are, None, {key: value for key, value in given.items() if value})
    )
    this = _this(shell, NAMES[0], line, cell)
    name = _name(shell)
    checked = _broken(name, this) or _check(checker, name, [*_before(shell), this])
    if cell is not None:
        checked = _where(checked, lambda row, number: number == this.number)
    print(_told(checked, checker, name), end="")
    if asked.run and cell is not None:
        shell.run_cell(cell)


def measure(shell: Any, line: str, cell: str | None) -> None:
    """Run a cell in a process of its own, behind those before it, and show what it held."""
    from tfmemlint.measure import advice, command, showing  # noqa: PLC0415  for this command alone
    from tfmemlint.measure.account import UnusableError  # noqa: PLC0415
    from tfmemlint.verify.devices import SetupError  # noqa: PLC0415

    parser = _Arguments(
        "%%tfmeasure",
        description="Measure a cell in a process of its own, in which the cells before it are run "
        "again: the curve of the device's memory, and the lines that held it.",
        allow_abbrev=False,
    )
    parser.add_argument("--alone", action="store_true", help="do not run the cells before it")
    parser.add_argument("--device", choices=("auto", "gpu", "cpu"), default="auto")
    parser.add_argument("--run", action="store_true", help="run the cell afterwards, here")
    asked = parser.parse_args(shlex.split(line))
    this = _this(shell, NAMES[1], line, cell)
    if _broken(_NOTEBOOK, this):
        raise UsageError("the cell is no Python; `%%tfmemlint` says why")
    cells = [this] if asked.alone else [*_before(shell), this]
    program = _program(read(_document(cells)))
    with tempfile.TemporaryDirectory(prefix="tfmemlint-") as home:
        printed = Path(home, "printed")
        # In this folder, so that what the cells import is found as it is from here.
        handle, path = tempfile.mkstemp(".py", "tfmemlint-", ".", text=True)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(program.text.replace(_HOME, home))
            with printed.open("w", encoding="utf-8") as out:
                account = command.measure(Path(path), device=asked.device, out=out, errors=out)
            words = io.StringIO()
            showing.write(account, advice.Advice(), words)
        except (SetupError, UnusableError, OSError) as reason:
            raise UsageError(str(reason)) from None
        finally:
            Path(path).unlink(missing_ok=True)
        began, start = _began(Path(home, "began"))
        with printed.open("rb") as file:
            file.seek(start)
            said = file.read().decode("utf-8", "replace")
    print(_by_cell(said, path, program), end="")
    curve = [(moment - began, held) for moment, held in account.curve if moment >= began]
    if curve:
        most, end = max(held for _, held in curve), max(moment for moment, _ in curve)
        _draw(curve, end, most)
        print(f"In [{this.number}] held at most {size(most)}; it took {end:.1f} s.")
        if account.peak_seconds is not None and account.peak_seconds < began:
            print("The cells before it held more; what follows is about the moment of that.")
    print(_by_cell(words.getvalue(), path, program), end="")
    _advise(account, cells, program, _name(shell))
    if asked.run and cell is not None:
        shell.run_cell(cell)


class _Program(NamedTuple):
    """Cells as a program of their own, which notes when its last cell begins."""

    text: str
    rows: tuple[tuple[int, int], ...]
    """Where each cell begins, and its number."""

    def place(self, row: int) -> tuple[int, int]:
        """The number of the cell, and the row in it."""
        at = max(bisect_right(self.rows, row, key=itemgetter(0)) - 1, 0)
        start, number = self.rows[at]
        return number, max(row - start + 1, 1)


class _Arguments(Parser):
    """Raises where argparse would end the session."""

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise UsageError((message or "").partition("error: ")[2].strip())


def _answered(
    shell: Any, command: Callable[[Any, str, str | None], None]
) -> Callable[[str, str | None], None]:
    """The command as IPython calls it: what goes wrong is said in a line."""

    def answer(line: str, cell: str | None = None) -> None:
        try:
            command(shell, line, cell)
        except (ConfigError, UsageError, ValueError) as error:
            if str(error):  # there is nothing to say after --help
                print(f"error: {show(str(error))}")

    answer.__doc__ = command.__doc__
    return answer


def _before(shell: Any) -> list[Cell]:
    """What was run before, each text where it was run last; not what was only looked at."""
    history: Sequence[str] = shell.history_manager.input_hist_raw
    found: dict[str, Cell] = {}
    for number, text in enumerate(history[:-1]):
        ours = _OURS.match(text)
        if text.strip() and not (ours and "--run" not in ours["options"].split()):
            found.pop(text, None)
            found[text] = Cell(number, text)
    return list(found.values())


def _this(shell: Any, name: str, line: str, cell: str | None) -> Cell:
    """The cell that is run now, with the line of the command."""
    history: Sequence[str] = shell.history_manager.input_hist_raw
    text = f"%%{name} {line}\n{cell}" if cell is not None else history[-1]
    return Cell(max(len(history) - 1, 1), text)


def _name(shell: Any) -> str:
    """The file name of the notebook, where it is told: settings may be about it."""
    told = os.environ.get(_SESSION[0]) or shell.user_ns.get(_SESSION[1])
    name = os.path.basename(told) if isinstance(told, str) else ""  # noqa: PTH119
    return name if name.endswith(".ipynb") else _NOTEBOOK


def _check(checker: Checker, name: str, cells: Sequence[Cell]) -> Checked:
    return checker.check(name, _document(cells)).checked


def _document(cells: Sequence[Cell]) -> bytes:
    """A notebook in which every cell stands where its number says."""
    texts = {cell.number: cell.text for cell in cells}
    made: list[dict[str, object]] = [
        {
            "cell_type": "code" if number in texts else "markdown",
            "metadata": {},
            "outputs": [],
            "source": texts.get(number, ""),
        }
        for number in range(1, max(texts) + 1)
    ]
    document: dict[str, object] = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": made,
    }
    return json.dumps(document).encode()


def _broken(name: str, cell: Cell) -> Checked | None:
    """What keeps a cell from being read; among others, it would be left out."""
    notebook = read(_document([cell]))
    wrong = lint(name, notebook.text, ())
    return Checked(name, notebook.text, wrong, notebook.cells) if wrong else None


def _where(checked: Checked, wanted: Callable[[int, int], bool]) -> Checked:
    """The same with what is found in rows that are wanted, each given with its cell."""
    source = Source(checked)
    here: list[Finding] = []
    for finding in checked.findings:
        place = source.place(finding.diagnostic.span)
        rows = range(place.row, place.end_row + 1)
        if any(wanted(row, place.cell or 0) for row in rows):
            here.append(finding)
    return checked._replace(findings=tuple(here))


def _told(checked: Checked, checker: Checker, name: str) -> str:
    """What was found, as `tfmemlint check` tells it, with the numbers of the cells."""
    from tfmemlint.pages import phrases  # noqa: PLC0415

    codes = {finding.code for finding in checked.findings} - ENGINE.keys()
    measured = phrases([checker.rules[code].load() for code in sorted(codes)])
    out = io.StringIO()
    report.write([checked], "full", out, root=os.getcwd(), measured=measured)  # noqa: PTH109
    report.summary([checked], out, unsafe_fixes=False)
    text = re.sub(r"(?m)^\[\*\] .*\n|^No fixes available.*\n", "", out.getvalue())
    text = re.sub(rf"{re.escape(name)}:cell (\d+):", r"In [\1]:", text)
    return re.sub(r"(?m)^( *::: )cell (\d+)$", r"\1In [\2]", text)


def _program(notebook: Notebook) -> _Program:
    text, last = notebook.text, notebook.cells[-1].start
    note = (
        "import sys as _sys, os as _os, time as _time; _sys.stdout.flush(); "
        f"open({_HOME + '/began'!r}, 'a').write(f'{{_time.time()}} {{_os.fstat(1).st_size}}\\n')\n"
    )
    rows = [
        (text.count("\n", 0, start) + (3 if start == last else 2), number)
        for start, number in notebook.cells
    ]
    return _Program(f"{note}{text[:last]}{note}{text[last:]}", tuple(rows))


def _began(notes: Path) -> tuple[float, int]:
    """How long the cells took that came before, and how much they printed."""
    try:
        times = [line.split() for line in notes.read_text("utf-8").splitlines()]
    except OSError:
        return 0.0, 0
    if len(times) < 2:  # they have not come to an end
        return float("inf"), 0
    return float(times[1][0]) - float(times[0][0]), int(times[1][1])


def _by_cell(words: str, path: str, program: _Program) -> str:
    """Lines of the program as lines of cells."""

    def place(match: re.Match[str]) -> str:
        number, row = program.place(int(match[1]))
        last = f"-{program.place(int(match[2]))[1]}" if match[2] else ""
        return f"In [{number}]:{row}{last}"

    def raised(match: re.Match[str]) -> str:
        number, row = program.place(int(match[1]))
        return f"In [{number}], line {row}"

    words = re.sub(rf"{re.escape(os.path.relpath(path))}:(\d+)(?:-(\d+))?", place, words)
    return re.sub(rf'File "{re.escape(os.path.realpath(path))}", line (\d+)', raised, words)


def _advise(account: Account, cells: Sequence[Cell], program: _Program, name: str) -> None:
    """What is found on the lines that held the memory."""
    from tfmemlint.measure import advice  # noqa: PLC0415

    lines = {
        program.place(row)[::-1]
        for statement in advice.culprits(account)
        for row in range(statement.line, statement.end + 1)
    }
    checker = Checker(Configs(_as_they_are))
    checked = _where(_check(checker, name, cells), lambda row, cell: (row, cell) in lines)
    if checked.findings:
        print()
        print(_told(checked, checker, name), end="")


def _draw(points: Sequence[tuple[float, float]], end: float, most: int) -> None:
    """Show the curve, where a notebook does and matplotlib is here."""
    if not plots.available():
        return
    display: Any = import_module("IPython.display")
    title = "Device memory over time"
    series = [plots.Series("fixed", f"at most {size(most)}", points)]
    across = plots.Axis(plots.ticks(end), "{:g} s".format)
    up = plots.Axis(plots.ticks(most, base=1024), size)
    display.display(display.SVG(data=plots.lines(title, series, across, up)))


def _list(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _as_they_are(config: Config) -> Config:
    return config
