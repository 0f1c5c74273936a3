"""Where a gate may have to run: a full disk, folders that cannot be written to, an impatient user."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.triton
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_output_that_cannot_be_written_is_one_clear_message(repository, kprof, monkeypatch, number):
    """A full disk or a read-only folder: which file and why, exit code 2, and no half of a file."""
    write = Path.write_bytes

    def refuse(path, data):
        if "sarif" in path.name or "baseline" in path.name:
            write(path, data[: len(data) // 2])
            raise OSError(number, os.strerror(number))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", refuse)
    for arguments, file in ((["--update-baseline"], "kprof-baseline.json"), (["--sarif", "out.sarif"], "out.sarif")):
        ran = kprof("check", "--arch", "gfx942", *arguments)
        assert ran.code == 2
        assert f"{file}: cannot write the output: {os.strerror(number)}" in ran.err
    assert sorted(path.name for path in repository.root.iterdir()) == [".git", "kernels", "pyproject.toml"]


@pytest.mark.triton
def test_cache_that_cannot_be_written_changes_nothing(repository, kprof, monkeypatch):
    """The verdict is the same without a place for the cache."""
    assert kprof("check", "--update-baseline").code == 0
    (repository.root / "file").write_text("")
    monkeypatch.setenv("KPROF_CACHE_DIR", str(repository.root / "file" / "below"))
    ran = kprof("check")
    assert (ran.code, ran.out.splitlines()[-1].split(";")[0]) == (0, "ok: 2 checks, nothing is worse than the baseline")


@pytest.mark.triton
def test_nothing_is_written_beside_the_input(repository, kprof):
    """A check without output options leaves the repository as it was."""
    before = {path: path.stat().st_mtime_ns for path in repository.root.rglob("*")}
    kprof("check")
    assert {path: path.stat().st_mtime_ns for path in repository.root.rglob("*")} == before


@pytest.mark.triton
@pytest.mark.slow
def test_interrupt_ends_the_workers_and_leaves_a_usable_cache(repository, tmp_path, kprof):
    """Ctrl-C: one line, exit code 130, no process left behind; what was compiled by then is served the next time."""
    repository.config.write_text(
        'tool.kprof.arch = ["gfx942", "gfx90a", "gfx950", "gfx1100"]\n'
        + "\n".join(
            '[[tool.kprof.kernel]]\ntarget = "kernels/scale.py::scale"\n'
            'signature = "*fp32:16,*fp32:16,i32:16,i32:16"\n'
            f"constexpr = {{BLOCK = {2**power}}}"
            for power in range(6, 15)
        )
    )
    cache = tmp_path / "cache"
    paths = os.pathsep.join((str(ROOT), str(ROOT / "analyzers")))
    started = subprocess.Popen(
        [sys.executable, "-m", "kprof", "check", "-j", "1"],
        cwd=repository.root,
        env={**os.environ, "KPROF_CACHE_DIR": str(cache), "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What starts the tests in the background has them ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads here
    )
    deadline = time.monotonic() + 120
    while not list(cache.glob("entries/reports-*/*/*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = _children(started.pid)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "kprof: interrupted"
    assert workers
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
    kept = len(list(cache.glob("entries/reports-*/*/*")))
    assert 0 < kept < 36


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
