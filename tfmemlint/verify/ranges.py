"""Whether two programs weigh differently, told from how far the runs of each lie apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tfmemlint.verify.pairs import Measurement
from tfmemlint.verify.processes import Job, Run
from tfmemlint.vocabulary import Metric

FEWEST = 3
"""Runs of a program under which nothing is known of its noise."""
_ENOUGH = 6
"""Runs of each that by mere chance lie all on their own side once in 924 times."""
_MATTERS = 0.01
"""The part of a peak under which a saving is none that anybody would want."""

Weights = tuple[float, ...]


class Difference(NamedTuple):
    """What one program weighs less than another, and whether that can be told from their noise."""

    saved: float
    noise: float
    """How far runs of the same program lie apart, of the two where that is more."""
    told: bool
    """Whether all runs of one program weigh more than all of the other, by more than the noise;
    or by anything, once there are enough of them."""
    settled: bool
    """Whether more runs would tell no more."""
    matters: bool
    """Whether it is a saving, of a part of the peak that is worth a change."""

    @property
    def saves(self) -> bool:
        return self.told and self.matters


def difference(one: Measurement, most: int = 0) -> Difference:
    """Compare the runs of two programs; after `most` of each, or six, there are to be no more."""
    before, after = one.bad, one.fixed
    noise = max(max(each) - min(each) for each in (before, after))
    runs = min(len(before), len(after))
    gap = max(min(before) - max(after), min(after) - max(before))
    told = runs >= FEWEST and (gap > noise or (gap > 0 and runs >= _ENOUGH))
    saved = one.bad_figure - one.fixed_figure
    same = noise == 0 and before[0] == after[0]
    return Difference(
        saved=saved,
        noise=noise,
        told=told,
        settled=told or same or runs >= max(most, _ENOUGH),
        matters=saved > 0 and saved >= _MATTERS * one.bad_figure,
    )


class Weighed(NamedTuple):
    """What programs weighed, each in as many runs."""

    metric: Metric
    runs: tuple[tuple[Run, ...], ...]

    def against_first(self, which: int) -> Measurement:
        """The first program and another one, as a pair."""
        first, other = self.runs[0], self.runs[which]
        return Measurement(
            self.metric,
            tuple(run.figure for run in first),
            tuple(run.figure for run in other),
            first[0].meter,
            (first[0].curve, other[0].curve),
        )


def in_turns(
    metric: Metric,
    jobs: Sequence[Job],
    runs: int,
    tell: Callable[[str], None],
    run: Callable[[Job], Run],
) -> Weighed:
    """Run programs one after the other, again and again, so that whatever else the machine does
    befalls all of them, until each can be told from the first or is shown not to be."""
    done: list[list[Run]] = [[] for _ in jobs]
    while True:
        turn = len(done[0]) + 1
        for job, runs_of_job in zip(jobs, done, strict=True):
            tell(f"{metric.value}: {job.called}, run {turn}")
            curve = job.curve and turn == 1
            runs_of_job.append(run(job._replace(metric=metric, curve=curve)))
        weighed = Weighed(metric, tuple(tuple(each) for each in done))
        others = (weighed.against_first(which) for which in range(1, len(jobs)))
        if turn >= runs and all(difference(other, 2 * runs).settled for other in others):
            return weighed
