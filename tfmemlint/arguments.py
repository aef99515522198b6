"""The command line of `tfmemlint check`, and what it changes in the settings of files."""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH109

from __future__ import annotations

import os
from collections.abc import Callable
from types import SimpleNamespace

from tfmemlint.config import (
    Config,
    ConfigError,
    Selection,
    assumptions,
    bytes_of,
    file_ignores,
    load,
    no_format,
    rooted,
)
from tfmemlint.light_typing import TYPE_CHECKING
from tfmemlint.patterns import PatternError
from tfmemlint.report import FORMATS

if TYPE_CHECKING:
    import argparse
    from typing import Any

FORMAT_VARIABLE = "TFMEMLINT_OUTPUT_FORMAT"


def parse(argv: list[str]) -> SimpleNamespace:
    """The options in these arguments; ends the program where they make no sense."""
    options = plain(argv) or SimpleNamespace(**vars(_parser().parse_intermixed_args(argv)))
    options.fix_only |= options.diff
    options.fix |= options.fix_only
    options.stdin = options.stdin_filename is not None or options.paths == ["-"]
    return options


def plain(argv: list[str]) -> SimpleNamespace | None:
    """As the parser has them, arguments of the usual kind: making the parser takes a while."""
    options: dict[str, Any] = {
        "paths": [],
        "fix": False,
        "unsafe_fixes": None,
        "follow_imports": None,
        "show_fixes": False,
        "fix_only": False,
        "diff": False,
        "ignore_noqa": False,
        "output_format": None,
        "output_file": None,
        "statistics": False,
        "show_files": False,
        "show_settings": False,
        "jobs": None,
        "no_cache": False,
        "select": None,
        "ignore": [],
        "extend_select": [],
        "per_file_ignores": None,
        "fixable": None,
        "unfixable": [],
        "exclude": None,
        "extend_exclude": [],
        "respect_gitignore": True,
        "force_exclude": False,
        "config": None,
        "isolated": False,
        "stdin_filename": None,
        "min_bytes": None,
        "assume": [],
        "sort": None,
        "exit_zero": False,
        "exit_non_zero_on_fix": False,
        "color": "auto",
        "quiet": False,
        "silent": False,
        "verbose": False,
    }
    for argument in argv:
        if not argument.startswith("-") or argument == "-":
            options["paths"].append(argument)
        elif argument in _PLAIN and not (argument == "--silent" and "--quiet" in argv):
            options[argument[2:].replace("-", "_")] = True
        else:
            return None
    return SimpleNamespace(**options)


_PLAIN = frozenset(
    (
        "--diff",
        "--exit-zero",
        "--fix",
        "--isolated",
        "--no-cache",
        "--quiet",
        "--silent",
        "--unsafe-fixes",
    )
)


def only_config(options: SimpleNamespace) -> Config | None:
    """The settings that hold for all files; None if each file's own do. Raises ConfigError."""
    if options.config is None:
        return Config() if options.isolated else None
    return load(options.config, os.getcwd()) or Config()


def override(options: SimpleNamespace) -> Callable[[Config], Config]:
    """What the command line changes in any settings. Raises ConfigError."""
    changes: dict[str, Any] = {}
    here = os.getcwd()
    output_format = options.output_format or os.environ.get(FORMAT_VARIABLE)
    if output_format:
        if output_format not in FORMATS:
            raise ConfigError(f"{FORMAT_VARIABLE}: {no_format(output_format)}")
        changes["output_format"] = output_format
    if options.unsafe_fixes is not None:
        changes["unsafe_fixes"] = options.unsafe_fixes
    if options.follow_imports is not None:
        changes["follow_imports"] = options.follow_imports
    try:
        if options.min_bytes is not None:
            changes["min_bytes"] = bytes_of(options.min_bytes)
    except ValueError as error:
        raise ConfigError(f"--min-bytes: {error}") from None
    try:
        assumed = assumptions(options.assume)
    except ValueError as error:
        raise ConfigError(f"--assume: {error}") from None
    try:
        if options.exclude is not None:
            changes["exclude"] = tuple(rooted(options.exclude, here))
        extend_exclude = tuple(rooted(options.extend_exclude, here))
        if options.per_file_ignores is not None:
            changes["file_ignores"] = file_ignores(
                [(pattern, (code,)) for pattern, code in options.per_file_ignores], here, None
            )
    except PatternError as error:
        raise ConfigError(str(error)) from None
    rules = Selection(
        None, _optional(options.select), tuple(options.extend_select), tuple(options.ignore)
    )
    fixes = Selection(None, _optional(options.fixable), (), tuple(options.unfixable))
    return lambda config: config._replace(
        rules=(*config.rules, rules),
        fixes=(*config.fixes, fixes),
        extend_exclude=(*config.extend_exclude, *extend_exclude),
        assume=(*config.assume, *assumed),
        **changes,
    )


def _optional(values: list[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _list(text: str) -> list[str]:
    return [part for each in text.split(",") if (part := each.strip())]


def _pairs(text: str) -> list[tuple[str, str]]:
    import argparse  # noqa: PLC0415

    pairs: list[tuple[str, str]] = []
    for part in _list(text):
        pattern, colon, code = part.rpartition(":")
        if not colon:
            raise argparse.ArgumentTypeError(f"`{part}` is not of the form PATTERN:RULE")
        pairs.append((pattern.strip(), code.strip()))
    return pairs


def _positive(text: str) -> int:
    import argparse  # noqa: PLC0415

    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of processes")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    import argparse  # noqa: PLC0415

    parser = argparse.ArgumentParser(
        "tfmemlint check",
        usage="tfmemlint check [OPTION ...] [PATH ...]",
        description="Find code that wastes or leaks memory in TensorFlow and Keras programs.",
        epilog="""\
--no-fix undoes --fix; the same goes for --unsafe-fixes, --show-fixes,
--fix-only, --follow-imports, --respect-gitignore and --force-exclude.

Exit codes: 0 nothing was found, 1 something was found, 2 something could not
be done.""",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files or folders to check, or `-` for standard input [default: .]",
    )
    _switch(parser, "--fix", "apply fixes")
    _switch(parser, "--unsafe-fixes", "apply fixes after which results may differ, too", None)
    _switch(parser, "--show-fixes", "list what was fixed")
    _switch(parser, "--fix-only", "apply fixes, and do not report what is left")
    _switch(parser, "--follow-imports", "see what files import from each other [default]", None)
    add("--diff", action="store_true", help="write no file, print what --fix would change")
    add("--ignore-noqa", action="store_true", help="ignore comments that suppress findings")
    add("--output-format", choices=FORMATS, help=f"how to write findings [env: {FORMAT_VARIABLE}]")
    add("-o", "--output-file", metavar="FILE", help="where to write findings [default: stdout]")
    add("--sort", choices=("place", "cost"), help="what to list first [default: place]")
    add("--statistics", action="store_true", help="count findings by rule")
    add("--show-files", action="store_true", help="list the files that would be checked")
    add("--show-settings", action="store_true", help="print the settings of the first file")
    add("-j", "--jobs", type=_positive, metavar="N", help="processes [default: one per core]")
    add("--no-cache", action="store_true", help="check files that are known to be clean, too")

    add = parser.add_argument_group("rule selection").add_argument
    rules: dict[str, Any] = {"type": _list, "action": "extend", "metavar": "RULE,..."}
    add("--select", **rules, help="the rules to run: codes, names, beginnings of codes, or ALL")
    add("--ignore", **rules, default=[], help="rules not to run")
    add("--extend-select", **rules, default=[], help="rules to run as well")
    add(
        "--per-file-ignores",
        type=_pairs,
        action="extend",
        metavar="PATTERN:RULE,...",
        help="rules not to run on some files",
    )
    add("--fixable", **rules, help="the rules whose fixes to apply")
    add("--unfixable", **rules, default=[], help="rules whose fixes not to apply")

    add = parser.add_argument_group("sizes").add_argument
    add("--min-bytes", metavar="SIZE", help="hide what is known to hold less [default: 1MiB]")
    add(
        "--assume",
        action="append",
        default=[],
        metavar="NAME=NUMBER,...",
        help='numbers that the code does not tell, as in "len(paths)=50000"',
    )

    group = parser.add_argument_group("file selection")
    patterns: dict[str, Any] = {"type": _list, "action": "extend", "metavar": "PATTERN,..."}
    group.add_argument("--exclude", **patterns, help="what not to check, instead of the default")
    group.add_argument("--extend-exclude", **patterns, default=[], help="what else not to check")
    _switch(group, "--respect-gitignore", "leave out what git ignores [default]", True)
    _switch(group, "--force-exclude", "leave excluded files out even where they are named")

    group = parser.add_argument_group("miscellaneous")
    one = group.add_mutually_exclusive_group()
    one.add_argument("--config", metavar="FILE", help="read settings from this file alone")
    one.add_argument("--isolated", action="store_true", help="read no settings")
    add = group.add_argument
    add("--stdin-filename", metavar="PATH", help="the name of what comes through standard input")
    add("-e", "--exit-zero", action="store_true", help="exit with 0 in spite of findings")
    add("--exit-non-zero-on-fix", action="store_true", help="exit with 1 if anything was fixed")
    add("--color", choices=("auto", "always", "never"), default="auto", help="use colors")
    one = group.add_mutually_exclusive_group()
    one.add_argument("-q", "--quiet", action="store_true", help="print findings and nothing else")
    one.add_argument("-s", "--silent", action="store_true", help="print nothing")
    one.add_argument("-v", "--verbose", action="store_true", help="tell what was done")
    return parser


def _switch(
    group: argparse._ActionsContainer,  # pyright: ignore[reportPrivateUsage]
    name: str,
    about: str,
    default: bool | None = False,
) -> None:
    """An option with its opposite: `--fix` and `--no-fix`."""
    import argparse  # noqa: PLC0415

    destination = name.removeprefix("--").replace("-", "_")
    group.add_argument(name, action="store_true", default=default, help=about)
    group.add_argument(
        f"--no-{name.removeprefix('--')}",
        dest=destination,
        action="store_false",
        default=default,
        help=argparse.SUPPRESS,
    )
