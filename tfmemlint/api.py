"""tfmemlint from Python: `check_source`, `check_paths`, `fix_source` and `measure`.

What they give is the vocabulary's frozen data, in which places are offsets into the text that was
checked. They read no settings but those that are given, raise ConfigError where these make no
sense, print nothing, and run nothing of what is checked; only `measure` runs a program.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tfmemlint.config import Config, ConfigError, Configs, load, read
from tfmemlint.decoding import Decoded
from tfmemlint.files import find
from tfmemlint.run import Checker, Opened, run
from tfmemlint.vocabulary import Checked, Finding

if TYPE_CHECKING:
    from tfmemlint.measure.account import Account

__all__ = [
    "Checked",
    "ConfigError",
    "Finding",
    "Fixed",
    "check_paths",
    "check_source",
    "fix_source",
    "measure",
]

Settings = Mapping[str, object] | str | os.PathLike[str] | None
"""A table of settings with the keys of tfmemlint.toml, a file that holds one, or the defaults."""


class Fixed(NamedTuple):
    """A program after its fixes."""

    text: str
    """What it is now; what it was where nothing was fixed."""
    fixed: tuple[tuple[str, int], ...]
    """How many findings of each code were fixed."""
    remaining: tuple[Finding, ...]
    """What is still found, in the new text."""


def check_source(source: str, path: str = "example.py", *, settings: Settings = None) -> Checked:
    """What is found in a program, as if it stood in a file of this name; no file is read."""
    checker = Checker(_configs(settings))
    return checker.check(path, source.encode("utf-8", "surrogatepass"), _opened(source)).checked


def check_paths(
    paths: Iterable[str | os.PathLike[str]], *, settings: Settings = None, jobs: int | None = 1
) -> list[Checked]:
    """What is found in files and below folders, by file; those without findings are listed, too.

    `jobs` is how many processes may be used, None for as many as can run at once. Raises
    FileNotFoundError for a path that is none.
    """
    configs = _configs(settings)
    asked = [os.fspath(path) for path in paths]
    for path in asked:
        if not os.path.exists(path):  # noqa: PTH110
            raise FileNotFoundError(path)
    found = find(asked, configs.excluded, respect_gitignore=True, force_exclude=None)
    outcomes = run(found.files, Checker(configs, named=asked), jobs)
    return [outcome.checked for outcome in outcomes]


def fix_source(
    source: str, path: str = "example.py", *, unsafe: bool = False, settings: Settings = None
) -> Fixed:
    """A program after its safe fixes, and its unsafe ones where these are wanted."""

    def override(config: Config) -> Config:
        return config._replace(unsafe_fixes=config.unsafe_fixes or unsafe)

    checker = Checker(_configs(settings, override), fix=True)
    outcome = checker.check(path, source.encode("utf-8", "surrogatepass"), _opened(source))
    text = outcome.change.after.decode("utf-8", "surrogatepass") if outcome.change else source
    return Fixed(text, outcome.fixed, outcome.checked.findings)


def measure(
    program: str | os.PathLike[str],
    arguments: Sequence[str] = (),
    *,
    device: str = "auto",
    limit: int | None = None,
) -> Account:
    """Run a program, in a process of its own, and say what held the memory at its peak.

    `limit` is the size of the device in bytes. Needs TensorFlow. What the program prints goes to
    where this process prints. Raises UnusableError and SetupError, of `tfmemlint.measure.account`
    and of `tfmemlint.verify.devices`.
    """
    from tfmemlint.measure.command import measure as run_measured  # noqa: PLC0415

    return run_measured(Path(program), arguments, device=device, limit=limit)


def _configs(settings: Settings, override: Callable[[Config], Config] | None = None) -> Configs:
    def as_it_is(config: Config) -> Config:
        return config

    if settings is None:
        config = Config()
    elif isinstance(settings, Mapping):
        config = read(settings, "settings", os.getcwd())  # noqa: PTH109
    else:
        path = os.path.abspath(settings)  # noqa: PTH100
        config = load(path, os.path.dirname(path)) or Config()  # noqa: PTH120
    return Configs(override or as_it_is, config)


def _opened(source: str) -> Opened:
    """A text is what it is, whatever encoding it says that it had as a file."""
    return Opened(source.encode("utf-8", "surrogatepass"), Decoded(source))
