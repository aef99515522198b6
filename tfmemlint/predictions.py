"""What the code of the rules' programs says they hold, beside what they were measured to hold.

`python -m tfmemlint.predictions` prints it, and runs none of the programs. With `--write` it puts
what is predicted into each measured.json of a checkout, where the programs are still those that
were measured, and renews the table in docs/sizes.md that is made of these.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tfmemlint.report.figures import amount
from tfmemlint.source import File
from tfmemlint.verify.fingerprints import PROGRAMS, of_same_programs
from tfmemlint.verify.record import put
from tfmemlint.vocabulary import Metric, Rule

CLOSE = 0.15
"""How far a prediction may be off and still be called close."""

DOCUMENT = Path(__file__).parents[1] / "docs" / "sizes.md"
BEGIN, END = "<!-- predictions: begin -->", "<!-- predictions: end -->"

UNTOLD = "The code tells less than was measured:"
"""Begins what a rule's page says of a program that is far from what its code tells."""

_PEAKS = (Metric.DEVICE_PEAK, Metric.HOST_PEAK)
_GROWTHS = (Metric.DEVICE_GROWTH, Metric.HOST_GROWTH)


class Predicted(NamedTuple):
    """What a program is said to hold, or to hold more of with each step."""

    bytes: float
    unknown: int
    """How many things there are of no known size."""

    @property
    def is_whole(self) -> bool:
        """Whether the sizes of all that it holds are known."""
        return self.bytes > 0 and not self.unknown


class Compared(NamedTuple):
    """One program of a rule, predicted and measured."""

    code: str
    which: str
    metric: Metric
    predicted: Predicted
    measured: float

    @property
    def ratio(self) -> float:
        """Predicted to measured."""
        if not self.measured:
            return 0.0 if self.predicted.bytes else 1.0
        return self.predicted.bytes / self.measured

    @property
    def is_told(self) -> bool:
        """Whether the code says all that there is to say, be it that nothing grows."""
        nothing = not self.measured and not self.predicted.bytes
        return self.predicted.is_whole or (nothing and self.metric in _GROWTHS)

    @property
    def is_close(self) -> bool:
        """Whether the two are about the same."""
        return abs(self.ratio - 1) <= CLOSE


def predict(text: str, metric: Metric) -> Predicted | None:
    """What a program holds by its code alone; None for what is not about bytes held."""
    plans = File("program.py", text).tf.plans
    if metric in _GROWTHS:
        grown = plans.growth()
        return Predicted(0 if grown is None else grown.value or 0, 0)
    if metric not in _PEAKS:
        return None
    on_host = metric is Metric.HOST_PEAK
    return Predicted(plans.largest(on_host=on_host).nbytes(on_host=on_host), len(plans.unknown))


def of_programs(folder: Path, metric: Metric) -> dict[str, Predicted]:
    """What the two programs of a rule hold by their code; none of what is not about bytes."""
    found: dict[str, Predicted] = {}
    for which in PROGRAMS:
        try:
            predicted = predict((folder / f"{which}.py").read_text("utf-8"), metric)
        except (OSError, ValueError, SyntaxError):
            continue
        if predicted is not None:
            found[which] = predicted
    return found


def told(folder: Path, metric: Metric, measured: Mapping[str, float]) -> dict[str, int]:
    """What the code says of the programs that were measured, where it says all there is to say."""
    return {
        which: round(predicted.bytes)
        for which, predicted in of_programs(folder, metric).items()
        if Compared("", which, metric, predicted, measured[which]).is_told
    }


def compare(folder: Path, code: str) -> Iterator[Compared]:
    """The two programs of a rule, as far as they were measured, and what their code says now."""
    if taken := _taken(folder):
        metric, programs = taken
        for which, predicted in of_programs(folder, metric).items():
            figure = float(programs[which]["figure"])
            yield Compared(code, which, metric, predicted, figure)


def recorded(folder: Path, code: str) -> Iterator[Compared]:
    """The same as it was recorded: those of which all was told."""
    if taken := _taken(folder):
        metric, programs = taken
        for which in PROGRAMS:
            if (predicted := programs[which].get("predicted")) is not None:
                figure = float(programs[which]["figure"])
                yield Compared(code, which, metric, Predicted(predicted, 0), figure)


def explained(rule: Rule) -> str:
    """Why less is told than was measured, as the rule's page says; empty where it does not."""
    paragraphs = (each.replace("\n", " ") for each in rule.page.split("\n\n"))
    return next((each for each in paragraphs if each.startswith(UNTOLD)), "")


def renew(folder: Path) -> None:
    """Record what the code says, where the programs are still those that were measured."""
    if content := of_same_programs(folder):
        metric = Metric(content["claim"]["metric"])
        programs = content["metrics"][metric.value]
        predicted = told(folder, metric, {each: programs[each]["figure"] for each in PROGRAMS})
        for which in PROGRAMS:
            programs[which].pop("predicted", None)
            if which in predicted:
                programs[which]["predicted"] = predicted[which]
        put(folder, content)


def _taken(folder: Path) -> tuple[Metric, Mapping[str, Any]] | None:
    """What a rule claims something about, and what was measured of it."""
    try:
        figures: Mapping[str, Any] = json.loads((folder / "measured.json").read_text("utf-8"))
        metric = Metric(figures["claim"]["metric"])
        return metric, figures["metrics"][metric.value]
    except (OSError, ValueError, KeyError):
        return None


def table(compared: Iterable[Compared], pages: Collection[str] = ()) -> list[str]:
    """One row a program, and how many are close of those of which all is known.

    `pages` are the rules whose pages say why less is told.
    """
    lines: list[str] = []
    every = list(compared)
    for each in every:
        said = amount(each.metric, each.predicted.bytes)
        seen = amount(each.metric, each.measured)
        if each.is_told:
            verdict = f"{each.ratio:.2f}"
            if not each.is_close and each.code in pages:
                verdict += ", as its page explains"
        else:
            verdict = "sizes unknown" if each.predicted.unknown else "not predicted"
        name = each.metric.value
        lines.append(f"{each.code} {each.which:<6} {name:<13} {said:>16} {seen:>16}  {verdict}")
    whole = [each for each in every if each.is_told]
    close = sum(each.is_close for each in whole)
    told = sum(not each.is_close and each.code in pages for each in whole)
    twice = sum(not 0.5 <= each.ratio <= 2 for each in whole)
    lines.append(
        f"{close} of {len(whole)} programs whose sizes are all known are predicted within "
        f"{CLOSE:.0%}; of the others {told} are explained by the rules' pages, {twice} are more "
        "than two times off"
    )
    return lines


def markdown(compared: Iterable[Compared], pages: Mapping[str, str]) -> str:
    """The same as a table for the documentation, of programs whose sizes are all known."""
    every = list(compared)
    told = [each for each in every if each.is_told]
    lines = [
        "| Rule | Program | What | Predicted | Measured | Ratio |",
        "|---|---|---|---|---|---|",
    ]
    for each in told:
        said, seen = amount(each.metric, each.predicted.bytes), amount(each.metric, each.measured)
        row = (each.code, each.which, each.metric.value, said, seen, f"{each.ratio:.2f}")
        lines.append(f"| {' | '.join(row)} |")
    far = dict.fromkeys(each.code for each in told if not each.is_close)
    why = [f"- {code}. {pages[code]}" for code in far if code in pages]
    return "\n".join([*lines, "", f"{table(every, pages)[-1]}:", "", *why, ""])


def main(argv: Sequence[str]) -> int:
    """Print what is predicted and measured of these rules, or of all."""
    from tfmemlint import registry  # noqa: PLC0415

    rules: Mapping[str, Rule] = registry.load()
    folders = {code: registry.folder(rule) for code, rule in rules.items()}
    pages = {code: why for code, rule in rules.items() if (why := explained(rule))}
    wanted = {code: folders[code] for code in argv if code in folders} or folders
    if "--write" in argv:
        for folder in wanted.values():
            renew(folder)
        write_document(folders, pages)
        return 0
    compared = [each for code, folder in wanted.items() for each in compare(folder, code)]
    print(f"{'rule':<7}{'':<7}{'metric':<13} {'predicted':>17} {'measured':>16}  ratio")
    for line in table(compared, pages):
        print(line)
    return 0


def write_document(folders: Mapping[str, Path], pages: Mapping[str, str]) -> None:
    """Renew the table in the documentation, from the records."""
    compared = [each for code, folder in folders.items() for each in recorded(folder, code)]
    before, _, rest = DOCUMENT.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    text = f"{before}{BEGIN}\n{markdown(compared, pages)}{END}{after}"
    DOCUMENT.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
