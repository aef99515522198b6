"""Moves make the same program: what they made of some fixtures prints the same."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys

import pytest

from tests.metamorphic.moves import MOVES
from tests.metamorphic.programs import NotTheSame
from tests.metamorphic.variants import moved, places
from tfmemlint import registry

RULES = registry.load()
RUN = ["TFM110", "TFM202", "TFM303", "TFM401"]

DRIVER = """
import contextlib, io, json, linecache, sys
import tensorflow as tf
programs = json.load(sys.stdin)
said = {}
for name, text in programs.items():
    out = io.StringIO()
    path = f"/tmp/{name}.py"
    with contextlib.redirect_stdout(out):
        try:
            tf.keras.utils.set_random_seed(0)
            linecache.cache[path] = (len(text), None, text.splitlines(True), path)
            exec(compile(text, path, "exec"), {"__name__": "__main__", "__file__": path})
        except Exception as error:
            print(repr(error))
    said[name] = out.getvalue()
print("SAID" + json.dumps(said))
"""


def programs_of(code: str) -> dict[str, str]:
    """The rule's program with little data, as it is and moved."""
    path = registry.folder(RULES[code]) / "bad.py"
    text = re.sub(r"= [\d_]+(  # scales)", r"= 3\1", path.read_text())
    programs = {f"{code}_plain": text}
    for place in places(RULES[code], path)[:1]:
        for move in MOVES:
            name = re.sub(r"\W", "_", move)
            with contextlib.suppress(NotTheSame):
                programs[f"{code}_{name}"] = moved(place._replace(text=text), move).text
    return programs


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """What all of these programs print, in one process: importing TensorFlow takes far longer."""
    programs = {name: text for code in RUN for name, text in programs_of(code).items()}
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        check=True,
    )
    said: dict[str, str] = json.loads(done.stdout.rpartition("SAID")[2])
    return said


@pytest.mark.tensorflow
@pytest.mark.parametrize("code", RUN)
def test_a_moved_program_prints_the_same(code: str, printed: dict[str, str]) -> None:
    said = {name: text for name, text in printed.items() if name.startswith(code)}
    plain = said[f"{code}_plain"]

    assert plain.strip()
    assert "Error(" not in plain
    assert len(said) > 1
    assert {name for name, text in said.items() if text != plain} == set()
