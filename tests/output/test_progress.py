"""What a terminal is told of work that takes long."""

import io
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.opening import blocks
from kprof.output import progress, sink
from kprof.output.progress import Step, step, watching
from kprof.output.waiting import Waiting, steps_line
from kprof.output.writing import log


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, ...]]]:
    """The steps' words at each look, which are frequent here."""
    monkeypatch.setattr(progress, "EVERY", 0.005)
    found: list[tuple[str, ...]] = []
    with watching(lambda steps: found.append(tuple(s.what for s in steps) if isinstance(steps, tuple) else ())):
        yield found


def wait_for(told: list[tuple[str, ...]], words: tuple[str, ...]) -> None:
    until = time.monotonic() + 60
    while words not in told and time.monotonic() < until:
        time.sleep(0.001)
    assert words in told


def test_steps_in_each_other_are_told_while_they_are_done(told: list[tuple[str, ...]]) -> None:
    with step("outer"):
        wait_for(told, ("outer",))
        with step("inner"):
            wait_for(told, ("outer", "inner"))
        told.clear()
        wait_for(told, ("outer",))
    assert told[-1] == ()
    told.clear()
    time.sleep(0.05)
    assert told == []


def test_a_step_that_fails_is_over(told: list[tuple[str, ...]]) -> None:
    with pytest.raises(ValueError, match="broken"), step("outer"), step("inner"):
        raise ValueError("broken")
    with step("next"):
        wait_for(told, ("next",))


def test_a_generator_that_is_given_up_leaves_no_step(told: list[tuple[str, ...]]) -> None:
    def pieces() -> Iterator[int]:
        with step("pieces"):
            yield from range(3)

    with step("outer"):
        given_up = pieces()
        assert next(given_up) == 0
    with step("next"):
        given_up.close()
        wait_for(told, ("next",))


def test_nobody_watching_starts_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.threading, "Thread", lambda **_: pytest.fail("a thread was started"))
    with step("reading", 10, "files") as so_far:
        so_far.done += 1
    assert (so_far.done, so_far.total) == (1, 10)


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([Step("working on a.json", since=0)], "working on a.json · 10 s"),
        ([Step("reading a.json", 2_000_000_000, "bytes", 500_000_000, 0)],
         "reading a.json: 25 % of 2 GB · 10 s, 30 s left"),
        ([Step("reading a.json", 3_000_000, "bytes", 3_000_000, 0)], "reading a.json: 100 % of 3 MB · 10 s"),
        ([Step("reading a.json", 3_000_000, "bytes", 10, 0)], "reading a.json: 0 % of 3 MB · 10 s"),
        ([Step("reading", 12, "traces", 3, 0), Step("working on b.json", since=4),
          Step("reading b.json", 900, "bytes", 450, 6)],
         "3 of 12 traces · reading b.json: 50 % of 900 B · 10 s, 4 s left"),
        ([Step("computing metrics", 3000, "kernels", 1500, 8)],
         "computing metrics: 1,500 of 3,000 kernels · 2 s, 2 s left"),
    ],
)  # fmt: skip
def test_the_line(steps: list[Step], text: str) -> None:
    assert steps_line(tuple(steps), 10.0) == text


def test_nothing_is_drawn_in_the_first_second() -> None:
    """Of the program, not of the step: what was done before it was silent as well."""
    terminal = Terminal()
    now = time.monotonic()
    Waiting(terminal)((Step("quick", since=now),))
    assert terminal.getvalue() == ""
    waiting = Waiting(terminal, begun=now - 0.9)
    waiting((Step("slow", since=now - 0.3),))
    assert "slow · 0 s" in terminal.getvalue()
    waiting(None)
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_message_takes_the_line_away_first(capsys: pytest.CaptureFixture[str]) -> None:
    order: list[object] = []
    with watching(order.append):
        order.clear()
        log("remark: something")
    assert order[0] is None
    assert capsys.readouterr().err == "remark: something\n"


@pytest.mark.parametrize("packed", [False, True])
def test_bytes_of_a_trace_are_counted(tmp_path: Path, told: list[tuple[str, ...]], *, packed: bool) -> None:
    """Of a packed file its own bytes, since what it unpacks to is not known before the end."""
    import gzip

    content = bytes(range(256)) * 8192
    path = tmp_path / "t.json"
    path.write_bytes(gzip.compress(content) if packed else content)
    seen = []
    for _ in blocks(path, IssueLog("t")):
        (reading,) = progress._steps
        seen.append(reading.done)
    assert reading.total == path.stat().st_size == seen[-1]
    assert reading.what == "reading t.json"
    assert seen == sorted(seen)
    assert told is not None


def test_a_command_is_shown_until_its_first_output(monkeypatch):
    """Imports and short work have no step of their own; what is printed takes the line away first."""
    monkeypatch.setattr(progress, "EVERY", 0.01)
    drawn: list[tuple[str, ...]] = []
    shown = threading.Event()

    def watch(underway):
        drawn.append(tuple(step.what for step in underway or ()))
        if drawn[-1]:
            shown.set()

    behind = io.StringIO()
    with progress.watching(watch), progress.until_output("kprof select"):
        assert shown.wait(10)
        with progress.step("reading"):
            pass
        print("the answer", file=sink.CleanStream(behind))
        count = len(drawn)
        assert drawn[-1] == (), "the line is gone before the text is there"
        time.sleep(0.05)
        assert len(drawn) == count
        assert not sink.before_output
    assert ("kprof select",) in drawn
    assert behind.getvalue() == "the answer\n"
    assert not progress._steps


def test_a_line_that_is_drawn_is_no_output():
    """Else the first look at a command would be the last."""
    ended: list[bool] = []
    sink.before_output.append(lambda: ended.append(True))
    sink.DrawingStream(io.StringIO()).write("12 s")
    assert not ended
    sink.StyledStream(io.StringIO()).write("answer")
    assert ended == [True]
