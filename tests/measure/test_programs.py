"""Programs measured from outside, each in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tfmemlint.measure import command
from tfmemlint.verify.benches import Bench
from tfmemlint.verify.own_lines import forking

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

MB = 1 << 20


class Measured(NamedTuple):
    """What one run of the command came to."""

    status: int
    report: dict[str, Any]
    said: str
    """What the program printed, and its errors."""


Measure = Callable[..., Measured]


@pytest.fixture
def measure(tmp_path: Path) -> Measure:
    """Write a program and whatever it imports, and measure it."""

    def run(text: str, *options: str, arguments: Sequence[str] = (), **others: str) -> Measured:
        for name, content in {"program": text, **others}.items():
            tmp_path.joinpath(f"{name}.py").write_text(content, encoding="utf-8")
        words = ["measure", "--json", *options, "program.py", "--", *arguments]
        done = subprocess.run(
            [sys.executable, "-m", "tfmemlint", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        report: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        return Measured(done.returncode, report, done.stderr)

    return run


@pytest.fixture
def measure_in_a_fork(
    tmp_path: Path,
    own_bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Measure:
    """The same for a program that prints nothing."""
    in_a_fork = partial(command.measure, start=forking(own_bench, "auto"))
    monkeypatch.setattr(command, "measure", in_a_fork)
    monkeypatch.chdir(tmp_path)

    def run(text: str) -> Measured:
        tmp_path.joinpath("program.py").write_text(text, encoding="utf-8")
        status = command.main(["--json", "program.py"])
        told = capsys.readouterr()
        return Measured(status, json.loads(told.out), told.err)

    return run


def held(measured: Measured) -> dict[str, int]:
    """Megabytes by line."""
    return {
        f"{Path(line['path']).stem}:{line['line']}": round(line["bytes"] / MB)
        for line in measured.report["held"]
        if line["bytes"] > MB
    }


def stack(measured: Measured) -> list[int]:
    return [statement["line"] for statement in measured.report["peak"]["stack"]]


def test_eager_tensors_are_held_by_the_lines_that_made_them_in_every_file(
    measure: Measure, tmp_path: Path
) -> None:
    helper = (
        "import tensorflow as tf\n\n\n"
        "def build(count):\n"
        "    return [tf.ones([1, 256, 1024]) for _ in range(count)]\n"
    )
    program = (
        "import tensorflow as tf\n"
        "from helper import build\n"
        "kept = build(20)\n"
        "passing = tf.zeros([50, 256, 1024])\n"
        "del passing\n"
        "both = tf.add(\n"
        "    tf.zeros([30, 256, 1024]),\n"
        "    1.0,\n"
        ")\n"
        "print(float(both[0, 0, 0]), __name__)\n"
        "raise SystemExit(3)\n"
    )
    measured = measure(program, "--html", "page.html", helper=helper)
    assert (measured.status, measured.report["ended"]) == (3, "finished")
    html = tmp_path.joinpath("page.html").read_text(encoding="utf-8")
    assert "<code>program.py:6-9  both = tf.add( ...</code>" in html
    assert "1.0 __main__" in measured.said
    assert held(measured) == {"helper:5": 20, "program:6": 60}
    assert stack(measured) == [6]
    assert measured.report["peak"]["requested"] == pytest.approx(80 * MB, rel=0.01)
    holdings = measured.report["held"][0]["holdings"]
    assert {(each["shape"], each["dtype"]) for each in holdings if each["bytes"] > MB} == {
        ("[30,256,1024]", "float32")
    }
    assert measured.report["host"]["peak"] > measured.report["host"]["before"] > MB
    assert max(height for _, height in measured.report["curve"]) == pytest.approx(80 * MB, rel=0.01)


def test_what_a_graph_holds_is_traced_to_the_lines_of_the_function_and_a_wide_limit_is_no_limit(
    measure: Measure,
) -> None:
    program = (
        "import tensorflow as tf\n\n\n"
        "@tf.function\n"
        "def f(x):\n"
        "    for _ in tf.range(3):\n"
        "        x = tf.sin(\n"
        "            x,\n"
        "        )\n"
        "    y = tf.matmul(x, x)\n"
        "    return tf.reduce_sum(y) + tf.reduce_sum(x)\n\n\n"
        "x = tf.ones([4096, 1024, 2])[:, :, 0]\n"
        "print(f(tf.random.stateless_uniform([2048, 2048], seed=[1, 2])).shape)\n"
    )
    measured = measure(program, "--limit", "1 GB")
    assert measured.status == 0
    lines = held(measured)
    assert lines["program:14"] >= 16
    assert lines["program:10"] == 16
    assert lines["program:7"] in (16, 32)
    assert stack(measured)[-1] == 15


def test_a_program_that_runs_out_of_memory_leads_to_the_line_and_what_was_held_then(
    measure: Measure,
) -> None:
    program = (
        "import tensorflow as tf\n"
        "early = tf.zeros([40, 256, 1024])\n"
        "del early\n"
        "kept = tf.zeros([25, 256, 1024])\n\n\n"
        "def ask(size):\n"
        "    return tf.ones(size) + 1.0\n\n\n"
        "print(ask([60, 256, 1024]))\n"
    )
    measured = measure(program, "--limit", "64MiB")
    failure = measured.report["failure"]
    assert (measured.status, measured.report["ended"]) == (1, "raised")
    assert "ResourceExhaustedError" in measured.said
    assert failure["out_of_memory"]
    assert (failure["at"]["line"], failure["at"]["function"]) == (8, "ask")
    assert failure["requested"]["bytes"] == 60 * MB
    assert failure["requested"]["shape"] == "[60,256,1024]"
    assert held(measured) == {"program:4": 25}
    assert measured.report["peak"]["requested"] == pytest.approx(40 * MB, rel=0.01)
    assert stack(measured) == [2]


def test_a_program_that_is_killed_is_known_up_to_its_last_line(measure: Measure) -> None:
    program = (
        "import os, signal\nimport tensorflow as tf\nx = tf.zeros([20, 256, 1024])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    measured = measure(program)
    assert (measured.status, measured.report["ended"]) == (128 + signal.SIGKILL, "killed")
    assert measured.report["failure"]["type"] == "SIGKILL"
    assert measured.report["failure"]["at"]["line"] == 4
    assert (held(measured), stack(measured)) == ({"program:3": 20}, [3])
    assert not measured.report["traced"]


def test_a_program_may_set_up_tensorflow_and_profile_itself_as_it_could_without(
    measure: Measure, tmp_path: Path
) -> None:
    program = (
        "import os, sys\n"
        "os.environ['TF_TOY'] = '1'\n"
        "assert 'tensorflow' not in sys.modules\n"
        "import tensorflow as tf\n"
        "tf.config.threading.set_intra_op_parallelism_threads(1)\n"
        "tf.config.set_visible_devices([], 'GPU')\n"
        "kept = tf.zeros([20, 256, 1024])\n"
        "tf.profiler.experimental.start('log')\n"
        "more = tf.zeros([40, 256, 1024])\n"
        "tf.profiler.experimental.stop()\n"
        "print(sys.argv, os.listdir('log'))\n"
    )
    measured = measure(program, arguments=["--one", "two"])
    assert measured.status == 0
    assert "['program.py', '--one', 'two'] ['plugins']" in measured.said
    assert not measured.report["traced"]
    assert held(measured) == {"program:7": 20, "program:9": 40}
    assert stack(measured) == [9]
    assert "the program profiles itself" in measured.report["notes"][0]


def test_a_program_without_tensorflow_is_said_to_have_no_device(measure: Measure) -> None:
    measured = measure("print('hello')\n")
    assert (measured.status, measured.report["device"]) == (0, None)
    assert measured.report["peak"]["in_use"] == 0
    assert "hello" in measured.said


def test_a_gpu_that_is_not_there_is_an_error_and_no_other_device_is_taken(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    measured = measure("import tensorflow as tf\nprint(tf.zeros([3]))\n", "--device", "gpu")
    assert measured.status == 2
    assert measured.said.splitlines()[-1] == "error: TensorFlow sees no GPU"
    assert "0. 0. 0." not in measured.said


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_run(
    measure: Measure,
) -> None:
    measured = measure("print('run')\n", "--html", "no/such/page.html")
    assert (measured.status, measured.report) == (2, {})
    assert measured.said == "error: no/such/page.html cannot be written: there is no such folder\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [("def f(:\n", "error: SyntaxError: invalid syntax"), ("x = '\0'\n", "error: ")],
)
def test_what_is_not_a_program_is_an_error(measure: Measure, text: str, problem: str) -> None:
    measured = measure(text)
    assert (measured.status, measured.report) == (2, {})
    assert problem in measured.said


def test_a_program_that_is_interrupted_is_reported_as_far_as_it_came(tmp_path: Path) -> None:
    tmp_path.joinpath("program.py").write_text(
        "import time\nimport tensorflow as tf\nx = tf.zeros([20, 256, 1024])\n"
        "open('ready', 'w').close()\ntime.sleep(600)\n",
        encoding="utf-8",
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "tfmemlint", "measure", "program.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    )
    give_up = time.monotonic() + 300
    while not (tmp_path / "ready").exists() and time.monotonic() < give_up:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "interrupted" in said
    assert "program.py:3  x = tf.zeros([20, 256, 1024])" in said


HOLDERS = """import tensorflow as tf

history = {"loss": [], "features": []}


class Agent:
    seen = []

    def __init__(self):
        self.memory = []

    def remember(self, x):
        self.memory.append((x, tf.ones([512, 1024])))


def counted():
    kept = {}

    def step(number, x):
        kept[number] = tf.square(x)

    return step


agent, step = Agent(), counted()
for number in range(8):
    x = tf.random.normal([256, 1024])
    history["features"].append(tf.sin(x))
    agent.remember(x)
    step(number, x)
with tf.GradientTape() as tape:
    weight = tf.Variable(tf.ones([1024, 1024]))
    y = tf.exp(tf.sin(tf.cos(weight)))
    Agent.seen.append(tf.zeros([3, 1024, 1024]))
"""


def test_what_holds_tensors_is_found_with_what_adds_to_it(measure_in_a_fork: Measure) -> None:
    measured = measure_in_a_fork(HOLDERS)
    keepers = {
        (each["name"] or each["kind"]): each for each in measured.report["held_by"] if each["bytes"]
    }
    sizes = {name: round(each["bytes"] / MB) for name, each in keepers.items()}
    assert sizes.pop('history["features"]') == 8
    assert sizes.pop("agent.memory") == 8 * (1 + 2) - 1  # the last one is still `x`, too
    assert sizes.pop("kept in the closure of step") == 8
    assert sizes.pop("Agent.seen") == 12
    assert (sizes.pop("tape"), sizes.pop("weight")) == (4, 4)
    grows = keepers["agent.memory"]["grows"]
    assert (grows["at"]["line"], grows["runs"]) == (13, 8)
    assert grows["bytes"] == pytest.approx(3 * MB, rel=0.05)
    assert keepers['history["features"]']["grows"]["at"]["line"] == 28
    assert keepers["tape"]["line"] == 31
    assert measured.report["explained"] > 0.9
    total = sum(line["bytes"] for line in measured.report["held"])
    assert sum(each["bytes"] for each in keepers.values()) == total


FIT = """import numpy as np
import keras
from keras import layers

model = keras.Sequential(
    [
        layers.Conv2D(32, 3, padding="same", activation="relu", name="first"),
        layers.Flatten(),
        layers.Dense(64, name="large"),
        layers.Dense(10, name="last"),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x, y = np.ones([128, 32, 32, 3], "float32"), np.zeros(128)
model.fit(x, y, batch_size=64, verbose=0)
"""


def test_in_fit_memory_is_told_by_layer_and_phase_and_by_the_line_that_made_the_layer(
    measure: Measure,
) -> None:
    measured = measure(FIT)
    keepers = {(each["kind"], each["name"]): each for each in measured.report["held_by"]}
    assert keepers["layer", "large"]["line"] == 9
    assert round(keepers["layer", "large"]["bytes"] / MB) == 8
    assert round(keepers["optimiser", "adam"]["bytes"] / MB) == 16
    assert keepers["activations", "first"]["line"] == 7
    assert round(keepers["activations", "first"]["bytes"] / MB) == 8
    assert keepers["gradients", "large"]["bytes"] >= 8 * MB
    (made,) = (line for line in measured.report["held"] if line["line"] == 5)
    phases = {(each["layer"], each["phase"]) for each in made["holdings"]}
    assert {("first", "forward"), ("large", "gradient")} <= phases


WANDERING = """import time
import tensorflow as tf

kept = [tf.ones([10, 256, 1024]) for _ in range(10)]
images = tf.data.Dataset.range(10**9).map(
    lambda i: tf.fill([256, 1024], tf.cast(i, tf.float32)), num_parallel_calls=2
)
started, count = time.time(), 0
for batch in images.shuffle(32).batch(4).prefetch(4):
    tf.reduce_sum(batch * 2.0)
    if time.time() > started + 0.4 * count:
        kept[count % 10] = tf.ones([8 + count % 4, 256, 1024])
        count += 1
    if time.time() > started + 6:
        break
"""


def test_a_trace_that_is_read_again_and_again_makes_up_nothing_and_says_what_it_explains(
    tmp_path: Path,
) -> None:
    often = "from tfmemlint.measure import inside; inside._STRETCH = 0.2"
    start = command._START.replace("from tfmemlint", f"{often}; from tfmemlint", 1)
    launch = (
        "import sys; from tfmemlint.measure import command;"
        f"command._START = {start!r}; sys.exit(command.main(sys.argv[1:]))"
    )
    tmp_path.joinpath("program.py").write_text(WANDERING, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", launch, "--json", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    report = json.loads(done.stdout)
    assert report["traced"]
    assert 150 * MB < report["peak"]["requested"] <= report["peak"]["in_use"]
    assert 0.7 < report["explained"] <= 1
    made = {line["line"]: line["bytes"] / MB for line in report["held"]}
    assert 80 < made.get(4, 0) + made.get(12, 0) < 125
    kept = next(each for each in report["held_by"] if each["name"] == "kept")
    assert 60 < kept["bytes"] / MB < 125, "but for what nobody saw between two looks"
