"""The command `tfmemlint`: hands over to its commands, and sees that each ends in good order."""

from __future__ import annotations

import os
import sys

from tfmemlint import __version__

TYPE_CHECKING = False  # `typing` and `collections` take longer to import than a version to print
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TextIO

FAILED, INTERRUPTED, PIPE_CLOSED = 2, 130, 141
"""Exit codes; the last two are those of a program that the signal ended."""

_ABOUT = {
    "check": "check files and folders, and fix what can be fixed",
    "rule": "explain a rule",
    "verify": "measure what the fixes of rules save, on this machine",
    "measure": "run a program and say which of its lines hold the memory",
    "plan": "read a program and say what it will hold, line by line",
    "server": "tell an editor of findings and fixes",
    "config": "explain a setting",
    "clean": "remove what interrupted runs have left behind",
    "completion": "print what a shell needs to complete the command line",
    "man": "print the manual page",
    "version": "print the version",
}
_COMMANDS_SHOWN = "\n".join(f"  {name:<10}  {words}" for name, words in _ABOUT.items())
_HELP = f"""\
tfmemlint finds code that wastes or leaks memory in TensorFlow and Keras programs.

Usage: tfmemlint COMMAND [ARGUMENTS]

Commands:
{_COMMANDS_SHOWN}

`tfmemlint COMMAND --help` tells more. A first look: tfmemlint check
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code. Without arguments to it, end the process where that is safe."""
    if argv is not None or sys.argv[1:2] != ["check"]:
        return _status(sys.argv[1:] if argv is None else argv)
    import atexit  # noqa: PLC0415
    import gc  # noqa: PLC0415

    gc.disable()  # few things made here are in cycles, and looking for them takes a tenth longer
    status = _status(sys.argv[1:])
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        pass  # it was flushed before, or there is nobody to read it
    os._exit(status)  # to take all objects apart takes longer than to check a file


def _status(argv: Sequence[str]) -> int:
    _open_closed_streams()
    _write_what_cannot_be_encoded()
    try:
        status = _run(argv)
        sys.stdout.flush()
        sys.stderr.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard(sys.stdout, sys.stderr)
        return PIPE_CLOSED
    except OSError as error:
        _discard(sys.stdout)
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except Exception:  # noqa: BLE001  Python's own exit code would say that something was found
        import traceback  # noqa: PLC0415

        traceback.print_exc()
        return _fail("this is a fault of tfmemlint; please report the lines above")
    return status


def _run(argv: Sequence[str]) -> int:
    if not argv:
        sys.stderr.write(_HELP)
        return FAILED
    name, *arguments = argv
    if name in ("-V", "--version", "version"):
        print(f"tfmemlint {__version__}")
        return 0
    if name in ("-h", "--help", "help"):
        print(_HELP, end="")
        return 0
    command = _COMMANDS.get(name)
    if command is None:
        return _fail(f"no command `{name}`{_hint(name)}")
    try:
        return command(arguments)
    except SystemExit as end:  # from argparse
        return end.code if isinstance(end.code, int) else FAILED


def _check(argv: Sequence[str]) -> int:
    from tfmemlint.quick import looked_at, nothing_to_find  # noqa: PLC0415

    if nothing_to_find(argv):
        files = {os.path.realpath(path) for path in argv}
        print(f"All checks passed! ({looked_at(len(files))})")
        return 0
    from tfmemlint.check import main  # noqa: PLC0415

    return main(argv)


def _rule(argv: Sequence[str]) -> int:
    from tfmemlint.config import ConfigError, plugins_here  # noqa: PLC0415
    from tfmemlint.pages import main  # noqa: PLC0415

    try:
        return main(argv, plugins_here())
    except ConfigError as error:
        return _fail(str(error))


def _verify(argv: Sequence[str]) -> int:
    from tfmemlint.verify.command import main  # noqa: PLC0415

    return main(list(argv))


def _measure(argv: Sequence[str]) -> int:
    from tfmemlint.measure.command import main  # noqa: PLC0415

    return main(argv)


def _server(argv: Sequence[str]) -> int:
    from tfmemlint.server.command import main  # noqa: PLC0415

    return main(argv)


def _plan(argv: Sequence[str]) -> int:
    from tfmemlint.plan import main  # noqa: PLC0415

    return main(argv)


def _config(argv: Sequence[str]) -> int:
    from tfmemlint.options import OPTIONS  # noqa: PLC0415
    from tfmemlint.shells import config_parser  # noqa: PLC0415
    from tfmemlint.slips import did_you_mean  # noqa: PLC0415

    key = config_parser().parse_args(argv).key
    if key is None:
        print("\n".join(OPTIONS))
        return 0
    if key not in OPTIONS:
        return _fail(f"no setting `{key}`{did_you_mean(key, OPTIONS)}")
    option = OPTIONS[key]
    print(f"{option.help}\n\nType: {option.type}\nDefault: {option.default}\n\n{option.example}")
    return 0


def _clean(argv: Sequence[str]) -> int:
    from tfmemlint.clean import main  # noqa: PLC0415

    return main(argv)


def _completion(argv: Sequence[str]) -> int:
    from tfmemlint.shells import complete  # noqa: PLC0415

    return complete(argv, _ABOUT.items())


def _man(argv: Sequence[str]) -> int:
    from tfmemlint.shells import manual  # noqa: PLC0415

    return manual(argv, _ABOUT.items())


_COMMANDS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "check": _check,
    "rule": _rule,
    "explain": _rule,
    "verify": _verify,
    "measure": _measure,
    "plan": _plan,
    "server": _server,
    "config": _config,
    "clean": _clean,
    "completion": _completion,
    "man": _man,
}


def _hint(name: str) -> str:
    from tfmemlint.slips import did_you_mean  # noqa: PLC0415

    if os.path.exists(name):  # noqa: PTH110
        return f"; did you mean `tfmemlint check {name}`?"
    return did_you_mean(name, _COMMANDS)


def _fail(message: str) -> int:
    from tfmemlint.refusing import refuse  # noqa: PLC0415

    return refuse(message)


def _open_closed_streams() -> None:
    """Python has None for a standard stream that is closed; nothing here is prepared for that."""
    streams: list[tuple[str, TextIO | None, str]] = [
        ("stdin", sys.stdin, "r"),
        ("stdout", sys.stdout, "w"),
        ("stderr", sys.stderr, "w"),
    ]
    for name, stream, mode in streams:
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _write_what_cannot_be_encoded() -> None:
    """As stderr does: a terminal without a letter for `\N{MULTIPLICATION SIGN}` is no fault."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _discard(*streams: TextIO) -> None:
    """Have the interpreter's last flush go nowhere instead of failing once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())
