"""`tfmemlint plan`: reads a program, runs nothing, and says what it holds at its largest step."""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tfmemlint import registry
from tfmemlint.config import ConfigError, plugins_here
from tfmemlint.decoding import UndecodableError, decode
from tfmemlint.facts.sizes.moments import Item, Moment
from tfmemlint.linting import lint
from tfmemlint.options import assumptions, bytes_of
from tfmemlint.parser import Parser
from tfmemlint.refusing import refuse
from tfmemlint.report.escape import show, show_path
from tfmemlint.source import File
from tfmemlint.units import size
from tfmemlint.vocabulary import Finding

FITS, TOO_LARGE = 0, 1
"""The exit codes: it fits, or no device was named; it does not."""

LONGEST = 60


class Saving(NamedTuple):
    """A finding, and what mending it is known to save."""

    row: int
    finding: Finding
    bytes: int


class Plan(NamedTuple):
    """What a program holds on the device at its largest step, and what could be spared."""

    moment: Moment
    unknown: tuple[Item, ...]
    savings: tuple[Saving, ...]

    @property
    def on_device(self) -> int:
        """The bytes that are known."""
        return int(self.moment.nbytes(on_host=False))

    @property
    def on_host(self) -> int:
        """The bytes of NumPy's arrays beside them."""
        return int(self.moment.nbytes(on_host=True)) - self.on_device

    def spared(self, device: int) -> list[Saving] | None:
        """The findings to mend for it to fit, the largest first; None if all do not suffice."""
        left, taken = self.on_device - device, list[Saving]()
        for each in self.savings:
            if left <= 0:
                break
            taken.append(each)
            left -= each.bytes
        return taken if left <= 0 else None


def main(argv: Sequence[str]) -> int:
    """Plan the program that these arguments name."""
    asked = make_parser().parse_args(argv)
    try:
        device = None if asked.device is None else bytes_of(asked.device)
        assumed = dict(assumptions(asked.assume))
        made = plan(Path(asked.script), assumed)
    except (ValueError, TypeError, ConfigError, registry.BadRules) as error:
        return refuse(str(error))
    except OSError as error:
        return refuse(f"{asked.script}: {error.strerror}")
    except (SyntaxError, UndecodableError) as error:
        return refuse(f"{asked.script}: {error}")
    if asked.json:
        print(json.dumps(_record(made, device), indent=2))
    else:
        for line in _lines(asked.script, made, device):
            print(line)
    return FITS if device is None or made.on_device <= device else TOO_LARGE


def plan(path: Path, assumed: Mapping[str, float]) -> Plan:
    """What a program holds; raises OSError, SyntaxError and UndecodableError."""
    text = decode(path.read_bytes()).text
    file = File(str(path), text, assumed=assumed)
    plans, rules = file.tf.plans, registry.load(plugins_here())
    savings: list[Saving] = []
    for finding in lint(str(path), text, rules.values(), assumed=assumed):
        cost = finding.diagnostic.cost
        if cost is not None and cost.bytes is not None and cost.fixed_bytes is not None:
            row, _ = file.lines.position(finding.diagnostic.span.start)
            savings.append(Saving(row, finding, cost.bytes - cost.fixed_bytes))
    savings.sort(key=lambda each: -each.bytes)
    return Plan(plans.largest(), tuple(plans.unknown), tuple(savings))


def _lines(path: str, made: Plan, device: int | None) -> list[str]:
    known = [each for each in made.moment.items if each.amount.value]
    known.sort(key=lambda each: (each.on_host, -(each.amount.value or 0)))
    lines = [f"{show_path(path)} holds at its largest step, as far as its code tells:", ""]
    for each in known:
        side = " (host)" if each.on_host else ""
        total, text = size(each.amount.value or 0), each.amount.text
        formula = "" if text == total or len(text) > LONGEST else f" = {text}"
        what = f"{each.part.value}: {each.what}{side}"
        lines.append(f"  {total:>8}  line {_row(each):<5} {show(what)}{show(formula)}")
    if known:
        lines += [""]
        lines += [f"  {size(made.on_device):>8}  on the device, {size(made.on_host)} on the host"]
    else:
        lines += ["  nothing of TensorFlow's or NumPy's that is of known size"]
    if made.unknown:
        lines += ["", "Of unknown size, and not in the sum:"]
        lines += [
            f"  line {_row(each):<5} {each.part.value}: {show(each.what)}" for each in made.unknown
        ]
    if device is not None:
        lines += ["", *_verdict(made, device)]
    return lines


def _verdict(made: Plan, device: int) -> list[str]:
    left = device - made.on_device
    if left >= 0:
        more = ", without what is of unknown size" if made.unknown else ""
        return [f"It fits into {size(device)}, with {size(left)} to spare{more}."]
    lines = [f"It does not fit into {size(device)}: {size(-left)} too much."]
    spared = made.spared(device)
    if spared is None and made.savings:
        lines.append("It would not if all findings were mended, of which these save most:")
    elif spared:
        lines.append("It does once these findings are mended:")
    for each in spared or made.savings[:3]:
        message = show(each.finding.diagnostic.message)
        lines.append(f"  line {each.row}: {each.finding.code} saves {size(each.bytes)}: {message}")
    return lines


def _record(made: Plan, device: int | None) -> dict[str, Any]:
    return {
        "device_bytes": made.on_device,
        "host_bytes": made.on_host,
        "fits": None if device is None else made.on_device <= device,
        "items": [
            {
                "bytes": int(each.amount.value or 0),
                "formula": each.amount.text,
                "line": _row(each),
                "on_host": each.on_host,
                "part": each.part.value,
                "what": each.what,
            }
            for each in made.moment.items
            if each.amount.value
        ],
        "savings": [
            {"bytes": each.bytes, "code": each.finding.code, "line": each.row}
            for each in made.savings
        ],
        "unknown": [
            {"line": _row(each), "part": each.part.value, "what": each.what}
            for each in made.unknown
        ],
    }


def _row(item: Item) -> int:
    """The line of the method's name where it is one of a chain of calls."""
    if isinstance(item.node, ast.Call) and isinstance(item.node.func, ast.Attribute):
        return item.node.func.end_lineno or 0
    return int(getattr(item.node, "lineno", 0))


def make_parser() -> argparse.ArgumentParser:
    """What reads the arguments, and writes the help."""
    parser = Parser(
        prog="tfmemlint plan",
        description="Reads a program, runs nothing, and says what it holds at its largest step: "
        "data, weights, gradients, an optimiser's slots, activations, the buffers of pipelines. "
        "For programs in one file whose shapes can be read from the code; what cannot be told is "
        "listed as such.",
        epilog="Exit codes: 0 it fits, or no device is named; 1 it does not fit; 2 it could not "
        "be read.",
        allow_abbrev=False,
    )
    parser.add_argument("script", metavar="SCRIPT", help="the program")
    parser.add_argument("--device", metavar="SIZE", help="what the device has, as 8GiB")
    parser.add_argument(
        "--assume",
        action="append",
        default=[],
        metavar="NAME=NUMBER,...",
        help='numbers that the code does not tell, as in "len(paths)=50000"',
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    return parser
