"""Tries one rule: runs its two programs in turns and gathers what they weigh and print."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tfmemlint.verify.exhaustion import Exhaustion, find_exhaustion
from tfmemlint.verify.fingerprints import of_same_programs
from tfmemlint.verify.outputs import Outputs, difference, same
from tfmemlint.verify.pairs import Measurement, Verdict, not_on_gpu, settled
from tfmemlint.verify.processes import Job, Machine, ProgramError, Run, run
from tfmemlint.verify.scaling import FACTORS, Scaling, ScalingError, scaled
from tfmemlint.vocabulary import Metric, Rule

BOTH_PEAKS = (Metric.DEVICE_PEAK, Metric.HOST_PEAK)
_MOST_TURNS = 4  # for each that was asked for


class Settings(NamedTuple):
    """How to measure, and what besides the claim."""

    runs: int = 3
    device: str = "auto"
    seconds: float = 120
    also: tuple[Metric, ...] = ()
    """Metrics to record whether or not they are claimed."""
    scaling: bool = False
    curves: bool = False
    """Whether to follow the memory over time."""
    exhaust: bool = False
    """Whether to look for a device on which only the fixed program finishes."""
    complete: bool = False
    """Whether to do both, which takes longest, for programs of which there is no record yet."""


class Programs(NamedTuple):
    """The text of a rule's two programs."""

    bad: str
    fixed: str


class Pair(NamedTuple):
    """Two programs to compare, each with how to run it; the metric is up to who compares."""

    bad: Job
    fixed: Job


class Comparison(NamedTuple):
    """What two programs weigh, metric by metric, and what they print."""

    measurements: tuple[Measurement, ...]
    outputs: tuple[Outputs, Outputs]
    """What each printed, run by run."""
    machine: Machine


Runs = Callable[[Job], Run]
"""Runs a program and weighs it."""


def settings_for(folder: Path, settings: Settings) -> Settings:
    """What to measure of the programs in a folder, where that depends on what is known of them."""
    if settings.complete and "scaling" not in of_same_programs(folder):
        return settings._replace(scaling=True, exhaust=True)
    return settings


def verify(
    rule: Rule,
    folder: Path,
    settings: Settings,
    tell: Callable[[str], None] = lambda _: None,
    run: Runs = run,
) -> Verdict:
    """Try a rule's claim with the programs in its folder; raises ProgramError and SetupError."""

    def say(what: str) -> None:
        tell(f"{rule.code} {what}")

    if rule.claim.of_host and settings.device == "auto":
        settings = settings._replace(device="cpu")
    programs = _read(folder)
    resized = _resized(programs, _factors(rule, settings))
    pair = _pair(programs, settings)
    found = compare(pair, _metrics(rule, settings), settings.runs, say, run)
    claimed = found.measurements[0]
    if settings.device == "auto" and not_on_gpu(claimed, found.machine):
        return verify(rule, folder, settings._replace(device="cpu"), tell, run)
    return Verdict(
        rule=rule,
        measurements=found.measurements,
        same_output=same(*found.outputs),
        difference=difference(_NAMES, found.outputs),
        machine=found.machine,
        folder=folder,
        scaling=_scale(resized, claimed, settings, say, run) if resized else None,
        exhaustion=_exhaust(pair, found.measurements, say, run) if settings.exhaust else None,
    )


def compare(
    pair: Pair,
    metrics: Sequence[Metric],
    runs: int,
    tell: Callable[[str], None],
    run: Runs = run,
) -> Comparison:
    """Weigh two programs by each of the metrics; raises ProgramError and SetupError."""
    weighed = [_weigh(metric, pair, runs, tell, run) for metric in metrics]
    bad, fixed = (
        tuple(each.output for one in weighed for each in one.runs[which]) for which in (0, 1)
    )
    return Comparison(
        tuple(one.measurement for one in weighed), (bad, fixed), weighed[0].runs[0][0].machine
    )


def planned(rule: Rule, settings: Settings) -> int:
    """How many runs it takes to try a rule; a few more or less, as it turns out."""
    pairs = settings.runs * len(_metrics(rule, settings))
    if factors := _factors(rule, settings):
        pairs += (len(factors) - 1) * _turns_at_scale(rule.claim.metric, settings)
    return 2 * pairs + (2 if settings.exhaust else 0)


def _metrics(rule: Rule, settings: Settings) -> tuple[Metric, ...]:
    claimed = rule.claim.metric
    return (claimed, *(metric for metric in settings.also if metric is not claimed))


def _factors(rule: Rule, settings: Settings) -> Sequence[float]:
    """What to multiply the data by: all factors for the record, and as few as a claim takes."""
    if settings.scaling or (rule.claim.grows and settings.complete):
        return FACTORS
    return FACTORS[:2] if rule.claim.grows else ()


def _turns_at_scale(metric: Metric, settings: Settings) -> int:
    """How a weight grows is told from differences far larger than those between runs."""
    return settings.runs if metric is Metric.STEP_TIME else 1


class _Weighed(NamedTuple):
    measurement: Measurement
    runs: tuple[Sequence[Run], Sequence[Run]]


def _read(folder: Path) -> Programs:
    try:
        return Programs(*(folder.joinpath(name).read_text("utf-8") for name in _NAMES))
    except OSError as error:
        missing = Path(str(error.filename)).name
        raise ProgramError(f"{folder.name}/{missing} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ProgramError(f"a program in {folder.name} is not UTF-8: {error}") from error


def _pair(programs: Programs, settings: Settings) -> Pair:
    bad, fixed = (
        Job(
            name,
            text,
            Metric.DEVICE_PEAK,
            settings.device,
            settings.seconds,
            curve=settings.curves,
        )
        for name, text in zip(_NAMES, programs, strict=True)
    )
    return Pair(bad, fixed)


def _weigh(
    metric: Metric, pair: Pair, runs: int, tell: Callable[[str], None], run: Runs
) -> _Weighed:
    """Run bad and fixed in turns, so that a machine that slows down slows both.

    What else the machine does shows in times: there it takes as many turns as it needs for most of
    them to agree, up to a limit.
    """
    done: tuple[list[Run], list[Run]] = ([], [])
    bad = fixed = tuple[float, ...]()
    turns = runs
    while len(bad) < turns:
        for job, runs_of_job in zip(pair, done, strict=True):
            tell(f"{metric.value}: {job.called}, run {len(bad) + 1} of {turns}")
            runs_of_job.append(run(job._replace(metric=metric, curve=job.curve and not bad)))
        bad, fixed = (tuple(one.figure for one in each) for each in done)
        if len(bad) == turns < _MOST_TURNS * runs and not settled(metric, bad, fixed):
            turns += 1
    curves = (done[0][0].curve, done[1][0].curve)
    return _Weighed(Measurement(metric, bad, fixed, done[0][0].meter, curves), done)


def _resized(programs: Programs, factors: Sequence[float]) -> dict[float, Programs]:
    try:
        return {
            factor: Programs(*(scaled(text, factor) for text in programs)) for factor in factors
        }
    except (ScalingError, SyntaxError) as reason:
        raise ProgramError(str(reason)) from reason


def _scale(
    resized: Mapping[float, Programs],
    unscaled: Measurement,
    settings: Settings,
    tell: Callable[[str], None],
    run: Runs,
) -> Scaling:
    turns = _turns_at_scale(unscaled.metric, settings)

    def weigh(factor: float, programs: Programs) -> Measurement:
        label = f"data x {factor:g}: "
        pair = _pair(programs, settings)
        metric = unscaled.metric
        return _weigh(metric, pair, turns, lambda what: tell(label + what), run).measurement

    weighed = [
        unscaled if factor == 1 else weigh(factor, programs) for factor, programs in resized.items()
    ]
    return Scaling(
        tuple(one.bad_figure for one in weighed), tuple(one.fixed_figure for one in weighed)
    )


def _exhaust(
    pair: Pair, measurements: Sequence[Measurement], tell: Callable[[str], None], run: Runs
) -> Exhaustion | None:
    for one in measurements:
        if one.metric is Metric.DEVICE_PEAK:
            return find_exhaustion(pair, one.bad_figure, one.fixed_figure, tell, run)
    return None


_NAMES = ("bad.py", "fixed.py")
