"""What fails in a recorded program is cured by another tile: the program makes its launch again with it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.recording.conftest import kprof_environment

pytestmark = [pytest.mark.triton, pytest.mark.slow]

PROGRAM = """\
import torch
import triton
import triton.language as tl


@triton.jit
def centred(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, x - tl.max(x, 0), mask=at < n)


def run(n):
    x = torch.empty(n, device="cuda")
    out = torch.empty_like(x)
    BLOCK = 65536
    centred[(triton.cdiv(n, BLOCK),)](out, x, n, BLOCK=BLOCK, num_warps=16)


run(1 << 20)
"""
BUDGET = 'arch = ["gfx942"]\nbudget.max_vgpr_allocated = 48\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A work tree with the program, and a capture of it."""
    pytest.importorskip("torch")
    (tmp_path / "step.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "kprof", "capture", "--arch", "gfx942", "-o", "captures/step", "--"]
    subprocess.run(
        [*command, sys.executable, "step.py"], cwd=tmp_path, env=kprof_environment(), capture_output=True, check=True
    )
    monkeypatch.chdir(tmp_path)
    for name, value in kprof_environment().items():
        monkeypatch.setenv(name, value)
    return tmp_path


def test_a_tile_cures_a_recorded_kernel_and_the_comment_suggests_the_line(folder, kprof):
    """The line stands in the program; where that is not the recorded one any more, only options are tried."""
    (folder / "kprof.toml").write_text(f'{BUDGET}[[kernel]]\ntarget = "captures/step"\n')
    assert kprof("check").code == 1
    ran = kprof("check", "--advise", 300, "--markdown", "comment.md", "--sarif", "found.sarif")
    assert ran.code == 1, ran.out + ran.err
    comment = Path("comment.md").read_text()
    assert "`step.py:16`" in comment
    assert "```suggestion\n    BLOCK = " in comment
    (run,) = json.loads(Path("found.sarif").read_text())["runs"]
    (fix, *_) = (result["fixes"][0] for result in run["results"] if result.get("fixes"))
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "step.py"
    tile = int(comment.split("```suggestion\n    BLOCK = ")[1].split()[0])
    assert tile < 65536
    # What is suggested is what cures it: recorded with it the check passes.
    (folder / "step.py").write_text(PROGRAM.replace("65536", str(tile)))
    again = kprof("check", "--advise", 5)
    assert again.code in {1, 2}
    assert "was recorded" in again.out + again.err
    (folder / "kprof.toml").write_text(f'{BUDGET}[[program]]\ncommand = ["{sys.executable}", "step.py"]\n')
    assert kprof("check").code == 0
