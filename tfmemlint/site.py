"""The pages of the documentation that are made from what they are about: rules and settings.

`docs/_hook.py` has mkdocs ask for them; everything else stands in `docs/` as it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from tfmemlint import plots, registry
from tfmemlint.options import OPTIONS
from tfmemlint.pages import fix_safety, grouped, phrase, rule_page
from tfmemlint.report.items import ENGINE
from tfmemlint.report.prose import summary
from tfmemlint.verify.page import savings
from tfmemlint.verify.pictures import recorded
from tfmemlint.vocabulary import Rule

SILENCE = """\
## How to silence it

For one statement, with the reason: `# tfmemlint: ignore[{code}] why`, at its end or on the line
above. For a file, `# tfmemlint: ignore-file[{code}]`. For a project, in its settings:

```toml
[tool.tfmemlint]
ignore = ["{code}"]
```

More on that: [what is meant to stay](../suppressing.md).
"""


def pages(docs: Path) -> Iterator[tuple[str, str]]:
    """What is made, by its place in the documentation; `docs` is what stands there already."""
    rules = registry.load()
    yield "rules/index.md", index(rules)
    for rule in rules.values():
        yield f"rules/{rule.code}.md", _rule(rule, (docs / "accuracy.md").is_file())
        yield from _pictures(rule)
    for code, (name, meaning) in ENGINE.items():
        yield f"rules/{code}.md", f"# {code} {name}\n\n{meaning}\n"
    yield "settings.md", settings()


def index(rules: Mapping[str, Rule]) -> str:
    """All rules, by what is wrong where they find something."""
    lines = [
        "# Rules",
        "",
        "Each finds one pattern, says what it costs, and was measured: with two programs, one with",
        "the pattern and one without. `--select` takes the words in brackets.",
    ]
    for heading, found in grouped(rules):
        lines += ["", f"## {heading}", "", "| Rule | What it finds | Fix | Measured |"]
        lines += ["|---|---|---|---|"]
        for rule in found:
            about = summary(rule.page).replace("|", "\\|")
            # A browser breaks a line within what stands for an arrow in terminals.
            saved = (phrase(registry.folder(rule)) or "").replace("->", "\N{RIGHTWARDS ARROW}")
            link = f"[{rule.code}]({rule.code}.md) `{rule.name}`"
            lines.append(f"| {link} | {about} | {fix_safety(rule)} | {saved} |")
    lines += ["", "## What tfmemlint says of itself", "", "| Code | Meaning |", "|---|---|"]
    lines += (f"| [{code}]({code}.md) `{name}` | {says} |" for code, (name, says) in ENGINE.items())
    return "\n".join(lines) + "\n"


def settings() -> str:
    """Every key that settings may have, from what reads them."""
    parts = [
        "# Settings",
        "They stand in `pyproject.toml` under `[tool.tfmemlint]`, or in `tfmemlint.toml` or"
        " `.tfmemlint.toml` without the table's name. For each file the nearest folder that has"
        ' any counts, and none above it. `--config "key = value"` sets one for a run.'
        " `tfmemlint config KEY` explains a key in the terminal.",
    ]
    for key, option in OPTIONS.items():
        help_text = " ".join(option.help.split())
        parts += [
            f"## {key}",
            help_text,
            f"Type: `{option.type}`  \nDefault: `{option.default}`",
            f"```toml\n[tool.tfmemlint]\n{option.example}\n```",
        ]
    return "\n\n".join(parts) + "\n"


def _rule(rule: Rule, has_accuracy: bool) -> str:
    page = rule_page(rule, registry.folder(rule))
    before, measured, after = page.partition("## Measured\n")
    picture = ""
    if _is_drawn(rule):
        words = f"What is left of what {rule.code}'s program took"
        picture = "".join(
            f"\n![{words}]({rule.code}{ending}.svg#only-{theme})\n"
            for ending, theme in (("", "light"), ("-dark", "dark"))
        )
    right = "How often it is right: [accuracy](../accuracy.md).\n\n" if has_accuracy else ""
    return f"{before}{measured}{picture}{after}\n{right}{SILENCE.format(code=rule.code)}"


def _pictures(rule: Rule) -> Iterator[tuple[str, str]]:
    if _is_drawn(rule):
        entry = recorded(rule, registry.folder(rule))
        yield f"rules/{rule.code}.svg", savings([entry], plots.Theme.LIGHT)
        yield f"rules/{rule.code}-dark.svg", savings([entry], plots.Theme.DARK)


def _is_drawn(rule: Rule) -> bool:
    return plots.available() and phrase(registry.folder(rule)) is not None
