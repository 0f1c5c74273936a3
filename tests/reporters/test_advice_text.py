"""The table of ``kprof advise`` in narrow and wide terminals, and what stands beside it."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from kprof.api.advise import Advised
from kprof.document import KernelReport
from kprof.reporters.advice_text import _HEADINGS, _fitting, show, show_trials, verdict
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.trials.measure import Measure
from kprof.tuning.trials.trial import Trials

ROWS = [
    ["3.82", "2.00-7.00", "443", "102", "256", "1", "64", "16x16", "84", "986", "2.59"],
    ["0.784", "0.400-0.900", "0", "0", "232", "2", "32", "8x16 2x4", "11", "263", "2.78"],
]


@pytest.mark.parametrize(
    ("room", "missing"),
    [
        (112, set()),
        (99, {"issue"}),
        (70, {"issue", "instr", "full waits", "LDS KiB"}),
        (20, {"issue", "instr", "full waits", "LDS KiB", "loads"}),
    ],
)
def test_columns_are_left_out_rather_than_cut(room, missing):
    """The least telling go first; time, spills, registers and wavefronts always stay."""
    kept = _fitting(ROWS, room)
    assert {_HEADINGS[place] for place in range(len(_HEADINGS))} - {_HEADINGS[place] for place in kept} == missing
    assert kept == sorted(kept)


@pytest.mark.parametrize(
    ("tried", "left", "said"),
    [(0, 41, "cannot tell: the budget was spent"), (0, 0, "no change of knobs"), (3, 41, "no change of knobs")],
)
def test_a_search_that_compiled_nothing_does_not_say_that_nothing_helps(tried, left, said):
    """Unless there was nothing to compile."""
    trials = Trials(Evaluation({}, {}), (), tried=tried, left=left)
    assert verdict(trials).startswith(said)
    assert Advised(trials=trials).untried == said.startswith("cannot tell")


MEASURE = Measure(True, 0, 0, 64, 0, 4, {}, 0, 9, 1000, is_flops=True, issue=1.0, bytes=0)


def test_ranges_and_assumptions_stand_beside_the_times():
    start = Evaluation(
        {}, {"a": 1}, measure=MEASURE, time_us=20.0, low_us=10.0, high_us=30.0, assumptions=("one is assumed",)
    )
    best = Evaluation(
        {"a": 2}, {"a": 2}, measure=MEASURE, time_us=10.0, low_us=6.7, high_us=16.5, assumptions=("another",)
    )
    stream = io.StringIO()
    show_trials(Trials(start, (best,), tried=2, ranked_by="time"), Console(file=stream, width=160))
    lines = stream.getvalue().splitlines()
    assert any("predicted µs" in line and "likely µs" in line for line in lines)
    assert any("20.0" in line and "10.0-30.0" in line for line in lines)
    assert any("10.0" in line and "6.70-16.5" in line for line in lines)
    assert {"Assumed: one is assumed", "Assumed: another"} <= set(lines)


def test_cycles_have_no_certainty_of_published_times():
    start = Evaluation({}, {}, cycles_per_element=20.0, axis="n")
    best = Evaluation({"a": 2}, {"a": 2}, cycles_per_element=10.0, axis="n")
    found = Trials(start, (best,), tried=2, ranked_by="cycles").beside_start(best)
    assert (found.speedup, found.certainty, found.told_apart) == (2.0, None, True)
    assert found.words() == "2.00 times as fast, certainty not known: no times, cycles are compared"


def near(time_us):
    """A search whose best configuration takes so long, where the kernel's own takes 100 µs."""
    start = Evaluation({"BLOCK": 64, "num_warps": 4}, {}, measure=MEASURE, time_us=100.0)
    best = Evaluation({"BLOCK": 128, "num_warps": 4}, {"BLOCK": 128}, measure=MEASURE, time_us=time_us)
    report = KernelReport("k", "gfx942", triton="3.9.0")
    return Trials(replace(start, report=report), (best,), tried=2, ranked_by="time")


def shown(trials, monkeypatch, capsys, *, on_screen):
    monkeypatch.setattr("kprof.output.headline.on_screen", lambda: on_screen)
    show(trials, Console(width=160))
    return capsys.readouterr().out.splitlines()


def test_the_configuration_is_directly_below_the_verdict(monkeypatch, capsys):
    """On a terminal, once; in a pipe, where the verdict is last, directly above it."""
    code = "triton.Config({'BLOCK': 128}, num_warps=4)"
    first = shown(near(20.0), monkeypatch, capsys, on_screen=True)
    assert first[0].startswith("try BLOCK=128 (predicted 100 µs → 20.0 µs")
    place = first.index(code)
    where = "for @triton.autotune(configs=[...]), or as arguments of the launch:"
    assert place <= 3
    assert first[place - 1] == where
    assert "predicted; nothing was measured" in " ".join(first[: place - 1])
    assert first.count(code) == 1
    last = shown(near(20.0), monkeypatch, capsys, on_screen=False)
    assert last[-3:-1] == [where, code]
    assert last[-1].startswith("try BLOCK=128")


def test_each_that_is_not_told_apart_says_what_to_time(monkeypatch, capsys):
    """With the configuration to paste, the kernel's own among them; none stands below a verdict to keep it."""
    lines = shown(near(99.0), monkeypatch, capsys, on_screen=True)
    assert lines[0].startswith("keep yours:")
    assert "triton.Config" not in " ".join(lines[:4])
    place = lines.index("= not distinguished: time these 2 on the GPU before choosing one:")
    assert lines[place + 1 : place + 5] == [
        "= BLOCK=128",
        "  triton.Config({'BLOCK': 128}, num_warps=4)",
        "= as it is",
        "  triton.Config({'BLOCK': 64}, num_warps=4)",
    ]
