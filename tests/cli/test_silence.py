"""A long command on a real terminal: it says how far it is within a second, and Ctrl-C stops it at once."""

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")

EVENTS = (
    b'{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 4, "tid": 4, "ts": 10.0, "dur": 5.0, "args": '
    b'{"Ev Idx": 1}},'
    b'{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 12.0, "dur": 2.0, "args": '
    b'{"stream": 7, "device": 0, "correlation": 1}},'
)
SILENT = 1.0
"""Seconds that a command may say nothing."""
BUSY = 9.0
"""Seconds that a machine with other work may add, to this and to the program's start."""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """200 MB, whose answer takes seconds."""
    path = tmp_path_factory.mktemp("long") / "long.json"
    block = EVENTS * 4096
    with path.open("wb") as file:
        file.write(b'{"traceEvents": [')
        for _ in range(200_000_000 // len(block)):
            file.write(block)
        file.write(b'{"ph": "X", "cat": "cpu_op", "name": "last", "pid": 4, "tid": 4, "ts": 99.0, "dur": 1.0}]}')
    yield path
    path.unlink()


def read(terminal: int, seconds: float) -> bytes:
    """What comes next; nothing at the end, and an error where nothing comes."""
    ready, _, _ = select.select([terminal], [], [], seconds)
    assert ready, f"silent for {seconds} s"
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


@pytest.mark.parametrize("command", ["breakdown", "path"])
def test_it_is_never_silent_and_ends_at_once(trace: Path, tmp_path: Path, command: str) -> None:
    """Three times it says how far it is; then Ctrl-C: one line, and 130."""
    terminal, inside = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "kprof", "trace", command, str(trace)],
        stdin=inside, stdout=inside, stderr=inside, start_new_session=True, cwd=tmp_path,
        preexec_fn=lambda: _own(inside),  # noqa: PLW1509 - this process has no other thread that holds a lock
    ) as process:  # fmt: skip
        os.close(inside)
        shown = b""
        while shown.count(b"reading long.json") < 3:
            shown += read(terminal, SILENT + BUSY)
        os.write(terminal, b"\x03")
        pressed = time.monotonic()
        rest = b""
        while piece := read(terminal, SILENT + BUSY):
            rest += piece
        assert process.wait(60) == 130
        assert time.monotonic() - pressed < SILENT + BUSY
    os.close(terminal)
    assert rest.rpartition(b"\x1b[K")[2].replace(b"^C", b"").strip() == b"kprof: interrupted"


def _own(inside: int) -> None:
    """Make it the terminal of the new session, so that Ctrl-C is a signal there, also where the tests ignore it."""
    import fcntl
    import signal
    import termios

    # As a shell does that starts something in the foreground; whoever starts tests in the background ignores SIGINT.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(inside, termios.TIOCSCTTY, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "list rules",
        "list gpus",
        "select gemm --arch MI300X --no-predict",
        "configs tests/artifacts/model_configs/qwen3-8b --server vllm --arch MI300X",
        "counters metrics tests/artifacts/rocprof/v3/counter_collection_1.csv --arch gfx942",
        "ingest counters tests/artifacts/rocprof/v3/counter_collection_1.csv",
        "analyze tests/artifacts/gfx942/matmul.triton-3.9.0.amdgcn",
        pytest.param("list kernels", marks=pytest.mark.triton),
        pytest.param("analyze kernel softmax --arch MI300X", marks=pytest.mark.triton),
        pytest.param("occupancy softmax --arch MI300X", marks=pytest.mark.triton),
        pytest.param("select softmax --arch MI300X", marks=pytest.mark.triton),
    ],
)
def test_short_commands_are_not_silent(tmp_path: Path, command: str) -> None:
    """Something is on the terminal within a second, and again within each second until the end."""
    root = Path(__file__).parents[2]
    terminal, inside = pty.openpty()
    environment = {**os.environ, "KPROF_CACHE_DIR": str(tmp_path), "TERM": "xterm"}
    with subprocess.Popen(
        [sys.executable, "-m", "kprof", *command.split()],
        stdin=inside, stdout=inside, stderr=inside, start_new_session=True, cwd=root, env=environment,
    ) as process:  # fmt: skip
        os.close(inside)
        shown = b""
        while piece := read(terminal, SILENT + BUSY / 3):
            shown += piece
        assert process.wait(60) in {0, 1}
    os.close(terminal)
    answer = shown.rpartition(b"\x1b[K")[2]
    assert answer.strip(), "the line is gone, the answer is there"
    assert b"kprof " + command.split(maxsplit=1)[0].encode() + b" " not in answer.splitlines()[0]
