"""Serving the page: a socket on the loopback, a token that cannot be guessed, an end that leaves nothing running."""

import secrets
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError
from kprof.options.groups import CompileOptions, ThreadTraceOptions
from kprof.options.kernels import ViewOptions
from kprof.plug_ins import install_command

if TYPE_CHECKING:
    from kprof.api.live.view.application import ViewServer

_NEEDED = frozenset({"starlette", "uvicorn", "anyio", "h11", "click", "idna"})
_LOOPBACK = "127.0.0.1"


def serve(
    targets: Sequence[str],
    options: ViewOptions,
    *,
    tell: Callable[[str], None] = print,
) -> None:
    """Serve the page of some targets until Ctrl-C.

    Args:
        targets: as :func:`kprof.analyze` takes them.
        options: how they are compiled, and how they are served.
        tell: given the address once the server listens.

    Raises:
        KprofError: packages are missing, a target does not exist, or the port is taken.
        KeyboardInterrupt: how it ends.
    """
    try:
        import starlette
        import uvicorn  # noqa: F401 - reported before anything is started
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        raise KprofError("the page's server is not installed", hint=install_command("view")) from None
    del starlette
    from kprof.api.live.session import Session
    from kprof.api.live.view.application import Served, ViewServer
    from kprof.api.live.view.tritons import TritonSessions
    from kprof.targets.target import TargetKind, resolve

    for target in targets:
        _check(target)
    base = _base(options)
    compiling = any(resolve(target).kind is TargetKind.SOURCE for target in targets)

    def begin(version: str) -> Session:
        return Session(jobs=options.jobs, timeout=options.timeout, triton=version or "installed", warm=compiling)

    with _listening(options.port) as listening, TritonSessions(begin) as tritons:
        if compiling:
            # Its processes import what they need while the browser starts.
            tritons.session("")
        server = ViewServer(tritons, Served(list(targets), base))
        _run(server, listening, tell)


def _check(target: str) -> None:
    """See that a target is there; nothing of it is run.

    Raises:
        TargetError: it is not.
    """
    from kprof.targets.library import bundled, load
    from kprof.targets.target import resolve

    found = resolve(target)
    if not found.path.exists() and str(found.path) not in bundled():
        # It says what there is instead.
        load(found.text)


def _base(options: ViewOptions) -> dict[str, Any]:
    """Arguments of every question: for the GPU that was measured, where none is named.

    Raises:
        KprofError: measurements cannot be read, or are of another GPU.
    """
    from kprof.api.measurements import joining

    given = {**options.part(CompileOptions).given(), **options.part(ThreadTraceOptions).given()}
    given.pop("jobs", None)
    found = joining(options, options.arch)
    measured = found.measurement.name if found is not None else None
    # Questions are JSON; the page's own sizes and GPU come on top.
    own = {"arch": ",".join(options.arch) or measured or "", "shape": options.sizes}
    given |= {name: value for name, value in own.items() if value}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _listening(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((_LOOPBACK, port))
        made.listen(512)
    except OSError as error:
        made.close()
        hint = "Leave --port out for one that is free."
        raise KprofError(f"port {port} cannot be served: {error.strerror}", hint=hint) from None
    return made


def _run(server: "ViewServer", listening: socket.socket, tell: Callable[[str], None]) -> None:
    import uvicorn

    from kprof.api.live.one_line_log import log_in_one_line
    from kprof.api.live.view.guard import Guard

    # A request that is damaged behind its answer is an error in the server's loop.
    log_in_one_line("asyncio", "uvicorn")
    port, token = listening.getsockname()[1], secrets.token_urlsafe(24)

    class Ending(uvicorn.Server):
        """Ends the streams of open pages, which never end by themselves, before it waits for them."""

        def handle_exit(self, sig: int, frame: Any) -> None:
            super().handle_exit(sig, frame)
            server.hub.close()

        async def startup(self, sockets: "list[socket.socket] | None" = None) -> None:
            await super().startup(sockets)
            # Browsers do not send what is behind #, nor put it into the Referer header.
            tell(f"http://{_LOOPBACK}:{port}/#{token}")

    config = uvicorn.Config(
        Guard(server.application(), port, token),
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        loop="asyncio",
        http="h11",
        limit_concurrency=512,
        h11_max_incomplete_event_size=64 * 1024,
        timeout_graceful_shutdown=1,
    )
    Ending(config).run(sockets=[listening])
