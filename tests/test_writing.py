"""A user's file is the old one or the new one, whole, whatever happens while it is written."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tfmemlint import writing
from tfmemlint.fixing import apply
from tfmemlint.vocabulary import Applicability, Edit, Fix, Span
from tfmemlint.writing import BACKUP, ChangedError, WriteError, replace

BEFORE = b"before\n" * 1000
AFTER = b"and after\n" * 20_000

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="tries what POSIX promises")
as_root = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root may do this"
)

# Loads nothing but the module under test, so that few system calls are not its own.
CHILD = f"""
import importlib.util, os, sys
path = sys.argv[1]
spec = importlib.util.spec_from_file_location("writing", {writing.__file__!r})
writing = sys.modules["writing"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(writing)
BEFORE, AFTER = b"before\\n" * 1000, b"and after\\n" * 20_000
def attempt():
    try:
        writing.replace(path, BEFORE, AFTER)
    except writing.WriteError as error:
        print(type(error).__name__, error)
        sys.stdout.flush()
        os._exit(3)
    os._exit(0)
"""


def child(code: str, *arguments: object, trace: tuple[str, ...] = ()) -> tuple[int, str]:
    """The exit status and output of a process that runs this code after CHILD."""
    command = [*trace, sys.executable, "-S", "-B", "-c", CHILD + code, *map(str, arguments)]
    environment = {"PYTHONHASHSEED": "0", "PATH": os.defpath}
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, timeout=300, check=False
    )
    return done.returncode, done.stdout


def others(file: Path) -> list[Path]:
    """What else is in a file's folder."""
    return [path for path in file.parent.iterdir() if path != file]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_bytes(BEFORE)
    return path


@pytest.fixture
def linked(tmp_path: Path, file: Path) -> Path:
    """The file, with a second hard link in another folder."""
    (tmp_path / "b").mkdir()
    os.link(file, tmp_path / "b" / "b.py")
    return file


@pytest.fixture
def anybody_s() -> Iterator[Path]:
    """A folder that users other than the one who runs the tests can reach."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("encoding", "before"),
    [
        pytest.param("utf-8", b"x = old\r\ny = 1\r\n", id="CRLF"),
        pytest.param("utf-8", b"a\nx = old\r\ny = 1\rz = 2\n", id="mixed line ends"),
        pytest.param("utf-8", b"x = old\ry = 1\r", id="CR alone"),
        pytest.param("utf-8", b"\xef\xbb\xbfx = old\n", id="BOM"),
        pytest.param("latin-1", b"# coding: latin-1\ns = '\xe9\xff'; x = old\n", id="Latin-1"),
        pytest.param("utf-8", b"x = old", id="no final newline"),
        pytest.param("utf-8", b"\x0cx = 1\n\x0c\nx = old\x0c\n", id="form feeds"),
        pytest.param("utf-8", b"x = old\n\n \n\t\n  ", id="blank lines with spaces"),
        pytest.param("utf-8", b"if x:\n\tx = old\t# old\n", id="tabs"),
        pytest.param("utf-8", "s = '\u2028\x85é😀'; x = old\n".encode(), id="beyond ASCII"),
    ],
)
def test_a_fix_changes_no_byte_outside_its_edits(file: Path, encoding: str, before: bytes) -> None:
    file.write_bytes(before)
    text = before.decode(encoding)
    edits = tuple(Edit(Span(*found.span()), "renewed") for found in re.finditer("old", text))
    applied = apply(text, [Fix("Renew", edits, Applicability.SAFE)])
    replace(str(file), before, applied.text.encode(encoding))

    assert before.replace(b"old", b"renewed") == file.read_bytes()


def test_a_relative_path_will_do(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    replace("a.py", BEFORE, AFTER)

    assert file.read_bytes() == AFTER
    assert others(file) == []


@pytest.mark.parametrize("content", [b"", b"x", BEFORE])
def test_a_file_may_become_shorter(file: Path, content: bytes) -> None:
    replace(str(file), BEFORE, content)

    assert file.read_bytes() == content


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o664, 0o4750])
def test_the_mode_is_kept(file: Path, mode: int) -> None:
    file.chmod(mode)
    replace(str(file), BEFORE, AFTER)

    assert (AFTER, mode) == (file.read_bytes(), stat.S_IMODE(file.stat().st_mode))


@as_root
def test_owner_and_group_are_kept(file: Path) -> None:
    os.chown(file, 12345, 12346)
    replace(str(file), BEFORE, AFTER)

    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 12346)


@pytest.mark.skipif(sys.platform != "linux", reason="needs extended attributes")
def test_extended_attributes_are_kept(file: Path) -> None:
    try:
        os.setxattr(file, "user.origin", b"\0here\xff")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    replace(str(file), BEFORE, AFTER)

    assert os.getxattr(file, "user.origin") == b"\0here\xff"
    assert file.read_bytes() == AFTER


def test_through_a_symbolic_link_the_target_changes_and_the_link_stays(
    tmp_path: Path, file: Path
) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    (folder / "near.py").symlink_to("../a.py")
    (folder / "far.py").symlink_to("near.py")
    replace(str(folder / "far.py"), BEFORE, AFTER)

    assert file.read_bytes() == AFTER
    assert (folder / "far.py").readlink() == Path("near.py")
    assert {folder / "far.py", folder / "near.py"} == set(folder.iterdir())
    assert not file.is_symlink()
    assert others(file) == [folder]


@pytest.mark.parametrize("content", [b"", b"x", AFTER])
def test_hard_links_stay_one_file(linked: Path, content: bytes) -> None:
    other = linked.parent / "b" / "b.py"
    linked.chmod(0o640)
    inode = linked.stat().st_ino
    replace(str(linked), BEFORE, content)

    assert content == linked.read_bytes()
    assert content == other.read_bytes()
    assert inode == linked.stat().st_ino == other.stat().st_ino
    assert stat.S_IMODE(linked.stat().st_mode) == 0o640
    assert others(linked) == [other.parent]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("links", ["file", "linked"])
def test_no_file_is_left_open(request: pytest.FixtureRequest, links: str) -> None:
    file: Path = request.getfixturevalue(links)
    opened = len(list(Path("/proc/self/fd").iterdir()))
    replace(str(file), BEFORE, AFTER)

    assert opened == len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("name", ["a" * 252 + ".py", "é" * 126 + ".py"])
def test_the_longest_name_is_not_too_long(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(BEFORE)
    replace(str(file), BEFORE, AFTER)

    assert file.read_bytes() == AFTER
    assert others(file) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs names that are not text")
def test_a_name_that_is_not_text_is_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"\xff\xfe.py")
    file.write_bytes(BEFORE)
    replace(str(file), BEFORE, AFTER)

    assert file.read_bytes() == AFTER


# refusals


@pytest.mark.parametrize("content", [b"", b"theirs", BEFORE + b"x"])
@pytest.mark.parametrize("links", ["file", "linked"])
def test_a_file_that_has_changed_since_it_was_read_is_left_alone(
    request: pytest.FixtureRequest, links: str, content: bytes
) -> None:
    file: Path = request.getfixturevalue(links)
    file.write_bytes(content)
    siblings = others(file)

    with pytest.raises(ChangedError, match=r"a\.py' was not written: it has changed since it was"):
        replace(str(file), BEFORE, AFTER)
    assert content == file.read_bytes()
    assert siblings == others(file)


@pytest.mark.parametrize("links", ["file", "linked"])
def test_a_change_made_while_the_copy_is_written_is_not_lost(
    request: pytest.FixtureRequest, links: str
) -> None:
    file: Path = request.getfixturevalue(links)
    siblings = others(file)
    code = """
fsync = os.fsync
def meddle(descriptor):
    with open(path, "wb") as file:
        file.write(b"theirs")
    fsync(descriptor)
os.fsync = meddle
attempt()
"""
    status, said = child(code, file)

    assert (status, said.split()[0]) == (3, "ChangedError")
    assert file.read_bytes() == b"theirs"
    assert siblings == others(file)


def test_what_is_no_regular_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "broken.py").symlink_to("missing.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    for name in ("folder.py", "pipe.py", "broken.py", "loop.py", "missing.py"):
        with pytest.raises(WriteError, match=f"{re.escape(name)}' was not written: "):
            replace(str(tmp_path / name), b"", b"x")


def test_a_message_shows_no_control_characters(tmp_path: Path) -> None:
    with pytest.raises(WriteError) as caught:
        replace(str(tmp_path / "a\n\x1b[2J\u202e.py"), b"", b"x")

    assert str(caught.value).isprintable()
    assert isinstance(caught.value.__cause__, FileNotFoundError)


# Root may write anything: what is tried here is tried as nobody.
DROP = "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"


@pytest.mark.parametrize("folder_mode", [0o555, 0o777])
def test_a_read_only_file_is_refused(anybody_s: Path, folder_mode: int) -> None:
    file = anybody_s / "a.py"
    file.write_bytes(BEFORE)
    file.chmod(0o444)
    anybody_s.chmod(folder_mode)
    status, said = child(DROP + "attempt()", file)

    assert (status, said) == (3, f"WriteError '{file}' was not written: Permission denied\n")
    assert file.read_bytes() == BEFORE
    assert others(file) == []


def test_in_a_folder_that_takes_no_new_files_the_file_itself_is_overwritten(
    anybody_s: Path,
) -> None:
    file = anybody_s / "in-place.py"
    file.write_bytes(BEFORE)
    file.chmod(0o666)
    anybody_s.chmod(0o555)
    inode = file.stat().st_ino

    assert child(DROP + "attempt()", file) == (0, "")
    assert (file.stat().st_ino, file.read_bytes()) == (inode, AFTER)
    assert others(file) == []
    assert list(Path("/var/tmp").glob(f".in-place.py.*{BACKUP}")) == []


@as_root
def test_a_colleague_s_file_keeps_the_group_it_is_shared_with(anybody_s: Path) -> None:
    file = anybody_s / "a.py"
    file.write_bytes(BEFORE)
    file.chmod(0o666)
    os.chown(file, 0, 12346)
    anybody_s.chmod(0o777)

    assert child(DROP.replace("[]", "[12346]") + "attempt()", file) == (0, "")
    assert file.stat().st_gid == 12346
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (AFTER, 0o666)
    assert others(file) == []


# failing disks


@pytest.mark.parametrize("links", ["file", "linked"])
def test_a_file_that_may_not_grow_stays_as_it_was(
    request: pytest.FixtureRequest, links: str
) -> None:
    file: Path = request.getfixturevalue(links)
    siblings = others(file)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
    status, said = child(limit + "attempt()", file)

    assert (status, said) == (3, f"WriteError '{file}' was not written: File too large\n")
    assert file.read_bytes() == BEFORE
    assert siblings == others(file)


@pytest.mark.parametrize("link", ["", "os.link(path, path + '.link')"])
def test_on_a_full_disk_a_file_stays_as_it_was(tmp_path: Path, link: str) -> None:
    # The mount is this process's own, and goes with it however it ends.
    alone = ("unshare", "--mount", *(("--map-root-user",) if os.geteuid() else ()))
    mounted = ("sh", "-c", 'mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@"', str(tmp_path))
    if not shutil.which("unshare") or subprocess.run([*alone, *mounted, "true"]).returncode:
        pytest.skip("no file system can be mounted here")
    code = f"""
def content():
    with open(path, "rb") as file:
        return file.read()
with open(path, "wb") as file:
    file.write(BEFORE)
{link}
names = os.listdir(os.path.dirname(path))
try:
    writing.replace(path, BEFORE, AFTER)
except writing.WriteError as error:
    print(error)
print(content() == BEFORE, names == os.listdir(os.path.dirname(path)))
writing.replace(path, BEFORE, BEFORE * 2)
print(content() == BEFORE * 2, names == os.listdir(os.path.dirname(path)))
"""
    file = tmp_path / "a.py"
    expected = f"'{file}' was not written: No space left on device\nTrue True\nTrue True\n"

    assert (0, expected) == child(code, file, trace=(*alone, *mounted))
    assert list(tmp_path.iterdir()) == []


FAIL = """
import errno
calls = 0
def failing(function, first, last):
    def call(*arguments):
        global calls
        calls += 1
        if first <= calls <= last:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return function(*arguments)
    return call
"""


def test_a_file_that_can_neither_be_written_nor_restored_has_a_backup(linked: Path) -> None:
    status, said = child(FAIL + "os.write = failing(os.write, 2, 99); attempt()", linked)
    (backup,) = [path for path in others(linked) if path.is_file()]

    assert (status, said) == (
        3,
        f"DamagedError '{linked}' is damaged; what it held is in '{backup}'\n",
    )
    assert backup.read_bytes() == BEFORE
    assert backup.name.endswith(BACKUP)
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


@pytest.mark.parametrize("lasting", [True, False])
def test_a_backup_that_cannot_be_beside_its_file_is_where_it_can(
    anybody_s: Path, lasting: bool
) -> None:
    file = anybody_s / "a.py"
    file.write_bytes(BEFORE)
    file.chmod(0o666)
    spare = anybody_s / "spare"
    spare.mkdir()
    spare.chmod(0o777)
    anybody_s.chmod(0o555)
    code = f"""
import tempfile
tempfile.tempdir = {str(spare)!r}
writing.Path.is_dir = lambda self: {lasting}
os.write = failing(os.write, 2, 99)
"""
    status, said = child(FAIL + code + DROP + "attempt()", file)
    backup = Path(said.split("'")[-2])

    assert (status, said.split()[0]) == (3, "DamagedError")
    assert backup.read_bytes() == BEFORE
    assert backup.parent == (Path("/var/tmp") if lasting else spare)
    backup.unlink()


def test_a_folder_that_cannot_be_synced_is_no_failure_once_the_file_is_in_place(
    file: Path,
) -> None:
    assert child(FAIL + "os.fsync = failing(os.fsync, 2, 99); attempt()", file) == (0, "")
    assert file.read_bytes() == AFTER


@pytest.mark.parametrize(
    ("links", "moment"), [("file", 1), ("linked", 1), ("linked", 2), ("linked", 3)]
)
def test_an_interruption_leaves_the_old_file_and_nothing_else(
    request: pytest.FixtureRequest, links: str, moment: int
) -> None:
    file: Path = request.getfixturevalue(links)
    siblings = others(file)
    code = f"""
calls, fsync = 0, os.fsync
def interrupted(descriptor):
    global calls
    calls += 1
    if calls == {moment}:
        raise KeyboardInterrupt
    fsync(descriptor)
os.fsync = interrupted
try:
    attempt()
except KeyboardInterrupt:
    os._exit(130)
"""

    assert child(code, file) == (130, "")
    assert file.read_bytes() == BEFORE
    assert siblings == others(file)


def test_copies_of_runs_that_were_killed_are_swept_away_if_they_are_surely_ours(
    tmp_path: Path,
) -> None:
    file = tmp_path / "code.py"
    file.write_bytes(b"old")
    left = tmp_path / f".other.py.{'0' * 16}{writing.TEMPORARY}"
    kept = [
        tmp_path / f".young.py.{'1' * 16}{writing.TEMPORARY}",
        tmp_path / f".named.py{writing.TEMPORARY}",
        tmp_path / f".code.py.{'2' * 16}{writing.BACKUP}",
    ]
    for each in (left, *kept):
        each.write_bytes(b"new")
        if each is not kept[0]:
            os.utime(each, (1, 1))

    writing.replace(str(file), b"old", b"new")

    assert sorted(tmp_path.iterdir()) == sorted([file, *kept])


def test_nothing_that_windows_lacks_is_needed(file: Path) -> None:
    code = """
sys.platform = "win32"
for name in ("fchown", "fchmod", "chown", "listxattr", "getxattr", "setxattr", "geteuid"):
    delattr(os, name) if hasattr(os, name) else None
attempt()
"""

    assert child(code, file) == (0, "")
    assert file.read_bytes() == AFTER
    assert others(file) == []


# death at any moment


def check_survivors(file: Path, after: bytes = AFTER) -> str:
    """Which content a killed writer left, having removed its leftovers; fails on any other."""
    content = file.read_bytes()
    left = [path for path in others(file) if path.is_file()]
    for path in left:
        assert path.name.startswith(".a.py.")
        assert path.name.endswith((".tfmemlint-tmp", ".tfmemlint-backup"))
    backups = [path.read_bytes() for path in left if path.name.endswith(BACKUP)]
    whole = {BEFORE: "old", after: "new"}.get(content)
    if whole is None:
        assert file.stat().st_nlink > 1
        assert backups == [BEFORE]
    for path in left:
        path.unlink()
    file.write_bytes(BEFORE)
    return whole or "backed up"


@pytest.mark.parametrize(
    ("links", "expected"),
    [("file", {"old", "new"}), ("linked", {"old", "new", "backed up"})],
)
def test_a_writer_that_dies_at_any_step_leaves_a_whole_file(
    request: pytest.FixtureRequest, links: str, expected: set[str]
) -> None:
    file: Path = request.getfixturevalue(links)
    code = """
last, steps = int(sys.argv[2]), 0
def step():
    global steps
    steps += 1
    return steps == last
def dying(function):
    def call(*arguments):
        if step():
            if function is write:
                write(arguments[0], arguments[1][: len(arguments[1]) // 2])
            os._exit(9)
        return function(*arguments)
    return call
write = os.write
for name in ("write", "fsync", "ftruncate", "fchmod", "fchown", "close", "access"):
    setattr(os, name, dying(getattr(os, name)))
def hook(event, arguments):  # what no patch reaches: renaming, removing, opening
    if event in ("open", "os.rename", "os.remove") and step():
        os._exit(9)
sys.addaudithook(hook)
attempt()
"""
    outcomes: Counter[str] = Counter()
    for last in range(1, 100):
        status, _ = child(code, file, last)
        outcomes[check_survivors(file)] += 1
        if status == 0:
            break
    else:
        pytest.fail("the writer never gets to its end")

    assert expected == set(outcomes)
    assert outcomes.total() > 10


MARKED = "os.access('/marker', 0); attempt()"


@pytest.fixture
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where strace may write; a reason to skip where it may not trace."""
    path = tmp_path_factory.mktemp("strace") / "log"
    if not shutil.which("strace") or subprocess.run(["strace", "-o", path, "true"]).returncode:
        pytest.skip("needs strace")
    return path


def system_calls(file: Path, code: str, log: Path) -> tuple[Counter[str], Counter[str]]:
    """How many system calls of each name this code makes before and after its marker."""
    status, _ = child(code, file, trace=("strace", "-o", str(log)))
    file.write_bytes(BEFORE)
    head, marker, tail = log.read_text(errors="replace").partition('"/marker"')
    assert (status, marker) == (0, '"/marker"')
    names = re.compile(r"^(\w+)\(", re.MULTILINE)
    return Counter(names.findall(head)), Counter(names.findall(tail))


def tampered(file: Path, code: str, name: str, moment: int, how: str) -> tuple[int, str]:
    """What becomes of this code when something happens to one of its system calls."""
    injection = f"inject={name}:{how}:when={moment}"
    return child(
        code, file, trace=("strace", "-o", os.devnull, "-e", f"trace={name}", "-e", injection)
    )


@pytest.mark.parametrize("after", [AFTER, AFTER[:10]], ids=["longer", "shorter"])
@pytest.mark.parametrize("links", ["file", "linked"])
def test_a_writer_killed_at_any_system_call_leaves_a_whole_file(
    request: pytest.FixtureRequest, log: Path, links: str, after: bytes
) -> None:
    file: Path = request.getfixturevalue(links)
    code = f"AFTER = AFTER[:{len(after)}]; {MARKED}"
    earlier, later = system_calls(file, code, log)
    outcomes: Counter[str] = Counter()
    deadline = time.monotonic() + 600
    for name in sorted(set(later) - {"exit_group"}):
        for moment in range(earlier[name] + 1, earlier[name] + later[name] + 9):
            status, _ = tampered(file, code, name, moment, "signal=KILL")
            outcomes[check_survivors(file, after)] += 1
            assert time.monotonic() < deadline
            if status == 0:
                break
        else:
            pytest.fail(f"the writer never gets past {name}")

    assert later["fsync"] == {"file": 2, "linked": 3}[links]  # contents, and folders
    assert outcomes["old"] > 15
    assert outcomes["new"] > len(later)
    assert bool(outcomes["backed up"]) == (links == "linked" and len(after) < len(BEFORE))


@pytest.mark.parametrize("links", ["file", "linked"])
@pytest.mark.parametrize("error", ["EIO", "ENOSPC", "EDQUOT"])
def test_a_system_call_that_fails_leaves_a_whole_file_and_nothing_else(
    request: pytest.FixtureRequest, log: Path, links: str, error: str
) -> None:
    file: Path = request.getfixturevalue(links)
    siblings = others(file)
    earlier, later = system_calls(file, MARKED, log)
    outcomes: Counter[tuple[int, str]] = Counter()
    for name in {"openat", "write", "fsync", "rename", "ftruncate"} & set(later):
        for moment in range(earlier[name] + 1, earlier[name] + later[name] + 1):
            status, said = tampered(file, MARKED, name, moment, f"error={error}")
            assert siblings == others(file)
            assert status == 0 or str(file) in said
            outcomes[status, check_survivors(file)] += 1

    assert set(outcomes) == {(3, "old"), (0, "new")}  # a folder may fail to sync
