"""The command `tfmemlint server`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from tfmemlint.parser import Parser
from tfmemlint.refusing import refuse

MISSING = "pygls is not installed: `pip install 'tfmemlint[lsp]'` brings it along"


def main(argv: Sequence[str]) -> int:
    """Serve an editor until it is gone; the exit code."""
    make_parser().parse_args(argv)
    if find_spec("pygls") is None:
        return refuse(MISSING)
    from tfmemlint.server.serving import serve  # noqa: PLC0415

    return serve()


def make_parser() -> Parser:
    """What reads the arguments, and writes the help."""
    parser = Parser(
        "tfmemlint server",
        description="Tell an editor of findings and fixes, by the Language Server Protocol, through"
        " standard input and output. Editors start it; there is nothing to type.",
        allow_abbrev=False,
    )
    parser.add_argument("--stdio", action="store_true", help="what is done anyway")
    return parser
