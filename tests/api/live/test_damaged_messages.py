"""Damaged bytes to ``kprof view``, ``kprof serve lsp`` and ``kprof serve mcp``: a line each, and no traceback."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.api.live.view.conftest import Viewed, start

ASSEMBLY = Path(__file__).resolve().parents[2] / "artifacts" / "gfx942" / "scaled_exp.triton-3.9.0.amdgcn"


def framed(body: bytes) -> bytes:
    """A message of the Language Server Protocol."""
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


DAMAGED = (
    framed(b"{"),
    framed(b"[]"),
    framed(b"\xff\xfe"),
    framed(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}'),
    framed(b'{"jsonrpc":"2.0","id":[],"method":3}'),
    framed(b'{"jsonrpc":"2.0","id":77,"result":{}}'),
    framed(b'{"jsonrpc":"2.0","method":"textDocument/didSave","params":{"textDocument":{}}}'),
    framed(b"[" * 100_000),
    b"garbage\r\n\r\n",
)


def served(name: str, data: bytes) -> "subprocess.CompletedProcess[bytes]":
    """A server on standard input and output that is given these bytes."""
    command = [sys.executable, "-m", "kprof", "serve", name]
    return subprocess.run(command, input=data, capture_output=True, timeout=120, check=False)


def test_damaged_messages_of_an_editor_are_a_line_each() -> None:
    """The server goes on behind each of them and ends well when the editor leaves."""
    pytest.importorskip("pygls")
    ran = served("lsp", b"".join(DAMAGED))

    lines = ran.stderr.decode().splitlines()
    assert ran.returncode == 0
    assert 6 <= len(lines) <= len(DAMAGED)
    assert all(line.startswith("kprof: ") and len(line) < 250 for line in lines)


def test_a_message_longer_than_memory_is_refused() -> None:
    """Its head says so, and nothing tells where the next one begins."""
    pytest.importorskip("pygls")
    ran = served("lsp", b"Content-Length: 99999999999999999999\r\n\r\n")

    assert ran.returncode == 2
    assert ran.stderr.decode() == "kprof: the message has 1e+20 bytes, but the limit is 67,108,864\n"


def test_damaged_requests_of_a_page_are_a_line_at_most(tmp_path: Path) -> None:
    """Damage behind an answer that was sent already is an error in the server's loop; the page still answers."""
    import socket

    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    viewed: Viewed = start(tmp_path, str(ASSEMBLY))
    host = b"Host: 127.0.0.1:%d\r\n" % viewed.port
    chunked = b"POST / HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r"
    requests = [
        (b"\x00\xff\r\n\r\n",),
        (b"A" * 200_000,),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",),
        (chunked, b"* HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ]
    try:
        for pieces in requests:
            with socket.create_connection(("127.0.0.1", viewed.port), timeout=20) as connection:
                for piece in pieces:
                    connection.sendall(piece)
                    connection.recv(1000)
        assert viewed.send("GET", "/")[0] == 200
    finally:
        viewed.end()
    lines = viewed.process.communicate()[1].splitlines()
    assert len(lines) <= len(requests)
    assert any("LocalProtocolError" in line for line in lines)
    assert all(line.startswith("kprof: ") for line in lines)


def test_an_agent_that_goes_away_is_no_crash() -> None:
    """Exit code 141, as of a tool that SIGPIPE ended, and nothing on standard error."""
    pytest.importorskip("mcp")
    with subprocess.Popen(
        [sys.executable, "-m", "kprof", "serve", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None

        def send(message: dict[str, Any]) -> None:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()

        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        send({"id": 1, "method": "initialize", "params": about})
        process.stdout.readline()
        send({"method": "notifications/initialized"})
        process.stdout.close()
        arguments = {"arch": "gfx942", "vgpr": 128}
        send({"id": 2, "method": "tools/list", "params": {}})
        send({"id": 3, "method": "tools/call", "params": {"name": "occupancy", "arguments": arguments}})
        process.stdin.close()
        assert process.wait(60) == 141
        assert process.stderr.read() == b""
