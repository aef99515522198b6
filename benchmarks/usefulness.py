"""How often rules speak on public code, and what their findings are worth to a reviewer.

`python benchmarks/usefulness.py draw FOLDER > drawn.jsonl` checks FOLDER, where each repository is
a folder `OWNER+NAME`, and draws findings at random, as many of each rule. A person reads them and
gives each a `verdict` and a `reason`: "worth" it, of "little" effect, "useless" or "wrong".
`python benchmarks/usefulness.py record drawn.jsonl` writes what came of it beside each rule's
programs, as public.json, from where the rule's page has it. `--kept DIR` keeps what is found, for
another draw.

What is drawn starts with a line of what was looked at: how many repositories, and how often each
rule spoke, in how many of them.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from tfmemlint import registry

CHECK = (
    *(sys.executable, "-m", "tfmemlint", "check", "--no-cache", "--exit-zero"),
    *("--output-format", "json", "."),
)
FIXTURES = Path(__file__).parents[1] / "fixtures"
VERDICTS = ("worth", "little", "useless", "wrong")
FROM_ONE = 2
"""How many findings of a rule come from one repository at most: people repeat themselves."""


def found_in(repository: Path, kept: Path | None) -> list[dict[str, Any]]:
    """What is found in a repository, or was before."""
    file = kept / f"{repository.name}.json" if kept else None
    if file and file.exists():
        known: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
        return known
    done = subprocess.run(CHECK, cwd=repository, capture_output=True, check=True)
    if file:
        file.write_bytes(done.stdout)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def drawn(found: Iterable[Mapping[str, Any]], most: int, chance: random.Random) -> Iterator[Any]:
    """Some of the findings of a rule, from as many repositories as there are."""
    mixed = list(found)
    chance.shuffle(mixed)
    taken: Counter[str] = Counter()
    for each in mixed:
        if sum(taken.values()) < most and taken[each["repository"]] < FROM_ONE:
            taken[each["repository"]] += 1
            yield each


def draw(folder: Path, most: int, seed: int, kept: Path | None) -> None:
    """Print what was looked at, and some findings of each rule."""
    repositories = sorted(each for each in folder.iterdir() if each.is_dir())
    of_rules: dict[str, list[dict[str, Any]]] = {code: [] for code in registry.load()}
    for repository in repositories:
        for each in found_in(repository, kept):
            if each["code"] in of_rules:
                place = {"repository": repository.name, "path": each["filename"]}
                where = {"cell": each["cell"], "line": each["location"]["row"]}
                of_rules[each["code"]].append({**place, **where, "message": each["message"]})
    spoke = {
        code: [len(found), len({each["repository"] for each in found})]
        for code, found in of_rules.items()
    }
    day = f"{datetime.now(timezone.utc).date():%Y-%m-%d}"
    print(json.dumps({"repositories": len(repositories), "date": day, "spoke": spoke}))
    for code, found in of_rules.items():
        for each in drawn(found, most, random.Random(f"{seed} {code}")):
            print(json.dumps({"code": code, **each, "verdict": "", "reason": ""}))


def record(path: Path, fixtures: Path) -> None:
    """Write what was read beside the rules' programs."""
    first, *read = map(json.loads, path.read_text("utf-8").splitlines())
    for code, (findings, spoke_in) in first["spoke"].items():
        verdicts = Counter(each["verdict"] for each in read if each["code"] == code)
        if unknown := set(verdicts) - {*VERDICTS, ""}:
            sys.exit(f"{path}: no verdict of {code} is called {', '.join(sorted(unknown))}")
        figures = {
            "rule": code,
            "date": first["date"],
            "repositories": first["repositories"],
            "findings": findings,
            "in_repositories": spoke_in,
            "read": {verdict: verdicts[verdict] for verdict in VERDICTS},
        }
        place = fixtures / code / "public.json"
        kept = json.loads(place.read_text("utf-8")).get("kept") if place.exists() else None
        if kept and not findings:
            figures["kept"] = kept  # why there is a rule that never speaks: somebody's own words
        place.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Draw, or record what was read."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", help="check, and print some findings of each rule")
    drawing.add_argument("folder", type=Path, metavar="FOLDER")
    drawing.add_argument("--most", type=int, default=8, help="findings of each rule (default: 8)")
    drawing.add_argument("--seed", type=int, default=0, help="what to draw by (default: 0)")
    drawing.add_argument("--kept", type=Path, metavar="DIR", help="where to keep what is found")
    recording = commands.add_parser("record", help="write what was read beside the programs")
    recording.add_argument("read", type=Path, metavar="FILE")
    recording.add_argument("--fixtures", type=Path, default=FIXTURES, help="the rules' programs")
    options = parser.parse_args()
    if options.command == "draw":
        draw(options.folder, options.most, options.seed, options.kept)
    else:
        record(options.read, options.fixtures)


if __name__ == "__main__":
    main()
