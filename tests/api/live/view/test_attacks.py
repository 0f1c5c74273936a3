"""What somebody else's page, program or kernel could try."""

import json
import threading
from pathlib import Path

import pytest

SECRET = "only the owner may read this"


def test_nothing_is_answered_without_the_token(assembly):
    """Neither without one, nor with a wrong one, nor with it anywhere but in its header."""
    for path in ("/api/session", "/api/stream"):
        assert assembly.send("GET", path)[0] == 401
        assert assembly.send("GET", f"{path}?token={assembly.token}")[0] == 401
        assert assembly.send("GET", path, headers={"Cookie": f"token={assembly.token}"})[0] == 401
    for token in ("", "x", assembly.token[:-1], assembly.token + "x", "\xff"):
        assert assembly.send("GET", "/api/session", headers={"X-Kprof-Token": token})[0] == 401
    status, headers, body = assembly.send("POST", "/api/report", b'{"target": 0}')
    assert status == 401
    assert b"kernels" not in body
    assert "script-src 'self'" in headers["content-security-policy"]


def test_the_page_itself_tells_nothing(assembly):
    """It is the same for everybody: the target's name is told to whoever has the token."""
    status, headers, body = assembly.send("GET", "/")
    assert status == 200
    assert b"k.amdgcn" not in body
    assert assembly.token.encode() not in body
    assert headers["x-frame-options"] == "DENY"
    assert "'unsafe-inline'" not in headers["content-security-policy"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}", ""])
def test_another_name_for_this_machine_is_refused(assembly, host):
    """DNS rebinding: the browser believes that it talks to somebody else."""
    headers = {"Host": host.format(port=assembly.port), "X-Kprof-Token": assembly.token}
    for path in ("/", "/view.js", "/api/session"):
        assert assembly.send("GET", path, headers=headers)[0] == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}"])
def test_pages_of_other_origins_are_refused(assembly, origin):
    headers = {"Origin": origin.format(port=assembly.port), "X-Kprof-Token": assembly.token}
    status, answered, _ = assembly.send("POST", "/api/report", b'{"target": 0}', headers)
    assert status == 403
    assert "access-control-allow-origin" not in answered
    status, answered, _ = assembly.send("OPTIONS", "/api/report", None, headers)
    assert status == 403


def test_requests_that_another_site_caused_are_refused(assembly):
    headers = {"Sec-Fetch-Site": "cross-site", "X-Kprof-Token": assembly.token}
    assert assembly.send("GET", "/api/session", headers=headers)[0] == 403
    headers["Sec-Fetch-Site"] = "same-origin"
    assert assembly.send("GET", "/api/session", headers=headers)[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/static/../guard.py",
        "/view.js/../../guard.py", "/page.html%00", "/secret.txt", "/view.js%2f..%2fsecret.txt",
    ],
)  # fmt: skip
def test_no_path_leads_to_a_file(assembly, path):
    (assembly.folder / "secret.txt").write_text(SECRET)
    status, _, body = assembly.send("GET", path, headers={"X-Kprof-Token": assembly.token})
    assert status == 404
    assert SECRET.encode() not in body


def test_a_request_cannot_name_a_target(assembly):
    """Targets are those of the command line, by position."""
    for question in ({"target": "/etc/passwd"}, {"target": 1}, {"target": -1}, {"path": "x"}, {"sources": ["/"]}):
        status, answer = assembly.ask("/api/report", **question)
        assert status == 422, question
        assert answer["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"arch": "../x y"}', b"[" * 50_000, b"\xff\xfe"])
def test_what_is_no_question_is_refused(assembly, body):
    status, _, answer = assembly.send("POST", "/api/report", body, {"X-Kprof-Token": assembly.token})
    assert status == 422
    assert json.loads(answer)["message"].startswith("invalid query")


def test_a_request_that_is_too_large_is_refused(assembly):
    body = json.dumps({"target": 0, "config": {"a": "x" * 100_000}}).encode()
    status, _, answer = assembly.send("POST", "/api/report", body, {"X-Kprof-Token": assembly.token})
    assert status == 413
    assert "65,536 bytes" in json.loads(answer)["message"]


def test_two_hundred_requests_at_once(assembly):
    """Each is answered, or told to come later; the server goes on."""
    seen: list[int] = []

    def ask(number: int) -> None:
        # Different questions, so that all but the first are work.
        seen.append(assembly.ask("/api/report", target=0, arch="gfx942" if number % 2 else "MI300X")[0])

    threads = [threading.Thread(target=ask, args=[number]) for number in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(seen) == 200
    assert set(seen) <= {200, 429}
    assert seen.count(200) >= 64
    status, document = assembly.ask("/api/report", target=0)
    assert status == 200
    assert document["kernels"]


@pytest.mark.triton
def test_a_compile_that_crashes_or_hangs(view, tmp_path: Path):
    """One message each, and the next question is answered."""
    (tmp_path / "dies.py").write_text("import os\nos.abort()\n")
    (tmp_path / "hangs.py").write_text("while True:\n    pass\n")
    server = view("dies.py", "hangs.py", "softmax", "--timeout", "20", folder=tmp_path)
    status, answer = server.ask("/api/report", target=0)
    assert (status, answer["message"].partition(":")[0]) == (422, "the process that answered report died")
    status, answer = server.ask("/api/report", target=1)
    assert (status, answer["message"]) == (422, "report took longer than 20 s")
    status, answer = server.ask("/api/knobs", target=2)
    assert status == 200
    assert answer["knobs"]
