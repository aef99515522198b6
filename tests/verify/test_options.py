"""The command line: rules or a program, and what goes with which."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.verify.options import parse


def test_what_is_given_decides_between_rules_and_a_program() -> None:
    rules = parse(["--json", "TFM202", "tfm306"])
    program = parse(["train.py", "--json"])
    assert (rules.codes, rules.file, rules.json) == (["TFM202", "tfm306"], None, True)
    assert (program.file, program.json) == ("train.py", True)
    assert (rules.runs, rules.timeout) == (3, 120)
    assert (program.runs, program.timeout) == (3, 3600)
    assert parse([]).file is None


def test_a_file_without_an_ending_is_a_program_if_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse(["train"]).file is None
    Path("train").touch()
    assert parse(["train"]).file == "train"


def test_all_behind_two_dashes_is_the_programs() -> None:
    asked = parse(["train.py", "--runs", "5", "--", "--runs", "9", "--", "x y"])
    assert asked.runs == 5
    assert asked.arguments == ("--runs", "9", "--", "x y")
    assert parse(["train.py", "--"]).arguments == ()


def test_rules_are_chosen_as_in_check() -> None:
    asked = parse(["train.py", "--select", "TFM2, TFM306", "--select", "TFM1", "--unsafe-fixes"])
    assert (asked.select, asked.unsafe_fixes) == (("TFM2", "TFM306", "TFM1"), True)
    assert (parse(["train.py"]).select, parse(["train.py"]).unsafe_fixes) == (None, None)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["a.py", "b.py"], "one program at a time"),
        (["a.py", "TFM202"], "one program at a time"),
        (["a.py", "--scaling"], "--scaling, --oom and --jobs are for the programs of rules"),
        (["a.py", "--oom"], "--scaling, --oom and --jobs are for the programs of rules"),
        (["TFM202", "--select", "TFM202"], "name its file"),
        (["TFM202", "--unsafe-fixes"], "name its file"),
        (["TFM202", "--", "x"], "name its file"),
        (["--runs", "2", "a.py"], "it takes 3 to know the noise"),
        (["--runs", "0", "a.py"], "0 is not a number above zero"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(
    options: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        parse(options)
    assert end.value.code == 2
    assert why in capsys.readouterr().err
