"""The table of ``kprof advise`` in narrow and wide terminals."""

import pytest

from kprof.api.advise import Advised
from kprof.reporters.advice_text import _HEADINGS, _fitting, verdict
from kprof.tuning.trials.trial import Trial, Trials

ROWS = [
    ["3.82 ms", "443", "102", "256", "1", "64", "16x16", "84", "986", "2.59"],
    ["784 µs", "0", "0", "232", "2", "32", "8x16 2x4", "11", "263", "2.78"],
]


@pytest.mark.parametrize(
    ("room", "missing"),
    [
        (100, set()),
        (78, {"issue"}),
        (54, {"issue", "instr", "drains", "LDS KiB"}),
        (20, {"issue", "instr", "drains", "LDS KiB", "loads"}),
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
    trials = Trials(Trial({}, {}), (), tried=tried, left=left)
    assert verdict(trials).startswith(said)
    assert Advised(trials=trials).untried == said.startswith("cannot tell")
