"""The server itself: hears of documents, and tells of findings, fixes and pages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from tfmemlint import __version__
from tfmemlint.config import FILES, ConfigError
from tfmemlint.report.items import severity
from tfmemlint.report.links import page
from tfmemlint.server.checking import Desk, Found, Part, offered
from tfmemlint.server.texts import Positions, difference, edits
from tfmemlint.vocabulary import Applicability, Edit, Finding, Fix

LEAST_PATIENCE, MOST_PATIENCE = 0.02, 0.5
"""Seconds without a keystroke after which a document is looked at: as long as that takes."""
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
        self._known: dict[str, _Known] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._took: dict[str, float] = {}

    def configure(self, given: object) -> None:
        """Take over what an editor sets: the keys of tfmemlint.toml, be they under our name."""
        if not isinstance(given, dict):
            return
        table = cast("dict[str, object]", given)
        for name in ("tfmemlint", "settings"):
            inner = table.get(name, table)
            table = cast("dict[str, object]", inner) if isinstance(inner, dict) else {}
        self._settings = {key: value for key, value in table.items() if value is not None}
        self.reload()

    def reload(self) -> None:
        """Read all settings anew, and look at every document again."""
        self._desk = None
        workspace = self._server.workspace
        for uri in list(workspace.notebook_documents):
            self.look_at_notebook(uri)
        for document in list(workspace.text_documents.values()):
            if workspace.get_notebook_document(cell_uri=document.uri) is None:
                self.look_at(document.uri)

    def soon(self, uri: str, *, notebook: bool = False) -> None:
        """Look at a document once nobody has typed for a moment."""
        if uri in self._waiting:
            self._waiting.pop(uri).cancel()
        self._waiting[uri] = asyncio.get_running_loop().create_task(self._later(uri, notebook))

    async def _later(self, uri: str, notebook: bool) -> None:
        await asyncio.sleep(min(max(self._took.get(uri, 0), LEAST_PATIENCE), MOST_PATIENCE))
        self._waiting.pop(uri, None)
        began = time.monotonic()
        (self.look_at_notebook if notebook else self.look_at)(uri)
        self._took[uri] = time.monotonic() - began

    def look_around(self) -> None:
        """A file was saved: what others have of it is no longer what it was."""
        if self._desk is not None:
            self._desk.look_around()
        for document in list(self._server.workspace.text_documents.values()):
            if self._server.workspace.get_notebook_document(cell_uri=document.uri) is None:
                self.soon(document.uri)

    def look_at(self, uri: str) -> None:
        """Find what is in a file as the editor has it, and tell."""
        document = self._server.workspace.get_text_document(uri)
        path = _path(uri)
        part = Part(uri, document.source)
        try:
            found = self.desk.check(path, part)
        except ConfigError as error:
            self._complain(error)
            found = Found(part)
        self._tell(found, path, document.version)

    def look_at_notebook(self, uri: str) -> None:
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
            every = self.desk.check_cells(path, cells)
        except ConfigError as error:
            self._complain(error)
            every = [Found(cell) for cell in cells if cell]
        for found in every:
            self._tell(found, path, None)

    def forget(self, uri: str) -> None:
        """A document was closed: nothing is shown of it any more."""
        if uri in self._waiting:
            self._waiting.pop(uri).cancel()
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

    def known(self, uri: str) -> _Known | None:
        """What is found in a part of a document as it is now."""
        if uri in self._waiting:
            self._waiting.pop(uri).cancel()
            self.look_at(uri)
        return self._known.get(unquote(uri))

    def actions(self, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """What can be done about the findings in a range."""
        uri = params.text_document.uri
        known = self.known(uri)
        if known is None:
            return
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
        if _wanted(FIX_ALL, only):
            changes = self._all(known)
            if changes:
                title = "Apply all safe fixes of tfmemlint"
                yield types.CodeAction(title, FIX_ALL, edit=_edit(uri, positions, changes))

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """The page of what is found at a place."""
        known = self.known(params.text_document.uri)
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
        text = "\n\n---\n\n".join(map(self.desk.about, here))
        content = types.MarkupContent(types.MarkupKind.Markdown, text)
        return types.Hover(content, positions.range(here[0].diagnostic.span))

    def _all(self, known: _Known) -> Sequence[Edit]:
        """The edits of all safe fixes: of a file by applying them, of a cell those at hand."""
        uri, text = known.found.part
        if self._server.workspace.get_notebook_document(cell_uri=uri) is None:
            return difference(text, self.desk.fixed(known.path, text))
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


def serve() -> None:
    """Serve one editor through the standard streams, until it is gone."""
    server = LanguageServer("tfmemlint", __version__, notebook_document_sync=_NOTEBOOKS)
    service = Service(server)
    _hear_of_documents(server, service)
    _hear_of_settings(server, service)
    _answer(server, service)
    server.start_io()


def _hear_of_documents(server: LanguageServer, service: Service) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def _(params: types.DidOpenTextDocumentParams) -> None:
        service.look_at(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def _(params: types.DidChangeTextDocumentParams) -> None:
        service.soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def _(params: types.DidSaveTextDocumentParams) -> None:
        service.look_around()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def _(params: types.DidCloseTextDocumentParams) -> None:
        service.forget(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def _(params: types.DidOpenNotebookDocumentParams) -> None:
        service.look_at_notebook(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    async def _(params: types.DidChangeNotebookDocumentParams) -> None:
        service.soon(params.notebook_document.uri, notebook=True)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def _(params: types.DidCloseNotebookDocumentParams) -> None:
        for cell in params.cell_text_documents:
            service.forget(cell.uri)


def _hear_of_settings(server: LanguageServer, service: Service) -> None:
    @server.feature(types.INITIALIZE)
    def _(params: types.InitializeParams) -> None:
        service.configure(params.initialization_options)

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
    def _(params: types.DidChangeConfigurationParams) -> None:
        service.configure(cast("Any", params.settings))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def _(params: types.DidChangeWatchedFilesParams) -> None:
        service.reload()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def _(params: types.DidChangeWorkspaceFoldersParams) -> None:
        service.reload()


def _answer(server: LanguageServer, service: Service) -> None:
    kinds = [types.CodeActionKind.QuickFix, FIX_ALL]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(kinds))
    def _(params: types.CodeActionParams) -> list[types.CodeAction]:
        return list(service.actions(params))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def _(params: types.HoverParams) -> types.Hover | None:
        return service.hover(params)


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
