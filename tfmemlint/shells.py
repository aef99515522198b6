"""What shells and `man` know of the command line, made from the parsers that read it.

`tfmemlint completion SHELL` prints what a shell needs to complete commands, options, rules and
settings; `tfmemlint man` prints the manual page.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from importlib import import_module
from typing import Any, cast

from tfmemlint import __version__, registry
from tfmemlint.options import OPTIONS
from tfmemlint.parser import Parser
from tfmemlint.refusing import refuse
from tfmemlint.report.links import DOCUMENTATION

SHELLS = ("bash", "zsh", "fish")
_MISSING = "{} is not installed: `pip install 'tfmemlint[shells]'` brings it along"
_MODULES = {
    "check": "tfmemlint.arguments",
    "rule": "tfmemlint.pages",
    "verify": "tfmemlint.verify.options",
    "measure": "tfmemlint.measure.command",
    "plan": "tfmemlint.plan",
    "server": "tfmemlint.server.command",
    "clean": "tfmemlint.clean",
}
_FILES = ("FILE", "FILE|KEY=VALUE", "PATH", "SCRIPT", "SCRIPT.py", "[=FILE]")
"""What stands in a parser's help for the names of files."""
_RULE = ("CODE", "RULE")
_RULES = "RULE,..."
"""A list of rules, which takes the words for what rules are about, too."""


def config_parser() -> argparse.ArgumentParser:
    """Of `tfmemlint config`."""
    parser = Parser("tfmemlint config", description="Explain a setting.")
    parser.add_argument("key", nargs="?", metavar="KEY", help="which one [default: list all]")
    return parser


def completion_parser() -> argparse.ArgumentParser:
    """Of `tfmemlint completion`."""
    parser = Parser(
        "tfmemlint completion",
        description="Print what a shell needs to complete the command line.",
        epilog='bash: eval "$(tfmemlint completion bash)" in ~/.bashrc; '
        "zsh: tfmemlint completion zsh > a folder of $fpath/_tfmemlint; "
        "fish: tfmemlint completion fish > ~/.config/fish/completions/tfmemlint.fish",
    )
    parser.add_argument("shell", choices=SHELLS, help="which one")
    return parser


def man_parser() -> argparse.ArgumentParser:
    """Of `tfmemlint man`."""
    return Parser(
        "tfmemlint man",
        description="Print the manual page, for `man`: tfmemlint man > a folder of man/man1/"
        "tfmemlint.1",
    )


_OWN = {"config": config_parser, "completion": completion_parser, "man": man_parser}


def whole(about: Iterable[tuple[str, str]], *, brief: bool = False) -> argparse.ArgumentParser:
    """One parser for all commands, given with what each of them does, which is all if `brief`."""
    parser = argparse.ArgumentParser(
        "tfmemlint",
        description="tfmemlint finds code that wastes or leaks memory in TensorFlow and Keras "
        "programs, fixes it, and proves the fix with a measurement.",
        epilog=f"The documentation is at {DOCUMENTATION}",
    )
    parser.add_argument("-V", "--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, words in about:
        if name in _MODULES:
            make: Callable[[], argparse.ArgumentParser] = import_module(_MODULES[name]).make_parser
        else:
            make = _OWN.get(name, argparse.ArgumentParser)
        made = deepcopy(make())  # theirs are kept, and these are changed
        commands.add_parser(
            name,
            help=words,
            description=words if brief else made.description or words,
            epilog=made.epilog,
            parents=[made],
            add_help=False,
            allow_abbrev=False,
        )
    return parser


def complete(argv: Sequence[str], about: Iterable[tuple[str, str]]) -> int:
    """`tfmemlint completion`."""
    shell = completion_parser().parse_args(argv).shell
    try:
        shtab: Any = import_module("shtab")
    except ImportError:
        return refuse(_MISSING.format("shtab"))
    parser = whole(about, brief=True)
    outlines = registry.outlines(())
    rules = [*outlines, *(rule.name for rule in outlines.values())]
    for action in _all(parser):
        if action.metavar in _RULE:
            action.choices = rules
        elif action.metavar == _RULES:
            action.choices = [*dict.fromkeys(registry.HARMS.values()), *rules]
        elif action.metavar == "KEY":
            action.choices = list(OPTIONS)
        if action.metavar in _FILES:
            setattr(action, "complete", shtab.FILE)  # noqa: B010  it is shtab's, not argparse's
        elif action.metavar == "FOLDER":
            setattr(action, "complete", shtab.DIRECTORY)  # noqa: B010
    sys.stdout.write(shtab.complete(parser, shell))
    return 0


def manual(argv: Sequence[str], about: Iterable[tuple[str, str]]) -> int:
    """`tfmemlint man`."""
    man_parser().parse_args(argv)
    try:
        library: Any = import_module("argparse_manpage.manpage")
    except ImportError:
        return refuse(_MISSING.format("argparse-manpage"))
    parser = whole(about)
    data = {
        "project_name": "tfmemlint",
        "version": __version__,
        "url": DOCUMENTATION,
        "manual_section": "1",
        "manual_title": "tfmemlint",
        "description": "find code that wastes memory in TensorFlow programs, and fix it",
    }
    sys.stdout.write(str(library.Manpage(parser, _data=data, format="single-commands-section")))
    return 0


def _all(parser: argparse.ArgumentParser) -> Iterable[argparse.Action]:
    """The options and arguments of a parser and of those below it."""
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        yield action
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            below = cast("dict[str, argparse.ArgumentParser]", cast("Any", action).choices)
            for each in below.values():
                yield from _all(each)
