"""``kprof analyze --watch``: a target again after each save."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kprof
from kprof.api.live import watch as watching
from kprof.api.live.watch import Update, watch
from kprof.errors import TargetError
from kprof.importing.dependencies import stamps
from kprof.options.kernels import WatchOptions

ASSEMBLY = (Path(__file__).parents[2] / "artifacts" / "gfx942" / "matmul.triton-3.9.0.amdgcn").read_text()
SPILLED = ASSEMBLY.replace("; ScratchSize: 0", "; ScratchSize: 64").replace(
    ".vgpr_spill_count: 0", ".vgpr_spill_count: 16"
)
PLENTY = 30.0


@pytest.fixture
def updates(tmp_path: Path) -> Iterator[Any]:
    path = tmp_path / "k.s"
    path.write_text(ASSEMBLY)
    yield path, (found := watch(str(path), WatchOptions(), poll=0.02))
    found.close()


def save(path: Path, text: str) -> None:
    """In two steps, as some editors do; the stamp is another one even where clocks are coarse."""
    partial = path.with_suffix(".new")
    partial.write_text(text)
    os.utime(partial, ns=(1, time.time_ns()))
    partial.replace(path)


def test_a_save_is_an_update_with_what_changed(updates: tuple[Path, Iterator[Update]]) -> None:
    """The report is that of the API, and the change is that of ``kprof.diff``."""
    path, found = updates
    first = next(found)
    assert first.analysis is not None
    assert first.changed is first.error is first.last is None
    direct = kprof.analyze(str(path))
    assert json.loads(first.analysis.to_json()) == json.loads(direct.to_json())

    assert SPILLED != ASSEMBLY
    save(path, SPILLED)
    second = next(found)
    assert second.changed is not None
    assert second.changed.document.verdict.status == "regression"
    assert second.changed.to_frame().to_dict() == kprof.diff(direct, kprof.analyze(str(path))).to_frame().to_dict()


def test_an_error_is_an_update_and_the_next_save_is_compared_with_the_last_good(
    updates: tuple[Path, Iterator[Update]],
) -> None:
    path, found = updates
    good = next(found)
    save(path, "nothing of a kernel\n")
    broken = next(found)
    assert broken.analysis is broken.changed is None
    assert broken.error is not None
    assert broken.error.path == str(path)
    assert broken.last is good.analysis
    save(path, ASSEMBLY + "\n")
    mended = next(found)
    assert mended.error is None
    assert mended.changed is not None
    assert mended.changed.ok


def test_a_file_that_comes_back_was_never_gone(updates: tuple[Path, Iterator[Update]]) -> None:
    """Some editors move the old file away first: that is no update of its own."""
    path, found = updates
    next(found)

    def written_late() -> None:
        path.rename(path.with_suffix(".old"))
        time.sleep(0.2)
        path.write_text(SPILLED)

    writer = threading.Thread(target=written_late)
    writer.start()
    update = next(found)
    writer.join()
    assert update.error is None
    assert update.changed is not None


def test_a_file_that_stays_gone_is_told(
    updates: tuple[Path, Iterator[Update]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "PATIENCE", 0.1)
    path, found = updates
    next(found)
    path.unlink()
    error = next(found).error
    assert isinstance(error, TargetError)
    assert "no such file" in str(error)


def test_a_save_in_steps_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as a file still changes nobody looks at it."""
    path = tmp_path / "k.s"
    path.write_text("")
    files = stamps([str(path)])
    steps = ["a", "ab", "abc"]

    def go_on(_: float) -> None:
        if steps:
            path.write_text(steps.pop(0))

    monkeypatch.setattr(watching.time, "sleep", go_on)
    watching.settle(files, 0.1)
    assert path.read_text() == "abc"
    assert not steps


def test_what_has_no_file_cannot_be_watched() -> None:
    with pytest.raises(TargetError, match="no kernel 'matmull'"):
        next(watch("matmull", WatchOptions()))


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_command_ends_quietly_with_ctrl_c(tmp_path: Path) -> None:
    path, said = tmp_path / "k.s", tmp_path / "said.txt"
    path.write_text(ASSEMBLY)
    with said.open("w") as out:
        running = subprocess.Popen(
            [sys.executable, "-m", "kprof", "analyze", str(path), "--watch"],
            stdout=out,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - one thread
        )

        def until(words: str) -> None:
            end = time.monotonic() + PLENTY
            while words not in said.read_text() and time.monotonic() < end:
                time.sleep(0.05)
            assert words in said.read_text()

        until("waiting for the next save")
        save(path, SPILLED)
        until("regression")
        running.send_signal(signal.SIGINT)
        assert running.wait(PLENTY) == 0
    text = said.read_text()
    assert text.startswith("matmul on gfx942") or "matmul" in text.partition("\n")[0]
    assert "Traceback" not in text
