"""Which changes of a program leave what was measured of it true."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tfmemlint.verify.exhaustion import Exhaustion
from tfmemlint.verify.fingerprints import fingerprint, fingerprints, of_same_programs
from tfmemlint.verify.pairs import Measurement, Verdict
from tfmemlint.verify.processes import Machine
from tfmemlint.verify.record import record, write
from tfmemlint.verify.scaling import Scaling
from tfmemlint.verify.weighing import Settings, settings_for
from tfmemlint.vocabulary import Metric, Rule

MB = 1 << 20
PROGRAM = """import numpy as np

ROWS = 64  # scales
for row in range(ROWS):
    x = np.ones([ROWS])  # want TFM101 "much"  # step
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('  # want TFM101 "much"', ""),
        ("much", "too much"),
        ("import numpy as np\n", "import numpy as np  # as everybody does\n# alone\n\n"),
        ("64  # scales", "64  # of them # scales"),
    ],
)
def test_what_is_said_in_comments_does_not_count(old: str, new: str) -> None:
    assert old in PROGRAM
    assert fingerprint(PROGRAM.replace(old, new)) == fingerprint(PROGRAM)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("64", "65"),
        ("  # scales", ""),
        ("  # step", ""),
        ("np.ones([ROWS])", "'# no comment'"),
        ("    x", "x"),
    ],
)
def test_what_is_run_and_what_it_is_told_by_marks_counts(old: str, new: str) -> None:
    assert old in PROGRAM
    assert fingerprint(PROGRAM.replace(old, new)) != fingerprint(PROGRAM)


def test_a_number_sign_in_a_string_is_no_comment() -> None:
    assert fingerprint("x = 'a # b'\n") != fingerprint("x = 'a # c'\n")


def test_a_record_is_of_the_programs_that_it_names(folder: Callable[[str, str], Path]) -> None:
    home = folder(PROGRAM, "print(1)\n")
    assert of_same_programs(home) == {}
    (home / "measured.json").write_text("[]")
    assert of_same_programs(home) == {}
    (home / "measured.json").write_text(json.dumps({"programs": fingerprints(home)}))
    assert of_same_programs(home)
    (home / "fixed.py").write_text("print(2)\n")
    assert of_same_programs(home) == {}
    (home / "fixed.py").write_bytes(b"\xff")
    assert of_same_programs(home) == {}


def verdict(rule: Rule, home: Path) -> Verdict:
    weighed = Measurement(Metric.DEVICE_PEAK, (200.0 * MB,), (20.0 * MB,), "a meter")
    machine = Machine("cpu", "a processor", {"tensorflow": "2.21.0"})
    return Verdict(rule, (weighed,), True, machine, home)


def test_what_takes_longest_is_kept_as_long_as_the_programs_are_the_same(
    rule: Callable[..., Rule], folder: Callable[[str, str], Path]
) -> None:
    home = folder(PROGRAM, "print(1)\n")
    complete = Settings(complete=True)
    assert settings_for(home, complete) == Settings(complete=True, scaling=True, exhaust=True)
    scaling = Scaling((100.0 * MB, 200.0 * MB, 400.0 * MB), (20.0 * MB,) * 3)
    whole = verdict(rule(), home)._replace(
        scaling=scaling, exhaustion=Exhaustion(64 * MB, "SIGSEGV")
    )
    write(whole)
    first = json.loads((home / "measured.json").read_text())
    assert settings_for(home, complete) == complete

    write(verdict(rule(), home), looked_for_limit=False)
    second = json.loads((home / "measured.json").read_text())
    assert second["scaling"] == {"date": first["date"], **first["scaling"]}
    assert second["out_of_memory"] == {"date": first["date"], **first["out_of_memory"]}

    write(verdict(rule(), home), looked_for_limit=True)
    assert "out_of_memory" not in json.loads((home / "measured.json").read_text())

    (home / "bad.py").write_text(PROGRAM.replace("64", "65"))
    assert settings_for(home, complete).scaling
    write(verdict(rule(), home), looked_for_limit=False)
    assert "scaling" not in json.loads((home / "measured.json").read_text())


def test_what_the_code_says_is_recorded_beside_what_was_measured(
    rule: Callable[..., Rule], folder: Callable[[str, str], Path]
) -> None:
    ones = "import tensorflow as tf\n\nx = tf.ones([{}, 1024, 256])\nprint(x.shape)\n"
    home = folder(ones.format(200), ones.format("len(open('x').read())"))
    taken = record(verdict(rule(), home))["metrics"]["device peak"]
    assert taken["bad"]["predicted"] == 200 * MB
    assert "predicted" not in taken["fixed"]
