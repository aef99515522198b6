"""Moves make the same program: what they made of some fixtures prints the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

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


@pytest.mark.tensorflow
@pytest.mark.parametrize("code", RUN)
def test_a_moved_program_prints_the_same(code: str, tmp_path: Path) -> None:
    rule = RULES[code]
    path = tmp_path / "bad.py"
    path.write_text(
        re.sub(
            r"= [\d_]+(  # scales)",
            r"= 3\1",
            (registry.folder(rule) / "bad.py").read_text(),
        )
    )
    programs = {"plain": path.read_text()}
    for place in places(rule, registry.folder(rule) / "bad.py")[:1]:
        for move in MOVES:
            try:
                variant = moved(place._replace(text=path.read_text()), move)
                programs[re.sub(r"\W", "_", move)] = variant.text
            except NotTheSame:
                continue
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        check=True,
    )
    said: dict[str, str] = json.loads(done.stdout.rpartition("SAID")[2])

    assert said["plain"].strip()
    assert "Error(" not in said["plain"]
    assert {name for name, text in said.items() if text != said["plain"]} == set()
