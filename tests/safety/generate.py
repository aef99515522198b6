"""Generated programs before and after their safe fixes, as many as are asked for.

`python tests/safety/generate.py 3000 --least 60` compares until so many programs had a safe fix,
each rule at least 60 of them; a program that behaves differently is written down where it differs.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

from compare import Compared, compare, compare_all, fixes
from forks import Forks
from programs import MAKERS, Program, program

TOGETHER = 32
"""Programs that share a fork: most of the time goes into setting up TensorFlow in one."""
SPOILS = ("tf.cast =", "set_floatx", "run_functions_eagerly", "enable_debug_mode", "set_seed")
"""What programs leave set, so that others after them would not be themselves."""


def main(argv: list[str]) -> int:
    """Compare generated programs; the exit code says whether any differed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", type=int, help="programs with a safe fix")
    parser.add_argument("--least", type=int, default=0, help="of each rule")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rule", action="append", help="of these rules alone")
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--out", type=Path, default=Path("differing"))
    options = parser.parse_args(argv)
    chosen, codes = random.Random(options.seed), options.rule or sorted(MAKERS)
    fixed, made, ran = Counter[str](), Counter[str](), Counter[str]()
    differing, seen, end = 0, set[str](), time.monotonic() + 60 * options.minutes
    with Forks() as forks:
        while compared(ran) < options.number or _fewest(fixed, codes) < options.least:
            if time.monotonic() > end:
                break
            several: list[Program] = []
            while len(several) < TOGETHER:
                code = _wanted(chosen, codes, fixed, options)
                one = program(lambda given: chosen.choice(list(given)), code)
                made[code] += 1
                if one.text not in seen and fixes(one.text):
                    seen.add(one.text)
                    several.append(one)
            alone = [each for each in several if spoils(each.text)]
            together = [each for each in several if each not in alone]
            found = [compare({"main.py": each.text}, forks) for each in alone]
            found += compare_all([each.text for each in together], forks)
            for one, what in zip([*alone, *together], found, strict=True):
                if not what.fixed or not what.ended:
                    ran["took too long" if what.fixed else "not fixed"] += 1
                    continue
                fixed.update(set(what.fixed))
                ran["ended well" if what.before[0].code == 0 else "failed"] += 1
                if what.differs or what.problems:
                    differing += 1
                    _keep(options.out, one, what)
            print(compared(ran), differing, dict(sorted(fixed.items())), flush=True)
    number = compared(ran)
    print(f"{number} had a safe fix, {differing} differ, of {made.total()} made; {dict(ran)}")
    print({each: (fixed[each], made[each]) for each in codes})
    return bool(differing)


def compared(ran: Counter[str]) -> int:
    """How many programs had a safe fix and came to an end, before and after it."""
    return ran["ended well"] + ran["failed"]


def spoils(text: str) -> bool:
    """Whether a program leaves something set that others in its process would see."""
    return any(word in text for word in SPOILS)


def _fewest(fixed: Counter[str], codes: list[str]) -> int:
    return min(fixed[each] for each in codes)


def _wanted(
    chosen: random.Random, codes: list[str], fixed: Counter[str], options: argparse.Namespace
) -> str:
    """A rule of which there are too few, or any; one in four is any, so that none holds all up."""
    few = [each for each in codes if fixed[each] < options.least]
    return chosen.choice(few if few and chosen.random() < 0.75 else codes)


def _keep(folder: Path, one: Program, found: Compared) -> None:
    """Write down a program that differs, with what it became and what both printed."""
    folder.mkdir(exist_ok=True)
    name = f"{'_'.join(sorted(found.fixed))}_{abs(hash(one.text)) % 10**8}"
    print("DIFFERS", name, found.problems, flush=True)
    (folder / f"{name}.py").write_text(one.text)
    (folder / f"{name}.fixed").write_text(found.text)
    said = [str(each) for each in (*found.before, *found.after)]
    (folder / f"{name}.txt").write_text("\n\n".join([*said, *found.problems]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
