"""What each key of the settings takes, as read and as documented."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple, cast
from tfmemlint.slips import did_you_mean
from tfmemlint.units import parsed

if TYPE_CHECKING:
    from typing import Any

EXCLUDED = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tfmemlint_cache",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)

_LONGEST = 100
"""Characters of a value that are repeated in a message, and of what says a version."""

# To compile it takes long, and a clean file seldom needs it.
_SPECIFIER = (
    r"\s*(===|==|~=|!=|<=|>=|<|>)\s*v?(\d+(?:\.\d+)*)(\.\*|(?:\.?(?:a|b|rc|dev|post)\d*)*)\s*"
)


class Option(NamedTuple):
    """A key of the settings, as read and as documented."""

    type: str
    read: Callable[[object], Any]
    """Raises TypeError or ValueError."""
    default: str
    example: str
    help: str


def oldest_tensorflow(specifier: str | None) -> tuple[int, ...] | None:
    """The oldest TensorFlow that a declared specifier such as `>=2.12` admits; None if any."""
    if specifier is None:
        return None
    floors = [
        tuple(map(int, clause[2].split(".")))
        for clause in re.finditer(_SPECIFIER, specifier)
        if clause[1] in ("==", "===", "~=", ">=", ">")
    ]
    return max(floors, default=None)


def table_of(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError
    return cast("dict[str, Any]", value)


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(map(_string, cast("list[object]", value)))


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _strings_by_pattern(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((pattern, _strings(codes)) for pattern, codes in table_of(value).items())


def _specifier(value: object) -> str:
    specifier = _string(value)
    known = len(specifier) <= _LONGEST and all(
        re.fullmatch(_SPECIFIER, each) for each in specifier.split(",")
    )
    if not known:
        raise ValueError(f"`{shown(specifier)}` is not a version specifier such as `>=2.12,<3`")
    return specifier


def shown(value: str) -> str:
    """A value as a message repeats it: what is very long is no mistake of a letter or two."""
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"


def no_format(name: str) -> str:
    """What to say of a format that there is not."""
    from tfmemlint.report import FORMATS  # noqa: PLC0415

    there_are = f"; there are {', '.join(FORMATS)}"
    return f"no format `{name}`{did_you_mean(name, FORMATS) or there_are}"


def bytes_of(value: object) -> int:
    """A number of bytes, as a number or in words. Raises TypeError or ValueError."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    text = _string(value)
    found = parsed(text)
    if found is None:
        raise ValueError(f"`{shown(text)}` is not an amount of memory such as `1MiB`")
    return found


def assumptions(value: object) -> tuple[tuple[str, float], ...]:
    """`len(paths)=50000,batch_size=64`, or a list of such, or a table. Raises as above."""
    if isinstance(value, dict):
        table = table_of(cast("object", value))
        pairs = [(key, str(each)) for key, each in table.items()]
    else:
        texts = [value] if isinstance(value, str) else _strings(value)
        parts = [part for text in texts for part in _split(text)]
        pairs = [(name, number) for name, _, number in (each.rpartition("=") for each in parts)]
    return tuple((_expression(name), _figure(name, number)) for name, number in pairs)


def _split(text: str) -> list[str]:
    """The assumptions in a text: commas within brackets part nothing."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [each.strip() for each in parts if each.strip()]


def _expression(text: str) -> str:
    """An expression, spelled as Python's own printer does."""
    import ast  # noqa: PLC0415

    try:
        return ast.unparse(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        raise ValueError(f"`{shown(text)}` is not an expression; write `name=number`") from None


def _figure(name: str, text: str) -> float:
    try:
        number = float(text.replace("_", "").strip())
    except ValueError:
        raise ValueError(f"`{name}={text}` gives no number; write `name=number`") from None
    return int(number) if number.is_integer() else number


def _format(value: object) -> str:
    from tfmemlint.report import FORMATS  # noqa: PLC0415

    if _string(value) not in FORMATS:
        raise ValueError(no_format(str(value)))
    return str(value)


OPTIONS: Mapping[str, Option] = {
    "select": Option(
        "list[str]",
        _strings,
        '["ALL"]',
        'select = ["TFM1", "TFM202"]',
        "The rules to run: codes, beginnings of codes, names, what they are about (`peak`,\n"
        "`growth`, `retracing`, `graph`, `time`), or `ALL`. Where this and `ignore` mean the\n"
        "same rule, the longer beginning wins.",
    ),
    "extend-select": Option(
        "list[str]",
        _strings,
        "[]",
        'extend-select = ["TFM9"]',
        "Rules to run beside those in `select`.",
    ),
    "ignore": Option("list[str]", _strings, "[]", 'ignore = ["TFM202"]', "Rules not to run."),
    "per-file-ignores": Option(
        "dict[str, list[str]]",
        _strings_by_pattern,
        "{}",
        'per-file-ignores = { "tests/*" = ["TFM2"] }',
        "Rules not to run on the files that a pattern matches; with `!` before it, on all others.",
    ),
    "extend-per-file-ignores": Option(
        "dict[str, list[str]]",
        _strings_by_pattern,
        "{}",
        'extend-per-file-ignores = { "examples/*" = ["TFM223"] }',
        "More of the kind of `per-file-ignores`.",
    ),
    "exclude": Option(
        "list[str]",
        _strings,
        "[" + ", ".join(f'"{name}"' for name in EXCLUDED) + "]",
        'exclude = [".venv", "generated/*.py"]',
        "What not to look for files in, instead of the default. A pattern without a slash means\n"
        "names of files and folders at any depth; one with a slash is relative to this file.",
    ),
    "extend-exclude": Option(
        "list[str]",
        _strings,
        "[]",
        'extend-exclude = ["third_party"]',
        "What not to look for files in, beside `exclude`.",
    ),
    "fixable": Option(
        "list[str]", _strings, '["ALL"]', 'fixable = ["TFM1"]', "The rules whose fixes to apply."
    ),
    "extend-fixable": Option(
        "list[str]",
        _strings,
        "[]",
        'extend-fixable = ["TFM202"]',
        "Rules whose fixes to apply beside those in `fixable`.",
    ),
    "unfixable": Option(
        "list[str]", _strings, "[]", 'unfixable = ["TFM202"]', "Rules whose fixes not to apply."
    ),
    "unsafe-fixes": Option(
        "bool",
        _flag,
        "false",
        "unsafe-fixes = true",
        "Whether to apply fixes after which results may differ.",
    ),
    "follow-imports": Option(
        "bool",
        _flag,
        "true",
        "follow-imports = false",
        "Whether to look at what files of a project import from each other, whichever of them are\n"
        "checked. They are read, never run.",
    ),
    "tensorflow": Option(
        "str",
        _specifier,
        "none",
        'tensorflow = ">=2.12"',
        "The versions of TensorFlow that the code is to run with; where this is not set, what the\n"
        "nearest requirements or lock files ask for.",
    ),
    "output-format": Option(
        "str", _format, '"full"', 'output-format = "concise"', "How to write what was found."
    ),
    "min-bytes": Option(
        "int | str",
        bytes_of,
        '"1MiB"',
        'min-bytes = "32MiB"',
        "What is known to hold less than this is not reported, only counted; 0 shows all.\n"
        "What is of unknown size is always reported. Where this is not set, rules whose remedy\n"
        "has its price may ask for more, as their pages say.",
    ),
    "assume": Option(
        "list[str] | dict[str, int]",
        assumptions,
        "[]",
        'assume = ["len(paths)=50000", "batch_size=64"]',
        "Numbers that the code does not tell, for the sizes in findings: `name=number`, where the\n"
        "name is any expression as it stands in the code.",
    ),
    "plugins": Option(
        "list[str]",
        _strings,
        "[]",
        'plugins = ["acme"]',
        "Installed rule packs to load beside the built-in one, by the name of their entry point.\n"
        "Only what is installed is loaded: nothing is run that merely lies in the project.",
    ),
    "baseline": Option(
        "str",
        _string,
        "none",
        'baseline = "tfmemlint-baseline.json"',
        "A file of findings that are known and not reported: `--write-baseline` writes it.",
    ),
}
"""Every key there is."""
