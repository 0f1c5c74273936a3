"""The frame of the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kprof import __version__

ROOT = Path(__file__).resolve().parents[2]


def test_version_is_printed(kprof):
    """--version names the program and its version."""
    ran = kprof("--version")
    assert (ran.code, ran.out) == (0, f"kprof {__version__}\n")


def test_help_lists_every_command_with_a_line_each(kprof):
    """A newcomer sees all commands and where to start."""
    ran = kprof("--help")
    assert ran.code == 0
    assert "kprof analyze kernel flash_attention" in ran.out
    for command in ("advise", "analyze", "arch", "bench", "ingest", "kernels", "occupancy", "rules", "trace"):
        assert f"\n  {command} " in ran.out


@pytest.mark.parametrize(("typed", "meant"), [("analyse", "analyze"), ("ocupancy", "occupancy")])
def test_mistyped_command_gets_a_near_match(kprof, typed, meant):
    """A typo names the command that was meant, with exit code 2."""
    ran = kprof(typed)
    assert ran.code == 2
    assert f"did you mean '{meant}'" in ran.err


def test_start_imports_nothing_heavy():
    """Neither help nor numbers-only occupancy may pay for Triton, torch, pandas or numpy."""
    code = (
        "import sys\nsys.argv = ['kprof', 'occupancy', '--arch', 'gfx942', '--vgpr', '128']\n"
        "from kprof.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'triton', 'torch', 'pandas', 'numpy', 'elftools', 'yaml', 'jinja2'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy), file=sys.stderr)\n"
    )
    paths = os.pathsep.join([str(ROOT), str(ROOT / "analyzers")])
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert "heavy: []" in ran.stderr
