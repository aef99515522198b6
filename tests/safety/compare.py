"""Programs before and after their safe fixes: what is fixed, and whether anybody can tell.

`python tests/safety/compare.py FOLDER` compares each program of a folder; a folder in it is a
program of several files, each of which is run.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from forks import Forks, Ran

from tfmemlint import Applicability, registry, screen
from tfmemlint.config import Config, Configs
from tfmemlint.linting import lint
from tfmemlint.run import Checker, run

FAULTS = ("TFM001", "TFM002", "TFM003", "TFM004")


class Compared(NamedTuple):
    """One program, and what its safe fixes did."""

    fixed: Mapping[str, int]
    """How many findings of each rule were fixed; none: there was nothing to compare."""
    problems: tuple[str, ...] = ()
    """What went wrong as it was fixed."""
    before: tuple[Ran, ...] = ()
    after: tuple[Ran, ...] = ()
    text: str = ""
    """What the fixes made of it."""

    @property
    def differs(self) -> bool:
        """Whether the fixes changed what the program does."""
        return self.ended and any(
            not one.like(other) for one, other in zip(self.before, self.after, strict=True)
        )

    @property
    def ended(self) -> bool:
        """Whether it came to an end by itself, before and after: there is time for most."""
        return all(each.code is not None for each in (*self.before, *self.after))


def compare(files: Mapping[str, str], forks: Forks, mains: tuple[str, ...] = ()) -> Compared:
    """Apply the safe fixes to a program, and run it before and after if there were any."""
    with TemporaryDirectory() as folder:
        before, after = Path(folder, "before", "at"), Path(folder, "after", "at")
        for each in (before, after):
            each.mkdir(parents=True)
            for name, text in files.items():
                (each / name).write_bytes(text.encode())
        fixed, problems = fix(after)
        text = "\n".join((after / name).read_bytes().decode() for name in files)
        if not fixed:
            return Compared(fixed, tuple(problems), text=text)
        each_of = mains or tuple(files)
        ran = [tuple(forks.run(each, main) for main in each_of) for each in (before, after)]
        return Compared(fixed, tuple(problems), ran[0], ran[1], text)


def compare_all(texts: Sequence[str], forks: Forks) -> list[Compared]:
    """As `compare`, for programs of one file each, all of them in one fork before and one after.

    What starts to differ so is compared once more, by itself.
    """
    with TemporaryDirectory() as folder:
        sides = [Path(folder, side) for side in ("before", "after")]
        for side in sides:
            for place, text in enumerate(texts):
                there = side / f"program_{place}"
                there.mkdir(parents=True)
                (there / "main.py").write_bytes(text.encode())
        after = [sides[1] / f"program_{place}" for place in range(len(texts))]
        fixed = [fix(each) for each in after]
        made = [(each / "main.py").read_bytes().decode() for each in after]
        before = forks.run_all([sides[0] / each.name for each in after])
        now = forks.run_all(after)
        found = [
            Compared(codes, tuple(problems), (one,), (other,), text)
            for (codes, problems), one, other, text in zip(fixed, before, now, made, strict=True)
        ]
    return [
        each if each.ended and not each.differs else compare({"main.py": text}, forks)
        for each, text in zip(found, texts, strict=True)
    ]


def fix(folder: Path) -> tuple[Counter[str], list[str]]:
    """Apply the safe fixes to the files of a folder: how many of each rule, and what went wrong."""
    paths = sorted(str(each) for each in folder.rglob("*.py"))
    everything = Config(min_bytes=0)
    configs = Configs(lambda _: everything, everything)
    fixed, problems = Counter[str](), list[str]()
    for outcome in run(paths, Checker(configs, fix=True, write=True), 1):
        fixed.update(dict(outcome.fixed))
        problems += [outcome.problem] if outcome.problem else []
        found = outcome.checked.findings
        problems += [each.diagnostic.message for each in found if each.code in FAULTS]
    return fixed, problems


def fixes(text: str) -> bool:
    """Whether any safe fix is offered for a program of one file: quicker than to apply it."""
    words = screen.words(b" ".join(screen.code(text.encode())))
    found = lint("main.py", text, screen.awaited(registry.load().values(), words))
    offered = (each.diagnostic.fix for each in found)
    return any(each is not None and each.applicability is Applicability.SAFE for each in offered)


def programs(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The programs of a folder, each with its files."""
    for each in sorted(folder.iterdir()):
        if each.is_dir():
            yield each.name, {file.name: file.read_text() for file in sorted(each.glob("*.py"))}
        elif each.suffix == ".py":
            yield each.name, {"main.py": each.read_text()}


def main(folder: str) -> int:
    """Compare the programs of a folder; the exit code says whether any differed."""
    differing, same, per_rule = list[str](), 0, Counter[str]()
    with Forks() as forks:
        for name, files in programs(Path(folder)):
            found = compare(files, forks)
            per_rule.update(found.fixed.keys())
            if found.differs:
                differing.append(name)
                print(f"DIFFERS {name} {dict(found.fixed)}")
                for one, other in zip(found.before, found.after, strict=True):
                    if not one.like(other):
                        print(f"   {one.code} {one.printed[-300:]!r} {one.files}")
                        print(f"   {other.code} {other.printed[-300:]!r} {other.files}")
                        print(f"   {other.said[-200:]!r}")
            elif found.fixed:
                same += 1
                print(f"same    {name} {dict(found.fixed)} {found.before[0].code}")
            for problem in found.problems:
                print(f"PROBLEM {name} {problem}")
    print(f"{same} the same, {len(differing)} differ; by rule: {dict(sorted(per_rule.items()))}")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
