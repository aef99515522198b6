"""`tfmemlint verify FILE.py`: what the fixes save in a user's own program."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tfmemlint.config import Config, Configs, Selection
from tfmemlint.decoding import Decoded, decode
from tfmemlint.linting import ENGINE
from tfmemlint.run import Change, Checker, Outcome
from tfmemlint.verify.outputs import Agreement, agreement
from tfmemlint.verify.pairs import RESOLUTION, Measurement
from tfmemlint.verify.processes import Job, Machine, Surroundings
from tfmemlint.verify.weighing import BOTH_PEAKS, Pair, Settings, compare
from tfmemlint.vocabulary import Applicability, Metric


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

    @property
    def doubt(self) -> str | None:
        """Why nobody should want these fixes; None if they save memory and keep their promise."""
        if self.mended.safe and self.outputs.same is False:
            return "the fixes are said to be safe, but the outputs differ"
        if not any(saves(one) for one in self.measurements):
            return "no peak is lower by more than the meter can tell"
        return None


def saves(one: Measurement) -> bool:
    """Whether the fixed program weighs less, beyond the meter's noise."""
    return one.bad_figure - one.fixed_figure >= RESOLUTION[one.metric]


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
    with_safe_ones = _checked(request, data, False)
    return Mended(outcome.change, outcome.fixed, with_safe_ones.change == outcome.change)


def weigh(
    request: Request, mended: Mended, settings: Settings, tell: Callable[[str], None]
) -> Saving:
    """Run the program with and without its fixes; raises ProgramError and SetupError."""
    before, after = decode(mended.change.before), decode(mended.change.after)
    name = Path(request.path).name
    around = _surroundings(request, before.text)
    job = Job(
        name,
        "",
        Metric.DEVICE_PEAK,
        settings.device,
        settings.seconds,
        own=around,
        curve=settings.curves,
    )
    pair = Pair(_filled(job, before, ""), _filled(job, after, f"{name} with its fixes"))
    found = compare(pair, BOTH_PEAKS, settings.runs, tell)
    return Saving(mended, found.measurements, agreement(*found.outputs), found.machine)


def _checked(request: Request, data: bytes, unsafe: bool | None) -> Outcome:
    asked = Selection(None, request.select)

    def override(config: Config) -> Config:
        leave = config.unsafe_fixes if unsafe is None else unsafe
        return config._replace(rules=(*config.rules, asked), unsafe_fixes=leave)

    return Checker(Configs(override), fix=True).check(request.path, data)


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


def _filled(job: Job, content: Decoded, title: str) -> Job:
    return job._replace(text=content.text, encoding=content.encoding, title=title)


def _surroundings(request: Request, text: str) -> Surroundings:
    """As `python FILE.py` gives them; as `python -m` does where only that runs the program."""
    file = Path(request.path).absolute()
    folder, package = file.parent, list[str]()
    if any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(ast.parse(text))):
        while folder.joinpath("__init__.py").is_file():
            package.insert(0, folder.name)
            folder = folder.parent
    return Surroundings(str(file), str(folder), ".".join(package), request.arguments)
