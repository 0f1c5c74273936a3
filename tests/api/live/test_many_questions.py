"""One session over mixed questions; ``validation/many_questions.py`` asks a thousand."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.slow
@pytest.mark.triton
@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="this system does not tell memory so")
def test_answers_memory_and_processes(tmp_path, monkeypatch):
    """Every answer is a new session's, nobody stays, and memory does not grow by what was asked."""
    monkeypatch.syspath_prepend(str(ROOT / "validation"))
    import many_questions

    monkeypatch.chdir(tmp_path)
    result = many_questions.ask_all(60, 3, tmp_path)
    assert result.different == []
    assert result.orphans == 0
    assert result.compared >= 20
    assert result.kinds["answered"] >= 40
    # In so few questions the processes are still loading what they need.
    assert result.growth < 1.5


def test_a_process_that_stays_is_counted(monkeypatch):
    """The measure itself."""
    monkeypatch.syspath_prepend(str(ROOT / "validation"))
    import os
    import subprocess

    import many_questions

    monkeypatch.setattr(many_questions, "PATIENCE", 0.2)
    before = set(many_questions.descendants(os.getpid()))
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        assert many_questions._left(before) == 1
    finally:
        process.kill()
        process.wait()
    assert many_questions._left(before) == 0
