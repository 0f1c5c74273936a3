"""A capture for the tests, recorded from a real program."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).with_name("programs")
ROOT = Path(__file__).resolve().parents[2]


def kprof_environment() -> dict[str, str]:
    """An environment in which subprocesses find this kprof."""
    path = [str(ROOT), str(ROOT / "analyzers"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}


def capture_command(output: Path, *arguments: str) -> list[str]:
    """``kprof capture`` of one of the programs."""
    own = [a for a in arguments if a.startswith("-")]
    program = [a for a in arguments if not a.startswith("-")]
    start = [sys.executable, "-m", "kprof", "capture", "-o", str(output), *own, "--"]
    return [*start, sys.executable, str(PROGRAMS / program[0]), *program[1:]]


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, "subprocess.CompletedProcess[str]"]:
    """The capture of ``many.py`` with its children, and what the command printed."""
    output = tmp_path_factory.mktemp("recorded") / "capture"
    ran = subprocess.run(
        capture_command(output, "-j2", "many.py", "again"),
        capture_output=True,
        text=True,
        env=kprof_environment(),
        check=False,
    )
    if "No module named 'torch'" in ran.stderr:
        pytest.skip("this Triton looks at arguments through torch, which is not installed")
    return output, ran
