"""How the device is chosen, as far as that can be seen where there is no GPU."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tfmemlint import registry
from tfmemlint.verify.benches import Bench
from tfmemlint.verify.devices import SetupError, choose_device, little_room
from tfmemlint.verify.processes import Job, Machine, Output, Run, run, steady
from tfmemlint.verify.weighing import Settings, verify
from tfmemlint.vocabulary import Metric, Rule

TELLS = "import os\nprint(os.environ.get('CUDA_VISIBLE_DEVICES'))\n"
CHOOSES = """
import tensorflow as tf
from tfmemlint.verify.devices import choose_device, device_in_use, prewarm

processor = tf.config.list_physical_devices("CPU")[0]
two = [tf.config.LogicalDeviceConfiguration()] * 2

device = choose_device(tf, "auto")
tf.config.set_logical_device_configuration(processor, two)  # nobody has used it yet
prewarm(tf, device)
assert len(tf.config.list_logical_devices("CPU")) == 2
try:
    tf.config.set_logical_device_configuration(processor, two[:1])
except RuntimeError:
    print(device.address, device_in_use(tf).address)
"""


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "hidden", "seen"), [("cpu", "0", "-1"), ("auto", "7", "7"), ("auto", "-1", "-1")]
)
def test_a_program_sees_the_gpus_it_may_see(
    monkeypatch: pytest.MonkeyPatch, device: str, hidden: str, seen: str
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    ended = run(Job("toy.py", TELLS, Metric.TRACES, device))
    assert ended.output.text == f"{seen}\n"
    assert ended.machine.device == "cpu"
    assert ended.machine.driver is None


@pytest.mark.tensorflow
@pytest.mark.slow
def test_asking_for_a_gpu_reaches_the_process_of_the_program() -> None:
    with pytest.raises(SetupError, match="TensorFlow sees no GPU"):
        run(Job("toy.py", "raise AssertionError\n", Metric.TRACES, "gpu"))


@pytest.mark.tensorflow
@pytest.mark.slow
def test_the_device_is_chosen_before_anything_uses_it_and_found_again_afterwards() -> None:
    ended = subprocess.run([sys.executable, "-c", CHOOSES], capture_output=True, text=True)
    assert ended.stdout == "CPU:0 CPU:0\n", ended.stderr


@pytest.mark.tensorflow
@pytest.mark.slow
def test_what_a_gpu_holds_nothing_of_is_weighed_on_the_host_unless_a_gpu_is_asked_for(
    rule: Callable[..., Rule], folder: Callable[[str, str], Path], bench: Bench
) -> None:
    ones = "import tensorflow as tf\nx = tf.ones([{}, 1024, 256])\n"
    pair = folder(ones.format(40), ones.format(4))

    def as_if_on_a_gpu(job: Job) -> Run:
        ran = bench.run(job._replace(device="cpu"))
        gpu = Machine("gpu", "a GPU", ran.machine.versions)
        return ran if job.device == "cpu" else ran._replace(figure=0, machine=gpu)

    found = verify(rule(), pair, Settings(runs=1), run=as_if_on_a_gpu)
    assert (found.holds, found.machine.device) == (True, "cpu")
    asked = verify(rule(), pair, Settings(runs=1, device="gpu"), run=as_if_on_a_gpu)
    assert asked.doubt is not None
    assert "holds nothing on the GPU" in asked.doubt


def test_what_is_the_hosts_is_weighed_there_whatever_else_touches_the_gpu(
    rule: Callable[..., Rule], folder: Callable[[str, str], Path]
) -> None:
    toy = rule()
    toy = toy._replace(claim=toy.claim._replace(of_host=True))
    pair = folder("# bad", "# fixed")

    def as_if_on_a_gpu(job: Job) -> Run:
        """The programs train a model there, which takes the same with and without the fix."""
        on_gpu = job.device != "cpu"
        figure = 300 if on_gpu else (100 if "bad" in job.text else 10)
        machine = Machine("gpu" if on_gpu else "cpu", "", {"tensorflow": ""})
        return Run(figure << 20, "toy", machine, Output("", "1"))

    found = verify(toy, pair, Settings(runs=1), run=as_if_on_a_gpu)
    assert (found.holds, found.machine.device) == (True, "cpu")
    assert not verify(rule(), pair, Settings(runs=1), run=as_if_on_a_gpu).holds
    assert not verify(toy, pair, Settings(runs=1, device="gpu"), run=as_if_on_a_gpu).holds


def test_rules_about_pipelines_say_that_their_memory_is_the_hosts() -> None:
    of_device = (Metric.DEVICE_PEAK, Metric.DEVICE_GROWTH)
    rules = registry.load()
    pipelines = [rules[f"TFM{number}"] for number in (201, 202, 204, 207, 212, 224)]
    assert all(each.claim.of_host for each in pipelines)
    assert all(each.claim.metric in of_device for each in rules.values() if each.claim.of_host)


class Gpus:
    """As much of TensorFlow as choosing a device takes, on a machine that has some."""

    def __init__(self, name: str, count: int, free: int = 1 << 40) -> None:
        self.config = self.experimental = self.errors = self.raw_ops = self
        self.ResourceExhaustedError = MemoryError
        self.float32 = None
        self._name, self._gpus, self._free = name, list(range(count)), free
        self.visible: list[int] = []

    def list_physical_devices(self, kind: str) -> list[int]:
        return self._gpus

    def set_visible_devices(self, devices: list[int], kind: str) -> None:
        self.visible = devices

    def set_memory_growth(self, gpu: int, grows: bool) -> None:
        assert (gpu, grows) == (0, True)

    def get_device_details(self, gpu: int) -> dict[str, str]:
        return {"device_name": self._name}

    def device(self, address: str) -> contextlib.AbstractContextManager[None]:
        assert address == "GPU:0"
        return contextlib.nullcontext()

    def Empty(self, shape: list[int], dtype: None, init: bool) -> None:  # noqa: N802
        if shape[0] * 4 > self._free:
            raise MemoryError


def test_of_several_gpus_or_a_part_of_one_or_a_full_one_a_line_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TF_CUDNN_USE_AUTOTUNE", "0")
    several = Gpus("A toy", 4)
    device = choose_device(several, "auto")
    assert (device.address, several.visible) == ("GPU:0", [0])
    assert device.remarks == ("the first of 4 GPUs is used, and the others are hidden",)
    assert little_room(several, device) is None
    part = choose_device(Gpus("A toy MIG 1g.5gb", 1), "gpu")
    assert part.remarks == ("this is a part of a GPU (MIG): its memory is that part's alone",)
    full = Gpus("A toy", 1, free=500 << 20)
    assert "less than 1024 MB of the GPU are free" in (
        little_room(full, choose_device(full, "auto")) or ""
    )
    monkeypatch.delenv("TF_CUDNN_USE_AUTOTUNE")
    assert "cuDNN" in choose_device(Gpus("A toy", 1), "auto").remarks[0]


@pytest.mark.parametrize("device", ["auto", "gpu", "cpu"])
def test_a_gpu_gives_memory_as_it_is_needed_from_the_first_moment(device: str) -> None:
    assert steady(device, ())["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
