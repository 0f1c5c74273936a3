"""A capture of a program whose launches are made again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kprof.captures.reader import read

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "tests" / "recording" / "programs" / "tiles.py"


@pytest.fixture(scope="session")
def tiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture of ``tiles.py``, copied to a folder of its own with the file that it reads."""
    pytest.importorskip("triton")
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("program")
    for path in (PROGRAM, PROGRAM.with_suffix(".json")):
        (folder / path.name).write_bytes(path.read_bytes())
    path = [str(ROOT), str(ROOT / "analyzers"), os.environ.get("PYTHONPATH", "")]
    ran = subprocess.run(
        [sys.executable, "-m", "kprof", "capture", "-o", "capture", "-j2", "--", sys.executable, "tiles.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert {kernel.name for kernel in read(folder / "capture").kernels} == {"tuned", "partial", "fixed", "product"}
    return folder / "capture"
