"""A capture that moves with its sources says the same of the same lines, and its ignores work."""

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.recording.conftest import kprof_environment

pytestmark = [pytest.mark.triton, pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")]

PROGRAM = """
import torch, triton, triton.language as tl

@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    found = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        found += tl.load(x + start + at)  # kprof: ignore[KP204] measured
    tl.store(out + at, found)

total[(1,)](torch.zeros(4096, device="cuda"), torch.zeros(64, device="cuda"), 4096, BLOCK=64)
"""


def findings(kprof, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[tuple[str, str, int]], list[str]]:
    """Rule, file relative to the folder and line of each finding, and the rules that ignores have silenced."""
    monkeypatch.chdir(folder)
    (kernel,) = json.loads(kprof("analyze", "kernel", "capture", "--json", "-").out)["kernels"]
    placed = [f for f in kernel["findings"] if f.get("location")]
    files = [Path(f["location"]["file"]) for f in placed]
    assert all(file.is_relative_to(folder) for file in files), files
    found = [
        (f["rule"], file.relative_to(folder).as_posix(), f["location"]["line"])
        for f, file in zip(placed, files, strict=True)
    ]
    return sorted(found), [one["finding"]["rule"] for one in kernel.get("suppressed", [])]


def test_in_another_folder(tmp_path, kprof, monkeypatch):
    """The first folder is gone, as on another machine."""
    first, second = tmp_path / "first", tmp_path / "else" / "where"
    (first / "src").mkdir(parents=True)
    (first / ".git").mkdir()
    (first / "src" / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "kprof", "capture", "--arch", "gfx942", "-o", "capture", "--", sys.executable]
    ran = subprocess.run(
        [*command, "src/program.py"], cwd=first, capture_output=True, text=True, env=kprof_environment(), check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    before = findings(kprof, first, monkeypatch)
    shutil.move(first, second)
    monkeypatch.chdir(second)
    assert findings(kprof, second, monkeypatch) == before
    assert "KP204" in before[1]
