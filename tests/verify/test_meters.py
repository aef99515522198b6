"""Toy pairs, weighed for real: those that save hold, twins do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tfmemlint.verify.benches import Bench
from tfmemlint.verify.processes import ProgramError
from tfmemlint.verify.scaling import exponent
from tfmemlint.verify.weighing import BOTH_PEAKS, Settings, verify
from tfmemlint.vocabulary import Claim, Metric, Rule

pytestmark = pytest.mark.tensorflow

MB = 1 << 20
ONCE = Settings(runs=1, device="cpu")

HOLDS = """import tensorflow as tf

MEGABYTES = {}  # scales
x = tf.ones([MEGABYTES, 1024, 256])
print(float(x[0, 0, 0]))
"""

STEPS = """import numpy as np
import tensorflow as tf


@tf.function
def grow(x, by):
    return tf.concat([x] * 64, axis=0) + by


tensors, arrays = [], []
for i in range(60):
    {}
print(i)
"""
LEAKS = STEPS.format(
    "tensors.append(grow(tf.zeros([256]), i))\n"
    "    arrays.append(np.ones(1 << 18, np.uint8))  # step"
)
"""Traces at every step, and keeps 64 KB of a tensor and 256 KB of an array."""
STEADY = STEPS.format(
    "tensors = grow(tf.zeros([256]), tf.constant(1.0))\n"
    "    arrays = np.ones(1 << 18, np.uint8)  # step"
)


def test_a_pair_that_saves_holds_by_both_peaks(
    rule: Callable[..., Rule], folder: Callable[[str, str], Path], bench: Bench
) -> None:
    settings = ONCE._replace(also=BOTH_PEAKS)
    pair = folder(HOLDS.format(200), HOLDS.format(20))
    verdict = verify(rule(), pair, settings, run=bench.run)
    device, host = verdict.measurements
    assert verdict.holds
    assert (device.metric, host.metric) == BOTH_PEAKS
    assert device.ratio == pytest.approx(0.1, rel=0.02)
    assert host.ratio == pytest.approx(0.1, rel=0.2)
    assert host.doubt(Claim(Metric.HOST_PEAK, 0.5, "")) is None
    assert verdict.same_output is True


def test_twins_do_not_hold_by_the_hosts_peak_either(
    rule: Callable[..., Rule], folder: Callable[[str, str], Path]
) -> None:
    twin = HOLDS.format(50)
    verdict = verify(rule(Metric.HOST_PEAK, 0.9), folder(twin, twin), ONCE)
    assert verdict.doubt is not None
    assert verdict.measurements[0].ratio == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize(
    ("metric", "bad", "fixed"),
    [
        (Metric.DEVICE_GROWTH, (64 << 10, 65 << 10), 1 << 10),
        (Metric.HOST_GROWTH, (320 << 10, 640 << 10), 8 << 10),
        (Metric.TRACES, (60, 60), 1),
        (Metric.GRAPH_BYTES, (60 * 400, 60 * 800), 800),
        (Metric.STEP_TIME, (0.0005, 1), 0.1),
    ],
)
def test_a_leak_that_is_mended_holds_by_every_metric_of_steps(
    metric: Metric,
    bad: tuple[float, float],
    fixed: float,
    rule: Callable[..., Rule],
    folder: Callable[[str, str], Path],
    bench: Bench,
) -> None:
    verdict = verify(rule(metric, safety="Safe."), folder(LEAKS, STEADY), ONCE, run=bench.run)
    [measured] = verdict.measurements
    assert verdict.doubt is None
    assert bad[0] <= measured.bad_figure <= bad[1]
    assert 0 <= measured.fixed_figure <= fixed
    steady = measured._replace(bad=measured.fixed)
    assert steady.doubt(verdict.rule.claim) is not None


@pytest.mark.parametrize(
    ("loop", "reason"),
    [
        ("for i in range(60):  # step\n    pass\n", "no simple statement is marked `# step`"),
        ("for i in range(29):\n    pass  # step\n", "29 steps were made; it takes 30 or more"),
    ],
)
def test_growth_is_not_told_from_too_few_steps(
    loop: str,
    reason: str,
    rule: Callable[..., Rule],
    folder: Callable[[str, str], Path],
    bench: Bench,
) -> None:
    with pytest.raises(ProgramError, match=reason):
        verify(rule(Metric.DEVICE_GROWTH), folder(loop, loop), ONCE, run=bench.run)


def test_how_the_two_programs_grow_with_their_data_is_told(
    rule: Callable[..., Rule], folder: Callable[[str, str], Path], bench: Bench
) -> None:
    streams = HOLDS.format(64).replace("[MEGABYTES", "[min(MEGABYTES, 8)")
    pair = folder(HOLDS.format(64), streams)
    verdict = verify(rule(), pair, ONCE._replace(scaling=True), run=bench.run)
    assert verdict.scaling is not None
    assert verdict.scaling.bad == pytest.approx((32 * MB, 64 * MB, 128 * MB), rel=0.02)
    assert verdict.scaling.fixed == pytest.approx((8 * MB, 8 * MB, 8 * MB), rel=0.02)
    assert exponent(verdict.scaling.bad, MB) == pytest.approx(1, abs=0.02)


def test_a_program_without_a_mark_cannot_be_scaled(
    rule: Callable[..., Rule], folder: Callable[[str, str], Path]
) -> None:
    unmarked = folder(HOLDS.format(4), "print(0)\n")
    with pytest.raises(ProgramError, match="no assignments are marked `# scales`"):
        verify(rule(), unmarked, ONCE._replace(scaling=True))
