"""The command line of `tfmemlint verify`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

from tfmemlint.parser import Parser
from tfmemlint.verify.ranges import FEWEST

_SECONDS, _SECONDS_OF_OWN = 120.0, 3600.0
_RUNS = 3


def parse(argv: list[str]) -> argparse.Namespace:
    """The options in these arguments; ends the program where they make no sense.

    `file` is the user's own program, None where rules are to be tried.
    """
    parser = make_parser()
    ours, dashes, arguments = _split(argv)
    asked = parser.parse_intermixed_args(ours)
    files = [name for name in asked.codes if _is_file(name)]
    asked.file = files[0] if files else None
    asked.arguments = tuple(arguments)
    if files and len(asked.codes) > 1:
        parser.error("one program at a time, and no rules beside it; --select chooses them")
    if files and (asked.scaling or asked.oom or asked.jobs):
        parser.error("--scaling, --oom and --jobs are for the programs of rules")
    if not files and (asked.select is not None or asked.unsafe_fixes is not None or dashes):
        parser.error("--select, --unsafe-fixes and -- are for a program: name its file")
    if asked.self_check and (asked.codes or asked.write or asked.html or asked.svg or dashes):
        parser.error("--self-check tries the meters alone: say nothing but --device and --json")
    if asked.recorded and (files or not (asked.html or asked.svg)):
        parser.error("--recorded is for the rules' figures: say --html or --svg, and no file")
    asked.runs = asked.runs or _RUNS
    if files and asked.runs < FEWEST:
        parser.error(f"--runs: it takes {FEWEST} to know the noise of a program of your own")
    asked.timeout = asked.timeout or (_SECONDS_OF_OWN if files else _SECONDS)
    asked.select = None if asked.select is None else tuple(asked.select)
    return asked


def _split(argv: list[str]) -> tuple[list[str], bool, list[str]]:
    if "--" not in argv:
        return argv, False, []
    end = argv.index("--")
    return argv[:end], True, argv[end + 1 :]


def _is_file(name: str) -> bool:
    """Whether a file is meant, and no code nor name of a rule."""
    return not re.fullmatch(r"[\w-]+", name) or Path(name).is_file()


def make_parser() -> argparse.ArgumentParser:
    """What reads the arguments, and writes the help."""
    parser = Parser(
        prog="tfmemlint verify",
        usage="tfmemlint verify [OPTION ...] [CODE ...]\n"
        "       tfmemlint verify [OPTION ...] FILE.py [-- ARGUMENT ...]\n"
        "       tfmemlint verify --self-check [--device {gpu,cpu}] [--json]",
        description="Runs the two programs of each rule on this machine, the one with the "
        "antipattern and the fixed one, and tells whether the fix saves what the rule claims. "
        "Given a file, runs that program as it is and with its fixes, and tells what they save: "
        "in this directory and with your environment, as Python itself would run it, but on one "
        "processor, with all seeds set, and for each peak by itself; what it says of devices and "
        "of threads is passed over. Both are run in turns, until their runs lie apart by more "
        "than runs of the same program do, or are seen not to. It is left as it is.",
        epilog="Exit codes: 0 every claim holds, or the fixes save memory, or there is nothing to "
        "fix; 1 not so, or a program failed; 2 nothing could be measured.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "codes",
        nargs="*",
        metavar="CODE",
        help="rules to try, by code or name [default: all]; or one file",
    )
    add(
        "--json",
        action="store_true",
        help="print everything measured as JSON; of rules, a line each",
    )
    add("--runs", type=_positive(int), metavar="N", help="runs of each program [3; own: 3 to 6]")
    add(
        "--jobs",
        type=_positive(int),
        metavar="N",
        help="pairs to run at a time, but those whose claim is about time [one more than there are "
        "processors, up to 4; on a GPU: 1]",
    )
    add(
        "--device",
        choices=("auto", "gpu", "cpu"),
        default="auto",
        help="where the programs run (auto: on the GPU if TensorFlow sees one)",
    )
    add(
        "--timeout",
        type=_positive(float),
        metavar="SECONDS",
        help="end a program that runs longer [120; own: 3600]",
    )
    add(
        "--write",
        action="store_true",
        help="record device and host peak, what is claimed, what the code says of that, and what "
        "--scaling and --oom measure in fixtures/CODE/measured.json; what those two have measured "
        "of the same programs is kept; put the fixes into FILE.py, if they save memory",
    )
    add(
        "--scaling",
        action="store_true",
        help="measure with half and twice the data, too, where a line is marked `# scales`",
    )
    add(
        "--oom",
        action="store_true",
        help="look for a device so small that the program runs out of memory, and the fixed one "
        "does not",
    )
    add("--html", metavar="FILE", help="write a page to look at, with the memory over time")
    add("--svg", metavar="FILE", help="write the plot of what is saved, and nothing else")
    add(
        "--recorded",
        action="store_true",
        help="measure nothing: have --html and --svg show what each measured.json says",
    )
    add(
        "--self-check",
        action="store_true",
        help="try the meters themselves: known allocations, and what is found of them on this "
        "machine; to be pasted into a report",
    )
    group = parser.add_argument_group("a program of your own")
    group.add_argument(
        "--select",
        type=_codes,
        action="extend",
        metavar="RULE,...",
        help="the rules whose fixes to apply",
    )
    group.add_argument(
        "--unsafe-fixes",
        action="store_true",
        default=None,
        help="apply fixes after which results may differ, too",
    )
    return parser


def _codes(text: str) -> list[str]:
    return [part for each in text.split(",") if (part := each.strip())]


def _positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    def number(text: str) -> float:
        value = kind(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text} is not a number above zero")
        return value

    return number
