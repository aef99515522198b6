"""How right tfmemlint is on code that people have read: precision and recall, per rule and pattern.

`python benchmarks/accuracy.py DIR LABELS` checks DIR, compares what is found with LABELS, and says
what has changed since the last recorded run; `--record` records this one in accuracy.json, beside
this file, under the name of LABELS, with how many findings that usefulness.py has drawn there were
worth it, given `--read` and the file of what was read. `--misses` lists what was overlooked and
what was flagged wrongly. `--page FILE` writes what is recorded as a page, the worst rules first:
docs/accuracy.md.

Below DIR each repository is a folder `OWNER+NAME`. LABELS is JSON Lines, one place each: `repo`
(`OWNER/NAME`), `path` within it, `line` and `end_line` (for a notebook `cell`, counted from 0 among
all cells, and `cell_line`, counted from 1 within it), `pattern`, `verdict` and `reason`. A verdict
is "bad" (a reviewer would want the finding), "ok" (must stay silent) or "debatable", which counts
neither way. A label of the pattern `*` is a whole file where any finding is wrong. The pattern is a
code, a rule's name, or one of PATTERNS. A finding hits the labels of its rule's patterns that hold
its line; where there are none, those within two lines of it. Each repository is checked from its
own folder, as people do, so that the modules of its first folder are found.

decided.jsonl, beside this file, says of which labels this project thinks otherwise, and why: a
label by `repo`, `path`, `line` (and `cell`, `cell_line`) and `pattern`, and what `kind` it is of.
"decided" is what the rules are silent about on purpose, "mistaken" what is not as the label says:
both count as debatable. "elsewhere" is right, and the rule speaks of it in another place, `said`,
for which the label counts then. How many labels are of each kind is printed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from tfmemlint import registry

RECORDED = Path(__file__).with_suffix(".json")
DECIDED = Path(__file__).with_name("decided.jsonl")
TFMEMLINT = (sys.executable, "-m", "tfmemlint", "check", "--isolated", "--no-cache", "--exit-zero")
# A notebook may have a flattened twin for people to read: X.ipynb.py, with the same code.
FORMAT = ("--extend-exclude", "*.ipynb.py", "--output-format", "json")

PATTERNS = {
    "big-from-tensor-slices": ("TFM211",),
    "cache-after-decode": ("TFM204",),
    "cast-before-buffer": ("TFM212",),
    "custom-gradient-pin": ("TFM112",),
    "dataset-in-function": ("TFM106",),
    "dataset-rebuilt": ("TFM217",),
    "discarded-transform": ("TFM224",),
    "double-batch": ("TFM226",),
    "generator-loads-all": ("TFM219",),
    "list-append-tf-function": ("TFM104", "TFM113"),
    "list-dataset": ("TFM214",),
    "map-parallelism": ("TFM210",),
    "missing-batch": ("TFM222", "TFM227"),
    "model-in-loop": ("TFM301",),
    "numpy-constant-in-graph": ("TFM105",),
    "oversized-prefetch": ("TFM207",),
    "persistent-tape": ("TFM402",),
    "prefetch-not-last": ("TFM208",),
    "py-function-tape": ("TFM218",),
    "python-iterator-in-graph": ("TFM107",),
    "retained-tensor": ("TFM104", "TFM401"),
    "retracing": ("TFM101", "TFM102", "TFM103"),
    "run-eagerly": ("TFM111",),
    "shuffle-after-decode": ("TFM201",),
    "shuffle-full-buffer": ("TFM203",),
    "stack-dataset-loop": ("TFM604",),
    "tf-function-unroll": ("TFM108",),
    "whole-array-step": ("TFM306",),
}
"""What people call a waste that has another name as a rule, and the rules that speak of it."""

VERDICTS = {
    "worth": "worth a reviewer's time",
    "little": "right but of little effect",
    "useless": "right but useless",
    "wrong": "wrong",
}
"""What a reader may think of a finding, as usefulness.py has it, and in words."""
KINDS = ("decided", "mistaken", "elsewhere")
SLACK = 2
"""By how many lines a finding may miss a label: people point at a loop, a rule at what is in it."""


class Label(NamedTuple):
    """One place, and what a person thinks of it."""

    path: str
    cell: int | None
    """Counted from 1, as in findings."""
    first: int
    last: int
    pattern: str
    verdict: str
    reason: str


class Decision(NamedTuple):
    """What this project thinks of one label."""

    kind: str
    """As in decided.jsonl."""
    said: tuple[int | None, int] | None
    """The cell and line where the rule speaks of what is labelled, if elsewhere."""


Place = tuple[str, "int | None", int, str]
"""The path, cell, first line and pattern of a label."""


class Finding(NamedTuple):
    """One place, and the rule that speaks there."""

    code: str
    path: str
    cell: int | None
    line: int


class Count(NamedTuple):
    """How often a rule, or all rules on a pattern, were right."""

    right: int = 0
    wrong: int = 0
    debatable: int = 0
    unlabelled: int = 0
    """Findings, for a rule; for a pattern the labelled places that were hit."""
    found: int = 0
    missed: int = 0
    """Places labelled bad."""

    def precision(self) -> float | None:
        """The share that is right, of what is known to be right or wrong."""
        return share(self.right, self.wrong)

    def recall(self) -> float | None:
        """The share that was found, of what should be."""
        return share(self.found, self.missed)


class Comparison(NamedTuple):
    """What was found, and what should have been."""

    hits: Mapping[Finding, Sequence[Label]]
    """Which labels each finding hits."""
    labels: Sequence[Label]
    patterns: Mapping[str, frozenset[str]]
    """What each rule speaks of."""

    def hit(self) -> frozenset[Label]:
        """The labels that some finding hits."""
        return frozenset(label for labels in self.hits.values() for label in labels)

    def of(self, findings: Iterable[Finding], patterns: Container[str]) -> Count:
        """How right some findings are, and how many of the places of some patterns were found."""
        verdicts = [verdict_of(self.hits[each]) for each in findings]
        hit = self.hit()
        bad = [each in hit for each in self.labels if is_bad(each) and each.pattern in patterns]
        right, wrong, debatable, unlabelled = map(verdicts.count, ("bad", "ok", "debatable", None))
        return Count(right, wrong, debatable, unlabelled, bad.count(True), bad.count(False))

    def rules(self) -> dict[str, Count]:
        """Each rule that has spoken, or should have.

        What another rule of the same pattern finds is not missed.
        """
        counts = {
            code: self.of((each for each in self.hits if each.code == code), patterns)
            for code, patterns in sorted(self.patterns.items())
        }
        return {code: count for code, count in counts.items() if any(count)}

    def labelled(self) -> dict[str, Count]:
        """Each pattern that has labels and a rule."""
        hit = self.hit()
        counts: dict[str, Count] = {}
        for pattern in sorted({each.pattern for each in self.labels} & self.covered()):
            verdicts = [each.verdict for each in hit if each.pattern == pattern]
            places = self.of((), {pattern})
            right, wrong, debatable = map(verdicts.count, ("bad", "ok", "debatable"))
            counts[pattern] = places._replace(right=right, wrong=wrong, debatable=debatable)
        return counts

    def covered(self) -> frozenset[str]:
        """The patterns that there are rules for."""
        return frozenset().union(*self.patterns.values())

    def all(self) -> Count:
        """All findings, and all places that there are rules for."""
        return self.of(self.hits, self.covered())


def share(part: int, rest: int) -> float | None:
    """A part of the whole, if there is a whole."""
    return part / (part + rest) if part + rest else None


def read_labels(path: Path) -> list[Label]:
    """The labels of a file."""
    labels: list[Label] = []
    for raw in _rows(path):
        where, cell, first, pattern = _place(raw)
        last = first + raw.get("end_line", raw["line"]) - raw["line"]
        labels.append(
            Label(where, cell, first, last, pattern, raw["verdict"], raw.get("reason", ""))
        )
    return labels


def read_decisions(path: Path) -> dict[Place, Decision]:
    """What this project thinks of some labels."""
    found: dict[Place, Decision] = {}
    for raw in _rows(path):
        said = raw.get("said")
        where = _cell_and_line(said) if said is not None else None
        assert raw["why"]
        assert raw["kind"] in KINDS
        assert (raw["kind"] == "elsewhere") == (said is not None)
        found[_place(raw)] = Decision(raw["kind"], where)
    return found


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def _place(raw: Mapping[str, Any]) -> Place:
    path = f"{raw['repo'].replace('/', '+', 1)}/{raw['path']}"
    return path, *_cell_and_line(raw), raw["pattern"]


def _cell_and_line(raw: Mapping[str, Any]) -> tuple[int | None, int]:
    cell: int | None = raw.get("cell")
    return (None, raw["line"]) if cell is None else (cell + 1, raw["cell_line"])


def decided(
    labels: Iterable[Label], decisions: Mapping[Place, Decision]
) -> tuple[list[Label], dict[str, int]]:
    """The labels as this project counts them, and of how many it thinks what."""
    found: list[Label] = []
    counts: dict[str, int] = dict.fromkeys(KINDS, 0)
    for label in labels:
        decision = decisions.get((label.path, label.cell, label.first, label.pattern))
        if decision is None:
            found.append(label)
            continue
        counts[decision.kind] += 1
        if decision.said is None:
            found.append(label._replace(verdict="debatable"))
        else:
            cell, line = decision.said
            found.append(label._replace(cell=cell, first=line, last=line))
    return found, counts


def find(folder: Path) -> list[Finding]:
    """What tfmemlint finds in each repository of a folder."""
    projects = sorted(each for each in folder.iterdir() if each.is_dir())
    return [found for each in projects for found in _found_in(each)]


def _found_in(project: Path) -> Iterator[Finding]:
    command = (*TFMEMLINT, *FORMAT, ".")
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=project)
    for each in json.loads(done.stdout):
        inside = (project.resolve() / each["filename"]).resolve().relative_to(project.resolve())
        path = f"{project.name}/{inside.as_posix()}"
        yield Finding(each["code"], path, each["cell"], each["location"]["row"])


def hit(finding: Finding, names: Iterable[str], labels: Sequence[Label]) -> list[Label]:
    """The labels of a file that a finding hits."""

    def within(slack: int) -> list[Label]:
        return [
            each
            for each in labels
            if each.pattern == "*"
            or (
                each.pattern in names
                and each.cell == finding.cell
                and each.first - slack <= finding.line <= each.last + slack
            )
        ]

    return within(0) or within(SLACK)


def verdict_of(labels: Iterable[Label]) -> str | None:
    """What people think of a finding that hits some labels: right for one of them is right."""
    verdicts = {each.verdict for each in labels}
    return next((each for each in ("bad", "ok", "debatable") if each in verdicts), None)


def is_bad(label: Label) -> bool:
    """Whether there should be a finding."""
    return label.verdict == "bad"


def compare(findings: Iterable[Finding], labels: Sequence[Label]) -> Comparison:
    """What was found, beside what should have been."""
    patterns = {
        code: frozenset(
            (code, rule.name, *(name for name, codes in PATTERNS.items() if code in codes))
        )
        for code, rule in registry.load().items()
    }
    by_path: dict[str, list[Label]] = {}
    for label in labels:
        by_path.setdefault(label.path, []).append(label)
    hits = {
        each: hit(each, patterns[each.code], by_path.get(each.path, ()))
        for each in findings
        if each.code in patterns
    }
    return Comparison(hits, labels, patterns)


def number(value: float | None) -> str:
    """A share, or nothing where there is none."""
    return "-" if value is None else f"{value:.2f}"


def change(now: float | None, before: float | None) -> str:
    """By how much a share has changed."""
    if now is None or before is None:
        return ""
    difference = round(now - before, 2)
    return f"{difference:+.2f}" if difference else ""


def table(heading: str, rows: Mapping[str, Count], before: Mapping[str, Count]) -> None:
    """Print counts, and how their shares have changed."""
    columns = ("right", "wrong", "debatable", "unlabelled", "found", "missed")
    print(f"{heading:26}", *columns, " precision         recall")
    for name, count in rows.items():
        known = before.get(name, Count())
        counts = (f"{value:{len(column)}}" for column, value in zip(columns, count, strict=True))
        precision = (
            f"{number(count.precision()):>10} {change(count.precision(), known.precision()):5}"
        )
        recall = f"{number(count.recall()):>8} {change(count.recall(), known.recall()):5}"
        print(f"{name:26}", *counts, precision, recall.rstrip())
    print()


def place(path: str, cell: int | None, line: int) -> str:
    """Where something is, for people."""
    return f"{path}:{'' if cell is None else f'cell {cell}:'}{line}"


def differences(comparison: Comparison) -> Iterator[str]:
    """What is not as labelled."""
    hit, covered = comparison.hit(), comparison.covered()
    for label in comparison.labels:
        if is_bad(label) and label.pattern in covered and label not in hit:
            where = place(label.path, label.cell, label.first)
            yield f"missed {where} [{label.pattern}] {label.reason}"
    for finding, labels in comparison.hits.items():
        if verdict_of(labels) == "ok":
            where = place(finding.path, finding.cell, finding.line)
            yield f"wrong {where} [{finding.code}] {labels[0].reason}"


HEADING = """# How right the rules are

Measured on public TensorFlow code that people have read and labelled: each label is one place, and
says whether a reviewer would want the finding ("bad"), whether it must stay silent ("ok"), or
whether one may think either way, which counts neither way. The code is not part of this project;
`python benchmarks/accuracy.py DIR LABELS` compares, and CONTRIBUTING.md says when.

**Precision** is the share of the labelled findings that were right, **recall** the share of the
places labelled "bad" that were found; "-" where nothing is labelled. Findings without a label are
counted, and say nothing of either. Of most rules there are few labels, so that one more or less
moves the figure by much. The worst recall comes first.

A label that disagrees with what the rules are silent about on purpose, such as the losses of one
epoch that are dropped at its end, or prefetching arrays that are in memory, counts as debatable,
and so does one that is mistaken: without that, recall would be lower. Each of them, and why, stands
in `benchmarks/decided.jsonl`, which has {decided} of them now; a run prints how many it met.

Labels called "unseen" stand in repositories that nobody who works on the rules had read, and were
written by somebody else before the tool was run on them. They are recorded once, before anything
was learned from them, and numbered as they came; what one showed is mended before the next. Of code
of your own, expect what they say, rather than the others.
"""


def page(recorded: Mapping[str, Mapping[str, Any]]) -> str:
    """What was recorded, of each file of labels, for people."""
    parts = [HEADING.replace("{decided}", str(len(read_decisions(DECIDED))))]
    for labels, run in recorded.items():
        known = {name: Count(*each) for name, each in run["counts"].items()}
        whole = known.pop("all", Count())
        right = f"precision {number(whole.precision())}, recall {number(whole.recall())}"
        parts += [
            f"\n## {Path(labels).stem}, {run['date']}\n",
            f"All rules together: {right}; {whole.right} findings right, {whole.wrong} wrong, "
            f"{whole.debatable} debatable, {whole.unlabelled} without a label; "
            f"{whole.found} places found, {whole.missed} overlooked.{_said_of(run)}\n",
            "| Rule or pattern | Precision | Recall | Right | Wrong | Debatable | No label | Found "
            "| Overlooked |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        order = sorted(known, key=lambda name: (_or_last(known[name].recall()), name))
        for name in order:
            count = known[name]
            shares = f"{number(count.precision())} | {number(count.recall())}"
            parts.append(f"| {name} | {shares} | {' | '.join(map(str, count))} |")
    return "\n".join(parts) + "\n"


def _said_of(run: Mapping[str, Any]) -> str:
    """What a reader thought of findings drawn at random, if any did."""
    read: Mapping[str, int] = run.get("read", {})
    if not read:
        return ""
    verdicts = ", ".join(f"{read[each]} {words}" for each, words in VERDICTS.items())
    return f" Of {sum(read.values())} findings drawn at random: {verdicts}."


def _or_last(value: float | None) -> float:
    return 2.0 if value is None else value


def main() -> None:
    """Check, compare, print, and record what is to be recorded."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("labels", type=Path, metavar="LABELS")
    parser.add_argument("--misses", action="store_true", help="list what is not as labelled")
    parser.add_argument("--record", action="store_true", help="compare later runs with this one")
    parser.add_argument("--page", type=Path, help="write what is recorded as a page")
    parser.add_argument("--read", type=Path, help="verdicts on what was drawn, to be recorded, too")
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="the file of recorded runs")
    parser.add_argument("--decided", type=Path, default=DECIDED, help="the file of decisions")
    options = parser.parse_args()

    labels, kinds = decided(read_labels(options.labels), read_decisions(options.decided))
    comparison = compare(find(options.folder), labels)
    recorded: dict[str, dict[str, Any]] = {}
    if options.recorded.exists():
        recorded = json.loads(options.recorded.read_text(encoding="utf-8"))
    last = recorded.get(options.labels.name, {"counts": {}})
    before = {name: Count(*each) for name, each in last["counts"].items()}
    rules, patterns, everything = comparison.rules(), comparison.labelled(), comparison.all()
    table("rule", rules, before)
    table("pattern", patterns, before)
    table("", {"all": everything}, before)
    labelled = {each.pattern for each in comparison.labels}
    if others := sorted(labelled - comparison.covered() - {"*"}):
        print(f"left out, as there is no rule of them: {', '.join(others)}")
    if any(kinds.values()):
        print(
            f"labels that count as debatable: {kinds['decided']} are decided otherwise, "
            f"{kinds['mistaken']} mistaken; "
            f"{kinds['elsewhere']} count where the rule speaks of them"
        )
    if options.misses:
        print(*differences(comparison), sep="\n")
    if options.record:
        counts = {**rules, **patterns, "all": everything}
        recorded[options.labels.name] = {
            "date": f"{datetime.now(timezone.utc).date():%Y-%m-%d}",
            "counts": {name: list(count) for name, count in counts.items()},
        }
        if options.read:
            read = Counter(row["verdict"] for row in _rows(options.read) if "verdict" in row)
            recorded[options.labels.name]["read"] = {each: read[each] for each in VERDICTS}
        lines = json.dumps(recorded, sort_keys=True).replace("], ", "],\n").replace("{", "{\n")
        options.recorded.write_text(lines + "\n", encoding="utf-8")
    if options.page:
        options.page.write_text(page(recorded), encoding="utf-8")


if __name__ == "__main__":
    main()
