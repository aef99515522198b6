"""The language server, run as editors run it, and asked by the client of a library."""

from __future__ import annotations

import ast
import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls import uris
from pygls.lsp.client import LanguageClient

from tfmemlint import __version__
from tfmemlint.config import ConfigError
from tfmemlint.server.checking import Desk, Found, Part
from tfmemlint.server.helping import Helper
from tfmemlint.server.texts import Positions, difference, moved
from tfmemlint.vocabulary import Diagnostic, Edit, Finding, Span

START = "import tensorflow as tf\n\n"
SAFE = """\
def f(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
    return tape.gradient(y, x)
"""
WIDE = 'ds = tf.data.TFRecordDataset("ä𝄞").batch(32).prefetch(999)\n'
UNSAFE = "xs = tf.data.TFRecordDataset('x').batch(32).shuffle(9999)\n"
FIXED = SAFE.replace("persistent=True", "")


class Editor:
    """An editor that has a server of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = LanguageClient("an editor", "1")
        self.told: dict[str, list[types.Diagnostic]] = {}
        self.said: list[str] = []
        self.registered: list[types.Registration] = []
        self._news = asyncio.Event()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def _(params: types.PublishDiagnosticsParams) -> None:
            self.told[params.uri] = list(params.diagnostics)
            self._news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)  # type: ignore[untyped-decorator]
        def _(params: types.ShowMessageParams) -> None:
            self.said.append(params.message)

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)  # type: ignore[untyped-decorator]
        def _(params: types.RegistrationParams) -> None:
            self.registered += params.registrations

    async def start(self, options: object = None, encoding: str = "utf-16") -> None:
        await self.client.start_io(sys.executable, "-m", "tfmemlint", "server")
        capabilities = types.ClientCapabilities(
            general=types.GeneralClientCapabilities(position_encodings=[encoding]),
            workspace=types.WorkspaceClientCapabilities(
                did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(
                    dynamic_registration=True
                )
            ),
        )
        result = await self.client.initialize_async(
            types.InitializeParams(
                capabilities,
                root_uri=uris.from_fs_path(str(self.folder)),
                initialization_options=options,
            )
        )
        assert result.server_info == types.ServerInfo("tfmemlint", __version__)
        self.client.initialized(types.InitializedParams())

    def uri(self, name: str) -> str:
        return uris.from_fs_path(str(self.folder / name)) or ""

    async def open(self, name: str, text: str) -> list[types.Diagnostic]:
        self._news.clear()
        document = types.TextDocumentItem(self.uri(name), "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        return await self.news(name)

    async def type(self, name: str, text: str, version: int = 2) -> list[types.Diagnostic]:
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, self.uri(name)),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        await self.actions(self.uri(name), only=["none"])  # waits for what is found now
        return self.told[self.uri(name)]

    async def news(self, name: str) -> list[types.Diagnostic]:
        await asyncio.wait_for(self._news.wait(), 60)
        self._news.clear()
        return self.told[self.uri(name)]

    async def actions(
        self, uri: str, row: int = 3, only: list[str] | None = None
    ) -> list[types.CodeAction]:
        place = types.Range(types.Position(row, 30), types.Position(row, 60))
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri),
                place,
                types.CodeActionContext([], only=only),
            )
        )
        return [action for action in found or [] if isinstance(action, types.CodeAction)]

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await asyncio.wait_for(self.client.stop(), 30)  # type: ignore[no-untyped-call]


Script = Callable[[Editor], Awaitable[None]]


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run a script of what an editor does, with a server that was started."""
    monkeypatch.chdir(tmp_path)

    def edit(script: Script, options: object = None, encoding: str = "utf-16") -> None:
        async def whole() -> None:
            editor = Editor(tmp_path)
            await editor.start(options, encoding)
            await script(editor)
            await editor.stop()

        asyncio.run(whole())

    return edit


def applied(text: str, action: types.CodeAction, uri: str) -> str:
    """A text after what an action does to it, as an editor does that."""
    assert action.edit is not None
    assert action.edit.changes is not None
    assert list(action.edit.changes) == [uri]
    positions = Positions(text)
    for edit in reversed(action.edit.changes[uri]):
        start, end = positions.offset(edit.range.start), positions.offset(edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text


def codes(diagnostics: list[types.Diagnostic]) -> list[Any]:
    return [each.code for each in diagnostics]


def test_what_is_typed_is_checked_though_nothing_is_saved(edit: Callable[..., None]) -> None:
    async def script(editor: Editor) -> None:
        assert await editor.open("a.py", START) == []
        (found,) = await editor.type("a.py", START + WIDE)
        assert (found.code, found.source, found.severity) == ("TFM207", "tfmemlint", 2)
        # U+1D11E takes two of UTF-16's units.
        assert found.range == types.Range(types.Position(2, 46), types.Position(2, 59)) or (
            START + WIDE
        ).splitlines()[2].encode("utf-16-le")[
            found.range.start.character * 2 : found.range.end.character * 2
        ].decode("utf-16-le").endswith("999)")
        assert codes(await editor.type("a.py", START + "def f(:\n", 3)) == ["TFM002"]
        assert await editor.type("a.py", START, 4) == []
        assert not (editor.folder / "a.py").exists()
        editor.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(editor.uri("a.py")))
        )
        assert await editor.news("a.py") == []

    edit(script)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_columns_are_counted_as_was_agreed(edit: Callable[..., None], encoding: str) -> None:
    line = WIDE.rstrip("\n")
    unit = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]

    async def script(editor: Editor) -> None:
        (found,) = await editor.open("a.py", START + WIDE)
        data, width = line.encode(unit[0]), unit[1]
        start, end = (each.character * width for each in (found.range.start, found.range.end))
        assert data[start:end].decode(unit[0]).endswith("prefetch(999)"[-5:])
        assert data[end:] == b""

    edit(script, encoding=encoding)


def test_each_finding_has_its_fix_and_a_way_to_be_ignored(edit: Callable[..., None]) -> None:
    async def script(editor: Editor) -> None:
        text, uri = START + SAFE + UNSAFE, editor.uri("a.py")
        await editor.open("a.py", text)
        fix, ignore = await editor.actions(uri, 3, ["quickfix"])
        assert fix.is_preferred
        assert applied(text, fix, uri) == START + FIXED + UNSAFE
        assert ignore.title == "Ignore TFM402 here"
        assert codes(await editor.type("a.py", applied(text, ignore, uri))) == ["TFM202"]

        await editor.type("a.py", text, 3)
        fix, ignore, every = await editor.actions(uri, 7)
        assert fix.title.endswith("(TFM202, unsafe: results may differ)")
        assert not fix.is_preferred
        assert fix.diagnostics is not None
        assert codes(list(fix.diagnostics)) == ["TFM202"]
        assert every.kind == "source.fixAll.tfmemlint"
        assert applied(text, every, uri) == START + FIXED + UNSAFE
        assert await editor.actions(uri, 0, ["quickfix"]) == []
        (same,) = await editor.actions(uri, 0, ["source.fixAll"])
        assert applied(text, same, uri) == applied(text, every, uri)
        assert await editor.actions(uri, 3, ["refactor"]) == []

    edit(script)


def test_actions_are_of_what_was_typed_last(edit: Callable[..., None]) -> None:
    async def script(editor: Editor) -> None:
        await editor.open("a.py", START + "# nothing\n")
        change = types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(2, editor.uri("a.py")),
            [types.TextDocumentContentChangeWholeDocument(START + SAFE)],
        )
        editor.client.text_document_did_change(change)
        actions = await editor.actions(editor.uri("a.py"))

        assert len(actions) == 3
        assert applied(START + SAFE, actions[0], editor.uri("a.py")) == START + FIXED

    edit(script)


def test_a_finding_explains_itself(edit: Callable[..., None]) -> None:
    async def script(editor: Editor) -> None:
        await editor.open("a.py", START + UNSAFE)
        document = types.TextDocumentIdentifier(editor.uri("a.py"))
        hover = await editor.client.text_document_hover_async(
            types.HoverParams(document, types.Position(2, 50))
        )
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        for words in ("TFM202", "## What to do instead", "Measured: device peak"):
            assert words in hover.contents.value
        nothing = await editor.client.text_document_hover_async(
            types.HoverParams(document, types.Position(0, 3))
        )
        assert nothing is None

    edit(script)


def test_settings_are_those_of_the_project_and_are_read_again(edit: Callable[..., None]) -> None:
    async def script(editor: Editor) -> None:
        assert codes(await editor.open("a.py", START + SAFE)) == ["TFM402"]
        await asyncio.sleep(0.1)
        assert [each.method for each in editor.registered] == ["workspace/didChangeWatchedFiles"]

        settings = editor.folder / "tfmemlint.toml"
        for text, found in (
            ("ignore = ['TFM4']", []),
            ("selct = []", ["TFM402"]),
            ("exclude = ['a.py']", []),
            ("", ["TFM402"]),
        ):
            settings.write_text(text)
            change = types.FileEvent(
                uris.from_fs_path(str(settings)) or "", types.FileChangeType.Changed
            )
            editor.client.workspace_did_change_watched_files(
                types.DidChangeWatchedFilesParams([change])
            )
            assert codes(await editor.news("a.py")) in (found, [])
        assert any("unknown key `selct`; did you mean `select`?" in each for each in editor.said)

        for given in ({"tfmemlint": {"ignore": ["TFM402"]}}, {"settings": {"select": ["TFM1"]}}):
            editor.client.workspace_did_change_configuration(
                types.DidChangeConfigurationParams(given)
            )
            assert await editor.news("a.py") == []
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
        assert codes(await editor.news("a.py")) == ["TFM402"]

    edit(script)


def test_an_editor_may_bring_settings_along(edit: Callable[..., None]) -> None:
    async def script(editor: Editor) -> None:
        assert codes(await editor.open("a.py", START + SAFE + UNSAFE)) == ["TFM202"]

    edit(script, {"settings": {"ignore": ["TFM402"]}})


def test_the_cells_of_a_notebook_are_checked_together(edit: Callable[..., None]) -> None:
    async def script(editor: Editor) -> None:
        cells = [
            ("%matplotlib inline\n" + START, types.NotebookCellKind.Code),
            ("# About", types.NotebookCellKind.Markup),
            ("!ls -la somewhere\n" + SAFE, types.NotebookCellKind.Code),
        ]
        names = [f"{editor.uri('a.ipynb')}#c{number}" for number in range(3)]
        editor.client.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument(
                    editor.uri("a.ipynb"),
                    "jupyter-notebook",
                    1,
                    [
                        types.NotebookCell(kind, uri)
                        for (_, kind), uri in zip(cells, names, strict=True)
                    ],
                ),
                [
                    types.TextDocumentItem(uri, "python", 1, text)
                    for (text, kind), uri in zip(cells, names, strict=True)
                    if kind == types.NotebookCellKind.Code
                ],
            )
        )
        while names[2] not in editor.told:
            await asyncio.sleep(0.05)
        assert editor.told[names[0]] == []
        (found,) = editor.told[names[2]]
        assert (found.code, found.range.start.line) == ("TFM402", 2)
        actions = await editor.actions(names[2], 2)
        source = cells[2][0]
        assert applied(source, actions[0], names[2]) == source.replace("persistent=True", "")

        editor.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(2, editor.uri("a.ipynb")),
                types.NotebookDocumentChangeEvent(
                    cells=types.NotebookDocumentCellChanges(
                        text_content=[
                            types.NotebookDocumentCellContentChanges(
                                types.VersionedTextDocumentIdentifier(2, names[2]),
                                [types.TextDocumentContentChangeWholeDocument("x = 1\n")],
                            )
                        ]
                    )
                ),
            )
        )
        while editor.told[names[2]]:
            await asyncio.sleep(0.05)

    edit(script)


def test_a_large_file_is_looked_at_in_no_time(edit: Callable[..., None]) -> None:
    text = START + "".join(f"def f{n}(x):\n    y = x + {n}\n    return y\n\n" for n in range(2500))

    async def script(editor: Editor) -> None:
        assert codes(await editor.open("a.py", text + SAFE)) == ["TFM402"]
        taken: list[float] = []
        for number in range(5):
            begin = time.monotonic()
            found = await editor.type("a.py", text + SAFE + "#" * number, number + 2)
            taken.append(time.monotonic() - begin)
            assert codes(found) == ["TFM402"]
        print(" ".join(f"{each:.3f}" for each in taken), "s")
        assert min(taken) < 3  # 0.1 s where nothing else runs, and others do

    edit(script)


def test_a_look_that_nobody_waits_for_is_given_up() -> None:
    many = START + "".join(SAFE.replace("def f(", f"def f{number}(") for number in range(300))

    async def script() -> None:
        helper = Helper()
        await helper.check("b.py", Part("b", START))  # it is there
        began = time.monotonic()
        whole: Found = await helper.check("a.py", Part("a", many))
        took = time.monotonic() - began
        assert len(whole.findings) == 300

        began = time.monotonic()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(helper.check("a.py", Part("a", many + "#")), took / 10)
        await helper.check("b.py", Part("b", START))
        assert time.monotonic() - began < took / 2
        again: Found = await helper.check("a.py", Part("a", many + "#"))
        assert again.findings == whole.findings

    asyncio.run(script())


def test_a_process_that_dies_is_told_of_and_replaced() -> None:
    async def script() -> None:
        helper = Helper()
        assert len((await helper.check("a.py", Part("a", START + SAFE))).findings) == 1
        pending = asyncio.create_task(helper.check("a.py", Part("a", START + SAFE * 2000)))
        await asyncio.sleep(0.05)
        helper.kill()
        with pytest.raises(ConfigError, match="died"):
            await pending
        assert len((await helper.check("a.py", Part("a", START + SAFE))).findings) == 1

    asyncio.run(script())


def test_what_was_found_moves_along_with_its_text() -> None:
    def at(start: int, end: int) -> Finding:
        return Finding("TFM402", "a", Diagnostic(Span(start, end), "a"))

    change = Edit(Span(10, 12), "12345")
    assert moved(at(2, 9), change) == at(2, 9)
    assert moved(at(12, 20), change) == at(15, 23)
    assert moved(at(11, 20), change) is None
    assert moved(at(5, 30), change) is None


def test_what_stayed_the_same_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + "".join(f"def f{n}(x):\n    y = x + {n}\n    return y\n\n" for n in range(2500))
    parse, parsed = ast.parse, list[int]()

    def counting(source: str | bytes, *arguments: Any, **options: Any) -> Any:
        parsed.append(len(source.strip()))
        return parse(source, *arguments, **options)

    desk = Desk({})
    monkeypatch.setattr(ast, "parse", counting)
    (first,) = desk.check("a.py", Part("a", text + SAFE)).findings
    assert sum(parsed) >= len(text)
    parsed.clear()
    (second,) = desk.check("a.py", Part("a", text.replace("+ 9\n", "- 9\n") + SAFE)).findings
    assert sum(parsed) < len(text) / 2
    assert second == first
    (third,) = desk.check("a.py", Part("a", f"# above\n{text}{SAFE}")).findings
    assert third.diagnostic.span.start == first.diagnostic.span.start + len("# above\n")


def test_what_another_file_says_counts_once_it_is_saved(edit: Callable[..., None]) -> None:
    program = START + "from sizes import DEPTH\nxs = tf.data.TFRecordDataset('x').batch(32)"

    async def script(editor: Editor) -> None:
        other = editor.folder / "sizes.py"
        other.write_text("DEPTH = 2\n")
        text = program + ".prefetch(DEPTH)\n"
        assert await editor.open("a.py", text) == []
        other.write_text("DEPTH = 500\n")
        editor.client.text_document_did_save(
            types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(editor.uri("sizes.py")))
        )
        assert codes(await editor.news("a.py")) == ["TFM207"]

    edit(script)


# --- what goes wrong


def message(content: object) -> bytes:
    data = json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)


INITIALIZE = message(
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
)


@pytest.mark.parametrize(
    "garbage",
    [
        b"Content-Length: 5\r\n\r\nhello",
        message({"jsonrpc": "2.0", "id": 7, "method": "no/such/thing", "params": {}}),
        message({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"what": 3}}),
        message(
            {
                "jsonrpc": "2.0",
                "id": 8,
                "method": "textDocument/hover",
                "params": {
                    "textDocument": {"uri": "file:///nowhere.py"},
                    "position": {"line": 99, "character": 99},
                },
            }
        ),
        message({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 99}}),
    ],
    ids=["no JSON", "unknown method", "wrong parameters", "unknown document", "cancel nothing"],
)
def test_garbage_is_survived_and_the_end_of_the_client_is_the_end(garbage: bytes) -> None:
    last = message({"jsonrpc": "2.0", "id": 2, "method": "shutdown"})
    done = subprocess.run(
        [sys.executable, "-m", "tfmemlint", "server"],
        input=INITIALIZE + garbage + last,
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert b'"id":2' in done.stdout.replace(b" ", b"")
    assert b'"tfmemlint"' in done.stdout


def test_a_request_that_cannot_be_read_is_answered() -> None:
    asked = {"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover", "params": {"what": 3}}
    done = subprocess.run(
        [sys.executable, "-m", "tfmemlint", "server"],
        input=INITIALIZE + message(asked),
        capture_output=True,
        timeout=60,
        check=False,
    )

    answers = [json.loads(line) for line in re.findall(rb"{.*}", done.stdout)]
    assert [answer["error"]["code"] for answer in answers if answer.get("id") == 7] == [-32602]
    assert b"window/showMessage" not in done.stdout


@pytest.mark.parametrize(("last", "status"), [(["shutdown", "exit"], 0), (["exit"], 1), ([], 1)])
def test_the_exit_code_is_what_the_protocol_asks_for(last: list[str], status: int) -> None:
    requests = {
        "shutdown": message({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}),
        "exit": message({"jsonrpc": "2.0", "method": "exit"}),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tfmemlint", "server"],
        input=INITIALIZE + b"".join(requests[each] for each in last),
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == status
    assert b"Traceback" not in done.stderr
    assert b"fault" not in done.stderr


def test_without_pygls_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['pygls'] = None\n")
    code = (
        "import importlib.util, sys\n"
        "import tfmemlint.server.command as c\n"
        "c.find_spec = lambda name: None\n"
        "sys.exit(c.main([]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "pip install 'tfmemlint[lsp]'" in done.stderr


# --- offsets


@pytest.mark.parametrize("text", ["", "a\nb", "ä\r\n𝄞x\r\n\f y", "x\u2028y\n"])
def test_every_offset_has_a_position_of_its_own(text: str) -> None:
    for encoding in ("utf-8", "utf-16", "utf-32"):
        positions = Positions(text, encoding)
        for offset in range(len(text) + 1):
            if text[offset - 1 : offset + 1] != "\r\n":
                assert positions.offset(positions.position(offset)) == offset


def test_a_difference_is_one_edit() -> None:
    for before, after in (("", ""), ("abc", "abc"), ("aba", "aa"), ("aa", "aba"), ("ab", "cd")):
        changed = before
        for edit in difference(before, after):
            changed = changed[: edit.span.start] + edit.text + changed[edit.span.end :]
        assert changed == after
    assert difference("aXb", "aYb")[0].span == Span(1, 2)
