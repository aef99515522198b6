"""The only module that writes a user's file: the old content or the new, whole, whatever happens.

A file is replaced by renaming a finished, synced copy over it. Where a rename would not do (another
hard link, a folder that takes no new file), it is overwritten, with a synced backup at hand.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

TEMPORARY = ".tfmemlint-tmp"
"""Ends the name of a copy in the making: worth nothing once its writer is gone."""
BACKUP = ".tfmemlint-backup"
"""Ends the name of what a file held before it was overwritten: never to be swept away unread."""

STALE = 60.0
"""Seconds after which nobody can still be at work on a copy."""
_COPY = r"\..*\.[0-9a-f]{16}" + re.escape(TEMPORARY)
_LONGEST_NAME = 255  # bytes, on every file system in common use
_BINARY = getattr(os, "O_BINARY", 0)
# Forbidden, a mount point, or open in another program: the file itself may still be writable.
_CANNOT_RENAME = (errno.EACCES, errno.EPERM, errno.EBUSY)


class WriteError(Exception):
    """A file could not be written; the message names it and says what became of it."""


class ChangedError(WriteError):
    """A file is no longer what was read; it was left as it is."""


class DamagedError(WriteError):
    """A file could neither be overwritten nor restored; the message names the backup."""


class _Job(NamedTuple):
    path: str
    """As the user wrote it, for messages."""
    target: Path
    """The file itself, links followed."""
    status: os.stat_result
    before: bytes
    after: bytes


def replace(path: str, before: bytes, after: bytes) -> None:
    """Make `after` the content of a file that was read as `before`; raises WriteError."""
    try:
        target = Path(path).resolve(strict=True)
        job = _Job(path, target, target.stat(), before, after)
        if not stat.S_ISREG(job.status.st_mode):
            raise WriteError(f"{path!r} was not written: it is not a regular file")
        if not os.access(target, os.W_OK):  # a rename would not ask
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if job.status.st_nlink > 1:
            _overwrite(job)
        else:
            _rename_over(job)
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, before Python 3.13
        reason = getattr(error, "strerror", None) or error
        raise WriteError(f"{path!r} was not written: {reason}") from error


def _rename_over(job: _Job) -> None:
    try:
        copy = _spare(job.target.parent, job.target.name, TEMPORARY, job.after, like=job)
        try:
            _refuse_changed(job)
            copy.replace(job.target)
        except BaseException:
            _remove(copy)
            raise
    except OSError as error:
        if error.errno not in _CANNOT_RENAME:
            raise
        _overwrite(job)
    else:
        _sync_folder(job.target.parent)
        _sweep(job.target.parent)


def _overwrite(job: _Job) -> None:
    file = os.open(job.target, os.O_WRONLY | _BINARY)
    try:
        backup = _backup(job)
        try:
            _sync_folder(backup.parent)
            _refuse_changed(job)
            _fill_or_restore(file, job, backup)
        except DamagedError:
            raise
        except BaseException:
            _remove(backup)
            raise
        _remove(backup)
    finally:
        os.close(file)


def _fill_or_restore(file: int, job: _Job, backup: Path) -> None:
    try:
        _fill(file, job.after)
    except BaseException as failure:
        try:
            _fill(file, job.before)
        except BaseException:  # noqa: BLE001  not even a second Ctrl-C may cost the backup
            raise DamagedError(
                f"{job.path!r} is damaged; what it held is in {str(backup)!r}"
            ) from failure
        raise


def _fill(file: int, content: bytes) -> None:
    os.lseek(file, 0, os.SEEK_SET)
    _write(file, content)
    os.ftruncate(file, len(content))
    os.fsync(file)


def _backup(job: _Job) -> Path:
    """The old content, safe on disk: beside the file where the folder takes it."""
    try:
        return _spare(job.target.parent, job.target.name, BACKUP, job.before)
    except PermissionError:
        folder = Path("/var/tmp")  # unlike most temporary folders it outlives a power failure
        if not folder.is_dir():
            from tempfile import gettempdir  # noqa: PLC0415

            folder = Path(gettempdir())
        return _spare(folder, job.target.name, BACKUP, job.before)


def _spare(folder: Path, name: str, suffix: str, content: bytes, like: _Job | None = None) -> Path:
    """A new hidden file, safe on disk; nobody else's to read unless it is like another."""
    ending = f".{os.urandom(8).hex()}{suffix}"
    while len(os.fsencode(f".{name}{ending}")) > _LONGEST_NAME:
        name = name[:-1]
    path = folder / f".{name}{ending}"
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
    try:
        try:
            _write(file, content)
            if like:
                _copy_attributes(like, file)
            os.fsync(file)
        finally:
            os.close(file)
    except BaseException:
        _remove(path)
        raise
    return path


def _write(file: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]


def _copy_attributes(job: _Job, file: int) -> None:
    """The mode, and owner and extended attributes as far as the system lets us."""
    if sys.platform != "win32":
        owner, group = job.status.st_uid, job.status.st_gid
        try:
            os.fchown(file, owner, group)
        except OSError:
            with suppress(OSError):
                os.fchown(file, -1, group)
        os.fchmod(file, stat.S_IMODE(job.status.st_mode))
    if sys.platform == "linux":
        with suppress(OSError):  # not every file system has them
            for name in os.listxattr(job.target):
                with suppress(OSError):
                    os.setxattr(file, name, os.getxattr(job.target, name))


def _refuse_changed(job: _Job) -> None:
    if job.target.read_bytes() != job.before:
        raise ChangedError(f"{job.path!r} was not written: it has changed since it was read")


@cache
def _sweep(folder: Path) -> None:
    """Remove the copies that runs which were killed have left in a folder: once, while we run."""
    with suppress(OSError), os.scandir(folder) as scan:
        for entry in [each for each in scan if re.fullmatch(_COPY, each.name)]:
            status = entry.stat(follow_symlinks=False)
            ours = sys.platform == "win32" or status.st_uid == os.geteuid()
            if ours and stat.S_ISREG(status.st_mode) and time.time() - status.st_mtime > STALE:
                _remove(Path(entry.path))


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _sync_folder(folder: Path) -> None:
    """Make a new name last; where that cannot be done the content is in place all the same."""
    if sys.platform != "win32":
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
