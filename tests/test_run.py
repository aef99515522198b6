"""A file that is too large, takes too long or kills its process is answered for, as are others."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tfmemlint import Claim, Diagnostic, File, Metric, Rule, Span
from tfmemlint.config import Config, ConfigError, Configs, FileIgnores, Selection
from tfmemlint.patterns import ANY, matcher
from tfmemlint.registry import outline
from tfmemlint.run import LARGEST_READ, Checker, Plan, make_plan, run
from tfmemlint.workers import spread


def rule(code: str, name: str = "some-rule") -> Rule:
    def check(file: File) -> list[Diagnostic]:
        while file.text.endswith("loop\n"):
            try:
                sum(range(1000))
            except Exception:  # noqa: BLE001  as a careless rule might
                continue
        return [Diagnostic(Span(0, 1), "is there")]

    return Rule(code, name, Claim(Metric.HOST_PEAK, 1, "of nothing"), (), check)


class Prepared(Checker):
    """A checker with a rule of our own."""

    def plan(self, path: str) -> Plan:
        return make_plan(Config(), {"X101": outline(rule("X101"))})


def checker(longest: float = 10) -> Checker:
    return Prepared(Configs(lambda config: config, Config()), longest=longest)


def codes(source: bytes, longest: float = 10) -> list[str]:
    return [each.code for each in checker(longest).check("a.py", source).checked.findings]


def test_a_rule_that_does_not_end_is_cut_short() -> None:
    begin = time.process_time()
    (finding,) = checker(0.2).check("a.py", b"import keras\nloop\n").checked.findings

    assert (finding.code, finding.diagnostic.message) == ("TFM003", "takes more than 0.2 seconds")
    assert time.process_time() - begin < 5


def test_what_is_checked_in_time_is_not_cut_short() -> None:
    assert codes(b"import keras\n", longest=5) == ["X101"]
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)


def test_a_file_far_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    with path.open("wb") as file:
        file.truncate(LARGEST_READ + 1)
    (finding,) = checker().check_file(str(path)).checked.findings

    assert ("TFM003", f"larger than {LARGEST_READ} bytes") == (
        finding.code,
        finding.diagnostic.message,
    )


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (b"import keras\n" + b"#" * 1_999_987, ["X101"]),
        (b"import keras\n" + b"#" * 1_999_988, ["TFM003"]),
        (b"import torch\n" + b"#" * 1_999_988, []),
    ],
    ids=["just-fits", "too-large", "large-without-tensorflow"],
)
def test_a_file_too_large_is_analysed_only_for_a_mention_of_tensorflow(
    source: bytes, found: list[str]
) -> None:
    assert found == codes(source)


def test_the_text_of_a_clean_file_is_not_kept() -> None:
    assert checker().check("a.py", b"import torch\n").checked.text == ""
    assert checker().check("a.py", b"import keras\n").checked.text == "import keras\n"


def test_a_file_that_is_gone_is_a_finding(tmp_path: Path) -> None:
    (outcome,) = run([str(tmp_path / "a.py")], checker())

    assert [(finding.code, finding.diagnostic.message) for finding in outcome.checked.findings] == [
        ("TFM001", "cannot be read: No such file or directory")
    ]


@pytest.mark.parametrize(
    ("selection", "reported"),
    [
        (Selection(), ["TFM001", "TFM002", "TFM003", "TFM004", "TFM005", "X101", "X201"]),
        (Selection(select=("X1",)), ["TFM001", "TFM002", "TFM003", "TFM004", "X101"]),
        (Selection(select=("TFM005",)), ["TFM001", "TFM002", "TFM003", "TFM004", "TFM005"]),
        (Selection(ignore=("TFM0", "X2")), ["TFM004", "X101"]),
        (Selection(ignore=("syntax-error", "X")), ["TFM001", "TFM003", "TFM004", "TFM005"]),
        (Selection(select=()), ["TFM001", "TFM002", "TFM003", "TFM004"]),
    ],
)
def test_what_the_engine_says_can_be_ignored_but_not_that_it_failed(
    selection: Selection, reported: list[str]
) -> None:
    rules = {"X101": outline(rule("X101", "one")), "X201": outline(rule("X201", "two"))}

    assert reported == sorted(make_plan(Config(rules=(selection,)), rules).reported)


def test_a_file_may_ignore_anything_but_our_failures() -> None:
    ignores = FileIgnores(None, matcher(["a.py"], ANY), inverted=False, ignore=("ALL",))
    plan = make_plan(Config(file_ignores=(ignores,)), {"X101": outline(rule("X101"))})

    assert sorted(plan.reported_in("x/a.py")) == ["TFM004"]
    assert plan.reported_in("x/b.py") == plan.reported


def test_a_code_that_is_no_rules_is_refused_with_its_place() -> None:
    config = Config(rules=(Selection("b.toml", None, ("X1012",)),))
    with pytest.raises(ConfigError) as error:
        make_plan(config, {"X101": outline(rule("X101"))})

    assert str(error.value) == (
        "b.toml: `extend-select`: unknown rule `X1012`; did you mean `X101`?"
    )


@pytest.mark.parametrize("processes", [1, 2, 5])
@pytest.mark.parametrize("number", [0, 1, 7, 500])
def test_work_is_spread_and_comes_back_in_order(processes: int, number: int) -> None:
    assert [item * item for item in range(number)] == spread(
        lambda item: item * item, range(number), processes
    )


def test_work_comes_from_other_processes() -> None:
    assert os.getpid() not in spread(lambda _: os.getpid(), range(10), 2)


def test_large_results_come_back_whole() -> None:
    results = spread(lambda item: bytes([item]) * 3_000_000, range(8), 3)

    assert [bytes([item]) * 3_000_000 for item in range(8)] == results


def test_only_what_kills_a_process_is_lost() -> None:
    def work(item: int) -> int:
        if item % 50 == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        if item % 50 == 17:
            raise SystemExit
        return item

    lost = {3, 17, 53, 67}

    assert [None if item in lost else item for item in range(90)] == spread(work, range(90), 2)


def test_no_process_is_left_behind() -> None:
    spread(lambda item: item, range(100), 4)

    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_an_interrupt_of_the_parent_ends_its_workers() -> None:
    seen, show = os.pipe()

    def work(item: int) -> None:
        if item == 0:
            os.read(seen, 1)  # until the other worker is there
            os.kill(os.getppid(), signal.SIGINT)
        os.write(show, b".")
        time.sleep(300)

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        spread(work, range(10), 2)

    assert time.monotonic() - begin < 100
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
