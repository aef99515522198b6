"""The command line in processes of its own: what is printed where, what is written, how it ends."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

from tfmemlint import __version__

RULE = """\
import ast
import os
import time
from tfmemlint import Applicability, Claim, Diagnostic, Edit, Fix, Metric, Rule

NAME = "{name}"

def check(file):
    for name in file.tf.tree.all(ast.Name):
        if name.id != NAME:
            continue
        span = file.span(name)
        {then}

RULE = Rule("{code}", "{name}-word", Claim(Metric.HOST_PEAK, 1, "of nothing"), (NAME,), check)
"""
FIX = (
    'yield Diagnostic(span, "`{name}` is spoken of",'
    ' Fix("Say `{other}`", (Edit(span, "{other}"),), Applicability.{how}))'
)
PACK = {
    "ACM101": ("spam", FIX.format(name="spam", other="eggs", how="SAFE")),
    "ACM102": ("toast", FIX.format(name="toast", other="bread", how="UNSAFE")),
    "ACM103": ("beans", 'yield Diagnostic(span, "`beans` are spoken of")'),
    "ACM201": ("fails", 'raise LookupError("no such thing")'),
    "ACM202": ("dies", "os.abort()"),
    "ACM203": ("sleeps", 'open("asleep", "w").close(); time.sleep(300)'),
    "ACM204": (
        "meddles",
        'open(file.path, "a").write("#"); ' + FIX.format(name="meddles", other="rests", how="SAFE"),
    ),
    "ACM206": ("mumbles", "yield Diagnostic(span, None)"),
    "ACM207": ("waits", 'while not os.path.exists("go"): time.sleep(0.01)'),
    "ACM205": ("swings", FIX.format(name="swings", other="swings ", how="SAFE")),
}
"""A rule for each word, by code."""

START = "import tensorflow as tf\n"
SETTINGS = "plugins = ['acme']\n"


class Done(NamedTuple):
    """What a process has left."""

    status: int
    out: str
    err: str


Run = Callable[..., Done]


def passed(looked_at: str) -> Done:
    """What a run leaves that has found nothing in these files."""
    return Done(0, f"All checks passed! ({looked_at})\n", "")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a rule pack is installed."""
    folder = tmp_path_factory.mktemp("site")
    pack, info = folder / "acme_rules", folder / "acme-1.0.dist-info"
    pack.mkdir()
    info.mkdir()
    (pack / "__init__.py").touch()
    for code, (name, then) in PACK.items():
        (pack / f"{code.lower()}.py").write_text(RULE.format(code=code, name=name, then=then))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[tfmemlint.rules]\nacme = acme_rules\ntorn = torn_rules\n"
    )
    (folder / "torn_rules.py").write_text("import no_such_module")
    return folder


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A working directory whose settings name the pack."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "tfmemlint.toml").write_text(SETTINGS)
    return folder


@pytest.fixture
def environment(site: Path) -> dict[str, str]:
    unwanted = ("TFMEMLINT_OUTPUT_FORMAT", "NO_COLOR", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**kept, "PYTHONPATH": str(site)}


@pytest.fixture
def run(here: Path, environment: dict[str, str]) -> Run:
    def run(
        *arguments: str, stdin: str = "", cwd: Path = here, env: dict[str, str] | None = None
    ) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "tfmemlint", *arguments],
            cwd=cwd,
            env={**environment, **(env or {})},
            input=stdin.encode("utf-8", "surrogateescape"),
            capture_output=True,
            timeout=300,
            check=False,
        )
        streams = (each.decode("utf-8", "surrogateescape") for each in (done.stdout, done.stderr))
        return Done(done.returncode, *streams)

    return run


def write(path: Path, *words: str, start: str = START) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((start + "".join(f"{word}\n" for word in words)).encode())
    return path


# --- the exit code and the streams


def test_nothing_found_is_0(run: Run, here: Path) -> None:
    write(here / "a.py", "eggs")

    assert passed("1 file") == run("check")


def test_something_found_is_1(run: Run, here: Path) -> None:
    write(here / "a.py", "spam", "beans")
    done = run("check", "--output-format=concise")

    assert done == Done(
        1,
        "a.py:2:1: ACM101 [*] `spam` is spoken of\n"
        "a.py:3:1: ACM103 `beans` are spoken of\n"
        "Found 2 errors.\n"
        "[*] 1 fixable with the `--fix` option.\n",
        "",
    )


def test_options_and_paths_come_in_any_order(run: Run, here: Path) -> None:
    for name in ("a.py", "b.py", "-c.py"):
        write(here / name, "spam")

    assert run("check", "a.py", "--fix", "b.py", "--quiet", "--", "-c.py").status == 0
    assert {(here / name).read_text() for name in ("a.py", "b.py", "-c.py")} == {START + "eggs\n"}


def test_without_tensorflow_no_rule_is_asked(run: Run, here: Path) -> None:
    write(here / "a.py", "spam", start="")
    (here / "b.py").write_text("def f(:  # not even Python")

    assert passed("2 files, none uses TensorFlow") == run("check")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "ACM104"], "error: `--select`: unknown rule `ACM104`\n"),
        (["--ignore", "spam-wrd"], "unknown rule `spam-wrd`; did you mean `spam-word`?"),
        (["--unfixable", "E501"], "error: `--unfixable`: unknown rule `E501`\n"),
        (["--per-file-ignores", "a.py:ACM999"], "error: `--per-file-ignores`: unknown rule"),
        (["--per-file-ignores", "a.py"], "`a.py` is not of the form PATTERN:RULE"),
        (["--exclude", "[a"], "error: the pattern `[a` has an unclosed bracket"),
        (["--config", "missing.toml"], "error: missing.toml: No such file or directory"),
        (["--config", "a.toml", "--isolated"], "not allowed with argument"),
        (["--output-format", "jsn"], "invalid choice: 'jsn'"),
        (["--jobs", "0"], "`0` is not a number of processes"),
        (["--fi"], "unrecognized arguments: --fi"),
        (["--output-file", "no/such/folder"], "error: no/such/folder: No such file"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_what_cannot_be_understood_is_2(
    run: Run, here: Path, arguments: list[str], message: str
) -> None:
    write(here / "a.py", "eggs")
    done = run("check", *arguments)

    assert done[:2] == (2, "")
    assert message in done.err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("selct = []", "tfmemlint.toml: unknown key `selct`; did you mean `select`?"),
        (SETTINGS + "select = ['ACM109']", "tfmemlint.toml: `select`: unknown rule `ACM109`"),
        ("plugins = ['acne']\nselect = ['ACM1']", "no installed rule pack is named 'acne'"),
    ],
)
def test_wrong_settings_are_2_although_nothing_needs_them(
    run: Run, here: Path, settings: str, message: str
) -> None:
    (here / "a.py").write_text("x = 1\n")
    (here / "tfmemlint.toml").write_text(settings)
    done = run("check")

    assert done[:2] == (2, "")
    assert message in done.err


def test_a_missing_path_is_2_and_the_rest_is_checked(run: Run, here: Path) -> None:
    write(here / "a.py", "beans")
    done = run("check", "a.py", "b.py", "--output-format=concise")

    assert (done.status, done.err) == (2, "error: b.py: No such file or directory\n")
    assert done.out.startswith("a.py:2:1: ACM103 ")


def test_what_could_not_be_checked_has_not_passed(run: Run, here: Path) -> None:
    (here / "a.py").write_text("x = 1\n")

    assert run("check", "gone.py") == (2, "", "error: gone.py: No such file or directory\n")
    assert run("check", "a.py", "gone.py").out == ""


def test_a_rule_that_fails_is_2_and_the_rest_is_reported(run: Run, here: Path) -> None:
    write(here / "a.py", "fails", "beans")
    done = run("check", "--output-format=concise", "--exit-zero")

    assert done.status == 2
    assert re.match(
        r"a\.py:1:1: TFM004 ACM201 failed: LookupError: no such thing"
        r" \(at .*/acm201\.py:\d+\)\na\.py:3:1: ACM103 ",
        done.out,
    )


@pytest.mark.parametrize("arguments", [["--fix-only"], ["--diff"]])
def test_a_rule_that_fails_is_told_where_findings_are_not(
    run: Run, here: Path, arguments: list[str]
) -> None:
    write(here / "a.py", "fails", "beans")
    done = run("check", "--output-format=concise", *arguments)

    assert done.status == 2
    assert "a.py:1:1: TFM004 ACM201 failed: LookupError" in done.out + done.err
    assert "ACM103" not in done.out + done.err


def test_a_rule_pack_that_cannot_be_imported_is_2(run: Run, here: Path) -> None:
    write(here / "a.py")
    (here / "tfmemlint.toml").write_text("plugins = ['torn']")
    message = "the rules cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"

    done = run("check")
    assert done[:2] == (2, "")
    assert done.err.startswith(f"error: {message} (at /")
    assert done.err.endswith("/torn_rules.py:1)\n")


def test_a_fault_that_nobody_foresaw_is_2_and_can_be_reported(run: Run, here: Path) -> None:
    write(here / "a.py", "mumbles")
    done = run("check")

    assert done.status == 2
    assert done.err.startswith("Traceback (most recent call last):\n")
    assert done.err.endswith(
        "\nerror: this is a fault of tfmemlint; please report the lines above\n"
    )


def test_what_passed_is_said(run: Run, here: Path) -> None:
    write(here / "a.py", "eggs")
    (here / "b.py").write_text("import torch\n")
    (here / "c.py").write_text("def f(:  # not even Python")

    assert passed("3 files, 1 with TensorFlow") == run("check")
    assert passed("2 files, none uses TensorFlow") == run("check", "b.py", "c.py")
    (here / "tfmemlint.toml").unlink()
    assert passed("2 files, none uses TensorFlow") == run("check", "b.py", "c.py", "./b.py")


def test_exit_zero_is_0_in_spite_of_findings(run: Run, here: Path) -> None:
    write(here / "a.py", "beans")

    assert run("check", "--exit-zero").status == 0
    assert run("check").status == 1


def test_no_python_file_is_a_warning(run: Run) -> None:
    assert run("check") == Done(
        0,
        "All checks passed! (no files)\n",
        "warning: No Python files found under the given path(s)\n",
    )


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"import tensorflow\nx = '\xff'\n", "TFM001"),
        (b"# coding: klingon\nimport keras\n", "TFM001"),
        (b"import tensorflow as tf\nx = (\n", "TFM002"),
        (b"import tensorflow as tf\n\0", "TFM002"),
        (b"import tensorflow as tf\n" + b"#" * 2_000_000, "TFM003"),
    ],
    ids=["garbage", "unknown-encoding", "syntax", "nul", "large"],
)
def test_a_file_that_cannot_be_checked_is_a_finding(
    run: Run, here: Path, content: bytes, code: str
) -> None:
    (here / "a.py").write_bytes(content)
    done = run("check", "--output-format=concise", "--select=ACM103")

    assert done.status == 1
    assert f" {code} " in done.out
    assert run("check", f"--ignore={code}") == passed("1 file")


def test_what_is_no_regular_file_is_not_opened(run: Run, here: Path) -> None:
    os.mkfifo(here / "pipe.py")
    (here / "gone.py").symlink_to("nowhere")

    assert run("check").status == 0

    done = run("check", "pipe.py", "gone.py", "/dev/zero", "--output-format=concise")

    assert done.status == 1
    assert done.out.splitlines()[:3] == [
        "/dev/zero:1:1: TFM001 cannot be read: not a regular file",
        "gone.py:1:1: TFM001 cannot be read: No such file or directory",
        "pipe.py:1:1: TFM001 cannot be read: not a regular file",
    ]


# --- fixes


def test_safe_fixes_are_applied_and_counted(run: Run, here: Path) -> None:
    path = write(here / "a.py", "spam", "spam + toast")
    done = run("check", "--fix", "--output-format=concise")

    assert done == Done(
        1,
        "a.py:3:8: ACM102 `toast` is spoken of\n"
        "Found 3 errors (2 fixed, 1 remaining).\n"
        "No fixes available (1 hidden fix can be enabled with the `--unsafe-fixes` option).\n",
        "",
    )
    assert path.read_text() == START + "eggs\neggs + toast\n"


def test_unsafe_fixes_are_applied_on_request(run: Run, here: Path) -> None:
    path = write(here / "a.py", "spam", "toast")
    done = run("check", "--fix", "--unsafe-fixes")

    assert Done(0, "Found 2 errors (2 fixed, 0 remaining).\n", "") == done
    assert path.read_text() == START + "eggs\nbread\n"


def test_a_diff_tells_of_the_fixes_it_leaves_out(run: Run, here: Path) -> None:
    write(here / "a.py", "toast")
    more = "(1 hidden fix can be enabled with the `--unsafe-fixes` option)"

    assert run("check", "--diff") == (0, "", f"Would fix nothing {more}.\n")
    write(here / "b.py", "spam")
    assert run("check", "--diff").err == f"Would fix 1 error {more}.\n"
    assert run("check", "--diff", "--quiet").err == ""


def test_settings_may_ask_for_unsafe_fixes_and_the_command_line_refuse(
    run: Run, here: Path
) -> None:
    path = write(here / "a.py", "toast")
    (here / "tfmemlint.toml").write_text(SETTINGS + "unsafe-fixes = true")

    assert run("check", "--fix", "--no-unsafe-fixes").status == 1
    assert path.read_text() == START + "toast\n"
    assert run("check", "--fix").status == 0
    assert path.read_text() == START + "bread\n"


@pytest.mark.parametrize(
    "arguments", [["--unfixable", "ACM1"], ["--fixable", "ACM102"], ["--no-fix"], []]
)
def test_what_is_not_to_be_fixed_is_not(run: Run, here: Path, arguments: list[str]) -> None:
    path = write(here / "a.py", "spam")
    fix = [] if "--no-fix" in arguments or not arguments else ["--fix"]

    assert run("check", *fix, *arguments).status == 1
    assert path.read_text() == START + "spam\n"


def test_a_fix_that_will_not_be_applied_is_not_marked_as_fixable(run: Run, here: Path) -> None:
    write(here / "a.py", "spam")
    done = run("check", "--output-format=concise", "--unfixable=spam-word")

    assert done.out == "a.py:2:1: ACM101 `spam` is spoken of\nFound 1 error.\n"


def test_fix_only_says_nothing_of_what_is_left(run: Run, here: Path) -> None:
    path = write(here / "a.py", "spam", "beans")

    assert Done(0, "Fixed 1 error.\n", "") == run("check", "--fix-only")
    assert path.read_text() == START + "eggs\nbeans\n"
    assert Done(0, "", "") == run("check", "--fix-only")


def test_exit_non_zero_on_fix(run: Run, here: Path) -> None:
    write(here / "a.py", "spam")
    write(here / "b.py", "eggs")

    assert run("check", "--fix-only", "--exit-non-zero-on-fix", "a.py").status == 1
    assert run("check", "--fix", "--exit-non-zero-on-fix").status == 0


def test_show_fixes_lists_what_was_fixed(run: Run, here: Path) -> None:
    write(here / "a.py", "spam", "spam")
    write(here / "b" / "c.py", "spam", "meddles")
    done = run("check", "--fix", "--show-fixes", "--ignore=ACM2")

    assert done.out == dedent(
        """\
        Fixed 3 errors:
        - a.py:
            2 \N{MULTIPLICATION SIGN} ACM101 (spam-word)
        - b/c.py:
            1 \N{MULTIPLICATION SIGN} ACM101 (spam-word)

        Found 3 errors (3 fixed, 0 remaining).
        """
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(
    "content",
    [
        "import keras\nspam\n",
        "import keras\r\nspam\r\nspam",
        "spam # keras",
        "# coding: latin-1\nimport keras\ns = '\udce9'; spam\n",
        "\ufeffimport keras\rspam\rx\n\n\x0c\nspam\n",
    ],
)
def test_diff_writes_nothing_but_a_patch_that_does_the_same(
    run: Run, here: Path, content: str
) -> None:
    before = content.encode("utf-8", "surrogateescape")
    (here / "a.py").write_bytes(before)
    done = run("check", "--diff")

    assert (1, before) == (done.status, (here / "a.py").read_bytes())
    assert done.err.startswith("Would fix ")

    patch = done.out.encode("utf-8", "surrogateescape")
    subprocess.run(["git", "apply", "-p0"], input=patch, cwd=here, check=True)
    patched = (here / "a.py").read_bytes()
    (here / "a.py").write_bytes(before)
    run("check", "--fix")

    assert patched == (here / "a.py").read_bytes()
    assert before.replace(b"spam", b"eggs") == patched


def test_diff_of_nothing_is_0(run: Run, here: Path) -> None:
    write(here / "a.py", "beans")

    assert Done(0, "", "") == run("check", "--diff")


def test_a_file_that_changes_meanwhile_is_2_and_not_written(run: Run, here: Path) -> None:
    path = write(here / "a.py", "meddles")
    write(here / "b.py", "spam")
    done = run("check", "--fix", "--exit-zero", "--output-format=concise")

    assert done.status == 2
    assert done.err == "error: 'a.py' was not written: it has changed since it was read\n"
    assert done.out.startswith("a.py:2:1: ACM204 ")
    assert path.read_text().startswith(START + "meddles\n#")
    assert (here / "b.py").read_text() == START + "eggs\n"


def test_fixes_that_come_to_no_end_are_a_fault_of_ours(run: Run, here: Path) -> None:
    path = write(here / "a.py", "swings")
    done = run("check", "--fix", "--output-format=concise")

    assert done.status == 2
    assert "a.py:1:1: TFM004 the fixes of ACM205 do not come to an end" in done.out
    assert path.read_text() == START + "swings\n"


@pytest.mark.parametrize("encoding", ["iso2022_jp", "utf-7"])
def test_a_file_whose_encoding_has_two_ways_to_say_a_thing_is_not_written(
    run: Run, here: Path, encoding: str
) -> None:
    twice = {"iso2022_jp": b"\x1b(B\x1b(B", "utf-7": b"+AGE-"}[encoding]
    content = b"# coding: " + encoding.encode() + b"\nimport keras\n# " + twice + b"\nspam\n"
    (here / "a.py").write_bytes(content)
    done = run("check", "--fix")

    assert done.status == 2
    assert f"'a.py' was not written: {encoding} would change more than the fix" in done.err
    assert content == (here / "a.py").read_bytes()


def test_what_a_file_may_be_is_kept(run: Run, here: Path) -> None:
    path = write(here / "real" / "a.py", "spam")
    path.chmod(0o751)
    (here / "link.py").symlink_to("real/a.py")

    assert run("check", "link.py", "--fix").status == 0
    assert (here / "link.py").is_symlink()
    assert (path.stat().st_mode & 0o777, path.read_text()) == (0o751, START + "eggs\n")


# --- standard input


def test_standard_input_is_checked(run: Run) -> None:
    done = run("check", "-", "--output-format=concise", stdin=START + "beans\n")

    assert done == Done(1, "-:2:1: ACM103 `beans` are spoken of\nFound 1 error.\n", "")
    assert passed("1 file") == run("check", "-", stdin=START)


def test_the_file_name_of_standard_input_decides_the_settings(run: Run, here: Path) -> None:
    (here / "quiet").mkdir()
    (here / "quiet" / "tfmemlint.toml").write_text(SETTINGS + "ignore = ['ACM103']")
    options = ["check", "-", "--output-format=concise", "--stdin-filename"]

    assert run(*options, "quiet/a.py", stdin=START + "beans\n").status == 0
    assert run(*options, "other/a.py", stdin=START + "beans\n").out.startswith("other/a.py:2:1: ")


def test_fixes_of_standard_input_are_printed_and_messages_go_elsewhere(run: Run) -> None:
    done = run("check", "--fix", "-", "--output-format=concise", stdin=START + "spam\r\nbeans")

    assert done == Done(
        1,
        START + "eggs\r\nbeans",
        "-:3:1: ACM103 `beans` are spoken of\nFound 2 errors (1 fixed, 1 remaining).\n",
    )


@pytest.mark.parametrize("source", ["", "x = 1", START + "toast\n", START + "def f(:\n", "\udcff"])
def test_standard_input_without_fixes_is_printed_as_it_is(run: Run, source: str) -> None:
    assert source == run("check", "--fix", "-", stdin=source).out


def test_the_diff_of_standard_input_is_printed(run: Run) -> None:
    done = run("check", "--diff", "--stdin-filename=a.py", stdin=START + "spam\n")

    assert (done[:2]) == (
        1,
        "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n import tensorflow as tf\n-spam\n+eggs\n",
    )


def test_an_excluded_name_of_standard_input_is_left_alone(run: Run) -> None:
    options = ["check", "-", "--stdin-filename=build/a.py", "--fix"]

    assert run(*options, "--force-exclude", stdin=START + "spam").out == START + "spam"
    assert run(*options, stdin=START + "spam").out == START + "eggs"


# --- what is selected


def test_settings_and_command_line_select(run: Run, here: Path) -> None:
    write(here / "a.py", "spam", "toast", "beans")

    def codes(*arguments: str, settings: str = "") -> list[str]:
        (here / "tfmemlint.toml").write_text(SETTINGS + settings)
        out = run("check", "--output-format=concise", "--quiet", *arguments).out
        return [line.split()[1] for line in out.splitlines()]

    assert codes() == ["ACM101", "ACM102", "ACM103"]
    assert codes("--select=ACM102") == ["ACM102"]
    assert codes("--ignore=toast-word,ACM103") == ["ACM101"]
    assert codes(settings="ignore = ['ACM101']") == ["ACM102", "ACM103"]
    assert codes("--ignore=ACM103", settings="select = ['ACM1']") == ["ACM101", "ACM102"]
    assert codes("--select=ACM1", settings="ignore = ['ACM1']") == ["ACM101", "ACM102", "ACM103"]
    assert codes("--extend-select=ACM103", settings="select = ['spam-word']") == [
        "ACM101",
        "ACM103",
    ]
    assert codes("--isolated") == []
    assert codes("--per-file-ignores=*.py:ACM101,b.py:ACM102") == ["ACM102", "ACM103"]
    assert codes("--per-file-ignores", "!b.py:ACM1") == []
    assert codes("--per-file-ignores", "!a.py:ACM1") == ["ACM101", "ACM102", "ACM103"]
    assert codes(settings="[per-file-ignores]\n'./a.py' = ['ACM1']\n'x/a.py' = ['ALL']") == []


def test_each_file_has_the_settings_nearest_to_it(run: Run, here: Path) -> None:
    write(here / "a.py", "beans")
    write(here / "b" / "a.py", "beans")
    write(here / "c" / "d" / "a.py", "beans")
    (here / "b" / "pyproject.toml").write_text("[tool.tfmemlint]\nunsafe-fixes = true")
    (here / "c" / ".tfmemlint.toml").write_text(SETTINGS + "ignore = ['ACM103']")
    done = run("check", "--output-format=concise", "--quiet")

    assert done.out == "a.py:2:1: ACM103 `beans` are spoken of\n"


def test_settings_from_one_file_hold_for_all_and_start_here(run: Run, here: Path) -> None:
    write(here / "a.py", "beans")
    write(here / "b" / "a.py", "beans")
    (here / "b" / "tfmemlint.toml").write_text("ignore = ['ALL']")
    (here / "b" / "other.toml").write_text(SETTINGS + "exclude = ['./a.py']")
    done = run("check", "--output-format=concise", "--quiet", "--config=b/other.toml")

    assert done.out == "b/a.py:2:1: ACM103 `beans` are spoken of\n"


def test_what_is_excluded_is_not_checked(run: Run, here: Path) -> None:
    for name in ("a.py", "b/a.py", "c/a.py", "venv/a.py"):
        write(here / name, "beans")

    def files(*arguments: str) -> list[str]:
        out = run("check", "--show-files", *arguments).out
        return [os.path.relpath(line, here) for line in out.splitlines()]

    assert files() == ["a.py", "b/a.py", "c/a.py"]
    assert files("--exclude=b") == ["a.py", "c/a.py", "venv/a.py"]
    assert files("--extend-exclude=b,c/*") == ["a.py"]
    assert files("venv/a.py", "--exclude=venv") == ["venv/a.py"]
    assert files("venv/a.py", "--force-exclude") == []

    (here / ".gitignore").write_text("b/\n")

    assert files() == ["a.py", "c/a.py"]
    assert files("--no-respect-gitignore") == ["a.py", "b/a.py", "c/a.py"]


@pytest.mark.parametrize("root", ["tfmemlint.toml", ".git", "."])
def test_how_the_folders_above_a_project_are_called_excludes_nothing(
    run: Run, tmp_path: Path, root: str
) -> None:
    project = tmp_path / "elsewhere" / "build" / "project"
    own, excluded = write(project / "a.py"), write(project / "build" / "b.py")
    if root != ".":
        (project / root).touch()
    command = ["check", "--show-files", "--force-exclude"]

    done = run(*command, str(project), str(own), str(excluded), cwd=project)
    assert done.out == f"{own}\n"


def test_comments_suppress_findings_unless_they_are_ignored(run: Run, here: Path) -> None:
    write(here / "a.py", "beans  # noqa: ACM103", "spam  # tfmemlint: ignore[spam-word] in a joke")

    assert run("check").status == 0

    done = run("check", "--ignore-noqa", "--output-format=concise", "--quiet")

    assert [line.split()[1] for line in done.out.splitlines()] == ["ACM103", "ACM101"]


def test_a_suppression_that_nothing_needs_is_a_finding_if_its_rule_has_run(
    run: Run, here: Path
) -> None:
    path = write(here / "a.py", "eggs  # noqa: ACM103")
    options = ["check", "--output-format=concise", "--quiet"]

    assert " TFM005 " in run(*options).out
    assert run(*options, "--ignore=ACM103").out == ""
    assert run(*options, "--ignore=TFM005").out == ""
    assert run(*options, "--select=ACM103").out == ""
    assert run("check", "--fix").status == 0
    assert path.read_text() == START + "eggs\n"


# --- reports


def test_the_format_is_the_command_lines_or_the_environments_or_the_settings(
    run: Run, here: Path
) -> None:
    write(here / "a.py", "beans")
    (here / "tfmemlint.toml").write_text(SETTINGS + "output-format = 'json'")
    environment = {"TFMEMLINT_OUTPUT_FORMAT": "json-lines"}

    assert run("check").out.startswith("[")
    assert run("check", env=environment).out.startswith("{")
    assert run("check", "--output-format=concise", env=environment).out.startswith("a.py:2:1: ")

    done = run("check", env={"TFMEMLINT_OUTPUT_FORMAT": "jsn"})

    assert Done(
        2, "", "error: TFMEMLINT_OUTPUT_FORMAT: no format `jsn`; did you mean `json`?\n"
    ) == (done)


def test_a_report_goes_to_a_file(run: Run, here: Path) -> None:
    write(here / "a.py", "beans")

    assert Done(1, "", "") == run("check", "--output-format=json", "-o", "report.json")
    assert [each["code"] for each in json.loads((here / "report.json").read_text())] == ["ACM103"]


def test_statistics_count(run: Run, here: Path) -> None:
    write(here / "a.py", "beans", "spam", "beans")
    done = run("check", "--statistics")

    assert (
        done.status,
        done.out[: done.out.index("Found 3 errors.")],
    ) == (1, "2\tACM103\t[ ] beans-word\n1\tACM101\t[*] spam-word\n")


def test_quiet_prints_findings_and_silent_nothing(run: Run, here: Path) -> None:
    write(here / "a.py", "beans")
    finding = "a.py:2:1: ACM103 `beans` are spoken of\n"

    assert Done(1, finding, "") == run("check", "--output-format=concise", "--quiet")
    assert Done(1, "", "") == run("check", "--silent")


def test_verbose_tells_what_was_done(run: Run, here: Path) -> None:
    write(here / "a.py", "eggs")
    done = run("check", "--verbose")

    assert f"settings: {here / 'tfmemlint.toml'}\nfiles checked: 1\n" == done.err


@pytest.mark.parametrize(
    ("arguments", "variables", "colored"),
    [
        ([], {}, False),
        (["--color=always"], {}, True),
        (["--color=always"], {"NO_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color=never"], {"FORCE_COLOR": "1"}, False),
        (["--output-format=json", "--color=always"], {}, False),
    ],
)
def test_colors(
    run: Run, here: Path, arguments: list[str], variables: dict[str, str], colored: bool
) -> None:
    write(here / "a.py", "beans")

    assert colored == ("\x1b[" in run("check", *arguments, env=variables).out)


def test_the_settings_of_a_file_are_shown(run: Run, here: Path) -> None:
    write(here / "a.py", "eggs")
    done = run("check", "--show-settings", "--select=ACM1", "--unfixable=ACM101")
    settings = json.loads(done.out)

    assert settings["rules"] == ["ACM101", "ACM102", "ACM103"]
    assert "ACM101" not in settings["fixable"]
    assert str(here / "tfmemlint.toml") == settings["read from"]


def test_hostile_names_do_not_reach_the_terminal(run: Run, here: Path) -> None:
    write(here / "a\x1b[2J\n::error::b.py", "spam")
    printed = (
        run("check"),
        run("check", "--diff"),
        run("check", "--show-files"),
        run("check", "\x1b"),
    )

    assert not any("\x1b" in done.out + done.err for done in printed)
    assert not any("\n::error" in done.out for done in printed)


# --- many files


def test_any_number_of_processes_finds_the_same(run: Run, here: Path) -> None:
    for number in range(200):
        words = ["eggs"] * (number % 7) + ["beans"] * (number % 3) + ["spam"] * (number % 2)
        write(here / f"f{number % 9}" / f"{number}.py", *words)
    (here / "f0" / "bad.py").write_text(START + "(")
    alone = run("check", "--output-format=json", "--jobs=1")

    assert alone.status == 1
    assert len(json.loads(alone.out)) > 200
    for jobs in (["--jobs=2"], ["--jobs=7"], []):
        assert alone == run("check", "--output-format=json", *jobs)


def test_any_number_of_processes_fixes_the_same(run: Run, here: Path) -> None:
    for number in range(100):
        write(here / f"{number}.py", "spam")

    assert Done(0, "Found 100 errors (100 fixed, 0 remaining).\n", "") == (
        run("check", "--fix", "--jobs=2")
    )
    assert {path.read_text() for path in here.glob("*.py")} == {START + "eggs\n"}


def test_a_file_that_kills_its_process_is_named_and_no_other_is_lost(run: Run, here: Path) -> None:
    for number in range(150):
        write(here / f"{number:03}.py", "dies" if number in (40, 41, 130) else "beans")
    done = run("check", "--output-format=concise", "--quiet", "--jobs=2")
    found = [(line.split(":")[0], line.split()[1]) for line in done.out.splitlines()]
    expected = [
        (f"{number:03}.py", "TFM004" if number in (40, 41, 130) else "ACM103")
        for number in range(150)
    ]

    assert (2, expected) == (done.status, found)
    assert "040.py:1:1: TFM004 the process that checked this file died" in done.out


# --- signals and streams


def started(
    here: Path, environment: dict[str, str], *arguments: str, stdout: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tfmemlint", *arguments],
        cwd=here,
        env=environment,
        start_new_session=True,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("whole_group", [True, False])
def test_an_interrupt_is_130_and_leaves_no_process_behind(
    here: Path, environment: dict[str, str], jobs: str, whole_group: bool
) -> None:
    write(here / "0.py", "eggs")
    for number in range(1, 100):
        write(here / f"{number}.py", "sleeps")
    process = started(here, environment, "check", f"--jobs={jobs}")
    while process.poll() is None and not (here / "asleep").exists():
        time.sleep(0.05)
    (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=300)

    assert (process.returncode, out, err) == (130, b"", b"")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_end_when_their_parent_is_killed(here: Path, environment: dict[str, str]) -> None:
    write(here / "0.py", "eggs")
    for number in range(1, 1000):
        write(here / f"{number}.py", "waits", *["beans"] * 100)
    process = started(here, environment, "check", "--jobs=2")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and len(children.read_text().split()) < 2:
        time.sleep(0.01)

    assert process.poll() is None

    process.kill()
    process.wait(300)
    (here / "go").touch()
    process.communicate(timeout=300)
    end = time.monotonic() + 300
    while time.monotonic() < end:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("a worker is still there")


def test_a_closed_pipe_is_141(here: Path, environment: dict[str, str]) -> None:
    for number in range(50):
        write(here / f"{number}.py", *["beans"] * 200)
    process = started(here, environment, "check", "--output-format=concise")
    assert process.stdout
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr

    assert (process.stderr.read(), process.wait(300)) == (b"", 141)
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("arguments", [["check"], ["version"], ["--help"], ["config"]])
def test_a_full_disk_is_2(
    here: Path, environment: dict[str, str], arguments: Sequence[str]
) -> None:
    write(here / "a.py", "beans")
    with Path("/dev/full").open("wb") as full:
        process = started(here, environment, *arguments, stdout=full.fileno())
        _, err = process.communicate(timeout=300)

    assert (process.returncode, err) == (2, b"error: [Errno 28] No space left on device\n")


@pytest.mark.parametrize("closed", ["0", "1", "2", "1 2"])
def test_closed_streams_are_no_trouble(
    here: Path, environment: dict[str, str], closed: str
) -> None:
    write(here / "a.py", "beans")
    redirections = " ".join(f"{number}>&-" for number in closed.split())
    command = f'exec "{sys.executable}" -m tfmemlint check {redirections}'
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=here,
        env=environment,
        capture_output=True,
        timeout=300,
        check=False,
    )

    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("name", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_of_the_terminal_will_do(run: Run, here: Path, name: str) -> None:
    write(here / "a.py", "beans  # \N{GREEK SMALL LETTER LAMDA} \N{GRINNING FACE}")
    done = run("check", env={"PYTHONIOENCODING": name})

    assert (done.status, done.err) == (1, "")


# --- the other commands and the start


@pytest.mark.parametrize("arguments", [["--version"], ["-V"], ["version"]])
def test_the_version(run: Run, arguments: list[str]) -> None:
    assert Done(0, f"tfmemlint {__version__}\n", "") == run(*arguments)


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"]])
def test_help_names_every_command(run: Run, arguments: list[str]) -> None:
    done = run(*arguments)

    assert (done.status, done.err) == (0, "")
    assert all(
        f"\n  {name} " in done.out
        for name in ("check", "rule", "verify", "config", "clean", "version")
    )


def test_without_a_command_there_is_help_and_2(run: Run) -> None:
    done = run()

    assert done[:2] == (2, "")
    assert "Usage: tfmemlint COMMAND" in done.err


def test_an_unknown_command_is_2_and_the_nearest_is_named(run: Run, here: Path) -> None:
    write(here / "a.py")

    assert Done(2, "", "error: no command `chekc`; did you mean `check`?\n") == run("chekc")
    assert Done(2, "", "error: no command `a.py`; did you mean `tfmemlint check a.py`?\n") == (
        run("a.py")
    )
    assert Done(2, "", "error: no command `zzzz`\n") == run("zzzz")


def test_a_rule_is_explained_also_if_it_is_a_plugins(run: Run) -> None:
    assert run("rule", "TFM202").out.startswith("# TFM202 ")
    assert run("explain", "ACM101").out.startswith("# ACM101 spam-word")
    assert run("rule", "ACM999").status == 2


def test_a_rule_is_not_explained_with_wrong_settings(run: Run, here: Path) -> None:
    (here / "tfmemlint.toml").write_text("plugin = ['acme']")
    done = run("rule", "TFM202")

    assert done[:2] == (2, "")
    assert "unknown key `plugin`; did you mean `plugins`?" in done.err


def test_every_command_has_help_of_its_own(run: Run) -> None:
    for command in ("check", "rule", "verify", "config", "clean"):
        done = run(command, "--help")

        assert (done.status, done.err) == (0, "")
        assert done.out.startswith(f"usage: tfmemlint {command} ")


def test_settings_are_listed_and_explained(run: Run) -> None:
    assert "per-file-ignores\n" in run("config").out
    assert "unsafe-fixes = true" in run("config", "unsafe-fixes").out
    assert Done(2, "", "error: no setting `selct`; did you mean `select`?\n") == (
        run("config", "selct")
    )


def test_clean_removes_what_is_stale_and_nothing_else(run: Run, here: Path) -> None:
    cache = write(here / "sub" / ".tfmemlint_cache" / "x" / "y").parent.parent
    stale, fresh = (write(here / "sub" / f".{name}.1.tfmemlint-tmp") for name in ("a.py", "b.py"))
    backup = write(here / ".a.py.1.tfmemlint-backup")
    outside = write(here.parent / "outside" / ".tfmemlint_cache" / "z")
    (here / "link").symlink_to(outside.parent.parent)
    os.utime(stale, (0, 0))
    os.utime(backup, (0, 0))
    done = run("clean")

    assert (done.status, done.err) == (0, "")
    assert [path.exists() for path in (cache, stale, fresh, backup, outside)] == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert "kept ./.a.py.1.tfmemlint-backup" in done.out
    assert run("clean", "nowhere")[::2] == (2, "error: nowhere: No such file or directory\n")


def test_nothing_of_the_working_directory_is_imported(run: Run, here: Path) -> None:
    write(here / "a.py", "spam")
    early = ("ast", "bisect", "enum", "re", "typing")
    late = ("libcst", "argparse", "tomllib", "difflib", "json", "tfmemlint_rules", "fnmatch")
    for name in (*early, *late):
        (here / f"{name}.py").write_text("open('canary', 'w'); raise SystemExit('hijacked')")
    (here / "conftest.py").write_text("open('canary', 'w')")

    assert run("check", "a.py").status == 1
    assert run("check", "a.py", "--fix").status == 0
    assert run("rule", "TFM202").status == 0
    assert not (here / "canary").exists()


def test_what_is_checked_is_not_run(run: Run, here: Path) -> None:
    write(here / "a.py", "open('canary', 'w')", "raise SystemExit")
    (here / "__init__.py").write_text("import keras; open('canary', 'w')")

    assert run("check").status == 0
    assert not (here / "canary").exists()


def imported(here: Path, environment: dict[str, str], *arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tfmemlint", *arguments],
        cwd=here,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def test_little_is_imported_to_print_the_version(here: Path, environment: dict[str, str]) -> None:
    modules = imported(here, environment, "--version")

    assert "tfmemlint.cli" in modules
    assert not modules & {"argparse", "json", "libcst", "tfmemlint_rules", "tfmemlint.check"}


def test_little_is_imported_to_find_a_file_clean(here: Path, environment: dict[str, str]) -> None:
    (here / "tfmemlint.toml").unlink()
    write(here / "a.py", "eggs")
    write(here / "b.py", "eggs", start="")
    heavy = {
        "dataclasses",
        "difflib",
        "libcst",
        "multiprocessing",
        "pathspec",
        "pickle",
        "subprocess",
        "tfmemlint.pages",
        "tfmemlint.writing",
        "tomllib",
    }
    without, with_tensorflow = (
        imported(here, environment, "check", name) for name in ("b.py", "a.py")
    )

    assert heavy & with_tensorflow == set()
    assert without & {*heavy, "json", "pathlib", "tfmemlint.registry"} == set()


# --- packs


def test_what_a_pack_finds_clean_is_remembered_until_the_pack_changes(
    run: Run, here: Path, site: Path, tmp_path: Path
) -> None:
    own = tmp_path / "site"
    shutil.copytree(site, own)
    for number in range(20):
        write(here / f"m{number}.py", "beans.x = 1" if number == 3 else "eggs")
    env = {"PYTHONPATH": str(own)}
    module = own / "acme_rules" / "acm103.py"
    source = module.read_text()
    module.write_text(source.replace("span = file.span(name)", "continue"))
    assert run("check", env=env) == passed("20 files")
    assert any((here / ".tfmemlint_cache").iterdir())

    module.write_text(source)
    assert "m3.py:2:1: ACM103" in run("check", "--output-format=concise", env=env).out


def test_a_rule_of_a_pack_is_explained_and_without_programs_not_said_to_be_measurable(
    run: Run,
) -> None:
    done = run("rule", "ACM101")

    assert done.status == 0
    assert "Not measured yet: it comes with no programs." in done.out
    assert "there is no rule `ACM109`\n" in run("verify", "ACM109").err


def test_a_patch_has_colours_where_they_are_wanted(run: Run, here: Path) -> None:
    write(here / "a.py", "spam")
    plain = run("check", "--diff").out
    colored = run("check", "--diff", "--color=always").out

    assert "\x1b" not in plain
    assert "\x1b[31m-spam\x1b[0m\n\x1b[32m+eggs\x1b[0m\n" in colored
    assert re.sub(r"\x1b\[\d+m", "", colored) == plain
