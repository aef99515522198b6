"""Judging: what a rule's two programs were found to weigh, against what the rule claims."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from tfmemlint.report.figures import amount
from tfmemlint.verify.scaling import Scaling, exponent, order
from tfmemlint.vocabulary import Claim, Metric, Rule

if TYPE_CHECKING:
    from pathlib import Path

    from tfmemlint.verify.exhaustion import Exhaustion
    from tfmemlint.verify.processes import Curve, Machine

RESOLUTION: Mapping[Metric, float] = {
    Metric.DEVICE_PEAK: 1 << 20,
    Metric.HOST_PEAK: 8 << 20,
    Metric.DEVICE_GROWTH: 256,
    Metric.HOST_GROWTH: 2 << 10,
    Metric.TRACES: 1,
    Metric.GRAPH_BYTES: 256,
    Metric.STEP_TIME: 0.0005,
}
"""A difference smaller than this is the meter's own noise, and no saving."""

_ENOUGH = 4
"""Runs of which some may be far off."""
_SPREAD = 0.1
_FAR = 3
"""Times that are so many times longer are not so by a disturbance."""


class Measurement(NamedTuple):
    """What every run of the two programs weighed: bytes, traces, bytes per step or seconds."""

    metric: Metric
    bad: tuple[float, ...]
    fixed: tuple[float, ...]
    meter: str = ""
    """What gave the figures."""
    curves: tuple[Curve, Curve] = ((), ())
    """What each program held over time, if that was asked for."""

    @property
    def bad_figure(self) -> float:
        return figure(self.metric, self.bad)

    @property
    def fixed_figure(self) -> float:
        return figure(self.metric, self.fixed)

    @property
    def ratio(self) -> float:
        """Fixed to bad; infinite where the bad program weighs nothing."""
        return self.fixed_figure / self.bad_figure if self.bad_figure > 0 else math.inf

    def doubt(self, claim: Claim) -> str | None:
        """Why these weights do not bear the claim out; None if they do."""
        if claim.metric is not self.metric:
            return f"the claim is about {claim.metric.value}, not {self.metric.value}"
        if self.bad_figure <= 0:
            return "the bad program weighs nothing"
        if not self.ratio <= claim.at_most:
            return f"the ratio is {self.ratio:.3f}, more than the {claim.at_most:g} claimed"
        saved, resolution = self.bad_figure - self.fixed_figure, RESOLUTION[self.metric]
        if saved < resolution:
            return (
                f"the difference of {amount(self.metric, saved)} is less than "
                f"the {amount(self.metric, resolution)} this meter can tell"
            )
        _, most = usual(self.metric, self.fixed)
        least, _ = usual(self.metric, self.bad)
        if most >= least:
            return "one run of the fixed program weighs as much as one of the bad program"
        return None


class Verdict(NamedTuple):
    """Everything one trial of a rule found."""

    rule: Rule
    measurements: tuple[Measurement, ...]
    """What is claimed comes first."""
    same_output: bool | None
    """None where the programs print nothing."""
    machine: Machine
    folder: Path
    """Where the two programs are."""
    difference: str | None = None
    """Where the outputs differ."""
    scaling: Scaling | None = None
    exhaustion: Exhaustion | None = None

    @property
    def doubt(self) -> str | None:
        """Why the claim does not hold; None if it does."""
        if not self.measurements:
            return "nothing was measured"
        if promises_same_results(self.rule):
            if self.same_output is None:
                return "the fix is said to be safe, but the programs print nothing to compare"
            if not self.same_output:
                return "outputs differ, although the fix is said to be safe"
        if not_on_gpu(self.measurements[0], self.machine):
            return (
                "the bad program holds nothing on the GPU; --device cpu weighs the host's tensors"
            )
        return self.measurements[0].doubt(self.rule.claim) or self._doubt_of_growth()

    @property
    def holds(self) -> bool:
        return self.doubt is None

    def _doubt_of_growth(self) -> str | None:
        claimed = self.rule.claim.grows
        if claimed is None:
            return None
        if self.scaling is None:
            return "how the programs grow was not measured"
        resolution = RESOLUTION[self.rule.claim.metric]
        for name, weights, claim in zip(("bad", "fixed"), self.scaling, claimed, strict=True):
            grows = order(exponent(weights, resolution))
            if grows != claim:
                return f"the growth of the {name} program is {grows}, not {claim} as claimed"
        return None


def not_on_gpu(measurement: Measurement, machine: Machine) -> bool:
    """Whether what is claimed of the device is not held by the GPU, as with what tf.data makes."""
    of_device = measurement.metric in (Metric.DEVICE_PEAK, Metric.DEVICE_GROWTH)
    nothing = measurement.bad_figure < RESOLUTION[measurement.metric]
    return machine.device == "gpu" and of_device and nothing


def usual(metric: Metric, runs: tuple[float, ...]) -> tuple[float, float]:
    """The least and the most that a run weighs; of times, the middle half of the runs."""
    if metric is not Metric.STEP_TIME or len(runs) < _ENOUGH:
        return min(runs), max(runs)
    lower, _, upper = statistics.quantiles(runs, n=4, method="inclusive")
    return lower, upper


def settled(metric: Metric, bad: tuple[float, ...], fixed: tuple[float, ...]) -> bool:
    """Whether more runs would hardly tell more."""
    if metric is not Metric.STEP_TIME:
        return True
    if len(bad) == 1:  # of which nobody knows how far off it is
        return fixed[0] * _FAR < bad[0]
    tolerable = _SPREAD * statistics.median(bad)
    spreads = (most - least for least, most in (usual(metric, runs) for runs in (bad, fixed)))
    return all(spread <= tolerable for spread in spreads)


def figure(metric: Metric, runs: tuple[float, ...]) -> float:
    """The one figure that stands for several runs.

    An allocator only ever rounds up, and threads running ahead only ever add: the least is the
    truest. Everywhere else noise goes both ways.
    """
    return min(runs) if metric is Metric.DEVICE_PEAK else statistics.median(runs)


def promises_same_results(rule: Rule) -> bool:
    """Whether the rule's page says that its fix is safe."""
    _, _, after = rule.page.partition("## Fix safety")
    return after.lstrip().startswith("Safe")
