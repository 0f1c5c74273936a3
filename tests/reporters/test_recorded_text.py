"""Advice on recorded kernels on the terminal."""

import io
from dataclasses import replace

from rich.console import Console

from kprof.reporters.recorded_text import answer_text, show, verdict
from kprof.tuning.recorded.advise import AdvisedKernel
from kprof.tuning.recorded.answer import Answer

KERNEL = AdvisedKernel("capture::0", "mm[x]", 2, "compiler options only: prog.py changed", error="no time is known")


def test_what_to_write_is_shown_with_its_place() -> None:
    """Before and after; nothing stands where nothing is known."""
    answer = Answer("the launch at prog.py:3", "BLOCK=64", "BLOCK=128", "with X=0 in the environment")
    assert answer_text(answer).splitlines() == [
        "the launch at prog.py:3", "- BLOCK=64", "+ BLOCK=128", "with X=0 in the environment",
    ]  # fmt: skip
    assert answer_text(Answer("a file", "", "x")) == "a file\n+ x"


def test_the_first_line_says_what_could_not_be_tried() -> None:
    """Of one kernel and of several."""
    only = "compiler options only: prog.py changed"
    assert verdict([KERNEL]) == f"mm[x]: no time is known ({only})"
    assert verdict([KERNEL, KERNEL]) == f"0 of 2 kernels get faster with other knobs ({only})"


def test_names_are_no_markup_and_a_program_has_no_place() -> None:
    """A capture may come from a stranger."""
    out = io.StringIO()
    show([KERNEL, replace(KERNEL, target="mm[x]")], Console(file=out, width=100))
    lines = out.getvalue().splitlines()
    assert "mm[x]   2 launches   capture::0" in lines
    assert "mm[x]   2 launches" in lines
