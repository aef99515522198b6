"""`tfmemlint clean`: removes what runs that were cut short have left behind."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence

from tfmemlint.parser import Parser
from tfmemlint.report.escape import show
from tfmemlint.writing import BACKUP, STALE, TEMPORARY

CACHE = ".tfmemlint_cache"


def main(argv: Sequence[str]) -> int:
    """Clean up below the folders named; the exit code."""
    status = 0
    for folder in make_parser().parse_args(argv).paths or [os.curdir]:
        for entry in _left_behind(folder):
            try:
                if entry.name.endswith(BACKUP):
                    print(f"kept {show(entry.path)}: it may be all that is left of a file")
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry)
                else:
                    os.unlink(entry)  # noqa: PTH108
                print(f"removed {show(entry.path)}")
            except OSError as error:
                print(f"error: {show(entry.path)}: {error.strerror}", file=sys.stderr)
                status = 2
    return status


def make_parser() -> argparse.ArgumentParser:
    """What reads the arguments, and writes the help."""
    parser = Parser(
        "tfmemlint clean", description="Remove caches, and what interrupted runs have left behind."
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="folders to clean [default: .]")
    return parser


def _left_behind(start: str) -> Iterator[os.DirEntry[str]]:
    """Caches, backups, and copies that nobody is at work on any more; links are not followed."""
    pending = [start]
    while pending:
        with os.scandir(pending.pop()) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name == CACHE:
                    yield entry
                else:
                    pending.append(entry.path)
            elif entry.name.endswith(BACKUP) or (
                entry.name.endswith(TEMPORARY)
                and time.time() - entry.stat(follow_symlinks=False).st_mtime > STALE
            ):
                yield entry
