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


def recorded(first: Path) -> None:
    """A checkout with the program in it, and its capture."""
    (first / "src").mkdir(parents=True)
    (first / ".git").mkdir()
    (first / "src" / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "kprof", "capture", "--arch", "gfx942", "-o", "capture", "--", sys.executable]
    ran = subprocess.run(
        [*command, "src/program.py"], cwd=first, capture_output=True, text=True, env=kprof_environment(), check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def findings(
    kprof, folder: Path, monkeypatch: pytest.MonkeyPatch, capture: str = "capture"
) -> tuple[list[tuple[str, str, int]], list[str], dict[str, str]]:
    """Rule, file from the folder and line of each finding; what ignores have silenced; the formats of services."""
    monkeypatch.chdir(folder)
    formats = {name: str(folder.parent / f"{folder.name}.{name}") for name in ("sarif", "gitlab", "markdown")}
    options = [part for name, path in formats.items() for part in (f"--{name}", path)]
    (kernel,) = json.loads(kprof("analyze", "kernel", capture, "--json", "-", *options).out)["kernels"]
    placed = [f for f in kernel["findings"] if f.get("location")]
    found = [(f["rule"], f["location"]["file"], f["location"]["line"]) for f in placed]
    assert {file for _, file, _ in found} == {"src/program.py"}
    texts = {name: Path(path).read_text(encoding="utf-8") for name, path in formats.items()}
    texts["github"] = kprof("analyze", "kernel", capture, "--github").out
    assert not [name for name, text in texts.items() if str(folder) in text or "file://" in text]
    assert "src/program.py" in texts["sarif"]
    return sorted(found), [one["finding"]["rule"] for one in kernel.get("suppressed", [])], texts


def test_in_another_folder(tmp_path, kprof, monkeypatch):
    """The first folder is gone, as on another machine."""
    first, second = tmp_path / "first", tmp_path / "else" / "where"
    recorded(first)
    before = findings(kprof, first, monkeypatch)
    shutil.move(first, second)
    monkeypatch.chdir(second)
    assert findings(kprof, second, monkeypatch) == before
    assert "KP204" in before[1]


def test_away_from_its_checkout(tmp_path, kprof, monkeypatch):
    """The capture alone went to a machine that has another checkout: its files are taken while they are the same."""
    first, second = tmp_path / "first", tmp_path / "second"
    recorded(first)
    before = findings(kprof, first, monkeypatch)
    (tmp_path / "downloaded").mkdir()
    shutil.move(first / "capture", tmp_path / "downloaded" / "capture")
    shutil.move(first, second)
    assert findings(kprof, second, monkeypatch, "../downloaded/capture") == before
    (second / "src" / "program.py").write_text(f"# Another line.\n{PROGRAM}", encoding="utf-8")
    output = kprof("analyze", "kernel", "../downloaded/capture", "--json", "-").out
    assert str(first / "src" / "program.py") in output, "the lines of a file that has changed are others"
