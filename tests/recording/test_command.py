"""Running a program with its recording on."""

import sys
from pathlib import Path

from kprof.captures.reader import read
from kprof.recording.command import Options, prepare, run


def test_a_program_that_runs_too_long_is_stopped(tmp_path: Path) -> None:
    """As by Ctrl-C, so that it closes its recording; what the recording has is whole."""
    settings = prepare(Options("gfx942", tmp_path / "capture"))
    ended = run(settings, [sys.executable, "-c", "import time; time.sleep(100)"], time_limit=2)

    assert ended.stopped
    assert not ended.interrupted
    assert ended.status != 0
    assert 2 <= ended.seconds < 60
    assert read(tmp_path / "capture").complete


def test_a_program_within_its_time_is_left_alone(tmp_path: Path) -> None:
    """Its own exit status is told."""
    settings = prepare(Options("gfx942", tmp_path / "capture"))
    ended = run(settings, [sys.executable, "-c", "raise SystemExit(3)"], time_limit=60)

    assert (ended.status, ended.stopped) == (3, False)
