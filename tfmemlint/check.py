"""`tfmemlint check`: from the command line to a report and an exit code."""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH100, PTH109, PTH113, PTH120, PTH123

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from io import TextIOWrapper

from tfmemlint import arguments, report
from tfmemlint.config import MIN_BYTES, Config, ConfigError, Configs, selectors
from tfmemlint.files import Found, find, is_excluded
from tfmemlint.light_typing import TYPE_CHECKING, cast
from tfmemlint.linting import ENGINE, INTERNAL_ERROR
from tfmemlint.options import assumptions
from tfmemlint.quick import looked_at
from tfmemlint.report.escape import show, show_path
from tfmemlint.run import Change, Checker, Outcome, run
from tfmemlint.slips import did_you_mean
from tfmemlint.vocabulary import Checked

if TYPE_CHECKING:
    from types import SimpleNamespace as Namespace
    from typing import TextIO

    from tfmemlint.adopting import Asked
    from tfmemlint.cache import Cache
    from tfmemlint.vocabulary import Rule

CLEAN, FOUND, FAILED = 0, 1, 2
"""The exit codes: nothing was found, something was found, something could not be done."""

WORTH_A_CACHE = 16
"""Files; fewer are checked before anything is read from a cache."""

MANY = 25
"""Findings; of more than that nobody reads each."""

_FOR_PEOPLE = ("full", "concise", "grouped")
_WITH_MEASUREMENTS = ("full", "github")


def main(argv: Sequence[str]) -> int:
    """Check what these arguments say; the exit code."""
    options = arguments.parse(list(argv))
    try:
        return _watch(options) if options.watch else _check(options)
    except ConfigError as error:
        return fail(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        return fail(f"{error.filename}: {error.strerror}")


def fail(message: str) -> int:
    """Say what could not be done; the exit code for that."""
    print(f"error: {show(message)}", file=sys.stderr)
    return FAILED


def diff(path: str, change: Change) -> bytes:
    """The change as a patch, in the file's own encoding and with its own line endings."""
    import difflib  # noqa: PLC0415

    name = show_path(path).encode()
    lines = difflib.diff_bytes(
        difflib.unified_diff, _lines(change.before), _lines(change.after), name, name
    )
    return b"".join(
        line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
        for line in lines
    )


def _watch(options: Namespace) -> int:
    """Check again and again, until interrupted."""
    import gc  # noqa: PLC0415

    from tfmemlint.watching import watch  # noqa: PLC0415

    gc.enable()
    configs = arguments.configs(options)

    def check() -> None:
        if sys.stdout.isatty():
            sys.stdout.write("\x1b[2J\x1b[H")
        try:
            _check(options)
        except ConfigError as error:  # to be mended while we wait
            fail(str(error))
        sys.stdout.flush()
        print("Watching for changes; Ctrl-C ends it.", file=sys.stderr)

    def files() -> list[str]:
        settings = [config.path for config in configs.all() if config.path]
        return [*_found(options, configs).files, *settings]

    watch(check, files)
    return CLEAN


def _explain(options: Namespace, configs: Configs) -> int:
    """Tell what the rules make of one line."""
    from tfmemlint.explaining import explain  # noqa: PLC0415

    checker = Checker(configs, noqa=not options.ignore_noqa, notebooks=arguments.notebooks(options))
    for line in explain(checker, options.explain):
        print(line)
    return CLEAN


def _check(options: Namespace) -> int:
    configs = arguments.configs(options)
    if options.explain is not None:
        return _explain(options, configs)
    settings = configs.of(os.getcwd())
    found = _find(options, configs)
    given, notebooks = None, arguments.notebooks(options)
    if settings.baseline is not None or options.since is not None:
        from tfmemlint.adopting import asked  # noqa: PLC0415

        given = asked(options, settings, notebooks)
    for path in found.files:
        configs.of_file(path)
    if options.assume:
        _refuse_unused(options.assume, found.files)
    checker = Checker(
        configs,
        fix=options.fix,
        write=not (options.diff or options.stdin),
        noqa=not options.ignore_noqa,
        keep=given.keep if given else None,
        notebooks=notebooks,
        named=options.paths,
    )
    if any(any(selectors(config)) for config in configs.all()):
        checker.prepare()  # a code that no rule has is an error even where no rule is needed
    if options.show_files or options.show_settings:
        _show(options, found.files, checker)
        return _tell_problems(found.problems)
    if options.stdin:
        outcomes = [_check_stdin(options, configs, checker, path) for path in found.files]
    else:
        cache = _cache(options, settings, found)
        outcomes = run(found.files, checker, options.jobs, cache)
    if (
        options.write_baseline is not None
        or options.add_ignore is not None
        or options.add_noqa is not None
    ):
        return _write_down(options, settings, checker, outcomes) or _tell_problems(found.problems)
    if options.diff:
        _print_diffs(options, [(each.checked.path, each.change) for each in outcomes])
    problems = [*found.problems, *(each.problem for each in outcomes if each.problem)]
    if not options.silent:
        _print_report(options, settings, checker, outcomes, problems, given)
    if not (options.quiet or options.silent):
        _warn_of_ruff(outcomes)
        if given is not None:
            _tell_of_gone(options, given, outcomes)
    if options.verbose:
        _print_account(configs, outcomes)
    return _tell_problems(problems) or _exit_code(options, outcomes)


def _refuse_unused(assumed: Sequence[str], paths: Sequence[str]) -> None:
    """Raise ConfigError for an assumption about what none of the files mentions."""
    import re  # noqa: PLC0415

    words: set[str] = set()
    for path in paths:
        if path != "-" and os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                words.update(re.findall(r"\w+", file.read()))
    for name, _ in assumptions(list(assumed)) if words else ():
        unknown = [each for each in re.findall(r"[^\W\d]\w*", name) if each not in words]
        if [each for each in unknown if each != "len"]:
            raise ConfigError(
                f"--assume: `{name}` occurs nowhere{did_you_mean(unknown[-1], words)}"
            )


def _write_down(
    options: Namespace, settings: Config, checker: Checker, outcomes: Sequence[Outcome]
) -> int:
    """Write down what was found, so that it is not reported again."""
    from tfmemlint import adopting  # noqa: PLC0415

    problems = [outcome.problem for outcome in outcomes if outcome.problem]
    if options.write_baseline is not None:
        told = adopting.write_baseline(options, settings, outcomes)
    else:
        added = adopting.add_comments(options, checker, outcomes)
        if options.diff:
            _print_diffs(options, added.changes)
        would, problems = "Would add" if options.diff else "Added", [*problems, *added.problems]
        number = "1 comment" if added.comments == 1 else f"{added.comments} comments"
        told = f"{would} {number} for {_errors(added.findings)}.\n"
        if added.left:
            told += f"{_errors(added.left)} left: no comment can stand there.\n"
    if not (options.quiet or options.silent):
        (sys.stderr if options.diff else sys.stdout).write(told)
    faults = [_faults(outcome.checked) for outcome in outcomes]
    problems += (each.diagnostic.message for checked in faults for each in checked.findings)
    return _tell_problems(problems)


def _cache(options: Namespace, settings: Config, found: Found) -> Cache | None:
    """What is known of earlier runs, where there are enough files for that to matter."""
    if options.no_cache or len(found.files) < WORTH_A_CACHE:
        return None
    from tfmemlint.cache import opened  # noqa: PLC0415

    here = os.getcwd()
    root = os.path.dirname(settings.path) if settings.path else here
    kinds = f" {options.extension}" if options.extension else ""
    return opened(root, here + kinds, options.cache_dir)


def _find(options: Namespace, configs: Configs) -> Found:
    if options.stdin:
        return Found([options.stdin_filename or "-"], [])
    found = _found(options, configs)
    if not found.files and not found.problems and not options.silent:
        print("warning: No Python files found under the given path(s)", file=sys.stderr)
    return found


def _found(options: Namespace, configs: Configs) -> Found:
    return find(
        options.paths or [os.curdir],
        configs.excluded,
        respect_gitignore=options.respect_gitignore,
        force_exclude=configs.begins if options.force_exclude else None,
        suffixes=tuple(arguments.suffixes(options)),
    )


def _check_stdin(options: Namespace, configs: Configs, checker: Checker, path: str) -> Outcome:
    stdin: TextIO | None = sys.stdin
    data = stdin.buffer.read() if stdin else b""
    outcome = Outcome(Checked(path, ""))
    named = os.path.abspath(path)
    if not (options.force_exclude and is_excluded(named, configs.excluded, configs.begins)):
        outcome = checker.check(path, data)
    if options.fix and not options.diff:
        sys.stdout.buffer.write(outcome.change.after if outcome.change else data)
    return outcome


def _print_diffs(options: Namespace, changes: Sequence[tuple[str, Change | None]]) -> None:
    paint = _paint if _colored(options, sys.stdout) else bytes
    for path, change in changes:
        if change:
            sys.stdout.buffer.write(paint(diff(path, change)))


def _paint(patch: bytes) -> bytes:
    """The same in the colours of git."""
    colors = {b"-": b"31", b"+": b"32", b"@": b"36"}
    lines: list[bytes] = []
    for number, line in enumerate(patch.split(b"\n")):
        color = b"1" if number < _HEAD else colors.get(line[:1])
        lines.append(b"\x1b[%bm%b\x1b[0m" % (color, line) if color else line)
    return b"\n".join(lines)


_HEAD = 2
"""Lines of a patch before the first change."""


def _print_report(
    options: Namespace,
    settings: Config,
    checker: Checker,
    outcomes: Sequence[Outcome],
    problems: Sequence[str],
    given: Asked | None,
) -> None:
    form = settings.output_format or "full"
    results = [outcome.checked for outcome in outcomes]
    small = sum(outcome.small for outcome in outcomes)
    fixed = Counter[str]()
    for outcome in outcomes:
        fixed.update(dict(outcome.fixed))
    more = report.hidden(results, settings.unsafe_fixes) if options.diff else ""
    rules = _loaded(checker) if form == "sarif" else None
    with _opened(options, form) as out:
        if options.fix_only:
            results = [_faults(checked) for checked in results]
        if options.statistics:
            report.statistics(
                results,
                out,
                form,
                unsafe_fixes=settings.unsafe_fixes,
                measured=_measured(results, checker),
            )
        elif any(checked.findings for checked in results) or not (
            options.fix_only or form in _FOR_PEOPLE
        ):
            report.write(
                results,
                form,
                out,
                rules=rules,
                root=os.getcwd(),
                unsafe_fixes=settings.unsafe_fixes,
                color=_colored(options, out),
                measured=_measured(results, checker) if form in _WITH_MEASUREMENTS else None,
                small=small,
                by_cost=options.sort == "cost",
                width=_width(out),
            )
        if form in _FOR_PEOPLE and not options.quiet:
            if options.show_fixes and fixed:
                out.write(_fixes(outcomes, checker))
            passed = not fixed and not any(checked.findings for checked in results)
            if not options.fix_only and not (passed and problems):
                using = sum(outcome.uses for outcome in outcomes)
                unasked = ""
                if given is not None:
                    from tfmemlint import adopting  # noqa: PLC0415

                    unasked = adopting.unasked(given, outcomes)
                report.summary(
                    results,
                    out,
                    settings.unsafe_fixes,
                    fixed=fixed.total(),
                    looked_at=looked_at(len(outcomes), using),
                    small=small,
                    unasked=unasked,
                )
                if given is None and not options.statistics:
                    out.write(_next_step(results))
            elif fixed:
                verb = "Would fix" if options.diff else "Fixed"
                out.write(f"{verb} {_errors(fixed.total())}{more}.\n")
            elif more:
                out.write(f"Would fix nothing{more}.\n")


def _next_step(results: Sequence[Checked]) -> str:
    """What to do where there is more than anybody reads."""
    if sum(len(checked.findings) for checked in results) <= MANY:
        return ""
    return (
        "That is a lot: `--statistics` counts them by rule, and `--write-baseline` has only new"
        " ones reported.\n"
    )


def _tell_of_gone(options: Namespace, given: Asked, outcomes: Sequence[Outcome]) -> None:
    """Say what is in the baseline for nothing, where all that is in it was looked for."""
    from tfmemlint import adopting  # noqa: PLC0415

    number = adopting.gone(given, outcomes)
    if number and not (options.select or options.ignore or options.fix):
        print(
            f"note: {_errors(number)} of the baseline no longer found;"
            " `--write-baseline` renews it",
            file=sys.stderr,
        )


def _opened(options: Namespace, form: str) -> AbstractContextManager[TextIO]:
    """Where the report goes."""
    if options.output_file:
        return open(options.output_file, "w", encoding="utf-8", errors="backslashreplace")
    # On stdout stands the mended program itself.
    mended = options.stdin and options.fix and not options.diff
    out = cast(TextIOWrapper, sys.stderr if mended or options.diff else sys.stdout)
    out.reconfigure(encoding=None if form in _FOR_PEOPLE else "utf-8", errors="backslashreplace")
    return nullcontext(out)


def _colored(options: Namespace, out: TextIO) -> bool:
    if options.color != "auto":
        return bool(options.color == "always")
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return out.isatty() and os.environ.get("TERM") != "dumb"


def _width(out: TextIO) -> int | None:
    """The columns of the terminal that is written to; None if it is none."""
    try:
        return os.get_terminal_size(out.fileno()).columns or None
    except (OSError, ValueError):
        return None


def _measured(results: Sequence[Checked], checker: Checker) -> dict[str, str]:
    """What the fixes of the rules that found something were measured to save, by code."""
    found = {finding.code for checked in results for finding in checked.findings}
    rules = [rule.load() for code, rule in checker.rules.items() if code in found]
    if not rules:
        return {}
    from tfmemlint.pages import phrases  # noqa: PLC0415

    return phrases(rules)


def _loaded(checker: Checker) -> dict[str, Rule]:
    """All rules, be they needed or not."""
    checker.prepare()
    return {code: rule.load() for code, rule in checker.rules.items()}


def _fixes(outcomes: Sequence[Outcome], checker: Checker) -> str:
    """What was fixed, by file and rule."""
    names = {code: rule.name for code, rule in checker.rules.items()} | ENGINE
    total = sum(number for outcome in outcomes for _, number in outcome.fixed)
    lines = [f"Fixed {_errors(total)}:"]
    for outcome in outcomes:
        if outcome.fixed:
            lines.append(f"- {show_path(outcome.checked.path)}:")
            lines += (
                f"    {number} \u00d7 {code} ({names[code]})" for code, number in outcome.fixed
            )
    return "\n".join([*lines, "", ""])


def _errors(number: int) -> str:
    return "1 error" if number == 1 else f"{number} errors"


def _faults(checked: Checked) -> Checked:
    """The same without what is the file's own: our failures are never left unsaid."""
    return checked._replace(
        findings=tuple(each for each in checked.findings if each.code == INTERNAL_ERROR[0])
    )


def _warn_of_ruff(outcomes: Sequence[Outcome]) -> None:
    """Say once that ruff takes comments of ours for superfluous ones, where it would."""
    for outcome in outcomes:
        if outcome.noqa is None:
            continue
        from tfmemlint.ruff_settings import that_delete  # noqa: PLC0415

        path, code = outcome.checked.path, outcome.noqa
        settings = that_delete(code, os.path.dirname(os.path.abspath(path)))
        if settings:
            letters = code.rstrip("0123456789")
            print(
                f"warning: ruff's RUF100 deletes comments such as `# noqa: {code}` in"
                f" {show_path(path)}:\n  write `# tfmemlint: ignore[{code}] why`, or"
                f' `lint.external = ["{letters}"]` in {show(settings)}',
                file=sys.stderr,
            )
            return


def _print_account(configs: Configs, outcomes: Sequence[Outcome]) -> None:
    for config in configs.all():
        print(f"settings: {show(config.path or 'the defaults')}", file=sys.stderr)
    print(f"files checked: {len(outcomes)}", file=sys.stderr)


def _tell_problems(problems: Sequence[str]) -> int:
    for problem in problems:
        fail(problem)
    return FAILED if problems else CLEAN


def _exit_code(options: Namespace, outcomes: Sequence[Outcome]) -> int:
    findings = [finding for outcome in outcomes for finding in outcome.checked.findings]
    fixed = any(outcome.fixed for outcome in outcomes)
    if any(finding.code == INTERNAL_ERROR[0] for finding in findings):
        return FAILED
    if options.exit_zero:
        return CLEAN
    if options.diff or (fixed and options.exit_non_zero_on_fix):
        return FOUND if fixed else CLEAN
    return FOUND if findings and not options.fix_only else CLEAN


def _show(options: Namespace, files: Sequence[str], checker: Checker) -> None:
    """Print the files, or the settings of the first one."""
    if options.show_files:
        for path in files:
            print(show(os.path.abspath(path)))
        return
    import json  # noqa: PLC0415

    for path in files[:1]:
        plan, config = checker.plan(path), checker.config(path)
        values = {
            "file": os.path.abspath(path),
            "read from": config.path,
            "rules": [rule.code for rule in plan.rules if rule.code in plan.reported_in(path)],
            "fixable": sorted(plan.fixable),
            "unsafe-fixes": plan.unsafe,
            "follow-imports": config.follow_imports,
            "exclude": [*config.exclude, *config.extend_exclude],
            "tensorflow": config.tensorflow,
            "output-format": config.output_format,
            "plugins": list(config.plugins),
            "min-bytes": MIN_BYTES if config.min_bytes is None else config.min_bytes,
            "assume": [f"{name}={number}" for name, number in config.assume],
        }
        print(json.dumps(values, indent=2))


def _lines(data: bytes) -> list[bytes]:
    """Lines as patches have them: only a line feed ends one."""
    *lines, last = data.split(b"\n")
    return [line + b"\n" for line in lines] + [last] * bool(last)
