"""Tells whether a record is of the very programs that stand beside it."""

from __future__ import annotations

import hashlib
import io
import json
import tokenize
from pathlib import Path
from typing import Any

from tfmemlint.verify.marks import STEP
from tfmemlint.verify.scaling import MARK as SCALES

PROGRAMS = ("bad", "fixed")


def fingerprint(text: str) -> str:
    """The same for all texts that are run, marked and measured alike: comments do not count.

    Raises SyntaxError and `tokenize.TokenError`.
    """
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            said = {part.strip() for part in token.string.split("#")}
            marks = "".join(f"  # {word}" for word in (SCALES, STEP) if word in said)
            lines[row - 1] = lines[row - 1][:column].rstrip() + marks
    code = "\n".join(line.rstrip() for line in lines if line.strip())
    return hashlib.sha256(code.encode()).hexdigest()


def fingerprints(folder: Path) -> dict[str, str]:
    """Those of the programs in a rule's folder, as far as they can be read."""
    found: dict[str, str] = {}
    for which in PROGRAMS:
        try:
            found[which] = fingerprint((folder / f"{which}.py").read_text("utf-8"))
        except (OSError, ValueError, SyntaxError, tokenize.TokenError):
            continue
    return found


def of_same_programs(folder: Path) -> dict[str, Any]:
    """What `measured.json` says, if the programs beside it are those that were measured."""
    try:
        content: Any = json.loads((folder / "measured.json").read_text("utf-8"))
        return content if content["programs"] == fingerprints(folder) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
