"""Checks files: each is read, screened, decoded, linted, and mended where that is wanted."""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH100, PTH116, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from stat import S_ISREG

from tfmemlint import screen
from tfmemlint.config import (
    MIN_BYTES,
    Config,
    ConfigError,
    Configs,
    FileIgnores,
    chosen,
    codes_of,
    selectors,
)
from tfmemlint.decoding import Decoded, UndecodableError, decode, encode
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple
from tfmemlint.linting import (
    ENGINE,
    INTERNAL_ERROR,
    UNUSED_SUPPRESSION,
    internal_error,
    lint,
    raised_at,
    skipped,
    unreadable,
)
from tfmemlint.vocabulary import Applicability, Cell, Checked, Diagnostic, Edit, Finding

if TYPE_CHECKING:
    from tfmemlint.cache import Cache, Known, Seen
    from tfmemlint.linting import Opens
    from tfmemlint.notebooks import Notebook
    from tfmemlint.parsing import Pieces
    from tfmemlint.project import Project
    from tfmemlint.registry import Outline
    from tfmemlint.vocabulary import Rule

LARGEST = 2_000_000
"""Bytes of a file that is analysed: what is larger was not written by hand."""
LARGEST_NOTEBOOK = 20_000_000
"""Bytes of a notebook: most of them may be pictures."""
NOTEBOOKS = (".ipynb",)
"""How the names of notebooks end."""
LARGEST_READ = 100_000_000
"""Bytes of a file that is looked through for any mention of TensorFlow."""
LONGEST = 10.0
"""Seconds of processor time that one file may take."""
ENOUGH = 64
"""Files that are worth a process more."""

_INTERNAL_ERROR, _UNUSED_SUPPRESSION = INTERNAL_ERROR[0], UNUSED_SUPPRESSION[0]


class Change(NamedTuple):
    """What fixes make of a file."""

    before: bytes
    after: bytes


class Outcome(NamedTuple):
    """What checking one file came to."""

    checked: Checked
    fixed: tuple[tuple[str, int], ...] = ()
    """How many findings of each code were fixed."""
    change: Change | None = None
    """What was not written, but would have been."""
    problem: str | None = None
    """Why the file could not be written."""
    seen: Seen | None = None
    """What the file was like, where that is to be remembered: it was found clean."""
    uses: bool = False
    """Whether it has anything to do with TensorFlow, as far as a glance tells."""
    hidden: int = 0
    """How many findings were not asked for: they are known, or on lines that nobody changed."""
    small: int = 0
    """How many findings are of what is known to be small."""
    noqa: str | None = None
    """A code of ours that a `# noqa` names, which other linters may take for nobody's."""


Keep = Callable[[str, str, Sequence[Finding]], Sequence[Finding]]
"""Of a path, a text and its findings, those that are asked for."""


class Plan(NamedTuple):
    """What the settings of some files ask for, now that the rules are known."""

    rules: tuple[Outline, ...]
    """Those that are selected."""
    reported: frozenset[str]
    """The codes of what may be reported: these rules', and most of the engine's own."""
    ignores: tuple[tuple[FileIgnores, frozenset[str]], ...]
    """In which files not to report which codes."""
    fixable: frozenset[str]
    """The codes of what may be fixed."""
    unsafe: bool
    codes: Mapping[str, str]
    """The code of every rule there is, selected or not, by code and by name."""

    def reported_in(self, path: str) -> frozenset[str]:
        """The codes of what may be reported of one file."""
        if not self.ignores:
            return self.reported
        absolute = os.path.abspath(path).replace(os.sep, "/")
        name = os.path.basename(absolute)
        ignored: frozenset[str] = frozenset()
        for where, codes in self.ignores:
            if where.files.matches(name, absolute) is not where.inverted:
                ignored |= codes
        return self.reported - (ignored - {_INTERNAL_ERROR})


class Checker:
    """Checks one file after another; each rule is loaded when a file first needs it."""

    def __init__(
        self,
        configs: Configs,
        *,
        fix: bool = False,
        write: bool = False,
        noqa: bool = True,
        keep: Keep | None = None,
        longest: float = LONGEST,
        notebooks: tuple[str, ...] = NOTEBOOKS,
        again: bool = False,
        named: Iterable[str] = (),
    ) -> None:
        """`again` says that the same files will be checked many times, changed a little.

        Of what is `named`, folders may be those that projects begin in.
        """
        self._parsed: dict[str, Pieces] | None = {} if again else None
        self._configs = configs
        self._named = tuple(named)
        self.notebooks = notebooks
        self._longest = longest
        self._fix = fix
        self._write = write
        self._noqa = noqa
        self._keep = keep
        self._plans: dict[Config, Plan] = {}
        self._described: dict[str, str | None] = {}
        self._widths: dict[str, int | None] = {}
        self.rules: dict[str, Outline] = {}
        self.looks = False
        """Whether outcomes are to say what clean files were like."""

    @property
    def ready(self) -> bool:
        """Whether the rules are known."""
        return bool(self._plans)

    def prepare(self) -> None:
        """Find the rules and see that all settings make sense of them. Raises ConfigError."""
        from tfmemlint import registry  # noqa: PLC0415

        for config in self._configs.all():
            if config not in self._plans:
                try:
                    rules = registry.outlines(config.plugins)
                except registry.BadRules as error:
                    raise ConfigError(str(error)) from None
                except Exception as error:  # a rule pack may fail in any way
                    problem = f"{type(error).__name__}: {error}{raised_at(error)}"
                    raise ConfigError(f"the rules cannot be loaded: {problem}") from error
                self.rules.update(rules)
                self._plans[config] = make_plan(config, rules)

    def config(self, path: str) -> Config:
        """The settings of a file. Raises ConfigError."""
        return self._configs.of_file(path)

    def described(self, path: str) -> str | None:
        """All that findings in a file depend on beside the file; None if that cannot be told."""
        shown = os.path.dirname(path)
        if shown not in self._described:
            config, folder = self.config(path), _folder(path)
            ignores = [
                (sorted(each.files.names), *each.files[1:], each.inverted, each.ignore)
                for each in config.file_ignores
            ]
            oldest = self._configs.oldest_tensorflow(folder)
            settings = repr((config._replace(file_ignores=()), ignores, oldest, self._noqa))
            if config.plugins:
                from tfmemlint.registry import state_of  # noqa: PLC0415

                packs = state_of(config.plugins)
                settings += packs or ""
            else:
                packs = ""
            self._described[shown] = None if packs is None else settings
        return self._described[shown]

    def plan(self, path: str) -> Plan:
        """What is to be done with a file. Raises ConfigError."""
        config = self.config(path)
        if config not in self._plans:
            self.prepare()
        return self._plans[config]

    def check_file(self, path: str) -> Outcome:
        """Check a file, and write it if fixes change it."""
        try:
            status = os.stat(path)
            data = _read(path, status)
        except OSError as error:
            return self._answer(path, unreadable(f"cannot be read: {error.strerror}"))
        if data is None:
            return self._answer(path, skipped(f"larger than {LARGEST_READ} bytes"))
        outcome = self.check(path, data)
        clean = Outcome(Checked(path, "", cells=outcome.checked.cells), uses=outcome.uses)
        if self.looks and outcome == clean:
            from tfmemlint.cache import look  # noqa: PLC0415

            outcome = outcome._replace(seen=look(status, data))
        return outcome

    def check(self, path: str, data: bytes, opened: Opened | None = None) -> Outcome:
        """Check what a file holds; raises nothing that is the file's or a rule's doing.

        `opened` is what that says, where it is known.
        """
        if not screen.mentions_tensorflow(data) and not self._is_with_tensorflow(path, data):
            return Outcome(Checked(path, ""))
        largest = LARGEST_NOTEBOOK if path.endswith(self.notebooks) else LARGEST
        if len(data) > largest:
            return self._answer(path, skipped(f"larger than {largest} bytes"))
        plan = self.plan(path)
        try:
            with _limited(self._longest):
                content = opened or content_of(path, data, self.notebooks)
                found, mended = self._look(path, content, plan)
        except UndecodableError as error:
            return self._answer(path, unreadable(str(error)))
        except _TooSlowError:
            self.look_around()  # what is known of other files may be half of it
            return self._answer(path, skipped(f"takes more than {self._longest:g} seconds"))
        except Exception as error:  # noqa: BLE001  one file spoils no other
            return self._answer(path, internal_error(f"{type(error).__name__}: {error}"))
        if mended is None or mended.change is None or not self._write:
            return mended or found
        from tfmemlint.writing import WriteError, replace  # noqa: PLC0415

        try:
            replace(path, mended.change.before, mended.change.after)
        except WriteError as error:
            return found._replace(problem=str(error))
        return mended._replace(change=None)

    @cached_property
    def project(self) -> Project:
        """The files around those that are checked."""
        from tfmemlint.project import Project  # noqa: PLC0415

        return Project(self._parsed, self._named)

    def look_around(self) -> None:
        """Forget what other files held: they may have changed."""
        if "project" in self.__dict__:
            self.project.forget()
            del self.project

    def around(self, path: str) -> str:
        """Stands for all other files that findings in one may depend on."""
        return self.project.around(path) if self.config(path).follow_imports else ""

    def _is_with_tensorflow(self, path: str, data: bytes) -> bool:
        """Whether a file belongs to a program with TensorFlow, as other files of it tell."""
        if b"import" not in data and not screen.handles_data(data):
            return False
        return self.config(path).follow_imports and self.project.uses_tensorflow(path, data)

    def _look(self, path: str, opened: Opened, plan: Plan) -> tuple[Outcome, Outcome | None]:
        """The file as it is, and as it would be with its fixes applied."""
        now, seen = opened, self._findings(path, plan, opened)
        found = _outcome_of(path, opened, seen)
        if not self._fix or not any(finding.diagnostic.fix for finding in seen.findings):
            return found, None
        from tfmemlint.fixing import repair  # noqa: PLC0415

        def look(text: str, edits: Sequence[Edit]) -> tuple[Finding, ...]:
            nonlocal now, seen
            if edits:
                now = content_after(now, text, edits)
                seen = self._findings(path, plan, now)
            return seen.findings

        repaired = repair(
            opened.content.text,
            look,
            unsafe=plan.unsafe,
            fixable=lambda finding: finding.code in plan.fixable,
        )
        if repaired.problem:
            findings = (internal_error(repaired.problem), *found.checked.findings)
            return found._replace(checked=_checked(path, opened, findings)), None
        if not repaired.fixed:
            return found, None
        content = opened.content
        if isinstance(content, Decoded) and encode(content.text, like=content) != opened.data:
            problem = f"{path!r} was not written: {content.encoding} would change more than the fix"
            return found._replace(problem=problem), None
        fixed, change = tuple(repaired.counts.items()), Change(opened.data, now.data)
        return found, _outcome_of(path, now, seen)._replace(fixed=fixed, change=change)

    def awaited(self, path: str, text: str, rules: Sequence[Outline]) -> list[Outline] | None:
        """Those whose words are in a file or around it; None where no rule has a say."""
        code, strings = screen.code(text.encode("utf-8", "surrogatepass"))
        if screen.is_inside_tensorflow(code):
            return None
        words = screen.words(code + b" " + strings)
        reached = self.project.words(path, code) if self.config(path).follow_imports else ()
        return screen.awaited(rules, words, reached)

    def _findings(self, path: str, plan: Plan, opened: Opened) -> _Looked:
        here, text = plan.reported_in(path), opened.content.text
        rules = self.awaited(path, text, [rule for rule in plan.rules if rule.code in here])
        if rules is None:
            return _Looked(())
        follows = self.config(path).follow_imports
        cells = [cell.start for cell in _cells(opened)]
        opens = self.project.file if follows else None
        least = self.config(path).min_bytes
        hides = partial(is_small, least=least)
        loaded = [rule.load() for rule in rules]
        findings, noqa = self.found(path, opened, loaded, opens, hides), None
        if self._noqa and _may_suppress(text):
            from tfmemlint.suppress import named_by_noqa, suppress  # noqa: PLC0415

            ran = None if here.issuperset(plan.codes.values()) else here
            findings = suppress(text, findings, plan.codes, ran, cells)
            noqa = named_by_noqa(text, plan.codes)
        reported = [
            finding if finding.code in plan.fixable else _unapplied(finding)
            for finding in _in_cells(findings, opened)
            if finding.code in here
        ]
        large = [finding for finding in reported if not hides(finding.diagnostic)]
        kept = self._wrapped(path, text, self._kept(path, text, large))
        in_order = sorted(kept, key=lambda each: (each.diagnostic.span, each.code))
        hidden, small = len(large) - len(in_order), len(reported) - len(large)
        return _Looked(tuple(in_order), hidden, small, noqa)

    def _wrapped(self, path: str, text: str, findings: Sequence[Finding]) -> Sequence[Finding]:
        """The same with fixes whose lines are as short as the project has them."""
        if all(each.diagnostic.fix is None for each in findings):
            return findings
        from tfmemlint.ruff_settings import longest_line  # noqa: PLC0415
        from tfmemlint.wrapping import longest_in, within  # noqa: PLC0415

        folder = _folder(path)
        if folder not in self._widths:
            self._widths[folder] = longest_line(folder)
        told = self._widths[folder]
        longest = longest_in(text) if told is None else told
        return [within(each, text, longest) for each in findings]

    def found(
        self,
        path: str,
        opened: Opened,
        rules: Sequence[Rule],
        opens: Opens | None,
        hides: Callable[[Diagnostic], bool] | None = None,
    ) -> tuple[Finding, ...]:
        """All that these rules find in a file, whether or not it is to be reported.

        What `hides` keeps from being shown may lack its fix.
        """
        oldest = self._configs.oldest_tensorflow(_folder(path)) if rules else None
        cells = [cell.start for cell in _cells(opened)]
        assumed = dict(self.config(path).assume)
        return lint(path, opened.content.text, rules, oldest, cells, assumed, opens, hides)

    def _answer(self, path: str, finding: Finding) -> Outcome:
        findings = [finding] if finding.code in self.plan(path).reported_in(path) else []
        kept = tuple(self._kept(path, "", findings))
        return Outcome(Checked(path, "", kept), uses=True, hidden=len(findings) - len(kept))

    def _kept(self, path: str, text: str, findings: list[Finding]) -> Sequence[Finding]:
        """The findings that are asked for; our own failures are never left unsaid."""
        if self._keep is None or not findings:
            return findings
        asked = [finding for finding in findings if finding.code != _INTERNAL_ERROR]
        failures = [finding for finding in findings if finding.code == _INTERNAL_ERROR]
        return [*self._keep(path, text, asked), *failures]


def run(
    paths: Sequence[str],
    checker: Checker,
    jobs: int | None = None,
    cache: Cache | None = None,
) -> list[Outcome]:
    """Check files, in order; by several processes once it is clear that there is work.

    `jobs` is how many; None for as many as can run at once. What a cache knows is not checked.
    """
    checker.looks = cache is not None
    settings = {path: checker.described(path) if cache is not None else None for path in paths}
    around = {path: checker.around(path) for path, each in settings.items() if each}
    known = _known(settings, around, cache) if cache is not None else {}
    outcomes = {path: Outcome(Checked(path, ""), uses=each.uses) for path, each in known.items()}
    fresh = [path for path in paths if path not in known]
    outcomes.update(zip(fresh, _run(fresh, checker, jobs), strict=True))
    if cache is not None:
        from tfmemlint.cache import Known  # noqa: PLC0415

        for path, described in settings.items():
            seen = known[path].seen if path in known else outcomes[path].seen
            if described is None or seen is None:
                cache.forget(path)
            elif path not in known:
                cache.remember(path, described, Known(seen, around[path], outcomes[path].uses))
        cache.save()
    return [outcomes[path] for path in paths]


def _run(paths: Sequence[str], checker: Checker, jobs: int | None) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for path in paths:
        outcomes.append(checker.check_file(path))
        rest = paths[len(outcomes) :] if checker.ready and jobs != 1 else ()
        if len(rest) > ENOUGH:
            from tfmemlint import workers  # noqa: PLC0415

            jobs = jobs or workers.cores()
            try:
                done = workers.spread(checker.check_file, rest, jobs) if jobs > 1 else ()
            except OSError:  # no process is to be had
                jobs, done = 1, ()
            if done:
                return [*outcomes, *map(_outcome, rest, done)]
    return outcomes


def make_plan(config: Config, rules: Mapping[str, Outline]) -> Plan:
    """What these settings ask of these rules. Raises ConfigError."""
    from tfmemlint.registry import harms  # noqa: PLC0415

    names = {code: rule.name for code, rule in rules.items()} | ENGINE
    groups = harms(rules)
    for where, selector in selectors(config):
        try:
            codes_of(selector, names, groups)
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from None
    selected = chosen(config.rules, names, groups)
    # Most of what the engine has to say needs no selecting; it can only be ignored.
    ignores = [selection._replace(select=None) for selection in config.rules]
    unselected = chosen(ignores, names, groups).intersection(ENGINE) - {_UNUSED_SUPPRESSION}
    return Plan(
        rules=tuple(rule for code, rule in rules.items() if code in selected),
        reported=selected.difference(ENGINE)
        | selected & {_UNUSED_SUPPRESSION}
        | unselected
        | {_INTERNAL_ERROR},
        ignores=tuple(
            (each, frozenset[str]().union(*(codes_of(code, names, groups) for code in each.ignore)))
            for each in config.file_ignores
        ),
        fixable=chosen(config.fixes, names, groups),
        unsafe=config.unsafe_fixes,
        codes={key: code for code, rule in rules.items() for key in (code, rule.name)},
    )


class Opened(NamedTuple):
    """What a file holds, and what that says."""

    data: bytes
    content: Decoded | Notebook


class _Looked(NamedTuple):
    """What one look at a file came to."""

    findings: tuple[Finding, ...]
    hidden: int = 0
    small: int = 0
    noqa: str | None = None


class _TooSlowError(BaseException):
    """The time for one file is over; not an Exception, which a rule's own handler would catch."""


def _may_suppress(text: str) -> bool:
    """Whether any comment can be one that suppresses findings."""
    lowered = text.lower()
    return "noqa" in lowered or "tfmemlint" in lowered or not text.isascii()


def _folder(path: str) -> str:
    return os.path.dirname(os.path.abspath(path))


def content_of(path: str, data: bytes, notebooks: tuple[str, ...] = NOTEBOOKS) -> Opened:
    """What a file of this name says with these bytes in it. Raises UndecodableError."""
    if not path.endswith(notebooks):
        return Opened(data, decode(data))
    from tfmemlint.notebooks import read  # noqa: PLC0415

    return Opened(data, read(data))


def content_after(opened: Opened, text: str, edits: Iterable[Edit]) -> Opened:
    """The file after edits that make this text of its own."""
    data, content = opened
    if isinstance(content, Decoded):
        return Opened(encode(text, like=content), content._replace(text=text))
    from tfmemlint import notebooks  # noqa: PLC0415

    return Opened(*notebooks.edited(data, content, edits))


def _in_cells(findings: Iterable[Finding], opened: Opened) -> Iterable[Finding]:
    """The same without the fixes that a notebook cannot take."""
    if isinstance(opened.content, Decoded):
        return findings
    from tfmemlint import notebooks  # noqa: PLC0415

    kept: list[Finding] = []
    for finding in findings:
        fix = finding.diagnostic.fix
        if fix and not notebooks.allows(opened.content, fix):
            finding = finding._replace(diagnostic=finding.diagnostic._replace(fix=None))
        kept.append(finding)
    return kept


def _cells(opened: Opened) -> tuple[Cell, ...]:
    """The cells of a notebook, none of any other file."""
    return () if isinstance(opened.content, Decoded) else opened.content.cells


def _known(
    settings: Mapping[str, str | None], around: Mapping[str, str], cache: Cache
) -> dict[str, Known]:
    found = {path: cache.known(path, each) for path, each in settings.items() if each}
    return {path: each for path, each in found.items() if each and each.around == around[path]}


def _outcome_of(path: str, opened: Opened, looked: _Looked) -> Outcome:
    findings, hidden, small, noqa = looked
    checked = _checked(path, opened, findings)
    return Outcome(checked, uses=True, hidden=hidden, small=small, noqa=noqa)


def is_small(diagnostic: Diagnostic, least: int | None) -> bool:
    """Whether what is held is known to be less than anybody wants to be told of."""
    cost = diagnostic.cost
    if cost is None or cost.at_most is None:
        return False
    return cost.at_most < (max(MIN_BYTES, cost.worth) if least is None else least)


def _checked(path: str, opened: Opened, findings: tuple[Finding, ...]) -> Checked:
    """What is known of a file; nobody needs the text of one without findings."""
    content = opened.content
    if not findings or isinstance(content, Decoded):
        return Checked(path, content.text if findings else "", findings, _cells(opened))
    from tfmemlint import notebooks  # noqa: PLC0415

    return Checked(path, content.text, findings, content.cells, notebooks.written(content))


def _unapplied(finding: Finding) -> Finding:
    """The same with a fix that is shown and not applied."""
    fix = finding.diagnostic.fix
    if fix is None:
        return finding
    fix = fix._replace(applicability=Applicability.DISPLAY)
    return finding._replace(diagnostic=finding.diagnostic._replace(fix=fix))


def _outcome(path: str, done: Outcome | None) -> Outcome:
    """What a process found, or that the file was the end of it."""
    died = internal_error("the process that checked this file died")
    return done or Outcome(Checked(path, "", (died,)))


def _read(path: str, status: os.stat_result) -> bytes | None:
    """What a regular file holds; None if that is too much. Anything else is not even opened."""
    if not S_ISREG(status.st_mode):
        raise OSError(0, "not a regular file")
    if status.st_size > LARGEST_READ:
        return None
    with open(path, "rb", buffering=0) as file:
        return file.readall()


@contextmanager
def _limited(seconds: float) -> Generator[None]:
    """Raise _TooSlowError after so much processor time, where the system can tell."""
    try:
        previous = signal.signal(signal.SIGPROF, _stop)
    except (AttributeError, ValueError):  # not on this system, or not in this thread
        previous = None
    if previous is not None:
        # Again and again: Python drops what is raised while an object is being destroyed.
        signal.setitimer(signal.ITIMER_PROF, seconds, 1)
    try:
        yield
    finally:
        if previous is not None:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, previous)


def _stop(number: int, frame: object) -> None:
    raise _TooSlowError
