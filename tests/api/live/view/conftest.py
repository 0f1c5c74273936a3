"""``kprof view`` as a process, asked as a browser, and as an attacker, would ask."""

import http.client
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ASSEMBLY = Path(__file__).resolve().parents[3] / "artifacts" / "gfx942" / "scaled_exp.triton-3.9.0.amdgcn"


@dataclass
class Viewed:
    """A server that runs."""

    process: subprocess.Popen[str]
    address: str
    folder: Path
    port: int = field(init=False)
    token: str = field(init=False)

    def __post_init__(self) -> None:
        place, _, self.token = self.address.partition("/#")
        self.port = int(place.rpartition(":")[2])

    def send(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Exactly this request, with nothing but a Host beside the headers given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in {"Host": f"127.0.0.1:{self.port}", **(headers or {})}.items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def ask(self, path: str, /, **question: Any) -> tuple[int, Any]:
        """A question of the page."""
        status, _, body = self.send("POST", path, json.dumps(question).encode(), {"X-Kprof-Token": self.token})
        return status, json.loads(body)

    def end(self) -> int:
        """Ctrl-C; the exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


def start(folder: Path, *arguments: str) -> Viewed:
    """Start ``kprof view`` in a folder."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kprof", "view", *arguments, "--no-browser", "-j", "1"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    if not address:
        process.wait(20)
        assert process.stderr is not None
        pytest.fail(process.stderr.read())
    return Viewed(process, address, folder)


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Viewed]]:
    """Starts servers that end with the file's tests."""
    pytest.importorskip("starlette", reason="the page's server is not installed")
    pytest.importorskip("uvicorn", reason="the page's server is not installed")
    started: list[Viewed] = []

    def begin(*arguments: str, folder: Path | None = None) -> Viewed:
        started.append(start(folder or tmp_path_factory.mktemp("view"), *arguments))
        return started[-1]

    yield begin
    for one in started:
        one.process.kill()
        one.process.wait(20)
        for stream in (one.process.stdout, one.process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture(scope="module")
def assembly(view: Callable[..., Viewed], tmp_path_factory: pytest.TempPathFactory) -> Viewed:
    """The page of an assembly file: no compiler is needed."""
    folder = tmp_path_factory.mktemp("assembly")
    shutil.copy(ASSEMBLY, folder / "k.amdgcn")
    return view("k.amdgcn", folder=folder)
