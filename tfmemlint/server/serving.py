"""The server itself: hears of documents, and tells of findings, fixes and pages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from threading import Event
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from tfmemlint import __version__
from tfmemlint.config import FILES, ConfigError
from tfmemlint.report.items import severity
from tfmemlint.report.links import page
from tfmemlint.server.checking import Desk, Found, Part, offered
from tfmemlint.server.helping import Helper, answers_apart
from tfmemlint.server.texts import Positions, difference, edits, moved
from tfmemlint.vocabulary import Applicability, Edit, Finding, Fix

LEAST_PATIENCE, MOST_PATIENCE = 0.02, 0.15
"""Seconds without a keystroke after which a document is looked at: as long as that takes."""
SLOW = 0.1
"""Seconds without news after which what was found before is shown where it has moved to."""
FIX_ALL = "source.fixAll.tfmemlint"

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
}
_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(
            notebook=types.NotebookDocumentFilterNotebookType(notebook_type="jupyter-notebook"),
            cells=[types.NotebookCellLanguage(language="python")],
        )
    ],
    save=True,
)


class _Known(NamedTuple):
    """What was last found in a part of a document."""

    found: Found
    path: str
    version: int | None


class Service:
    """What the server knows: settings, open documents, and what was found in them."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._settings: Mapping[str, object] = {}
        self._desk: Desk | None = None
        self._helper = Helper()
        self._known: dict[str, _Known] = {}
        self._looking: dict[str, asyncio.Task[None]] = {}
        self._moving: dict[str, asyncio.TimerHandle] = {}
        self._took: dict[str, float] = {}

    async def configure(self, given: object) -> None:
        """Take over what an editor sets: the keys of tfmemlint.toml, be they under our name."""
        if not isinstance(given, dict):
            return
        table = cast("dict[str, object]", given)
        for name in ("tfmemlint", "settings"):
            inner = table.get(name, table)
            table = cast("dict[str, object]", inner) if isinstance(inner, dict) else {}
        self._settings = {key: value for key, value in table.items() if value is not None}
        await self.reload()

    async def reload(self) -> None:
        """Read all settings anew, and look at every document again."""
        self._desk = None
        await self._helper.configure(self._settings)
        workspace = self._server.workspace
        for uri in list(workspace.notebook_documents):
            self.look(uri, notebook=True)
        for document in list(workspace.text_documents.values()):
            if workspace.get_notebook_document(cell_uri=document.uri) is None:
                self.look(document.uri)

    def look(self, uri: str, *, notebook: bool = False, patience: float = 0) -> None:
        """Look at a document; whatever is being found of what it was is given up."""
        self._leave(uri)
        task = asyncio.get_running_loop().create_task(self._look(uri, notebook, patience))
        self._looking[uri] = task
        task.add_done_callback(lambda done: self._looked(uri, done))

    def soon(self, uri: str, *, notebook: bool = False) -> None:
        """Look at a document once nobody has typed for a moment."""
        patience = min(max(self._took.get(uri, 0), LEAST_PATIENCE), MOST_PATIENCE)
        self.look(uri, notebook=notebook, patience=patience)
        if not notebook and uri not in self._moving:
            self._moving[uri] = asyncio.get_running_loop().call_later(SLOW, self._move, uri)

    async def _look(self, uri: str, notebook: bool, patience: float) -> None:
        await asyncio.sleep(patience)
        began = time.monotonic()
        await (self._look_at_notebook if notebook else self._look_at)(uri)
        self._took[uri] = time.monotonic() - began

    def _looked(self, uri: str, task: asyncio.Task[None]) -> None:
        if self._looking.get(uri) is task:
            del self._looking[uri]

    def _leave(self, uri: str) -> None:
        if uri in self._looking:
            self._looking.pop(uri).cancel()

    def _stay(self, uri: str) -> None:
        if uri in self._moving:
            self._moving.pop(uri).cancel()

    async def look_around(self) -> None:
        """A file was saved: what others have of it is no longer what it was."""
        await self._helper.look_around()
        for document in list(self._server.workspace.text_documents.values()):
            if self._server.workspace.get_notebook_document(cell_uri=document.uri) is None:
                self.soon(document.uri)

    async def _look_at(self, uri: str) -> None:
        """Find what is in a file as the editor has it, and tell."""
        document = self._server.workspace.get_text_document(uri)
        path, version = _path(uri), document.version
        part = Part(uri, document.source)
        try:
            found = await self._helper.check(path, part)
        except ConfigError as error:
            self._complain(error)
            found = Found(part)
        self._stay(uri)
        self._tell(found, path, version)

    async def _look_at_notebook(self, uri: str) -> None:
        """Find what is in the cells of a notebook, and tell."""
        notebook = self._server.workspace.get_notebook_document(notebook_uri=uri)
        if notebook is None:
            return
        cells: list[Part | None] = []
        for cell in notebook.cells:
            code = cell.kind == types.NotebookCellKind.Code
            text = self._server.workspace.get_text_document(cell.document).source if code else ""
            cells.append(Part(cell.document, text) if code else None)
        path = _path(uri)
        try:
            every = await self._helper.check_cells(path, cells)
        except ConfigError as error:
            self._complain(error)
            every = [Found(cell) for cell in cells if cell]
        for found in every:
            self._tell(found, path, None)

    def _move(self, uri: str) -> None:
        """Show what was found of a file where it is now."""
        self._stay(uri)
        known = self._known.get(unquote(uri))
        if known is None or not known.found.findings:
            return
        document = self._server.workspace.get_text_document(uri)
        for change in difference(known.found.part.text, document.source):
            found = (moved(each, change) for each in known.found.findings)
            findings = tuple(each for each in found if each is not None)
            part = Part(uri, document.source)
            self._tell(Found(part, findings), known.path, document.version)

    def forget(self, uri: str) -> None:
        """A document was closed: nothing is shown of it any more."""
        self._leave(uri)
        self._stay(uri)
        self._known.pop(unquote(uri), None)
        self._took.pop(uri, None)
        self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    @property
    def desk(self) -> Desk:
        """The settings as they are now. Raises ConfigError."""
        if self._desk is None:
            try:
                self._desk = Desk(self._settings)
            except ConfigError:
                self._desk = Desk({})
                raise
        return self._desk

    async def _settled(self, uri: str, longest: float | None = None) -> _Known | None:
        """What is found in a part of a document as it is now; where that takes long, what was."""
        while uri in self._looking:
            done, _ = await asyncio.wait({self._looking[uri]}, timeout=longest)
            if not done:
                self._move(uri)
                break
            await asyncio.sleep(0)  # until it is noted that it is done
        return self._known.get(unquote(uri))

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What can be done about the findings in a range."""
        known = await self._settled(params.text_document.uri)
        if known is None:
            return []
        found = [*self._actions(params, known)]
        if _wanted(FIX_ALL, params.context.only):
            uri, positions = params.text_document.uri, self._positions(known.found.part.text)
            changes = await self._all(known)
            if changes:
                title = "Apply all safe fixes of tfmemlint"
                found.append(types.CodeAction(title, FIX_ALL, edit=_edit(uri, positions, changes)))
        return found

    def _actions(self, params: types.CodeActionParams, known: _Known) -> Iterator[types.CodeAction]:
        uri = params.text_document.uri
        only = params.context.only
        positions = self._positions(known.found.part.text)
        start, end = positions.offset(params.range.start), positions.offset(params.range.end)
        for finding in known.found.findings if _wanted("quickfix", only) else ():
            span = finding.diagnostic.span
            if not (span.start <= end and start <= span.end):
                continue
            shown = [_diagnostic(finding, positions)]
            fix = offered(finding)
            if fix:
                yield self._quick_fix(uri, finding.code, fix, shown, positions)
            silencing = self.desk.ignoring(known.path, known.found.part.text, finding)
            if silencing:
                yield types.CodeAction(
                    f"Ignore {finding.code} here",
                    types.CodeActionKind.QuickFix,
                    diagnostics=shown,
                    edit=_edit(uri, positions, silencing),
                )

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """The page of what is found at a place, or was, where to look again takes long."""
        known = await self._settled(params.text_document.uri, SLOW)
        if known is None:
            return None
        positions = self._positions(known.found.part.text)
        at = positions.offset(params.position)
        here = [
            finding
            for finding in known.found.findings
            if finding.diagnostic.span.start <= at <= finding.diagnostic.span.end
        ]
        if not here:
            return None
        text = "\n\n---\n\n".join(self.desk.about(known.path, each) for each in here)
        content = types.MarkupContent(types.MarkupKind.Markdown, text)
        return types.Hover(content, positions.range(here[0].diagnostic.span))

    async def _all(self, known: _Known) -> Sequence[Edit]:
        """The edits of all safe fixes: of a file by applying them, of a cell those at hand."""
        uri, text = known.found.part
        if self._server.workspace.get_notebook_document(cell_uri=uri) is None:
            return difference(text, await self._helper.fixed(known.path, text))
        taken: list[Edit] = []
        for finding in known.found.findings:
            fix = offered(finding)
            safe = fix is not None and fix.applicability is Applicability.SAFE
            if fix and safe and not any(_meet(one, two) for one in fix.edits for two in taken):
                taken += fix.edits
        return taken

    def _quick_fix(
        self,
        uri: str,
        code: str,
        fix: Fix,
        shown: list[types.Diagnostic],
        positions: Positions,
    ) -> types.CodeAction:
        safe = fix.applicability is Applicability.SAFE
        return types.CodeAction(
            f"{fix.title} ({code}{'' if safe else ', unsafe: results may differ'})",
            types.CodeActionKind.QuickFix,
            diagnostics=shown,
            is_preferred=safe,
            edit=_edit(uri, positions, fix.edits),
        )

    def _positions(self, text: str) -> Positions:
        return Positions(text, str(self._server.workspace.position_encoding or "utf-16"))

    def _tell(self, found: Found, path: str, version: int | None) -> None:
        uri = found.part.uri
        self._known[unquote(uri)] = _Known(found, path, version)
        positions = self._positions(found.part.text)
        diagnostics = [_diagnostic(finding, positions) for finding in found.findings]
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, diagnostics, version)
        )

    def _complain(self, error: ConfigError) -> None:
        self._server.window_show_message(
            types.ShowMessageParams(types.MessageType.Error, f"tfmemlint: {error}")
        )


class _Protocol(LanguageServerProtocol):
    def structure_message(self, data: dict[str, Any]) -> Any:
        """Requests that cannot be read are answered, too: whoever asked waits for that."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if {"id", "method"} <= data.keys():
                self._send_response(data["id"], error=error.to_response_error())
            raise


class _Server(LanguageServer):
    def report_server_error(self, error: Exception, source: Any) -> None:
        """What cannot be read is of no use to whoever types; the log has it."""
        if source is not JsonRpcException:
            super().report_server_error(error, source)


def serve() -> int:
    """Serve one editor through the standard streams, until it is gone; the exit code."""
    server = _Server(
        "tfmemlint", __version__, protocol_cls=_Protocol, notebook_document_sync=_NOTEBOOKS
    )
    ended = Event()
    service = Service(server)
    _hear_of_documents(server, service)
    _hear_of_settings(server, service)
    _answer(server, service)

    @server.feature(types.SHUTDOWN)
    def _(_: None) -> None:
        ended.set()

    server.start_io(stdout=answers_apart())
    return 0 if ended.is_set() else 1


def _hear_of_documents(server: LanguageServer, service: Service) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def _(params: types.DidOpenTextDocumentParams) -> None:
        service.look(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def _(params: types.DidChangeTextDocumentParams) -> None:
        service.soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def _(params: types.DidSaveTextDocumentParams) -> None:
        await service.look_around()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def _(params: types.DidCloseTextDocumentParams) -> None:
        service.forget(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    async def _(params: types.DidOpenNotebookDocumentParams) -> None:
        service.look(params.notebook_document.uri, notebook=True)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    async def _(params: types.DidChangeNotebookDocumentParams) -> None:
        service.soon(params.notebook_document.uri, notebook=True)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def _(params: types.DidCloseNotebookDocumentParams) -> None:
        for cell in params.cell_text_documents:
            service.forget(cell.uri)


def _hear_of_settings(server: LanguageServer, service: Service) -> None:
    @server.feature(types.INITIALIZE)
    async def _(params: types.InitializeParams) -> None:
        await service.configure(params.initialization_options)

    @server.feature(types.INITIALIZED)
    def _(params: types.InitializedParams) -> None:
        files = server.client_capabilities.workspace
        watched = files and files.did_change_watched_files
        if not (watched and watched.dynamic_registration):
            return
        watchers = [types.FileSystemWatcher(glob_pattern=f"**/{name}") for name in FILES]
        registration = types.Registration(
            "tfmemlint-settings",
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
            types.DidChangeWatchedFilesRegistrationOptions(watchers),
        )
        server.client_register_capability(types.RegistrationParams([registration]))

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def _(params: types.DidChangeConfigurationParams) -> None:
        await service.configure(cast("Any", params.settings))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def _(params: types.DidChangeWatchedFilesParams) -> None:
        await service.reload()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def _(params: types.DidChangeWorkspaceFoldersParams) -> None:
        await service.reload()


def _answer(server: LanguageServer, service: Service) -> None:
    kinds = [types.CodeActionKind.QuickFix, FIX_ALL]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(kinds))
    async def _(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await service.actions(params)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def _(params: types.HoverParams) -> types.Hover | None:
        return await service.hover(params)


def _diagnostic(finding: Finding, positions: Positions) -> types.Diagnostic:
    address = page(finding.code)
    return types.Diagnostic(
        positions.range(finding.diagnostic.span),
        finding.diagnostic.message,
        _SEVERITIES[severity(finding.code)],
        finding.code,
        source="tfmemlint",
        code_description=types.CodeDescription(address) if address else None,
    )


def _edit(uri: str, positions: Positions, changes: Sequence[Edit]) -> types.WorkspaceEdit:
    return types.WorkspaceEdit({uri: edits(positions, changes)})


def _wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether an editor asks for actions of a kind; `source.fixAll` asks for ours, too."""
    kinds = [getattr(each, "value", each) for each in only or ()]
    return not kinds or any(kind == each or kind.startswith(f"{each}.") for each in kinds)


def _meet(one: Edit, other: Edit) -> bool:
    return one.span.start <= other.span.end and other.span.start <= one.span.end


def _path(uri: str) -> str:
    return uris.to_fs_path(uri) or "untitled.py"
