"""`tfmemlint verify`: runs the rules' programs and says which claims hold on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from tfmemlint import registry
from tfmemlint.config import ConfigError, plugins_here
from tfmemlint.refusing import refuse
from tfmemlint.report.figures import amount
from tfmemlint.slips import did_you_mean
from tfmemlint.verify import options, record
from tfmemlint.verify.fingerprints import PROGRAMS
from tfmemlint.verify.pairs import RESOLUTION, Verdict
from tfmemlint.verify.pictures import NO_PICTURES, Pictures, entry, recorded
from tfmemlint.verify.processes import ProgramError, packages_with_tensorflow
from tfmemlint.verify.scaling import exponent, order
from tfmemlint.verify.terminal import (
    GOOD,
    NOT_GOOD,
    Progress,
    UsageError,
    in_good_order,
    last_lines,
    printable,
)
from tfmemlint.verify.trials import Pair, Trial, default_jobs, trials
from tfmemlint.verify.weighing import BOTH_PEAKS, Settings, settings_for
from tfmemlint.vocabulary import Metric, Rule

TITLE = "What the fixes save"


def main(argv: list[str]) -> int:
    """Measure the rules or the program named, print what came of it, return the exit status."""
    asked = options.parse(argv)
    if asked.self_check:
        from tfmemlint.verify import self_check  # noqa: PLC0415

        return self_check.check(asked.device, as_json=asked.json)
    jobs = asked.jobs or default_jobs()
    settings = Settings(
        runs=asked.runs,
        device=asked.device,
        seconds=asked.timeout,
        also=BOTH_PEAKS if asked.write or asked.html or asked.oom else (),
        scaling=asked.scaling,
        curves=asked.html is not None,
        exhaust=asked.oom,
        complete=asked.write,
    )
    pictures = Pictures(asked.html, asked.svg)
    if asked.file is not None:
        from tfmemlint.verify import own, own_command  # noqa: PLC0415  they bring the linter along

        request = own.Request(asked.file, asked.select, asked.unsafe_fixes, asked.arguments)
        return own_command.measure(
            request, settings, pictures, write=asked.write, as_json=asked.json
        )
    try:
        rules = chosen(asked.codes, registry.load(plugins_here()))
    except (registry.BadRules, ConfigError, UsageError) as reason:
        return refuse(str(reason))
    pairs = [(rule, registry.folder(rule)) for rule in rules]
    if asked.recorded:
        return in_good_order(lambda _: _show_recorded(pairs, pictures))
    return measure(pairs, settings, pictures, jobs=jobs, write=asked.write, as_json=asked.json)


def measure(
    pairs: Sequence[Pair],
    settings: Settings,
    pictures: Pictures = NO_PICTURES,
    *,
    jobs: int = 1,
    write: bool = False,
    as_json: bool = False,
) -> int:
    """Try each rule with the programs in its folder."""

    def try_all(progress: Progress) -> int:
        packages_with_tensorflow()
        pictures.refuse_unwritable()
        with closing(trials(pairs, settings, jobs, progress)) as coming:
            told = _told(coming, progress, settings if write else None)
            done = _print_json(told) if as_json else _print_rows(pairs, settings, told)
        if not done:
            raise UsageError("there is no rule to try")
        pictures.write(TITLE, [entry(*trial) for trial in done])
        return GOOD if all(trial.holds for trial in done) else NOT_GOOD

    return in_good_order(try_all)


def _show_recorded(pairs: Sequence[Pair], pictures: Pictures) -> int:
    pictures.refuse_unwritable()
    pictures.write(TITLE, [recorded(*pair) for pair in pairs])
    return GOOD


def chosen(codes: Sequence[str], rules: Mapping[str, Rule]) -> list[Rule]:
    """The rules with these codes or names, each once; all rules where none is given."""
    known = {word: code for code, rule in rules.items() for word in (code, rule.name)}
    wanted: dict[str, None] = {}
    for each in codes:
        code = known.get(each.upper()) or known.get(each.lower())
        if code is None:
            hint = did_you_mean(each, known)
            raise UsageError(f"there is no rule `{printable(each)}`{hint}")
        wanted[code] = None
    return [rules[code] for code in wanted or rules]


def _told(
    trials: Iterator[Trial], progress: Progress, recorded: Settings | None
) -> Iterator[Trial]:
    """The trials as they come, recorded if they were made with settings for that."""
    for trial in trials:
        progress.clear()
        if recorded and isinstance(trial.outcome, Verdict):
            _write(trial.outcome, settings_for(trial.outcome.folder, recorded))
        yield trial


def _write(verdict: Verdict, settings: Settings) -> None:
    try:
        record.write(verdict, looked_for_limit=settings.exhaust)
    except OSError as error:
        where = f"{verdict.folder}/measured.json"
        raise UsageError(f"cannot write {where}: {error.strerror}") from error


def _print_json(trials: Iterator[Trial]) -> list[Trial]:
    done: list[Trial] = []
    for trial in trials:  # as they come: all of them take minutes
        print(record.line(_entry(trial)), flush=True)
        done.append(trial)
    return done


def _entry(trial: Trial) -> dict[str, Any]:
    entry: dict[str, Any] = {"code": trial.rule.code, "name": trial.rule.name}
    if isinstance(trial.outcome, Verdict):
        return {**entry, **record.record(trial.outcome), "error": None}
    return {**entry, "error": str(trial.outcome), "stderr": last_lines(trial.outcome.stderr)}


def _print_rows(pairs: Sequence[Pair], settings: Settings, trials: Iterator[Trial]) -> list[Trial]:
    name_width = max((len(rule.name) for rule, _ in pairs), default=0)
    print(_row(name_width, "code", "name", "metric", "bad", "fixed", "ratio", "claim", ""))
    done: list[Trial] = []
    for trial in trials:
        print(_row(name_width, *_cells(trial)), flush=True)
        for line in _details(trial):
            print(f"    {line}", flush=True)
        outcome = trial.outcome
        if settings.exhaust and isinstance(outcome, Verdict) and outcome.exhaustion is None:
            print("    no device was found on which bad dies and fixed finishes", flush=True)
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
        yield from last_lines(outcome.stderr)
        return
    if outcome.scaling is not None:
        metric = outcome.measurements[0].metric
        for name, weights in (("bad", outcome.scaling.bad), ("fixed", outcome.scaling.fixed)):
            power = exponent(weights, RESOLUTION[metric])
            figures = ", ".join(amount(metric, weight) for weight in weights)
            yield f"{name} grows as data to the {power:.2f} ({order(power)}): {figures}"
    if outcome.exhaustion is not None:
        limit, death = outcome.exhaustion
        size = amount(Metric.DEVICE_PEAK, limit)
        yield f"on a device of {size} bad dies of {death}, fixed finishes"
    if outcome.same_output is False:
        yield f"outputs differ: {printable(outcome.difference or 'far down')}"
    if outcome.measurements[0].meter == "ru_maxrss":
        yield "taken from ru_maxrss, which cannot be set back: peaks below an earlier one are lost"
    yield from _predicted(outcome)


def _predicted(verdict: Verdict) -> Iterator[str]:
    """What the code of the programs says, where that is all there is to say."""
    from tfmemlint.predictions import of_programs  # noqa: PLC0415  the facts take long to import

    metric = verdict.rule.claim.metric
    found = of_programs(verdict.folder, metric)
    if len(found) == len(PROGRAMS) and all(each.is_whole for each in found.values()):
        bad, fixed = (amount(metric, found[which].bytes) for which in ("bad", "fixed"))
        yield f"predicted from the code: {bad} and {fixed}"


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
        "1 MB is 2^20 bytes." + "".join(f"\nNote: {each}." for each in machine.remarks)
    )
