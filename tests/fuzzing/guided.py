"""Programs, notebooks, settings and suppression comments that a coverage-guided fuzzer makes up.

`python tests/fuzzing/guided.py source corpus/ -max_total_time=600`, with atheris installed; instead
of `source` also `notebook`, `settings` or `comments`. What follows is libFuzzer's own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris

with atheris.instrument_imports(include=["tfmemlint", "tfmemlint_rules"]):
    from fuzz import Fuzz, notebook
    from mutations import programs

    from tfmemlint.config import ConfigError, load

    FUZZ = Fuzz()
    for each in programs()[::4]:  # what is imported when it is needed is needed now
        FUZZ.ask(each.encode())

MOST_SAID = 2000
"""Characters of a message."""


def source(data: bytes) -> None:
    """Bytes as a Python file."""
    _ask(data, "program.py")


def as_notebook(data: bytes) -> None:
    """Bytes as a notebook, or as what stands in the cells of one."""
    _ask(data, "program.ipynb")
    _ask(notebook(data.decode("utf-8", "replace")), "program.ipynb")


def settings(data: bytes) -> None:
    """Bytes as settings: refused in words, or understood."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "tfmemlint.toml")
        path.write_bytes(data)
        try:
            load(str(path), folder)
        except ConfigError as error:
            if len(str(error)) > MOST_SAID:
                raise AssertionError(f"{len(str(error))} characters: {error}") from error


def comments(data: bytes) -> None:
    """Bytes as comments, at the end of lines and above them, of a program with findings."""
    text = data.decode("utf-8", "replace").replace("\n", " ").replace("\r", " ")
    program = programs()[0]
    _ask(f"# tfmemlint: {text}\n{program}".encode(), "program.py")
    lines = [f"{line}  # noqa{text}" for line in program.splitlines()]
    _ask("\n".join(lines).encode(), "program.py")


def _ask(data: bytes, path: str) -> None:
    answer = FUZZ.ask(data, path)
    assert not answer.problem, answer.problem


TARGETS: dict[str, Callable[[bytes], None]] = {
    "source": source,
    "notebook": as_notebook,
    "settings": settings,
    "comments": comments,
}

if __name__ == "__main__":
    target = TARGETS[sys.argv.pop(1)]
    corpus = Path(sys.argv[1])
    if target in (source, as_notebook) and not any(corpus.iterdir()):
        for number, text in enumerate(programs()):
            (corpus / str(number)).write_bytes(
                text.encode() if target is source else notebook(text)
            )
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()
