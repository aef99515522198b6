"""Tries rules, several at a time: whatever can stand others beside it."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tfmemlint.verify.benches import Bench
from tfmemlint.verify.pairs import Verdict
from tfmemlint.verify.processes import Job, ProgramError
from tfmemlint.verify.terminal import Progress
from tfmemlint.verify.weighing import Settings, planned, settings_for, verify
from tfmemlint.vocabulary import Metric, Rule

Pair = tuple[Rule, Path]
"""A rule and the folder its two programs are in."""

_MOST_JOBS = 4
"""More is for the user to say: programs of fixtures take up to 1.5 GB each."""


class Trial(NamedTuple):
    """What came of one rule: a verdict, or the reason why there is none."""

    rule: Rule
    outcome: Verdict | ProgramError

    @property
    def holds(self) -> bool:
        return isinstance(self.outcome, Verdict) and self.outcome.holds


def default_jobs() -> int:
    """How many pairs are run at a time if nobody says: programs wait, too."""
    processors = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(processors + 1, _MOST_JOBS)


def trials(
    pairs: Sequence[Pair], settings: Settings, jobs: int, progress: Progress
) -> Generator[Trial, None, None]:
    """Try each rule with the programs in its folder; in this order. Raises SetupError.

    Peaks are the same whatever else is run. Times are not: such pairs are run before all others,
    one after the other. On a GPU there is one program at a time.
    """
    progress.plan(sum(planned(rule, settings_for(folder, settings)) for rule, folder in pairs))
    places = range(min(jobs, len(pairs))) if jobs > 1 and len(pairs) > 1 else (None,)
    with ExitStack() as stack:
        benches = [stack.enter_context(Bench(settings.device, place)) for place in places]
        if len(benches) > 1 and _is_on_gpu(benches[0], settings.device):
            del benches[1:]
        free: SimpleQueue[Bench] = SimpleQueue()
        for each in benches:
            free.put(each)
        pool = stack.enter_context(ThreadPoolExecutor(len(benches)))

        def attempt(rule: Rule, folder: Path) -> Trial:
            bench = free.get()
            try:
                return _attempt(bench, rule, folder, settings, progress)
            finally:
                free.put(bench)

        pending: dict[int, Future[Trial]] = {}
        try:
            timed = [len(benches) > 1 and _is_timed(rule) for rule, _ in pairs]
            for place in sorted(range(len(pairs)), key=lambda place: not timed[place]):
                pending[place] = pool.submit(attempt, *pairs[place])
                if timed[place]:
                    wait([pending[place]])
            for place in range(len(pairs)):
                yield pending.pop(place).result()
        finally:
            for future in pending.values():
                future.cancel()
            for each in benches:
                each.stop()


def _attempt(
    bench: Bench, rule: Rule, folder: Path, settings: Settings, progress: Progress
) -> Trial:
    told = 0
    settings = settings_for(folder, settings)

    def tell(what: str) -> None:
        nonlocal told
        told += 1
        progress.tell(what)

    try:
        outcome: Verdict | ProgramError = verify(rule, folder, settings, tell, bench.run)
    except ProgramError as failure:
        outcome = failure
    progress.skip(planned(rule, settings) - told)
    return Trial(rule, outcome)


def _is_timed(rule: Rule) -> bool:
    return rule.claim.metric is Metric.STEP_TIME


def _is_on_gpu(bench: Bench, device: str) -> bool:
    """Whether programs will be run on a GPU; raises SetupError if they cannot be run there."""
    if device == "cpu":
        return False
    return bench.run(Job("nothing.py", "", Metric.TRACES, device)).machine.device == "gpu"
