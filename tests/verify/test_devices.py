"""How the device is chosen, as far as that can be seen where there is no GPU."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tfmemlint.verify.devices import SetupError
from tfmemlint.verify.processes import Job, Machine, Run, run, steady
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
def test_asking_for_a_gpu_reaches_the_process_of_the_program() -> None:
    with pytest.raises(SetupError, match="TensorFlow sees no GPU"):
        run(Job("toy.py", "raise AssertionError\n", Metric.TRACES, "gpu"))


@pytest.mark.tensorflow
def test_the_device_is_chosen_before_anything_uses_it_and_found_again_afterwards() -> None:
    ended = subprocess.run([sys.executable, "-c", CHOOSES], capture_output=True, text=True)
    assert ended.stdout == "CPU:0 CPU:0\n", ended.stderr


@pytest.mark.tensorflow
def test_what_a_gpu_holds_nothing_of_is_weighed_on_the_host_unless_a_gpu_is_asked_for(
    rule: Callable[..., Rule], folder: Callable[[str, str], Path]
) -> None:
    ones = "import tensorflow as tf\nx = tf.ones([{}, 1024, 256])\n"
    pair = folder(ones.format(40), ones.format(4))

    def as_if_on_a_gpu(job: Job) -> Run:
        ran = run(job._replace(device="cpu"))
        gpu = Machine("gpu", "a GPU", ran.machine.versions)
        return ran if job.device == "cpu" else ran._replace(figure=0, machine=gpu)

    found = verify(rule(), pair, Settings(runs=1), run=as_if_on_a_gpu)
    assert (found.holds, found.machine.device) == (True, "cpu")
    asked = verify(rule(), pair, Settings(runs=1, device="gpu"), run=as_if_on_a_gpu)
    assert asked.doubt is not None
    assert "holds nothing on the GPU" in asked.doubt


@pytest.mark.parametrize("device", ["auto", "gpu", "cpu"])
def test_a_gpu_gives_memory_as_it_is_needed_from_the_first_moment(device: str) -> None:
    assert steady(device, ())["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
