"""Who may ask: this machine's browser, on the page that this server gave it, with the token of the printed address.

A web page of somebody else can send requests to a loopback address, under a name that it has its own DNS resolve to
127.0.0.1. Its requests carry that name as their Host, its own Origin, and never the token.
"""

import hmac
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER = "x-kprof-token"  # noqa: S105 - the header's name
API = "/api/"
"""What stands below it needs the token; the rest is the page without any of the user's data."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""No code but the page's own files, no markup from text, nothing from elsewhere, and no framing."""

HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""Of every answer."""


class Guard:
    """Refuses what does not come from the served page, and puts :data:`HEADERS` on all that goes out.

    Args:
        app: what is guarded.
        port: that the server listens on.
        token: which requests below :data:`API` carry.
    """

    def __init__(self, app: "ASGIApp", port: int, token: str) -> None:
        self._app, self._token = app, token.encode()
        self._hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """An ASGI application."""
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
        """A status and why, or ``None`` for what may pass."""
        given: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.lower(), []).append(value)
        hosts = given.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "this server answers under its loopback address only"
        if any(origin.lower() not in self._origins for origin in given.get(b"origin", [])):
            return 403, "a page of another origin may not ask"
        if any(site not in {b"same-origin", b"none"} for site in given.get(b"sec-fetch-site", [])) and scope[
            "path"
        ].startswith(API):
            return 403, "a page of another site may not ask"
        if scope["path"].startswith(API):
            tokens = given.get(TOKEN_HEADER.encode(), [])
            if len(tokens) != 1 or not hmac.compare_digest(tokens[0], self._token):
                return 401, "the token is missing: open the address that kprof view printed"
        return None
