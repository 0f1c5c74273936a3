"""Commands that are killed at a few random moments; ``validation/kill.py`` takes more."""

import signal
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = [
    pytest.mark.triton,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="this system does not show what a process is"),
]


@pytest.fixture
def kill(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, imported."""
    monkeypatch.syspath_prepend(str(ROOT / "validation"))
    import kill

    return kill


@pytest.mark.slow
@pytest.mark.parametrize("name", ["capture", "tune", "diff", "check", "advise"])
def test_nothing_is_lost_and_nobody_stays(kill: ModuleType, name: str, tmp_path: Path) -> None:
    """Once by each signal."""
    case = next(case for case in kill.CASES if case.name == name)
    ran = kill.undisturbed(case, tmp_path / name)
    for how in (signal.SIGKILL, signal.SIGHUP):
        row = kill.series(case, how, tmp_path / name, ran, moments=1, seed=7)
        assert (row.kills, row.again, row.orphans) == (1, 1, 0)
        assert row.problems == []


def test_a_process_that_stays_is_seen(kill: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The measure itself: a program that leaves a process in a session of its own, and takes its search away."""
    case = next(case for case in kill.CASES if case.name == "tune")
    leaves = (
        "import os, subprocess, sys, time; os.makedirs('out'); open('out/search.jsonl', 'w').write('x\\n'); "
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True); "
        "time.sleep(60)"
    )
    monkeypatch.setattr(kill, "PATIENCE", 1.0)
    monkeypatch.setattr(kill, "start", lambda _case, folder, mark: real(folder, mark, [sys.executable, "-c", leaves]))

    def real(folder: Path, mark: str, command: list[str]) -> object:
        import os
        import subprocess

        return subprocess.Popen(command, cwd=folder, env={**os.environ, kill.MARK: mark})

    row = kill.Row()
    assert kill.kill(case, signal.SIGKILL, 1.5, tmp_path / "tune", row)
    assert (row.kills, row.orphans, row.kept) == (1, 1, 1)
    assert len(row.problems) == 1
    assert "stays" in row.problems[0]
    (tmp_path / "tune" / "out" / "search.jsonl").write_text("y\n")
    assert kill.lost(case, tmp_path / "tune", {"line 0": b"x\n"}) == ["line 0 is lost"]
