"""What is written about rules, made from their modules, their programs and their measurements.

`python -m tfmemlint.pages` renews what is made from them in a checkout: rules/README.md, the
pictures rules/savings.svg and rules/savings-dark.svg, and the table in README.md.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfmemlint import registry
from tfmemlint.refusing import refuse
from tfmemlint.report import links
from tfmemlint.report.escape import show
from tfmemlint.report.figures import figure, measured
from tfmemlint.report.items import ENGINE, UNUSED_SUPPRESSION
from tfmemlint.report.prose import section, summary
from tfmemlint.slips import nearest
from tfmemlint.units import size
from tfmemlint.vocabulary import Metric, Rule

if TYPE_CHECKING:
    import argparse

    from tfmemlint.plots import Group

BEGIN, END = "<!-- rules: begin -->", "<!-- rules: end -->"

_GROUPS = {
    Metric.DEVICE_PEAK: "memory at its peak",
    Metric.HOST_PEAK: "memory at its peak",
    Metric.DEVICE_GROWTH: "growth, a step",
    Metric.HOST_GROWTH: "growth, a step",
    Metric.TRACES: "traces and graphs",
    Metric.GRAPH_BYTES: "traces and graphs",
    Metric.STEP_TIME: "time, a step",
}
"""What is wrong, in the words of tables and pictures."""

_FIXES = {"Safe": "safe", "Unsafe": "unsafe"}
_FIX_SENTENCES = {
    "safe": "It has a safe fix, which `--fix` applies.",
    "unsafe": "It has an unsafe fix, which `--fix --unsafe-fixes` applies.",
    "none": "It has no fix.",
}
_SUPPRESSIONS = """\

A comment says which finding is meant to stay, and why:

    dataset = dataset.shuffle(4096)  # tfmemlint: ignore[TFM202] batches must stay whole

On a line of its own it is for the line below. `# tfmemlint: ignore-file[TFM202]` is for the whole
file, `# tfmemlint: disable[TFM202]` for all up to `# tfmemlint: enable[TFM202]`. Rules may be named
by their codes or by their names.

`# noqa: TFM202` does as well: with whole codes, not with names, nor with the beginnings of codes.
But ruff's RUF100 deletes it, unless `lint.external = ["TFM"]` in ruff's settings says that these
codes are somebody's.
"""
# What a program says to those who lint and measure it, and not to its readers.
_MARK = re.compile(r"[ \t]*# (?:want [A-Z]+\d.*|scales|step)[ \t]*$", re.MULTILINE)


def rule_page(rule: Rule, folder: Path) -> str:
    """All about one rule, in Markdown."""
    opening, _, sections = rule.page.strip().partition("\n\n")
    parts = (
        f"# {rule.code} {rule.name}",
        opening,
        _FIX_SENTENCES[fix_safety(rule)],
        sections,
        _example(folder),
        _measured_section(rule, folder, _figures(folder)),
        _public_section(_json(folder / "public.json")),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def phrase(folder: Path) -> str | None:
    """What a fix was measured to save, in a few words; None where that is not known."""
    return measured(_figures(folder)) or None


def phrases(rules: Iterable[Rule]) -> dict[str, str]:
    """What the fixes of these rules were measured to save, by code, where that is known."""
    known = {rule.code: phrase(registry.folder(rule)) for rule in rules}
    return {code: words for code, words in known.items() if words}


def index(rules: Mapping[str, Rule]) -> str:
    """The content of rules/README.md."""
    return (
        "# The rules\n\n"
        "Written by `python -m tfmemlint.pages` from the rules' own pages and measurements.\n"
        "`tfmemlint rule CODE` tells all about one of them.\n\n"
        f"{_table(rules, '##')}\n"
    )


def documents(path: Path, rules: Mapping[str, Rule]) -> str:
    """What was found of each piece of advice in some documents, right or wrong; if there are any.

    A figure of an entry's own comes before those of the rules that it names.
    """
    if not path.exists():
        return ""
    known = phrases(rules.values())
    parts = [
        "\n# What five documents advise\n\nEach piece of advice in five articles about TensorFlow's"
        " memory, what was measured of it,\nand the rule that speaks of it, or why none does."
        " [The myths](../docs/myths.md) have more.\n"
    ]
    for document in json.loads(path.read_text("utf-8"))["documents"]:
        rows = (
            f"| {each['where']} | {each['says']} | {each['verdict']} | "
            f"{each['figure'] or '; '.join(known[code] for code in each['rules'] if code in known)}"
            f" | {', '.join(each['rules'])} | {each['why']} |\n"
            for each in document["advice"]
        )
        parts.append(
            f"\n## {document['id']}: {document['about']}\n\n"
            "| Where | It says | Which is | Measured | Rules | Why |\n|---|---|---|---|---|---|\n"
            + "".join(rows)
            + "\n| Its programs | Found | As it stands, and with all fixes |\n|---|---|---|\n"
            + "".join(_programs(document))
        )
    return "".join(parts)


def _programs(document: Mapping[str, Any]) -> Iterator[str]:
    """A row for each program: what is found in it, and what was measured, or why nothing was."""
    for number, told in document["ran"].items():
        if not isinstance(told, str):
            told = "; ".join(
                f"{name} {size(before)} -> {size(after)}" for name, (before, after) in told.items()
            )
        codes = dict.fromkeys(document["programs"][number])
        yield f"| {number} | {', '.join(codes) or 'nothing'} | {told} |\n"


def readme_table(rules: Mapping[str, Rule]) -> str:
    """The block of README.md between its two marks."""
    return f"{BEGIN}\n{_table(rules, '###')}\n{END}"


def fix_safety(rule: Rule) -> str:
    """`safe`, `unsafe` or `none`: the word with which the page explains its fix."""
    first, *_ = re.findall(r"\w+", section(rule.page, "Fix safety")) or [""]
    return _FIXES.get(first, "none")


def main(argv: Sequence[str], plugins: Iterable[str] = ()) -> int:
    """`tfmemlint rule`: print what is known about a rule, or about all of them."""
    parser = make_parser()
    asked = parser.parse_args(argv)
    if (asked.rule is None) != asked.all:
        parser.error("name one rule, or say --all")
    try:
        rules = registry.load(plugins)
    except registry.BadRules as error:
        return refuse(str(error))
    names = {code: name for code, (name, _) in ENGINE.items()}
    names |= {code: rule.name for code, rule in rules.items()}
    codes = list(names) if asked.all else _named(asked.rule, names)
    if not codes:
        return refuse(_unknown(asked.rule, names))
    if asked.output_format == "text":
        sys.stdout.write("\n".join(_text(code, rules) for code in codes))
        return 0
    records = [_record(code, rules) for code in codes]
    sys.stdout.write(json.dumps(records if asked.all else records[0], indent=2) + "\n")
    return 0


def make_parser() -> argparse.ArgumentParser:
    """What reads the arguments, and writes the help."""
    from tfmemlint.parser import Parser  # noqa: PLC0415  a report that names a saving needs none

    parser = Parser("tfmemlint rule", description="Explain a rule.")
    parser.add_argument("rule", nargs="?", metavar="RULE", help="a code or a name")
    parser.add_argument("--all", action="store_true", help="explain all rules")
    parser.add_argument(
        "--output-format", choices=("text", "json"), default="text", help="how to write it"
    )
    return parser


def generate(argv: Sequence[str]) -> int:
    """`python -m tfmemlint.pages`: write what is generated in a checkout, or say what is stale."""
    import argparse  # noqa: PLC0415

    parser = argparse.ArgumentParser("python -m tfmemlint.pages", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if stale")
    parser.add_argument("checkout", nargs="?", type=Path, default=Path())
    asked = parser.parse_args(argv)
    try:
        stale = _stale(asked.checkout, registry.load())
    except (registry.BadRules, OSError, ValueError) as error:
        return refuse(str(error))
    for path, text in stale.items():
        print(f"{path} is stale" if asked.check else f"{path} written")
        if not asked.check:
            path.write_text(text, encoding="utf-8", newline="\n")
    return int(asked.check and bool(stale))


def _stale(checkout: Path, rules: Mapping[str, Rule]) -> dict[Path, str]:
    """The files that do not say what they should, with what they should say."""
    readme = checkout / "README.md"
    text = readme.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{readme} has no lines {BEGIN} and {END}")
    wanted = {
        checkout / "rules" / "README.md": index(rules)
        + documents(checkout / "rules" / "advice.json", rules),
        readme: before + readme_table(rules) + after,
    }
    stale = {
        path: text
        for path, text in wanted.items()
        if not path.exists() or path.read_text("utf-8") != text
    }
    return stale | _stale_pictures(checkout / "rules", rules)


def _stale_pictures(folder: Path, rules: Mapping[str, Rule]) -> dict[Path, str]:
    """The pictures of what is no longer so; drawn, as versions of matplotlib draw differently."""
    from tfmemlint import plots  # noqa: PLC0415  who only asks for a page waits less

    title, about, groups = _savings(rules)
    stale: dict[Path, str] = {}
    for theme, name in ((plots.Theme.LIGHT, "savings.svg"), (plots.Theme.DARK, "savings-dark.svg")):
        digest = _digest(repr((title, about, groups, theme)), Path(plots.__file__).parent)
        mark, path = f"<!-- drawn from {digest} -->\n", folder / name
        if not (path.exists() and path.read_text("utf-8").endswith(mark)):
            if not plots.available():
                raise ValueError(f"{path} is stale, and {plots.MISSING}")
            stale[path] = plots.columns(title, about, groups, theme) + mark
    return stale


def _savings(rules: Mapping[str, Rule]) -> tuple[str, str, list[Group]]:
    """What the picture of all rules shows: a title, a line about it, and columns in groups."""
    from tfmemlint.plots import Bar, Group  # noqa: PLC0415
    from tfmemlint.verify.page import bars, origin  # noqa: PLC0415
    from tfmemlint.verify.pictures import recorded  # noqa: PLC0415

    entries = [recorded(rule, registry.folder(rule)) for rule in rules.values()]
    columns: dict[str, list[Bar]] = {name: [] for name in dict.fromkeys(_GROUPS.values())}
    for metric, bar in bars(entries):
        columns[_GROUPS[Metric(metric)]].append(bar)
    groups = [
        Group(name, sorted(found, key=lambda bar: -bar.share)) for name, found in columns.items()
    ]
    return "What is left after the fix, of what each rule's program took", origin(entries), groups


def _digest(data: str, code: Path) -> str:
    """A hash of what is drawn, and of what draws it."""
    digest = hashlib.sha256(data.encode())
    for module in sorted(code.glob("*.py")):
        digest.update(module.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def grouped(rules: Mapping[str, Rule]) -> list[tuple[str, list[Rule]]]:
    """The rules by what is wrong where they find something, with the word that selects them."""
    found: dict[str, list[Rule]] = {}
    for metric, harm in registry.HARMS.items():
        mine = [rule for rule in rules.values() if rule.claim.metric is metric]
        found.setdefault(f"{_WRONG[harm]} (`{harm}`)", []).extend(mine)
    return [
        (heading, sorted(mine, key=lambda rule: rule.code))
        for heading, mine in found.items()
        if mine
    ]


_WRONG = {
    "peak": "Too much memory at once",
    "growth": "Memory that grows with every step",
    "retracing": "Functions that are traced again and again",
    "graph": "Graphs that are larger than need be",
    "time": "Time that is lost",
}


def _table(rules: Mapping[str, Rule], level: str) -> str:
    parts: list[str] = []
    for heading, mine in grouped(rules):
        rows = ["| Rule | What it finds | Fix | Measured |", "|---|---|---|---|"]
        for rule in mine:
            found = summary(rule.page).replace("|", "\\|")
            saved = phrase(registry.folder(rule)) or ""
            page = links.page(rule.code)
            link = f"[{rule.code}]({page}) `{rule.name}`" if page else f"{rule.code} `{rule.name}`"
            rows.append(f"| {link} | {found} | {fix_safety(rule)} | {saved} |")
        parts.append("\n".join([f"{level} {heading}", "", *rows]))
    return "\n\n".join(parts)


def _example(folder: Path) -> str:
    """The two programs as one: what goes, what comes, and all that stays."""
    try:
        bad, fixed = (
            _MARK.sub("", (folder / name).read_text("utf-8")).splitlines()
            for name in ("bad.py", "fixed.py")
        )
    except OSError:
        return ""
    whole = len(bad) + len(fixed)
    diff = list(difflib.unified_diff(bad, fixed, n=whole, lineterm=""))
    return "\n".join(("## Example", "", "```diff", *map(str.rstrip, diff[3:]), "```"))


def _measured_section(rule: Rule, folder: Path, figures: Mapping[str, Any]) -> str:
    claim = rule.claim
    lines = [
        "## Measured",
        "",
        f"Claimed: {claim.metric.value} after / before <= {claim.at_most:g},"
        f" because {claim.because}.",
    ]
    if claim.grows:
        bad, fixed = claim.grows
        lines.append(f"As the data grows, what is measured is {bad} before and {fixed} after.")
    try:
        lines += tuple(_figures_table(figures))
    except (KeyError, TypeError):
        measurable = (folder / "bad.py").is_file() and (folder / "fixed.py").is_file()
        how = f"`tfmemlint verify {rule.code}` does" if measurable else "it comes with no programs"
        lines += ["", f"Not measured yet: {how}."]
    return "\n".join(lines)


def _figures_table(figures: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", "| | before | after | ratio |", "|---|---|---|---|")
    for metric, taken in figures["metrics"].items():
        each = " a step" if taken["unit"] == "bytes per step" else ""
        bad, fixed = (figure(taken[which]["figure"], taken["unit"]) for which in ("bad", "fixed"))
        ratio = "" if taken["ratio"] is None else f"{taken['ratio']:.2f}"
        yield f"| {metric}{each} | {bad} | {fixed} | {ratio} |"
        if told := _as_predicted(taken):
            yield f"| predicted from the code | {told[0]} | {told[1]} | |"
    if scaling := figures.get("scaling"):
        yield ""
        yield f"With half, all and twice the data, {scaling['metric']}{_then(scaling)}:"
        for which, when in (("bad", "before"), ("fixed", "after")):
            unit = figures["metrics"][scaling["metric"]]["unit"]
            taken = ", ".join(figure(each, unit) for each in scaling[which]["figures"])
            yield f"{taken} {when} ({scaling[which]['grows']}){'.' if which == 'fixed' else ','}"
    if short := figures.get("out_of_memory"):
        yield ""
        yield f"On a device of {figure(short['limit'], short['unit'])} only the fixed program"
        yield f"finishes; the other dies of {short['death']}{_then(short)}."
    if not figures["claim"]["holds"]:
        yield from ("", f"So the claim does not hold: {figures['claim'].get('doubt')}.")
    versions = ", ".join(f"{name} {version}" for name, version in figures["versions"].items())
    runs, device, date = figures["runs"], figures["device"]["name"], figures["date"]
    yield from ("", f"{runs} runs on {date} on {device}, with {versions}.")


def _as_predicted(taken: Mapping[str, Any]) -> tuple[str, str] | None:
    """What the code of both programs says, in words, where it says all of one of them."""
    programs = (taken["bad"], taken["fixed"])
    if not any("predicted" in each for each in programs):
        return None
    bad, fixed = (
        figure(each["predicted"], taken["unit"]) if "predicted" in each else "" for each in programs
    )
    return bad, fixed


def _then(part: Mapping[str, Any]) -> str:
    """The day of what was measured before the rest."""
    return f" ({part['date']})" if "date" in part else ""


def _public_section(figures: Mapping[str, Any]) -> str:
    """How often the rule spoke on code that people have written, and what that was worth."""
    try:
        times, read = figures["findings"], figures["read"]
        of, date = f"{figures['repositories']} public repositories", figures["date"]
        spoke = f"spoke {_times(times)}, in {figures['in_repositories']} of them"
        worth = [_judged(number, read_as) for read_as, number in read.items() if number]
        whole = sum(read.values())
    except (AttributeError, KeyError, TypeError):
        return ""
    parts = [f"In {of} it {spoke if times else 'never spoke'} ({date})."]
    if not times and figures.get("kept"):
        parts.append(f"It stays for what the pattern costs: {figures['kept']}.")
    if worth:
        parts.append(f"Of {whole} drawn by chance and read, {', '.join(worth)}.")
    return f"## On public code\n\n{' '.join(parts)}"


_WORTH = {
    "worth": "right and worth a reviewer's time",
    "little": "right and of little effect",
    "useless": "right and of no use",
    "wrong": "wrong",
}


def _judged(number: int, verdict: str) -> str:
    return f"{number} {'was' if number == 1 else 'were'} {_WORTH[verdict]}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _figures(folder: Path) -> Mapping[str, Any]:
    return _json(folder / "measured.json")


def _json(path: Path) -> Mapping[str, Any]:
    try:
        content: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content


def _text(code: str, rules: Mapping[str, Rule]) -> str:
    if code in rules:
        return rule_page(rules[code], registry.folder(rules[code]))
    more = _SUPPRESSIONS if code == UNUSED_SUPPRESSION else ""
    return f"# {code} {ENGINE[code].name}\n\n{ENGINE[code].meaning}\n{more}"


def _record(code: str, rules: Mapping[str, Rule]) -> dict[str, Any]:
    """One rule in the words of `ruff rule --output-format json`, and what only we know."""
    if code in rules:
        rule = rules[code]
        name, page, safety = rule.name, rule.page.strip(), fix_safety(rule)
        claim = {**rule.claim._asdict(), "metric": rule.claim.metric.value}
        saved = phrase(registry.folder(rule))
    else:
        name, page = ENGINE[code]
        safety = "safe" if code == UNUSED_SUPPRESSION else "none"
        claim, saved = None, None
    available = safety != "none"
    return {
        "name": name,
        "code": code,
        "linter": "tfmemlint",
        "summary": summary(page),
        "fix": f"Fix is {'sometimes' if available else 'not'} available.",
        "fix_availability": "Sometimes" if available else "None",
        "fix_safety": safety,
        "explanation": page,
        "preview": False,
        "claim": claim,
        "measured": saved,
    }


def _named(asked: str, names: Mapping[str, str]) -> list[str]:
    return [code for code, name in names.items() if asked.upper() == code or asked.lower() == name]


def _unknown(asked: str, names: Mapping[str, str]) -> str:
    known = {word: code for code, name in names.items() for word in (code, name)}
    word = nearest(asked, known)
    hint = "" if word is None else f"; did you mean {known[word]} ({names[known[word]]})?"
    return f"there is no rule {show(asked)!r}{hint}"


if __name__ == "__main__":
    sys.exit(generate(sys.argv[1:]))
