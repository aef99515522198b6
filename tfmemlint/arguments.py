"""The command line of `tfmemlint check`, and what it changes in the settings of files."""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH109

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace

from tfmemlint.config import (
    Config,
    ConfigError,
    Configs,
    Selection,
    file_ignores,
    load,
    pairs_in,
    read,
    rooted,
)
from tfmemlint.files import SUFFIXES
from tfmemlint.light_typing import TYPE_CHECKING
from tfmemlint.options import assumptions, bytes_of, no_format
from tfmemlint.patterns import PatternError
from tfmemlint.report import FORMATS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping
    from typing import Any

FORMAT_VARIABLE = "TFMEMLINT_OUTPUT_FORMAT"
CACHE_VARIABLE = "TFMEMLINT_CACHE_DIR"


def parse(argv: list[str]) -> SimpleNamespace:
    """The options in these arguments; ends the program where they make no sense."""
    options = plain(argv)
    if options is None:
        parser = make_parser()
        options = SimpleNamespace(**vars(parser.parse_intermixed_args(_with_values(argv))))
        if options.cache_dir is None:
            options.cache_dir = os.environ.get(CACHE_VARIABLE)
        _refuse_nonsense(parser, options)
    adds = options.add_noqa is not None or options.add_ignore is not None
    options.fix_only |= options.diff and not adds
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
        "cache_dir": os.environ.get(CACHE_VARIABLE),
        "watch": False,
        "add_ignore": None,
        "add_noqa": None,
        "baseline": None,
        "write_baseline": None,
        "since": None,
        "explain": None,
        "select": None,
        "ignore": [],
        "extend_select": [],
        "per_file_ignores": None,
        "extend_per_file_ignores": [],
        "fixable": None,
        "extend_fixable": [],
        "unfixable": [],
        "exclude": None,
        "extend_exclude": [],
        "respect_gitignore": True,
        "force_exclude": False,
        "extension": [],
        "config": [],
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
        "of_ruff": None,
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


def configs(options: SimpleNamespace) -> Configs:
    """The settings of files as these options have them. Raises ConfigError."""
    files: list[str] = []
    instead: dict[str, object] = {}
    for each in options.config:
        if "=" in each and not os.path.exists(each):  # noqa: PTH110
            instead.update(pairs_in(each))
        else:
            files.append(each)
    if len(files) > 1:
        raise ConfigError("`--config` names more than one file")
    if files and options.isolated:
        raise ConfigError(f"`--config {files[0]}` is not allowed with argument `--isolated`")
    always = None
    if files:
        always = load(files[0], os.getcwd(), instead)
    if options.isolated or (files and always is None):
        always = read(instead, "--config", os.getcwd()) if instead else Config()
    return Configs(override(options), always, instead)


def suffixes(options: SimpleNamespace) -> Mapping[str, bool]:
    """The endings of files that are looked at, and whether these are notebooks."""
    known = {suffix: suffix == ".ipynb" for suffix in SUFFIXES}
    return known | {f".{ending}": kind == "ipynb" for ending, kind in options.extension}


def notebooks(options: SimpleNamespace) -> tuple[str, ...]:
    """How the names of notebooks end."""
    return tuple(suffix for suffix, notebook in suffixes(options).items() if notebook)


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
        ignores = file_ignores(
            [(pattern, (code,)) for pattern, code in options.extend_per_file_ignores], here, None
        )
    except PatternError as error:
        raise ConfigError(str(error)) from None
    rules = Selection(
        None, _optional(options.select), tuple(options.extend_select), tuple(options.ignore)
    )
    fixes = Selection(
        None, _optional(options.fixable), tuple(options.extend_fixable), tuple(options.unfixable)
    )
    if options.baseline is not None:
        changes["baseline"] = os.path.join(here, options.baseline)  # noqa: PTH118

    def overridden(config: Config) -> Config:
        changed = config._replace(
            rules=(*config.rules, rules),
            fixes=(*config.fixes, fixes),
            extend_exclude=(*config.extend_exclude, *extend_exclude),
            assume=(*config.assume, *assumed),
            **changes,
        )
        return changed._replace(file_ignores=(*changed.file_ignores, *ignores))

    return overridden


_BY_SIGN = ("--add-ignore", "--add-noqa", "--write-baseline")
"""Options that may have a value, which an equals sign then comes before."""


def _with_values(argv: list[str]) -> list[str]:
    """The same, so that what stands behind such an option is not taken for its value."""
    end = argv.index("--") if "--" in argv else len(argv)
    return [f"{each}=" if each in _BY_SIGN else each for each in argv[:end]] + argv[end:]


def _refuse_nonsense(parser: argparse.ArgumentParser, options: SimpleNamespace) -> None:
    """End the program where options contradict each other."""
    stdin = options.stdin_filename is not None or options.paths == ["-"]
    does = {
        "--add-ignore": options.add_ignore is not None,
        "--add-noqa": options.add_noqa is not None,
        "--write-baseline": options.write_baseline is not None,
        "--fix": options.fix or options.fix_only,
        "--watch": options.watch,
    }
    asked = [name for name, given in does.items() if given]
    if options.explain is not None and (asked or options.paths):
        parser.error(f"--explain is not allowed with {asked[0] if asked else options.paths[0]}")
    if len(asked) > 1 and asked != ["--fix", "--watch"]:
        parser.error(f"{asked[0]} is not allowed with {asked[1]}")
    if asked and asked != ["--fix"] and stdin:
        parser.error(f"{asked[0]} is not for standard input")


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


def _extensions(text: str) -> list[tuple[str, str]]:
    import argparse  # noqa: PLC0415

    found: list[tuple[str, str]] = []
    for part in _list(text):
        ending, _, kind = part.partition(":")
        if not ending or kind not in ("python", "pyi", "ipynb"):
            raise argparse.ArgumentTypeError(f"`{part}` is not ENDING:python nor ENDING:ipynb")
        found.append((ending.removeprefix("."), kind))
    return found


def _positive(text: str) -> int:
    import argparse  # noqa: PLC0415

    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of processes")
    return int(text)


@cache
def make_parser() -> argparse.ArgumentParser:
    """What reads the arguments, and writes the help."""
    import argparse  # noqa: PLC0415

    from tfmemlint.parser import Parser  # noqa: PLC0415

    parser = Parser(
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
    add("--statistics", action="store_true", help="findings by rule: how many, what they cost")
    add(
        "--explain",
        metavar="PATH:LINE[:RULE]",
        help="tell what each rule asked about this line, and why it says nothing there",
    )
    add("-w", "--watch", action="store_true", help="check again whenever a file changes")
    add("--show-files", action="store_true", help="list the files that would be checked")
    add("--show-settings", action="store_true", help="print the settings of the first file")
    add("-j", "--jobs", type=_positive, metavar="N", help="processes [default: one per core]")
    add("-n", "--no-cache", action="store_true", help="check files that are known to be clean, too")
    add(
        "--cache-dir",
        metavar="FOLDER",
        help=f"where to remember which files are clean [env: {CACHE_VARIABLE}]",
    )

    add = parser.add_argument_group("a project with many findings").add_argument
    add(
        "--since",
        metavar="REVISION",
        help="report what is on lines that were changed since this revision of git",
    )
    add(
        "--write-baseline",
        metavar="[=FILE]",
        help="write down what is found, so that --baseline leaves it out"
        " [default: tfmemlint-baseline.json]",
    )
    add("--baseline", metavar="FILE", help="do not report what is written down in this file")
    add(
        "--add-ignore",
        metavar="[=REASON]",
        help="write `# tfmemlint: ignore[RULE] REASON` at each finding",
    )
    add("--add-noqa", metavar="[=REASON]", help="write `# noqa: RULE REASON` at each finding")

    add = parser.add_argument_group("rule selection").add_argument
    rules: dict[str, Any] = {"type": _list, "action": "extend", "metavar": "RULE,..."}
    add(
        "--select",
        **rules,
        help="the rules to run: codes, names, beginnings of codes, what they are about (peak,"
        " growth, retracing, graph, time), or ALL",
    )
    add("--ignore", **rules, default=[], help="rules not to run")
    unseen: dict[str, Any] = {**rules, "help": argparse.SUPPRESS}
    add("--extend-ignore", dest="ignore", **unseen)
    add("--extend-select", **rules, default=[], help="rules to run as well")
    add(
        "--per-file-ignores",
        type=_pairs,
        action="extend",
        metavar="PATTERN:RULE,...",
        help="rules not to run on some files",
    )
    add(
        "--extend-per-file-ignores",
        type=_pairs,
        action="extend",
        default=[],
        metavar="PATTERN:RULE,...",
        help="more rules not to run on some files",
    )
    add("--fixable", **rules, help="the rules whose fixes to apply")
    add("--extend-fixable", **rules, default=[], help="rules whose fixes to apply as well")
    add("--unfixable", **rules, default=[], help="rules whose fixes not to apply")
    add("--extend-unfixable", dest="unfixable", **unseen)

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
    group.add_argument(
        "--extension",
        type=_extensions,
        action="extend",
        default=[],
        metavar="ENDING:KIND,...",
        help="what other files are: `pyw:python`, `nb:ipynb`",
    )

    group = parser.add_argument_group("miscellaneous")
    add = group.add_argument
    add(
        "--config",
        action="append",
        default=[],
        metavar="FILE|KEY=VALUE",
        help="read settings from this file alone; or a setting, in TOML",
    )
    add("--isolated", action="store_true", help="read no settings")
    add("--stdin-filename", metavar="PATH", help="the name of what comes through standard input")
    add("-e", "--exit-zero", action="store_true", help="exit with 0 in spite of findings")
    add("--exit-non-zero-on-fix", action="store_true", help="exit with 1 if anything was fixed")
    add("--color", choices=("auto", "always", "never"), default="auto", help="use colors")
    one = group.add_mutually_exclusive_group()
    one.add_argument("-q", "--quiet", action="store_true", help="print findings and nothing else")
    one.add_argument("-s", "--silent", action="store_true", help="print nothing")
    one.add_argument("-v", "--verbose", action="store_true", help="tell what was done")
    # What tools that call ruff may pass on, and what there is nothing of here.
    for name in ("--preview", "--no-preview"):
        add(name, action="store_const", const=None, dest="of_ruff", help=argparse.SUPPRESS)
    for name in ("--line-length", "--target-version"):
        add(name, dest="of_ruff", help=argparse.SUPPRESS)
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
