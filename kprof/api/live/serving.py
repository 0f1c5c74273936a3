"""Serving agents: a session, what it may reach, and the server on standard input and output."""

from collections.abc import Sequence

from kprof.api.live.reach import Reach, folders
from kprof.errors import KprofError
from kprof.importing.permission import distrust, forbid

_SDK = frozenset({"mcp", "mcp_types", "pydantic"})


def serve(roots: Sequence[str] = (), *, run: bool = False, jobs: int = 0, timeout: float = 300.0) -> None:
    """Serve until the client leaves.

    Args:
        roots: folders whose files are read; the current one by default.
        run: import Python files that are named, and run programs to record them.
        jobs: questions answered at a time, 0 for one a core.
        timeout: seconds that a question may take.

    Raises:
        TargetError: one of the folders is not there.
        KprofError: the MCP SDK is not installed.
    """
    try:
        from kprof.api.live import mcp_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _SDK:
            raise
        raise KprofError("the MCP SDK is not installed", hint="pip install 'kprof[mcp]'") from None
    from kprof.api.live.session import Session

    reach = Reach(folders(list(roots) or ["."]), run=run)
    if not run:
        # Asked again wherever code would run, in this process and in those that answer questions.
        forbid()
        distrust(reach.roots)
    with Session(jobs=jobs, timeout=timeout, warm=True) as session:
        mcp_server.serve(session, reach)
