"""Running a program with its recording on."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from kprof.captures import layout
from kprof.captures.reader import read
from kprof.errors import KprofError
from kprof.recording.command import RecordOptions, prepare, run


def test_a_program_that_runs_too_long_is_stopped(tmp_path: Path) -> None:
    """As by Ctrl-C, so that it closes its recording; what the recording has is whole."""
    settings = prepare(RecordOptions("gfx942", tmp_path / "capture"))
    ended = run(settings, [sys.executable, "-c", "import time; time.sleep(100)"], time_limit=2)

    assert ended.stopped
    assert not ended.interrupted
    assert ended.status != 0
    assert 2 <= ended.seconds < 60
    assert read(tmp_path / "capture").complete


def test_a_program_within_its_time_is_left_alone(tmp_path: Path) -> None:
    """Its own exit status is told."""
    settings = prepare(RecordOptions("gfx942", tmp_path / "capture"))
    ended = run(settings, [sys.executable, "-c", "raise SystemExit(3)"], time_limit=60)

    assert (ended.status, ended.stopped) == (3, False)


def test_what_a_recording_left_that_was_killed_as_it_began_is_replaced(tmp_path: Path) -> None:
    """The head comes last and whole: without it the folders before it are no reason to refuse the place."""
    capture = tmp_path / "capture"
    prepare(RecordOptions("gfx942", capture))
    (capture / layout.HEAD).rename(capture / f".{layout.HEAD}.part")

    with pytest.raises(KprofError, match="already contains a capture"):
        prepare(RecordOptions("gfx942", capture))
    prepare(RecordOptions("gfx942", capture, force=True))

    assert read(capture).arch == "gfx942"
    assert sorted(path.name for path in capture.iterdir()) == [layout.HEAD, layout.JOURNAL, layout.KERNELS]


def test_a_folder_with_something_else_is_never_replaced(tmp_path: Path) -> None:
    """Not even with --force."""
    (tmp_path / layout.JOURNAL).mkdir()
    (tmp_path / "thesis.tex").touch()

    with pytest.raises(KprofError, match="is not empty and contains no capture"):
        prepare(RecordOptions("gfx942", tmp_path, force=True))


@pytest.mark.skipif(os.name != "posix", reason="this system has no such signal")
def test_a_signal_to_end_is_for_the_program_and_then_for_this_process(tmp_path: Path) -> None:
    """The program is asked first, so that its recording is whole; who only wanted the capture ends then, too."""
    settings = prepare(RecordOptions("gfx942", tmp_path / "capture"))
    threading.Timer(2, signal.raise_signal, (signal.SIGTERM,)).start()
    ended = run(settings, [sys.executable, "-c", "import time; time.sleep(100)"], time_limit=60)

    assert (ended.status, ended.signal) == (-signal.SIGTERM, signal.SIGTERM)
    with pytest.raises(SystemExit) as exit_status:
        ended.obey()
    assert exit_status.value.code == 128 + signal.SIGTERM


def test_who_was_not_told_to_end_goes_on(tmp_path: Path) -> None:
    """Whatever the program's own end."""
    settings = prepare(RecordOptions("gfx942", tmp_path / "capture"))
    ended = run(settings, [sys.executable, "-c", "import os; os.kill(os.getpid(), 15)"])
    ended.obey()

    assert (ended.status, ended.signal) == (-signal.SIGTERM, None)


@pytest.mark.parametrize("package", [False, True])
def test_a_folder_of_the_programs_that_is_called_kprof_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: bool
) -> None:
    """On PYTHONPATH it comes before what is installed."""
    own = tmp_path / "lib" / "kprof"
    own.mkdir(parents=True)
    if package:
        (own / "__init__.py").write_text("raise ImportError('of the program')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lib"))
    settings = prepare(RecordOptions("gfx942", tmp_path / "capture"))
    recorded = "import sys; sys.exit('kprof.recording.session' not in sys.modules)"
    ended = run(settings, [sys.executable, "-c", recorded], time_limit=60)

    assert ended.status == 0
