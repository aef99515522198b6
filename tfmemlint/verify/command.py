"""`tfmemlint verify`: runs the rules' programs and says which claims hold on this machine."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, NamedTuple

from tfmemlint import registry
from tfmemlint.verify import record
from tfmemlint.verify.pairs import RESOLUTION, Verdict, amount
from tfmemlint.verify.processes import ProgramError, SetupError, packages_with_tensorflow
from tfmemlint.verify.scaling import exponent, order
from tfmemlint.verify.weighing import BOTH_PEAKS, Settings, verify
from tfmemlint.vocabulary import Rule

ALL_HOLD, SOME_DO_NOT, CANNOT_MEASURE, INTERRUPTED = 0, 1, 2, 130

_LAST_LINES = 8
_LOGGED = re.compile(r"[IW]\d{4} \d\d:|[IW]0000 |WARNING: All log messages before absl::Init")


Pair = tuple[Rule, Path]
"""A rule and the folder its two programs are in."""


class Trial(NamedTuple):
    """What came of one rule: a verdict, or the reason why there is none."""

    rule: Rule
    outcome: Verdict | ProgramError

    @property
    def holds(self) -> bool:
        return isinstance(self.outcome, Verdict) and self.outcome.holds


class UsageError(Exception):
    """What was asked for cannot be done; the message says why."""


def main(argv: list[str]) -> int:
    """Measure the rules named, print what came of it, and return the exit status."""
    asked = _parser().parse_args(argv)
    try:
        rules = chosen(asked.codes, registry.load())
    except (registry.BadRules, UsageError) as reason:
        print(f"tfmemlint verify: {reason}", file=sys.stderr)
        return CANNOT_MEASURE
    settings = Settings(
        runs=asked.runs,
        device=asked.device,
        seconds=asked.timeout,
        also=BOTH_PEAKS if asked.write else (),
        scaling=asked.scaling,
    )
    pairs = [(rule, registry.folder(rule)) for rule in rules]
    return measure(pairs, settings, write=asked.write, as_json=asked.json)


def measure(
    pairs: Sequence[Pair], settings: Settings, *, write: bool = False, as_json: bool = False
) -> int:
    """Try each rule with the programs in its folder."""
    tell = _progress()
    try:
        packages_with_tensorflow()
        trials = _trials(pairs, settings, tell, write)
        done = _print_json(trials) if as_json else _print_rows(pairs, settings, trials)
    except (SetupError, UsageError) as reason:
        tell("")
        print(f"tfmemlint verify: {printable(str(reason))}", file=sys.stderr)
        return CANNOT_MEASURE
    except KeyboardInterrupt:
        tell("")
        print("tfmemlint verify: interrupted", file=sys.stderr)
        return INTERRUPTED
    if not done:
        print("tfmemlint verify: there is no rule to try", file=sys.stderr)
        return CANNOT_MEASURE
    return ALL_HOLD if all(trial.holds for trial in done) else SOME_DO_NOT


def chosen(codes: Sequence[str], rules: Mapping[str, Rule]) -> list[Rule]:
    """The rules with these codes, each once; all rules where no code is given."""
    wanted = dict.fromkeys(code.upper() for code in codes)
    for code in wanted:
        if code not in rules:
            nearest = get_close_matches(code, rules, n=1, cutoff=0)[0]
            raise UsageError(f"no rule has the code {printable(code)}; the nearest is {nearest}")
    return [rules[code] for code in wanted or rules]


def printable(text: str) -> str:
    """Text that a terminal shows as it is: nothing in it moves a cursor or changes a colour."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tfmemlint verify",
        description="Runs the two programs of each rule on this machine, the one with the "
        "antipattern and the fixed one, and tells whether the fix saves what the rule claims.",
        epilog="Exit status: 0 every claim holds; 1 one does not, or a program failed; "
        "2 nothing could be measured.",
    )
    parser.add_argument("codes", nargs="*", metavar="CODE", help="rules to try (default: all)")
    parser.add_argument(
        "--write",
        action="store_true",
        help="record device and host peak, and what is claimed, in fixtures/CODE/measured.json",
    )
    parser.add_argument("--json", action="store_true", help="print everything measured as JSON")
    parser.add_argument(
        "--runs", type=_positive(int), default=3, metavar="N", help="runs of each program (3)"
    )
    parser.add_argument(
        "--device",
        choices=("auto", "gpu", "cpu"),
        default="auto",
        help="where the programs run (auto: on the GPU if TensorFlow sees one)",
    )
    parser.add_argument(
        "--timeout",
        type=_positive(float),
        default=120.0,
        metavar="SECONDS",
        help="end a program that runs longer (120)",
    )
    parser.add_argument(
        "--scaling",
        action="store_true",
        help="measure with half and twice the data, too, where a line is marked `# scales`",
    )
    return parser


def _positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    def number(text: str) -> float:
        value = kind(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text} is not a number above zero")
        return value

    return number


def _progress() -> Callable[[str], None]:
    """Says what is going on in one line that the next overwrites; silent where nobody watches."""
    if not sys.stderr.isatty():
        return lambda message: None

    width = min(78, get_terminal_size().columns - 1)

    def tell(message: str) -> None:
        print(f"\r{message:<{width}.{width}}\r", end="", file=sys.stderr, flush=True)

    return tell


def _trials(
    pairs: Sequence[Pair],
    settings: Settings,
    tell: Callable[[str], None],
    write: bool,
) -> Iterator[Trial]:
    for rule, folder in pairs:
        try:
            outcome: Verdict | ProgramError = verify(rule, folder, settings, tell)
        except ProgramError as failure:
            outcome = failure
        tell("")
        yield Trial(rule, outcome)
        if write and isinstance(outcome, Verdict):
            _write(outcome, folder)


def _write(verdict: Verdict, folder: Path) -> None:
    try:
        record.write(verdict, folder)
    except OSError as error:
        raise UsageError(f"cannot write {folder}/measured.json: {error.strerror}") from error


def _print_json(trials: Iterator[Trial]) -> list[Trial]:
    done = list(trials)
    print(record.text([_entry(trial) for trial in done]), end="")
    return done


def _entry(trial: Trial) -> dict[str, Any]:
    entry: dict[str, Any] = {"code": trial.rule.code, "name": trial.rule.name}
    if isinstance(trial.outcome, Verdict):
        return {**entry, **record.record(trial.outcome), "error": None}
    return {**entry, "error": str(trial.outcome), "stderr": _last_lines(trial.outcome.stderr)}


def _print_rows(pairs: Sequence[Pair], settings: Settings, trials: Iterator[Trial]) -> list[Trial]:
    name_width = max((len(rule.name) for rule, _ in pairs), default=0)
    print(_row(name_width, "code", "name", "metric", "bad", "fixed", "ratio", "claim", ""))
    done: list[Trial] = []
    for trial in trials:
        print(_row(name_width, *_cells(trial)), flush=True)
        for line in _details(trial):
            print(f"    {line}", flush=True)
        done.append(trial)
    print(_summary(done, settings))
    return done


def _row(name_width: int, *cells: str) -> str:
    code, name, metric, bad, fixed, ratio, claim, verdict = cells
    return (
        f"{code:<7} {name:<{name_width}}  {metric:<13} {bad:>12} {fixed:>12} {ratio:>6}"
        f"  {claim:<8} {verdict}"
    ).rstrip()


def _cells(trial: Trial) -> tuple[str, ...]:
    rule, outcome = trial
    claim = f"<= {rule.claim.at_most:g}"
    head = (rule.code, rule.name, rule.claim.metric.value)
    if isinstance(outcome, ProgramError):
        return (*head, "-", "-", "-", claim, f"error: {printable(str(outcome))}")
    weighed = outcome.measurements[0]
    return (
        *head,
        amount(weighed.metric, weighed.bad_figure),
        amount(weighed.metric, weighed.fixed_figure),
        f"{weighed.ratio:.3f}",
        claim,
        f"does not hold: {outcome.doubt}" if outcome.doubt else "holds",
    )


def _details(trial: Trial) -> Iterator[str]:
    """Lines below a rule's row."""
    outcome = trial.outcome
    if isinstance(outcome, ProgramError):
        yield from _last_lines(outcome.stderr)
        return
    if outcome.scaling is not None:
        metric = outcome.measurements[0].metric
        for name, weights in (("bad", outcome.scaling.bad), ("fixed", outcome.scaling.fixed)):
            power = exponent(weights, RESOLUTION[metric])
            figures = ", ".join(amount(metric, weight) for weight in weights)
            yield f"{name} grows as data to the {power:.2f} ({order(power)}): {figures}"
    if outcome.same_output is False:
        yield f"outputs differ: {printable(outcome.difference or 'far down')}"
    if outcome.measurements[0].meter == "ru_maxrss":
        yield "taken from ru_maxrss, which cannot be set back: peaks below an earlier one are lost"


def _last_lines(stderr: str) -> list[str]:
    lines = [line for line in stderr.splitlines() if line.strip() and not _LOGGED.match(line)]
    return [printable(line) for line in lines[-_LAST_LINES:]]


def _summary(done: Sequence[Trial], settings: Settings) -> str:
    hold = sum(trial.holds for trial in done)
    failed = sum(isinstance(trial.outcome, ProgramError) for trial in done)
    counts = f"{hold} of {len(done)} claims hold"
    if failed:
        counts += f"; {failed} could not be measured"
    machines = [outcome.machine for _, outcome in done if isinstance(outcome, Verdict)]
    if not machines:
        return counts
    machine = machines[0]
    return (
        f"{counts}. TensorFlow {machine.versions['tensorflow']} on {machine.device.upper()} "
        f"({printable(machine.device_name)}), runs of each program: {settings.runs}; "
        "1 MB is 2^20 bytes."
    )
