"""Serve agents and editors: start a session and its server on standard input and output."""

from kprof.api.live.reach import Reach, folders
from kprof.errors import KprofError
from kprof.hardware.default import DEFAULT_GPU
from kprof.importing.permission import distrust, forbid
from kprof.options.tools import AgentOptions, EditorOptions
from kprof.plug_ins import install_command

_NEEDED = frozenset({"pygls", "lsprotocol", "cattrs", "attrs"})
_SDK = frozenset({"mcp", "mcp_types", "pydantic"})


def serve(options: AgentOptions) -> None:
    """Serve an agent through MCP until it disconnects.

    Args:
        options: folders that may be read, whether code may run, and the time limit of a query.

    Raises:
        TargetError: one of the folders does not exist.
        KprofError: the MCP SDK is not installed.
    """
    try:
        from kprof.api.live import mcp_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _SDK:
            raise
        raise KprofError("the MCP SDK is not installed", hint=install_command("mcp")) from None
    from kprof.api.live.session import Session

    reach = Reach(folders(list(options.folder) or ["."]), run=options.allow_run)
    if not options.allow_run:
        # These switches are checked wherever code would run, in this process and in the session's processes.
        forbid()
        distrust(reach.roots)
    with Session(jobs=options.jobs, timeout=options.timeout, warm=True) as session:
        mcp_server.serve(session, reach)


def serve_editor(options: EditorOptions) -> None:
    """Serve an editor through the Language Server Protocol until it disconnects.

    Args:
        options: the GPU, and the time limits of queries and searches.

    Raises:
        HardwareError: the GPU is unknown.
        KprofError: pygls is not installed.
    """
    from kprof.hardware.machine import load_gpu

    arch = options.one_gpu("kprof serve lsp") or DEFAULT_GPU
    load_gpu(arch)
    try:
        from kprof.api.live import lsp_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        raise KprofError("pygls is not installed", hint=install_command("lsp")) from None
    lsp_server.serve(arch, jobs=options.jobs, timeout=options.timeout, seconds=options.seconds)
