"""What is promised of every rule, tried on its fixtures through the command line."""

import ast
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tfmemlint import Applicability, File, Rule, registry
from tfmemlint.api import fix_source
from tfmemlint.cli import main
from tfmemlint.linting import lint

RULES = registry.load()
FIXTURES = registry.folder(next(iter(RULES.values()))).parent

MARK = re.compile(rb"[ \t]*# want (TFM.*?)(?=\r?$)", re.MULTILINE)
MARK_IN_JSON = re.compile(rb'[ \t]*# want (TFM(?:[^"\\]|\\")*)')
WANT = re.compile(rb'(TFM\d+) "([^"]*)"')
HEADINGS = [
    "## What it finds",
    "## Why it costs memory",
    "## What to do instead",
    "## Fix safety",
    "## When to ignore it",
]


class Want(NamedTuple):
    """That a line must be reported, and words of the message."""

    cell: int | None
    """In a notebook, where lines count from the cell's first one."""
    line: int
    code: str
    words: str


class Program(NamedTuple):
    """A fixture that a rule has something to say about."""

    rule: Rule
    path: Path

    @property
    def twin(self) -> Path:
        """What the fix makes of it, where one is offered."""
        if self.path.name == "bad.py":
            return self.path.with_name("fixed.py")
        return self.path.with_name(f"{self.path.stem}.fixed{self.path.suffix}")


def unmarked(source: bytes, suffix: str = ".py") -> tuple[bytes, list[Want]]:
    """A fixture without its marks, and what they ask for."""
    marks = MARK_IN_JSON if suffix == ".ipynb" else MARK
    wants = [
        Want(*place(source[: mark.start()], suffix), code.decode(), words.decode())
        for mark in marks.finditer(source)
        for code, words in WANT.findall(mark[1].replace(b'\\"', b'"'))
    ]
    return marks.sub(b"", source), wants


def place(above: bytes, suffix: str) -> tuple[int | None, int]:
    """The cell and the line that come after this much of a fixture."""
    if suffix != ".ipynb":
        return None, above.count(b"\n") + 1
    # As notebooks are written: a cell's kind comes first, its source last, line by line.
    return above.count(b'"cell_type"'), above[above.rindex(b'"source"') :].count(b"\n")


def check(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, Any]]:
    """What `tfmemlint check` reports of a file, all rules selected unless told otherwise."""
    capsys.readouterr()
    status = main(["check", "--isolated", "--output-format", "json", *options, str(path)])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert status == (1 if found else 0)
    return found


def is_advice(rule: Rule) -> bool:
    """Whether the rule never offers a fix: then people make `fixed.py` of `bad.py`."""
    return rule.page.partition("## Fix safety\n")[2].startswith("None")


def only(rule: Rule) -> tuple[str, str]:
    return "--select", rule.code


def copied(program: Path, folder: Path) -> Path:
    """The fixture without its marks, in a folder of its own."""
    copy = folder / program.name
    copy.write_bytes(unmarked(program.read_bytes(), program.suffix)[0])
    return copy


def programs() -> list[Program]:
    return [
        Program(rule, path)
        for rule in RULES.values()
        for path in [
            registry.folder(rule) / "bad.py",
            *sorted((registry.folder(rule) / "cases").glob("*")),
        ]
        if path.suffix in (".py", ".ipynb") and ".fixed" not in path.name
    ]


def silent() -> list[Program]:
    return [
        Program(rule, path)
        for rule in RULES.values()
        for path in [
            *sorted(registry.folder(rule).glob("ok*.py")),
            registry.folder(rule) / "fixed.py",
            *sorted((registry.folder(rule) / "cases").glob("*.fixed.*")),
        ]
    ]


def named(program: Program) -> str:
    return f"{program.rule.code}-{program.path.name}"


each_rule = pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
each_program = pytest.mark.parametrize("program", programs(), ids=named)
each_silent = pytest.mark.parametrize("program", silent(), ids=named)


class Story(NamedTuple):
    """A program without its marks, and what became of it: several tests look at the same runs."""

    before: bytes
    found: list[dict[str, Any]]
    """By its rule alone."""
    found_by_all: list[dict[str, Any]]
    fixed: bytes
    """By all fixes of its rule."""
    left: list[dict[str, Any]]
    """What all rules find in that."""
    fixed_again: bytes
    safely_fixed: bytes


STORIES: dict[Program, Story] = {}


@pytest.fixture
def story(
    program: Program, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> Story:
    if program not in STORIES:
        STORIES[program] = told(
            copied(program.path, tmp_path_factory.mktemp("it")), program, capsys
        )
    return STORIES[program]


def told(copy: Path, program: Program, capsys: pytest.CaptureFixture[str]) -> Story:
    before = copy.read_bytes()
    found = check(copy, capsys, *only(program.rule))
    found_by_all = check(copy, capsys)
    check(copy, capsys, *only(program.rule), "--fix")
    safely_fixed = copy.read_bytes()
    copy.write_bytes(before)
    check(copy, capsys, *only(program.rule), "--fix", "--unsafe-fixes")
    fixed = copy.read_bytes()
    left = found_by_all
    if fixed != before:
        left = check(copy, capsys)
        check(copy, capsys, *only(program.rule), "--fix", "--unsafe-fixes")
    return Story(before, found, found_by_all, fixed, left, copy.read_bytes(), safely_fixed)


@each_program
def test_each_line_is_reported_exactly_where_it_is_wanted(program: Program, story: Story) -> None:
    _, wants = unmarked(program.path.read_bytes(), program.path.suffix)
    assert wants

    assert [(each["cell"], each["location"]["row"], each["code"]) for each in story.found] == [
        want[:3] for want in wants
    ]
    for each, want in zip(story.found, wants, strict=True):
        assert want.words in each["message"]


@each_program
def test_the_fix_makes_of_a_program_what_stands_beside_it(program: Program, story: Story) -> None:
    has_fix = program.twin.exists() and not is_advice(program.rule)

    assert story.fixed == (program.twin.read_bytes() if has_fix else story.before)


@each_program
def test_a_fix_resolves_its_findings_and_brings_no_others(program: Program, story: Story) -> None:
    own = program.rule.code
    fixable = [each for each in story.found_by_all if each["fix"] and each["code"] == own]
    before = [each["code"] for each in story.found_by_all]
    after = [each["code"] for each in story.left]
    lasting = [each["code"] for each in story.left if not each["fix"]]  # others mend the rest

    assert after.count(own) == before.count(own) - len(fixable)
    assert all(lasting.count(code) <= before.count(code) for code in lasting)
    if program.path.suffix == ".py":
        ast.parse(story.fixed)
    assert story.fixed_again == story.fixed


@each_program
def test_an_unsafe_fix_is_not_applied_unasked(program: Program, story: Story) -> None:
    fixes = [each["fix"]["applicability"] for each in story.found if each["fix"]]

    assert (story.safely_fixed != story.before) == ("safe" in fixes)


@each_rule
def test_form_feeds_before_indented_lines_change_no_fix(rule: Rule) -> None:
    """Python counts the columns anew behind one; a fix that cannot be written so is none."""
    source = (registry.folder(rule) / "bad.py").read_text("utf-8")
    fed = re.sub(r"(?m)^(?= )", "\f", source)
    chosen = {"select": [rule.code], "min-bytes": 0}
    plain, after = (fix_source(each, unsafe=True, settings=chosen) for each in (source, fed))

    assert "TFM004" not in {each.code for each in after.remaining}
    assert after.text == fed or after.text.replace("\f", "") == plain.text


@each_silent
def test_nothing_is_reported_of_what_is_fine(
    program: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a folder of its own: what might import it need not be looked for among all of these."""
    assert check(copied(program.path, tmp_path), capsys, *only(program.rule)) == []


@each_rule
def test_a_rule_has_its_fixtures(rule: Rule) -> None:
    folder = registry.folder(rule)
    marked = [path for path in folder.rglob("*.py") if unmarked(path.read_bytes())[1]]

    assert {"bad.py", "fixed.py", "ok.py"} <= {path.name for path in folder.iterdir()}
    assert {"trainer.py", "flat.py", "helpers.py"} <= {path.name for path in marked}
    assert b"# scales" in (folder / "bad.py").read_bytes()


@each_rule
def test_what_must_stay_silent_is_longer_than_the_positives(rule: Rule) -> None:
    folder = registry.folder(rule)
    ok = len((folder / "ok.py").read_text().splitlines())

    assert ok > len((folder / "bad.py").read_text().splitlines())


def test_every_folder_of_fixtures_has_a_rule() -> None:
    assert {path.name for path in FIXTURES.iterdir() if path.is_dir()} == {*RULES, "programs"}


@each_rule
def test_a_page_has_every_section_and_says_how_safe_the_fix_is(rule: Rule) -> None:
    lines = rule.page.splitlines()
    headings = [line for line in lines if line.startswith("## ")]
    safety = lines[lines.index("## Fix safety") + 1]

    assert headings == HEADINGS
    assert lines[0].endswith(".")
    assert safety.startswith(("Safe", "Unsafe", "None"))


@each_rule
def test_code_and_name_agree_with_the_module(rule: Rule) -> None:
    module = rule.check.__module__.rpartition(".")[2]

    assert re.fullmatch(r"TFM[1-7]\d\d", rule.code)
    assert module == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
    assert not re.search(r"\b(no|avoid|use|missing-no)\b", rule.name)


@each_rule
def test_a_claim_promises_a_difference_one_can_see(rule: Rule) -> None:
    assert 0 < rule.claim.at_most <= 0.8
    assert rule.claim.because


@each_program
def test_what_is_said_is_said_in_the_house_style(program: Program) -> None:
    source = unmarked(program.path.read_bytes())[0].decode()
    if program.path.suffix == ".ipynb":
        pytest.skip("its code is in cells")
    safety = program.rule.page.partition("## Fix safety\n")[2]

    for finding in program.rule.check(File("example.py", source)):
        assert re.match(r"[a-z`]", finding.message)
        assert not finding.message.endswith(".")
        assert "\n" not in finding.message
        if finding.fix is not None:
            assert re.match(r"[A-Z]", finding.fix.title)
            assert not finding.fix.title.endswith(".")
            safe = finding.fix.applicability is Applicability.SAFE
            assert not (safe and safety.startswith("Unsafe."))
            assert not (not safe and safety.startswith("Safe."))


@pytest.mark.slow
def test_the_screen_hides_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    paths = sorted(FIXTURES.rglob("*.py"))
    screened = {
        (each["filename"], each["code"], each["location"]["row"])
        for each in check(FIXTURES, capsys, "--ignore-noqa", "--min-bytes", "0")
        if each["cell"] is None
    }
    everything: set[tuple[str, str, int]] = set()
    for path in paths:
        file = File(str(path), path.read_bytes().decode("utf-8"))
        for finding in lint(str(path), file.text, RULES.values()):
            row = file.lines.position(finding.diagnostic.span.start)[0]
            everything.add((str(path), finding.code, row))

    assert screened == everything


@pytest.mark.slow
def test_the_whole_folder_of_fixtures_lists_every_want(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = {
        (str(program.path), *want[:3])
        for program in programs()
        for want in unmarked(program.path.read_bytes(), program.path.suffix)[1]
    }

    found = check(FIXTURES, capsys)

    assert wanted <= {
        (each["filename"], each["cell"], each["location"]["row"], each["code"]) for each in found
    }


def test_marks_are_cut_with_the_space_before_them() -> None:
    source = b'x = 1  # keep\ny = 2  # want TFM202 "words" TFM207 "more"\r\n'
    expected: tuple[bytes, Sequence[Want]] = (
        b"x = 1  # keep\ny = 2\r\n",
        [Want(None, 2, "TFM202", "words"), Want(None, 2, "TFM207", "more")],
    )

    assert unmarked(source) == expected


def test_marks_in_a_notebook_count_in_their_cell() -> None:
    code, marked = (
        '{"cell_type": "code", "source": [\n%s\n]}',
        r'"y = 2  # want TFM202 \"words\"\n",',
    )
    source = (code % '"x = 1"' + "\n" + code % f'"x = 1\\n",\n{marked}\n"z = 3"').encode()
    expected = (
        source.replace(rb"  # want TFM202 \"words\"", b""),
        [Want(2, 2, "TFM202", "words")],
    )

    assert unmarked(source, ".ipynb") == expected
