"""The pytest plugin: marked tests are weighed apart, all others are left alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest

from tfmemlint.verify.limits import Limits, excess, limits, size
from tfmemlint.vocabulary import Metric

pytest_plugins = ["pytester"]

MB = 1 << 20

LEAKING = """
import pytest
import tensorflow as tf

kept = []

@pytest.mark.tf_memory(growth_per_step="0 B")
def test_step():
    kept.append(tf.ones([1024]))
"""
MENDED = LEAKING.replace("kept.append(tf.ones([1024]))", "kept[:] = [tf.ones([1024])]")

SHAPES = """
import pytest
import tensorflow as tf

@pytest.fixture
def eight():
    print("set up")
    return tf.ones([8, 1024, 256])

def double(x):
    return x * 2

@pytest.mark.tf_memory(device_peak="30 MB", host_peak="1 GB")
def test_within(eight):
    double(eight)

@pytest.mark.tf_memory(device_peak="30 MB")
def test_beyond(eight):
    doubled = double(eight)
    more = tf.ones([24, 1024, 256])
    del more
    double(doubled)

class TestMethod(tf.test.TestCase):
    @pytest.mark.tf_memory(device_peak="30 MB")
    def test_method(self):
        double(tf.ones([20, 1024, 256]))

@pytest.mark.tf_memory(growth_per_step="1 KB")
def test_calls(tf_memory_step):
    kept = []
    for _ in range(40):
        kept.append(tf.ones([512]))
        tf_memory_step()
"""

ENDINGS = """
import os
import time
import pytest

marked = pytest.mark.tf_memory(device_peak="1 GB")

@pytest.fixture(scope="module", autouse=True)
def module():
    yield
    print("module torn down")

def test_before():
    pass

@marked
def test_fails():
    assert "this" == "that"

@marked
@pytest.mark.skip(reason="not today")
def test_skipped():
    pass

@marked
@pytest.mark.parametrize("name", ["a/b c"])
@pytest.mark.xfail(strict=True)
def test_expected(name):
    assert name == "a/b d"

@marked
def test_dies():
    os._exit(7)

@pytest.mark.tf_memory(device_peak="1 GB", seconds=10)
def test_hangs():
    time.sleep(600)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("100 MB", 100 * MB),
        ("100MiB", 100 * MB),
        ("1.5 kb", 1536),
        (" 2 GB ", 2 << 30),
        ("0 B", 0),
        (4096, 4096),
    ],
)
def test_limits_are_bytes_with_a_unit(text: object, expected: float) -> None:
    assert size(text) == expected


@pytest.mark.parametrize("text", ["", "MB", "100", "-1 MB", "1 XB", "1 M", -1, None, float("nan")])
def test_what_is_no_amount_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="a limit is bytes"):
        size(text)


def test_a_mark_says_what_is_limited() -> None:
    assert limits((), {"device_peak": "1 MB", "growth_per_step": 0, "steps": 50}) == Limits(
        {Metric.DEVICE_PEAK: MB, Metric.DEVICE_GROWTH: 0}, 50, 300
    )
    assert limits((), {"growth_per_step": 0}).stepwise
    assert not limits((), {"host_peak": "1 MB"}).stepwise


@pytest.mark.parametrize(
    ("args", "kwargs", "why"),
    [
        ((), {}, "no limit is set"),
        (("100 MB",), {}, "give each by its name"),
        ((), {"device_peek": "1 MB"}, "`device_peek` is none"),
        ((), {"growth_per_step": 0, "steps": 29}, "30 steps or more"),
        ((), {"host_peak": "1 MB", "seconds": 0}, "above zero"),
    ],
)
def test_a_mark_that_makes_no_sense_is_refused(
    args: tuple[object, ...], kwargs: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        limits(args, kwargs)


def test_peaks_are_held_to_the_byte_and_growth_to_what_can_be_told() -> None:
    assert excess(Metric.DEVICE_PEAK, MB, MB) is None
    assert excess(Metric.DEVICE_PEAK, MB, 2 * MB) == "device peak: 2.0 MB, the limit is 1.0 MB"
    assert excess(Metric.DEVICE_PEAK, MB, MB + 1) is not None
    assert excess(Metric.DEVICE_GROWTH, 0, 100) is None
    assert excess(Metric.DEVICE_GROWTH, 0, 1024) == (
        "device growth: 1.0 KB a step, the limit is 0 B a step"
    )


def test_whoever_does_not_use_the_mark_pays_nothing(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "import sys\n"
        "def pytest_sessionfinish():\n"
        "    loaded = [name for name in sys.modules if name.startswith('tfmemlint')]\n"
        "    print('loaded:', *loaded, 'tensorflow' in sys.modules, 'libcst' in sys.modules)\n"
    )
    pytester.makepyfile("def test_one(): pass\n")
    result = pytester.runpytest_subprocess("-s", "--strict-markers")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*loaded: tfmemlint tfmemlint.pytest_plugin False False*"])


def test_the_mark_is_explained(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--markers")
    result.stdout.fnmatch_lines(["@pytest.mark.tf_memory(device_peak, *"])


GRAPH = """
import pytest
import tensorflow as tf

BASE = tf.ones([8, 1024, 256])

@tf.function
def step(x):
    wide = tf.tile(x, [4, 1, 1])
    return tf.reduce_sum(tf.sort(wide, axis=0))

@pytest.mark.tf_memory(device_peak="10 MB")
def test_graph():
    step(BASE)

@pytest.mark.tf_memory(device_peak="10 MB")
def test_data():
    options = tf.data.Options()
    options.autotune.enabled = False  # threads would work ahead, whatever line Python is at
    numbers = tf.data.Dataset.range(100).map(lambda i: tf.fill([256, 256], i))
    shuffled = numbers.shuffle(64).with_options(options)
    for each in shuffled.take(3):
        tf.reduce_sum(each)

@pytest.mark.tf_memory(device_peak="10 MB")
def test_that_profiles_itself(tmp_path):
    tf.profiler.experimental.start(str(tmp_path))
    kept = BASE + 1 + BASE
    tf.profiler.experimental.stop()
"""


SHARED = """
import os
import time
import numpy as np
import pytest
import tensorflow as tf

@pytest.mark.tf_memory(device_peak="10 MB", seconds=300)
def test_device():
    assert had_tensorflow
    tf.left_behind = True

@pytest.mark.tf_memory(device_peak="10 MB", seconds=15)
def test_hangs():
    time.sleep(600)

@pytest.mark.tf_memory(growth_per_step="0 B")
def test_growth():
    assert had_tensorflow and not hasattr(tf, "left_behind")

@pytest.mark.tf_memory(device_peak="10 MB", host_peak="60 MB")
def test_host():
    assert had_tensorflow
    kept = np.ones([40 << 20], np.uint8)

@pytest.mark.tf_memory(host_peak="20 MB")
def test_much_on_the_host():
    assert had_tensorflow
    kept = np.ones([40 << 20], np.uint8)

def test_that_sets_something():
    os.environ["SET_BY_A_TEST"] = "so"

@pytest.mark.tf_memory(device_peak="10 MB")
def test_environment():
    assert had_tensorflow and os.environ["SET_BY_A_TEST"] == "so"
"""


HOST = (
    LEAKING.replace("growth_per_step", "host_growth_per_step")
    .replace("0 B", "50 KB")
    .replace("tf.ones([1024])", "bytearray(b'x') * (1 << 20)")
)
FILES = {
    "conftest": "import builtins, sys\nbuiltins.had_tensorflow = 'tensorflow' in sys.modules\n",
    "test_endings": ENDINGS,
    "test_graph": GRAPH,
    "test_host": HOST,
    "test_leaking": LEAKING,
    "test_mended": MENDED,
    "test_shapes": SHAPES,
    "test_shared": SHARED,
}


class Told(NamedTuple):
    """What one run of pytest over all these files came to."""

    lines: pytest.LineMatcher
    outcomes: Mapping[str, Mapping[str, int]]
    """How many tests of each file ended so."""


_RUNS: list[Told] = []
"""The last run, which all tests here look at: TensorFlow takes seconds to import."""


@pytest.fixture
def told(request: pytest.FixtureRequest, tmp_path: Path) -> Told:
    """Run once for all; and once more where a test is run once more because it has failed."""
    if not _RUNS or getattr(request.node, "execution_count", 1) > 1:
        _RUNS[:] = [_run(tmp_path)]
    return _RUNS[0]


def _run(folder: Path) -> Told:
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text.lstrip(), encoding="utf-8")
    options = ["-s", "-rA", "-W", "error", "--strict-markers", "--junitxml", "outcomes.xml"]
    others = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        cwd=folder,
        env={**others, "PY_COLORS": "0", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    outcomes: dict[str, Counter[str]] = {}
    for case in ElementTree.parse(folder / "outcomes.xml").iter("testcase"):
        file = case.get("classname", "").partition(".")[0]
        outcomes.setdefault(file, Counter())[_outcome(case)] += 1
    return Told(pytest.LineMatcher(done.stdout.splitlines()), outcomes)


def _outcome(case: ElementTree.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    return "xfailed" if skipped.get("type") == "pytest.xfail" else "skipped"


@pytest.mark.tensorflow
@pytest.mark.slow
def test_a_leaking_test_fails_and_the_mended_one_passes(told: Told) -> None:
    assert told.outcomes["test_leaking"] == {"failed": 1}
    assert told.outcomes["test_mended"] == {"passed": 1}
    told.lines.fnmatch_lines_random(
        ["test_leaking.py F*", "test_mended.py .*", "*device growth: 4.0 KB a step, the limit *"]
    )


@pytest.mark.tensorflow
@pytest.mark.slow
def test_a_peak_beyond_its_limit_is_told_with_its_line(told: Told) -> None:
    # The one that is skipped is `test_session` of tf.test.TestCase.
    assert told.outcomes["test_shapes"] == {"failed": 3, "passed": 1, "skipped": 1}
    beyond, double = (
        SHAPES[: SHAPES.index(code)].count("\n") for code in ("more = ", "return x * 2")
    )
    told.lines.fnmatch_lines_random(
        [
            "set up",
            "tf_memory: device peak: 32 MB, the limit is 30 MB",
            f"the device peak stood at test_shapes.py:{beyond}: more = tf.ones(*",
            f"24 MB of it were held by test_shapes.py:{beyond}: more = tf.ones(*",
            f"8.0 MB of it were held by test_shapes.py:{double}: return x * 2",
            "tf_memory: device peak: 40 MB, the limit is 30 MB",
            f"the device peak stood at test_shapes.py:{double}: return x * 2",
            "tf_memory: device growth: 2.0 KB a step, the limit is 1.0 KB a step",
        ]
    )


@pytest.mark.tensorflow
@pytest.mark.slow
def test_what_held_the_memory_at_the_peak_is_told_in_graphs_and_pipelines_too(told: Told) -> None:
    assert told.outcomes["test_graph"] == {"failed": 3}
    told.lines.fnmatch_lines(
        [
            "the device peak stood at test_graph.py:13: step(BASE)",
            "96 MB of it were held by test_graph.py:9: return tf.reduce_sum(tf.sort(*",
            "the device peak stood at test_graph.py:21: for each in shuffled.take(3):",
            "* MB of it were held by test_graph.py:20: shuffled = numbers.shuffle(64)*",
            "the device peak stood at test_graph.py:27: kept = BASE + 1 + BASE",
        ]
    )


@pytest.mark.tensorflow
@pytest.mark.slow
def test_however_a_test_ends_it_is_reported_as_if_it_had_run_here(told: Told) -> None:
    assert told.outcomes["test_endings"] == {"passed": 1, "failed": 3, "skipped": 1, "xfailed": 1}
    told.lines.fnmatch_lines_random(
        [
            "*module torn down",
            "E*assert 'this' == 'that'",
            "*not today",
            "tf_memory: the process of the test ended with status 7",
            "tf_memory: the process of the test was still running after 10 s",
        ]
    )


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="host growth is told on Linux only")
def test_a_leak_of_the_hosts_is_told_too(told: Told) -> None:
    assert told.outcomes["test_host"] == {"failed": 1}
    told.lines.fnmatch_lines(["*host growth: 1.0 MB a step, the limit is 50 KB a step"])


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are shared on Linux only")
def test_tests_share_the_import_of_tensorflow_and_nothing_else(told: Told) -> None:
    assert told.outcomes["test_shared"] == {"passed": 5, "failed": 2}
    told.lines.fnmatch_lines(
        [
            "*the process of the test was still running after 15 s",
            "tf_memory: host peak: 4? MB, the limit is 20 MB",
        ]
    )
