"""A language server for editors on standard input and output. It needs pygls, kprof's extra ``lsp``.

A file is compiled when it is saved, never when it is opened, because compiling imports the file.
"""

import asyncio
import io
import sys
from collections.abc import Sequence
from typing import Any, BinaryIO, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from kprof.api.live.editor import Editor, Known, Remark
from kprof.api.live.one_line_log import log_in_one_line
from kprof.api.live.session import Session
from kprof.errors import InputError, KprofError
from kprof.inputs.boundary import TEXT_LIMIT
from kprof.version import __version__

SEARCH = "kprof.search"
_LONGEST_LINE = 1 << 16
RECORD = "kprof.record"
_SEVERITY = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}


def server(editor: Editor) -> LanguageServer:
    """Create the server with all its features and commands."""
    made = LanguageServer("kprof", __version__)

    @made.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        uri = params.text_document.uri
        if (path := _path(uri)) is None:
            return
        try:
            known = await editor.look(path)
        except asyncio.CancelledError:
            # The file was saved again or changed in the meantime.
            return
        _publish(made, uri, known.remarks)

    @made.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        if (path := _path(params.text_document.uri)) is not None:
            editor.forget(path)

    @made.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        if (path := _path(params.text_document.uri)) is not None:
            editor.forget(path)
            _publish(made, params.text_document.uri, [])

    @made.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        path = _path(params.text_document.uri)
        known = editor.known.get(path or "", Known())
        cost = known.lines.get(params.position.line + 1)
        if cost is None:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, cost.words))

    @made.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorInline]),
    )
    def actions(params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        uri = params.text_document.uri
        path = _path(uri)
        known = editor.known.get(path or "")
        if known is not None and known.runs:
            return [types.Command("Run and record this program (kprof)", RECORD, arguments=[uri])]
        if known is None or not known.lines:
            return []
        return _actions(uri, known, params.range.start.line)

    _add_search(made, editor)
    _add_record(made, editor)
    return made


def _add_record(made: LanguageServer, editor: Editor) -> None:
    """Add the command that runs a program and shows the analysis of its launches."""

    @made.command(RECORD)
    async def record(uri: str) -> None:
        path = _path(uri)
        if path is None:
            return
        try:
            known = await editor.record(path)
        except asyncio.CancelledError:
            return
        except KprofError as error:
            _say(made, types.MessageType.Error, str(error))
            return
        _publish(made, uri, known.remarks)


def _add_search(made: LanguageServer, editor: Editor) -> None:
    """Add the command that searches for faster configurations."""

    @made.command(SEARCH)
    async def search(uri: str) -> None:
        path = _path(uri)
        if path is None:
            return
        try:
            found = await editor.search(path)
        except asyncio.CancelledError:
            return
        except KprofError as error:
            _say(made, types.MessageType.Error, str(error))
            return
        best = (
            f"kprof: {found[0].title}; its code action pastes it" if found else "kprof: no faster configuration found"
        )
        _say(made, types.MessageType.Info, best)


def _actions(uri: str, known: Known, line: int) -> list[types.CodeAction | types.Command]:
    """Return actions that each paste a known configuration above the line; if none is known, the search action."""
    start = types.Position(line, 0)
    pasted: list[types.CodeAction | types.Command] = [
        types.CodeAction(
            f"Paste {one.title}",
            kind=types.CodeActionKind.QuickFix,
            edit=types.WorkspaceEdit(changes={uri: [types.TextEdit(types.Range(start, start), f"{one.code}\n")]}),
        )
        for one in known.configs
    ]
    look = types.Command("Look for a faster configuration (kprof advise)", SEARCH, arguments=[uri])
    return pasted or [look]


def _publish(made: LanguageServer, uri: str, remarks: Sequence[Remark]) -> None:
    made.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, [_diagnostic(one) for one in remarks]))


def _diagnostic(remark: Remark) -> types.Diagnostic:
    line = max(0, remark.line - 1)
    start = max(0, (remark.column or 1) - 1)
    # The range ends at the start of the next line, because the line's length is not known.
    place = types.Range(types.Position(line, start), types.Position(line + 1, 0))
    severity = _SEVERITY.get(remark.severity, types.DiagnosticSeverity.Information)
    return types.Diagnostic(place, remark.message, severity, remark.rule or None, source="kprof")


def _say(made: LanguageServer, kind: types.MessageType, text: str) -> None:
    made.window_show_message(types.ShowMessageParams(kind, text))


def _path(uri: str) -> str | None:
    """Return the path of the Python file that a URI names; ``None`` for any other URI."""
    path: Any = to_fs_path(uri) if uri.startswith("file:") else None
    return path if isinstance(path, str) and path.endswith(".py") else None


class _Messages(io.BufferedIOBase):
    """Standard input with a limit on the message size, because a message's header can claim any length."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source

    def readline(self, size: int | None = -1, /) -> bytes:
        """Read a header line of limited length; the rest of a longer line is read as another, invalid line."""
        return self._source.readline(_LONGEST_LINE if size is None or size < 0 else size)

    def read(self, size: int | None = -1, /) -> bytes:
        """Read a message's body.

        Raises:
            InputError: the message is too long, so the start of the next message cannot be found.
        """
        if size is not None and size > TEXT_LIMIT:
            raise InputError(f"the message has {size:.0e} bytes, but the limit is {TEXT_LIMIT:,}")
        return self._source.read(-1 if size is None else size)


def serve(arch: str, *, jobs: int, timeout: float, seconds: float) -> None:
    """Serve an editor until it disconnects.

    Args:
        arch: architecture or product.
        jobs: number of queries answered at once; 0 for one per core.
        timeout: time limit of a query in seconds.
        seconds: time limit of the search for better knobs.
    """
    log_in_one_line("pygls", "asyncio")
    with Session(jobs=jobs, timeout=timeout) as session:
        server(Editor(session, arch, seconds)).start_io(cast("BinaryIO", _Messages(sys.stdin.buffer)))
