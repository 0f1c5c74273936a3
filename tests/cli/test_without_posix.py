"""What only reads works without ``fcntl``, ``resource`` and ``os.fork``, as on Windows: assembly, traces, counters."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ARTIFACTS = Path(__file__).resolve().parents[1] / "artifacts"
MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty")
FUNCTIONS = (
    "fork", "forkpty", "getuid", "geteuid", "getgid", "getegid", "setsid", "killpg", "getpgid", "register_at_fork",
    "sched_getaffinity", "posix_fallocate", "mkfifo", "getresuid", "O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC",
    "O_NONBLOCK", "O_PATH", "waitid", "pread", "pwrite", "memfd_create", "fchmod", "chown",
    "fchown", "statvfs",
)  # fmt: skip
SIGNALS = ("SIGKILL", "SIGHUP", "SIGALRM", "SIGPIPE", "setitimer", "alarm", "ITIMER_REAL", "SIGCHLD", "SIGUSR1")
# Windows has msvcrt in place of fcntl.
WITHOUT = f"""
import os, signal, subprocess, sys, types
for name in {MODULES}:
    sys.modules[name] = None
sys.modules["msvcrt"] = types.SimpleNamespace(LK_LOCK=1, LK_NBLCK=2, LK_UNLCK=0, locking=lambda *_: None)
for module, names in ((os, {FUNCTIONS}), (signal, {SIGNALS})):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
from kprof.cli.app import main
sys.argv = ["kprof", *sys.argv[1:]]
main()
"""


def read(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """A command in a process that lacks what Windows lacks."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments],
        cwd=folder,
        # Python looks into pwd where HOME is not set; Windows has homes and no pwd.
        env={**os.environ, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """A trace of one kernel."""
    kernel = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10.0, "dur": 5.0}
    kernel["args"] = {"device": 0, "stream": 7, "correlation": 1}
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": [kernel], "displayTimeUnit": "ms"}))
    return str(path)


def test_assembly_is_analysed(tmp_path: Path) -> None:
    """With a cache, whose locks are the system's."""
    assembly = str(ARTIFACTS / "gfx942" / "scaled_exp.triton-3.9.0.amdgcn")
    for _ in range(2):
        ran = read(tmp_path, "analyze", "kernel", assembly)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert "VGPR" in ran.stdout


def test_a_trace_is_read(tmp_path: Path, trace: str) -> None:
    """Its kernels and its busy time."""
    for command in (("trace", "top", trace), ("trace", "breakdown", trace), ("ingest", "trace", trace)):
        ran = read(tmp_path, *command)
        assert (ran.returncode, ran.stderr) == (0, ""), command
    assert "gemm" in read(tmp_path, "trace", "top", trace).stdout


def test_counters_are_read(tmp_path: Path) -> None:
    """A CSV file of rocprofv3."""
    path = next(iter(sorted((ARTIFACTS / "rocprof").rglob("*counter_collection*.csv"))))
    ran = read(tmp_path, "ingest", "counters", str(path))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout


def test_a_report_of_a_page_and_a_comparison(tmp_path: Path) -> None:
    """What is written, besides what is read."""
    assembly = str(ARTIFACTS / "gfx942" / "scaled_exp.triton-3.9.0.amdgcn")
    out = tmp_path / "a.json"
    assert read(tmp_path, "analyze", "kernel", assembly, "--json", str(out)).returncode == 0
    assert read(tmp_path, "report", assembly, "-o", str(tmp_path / "a.html")).returncode == 0
    ran = read(tmp_path, "diff", str(out), str(out))
    assert (ran.returncode, ran.stderr) == (0, "")
