"""What the programs in this folder were measured to hold: `python record.py` notes it, in minutes.

Each is run by `tfmemlint measure`; what counts is the most that was asked for on the device.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RECORD = HERE / "recorded.json"


def programs() -> list[Path]:
    """The programs, by name."""
    return sorted(HERE.glob("programs/*.py"))


def measured(program: Path) -> int:
    """The bytes that a program holds on the device at its largest."""
    command = [sys.executable, "-m", "tfmemlint", "measure", "--json", str(program)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, cwd=HERE)
    found: dict[str, Any] = json.loads(ended.stdout)
    return int(found["peak"]["requested"])


def main(wanted: Sequence[str]) -> None:
    """Write down what is."""
    known: dict[str, int] = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    for program in programs():
        if not wanted or program.stem in wanted:
            known[program.stem] = measured(program)
    RECORD.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
