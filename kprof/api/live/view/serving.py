"""Serve the page on a loopback socket, protected by a secret token, until Ctrl-C.

A foreign web page can send requests to the loopback address, under a host name that resolves to 127.0.0.1 (DNS
rebinding). Such requests carry that name as their Host, the foreign Origin, and never the token.
"""

import hmac
import json
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError
from kprof.options.groups import CompileOptions, ThreadTraceOptions
from kprof.options.kernels import ViewOptions
from kprof.plug_ins import install_command

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from kprof.api.live.view.application import ViewServer

TOKEN_HEADER = "x-kprof-token"  # noqa: S105 - the header's name
API = "/api/"
"""Path prefix of requests that need the token; other paths serve the page, which contains no data of the user."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Content security policy: allow only the page's own files; forbid markup from text, other origins and framing."""
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""HTTP headers of every response."""
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
        targets: targets of :func:`kprof.analyze`.
        options: how the targets are compiled and served.
        tell: called with the page's URL once the server listens.

    Raises:
        KprofError: packages are missing, a target does not exist, or the port is taken.
        KeyboardInterrupt: the user pressed Ctrl-C.
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
            # Start the session now, so that its processes import Triton while the browser starts.
            tritons.session("")
        server = ViewServer(tritons, Served(list(targets), base))
        _run(server, listening, tell)


def _check(target: str) -> None:
    """Check that a target exists, without running its code.

    Raises:
        TargetError: the target does not exist.
    """
    from kprof.targets.library import bundled, load
    from kprof.targets.target import resolve

    found = resolve(target)
    if not found.path.exists() and str(found.path) not in bundled():
        # A name that is neither a file nor bundled cannot be loaded; the error of load() suggests similar kernels.
        load(found.text)


def _base(options: ViewOptions) -> dict[str, Any]:
    """Return the arguments that all queries have in common; by default, the GPU is the measured one.

    Raises:
        KprofError: measurements cannot be read, or belong to another GPU.
    """
    from kprof.api.measurements import joining

    given = {**options.part(CompileOptions).given(), **options.part(ThreadTraceOptions).given()}
    given.pop("jobs", None)
    found = joining(options, options.arch)
    measured = found.measurement.name if found is not None else None
    # Arguments of queries must be JSON values. Sizes and a GPU that are chosen on the page override them.
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

    # asyncio logs errors of the event loop with a traceback, for example if a request breaks off after its response.
    log_in_one_line("asyncio", "uvicorn")
    port, token = listening.getsockname()[1], secrets.token_urlsafe(24)

    class Ending(uvicorn.Server):
        """A server that closes the event streams of open pages on exit, because they never end by themselves."""

        def handle_exit(self, sig: int, frame: Any) -> None:
            super().handle_exit(sig, frame)
            server.hub.close()

        async def startup(self, sockets: "list[socket.socket] | None" = None) -> None:
            await super().startup(sockets)
            # Browsers send the part after # neither in requests nor in the Referer header.
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


class Guard:
    """Rejects requests that do not come from the served page, and adds :data:`HEADERS` to all responses.

    Args:
        app: the guarded ASGI application.
        port: port that the server listens on.
        token: token that requests below :data:`API` must carry.
    """

    def __init__(self, app: "ASGIApp", port: int, token: str) -> None:
        self._app, self._token = app, token.encode()
        self._hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Handle an ASGI request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def with_headers(message: "Message") -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *own]}
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, with_headers)
            return
        status, words = refusal
        body = json.dumps({"message": words}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await with_headers({"type": "http.response.start", "status": status, "headers": headers})
        await with_headers({"type": "http.response.body", "body": body})

    def _refusal(self, scope: "Scope") -> tuple[int, str] | None:
        """Return the HTTP status and reason of a rejected request, or ``None`` if the request is allowed."""
        given: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.lower(), []).append(value)
        hosts = given.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "this server answers under its loopback address only"
        if any(origin.lower() not in self._origins for origin in given.get(b"origin", [])):
            return 403, "requests from pages of another origin are rejected"
        if any(site not in {b"same-origin", b"none"} for site in given.get(b"sec-fetch-site", [])) and scope[
            "path"
        ].startswith(API):
            return 403, "requests from pages of another site are rejected"
        if scope["path"].startswith(API):
            tokens = given.get(TOKEN_HEADER.encode(), [])
            if len(tokens) != 1 or not hmac.compare_digest(tokens[0], self._token):
                return 401, "the token is missing: open the address that kprof view printed"
        return None
