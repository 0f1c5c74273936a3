"""The line that a terminal shows while kernels are compiled."""

import io

import pytest

from kprof.output import waiting as _waiting
from kprof.output.progress import Underway, tell, watched, watching
from kprof.output.status_line import StatusLine
from kprof.output.waiting import Waiting, line


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("underway", "text"),
    [
        (Underway(0, 1, "attn_fwd gfx942", 14.4, "llir"), "compiling · 14 s, making llir: attn_fwd gfx942"),
        (Underway(0, None, "attn_fwd", 3.0, None), "compiling · 3 s: attn_fwd"),
        (Underway(3, 1200, "attn_fwd", 3.0, "ttgir"), "3 of 1,200 compiled · 3 s, making ttgir: attn_fwd"),
        (Underway(1000, None, "attn_fwd", 0.2, None), "1,000 compiled · 0 s: attn_fwd"),
    ],
)
def test_line(underway: Underway, text: str) -> None:
    """How many, how long, and of which; what matters most stands first."""
    assert line(underway) == text


def test_nothing_is_drawn_for_a_compile_of_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most compiles are over before anybody asks."""
    stream = Terminal()
    waiting = Waiting(stream)
    waiting(Underway(0, 1, "k", 0.5, None))
    waiting(None)
    assert not stream.getvalue()

    monkeypatch.setattr(_waiting, "AFTER", 0.0)
    waiting(Underway(0, 1, "k" * 500, 2.0, None))
    assert len(stream.getvalue().removeprefix("\r\x1b[K")) < 200, "one line of the terminal"
    waiting(None)
    waiting(None)
    assert stream.getvalue().count("\r\x1b[K") == 2, "drawn once, cleared once"
    assert stream.getvalue().endswith("\r\x1b[K")


def test_silence_where_somebody_else_shows_it() -> None:
    """A search has a line of its own, from its first text on."""
    told: list[Underway | None] = []
    with watching(told.append):
        with watching(None):
            assert not watched()
            tell(Underway(0, 1, "k", 2.0, None))
        with StatusLine(Terminal()) as shown:
            assert watched()
            shown.draw("12 of 90")
            shown.draw("13 of 90")
            assert not watched()
        assert watched()
        with StatusLine(Terminal(), takes_over=False) as shown:
            shown.draw("the watcher's own")
            assert watched()
        tell(Underway(1, 2, "k", 2.0, None))
    assert not watched()
    assert told == [None, None, Underway(1, 2, "k", 2.0, None)]


@pytest.mark.triton
def test_a_terminal_shows_what_is_compiled(kprof, monkeypatch, tmp_path) -> None:
    """From the program's start to its end: drawn while it compiles, gone before the result."""
    stream = Terminal()
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(_waiting, "AFTER", 0.0)
    monkeypatch.setattr("kprof.output.progress.EVERY", 0.01)
    assert kprof("analyze", "kernel", "softmax", "--arch", "gfx942").code == 0
    shown = stream.getvalue()
    assert "compiling · 0 s" in shown
    assert ": softmax" in shown
    assert shown.endswith("\r\x1b[K")
    assert not watched()


@pytest.mark.triton
def test_a_pipe_shows_nothing(kprof, monkeypatch, tmp_path) -> None:
    """Logs of CI have no use for it."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(_waiting, "AFTER", 0.0)
    monkeypatch.setattr("kprof.output.progress.EVERY", 0.01)
    ran = kprof("analyze", "kernel", "softmax", "--arch", "gfx942")
    assert ran.code == 0
    assert not ran.err
