"""What is known from earlier runs: which files were found clean, by content and settings.

A run remembers clean files only; those with findings are checked again. Nothing is taken from a
cache that somebody else has made: another user, or another machine through a checkout.
"""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH102, PTH105, PTH108, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from stat import S_ISDIR, S_ISREG
from zlib import crc32

from tfmemlint import __version__
from tfmemlint.light_typing import NamedTuple

FOLDER = ".tfmemlint_cache"

_MOST = 200_000
"""Files that are remembered."""
_YOUNG = 2_000_000_000
"""Nanoseconds in which a file may change again without looking any younger."""


class Seen(NamedTuple):
    """A file as it was when it was read."""

    place: str
    """When it was last modified and changed, and which file it is: an edit can keep the first, and
    a copy the first two. Empty where its content alone may tell whether it is the same."""
    size: int
    digest: str


class Known(NamedTuple):
    """A file that was found clean."""

    seen: Seen
    around: str = ""
    """Stands for the other files that decided that it is clean."""
    uses: bool = False
    """Whether it has to do with TensorFlow."""


_Entries = dict[str, tuple[str, Known]]
"""Settings and what was found with them, by path."""


class Cache:
    """The files that earlier runs in one folder found clean, with the same settings each."""

    def __init__(self, path: str, entries: _Entries, start: str) -> None:
        self._path = path
        self._entries = entries
        self._start = start
        self._changed = False

    def known(self, path: str, settings: str) -> Known | None:
        """A file that was found clean with these settings and has not changed since."""
        before, found = self._entries.get(path, (None, None))
        if found is None or before != settings:
            return None
        seen = found.seen
        try:
            status = os.stat(path)
            if not S_ISREG(status.st_mode) or status.st_size != seen.size:
                return None
            if seen.place and seen.place == _place(status):
                return found
            with open(path, "rb") as file:
                now = look(status, file.read())
        except OSError:
            return None
        if now.digest != seen.digest:
            return None
        if now.place:
            found = found._replace(seen=now)
            self.remember(path, settings, found)
        return found

    def remember(self, path: str, settings: str, found: Known) -> None:
        """A file was found clean."""
        if "\n" not in path + settings and self._entries.get(path) != (settings, found):
            self._entries[path] = settings, found
            self._changed = True

    def forget(self, path: str) -> None:
        """A file was not found clean."""
        self._changed |= self._entries.pop(path, None) is not None

    def save(self) -> None:
        """Write what is remembered, whole or not at all; another run's file may be replaced."""
        if not self._changed or not _ours(os.path.dirname(self._path)):
            return
        kept = list(self._entries.items())[-_MOST:]
        settings = {each: number for number, each in enumerate({each: 0 for _, (each, _) in kept})}
        lines = [f"{each}\n" for each in settings]
        lines += (
            f"{seen.place or '-'} {seen.size} {seen.digest} {settings[each]} "
            f"{around or '-'} {uses:d} {path}\n"
            for path, (each, (seen, around, uses)) in kept
        )
        body = "".join(lines).encode("utf-8", "surrogateescape")
        head = f"{self._start}\n{crc32(body)} {len(settings)}\n".encode("utf-8", "surrogateescape")
        copy = f"{self._path}.{os.getpid()}"
        with suppress(OSError):
            try:
                with open(copy, "xb") as file:
                    file.write(head + body)
                os.replace(copy, self._path)
            except OSError:
                os.unlink(copy)
                raise


def opened(root: str, options: str, folder: str | None = None) -> Cache | None:
    """The cache in a folder; None where there can be none. `options` hold for all files.

    `folder` is where it is wanted instead.
    """
    folder = folder or os.path.join(root, FOLDER)
    if not _ours(folder) and not _made(folder):
        return None
    status = os.lstat(folder)
    version = ".".join(map(str, sys.version_info[:3]))
    # A cache that was copied is in another folder, as the file system has it.
    where = f"{status.st_dev}-{status.st_ino}"
    start = f"{__version__} {version} {where} {_build()} {options}".replace("\n", " ")
    path = os.path.join(folder, f"{crc32(os.fsencode(version + options)):08x}")
    return Cache(path, _read(path, start), start)


def look(status: os.stat_result, data: bytes) -> Seen:
    """What a file was like as it was read; the status is from before."""
    from hashlib import blake2b  # noqa: PLC0415

    old = 0 < max(status.st_mtime_ns, status.st_ctime_ns) < time.time_ns() - _YOUNG
    digest = blake2b(data, digest_size=16).hexdigest()
    return Seen(_place(status) if old else "", len(data), digest)


def _place(status: os.stat_result) -> str:
    return f"{status.st_mtime_ns}/{status.st_ctime_ns}/{status.st_ino}"


def _read(path: str, start: str) -> _Entries:
    """The entries of a cache file; none if it is not exactly as it was written."""
    try:
        status = os.lstat(path)
        if not S_ISREG(status.st_mode):
            return {}
        with open(path, "rb") as file:
            head, counts, body = file.read().split(b"\n", 2)
        check, number = map(int, counts.split())
        if head != start.encode("utf-8", "surrogateescape") or check != crc32(body):
            return {}
        lines = body.decode("utf-8", "surrogateescape").split("\n")
        settings = lines[:number]
        entries: _Entries = {}
        for line in lines[number:-1]:
            place, size, digest, each, around, uses, name = line.split(" ", 6)
            seen = Seen("" if place == "-" else place, int(size), digest)
            found = Known(seen, "" if around == "-" else around, uses == "1")
            entries[name] = settings[int(each)], found
    except (OSError, ValueError, IndexError):
        return {}
    return entries


def _made(folder: str) -> bool:
    try:
        os.mkdir(folder, 0o700)
        for name, text in (
            (".gitignore", "*\n"),
            ("CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"),
        ):
            with open(os.path.join(folder, name), "x", encoding="utf-8") as file:
                file.write(text)
    except OSError:
        return False
    return True


def _ours(folder: str) -> bool:
    """Whether this is a folder, no link to one, and of this user's own."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    owned = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return S_ISDIR(status.st_mode) and owned and not status.st_mode & 0o022


def _build() -> str:
    """Says which engine and rules these are: a checkout changes without its version changing."""
    import importlib.util  # noqa: PLC0415

    found: list[str] = []
    rules = importlib.util.find_spec("tfmemlint_rules")
    folders = [os.path.dirname(__file__), *((rules and rules.submodule_search_locations) or ())]
    for folder in folders:
        found.append(folder)
        with os.scandir(folder) as scan:
            for entry in sorted(scan, key=lambda each: each.name):
                if entry.is_dir() and entry.name != "__pycache__":
                    folders.append(entry.path)
                elif entry.name.endswith(".py"):
                    status = entry.stat()
                    found.append(f"{entry.name} {status.st_size} {status.st_mtime_ns}")
    return f"{crc32(repr(found).encode('utf-8', 'surrogateescape')):08x}"
