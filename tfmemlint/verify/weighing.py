"""Tries one rule: runs its two programs in turns and gathers what they weigh and print."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, zip_longest
from pathlib import Path
from typing import NamedTuple

from tfmemlint.verify.pairs import Measurement, Verdict
from tfmemlint.verify.processes import Job, Output, ProgramError, Run, run
from tfmemlint.verify.scaling import FACTORS, Scaling, ScalingError, scaled
from tfmemlint.vocabulary import Metric, Rule

BOTH_PEAKS = (Metric.DEVICE_PEAK, Metric.HOST_PEAK)


class Settings(NamedTuple):
    """How to measure, and what besides the claim."""

    runs: int = 3
    device: str = "auto"
    seconds: float = 120
    also: tuple[Metric, ...] = ()
    """Metrics to record whether or not they are claimed."""
    scaling: bool = False


class Programs(NamedTuple):
    """The text of a rule's two programs."""

    bad: str
    fixed: str


class _Weighed(NamedTuple):
    measurement: Measurement
    runs: Mapping[str, Sequence[Run]]
    """By the name of the program."""


def verify(
    rule: Rule, folder: Path, settings: Settings, tell: Callable[[str], None] = lambda _: None
) -> Verdict:
    """Try a rule's claim with the programs in its folder; raises ProgramError and SetupError."""

    def say(what: str) -> None:
        tell(f"{rule.code} {what}")

    programs = _read(folder)
    resized = _resized(programs) if settings.scaling else {}
    claimed = rule.claim.metric
    metrics = (claimed, *(metric for metric in settings.also if metric is not claimed))
    weighed = [_weigh(metric, programs, settings, say) for metric in metrics]
    outputs: dict[Output, str] = {}
    for one in weighed:
        for name, runs in one.runs.items():
            for each in runs:
                outputs.setdefault(each.output, name)
    return Verdict(
        rule=rule,
        measurements=tuple(one.measurement for one in weighed),
        same_output=len(outputs) == 1 if any(output.text for output in outputs) else None,
        difference=_difference(outputs),
        machine=weighed[0].runs["bad"][0].machine,
        scaling=(
            _scale(resized, weighed[0].measurement, settings, say) if settings.scaling else None
        ),
    )


def _read(folder: Path) -> Programs:
    try:
        return Programs(*(folder.joinpath(f"{name}.py").read_text("utf-8") for name in _NAMES))
    except OSError as error:
        missing = Path(str(error.filename)).name
        raise ProgramError(f"{folder.name}/{missing} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ProgramError(f"a program in {folder.name} is not UTF-8: {error}") from error


def _weigh(
    metric: Metric, programs: Programs, settings: Settings, tell: Callable[[str], None]
) -> _Weighed:
    """Run bad and fixed in turns, so that a machine that slows down slows both."""
    runs: dict[str, list[Run]] = {name: [] for name in _NAMES}
    for turn in range(settings.runs):
        for name, text in zip(_NAMES, programs, strict=True):
            tell(f"{metric.value}: {name}.py, run {turn + 1} of {settings.runs}")
            job = Job(f"{name}.py", text, metric, settings.device, settings.seconds)
            runs[name].append(run(job))
    bad, fixed = (tuple(one.figure for one in runs[name]) for name in _NAMES)
    return _Weighed(Measurement(metric, bad, fixed, runs["bad"][0].meter), runs)


def _difference(outputs: Mapping[Output, str]) -> str | None:
    """Where two runs first print different lines; None if none do so in what was kept of them."""
    for (one, name), (other, other_name) in combinations(outputs.items(), 2):
        lines = zip_longest(one.text.splitlines(), other.text.splitlines(), fillvalue="")
        for number, (line, other_line) in enumerate(lines, 1):
            if line != other_line:
                return f"line {number}: {name}.py prints {line!r}, {other_name}.py {other_line!r}"
    return None


def _resized(programs: Programs) -> dict[float, Programs]:
    try:
        return {
            factor: Programs(*(scaled(text, factor) for text in programs)) for factor in FACTORS
        }
    except (ScalingError, SyntaxError) as reason:
        raise ProgramError(str(reason)) from reason


def _scale(
    resized: Mapping[float, Programs],
    unscaled: Measurement,
    settings: Settings,
    tell: Callable[[str], None],
) -> Scaling:
    def weigh(factor: float, programs: Programs) -> Measurement:
        label = f"data x {factor:g}: "
        return _weigh(
            unscaled.metric, programs, settings, lambda what: tell(label + what)
        ).measurement

    weighed = [
        unscaled if factor == 1 else weigh(factor, programs) for factor, programs in resized.items()
    ]
    return Scaling(
        tuple(one.bad_figure for one in weighed), tuple(one.fixed_figure for one in weighed)
    )


_NAMES = ("bad", "fixed")
