"""Completion in the shells themselves, and the manual page as `man` shows it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tfmemlint import __version__
from tfmemlint.cli import main

COMMANDS = {
    *("check", "rule", "verify", "measure", "plan", "server", "config", "clean"),
    *("completion", "man", "version"),
}


TYPING = r"""
import fcntl, os, pty, select, struct, sys, termios, time
child, terminal = pty.fork()
if not child:
    os.execvp("zsh", ["zsh", "-f", "-i"])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 500, 200, 0, 0))
def read(until):
    seen, end = b"", time.monotonic() + 600
    while until not in seen and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            seen += os.read(terminal, 65536)
    return seen
os.write(terminal, b"PS1=; fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; ")
os.write(terminal, b"LISTMAX=9999; print rea''dy\n")
read(b"ready\r\n")
os.write(terminal, sys.argv[1].encode() + b"\t\t")
sys.stdout.write(read(sys.argv[2].encode()).decode(errors="replace"))
os.write(terminal, b"\x03exit\n")
"""
"""Types a line into a terminal with zsh in it, asks for completion, and prints what is shown."""


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def said(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tfmemlint", *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def answer(command: list[str], script: str, folder: Path) -> set[str]:
    """The words that a shell prints, one in a line."""
    done = subprocess.run(
        [*command, script],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "TERM": "xterm"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert not done.stderr, done.stderr
    return {word.split("\t")[0].strip() for word in done.stdout.splitlines()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text("")
    (tmp_path / "deep").mkdir()
    return tmp_path


@needs("bash")
def test_bash_completes(folder: Path) -> None:
    (folder / "c.bash").write_text(said("completion", "bash"))

    def completed(*words: str) -> set[str]:
        line = " ".join(f"'{word}'" for word in words)
        ask = (
            f"source ./c.bash; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
            "complete -p tfmemlint > registered; "
            "function=$(sed 's/.*-F \\([^ ]*\\).*/\\1/' registered); "
            '$function; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        return answer(["bash", "--norc", "-c"], ask, folder)

    assert completed("tfmemlint", "") >= COMMANDS
    assert "--statistics" in completed("tfmemlint", "check", "--sta")
    assert {"train.py", "deep"} <= completed("tfmemlint", "check", "")
    assert completed("tfmemlint", "rule", "TFM20") >= {"TFM201", "TFM202"}
    assert completed("tfmemlint", "check", "--select", "pe") == {"peak"}
    assert completed("tfmemlint", "check", "--sort", "") >= {"place", "cost"}
    assert "min-bytes" in completed("tfmemlint", "config", "min")


@needs("zsh")
def test_zsh_completes(folder: Path) -> None:
    (folder / "_tfmemlint").write_text(said("completion", "zsh"))

    def shown(line: str, awaited: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", TYPING, line, awaited],
            cwd=folder,
            env={**os.environ, "HOME": str(folder), "TERM": "dumb"},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert not done.stderr
        return done.stdout

    assert "explain a rule" in shown("tfmemlint ", "explain a rule")
    assert "--statistics" in shown("tfmemlint check --stat", "--statistics")
    assert "TFM202" in shown("tfmemlint rule TFM20", "TFM202")
    assert "train.py" in shown("tfmemlint check tra", "train.py")


@needs("fish")
def test_fish_completes(folder: Path) -> None:
    (folder / "c.fish").write_text(said("completion", "fish"))

    def completed(line: str) -> set[str]:
        return answer(
            ["fish", "--no-config", "-c"], f"source ./c.fish; complete -C '{line}'", folder
        )

    assert completed("tfmemlint ") >= COMMANDS
    assert "--statistics" in completed("tfmemlint check --sta")
    assert "train.py" in completed("tfmemlint check tra")
    assert completed("tfmemlint rule TFM20") >= {"TFM201", "TFM202"}
    assert "--statistics" not in completed("tfmemlint verify --sta")


@needs("man")
def test_the_manual_has_what_help_has(tmp_path: Path) -> None:
    page = tmp_path / "tfmemlint.1"
    page.write_text(said("man"))
    done = subprocess.run(
        ["man", "--warnings", "-l", str(page)],
        env={**os.environ, "MANWIDTH": "400", "MAN_KEEP_FORMATTING": "", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    words = " ".join(done.stdout.split())

    assert not done.stderr
    assert f"tfmemlint {__version__}" in words
    for command in COMMANDS:
        assert f"tfmemlint {command}" in words
    for about in (
        "explain a rule",
        "report what is on lines that were changed since this revision of git",
        "try the program under a smaller device",
        "numbers that the code does not tell",
    ):
        assert about in words


@pytest.mark.parametrize("command", ["completion", "man"])
def test_what_is_missing_is_named(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("shtab", "argparse_manpage", "argparse_manpage.manpage"):
        monkeypatch.setitem(sys.modules, name, None)

    assert main([command, *(["bash"] if command == "completion" else [])]) == 2
    assert "pip install 'tfmemlint[shells]'" in capsys.readouterr().err


def test_a_shell_that_nobody_knows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "fihs"]) == 2
    assert "did you mean `fish`?" in capsys.readouterr().err


def test_what_a_shell_is_told_changes_no_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert main(["completion", "bash"]) == 0

    assert main(["check", "--select=TFM1,TFM2", str(tmp_path)]) == 0
    assert "All checks passed!" in capsys.readouterr().out
