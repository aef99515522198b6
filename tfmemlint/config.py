"""Settings: `[tool.tfmemlint]` in pyproject.toml, or a tfmemlint.toml, the nearest to each file."""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH100, PTH109, PTH112, PTH116, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from stat import S_ISREG

from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple, cast
from tfmemlint.options import EXCLUDED, OPTIONS, oldest_tensorflow, shown, table_of
from tfmemlint.patterns import ANY, Matcher, PatternError, alternatives, literally, matcher
from tfmemlint.slips import did_you_mean

if TYPE_CHECKING:
    from typing import Any

FILES = (".tfmemlint.toml", "tfmemlint.toml", "pyproject.toml")
"""Where settings are looked for in a folder; the first that has any is the only one read."""


_LARGEST = 1_000_000
_MOST_PATTERNS = 1_000


MIN_BYTES = 1 << 20
"""What is known to hold less is too small to tell of."""


class ConfigError(Exception):
    """Settings that cannot be used; the message says where and why."""


class Selection(NamedTuple):
    """Which rules one source of settings wants: a file, or the command line."""

    origin: str | None = None
    """The file; None for the command line."""
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


class FileIgnores(NamedTuple):
    """Rules that are ignored in some files."""

    origin: str | None
    files: Matcher
    inverted: bool
    """Means all other files."""
    ignore: tuple[str, ...]


class Config(NamedTuple):
    """The settings of one file, checked; rule codes are as written."""

    path: str | None = None
    """The file that the settings are from; None for the defaults."""
    rules: tuple[Selection, ...] = ()
    """Which rules to run; a later selection builds on the earlier ones, or starts anew."""
    fixes: tuple[Selection, ...] = ()
    """Which rules' fixes to apply, likewise."""
    file_ignores: tuple[FileIgnores, ...] = ()
    exclude: tuple[str, ...] = EXCLUDED
    """Patterns of names, and of absolute paths."""
    extend_exclude: tuple[str, ...] = ()
    unsafe_fixes: bool = False
    follow_imports: bool = True
    """Whether what a file imports from others that are checked with it may say more of it."""
    tensorflow: str | None = None
    output_format: str | None = None
    plugins: tuple[str, ...] = ()
    min_bytes: int | None = None
    """What is known to hold less is not reported; None for what is usual."""
    assume: tuple[tuple[str, float], ...] = ()
    """Numbers that the code does not tell, by the text of what they are."""
    baseline: str | None = None
    """The file that lists what is known."""


class Configs:
    """The settings of each folder, read once."""

    def __init__(
        self,
        override: Callable[[Config], Config],
        always: Config | None = None,
        instead: Mapping[str, object] = {},
    ) -> None:
        """`always` holds for all folders; `instead` are values that replace those of files."""
        self._override = override
        self._instead = instead
        self._always = None if always is None else override(always)
        self._known: dict[str, Config] = {}
        self.shown: dict[str, Config] = {}
        self._excluded: dict[Config, Matcher] = {}
        self._declared: dict[str, tuple[str, ...]] = {}

    def of(self, folder: str) -> Config:
        """The settings that hold in a folder, given by its absolute path. Raises ConfigError."""
        if self._always is not None:
            return self._always
        below: list[str] = []
        config = self._known.get(folder)
        while config is None:
            below.append(folder)
            own = in_folder(folder, self._instead)
            above = os.path.dirname(folder)
            if own is not None or above == folder:
                config = self._override(own or self._default())
            else:
                folder = above
                config = self._known.get(folder)
        self._known.update(dict.fromkeys(below, config))
        return config

    def _default(self) -> Config:
        return read(self._instead, "--config", os.getcwd()) if self._instead else Config()

    def of_file(self, path: str) -> Config:
        """The settings that hold for a file. Raises ConfigError."""
        shown = os.path.dirname(path)
        if shown not in self.shown:  # an absolute path for each file takes its time
            self.shown[shown] = self.of(os.path.abspath(shown))
        return self.shown[shown]

    def excluded(self, folder: str) -> Matcher:
        """What is excluded in a folder."""
        config = self.of(folder)
        if config not in self._excluded:
            patterns = (*config.exclude, *config.extend_exclude)
            self._excluded[config] = matcher(patterns, ANY)
        return self._excluded[config]

    def begins(self, path: str) -> str:
        """Where the project of a file or folder begins, given by its absolute path.

        That is where its settings are, else its repository, else the working directory; or all
        folders are its project.
        """
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        settings = self.of(folder).path if self._always is None else None
        if settings is not None:
            return os.path.dirname(settings)
        above = [folder]
        while os.path.dirname(above[-1]) != above[-1]:
            above.append(os.path.dirname(above[-1]))
        repositories = (each for each in above if os.path.lexists(os.path.join(each, ".git")))
        here = os.getcwd()
        return next(repositories, here if here in above else above[-1])

    def oldest_tensorflow(self, folder: str) -> tuple[int, ...] | None:
        """The oldest TensorFlow that code in a folder is to run with; None if any.

        As set or, where settings leave it open, as the project's requirements have it.
        """
        setting = self.of(folder).tensorflow
        if setting is not None or self._always is not None:
            return oldest_tensorflow(setting)
        floors = map(oldest_tensorflow, self._required(folder))
        return min((floor for floor in floors if floor is not None), default=None)

    def _required(self, folder: str) -> tuple[str, ...]:
        """The specifiers for TensorFlow nearest to a folder, within its repository."""
        from tfmemlint.declared import specifiers  # noqa: PLC0415

        if folder not in self._declared:
            found, above = specifiers(folder), os.path.dirname(folder)
            ends = above == folder or os.path.lexists(os.path.join(folder, ".git"))
            self._declared[folder] = found if found or ends else self._required(above)
        return self._declared[folder]

    def all(self) -> list[Config]:
        """The different settings met so far."""
        return [self._always] if self._always else list(dict.fromkeys(self._known.values()))


def plugins_here() -> tuple[str, ...]:
    """The rule packs that the settings of this folder name. Raises ConfigError."""

    def as_they_are(config: Config) -> Config:
        return config

    return Configs(as_they_are).of(os.getcwd()).plugins


def in_folder(folder: str, instead: Mapping[str, object] = {}) -> Config | None:
    """The settings that a folder's own files give; None if they give none."""
    for name in FILES:
        path = os.path.join(folder, name)
        try:
            status = os.stat(path)
        except OSError:
            continue
        if S_ISREG(status.st_mode):
            config = load(path, folder, instead)
            if config is not None:
                return config
    return None


def load(path: str, root: str, instead: Mapping[str, object] = {}) -> Config | None:
    """The settings in a file; None if it is a pyproject.toml without any. Raises ConfigError.

    `root` is the folder that its patterns start from, `instead` what replaces values of its own.
    """
    data = _data(path)
    shared = os.path.basename(path) == "pyproject.toml"
    if shared and b"tfmemlint" not in data:
        return None
    table = _parse(data, path)
    if shared:
        try:
            tools = table_of(table.get("tool", {}))
        except TypeError:
            raise ConfigError(f"{path}: `tool` is not a table") from None
        if "tfmemlint" not in tools:
            return None
        table = tools["tfmemlint"]
    if instead and isinstance(table, dict):
        table = {**cast("dict[str, object]", table), **instead}
    return read(table, path, root)


def pairs_in(text: str) -> Mapping[str, object]:
    """The values in a piece of TOML on the command line, each right. Raises ConfigError."""
    origin = f"--config '{text}'"
    table = _parse(text.encode("utf-8", "surrogatepass"), origin)
    nested: dict[str, Any] = table.get("tool", {})
    table = nested.get("tfmemlint", table) if list(table) == ["tool"] else table
    read(table, origin, os.getcwd())
    return table


def table_in(path: str) -> dict[str, Any]:
    """Whatever a file of settings holds, be it another program's. Raises ConfigError."""
    return _parse(_data(path), path)


def read(table: object, path: str, root: str) -> Config:
    """The settings in a table of keys and values. Raises ConfigError."""
    values: dict[str, Any] = {}
    try:
        given = table_of(table)
    except TypeError:
        raise ConfigError(f"{path}: `tfmemlint` is not a table") from None
    for key, value in given.items():
        option = OPTIONS.get(key)
        if option is None:
            hint = did_you_mean(key, OPTIONS)
            if key == "tool":
                hint = "; settings in this file stand without the name of a table"
            raise ConfigError(f"{path}: unknown key `{shown(key)}`{hint}")
        try:
            values[key] = option.read(value)
        except TypeError:
            raise ConfigError(f"{path}: `{key}` is not of the type {option.type}") from None
        except ValueError as error:
            raise ConfigError(f"{path}: `{key}`: {error}") from None
    try:
        return Config(
            path=path,
            rules=(
                Selection(
                    path,
                    values.get("select"),
                    values.get("extend-select", ()),
                    values.get("ignore", ()),
                ),
            ),
            fixes=(
                Selection(
                    path,
                    values.get("fixable"),
                    values.get("extend-fixable", ()),
                    values.get("unfixable", ()),
                ),
            ),
            file_ignores=file_ignores(
                (
                    *values.get("per-file-ignores", ()),
                    *values.get("extend-per-file-ignores", ()),
                ),
                root,
                path,
            ),
            exclude=(*rooted(values["exclude"], root),) if "exclude" in values else EXCLUDED,
            extend_exclude=(*rooted(values.get("extend-exclude", ()), root),),
            unsafe_fixes=values.get("unsafe-fixes", False),
            follow_imports=values.get("follow-imports", True),
            tensorflow=values.get("tensorflow"),
            output_format=values.get("output-format"),
            plugins=values.get("plugins", ()),
            min_bytes=values.get("min-bytes"),
            assume=values.get("assume", ()),
            baseline=os.path.join(root, values["baseline"]) if "baseline" in values else None,
        )
    except PatternError as error:
        raise ConfigError(f"{path}: {error}") from None


def file_ignores(
    pairs: Iterable[tuple[str, tuple[str, ...]]], root: str, origin: str | None
) -> tuple[FileIgnores, ...]:
    """What to ignore where, from patterns with the codes ignored in the files they match."""
    return tuple(
        FileIgnores(
            origin,
            matcher(rooted([pattern.removeprefix("!")], root), ANY),
            pattern.startswith("!"),
            codes,
        )
        for pattern, codes in pairs
    )


def rooted(patterns: Collection[str], root: str) -> Iterator[str]:
    """Patterns that match names, or else absolute paths below `root`. Raises PatternError."""
    start = literally(root.replace(os.sep, "/"))
    total = 0
    for pattern in patterns:
        for each in alternatives(pattern, _MOST_PATTERNS):
            total += 1
            if total > _MOST_PATTERNS:
                raise PatternError(f"more than {_MOST_PATTERNS} patterns")
            plain = each.rstrip("/") or "/"
            rooted = os.path.normpath(os.path.join(start, plain)) if "/" in plain else plain
            try:
                matcher([rooted], ANY)
            except PatternError as error:
                raise PatternError(f"the pattern `{each}` {error}") from None
            yield rooted


def codes_of(
    selector: str, names: Mapping[str, str], groups: Mapping[str, frozenset[str]] = {}
) -> frozenset[str]:
    """The codes that a code, a name, a prefix, a group or `ALL` means. Raises ConfigError.

    `names` has the name of every code there is, `groups` the codes that a word stands for.
    """
    if selector == "ALL":
        return frozenset(names)
    if selector in groups:
        return groups[selector]
    codes = frozenset(
        code
        for code, name in names.items()
        if selector == name or (selector and code.startswith(selector))
    )
    if not codes:
        nearest = did_you_mean(selector, [*names, *names.values(), *groups])
        raise ConfigError(f"unknown rule `{shown(selector)}`{nearest}")
    return codes


def chosen(
    selections: Iterable[Selection],
    names: Mapping[str, str],
    groups: Mapping[str, frozenset[str]] = {},
) -> frozenset[str]:
    """The codes that are left when each selection has had its say. Raises ConfigError.

    Within one selection the longer prefix wins, and of two as long what ignores.
    """
    codes: set[str] = set(names)
    for _, select, extend_select, ignore in selections:
        wanted = (*(select or ()), *extend_select)
        wishes = [(_weight(each, names, groups), True, each) for each in wanted]
        wishes += [(_weight(each, names, groups), False, each) for each in ignore]
        verdicts: dict[str, bool] = {}
        for _, wish, each in sorted(wishes, key=lambda wish: (wish[0], not wish[1])):
            verdicts.update(dict.fromkeys(codes_of(each, names, groups), wish))
        if select is not None:
            codes = set()
        codes |= {code for code, wanted in verdicts.items() if wanted}
        codes -= {code for code, wanted in verdicts.items() if not wanted}
    return frozenset(codes)


def selectors(config: Config) -> Iterator[tuple[str, str]]:
    """Every selector in the settings but `ALL`, with words that say where it is written."""
    written = [
        (selection.origin, key, entries or ())
        for keys, selections in (
            (("select", "extend-select", "ignore"), config.rules),
            (("fixable", "extend-fixable", "unfixable"), config.fixes),
        )
        for selection in selections
        for key, entries in zip(keys, selection[1:], strict=True)
    ]
    written += [(each.origin, "per-file-ignores", each.ignore) for each in config.file_ignores]
    for origin, key, entries in written:
        where = f"{origin}: `{key}`" if origin else f"`--{key}`"
        yield from ((where, entry) for entry in entries if entry != "ALL")


def _weight(selector: str, names: Mapping[str, str], groups: Mapping[str, frozenset[str]]) -> int:
    if selector == "ALL" or selector in groups:
        return 0 if selector == "ALL" else 1
    return len(max(names, key=len)) if selector in names.values() else len(selector)


def _data(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_LARGEST + 1)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error


def _parse(data: bytes, path: str) -> dict[str, Any]:
    if len(data) > _LARGEST:
        raise ConfigError(f"{path}: larger than {_LARGEST} bytes")
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415
    else:
        import tomli as tomllib  # noqa: PLC0415
    try:
        return tomllib.loads(data.decode("utf-8"))
    except RecursionError:
        raise ConfigError(f"{path}: nests too deeply") from None
    except ValueError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
