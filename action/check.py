"""What the GitHub Action does: annotations, a summary of the job, and a report for code scanning.

It runs `tfmemlint check` with what the environment says; whatever stands there is an argument, and
never a piece of a shell's command.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROWS = 30
"""Rules that a summary lists."""
COLOUR = '%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#2f7dd1"}}}}%%'
"""Of bars: one that is seen on a light page and on a dark one; that of Mermaid is not."""


def main() -> int:
    """Check, and report in the ways that GitHub knows; the exit code of the check."""
    given = os.environ.get
    arguments = shlex.split(given("TFMEMLINT_ARGUMENTS", ""))
    if given("TFMEMLINT_SINCE"):
        arguments.append(f"--since={given('TFMEMLINT_SINCE')}")
    paths = shlex.split(given("TFMEMLINT_PATHS", "")) or ["."]
    done = check([*arguments, "--output-format=github", "--", *paths])
    counted = check(
        [*arguments, "--statistics", "--output-format=json", "--exit-zero", "--", *paths],
        stdout=subprocess.PIPE,
    )
    table = json.loads(counted.stdout) if counted.returncode == 0 else []
    if given("TFMEMLINT_SARIF"):
        report = f"--output-file={given('TFMEMLINT_SARIF')}"
        check([*arguments, report, "--output-format=sarif", "--exit-zero", "--", *paths])
    number = sum(row["count"] for row in table)
    write("GITHUB_OUTPUT", f"findings={number}\n")
    write("GITHUB_STEP_SUMMARY", summary(table, number, failed=done.returncode > 1))
    return done.returncode


def check(arguments: list[str], stdout: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run `tfmemlint check`."""
    command = [sys.executable, "-m", "tfmemlint", "check", *arguments]
    return subprocess.run(command, stdout=stdout, text=True, check=False)


def summary(table: list[dict[str, object]], number: int, *, failed: bool) -> str:
    """What was found, by rule, in Markdown."""
    lines = ["## tfmemlint", ""]
    if failed:
        lines += ["Something could not be checked; the log says what.", ""]
    if not table:
        return "\n".join([*lines, *([] if failed else ["Nothing was found."])]) + "\n"
    lines += [
        f"{number} {'finding' if number == 1 else 'findings'}, by rule:",
        "",
        "| Rule | | Findings | Fixable | Known to hold | Its fix was measured to save |",
        "|---|---|--:|--:|--:|---|",
    ]
    for row in table[:ROWS]:
        held = row["cost_bytes"]
        lines.append(
            f"| {row['code']} | `{row['name']}` | {row['count']} | {row['fixable_count']} |"
            f" {f'{held / (1 << 20):,.0f} MB' if isinstance(held, int) else ''} |"
            f" {row['measured'] or ''} |"
        )
    return "\n".join([*lines, *plot(table[:ROWS])]) + "\n"


def plot(table: list[dict[str, object]]) -> list[str]:
    """What is known to be held, by rule, as a chart that GitHub draws."""
    held = {row["code"]: row["cost_bytes"] for row in table if row["cost_bytes"]}
    known = {code: size / (1 << 20) for code, size in held.items() if isinstance(size, int)}
    if not known:
        return []
    dearest = sorted(known.items(), key=lambda each: -each[1])
    return [
        "",
        "```mermaid",
        COLOUR,
        "xychart-beta horizontal",
        '    title "Known to hold, in MB"',
        f"    x-axis [{', '.join(str(code) for code, _ in dearest)}]",
        f"    y-axis 0 --> {max(dearest[0][1], 1):.1f}",
        f"    bar [{', '.join(f'{size:.1f}' for _, size in dearest)}]",
        "```",
    ]


def write(variable: str, text: str) -> None:
    """Add to a file that GitHub names."""
    if os.environ.get(variable):
        with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main())
