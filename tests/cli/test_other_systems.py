"""Commands that need no compiler work where POSIX modules are missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ARTIFACTS = Path(__file__).parents[1] / "artifacts" / "gfx942"

# Those that Windows does not have.
HIDDEN = """
import sys
for name in ("fcntl", "pwd", "grp", "resource", "termios"):
    sys.modules[name] = None
sys.argv[0] = "kprof"
from kprof.cli.app import main
main()
"""


def run(tmp_path: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    paths = os.pathsep.join(p for p in sys.path if p)
    return subprocess.run(
        [sys.executable, "-c", HIDDEN, *arguments],
        env={**os.environ, "PYTHONPATH": paths, "KPROF_CACHE_DIR": str(tmp_path / "cache")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("again", [False, True])
def test_two_listings_are_compared(tmp_path, again):
    """``kprof diff a.amdgcn b.amdgcn``, and a second time from the cache."""
    source = min(ARTIFACTS.glob("*.amdgcn"))
    for name in ("a.amdgcn", "b.amdgcn"):
        shutil.copy(source, tmp_path / name)
    for _ in range(1 + again):
        ran = run(tmp_path, "diff", "a.amdgcn", "b.amdgcn")
        assert ran.stderr == ""
        assert ran.returncode == 0
        assert "no kernel is worse" in ran.stdout


def test_a_listing_is_analysed(tmp_path):
    """As the occupancy of one is."""
    shutil.copy(min(ARTIFACTS.glob("*.amdgcn")), tmp_path / "a.amdgcn")
    assert run(tmp_path, "analyze", "kernel", "a.amdgcn").returncode == 0
    assert run(tmp_path, "occupancy", "--vgpr", "64", "--arch", "gfx942").returncode == 0
    assert run(tmp_path, "list", "rules", "--help").returncode == 0
