"""Settings are read from the nearest file, and what is wrong with them is said in so many words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tfmemlint.config import (
    MIN_BYTES,
    Config,
    ConfigError,
    Configs,
    Selection,
    chosen,
    codes_of,
    load,
    selectors,
)
from tfmemlint.options import EXCLUDED, OPTIONS, oldest_tensorflow

NAMES = {
    "TFM001": "unreadable",
    "TFM101": "cache-of-batches",
    "TFM102": "no-prefetch",
    "TFM201": "retrace",
    "TFM202": "shuffle-after-batch",
}


def settings_of(folder: Path) -> Config:
    return Configs(lambda config: config).of(str(folder))


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def select(*selections: Selection) -> list[str]:
    return sorted(chosen(selections, NAMES))


@pytest.mark.parametrize("name", [".tfmemlint.toml", "tfmemlint.toml"])
def test_settings_are_read_from_a_file_of_their_own(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, "unsafe-fixes = true")
    config = settings_of(tmp_path)

    assert (True, str(path)) == (config.unsafe_fixes, config.path)


def test_settings_are_read_from_pyproject(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[project]\nname='x'\n[tool.tfmemlint]\nunsafe-fixes = true")

    assert settings_of(tmp_path).unsafe_fixes


def test_the_nearest_file_counts_alone(tmp_path: Path) -> None:
    write(tmp_path / "tfmemlint.toml", "unsafe-fixes = true\nignore = ['TFM101']")
    write(tmp_path / "a" / "tfmemlint.toml", "ignore = ['TFM202']")
    (tmp_path / "a" / "b").mkdir()
    config = settings_of(tmp_path / "a" / "b")

    assert not config.unsafe_fixes
    assert [selection.ignore for selection in config.rules] == [("TFM202",)]


def test_a_file_of_their_own_is_preferred_to_pyproject(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.tfmemlint]\nplugins = ['a']")
    write(tmp_path / "tfmemlint.toml", "plugins = ['b']")

    assert settings_of(tmp_path).plugins == ("b",)

    write(tmp_path / ".tfmemlint.toml", "plugins = ['c']")

    assert settings_of(tmp_path).plugins == ("c",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[tool.ruff]\nselect = ['ALL']",
        "[project]\ndependencies = ['tfmemlint']",
        "not TOML at all, and no word of us",
    ],
)
def test_a_pyproject_without_our_settings_is_passed_over(tmp_path: Path, text: str) -> None:
    write(tmp_path / "pyproject.toml", "[tool.tfmemlint]\nunsafe-fixes = true")
    write(tmp_path / "inner" / "pyproject.toml", text)

    assert settings_of(tmp_path / "inner").unsafe_fixes


def test_a_settings_file_that_is_no_file_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "tfmemlint.toml").mkdir()
    os.mkfifo(tmp_path / "pyproject.toml")

    assert settings_of(tmp_path).path != str(tmp_path / "tfmemlint.toml")


def test_without_any_file_everything_is_selected_and_only_safe_fixes_are_applied() -> None:
    config = Config()

    assert list(NAMES) == select(*config.rules)
    assert list(NAMES) == select(*config.fixes)
    assert (config.unsafe_fixes, config.exclude) == (False, EXCLUDED)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("selct = ['ALL']", "unknown key `selct`; did you mean `select`?"),
        ("unsafe_fixes = true", "unknown key `unsafe_fixes`; did you mean `unsafe-fixes`?"),
        ("zzz = 1", "unknown key `zzz`"),
        ("[tool.tfmemlint]", "unknown key `tool`; settings in this file stand without the name"),
        ("output-format = 'html'", "no format `html`; there are full, concise, json,"),
        ("select = 'ALL'", "`select` is not of the type list[str]"),
        ("ignore = [1]", "`ignore` is not of the type list[str]"),
        ("unsafe-fixes = 'yes'", "`unsafe-fixes` is not of the type bool"),
        ("unsafe-fixes = 1", "`unsafe-fixes` is not of the type bool"),
        ("per-file-ignores = ['a.py']", "`per-file-ignores` is not of the type dict"),
        ("[per-file-ignores]\n'a.py' = 'TFM101'", "`per-file-ignores` is not of the type dict"),
        ("tensorflow = 2.12", "`tensorflow` is not of the type str"),
        ("tensorflow = 'latest'", "`tensorflow`: `latest` is not a version specifier"),
        ("tensorflow = '2.12'", "`tensorflow`: `2.12` is not a version specifier"),
        ("tensorflow = '>=2.12,'", "is not a version specifier"),
        ("tensorflow = ''", "is not a version specifier"),
        (f"tensorflow = '>={'1' * 5_000}'", f"`>={'1' * 98}…` is not a version specifier"),
        ("output-format = 'jsn'", "`output-format`: no format `jsn`; did you mean `json`?"),
        ("exclude = ['[a']", "the pattern `[a` has an unclosed bracket"),
        ("extend-exclude = ['a\\']", "the pattern `a\\` ends with a backslash"),
        ("exclude = ['{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}']", "more than 1000"),
        ("select = [", "not valid TOML"),
        ("\0", "not valid TOML"),
        ("select = ['ALL']\nselect = []", "not valid TOML"),
        ("x = " + "[" * 20_000, "nests too deeply"),
        ("# " + "x" * 1_000_000, "larger than 1000000 bytes"),
    ],
    ids=lambda text: text[:30],
)
def test_what_is_wrong_is_said_with_the_file_and_the_key(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = write(tmp_path / "tfmemlint.toml", text)
    with pytest.raises(ConfigError) as error:
        settings_of(tmp_path)

    assert str(error.value).startswith(f"{path}: ")
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tool = 'tfmemlint'", "`tool` is not a table"),
        ("[tool]\ntfmemlint = 1", "`tfmemlint` is not a table"),
        ("[[tool.tfmemlint]]\nselect = []", "`tfmemlint` is not a table"),
        ("[tool.tfmemlint", "not valid TOML"),
    ],
)
def test_what_is_wrong_with_our_part_of_pyproject_is_said(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = write(tmp_path / "pyproject.toml", text)
    with pytest.raises(ConfigError) as error:
        settings_of(tmp_path)

    assert f"{path}: {problem}" in str(error.value)


def test_a_settings_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tfmemlint.toml").write_bytes(b"select = ['\xff']")
    with pytest.raises(ConfigError, match="not valid TOML"):
        settings_of(tmp_path)


def test_every_key_with_its_example_is_accepted(tmp_path: Path) -> None:
    examples = "\n".join(option.example for option in OPTIONS.values())
    config = load(str(write(tmp_path / "tfmemlint.toml", examples)), str(tmp_path))
    default = Config(path=str(tmp_path / "tfmemlint.toml"))

    assert config is not None
    assert all(ours != theirs for ours, theirs in zip(config[1:], default[1:], strict=True))


def test_every_key_with_its_default_is_the_default(tmp_path: Path) -> None:
    defaults = [
        f"{key} = {option.default}" for key, option in OPTIONS.items() if option.default != "none"
    ]
    config = load(str(write(tmp_path / "tfmemlint.toml", "\n".join(defaults))), str(tmp_path))

    assert config is not None
    assert list(NAMES) == select(*config.rules)
    assert list(NAMES) == select(*config.fixes)
    assert Config()[3:7] == config[3:7]
    assert config[7:] == (True, None, "full", (), MIN_BYTES, (), None)


@pytest.mark.parametrize(
    ("selector", "codes"),
    [
        ("ALL", list(NAMES)),
        ("TFM", list(NAMES)),
        ("TFM1", ["TFM101", "TFM102"]),
        ("TFM202", ["TFM202"]),
        ("shuffle-after-batch", ["TFM202"]),
    ],
)
def test_a_selector_means_codes(selector: str, codes: list[str]) -> None:
    assert codes == sorted(codes_of(selector, NAMES))


@pytest.mark.parametrize(
    ("selector", "nearest"),
    [
        ("TFM203", None),
        ("TMF101", "TFM101"),
        ("tfm101", "TFM101"),
        ("shuffle-after-batches", "shuffle-after-batch"),
        ("shuffle", None),
        ("TFM2022", "TFM202"),
        ("all", None),
        ("", None),
        ("E501", None),
    ],
)
def test_a_selector_that_means_nothing_is_refused(selector: str, nearest: str | None) -> None:
    with pytest.raises(ConfigError) as error:
        codes_of(selector, NAMES)

    question = f"; did you mean `{nearest}`?" if nearest else ""
    assert f"unknown rule `{selector}`{question}" == str(error.value)


@pytest.mark.parametrize(
    ("selections", "codes"),
    [
        ([], list(NAMES)),
        ([Selection(select=("TFM2",))], ["TFM201", "TFM202"]),
        ([Selection(select=())], []),
        ([Selection(ignore=("TFM1", "TFM0"))], ["TFM201", "TFM202"]),
        ([Selection(select=("TFM2",), ignore=("TFM202",))], ["TFM201"]),
        ([Selection(select=("TFM202",), ignore=("TFM2",))], ["TFM202"]),
        ([Selection(select=("TFM2",), ignore=("TFM2",))], []),
        ([Selection(select=("retrace",), ignore=("TFM2",))], ["TFM201"]),
        ([Selection(select=("ALL",), ignore=("retrace", "TFM1", "TFM0"))], ["TFM202"]),
        ([Selection(select=("TFM2",), extend_select=("TFM101",))], ["TFM101", "TFM201", "TFM202"]),
        ([Selection(ignore=("TFM1",)), Selection(select=("TFM1",))], ["TFM101", "TFM102"]),
        (
            [Selection(select=("TFM1", "TFM2")), Selection(ignore=("TFM2",))],
            ["TFM101", "TFM102"],
        ),
        (
            [Selection(select=("TFM1",)), Selection(extend_select=("TFM202",))],
            [*("TFM101", "TFM102", "TFM202")],
        ),
        ([Selection(select=("TFM1",)), Selection()], ["TFM101", "TFM102"]),
    ],
)
def test_the_more_exact_selector_wins_and_the_later_selection_builds_on_the_earlier(
    selections: list[Selection], codes: list[str]
) -> None:
    assert codes == select(*selections)


def test_every_selector_is_known_with_its_place() -> None:
    config = Config(
        rules=(
            Selection("a.toml", ("ALL", "TFM1"), ("TFM2",), ("TFM3",)),
            Selection(None, ("TFM4",)),
        ),
        fixes=(Selection("a.toml", ("TFM5",), (), ("TFM6",)),),
    )

    assert list(selectors(config)) == [
        ("a.toml: `select`", "TFM1"),
        ("a.toml: `extend-select`", "TFM2"),
        ("a.toml: `ignore`", "TFM3"),
        ("`--select`", "TFM4"),
        ("a.toml: `fixable`", "TFM5"),
        ("a.toml: `unfixable`", "TFM6"),
    ]


@pytest.mark.parametrize(
    ("specifier", "oldest"),
    [
        (">=2.12", (2, 12)),
        (">=2.12,<3", (2, 12)),
        ("~=2.16.1", (2, 16, 1)),
        ("==2.15.*", (2, 15)),
        (">=2.10, !=2.11.0, >2.13", (2, 13)),
        (">= 2.16rc1", (2, 16)),
        ("<2.16", None),
        ("!=2.16", None),
        (None, None),
    ],
)
def test_the_oldest_tensorflow_is_the_highest_of_the_floors(
    specifier: str | None, oldest: tuple[int, ...] | None
) -> None:
    assert oldest == oldest_tensorflow(specifier)
