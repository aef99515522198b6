"""What is known to be small is counted, not listed, by the engine alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from tfmemlint import Metric, Rule, registry
from tfmemlint.cli import main
from tfmemlint.linting import lint

SMALL = """\
import tensorflow as tf

ds = tf.data.Dataset.range(10).map(lambda i: tf.zeros([4, 4])).batch(2).shuffle(4)
for x in ds:
    print(x)
"""
OPEN = """\
import tensorflow as tf


def batches(rows, buffer):
    ds = tf.data.Dataset.range(rows).map(lambda i: tf.zeros([64, 64, 3]))
    return ds.batch(32).shuffle(buffer).prefetch(1)
"""
SHUFFLE = ("--isolated", "--select", "TFM202")
BYTES = (Metric.DEVICE_PEAK, Metric.HOST_PEAK, Metric.DEVICE_GROWTH, Metric.HOST_GROWTH)
ON_MEMORY = [each for each in registry.load().values() if each.claim.metric in BYTES]
HIDDEN = "1 finding hidden: known to be small (`--min-bytes 0` shows them).\n"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.py"
    path.write_text(SMALL)
    return path


@pytest.fixture
def unknown(tmp_path: Path) -> Path:
    path = tmp_path / "open.py"
    path.write_text(OPEN)
    return path


def check(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main(["check", *map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


def costs(out: str) -> list[dict[str, Any]]:
    return [each["cost"] for each in json.loads(out)]


def test_what_is_small_is_hidden_and_counted(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = check(capsys, *SHUFFLE, small)

    assert (status, out) == (0, f"All checks passed! (1 file)\n{HIDDEN}")


@pytest.mark.parametrize("least", ["0", "512", "512B", "0.5k"])
def test_as_small_as_one_likes(small: Path, least: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = check(capsys, *SHUFFLE, "--min-bytes", least, small)

    assert status == 1
    assert "cost: 4 \N{MULTIPLICATION SIGN} 2 \N{MULTIPLICATION SIGN} 64 B: 512 B; " in out
    assert "Known to hold 512 B.\n" in out
    assert "hidden:" not in out


def test_the_setting_does_the_same(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = small.with_name("tfmemlint.toml")
    settings.write_text('min-bytes = "0"\n')

    assert check(capsys, "--select", "TFM202", small)[0] == 1

    settings.write_text('min-bytes = "lots"\n')
    status, _, err = check(capsys, small)
    assert (status, "`min-bytes`: `lots` is not an amount of memory" in err) == (2, True)


def test_what_is_of_unknown_size_is_never_hidden(
    unknown: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = check(capsys, *SHUFFLE, "--min-bytes", "1TB", unknown)

    assert status == 1
    assert "`buffer` \N{MULTIPLICATION SIGN} 32 \N{MULTIPLICATION SIGN} 48 KB, of unknown" in out


def test_a_report_in_json_counts_what_is_hidden(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = check(capsys, *SHUFFLE, "--output-format", "json-report", small)

    assert json.loads(out) == {
        "findings": [],
        "summary": {
            "findings": 0,
            "hidden_as_small": 1,
            "known_bytes": 0,
            "of_unknown_size": 0,
        },
    }


def test_sarif_counts_it_too(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = check(capsys, *SHUFFLE, "--output-format", "sarif", small)

    assert json.loads(out)["runs"][0]["properties"] == {"hiddenAsSmall": 1}


def test_json_has_the_cost(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = check(capsys, *SHUFFLE, "--min-bytes=0", "--output-format", "json", small)

    assert costs(out) == [
        {
            "at_most": 512,
            "bytes": 512,
            "fixed_bytes": 256,
            "fixed_formula": "4 \u00d7 64 B",
            "formula": "4 \u00d7 2 \u00d7 64 B",
            "grows": "constant",
            "notes": [],
        }
    ]


def test_what_is_assumed_is_filled_in(unknown: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assumed = ("--assume", "rows=50_000", "--assume", "buffer=100")

    _, out, _ = check(capsys, *SHUFFLE, *assumed, unknown)

    assert "48 KB: 150 MB assuming `buffer` is 100; " in out


def test_what_is_assumed_may_stand_in_the_settings(
    unknown: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown.with_name("tfmemlint.toml").write_text("assume = { buffer = 100 }\n")

    assert "150 MB" in check(capsys, "--select", "TFM202", unknown)[1]


@pytest.mark.parametrize(
    ("assumed", "why"),
    [
        ("bufer=3", "`bufer` occurs nowhere; did you mean `buffer`?"),
        ("len(pats)=3", "`len(pats)` occurs nowhere"),
        ("buffer", "`` is not an expression; write `name=number`"),
        ("buffer=many", "`buffer=many` gives no number; write `name=number`"),
        ("buffer (=3", "`buffer (` is not an expression; write `name=number`"),
    ],
)
def test_what_cannot_be_assumed_is_an_error(
    unknown: Path, assumed: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = check(capsys, "--isolated", "--assume", assumed, unknown)

    assert status == 2
    assert f"error: --assume: {why}" in err


def test_what_holds_most_comes_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sized = "ds = tf.data.Dataset.range(9000).map(lambda i: tf.zeros([{0}])).batch(32).shuffle(64)"
    lines = ["import tensorflow as tf", *(sized.format(each) for each in (8192, 65536, "n", 16384))]
    (tmp_path / "many.py").write_text("\n".join(lines))

    _, out, _ = check(
        capsys, *SHUFFLE, "--sort", "cost", "--output-format", "concise", tmp_path / "many.py"
    )

    assert [line.split(":")[-3] for line in out.splitlines()[:4]] == ["3", "5", "2", "4"]


def test_a_comment_on_what_is_hidden_is_not_called_unused(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.write_text(SMALL.replace("shuffle(4)", "shuffle(4)  # tfmemlint: ignore[TFM202] so few"))

    assert check(capsys, "--isolated", "--select", "TFM202,TFM005", small)[0] == 0


@pytest.mark.parametrize("rule", ON_MEMORY, ids=[each.code for each in ON_MEMORY])
def test_whoever_claims_something_of_memory_says_what_is_held(rule: Rule) -> None:
    path = registry.folder(rule) / "bad.py"

    found = list(lint(str(path), path.read_text("utf-8"), [rule]))

    assert found
    assert all(each.diagnostic.cost is not None for each in found)


def test_findings_of_which_no_size_is_known_are_counted(
    unknown: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "1 finding is of unknown size.\n" in check(capsys, *SHUFFLE, unknown)[1]


def test_as_many_examples_mix_where_they_are_small(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check(capsys, *SHUFFLE, "--min-bytes", 0, "--fix", "--unsafe-fixes", small)

    assert ".shuffle(8).batch(2)\n" in small.read_text()
