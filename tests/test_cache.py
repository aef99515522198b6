"""What is remembered of clean files is used only where it surely holds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tfmemlint.cache import FOLDER, Cache, look, opened
from tfmemlint.cli import main
from tfmemlint.config import Config, Configs, FileIgnores, Selection
from tfmemlint.patterns import ANY, matcher
from tfmemlint.run import Checker, Outcome, run

CLEAN = "import tensorflow as tf\n\nprint(tf.constant(1))\n"
FOUND = "import tensorflow as tf\n\nds = tf.data.TFRecordDataset('a').batch(32).shuffle(1000)\n"
LONG_AGO = 1_600_000_000


class Watched(Checker):
    """Tells which files it was asked to check."""

    checked: list[str]

    def check_file(self, path: str) -> Outcome:
        self.checked.append(path)
        return super().check_file(path)


def checked(*paths: str, config: Config | None = None, noqa: bool = True) -> list[str]:
    """Which of these files a run that remembers has to check."""
    checker = Watched(Configs(lambda each: each, config or Config()), noqa=noqa)
    checker.checked = []
    outcomes = run(paths, checker, 1, opened(str(Path.cwd()), ""))
    assert list(paths) == [outcome.checked.path for outcome in outcomes]
    return checker.checked


def write(path: Path, text: str, modified: float = LONG_AGO) -> None:
    path.write_text(text)
    os.utime(path, (modified, modified))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.py", CLEAN)
    write(tmp_path / "b.py", FOUND)
    return tmp_path


def test_a_clean_file_is_not_checked_twice_and_one_with_findings_is() -> None:
    assert checked("a.py", "b.py") == ["a.py", "b.py"]
    assert checked("a.py", "b.py") == ["b.py"]


def test_a_file_that_has_changed_is_checked_again(here: Path) -> None:
    checked("a.py")
    write(here / "a.py", CLEAN + "#", LONG_AGO)
    assert checked("a.py") == ["a.py"]

    write(here / "a.py", CLEAN + "!", LONG_AGO + 1)
    assert checked("a.py") == ["a.py"]
    (here / "a.py").unlink()
    assert checked("a.py") == ["a.py"]


def test_a_file_that_was_only_touched_is_known_by_its_content(here: Path) -> None:
    checked("a.py")
    os.utime(here / "a.py", (LONG_AGO + 9, LONG_AGO + 9))

    assert checked("a.py") == []


def settled(path: Path) -> None:
    """Wait until a file counts as one that has not just been written."""
    while not look(path.stat(), b"").place:
        time.sleep(0.05)


def test_an_edit_that_keeps_size_and_time_is_seen(here: Path) -> None:
    settled(here / "a.py")
    checked("a.py")
    status = (here / "a.py").stat()
    (here / "a.py").write_text(CLEAN.replace("1", "2"))
    os.utime(here / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))

    assert checked("a.py") == ["a.py"]


def test_another_file_of_the_same_size_and_time_is_seen(here: Path) -> None:
    write(here / "c.py", CLEAN.replace("1", "2"))
    settled(here / "c.py")
    checked("a.py")
    (here / "c.py").replace(here / "a.py")

    assert checked("a.py") == ["a.py"]


def test_the_age_of_a_file_that_has_just_been_written_tells_nothing(here: Path) -> None:
    write(here / "a.py", CLEAN, time.time() + 60)  # just written, however slow the machine is
    checked("a.py")
    status = (here / "a.py").stat()
    assert checked("a.py") == []

    (here / "a.py").write_text(CLEAN.replace("1", "2"))
    os.utime(here / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert checked("a.py") == ["a.py"]


def test_a_file_is_known_with_its_settings_alone(here: Path) -> None:
    ignores = FileIgnores(None, matcher(["c.py", "d.py"], ANY), inverted=False, ignore=("TFM202",))
    for config in (
        Config(tensorflow=">=2.9"),
        Config(rules=(Selection(ignore=("TFM202",)),)),
        Config(file_ignores=(ignores,)),
    ):
        checked("a.py")
        assert checked("a.py", config=config) == ["a.py"]
        assert checked("a.py", config=config) == []
    assert checked("a.py", noqa=False) == ["a.py"]


def test_files_checked_with_rules_of_others_are_not_remembered() -> None:
    checker = Checker(Configs(lambda each: each, Config(plugins=("acme",))))

    assert checker.described("a.py") is None


def test_a_cache_that_is_not_as_it_was_written_says_nothing(here: Path) -> None:
    checked("a.py")
    (path,) = (each for each in (here / FOLDER).iterdir() if len(each.name) == 8)
    whole = path.read_bytes()
    assert checked("a.py") == []
    for place in (0, 1, 20, len(whole) // 2, len(whole) - 30, len(whole) - 2):
        for broken in (
            whole[:place],
            whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :],
            whole[:place] + b"\xff\n0 0" + whole[place:],
        ):
            path.write_bytes(broken)
            assert not knows("a.py")


def knows(path: str) -> bool:
    cache = opened(str(Path.cwd()), "")
    settings = Checker(Configs(lambda each: each, Config())).described(path)
    return cache is not None and settings is not None and bool(cache.known(path, settings))


def test_a_cache_that_came_with_a_checkout_says_nothing(here: Path, tmp_path: Path) -> None:
    checked("a.py")
    assert knows("a.py")

    shutil.copytree(here / FOLDER, tmp_path / "copy")
    shutil.rmtree(here / FOLDER)
    shutil.copytree(tmp_path / "copy", here / "held")  # or it might be given the same place again
    (tmp_path / "copy").rename(here / FOLDER)
    assert not knows("a.py")


def test_a_folder_that_others_may_write_to_is_not_used(here: Path) -> None:
    (here / FOLDER).mkdir()
    (here / FOLDER).chmod(0o777)
    assert opened(str(here), "") is None

    (here / FOLDER).rmdir()
    (here / "elsewhere").mkdir()
    (here / FOLDER).symlink_to("elsewhere")
    assert opened(str(here), "") is None
    assert opened(str(here / "a.py"), "") is None


def test_runs_at_the_same_time_leave_a_cache_that_is_whole(here: Path) -> None:
    program = """
import os
from tfmemlint.cache import Known, Seen, opened
for round in range(60):
    cache = opened(os.getcwd(), "")
    for number in range(200):
        cache.remember(f"{os.getpid()}-{round}-{number}", "settings", Known(Seen("1", number, "0")))
    cache.save()
"""
    command = [sys.executable, "-c", program]
    runs = [subprocess.Popen(command) for _ in range(3)]
    while any(each.poll() is None for each in runs):
        cache = opened(str(here), "")
        assert isinstance(cache, Cache)

    assert [each.returncode for each in runs] == [0, 0, 0]
    # Nothing is left over but the cache itself, in its folder with two notes.
    assert len(list((here / FOLDER).iterdir())) == 3


def test_a_look_keeps_no_age_of_the_future(here: Path) -> None:
    os.utime(here / "a.py", (4e9, 4e9))

    assert look((here / "a.py").stat(), b"").place == ""


def test_the_command_remembers_where_there_are_many_files(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(20):
        write(here / f"c{number}.py", CLEAN)
    reports: list[str] = []
    for _ in range(2):
        assert main(["check", "--output-format=concise"]) == 1
        reports.append(capsys.readouterr().out)

    assert reports[0] == reports[1]
    assert "b.py:3" in reports[1]
    assert (here / FOLDER / ".gitignore").read_text() == "*\n"
    assert main(["clean"]) == 0
    assert not (here / FOLDER).exists()
    assert main(["check", "--no-cache"]) == 1
    assert main(["check", "a.py"]) == 0
    assert not (here / FOLDER).exists()
