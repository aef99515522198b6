"""Two programs run in turns: whether they differ is told from how far runs of each lie apart."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from tfmemlint.verify.pairs import Measurement
from tfmemlint.verify.processes import Job, Machine, Output, Run
from tfmemlint.verify.ranges import Difference, difference, in_turns
from tfmemlint.vocabulary import Metric

MB = 1 << 20
PEAK = Metric.DEVICE_PEAK


def compared(draws: dict[str, Iterator[float]], runs: int = 3) -> tuple[Measurement, Difference]:
    """What comes of programs that weigh what is drawn."""
    order: list[str] = []

    def run(job: Job) -> Run:
        order.append(job.name)
        machine = Machine("cpu", "toy", {})
        return Run(next(draws[job.name]), "toy", machine, Output("", ""))

    jobs = [Job(name, "", PEAK) for name in draws]
    one = in_turns(PEAK, jobs, runs, lambda _: None, run).against_first(1)
    assert order == [*draws] * len(one.bad)
    return one, difference(one, 2 * runs)


def figures(*amounts: float) -> Iterator[float]:
    return iter([amount * MB for amount in amounts])


@pytest.mark.parametrize(
    ("before", "after", "runs", "saves"),
    [
        ((100, 100, 100), (50, 50, 50), 3, True),
        ((100, 110, 105), (50, 60, 52), 3, True),
        ((0.5, 0.5, 0.5), (0.1, 0.1, 0.1), 3, True),  # however small, where nothing wanders
        ((100, 100, 100), (100, 100, 100), 3, False),
        ((100, 100, 100), (99.5, 99.5, 99.5), 3, False),  # told, but of no use
        ((50, 50, 50), (100, 100, 100), 3, False),
        ((100, 130, 110, 100, 120, 101), (90, 99, 60, 80, 70, 80), 6, True),
        ((100, 130, 110, 100, 120, 101), (90, 99, 60, 80, 104, 80), 6, False),
    ],
)
def test_it_takes_as_many_turns_as_it_needs_to_tell(
    before: tuple[float, ...], after: tuple[float, ...], runs: int, saves: bool
) -> None:
    one, found = compared({"before": figures(*before), "after": figures(*after)})
    assert (len(one.bad), len(one.fixed), found.saves) == (runs, runs, saves)


def test_of_three_programs_all_are_run_until_each_is_told_from_the_first() -> None:
    draws = {
        "before": figures(*[100] * 6),
        "after": figures(*[50] * 6),
        "others": figures(90, 100, 110, 100, 90, 100),
    }
    one, _ = compared(draws)
    assert len(one.bad) == 6


WANDERING: dict[str, Callable[[random.Random], float]] = {
    "evenly": lambda of: of.uniform(10, 20),
    "now and then": lambda of: 20 if of.random() < 0.3 else 12,
    "either way": lambda of: of.choice((12, 20)) + of.gauss(0, 0.2),
    "with a long tail": lambda of: 10 + of.expovariate(0.5),
}


@pytest.mark.parametrize("kind", WANDERING)
def test_a_fix_that_does_nothing_is_hardly_ever_said_to_save(kind: str) -> None:
    source = random.Random(0)

    def draws() -> Iterator[float]:
        while True:
            yield WANDERING[kind](source) * MB

    said = sum(compared({"before": draws(), "after": draws()})[1].saves for _ in range(1000))
    assert said <= 25
