"""Programs through check and fix, as many as are asked for: nothing may break on any of them.

`python tests/fuzzing/fuzz.py 20000` makes programs of the fixtures, and one in a hundred with
hypothesmith where it is installed; `python tests/fuzzing/fuzz.py --below DIR` takes the Python
files and notebooks below a folder. What breaks is written down below `--out`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from mutations import from_grammar, generated

from tfmemlint.config import Config, Configs
from tfmemlint.run import Checker

BROKEN = ("TFM003", "TFM004")
SLOW = 20.0
"""Seconds of work that no program is worth."""


class Answer(NamedTuple):
    """What became of one program."""

    problem: str = ""
    """What must not be; nothing where all is well."""
    found: int = 0
    fixed: int = 0
    unreadable: bool = False


class Fuzz:
    """Checks and fixes programs, with all fixes and nothing hidden."""

    def __init__(self) -> None:
        config = Config(unsafe_fixes=True, min_bytes=0)
        self._checker = Checker(Configs(lambda _: config, config), fix=True)

    def ask(self, data: bytes, path: str = "program.py") -> Answer:
        """What check and fix make of a file."""
        began = time.process_time()
        try:
            outcome = self._checker.check(path, data)
        except Exception:  # noqa: BLE001  that is what is looked for
            return Answer(traceback.format_exc())
        spent = time.process_time() - began
        codes = Counter(each.code for each in outcome.checked.findings)
        found = sum(codes[each] for each in codes if not each.startswith("TFM00"))
        fixed = sum(number for _, number in outcome.fixed)
        problem = outcome.problem or ""
        said = [each.diagnostic.message for each in outcome.checked.findings if each.code in BROKEN]
        broken = [each for each in said if "takes more than" in each or codes["TFM004"]]
        if broken:
            problem = broken[0]
        elif spent > SLOW:
            problem = f"took {spent:.0f} s"
        return Answer(problem, found + fixed, fixed, bool(codes["TFM001"] or codes["TFM002"]))


def notebook(text: str) -> bytes:
    """A program as a notebook, a cell for each part."""
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": f"{each}\n"}
        for each in text.split("\n\n\n")
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()


def made(number: int, chosen: random.Random) -> Iterator[tuple[str, bytes]]:
    """Generated programs, each with the name of its file; one in ten is a notebook."""
    grammar = from_grammar(number // 100) if find_spec("hypothesmith") and number >= 1000 else []
    for place, text in zip(range(number), generated(chosen), strict=False):
        few = place // 100 < len(grammar) and place % 100 == 3
        one = grammar[place // 100] if few else text
        data = one.encode("utf-8", "surrogatepass")
        yield ("a.ipynb", notebook(text)) if place % 10 == 7 and data.isascii() else ("a.py", data)


def below(folder: Path, most: int) -> Iterator[tuple[str, bytes]]:
    """The Python files and notebooks below a folder."""
    paths = (each for each in sorted(folder.rglob("*")) if each.suffix in (".py", ".ipynb"))
    for _, path in zip(range(most), (each for each in paths if each.is_file()), strict=False):
        yield str(path), path.read_bytes()


def main(argv: list[str]) -> int:
    """Ask about all; the exit code says whether anything broke."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", type=int, nargs="?", default=20_000)
    parser.add_argument("--below", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--out", type=Path, default=Path("broken"))
    options = parser.parse_args(argv)
    fuzz, count, end = Fuzz(), Counter[str](), time.monotonic() + 60 * options.minutes
    several = (
        below(options.below, options.number)
        if options.below
        else made(options.number, random.Random(options.seed))
    )
    for path, data in several:
        answer = fuzz.ask(data, path)
        count.update(
            {
                "programs": 1,
                "not Python": answer.unreadable,
                "with findings": answer.found > 0,
                "findings": answer.found,
                "fixed": answer.fixed,
                "broken": bool(answer.problem),
            }
        )
        if answer.problem:
            options.out.mkdir(exist_ok=True)
            name = f"{count['broken']}{Path(path).suffix}"
            (options.out / name).write_bytes(data)
            (options.out / f"{name}.txt").write_text(f"{path}\n{answer.problem}\n")
            print("BROKEN", name, path, answer.problem[-200:], flush=True)
        if count["programs"] % 500 == 0:
            print(dict(count), flush=True)
        if time.monotonic() > end:
            break
    print(dict(count))
    return bool(count["broken"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
