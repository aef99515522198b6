"""The documentation: every block of code in it, and in the README, does what it is for."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml  # type: ignore[import-untyped]

from tfmemlint import config, registry
from tfmemlint.cli import main
from tfmemlint.report.links import DOCUMENTATION
from tfmemlint.vocabulary import Rule

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
BAD = registry.folder(registry.load()["TFM202"]) / "bad.py"
LANGUAGES = {
    *("console", "python", "toml", "yaml", "json"),
    "ipython",  # tried in a kernel, by the tests of the magic commands
    *("lua", "elisp", "vim", "text"),  # of editors that are not here: what they start is tried
}

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="a checkout has the documentation")


class Block(NamedTuple):
    """A block of code in a page."""

    page: str
    number: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}-{self.number}"


def blocks() -> Iterator[Block]:
    for path in PAGES:
        text = path.read_text("utf-8")
        found = re.findall(r"^[ ]*```(\S*)\n(.*?)^[ ]*```", text, re.DOTALL | re.MULTILINE)
        for number, (language, content) in enumerate(found):
            yield Block(path.stem, number, language, content)


def of(*languages: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "block", [each for each in blocks() if each.language in languages], ids=str
    )


def commands(block: Block) -> list[str]:
    joined = block.text.replace("\\\n", "")
    return [line[2:].partition("  #")[0] for line in joined.splitlines() if line[:2] == "$ "]


def needs_tensorflow(text: str) -> bool:
    kinds = (r"tfmemlint (verify|measure|server)", r"tfmemlint\.testing", "tf_memory", "-m venv")
    return bool(re.search("|".join(kinds), text))


def test_blocks_are_of_languages_that_are_tried() -> None:
    assert {block.language for block in blocks()} == LANGUAGES
    assert sum(1 for _ in blocks()) > 35


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project as the pages speak of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    source = re.sub(r"[ \t]*# (?:want .*|scales|step)$", "", BAD.read_text("utf-8"), flags=re.M)
    (tmp_path / "train.py").write_text(source)
    shutil.copy(tmp_path / "train.py", tmp_path / "src" / "train.py")
    run = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
        subprocess.run([*run, *arguments], check=True, capture_output=True)
    return tmp_path


@of("console")
@pytest.mark.usefixtures("project")
def test_a_command_does_what_it_says(block: Block, capsys: pytest.CaptureFixture[str]) -> None:
    """But for those that install or measure: `.ci/run` and other tests run these."""
    tried = commands(block)
    assert tried
    for command in tried:
        if needs_tensorflow(command) or command.startswith(("pip install", "pre-commit ")):
            continue
        words = shlex.split(command, comments=True)
        words = words[: words.index(">")] if ">" in words else words
        assert words[0] == "tfmemlint"
        status, said = main(words[1:]), capsys.readouterr().err
        assert status in (0, 1), f"{command}: {said}"
        assert "Traceback" not in said


def test_what_the_readme_shows_is_what_is_printed(project: Path) -> None:
    first = next(each for each in blocks() if each.page == "README" and "--> " in each.text)
    command, _, shown = first.text.partition("\n")
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command[2:])],
        capture_output=True,
        text=True,
        check=False,
    )

    assert shown.strip() == done.stdout.strip()


@of("python")
def test_a_program_runs(block: Block, project: Path) -> None:
    if needs_tensorflow(block.text):
        pytest.skip("measured in tests of the mark")
    if "import tensorflow" in block.text.partition('"""')[0]:
        ast.parse(block.text)  # to be checked, not run
        (project / "a.py").write_text(block.text)
        done = subprocess.run(
            [sys.executable, "-m", "tfmemlint", "check", "a.py"], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stdout
        return
    names: dict[str, object] = {"__name__": "a_module", "__doc__": ""}
    exec(compile(block.text, str(block), "exec"), names)
    if "RULE" in names:
        assert isinstance(names["RULE"], Rule)


@of("toml")
def test_settings_are_read(block: Block) -> None:
    table = config.pairs_in("") or None
    assert table is None
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415
    else:
        import tomli as tomllib  # noqa: PLC0415
    tools = tomllib.loads(block.text)
    ours = tools.get("tool", {}).get("tfmemlint")
    assert (
        ours or "ruff" in tools.get("tool", {}) or "language-server" in tools or "project" in tools
    )
    if ours:
        config.read(ours, "the page", "/")


@of("yaml", "json")
def test_data_is_what_it_is_for(block: Block) -> None:
    data = yaml.safe_load(block.text) if block.language == "yaml" else json.loads(block.text)
    text = json.dumps(data)

    assert "tfmemlint" in text
    for command in re.findall(r'"(tfmemlint check[^"]*)"', text):
        assert_understood(command)


@of("lua", "elisp", "vim")
def test_an_editor_starts_what_there_is(block: Block) -> None:
    assert re.search(
        r'"tfmemlint",? "server"|%e server|tfmemlint\\ check\\ --output-format=concise', block.text
    )


def assert_understood(command: str) -> None:
    from tfmemlint.arguments import parse  # noqa: PLC0415

    parse([word for word in shlex.split(command)[2:] if word != "."])


def test_the_site_is_built_and_all_its_links_lead_somewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    for code in (*registry.load(), "TFM005"):
        page = (tmp_path / "rules" / code / "index.html").read_text("utf-8")
        assert code in page
    assert '<span class="gd">' in (tmp_path / "rules/TFM202/index.html").read_text("utf-8")
    assert (tmp_path / "rules/TFM202.svg").read_text("utf-8").startswith("<?xml") or (
        tmp_path / "rules/TFM202.svg"
    ).read_text("utf-8").startswith("<svg")
    assert 'id="baseline"' in (tmp_path / "settings" / "index.html").read_text("utf-8")
    assert not (tmp_path / "_hook.py").exists()


def test_there_is_one_address() -> None:
    assert f"site_url: {DOCUMENTATION}\n" in (ROOT / "mkdocs.yml").read_text("utf-8")
    assert f'Documentation = "{DOCUMENTATION}"' in (ROOT / "pyproject.toml").read_text("utf-8")
    spelt = [
        path.name
        for path in (ROOT / "tfmemlint").rglob("*.py")
        if "readthedocs" in path.read_text("utf-8")
    ]
    assert spelt == ["links.py"]
