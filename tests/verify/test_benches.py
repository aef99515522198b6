"""Programs run in forks of one process, and what becomes of them when that is to stop."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Timer

import pytest

from tfmemlint.verify.benches import Bench, StoppedError
from tfmemlint.verify.devices import SetupError
from tfmemlint.verify.processes import Job, ProgramError, Surroundings, run
from tfmemlint.verify.starting import may_see_gpus
from tfmemlint.vocabulary import Metric

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

PARENT = "import os\nprint(os.getppid(), 'KEPT' in os.environ)\nos.environ['KEPT'] = 'x'\n"


def parent(bench: Bench, metric: Metric = Metric.TRACES) -> int:
    """What the process was started by that a program ran in."""
    number, kept = bench.run(Job("toy.py", PARENT, metric, "cpu")).output.text.split()
    assert kept == "False"
    return int(number)


@pytest.mark.parametrize("metric", [Metric.DEVICE_PEAK, Metric.TRACES, Metric.GRAPH_BYTES])
def test_a_fork_weighs_what_a_process_of_its_own_weighs(metric: Metric, bench: Bench) -> None:
    program = (
        "import tensorflow as tf\n"
        "double = tf.function(lambda x: x * 2)\n"
        "print(float(tf.reduce_sum(double(tf.ones([33, 1024, 256])))), hash('a') and 1)\n"
    )
    job = Job("toy.py", program, metric, "cpu")
    forked = [bench.run(job) for _ in range(2)]
    assert [each._replace(curve=()) for each in forked] == [run(job)] * 2


OWN = """import os, subprocess, sys, time
import tensorflow as tf
import beside

x = tf.ones([33, 1024, 256])
child = [sys.executable, "-c", "import time; kept = bytearray(b'x') * (60 << 20); time.sleep(1)"]
subprocess.run(child, check=True)
left = [sys.executable, "-c", "import time; time.sleep(600)"]
left = subprocess.Popen(left, start_new_session=True, stdout=subprocess.DEVNULL)
print(os.getcwd(), os.environ["OF_THE_USER"], *sys.argv, __file__, left.pid, os.getppid())
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_program_of_the_users_is_forked_with_all_that_is_around_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_running: Callable[[int], bool]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OF_THE_USER", "x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "beside.py").touch()
    around = Surroundings(str(tmp_path / "real.py"), str(tmp_path / "sub"), arguments=("a b",))
    job = Job("toy.py", OWN, Metric.DEVICE_PEAK, own=around)
    with Bench() as bench:
        runs = [bench.run(job), bench.run(job), run(job)]
        words = [each.output.text.split() for each in runs]
        monkeypatch.setenv("OF_THE_USER", "y")
        changed = bench.run(job).output.text.split()
    expected = [str(tmp_path), "x", str(tmp_path / "real.py"), "a", "b", str(tmp_path / "real.py")]
    assert [each[:-2] for each in words] == [expected] * 3
    assert changed[1] == "y"
    parents = [int(each[-1]) for each in words]
    assert parents[0] == parents[1] != os.getpid() == parents[2]
    assert {each.figure for each in runs} == {runs[0].figure}
    assert all(each.children.largest > 60 << 20 for each in runs)
    assert not any(is_running(int(each[-2])) for each in [*words, changed])


def test_programs_are_forked_from_one_process_whatever_is_weighed(bench: Bench) -> None:
    server = parent(bench)
    assert server != os.getpid()
    assert parent(bench, Metric.DEVICE_PEAK) == server
    assert parent(bench, Metric.HOST_PEAK) == server


ON_THE_HOST = """import numpy as np
import tensorflow as tf
kept = np.ones([30 << 20], np.uint8)
double = tf.function(lambda x: tf.image.adjust_hue(tf.image.resize(x, [256, 256]), 0.1))
print(float(tf.reduce_sum(double(tf.ones([33, 128, 128, 3])))), len(kept))
"""


def test_a_fork_holds_on_the_host_what_a_process_of_its_own_holds(bench: Bench) -> None:
    job = Job("toy.py", ON_THE_HOST, Metric.HOST_PEAK, "cpu")
    forked, alone = bench.run(job), run(job)
    assert (forked.meter, forked.output) == (alone.meter, alone.output)
    assert forked.figure == pytest.approx(alone.figure, rel=0.02)
    assert forked.figure > 30 << 20


def test_programs_are_forked_where_there_is_no_driver_whatever_tensorflow_was_built_for() -> None:
    if may_see_gpus(Path("/dev")):
        pytest.skip("there are GPUs")
    with Bench("auto") as bench:
        number, _ = bench.run(Job("toy.py", PARENT, Metric.TRACES)).output.text.split()
    assert int(number) != os.getpid()


@pytest.mark.parametrize(
    ("names", "hidden", "seen"),
    [
        (("nvidia0", "nvidiactl"), "", True),
        (("nvidia0",), "-1", False),
        (("kfd",), "", True),
        (("dxg",), "", True),
        (("null", "nvram", "kmsg"), "", False),
    ],
)
def test_a_driver_is_looked_for_and_not_asked(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    names: tuple[str, ...],
    hidden: str,
    seen: bool,
) -> None:
    for name in names:
        (tmp_path / name).touch()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    assert may_see_gpus(tmp_path) is seen


def test_where_what_is_forked_has_been_killed_programs_are_run_without() -> None:
    with Bench("cpu") as bench:
        os.kill(parent(bench), signal.SIGKILL)
        assert parent(bench) == os.getpid()


def test_a_bench_leaves_nothing_running(is_running: Callable[[int], bool]) -> None:
    with Bench("cpu") as bench:
        server = parent(bench)
    assert not is_running(server)
    with pytest.raises(StoppedError):
        parent(bench)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_a_bench_can_be_stopped_while_a_program_runs(
    device: str, tmp_path: Path, is_running: Callable[[int], bool]
) -> None:
    """In a fork, and in a process of its own, as what is for another device than the bench is."""
    started = tmp_path / "started"
    program = (
        "import os, pathlib, time\n"
        f"pathlib.Path({str(started)!r}).write_text(str(os.getpid()))\n"
        "time.sleep(600)\n"
    )
    with Bench(device) as bench:
        Timer(0.1, _stop_when, (bench, started)).start()
        with pytest.raises((ProgramError, StoppedError)):
            bench.run(Job("toy.py", program, Metric.TRACES, "cpu"))
    assert not is_running(int(started.read_text()))


def test_a_gpu_that_is_not_there_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    with Bench("gpu") as bench, pytest.raises(SetupError, match="TensorFlow sees no GPU"):
        bench.run(Job("toy.py", "", Metric.TRACES, "gpu"))


def _stop_when(bench: Bench, there: Path) -> None:
    until = time.monotonic() + 300
    while time.monotonic() < until and not (there.exists() and there.read_text()):
        time.sleep(0.05)
    bench.stop()
