"""The page and the plots: nothing is loaded, nothing hostile gets through, figures are right."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tfmemlint import registry
from tfmemlint.verify.benches import Bench
from tfmemlint.verify.command import main, measure
from tfmemlint.verify.meters import Reading, sampled
from tfmemlint.verify.page import Entry, bars, page, savings
from tfmemlint.verify.pictures import Pictures, recorded
from tfmemlint.verify.processes import Job
from tfmemlint.verify.weighing import Settings
from tfmemlint.vocabulary import Metric, Rule

MB = 1 << 20
HOSTILE = "</title><script>alert(1)</script>\x1b[2J\u202e"


def record(bad: float, fixed: float, holds: bool = True) -> dict[str, Any]:
    return {
        "claim": {"metric": "device peak", "at_most": 0.5, "holds": holds, "doubt": "so so"},
        "date": "2026-01-31",
        "device": {"name": "a processor"},
        "metrics": {
            "device peak": {
                "bad": {"figure": bad},
                "fixed": {"figure": fixed},
                "ratio": fixed / bad,
                "unit": "bytes",
            }
        },
        "scaling": {
            "metric": "device peak",
            "factors": [0.5, 1, 2],
            "bad": {"figures": [bad / 2, bad, bad * 2], "exponent": 1.0, "grows": "linear"},
            "fixed": {"figures": [fixed] * 3, "exponent": 0.0, "grows": "constant"},
        },
        "versions": {"tensorflow": "2.21.0", "keras": "3.15.1"},
    }


def entry(code: str = "TOY101", bad: float = 200 * MB, fixed: float = 20 * MB) -> Entry:
    curve = ((0.0, 0.0), (0.5, bad), (1.0, 0.0))
    curves = {"device peak": (curve, tuple((at, held / 10) for at, held in curve))}
    return Entry(code, "toy", record(bad, fixed), True, "holds", curves)


class Page(HTMLParser):
    """Sees that all that is opened is closed, and gathers tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("meta", "img", "source"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += f" {data}"


def drawn(html: str) -> list[str]:
    """The pictures in a page."""
    found = re.findall(r'"data:image/svg\+xml;base64,([^"]*)"', html)
    return [b64decode(each).decode() for each in found]


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    text = page(HOSTILE, [entry(), entry(HOSTILE)._replace(name=HOSTILE, words=HOSTILE)])
    seen = Page(text)
    assert seen.open == []
    assert not {"script", "link", "iframe", "object"} & set(seen.tags)
    assert not {"href", "onload", "onclick"} & seen.attributes
    assert "default-src 'none'" in text
    assert len(drawn(text)) == len(re.findall(r"\bsrc(?:set)?=", text)) > 0
    assert not re.search(r"https?:|url\(|@import", text)
    assert "prefers-color-scheme: dark" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_page_shows_figures_verdicts_and_what_is_not_there() -> None:
    nothing = Entry("TOY202", "other", None, False, "error: bad.py was killed by SIGKILL")
    unknown = Entry("TOY303", "third", None, None, "not measured yet")
    words = " ".join(Page(page("Savings", [entry(), nothing, unknown])).text.split())
    assert "TOY101 toy device peak 200 MB 20 MB 10% holds" in words
    assert "error: bad.py was killed by SIGKILL" in words
    assert "TOY303 third not measured yet" in words
    assert "Measured 2026-01-31 on a processor with TensorFlow 2.21.0 and Keras 3.15.1." in words
    assert "without the fix 100 MB 200 MB 400 MB to the 1" in words
    assert "with it 0.500 20 MB" in words


def test_nothing_measured_is_said_so() -> None:
    assert "Nothing was measured." in page("Savings", [])


def test_the_picture_stands_before_the_table_in_light_and_in_dark() -> None:
    text = page("Savings", [entry()])
    assert text.index("<picture>") < text.index("<table>")
    dark, light = drawn(text)[:2]
    assert "TOY101" in dark
    assert light == savings([entry()])


def test_a_program_without_a_claim_shows_each_of_its_metrics() -> None:
    content = record(200 * MB, 20 * MB)
    taken = content["metrics"]["device peak"]
    del content["claim"], content["scaling"]
    content["metrics"] = {"device peak": taken, "host peak": taken}
    shown = list(bars([Entry("", "train.py", content, True, "outputs agree")]))
    assert [metric for metric, _ in shown] == ["device peak", "host peak"]
    assert {(bar.name, bar.about, bar.share) for _, bar in shown} == {("train.py", "", 0.1)}


def test_outputs_that_differ_are_not_green() -> None:
    content = record(200 * MB, 20 * MB)
    differing = Entry("", "train.py", content, True, "outputs differ: x", differs=True)
    assert re.findall(r'class="(\w+)">outputs differ', page("Savings", [differing])) == ["poor"]
    agreeing = Entry("", "train.py", content, True, "outputs agree")
    assert re.findall(r'class="(\w+)">outputs agree', page("Savings", [agreeing])) == ["good"]


def test_the_plot_alone_is_xml_with_the_greatest_saving_first() -> None:
    wrong = entry("TOY404")._replace(good=False)
    svg = savings([entry("TOY101", 200, 100), entry("TOY202", 200, 20), wrong])
    ElementTree.fromstring(svg)
    assert re.findall(r"<!-- (TOY\d+) -->", svg) == ["TOY202", "TOY101"]
    assert re.findall(r"<!-- (\d+%) -->", svg) == ["10%", "50%"]


def test_what_is_not_measured_is_not_drawn() -> None:
    nothing = Entry("TOY202", "other", None, False, "error: bad.py was killed by SIGKILL")
    assert drawn(page("Savings", [nothing])) == []


def test_what_is_recorded_is_shown_without_a_run(rule: Callable[..., Rule], tmp_path: Path) -> None:
    toy = rule()
    assert recorded(toy, tmp_path).words == "not measured yet"
    (tmp_path / "measured.json").write_text("{}")
    assert recorded(toy, tmp_path).words == "not measured yet"
    content = record(200 * MB, 150 * MB, holds=False)
    (tmp_path / "measured.json").write_text(json.dumps(content))
    shown = recorded(toy, tmp_path)
    assert (shown.record, shown.good) == (content, False)
    assert shown.words == "does not hold: so so (claimed: at most 50% is left)"
    content["out_of_memory"] = {"limit": 64 * MB, "death": "SIGSEGV", "unit": "bytes"}
    (tmp_path / "measured.json").write_text(json.dumps(content))
    assert recorded(toy, tmp_path).words.endswith(
        "; on a device of 64 MB only the fixed program finishes, the other dies of SIGSEGV"
    )


def test_the_plot_of_all_rules_is_made_of_what_is_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--recorded", "--svg", str(tmp_path / "s.svg")]) == 0
    measured = [
        code for code, rule in registry.load().items() if recorded(rule, registry.folder(rule)).good
    ]
    text = (tmp_path / "s.svg").read_text("utf-8")
    assert sorted(re.findall(r"<!-- (TFM\d{3}) -->", text)) == measured != []
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--recorded"], "say --html or --svg"),
        (["--recorded", "--html", "x.html", "train.py"], "and no file"),
    ],
)
def test_recorded_figures_are_for_pictures_of_rules(
    options: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(options)
    assert end.value.code == 2
    assert why in capsys.readouterr().err


@pytest.mark.tensorflow
@pytest.mark.slow
def test_a_page_that_cannot_be_written_is_told_before_anything_runs(
    rule: Callable[..., Rule], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = Pictures(html=str(tmp_path / "nowhere" / "r.html"))
    assert measure([(rule(), tmp_path)], Settings(), nowhere) == 2
    assert "cannot be written: there is no such folder" in capsys.readouterr().err
    folder = Pictures(svg=str(tmp_path))
    assert measure([(rule(), tmp_path)], Settings(), folder) == 2
    assert "cannot be written: Is a directory" in capsys.readouterr().err


SPIKES = """import time
import tensorflow as tf

for megabytes in (40, 8):
    x = tf.ones([megabytes, 1024, 256])
    del x
    time.sleep(0.5)
"""


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.parametrize("metric", [Metric.DEVICE_PEAK, Metric.HOST_PEAK])
def test_memory_over_time_has_the_peak_even_where_it_is_short(metric: Metric, bench: Bench) -> None:
    weighed = bench.run(Job("toy.py", SPIKES, metric, "cpu", curve=True))
    moments = [moment for moment, _ in weighed.curve]
    held = [amount for _, amount in weighed.curve]
    assert max(held) == pytest.approx(40 * MB, rel=0.1)
    assert max(held) == pytest.approx(weighed.figure, rel=0.02)
    if metric is Metric.DEVICE_PEAK:  # what is freed goes back to the host when it suits TensorFlow
        assert held[-1] < 10 * MB
    assert moments == sorted(moments)
    assert 0.9 < moments[-1] < 100
    assert 10 < len(moments) < 600


def test_what_comes_and_goes_before_the_first_reading_is_in_the_curve() -> None:
    reading = Reading(0, 0)
    end = sampled(lambda: reading)
    reading = Reading(1, 40)
    assert max(held for _, held in end()) == 40


@pytest.mark.tensorflow
@pytest.mark.slow
def test_a_run_can_be_looked_at(
    rule: Callable[..., Rule], folder: Callable[[str, str], Path], tmp_path: Path
) -> None:
    pair = (rule(), folder(SPIKES, SPIKES.replace("40", "4")))
    target = tmp_path / "report.html"
    settings = Settings(runs=1, device="cpu", curves=True)
    assert measure([pair], settings, Pictures(html=str(target))) == 0
    text = target.read_text("utf-8")
    assert "Device memory over time, as a table" in text
    assert Page(text).open == []
