"""`tfmemlint verify FILE.py`: what the fixes save in a user's own program."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tfmemlint.config import Config, Configs, Selection
from tfmemlint.decoding import decode
from tfmemlint.linting import ENGINE
from tfmemlint.run import Change, Checker, Outcome
from tfmemlint.verify.family import Children
from tfmemlint.verify.outputs import Agreement, Outputs, agreement
from tfmemlint.verify.own_lines import Remains, look
from tfmemlint.verify.pairs import Measurement
from tfmemlint.verify.processes import Job, Machine, Run, Surroundings, run
from tfmemlint.verify.ranges import Weighed, difference, in_turns
from tfmemlint.verify.weighing import BOTH_PEAKS, Settings
from tfmemlint.vocabulary import Applicability, Finding, Metric

_NOTICED = 0.01
"""The part of the peak from which on it is worth a word that other lines hold less."""


class Request(NamedTuple):
    """Which program, which fixes, and what the program is given."""

    path: str
    select: tuple[str, ...] | None = None
    unsafe: bool | None = None
    """None for what the settings say."""
    arguments: tuple[str, ...] = ()


class Mended(NamedTuple):
    """What fixes make of a file, in memory."""

    change: Change
    fixed: tuple[tuple[str, int], ...]
    """How many findings of each code."""
    safe: bool
    """Whether all these fixes promise the same results."""
    left_out: LeftOut | None = None
    findings: tuple[Finding, ...] = ()
    """What is fixed, as it stands in the program as it is."""


class LeftOut(NamedTuple):
    """What the unsafe fixes that were not asked for would make of it besides."""

    change: Change
    fixed: tuple[tuple[str, int], ...]


class Unmended(NamedTuple):
    """There is nothing to compare: the reason, and whether that is a failure."""

    why: str
    failed: bool


class Saving(NamedTuple):
    """What a program weighs with and without its fixes, and whether it prints the same."""

    mended: Mended
    measurements: tuple[Measurement, ...]
    outputs: Agreement
    machine: Machine
    with_all: tuple[Measurement, ...] = ()
    """Against the program with the fixes that were left out, too."""
    remains: Remains | None = None
    """What is left, and where; None where that could not be traced."""
    children: Children = Children()
    """What processes of the program as it is held besides."""

    @property
    def doubt(self) -> str | None:
        """Why nobody should want these fixes; None if they save memory and keep their promise."""
        if self.mended.safe and self.outputs.same is False:
            return "the fixes are said to be safe, but the outputs differ"
        differences = [difference(one) for one in self.measurements]
        if not any(each.saves for each in differences):
            if any(each.told and each.saved > 0 for each in differences):
                return "no peak is lower by one hundredth"
            return "no peak is lower by more than runs of the same program differ"
        told = [each.saved for each in differences if each.told]
        return "one peak is higher by more than the other is lower" if sum(told) < 0 else None

    @property
    def is_below(self) -> bool:
        """Whether what the fixes are about holds half as much, and something else the peak."""
        broken = self.mended.safe and self.outputs.same is False
        saves = any(difference(each).saves for each in self.measurements)
        if self.remains is None or broken or saves:
            return False
        least = _NOTICED * self.remains.peak
        return any(each.before - each.after > max(each.after, least) for each in self.remains.spots)


def mend(request: Request) -> Mended | Unmended:
    """Fix a file in memory. Raises OSError, ConfigError and UndecodableError."""
    data = Path(request.path).read_bytes()
    outcome = _checked(request, data, request.unsafe)
    failure = next((each for each in outcome.checked.findings if each.code in ENGINE), None)
    if outcome.problem or failure:
        why = outcome.problem or (failure.diagnostic.message if failure else "")
        return Unmended(why, failed=True)
    if outcome.change is None:
        return Unmended(_nothing_to_fix(outcome), failed=False)
    with_safe_ones, with_all = (_checked(request, data, unsafe) for unsafe in (False, True))
    left_out = None
    if with_all.change and with_all.change != outcome.change:
        more = Counter(dict(with_all.fixed)) - Counter(dict(outcome.fixed))
        left_out = LeftOut(with_all.change, tuple(sorted(more.items())))
    safe = with_safe_ones.change == outcome.change
    found = _checked(request, data, request.unsafe, fix=False).checked.findings
    fixed = tuple(each for each in found if _is_fixed(each, outcome, unsafe=not safe))
    return Mended(outcome.change, outcome.fixed, safe, left_out, fixed)


def weigh(
    request: Request,
    mended: Mended,
    settings: Settings,
    tell: Callable[[str], None],
    run: Callable[[Job], Run] = run,
    look: Callable[..., Remains | None] = look,
    metrics: Sequence[Metric] = BOTH_PEAKS,
) -> Saving:
    """Run the program with and without its fixes; raises ProgramError and SetupError."""
    jobs = _jobs(request, mended, settings)
    weighed = [in_turns(metric, jobs, settings.runs, tell, run) for metric in metrics]
    before, after = (_outputs(weighed, which) for which in (0, 1))
    tell("what the lines hold")
    path, arguments = request.path, request.arguments
    remains = look(path, arguments, settings.device, mended.change, mended.findings)
    return Saving(
        mended,
        tuple(each.against_first(1) for each in weighed),
        agreement(before, after),
        weighed[0].runs[0][0].machine,
        tuple(each.against_first(2) for each in weighed if mended.left_out),
        remains,
        max((run.children for each in weighed for run in each.runs[0]), key=_together),
    )


def planned(mended: Mended, settings: Settings) -> int:
    """How many runs it takes at least."""
    return len(BOTH_PEAKS) * settings.runs * (3 if mended.left_out else 2) + 1


def _jobs(request: Request, mended: Mended, settings: Settings) -> list[Job]:
    """The program as it is, with its fixes, and with all there are if that is more."""
    before = decode(mended.change.before)
    name = Path(request.path).name
    job = Job(
        name,
        before.text,
        Metric.DEVICE_PEAK,
        settings.device,
        settings.seconds,
        own=_surroundings(request, before.text),
        encoding=before.encoding,
        curve=settings.curves,
    )
    jobs = [job, _changed(job, mended.change, f"{name} with its fixes")]
    if mended.left_out:
        jobs.append(_changed(job, mended.left_out.change, f"{name} with the unsafe fixes, too"))
    return jobs


def _changed(job: Job, change: Change, title: str) -> Job:
    after = decode(change.after)
    return job._replace(text=after.text, encoding=after.encoding, title=title)


def _together(children: Children) -> int:
    return children.together


def _outputs(weighed: Sequence[Weighed], which: int) -> Outputs:
    return tuple(run.output for each in weighed for run in each.runs[which])


def _is_fixed(finding: Finding, outcome: Outcome, *, unsafe: bool) -> bool:
    fix = finding.diagnostic.fix
    if fix is None or finding.code not in dict(outcome.fixed):
        return False
    return unsafe or fix.applicability is Applicability.SAFE


def _checked(request: Request, data: bytes, unsafe: bool | None, *, fix: bool = True) -> Outcome:
    asked = Selection(None, request.select)

    def override(config: Config) -> Config:
        leave = config.unsafe_fixes if unsafe is None else unsafe
        return config._replace(rules=(*config.rules, asked), unsafe_fixes=leave)

    return Checker(Configs(override), fix=fix).check(request.path, data)


def _nothing_to_fix(outcome: Outcome) -> str:
    found = outcome.checked.findings
    if not found:
        return "nothing was found, so there is nothing to fix"
    unsafe = [
        each.code
        for each in found
        if each.diagnostic.fix and each.diagnostic.fix.applicability is Applicability.UNSAFE
    ]
    if unsafe:
        return f"the fixes of {_listed(unsafe)} are unsafe: --unsafe-fixes applies them"
    return f"no fix is applied for {_listed([each.code for each in found])}"


def _listed(codes: Sequence[str]) -> str:
    return ", ".join(sorted(set(codes)))


def _surroundings(request: Request, text: str) -> Surroundings:
    """As `python FILE.py` gives them; as `python -m` does where only that runs the program."""
    file = Path(request.path).absolute()
    folder, package = file.parent, list[str]()
    if any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(ast.parse(text))):
        while folder.joinpath("__init__.py").is_file():
            package.insert(0, folder.name)
            folder = folder.parent
    return Surroundings(str(file), str(folder), ".".join(package), request.arguments)
