"""Programs that behave and programs that do not, each in a process of its own."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.verify.benches import Bench
from tfmemlint.verify.processes import Job, ProgramError, Run, Surroundings, run
from tfmemlint.vocabulary import Metric

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

MB = 1 << 20

Start = Callable[[Job], Run]
Weigh = Callable[..., Run]
Failure = Callable[..., ProgramError]


@pytest.fixture(scope="module", params=["alone", "forked"])
def start(request: pytest.FixtureRequest) -> Iterator[Start]:
    """Both ways to start a program."""
    if request.param == "alone":
        yield run
        return
    with Bench("cpu") as bench:
        yield bench.run


@pytest.fixture
def weigh(start: Start) -> Weigh:
    def weigh(
        text: str, metric: Metric = Metric.TRACES, seconds: float = 300, memory: int = 8 << 30
    ) -> Run:
        return start(Job("toy.py", text, metric, "cpu", seconds, memory))

    return weigh


@pytest.fixture
def weigh_in_a_fork(bench: Bench) -> Weigh:
    """For what a program weighs: that it weighs as much by itself is for the tests of benches."""

    def weigh(text: str, metric: Metric) -> Run:
        return bench.run(Job("toy.py", text, metric, "cpu", 300))

    return weigh


@pytest.fixture
def failure(weigh: Weigh) -> Failure:
    def failure(text: str, **how: Any) -> ProgramError:
        with pytest.raises(ProgramError) as caught:
            weigh(text, **how)
        return caught.value

    return failure


def test_nothing_is_left_of_what_was_traced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    program = (
        "import os, tempfile\nimport tensorflow as tf\n\n\n@tf.function\ndef double(x):\n"
        "    return x * 2\n\n\nprint(float(double(tf.constant(1.0))))\n"
        "print(any('autograph' in name for name in os.listdir(tempfile.gettempdir())))\n"
    )
    around = Surroundings(str(tmp_path / "toy.py"), str(tmp_path))
    done = run(Job("toy.py", program, Metric.TRACES, "cpu", 300, own=around))
    assert done.output.text == "2.0\nTrue\n"
    assert not [each for each in (tmp_path / "temporary").rglob("*") if each.is_file()]


def test_a_tensor_of_100_mb_is_counted_and_counted_the_same_again(weigh_in_a_fork: Weigh) -> None:
    program = (
        "import tensorflow as tf\n"
        "for mb in (3, 1, 70, 100, 33):\n"
        "    x = tf.zeros([mb, 1024, 256])\n"
        "    print(float(x[0, 0, 0]))\n"
        "    del x\n"
    )
    first, second = (weigh_in_a_fork(program, Metric.DEVICE_PEAK) for _ in range(2))
    assert first.figure == pytest.approx(100 * MB, rel=0.01)
    assert first.figure == second.figure
    assert first.output == second.output


def test_what_threads_and_the_end_hold_counts_and_no_reset_makes_it_forgotten(
    weigh_in_a_fork: Weigh,
) -> None:
    program = (
        "import atexit, time\nfrom threading import Thread\nimport tensorflow as tf\n"
        "kept = []\n\n\ndef hold(mb):\n    time.sleep(0.2)\n"
        "    kept.append(tf.zeros([mb, 1024, 256]))\n\n\n"
        "atexit.register(hold, 30)\nThread(target=hold, args=[20]).start()\n"
    )
    assert weigh_in_a_fork(program, Metric.DEVICE_PEAK).figure == pytest.approx(50 * MB, rel=0.02)
    resets = (
        "import tensorflow as tf\nx = tf.zeros([70, 1024, 256])\ndel x\n"
        "tf.config.experimental.reset_memory_stats('CPU:0')\n"
    )
    assert weigh_in_a_fork(resets, Metric.DEVICE_PEAK).figure == pytest.approx(70 * MB, rel=0.02)


def test_the_hosts_peak_is_not_forgotten_because_a_program_says_so(
    weigh_in_a_fork: Weigh,
) -> None:
    program = (
        "import numpy as np\nx = np.ones([80, 1024, 256], np.float32)\ndel x\n"
        "open('/proc/self/clear_refs', 'w').write('5')\n"
    )
    figure = weigh_in_a_fork(program, Metric.HOST_PEAK).figure
    assert figure == pytest.approx(80 * MB, rel=0.03)


def test_tensors_between_one_and_two_megabytes_are_not_rounded_up(weigh_in_a_fork: Weigh) -> None:
    program = "import tensorflow as tf\nkept = [tf.zeros([5, 1024, 64]) for _ in range(16)]\n"
    figure = weigh_in_a_fork(program, Metric.DEVICE_PEAK).figure
    assert figure == pytest.approx(20 * MB, rel=0.01)


ARRAY = "import numpy as np\nx = np.ones([100, 1024, 256], np.float32)\ndel x\n"


def test_what_numpy_holds_is_the_hosts_and_not_the_devices(weigh_in_a_fork: Weigh) -> None:
    on_host = weigh_in_a_fork(ARRAY, Metric.HOST_PEAK).figure
    assert on_host == pytest.approx(100 * MB, rel=0.02)
    assert weigh_in_a_fork(ARRAY, Metric.DEVICE_PEAK).figure < MB


def test_a_program_that_raises_is_reported_with_what_it_said(failure: Failure) -> None:
    failed = failure(
        "print('before')\n\n\ndef f():\n    raise ValueError('no such luck')\n\n\nf()\n"
    )
    assert str(failed) == "toy.py exited with status 1"
    said = [line for line in failed.stderr.splitlines() if line.strip(" ^~")]
    assert said[-6:] == [
        "Traceback (most recent call last):",
        '  File "toy.py", line 8, in <module>',
        "    f()",
        '  File "toy.py", line 5, in f',
        "    raise ValueError('no such luck')",
        "ValueError: no such luck",
    ]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import os\nos._exit(0)\n", "toy.py ended before it could be weighed"),
        ("import os\nos.kill(os.getpid(), 9)\n", "toy.py was killed by SIGKILL"),
        ("for\n", "toy.py exited with status 1"),
    ],
)
def test_a_program_that_ends_otherwise_is_reported(
    failure: Failure, program: str, reason: str
) -> None:
    assert str(failure(program)) == reason


def test_a_program_that_hangs_is_ended_at_the_limit(failure: Failure) -> None:
    failed = failure("while True:\n    pass\n", seconds=5)
    assert str(failed) == "toy.py was still running after 5 s"


def test_a_program_that_wants_more_memory_than_there_is_is_reported(failure: Failure) -> None:
    program = "import numpy as np\nx = np.ones(4 << 30, np.uint8)\n"
    failed = failure(program, memory=4 << 30)
    assert str(failed) == "toy.py exited with status 1"
    assert "Unable to allocate 4.00 GiB" in failed.stderr


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_what_a_program_leaves_behind_is_killed(
    weigh: Weigh, is_running: Callable[[int], bool]
) -> None:
    program = (
        "import os, subprocess, sys\n"
        "seen, show = os.pipe()\n"
        "os.set_inheritable(show, True)\n"
        "tells = f'os.write({show}, str(os.getpid()).ljust(9).encode())'\n"
        "sleep = [sys.executable, '-c', f'import os, time; {tells}; time.sleep(600)']\n"
        "subprocess.Popen(sleep, close_fds=False)\n"
        "subprocess.Popen(sleep, close_fds=False, start_new_session=True)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        os.execv(sleep[0], sleep)\n"
        "    os._exit(0)\n"
        "for _ in range(3):\n"
        "    print(os.read(seen, 9).decode())\n"
    )
    pids = [int(line) for line in weigh(program).output.text.split()]
    assert len(pids) == 3
    assert not any(is_running(pid) for pid in pids)
    assert is_running(os.getpid())


def can_unshare_the_network() -> bool:
    return any(
        subprocess.run(["unshare", flag, "true"], capture_output=True, check=False).returncode == 0
        for flag in (("-n", "-rn") if shutil.which("unshare") else ())
    )


def test_a_program_sees_nothing_of_ours(weigh: Weigh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    program = (
        "import os, resource, socket, sys\n"
        "print('SECRET_TOKEN' in os.environ, '/nowhere' in sys.path)\n"
        "print(os.listdir(), os.environ['HOME'] in os.getcwd(), repr(sys.stdin.read()))\n"
        "print(resource.getrlimit(resource.RLIMIT_CORE)[0], __name__, len(sys.argv))\n"
        "print([name for name in sys.modules if name.startswith('tfmemlint')])\n"
        "print([name for _, name in socket.if_nameindex() if name != 'lo'])\n"
    )
    *seen, networks = weigh(program).output.text.splitlines()
    assert seen == ["False False", "[] True ''", "0 __main__ 1", "[]"]
    assert networks == "[]" or not can_unshare_the_network()


def test_a_flood_of_output_is_hashed_whole_and_kept_in_part(weigh: Weigh) -> None:
    program = "import sys\nfor _ in range(100):\n    print('x' * 1_000_000)\nsys.exit()\n"
    output = weigh(program).output
    assert output.text == "x" * (1 << 16)
    assert output.digest == hashlib.sha256((b"x" * 1_000_000 + b"\n") * 100).hexdigest()
