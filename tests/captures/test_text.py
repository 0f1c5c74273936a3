"""What the summary says of autotuners."""

import pytest

from kprof.captures.reader import read
from kprof.reporters.capture_text import CaptureTextReporter
from tests.captures.conftest import END, KERNEL, LAUNCH

TUNING = {"t": "tuning", "n": 0, "name": "f", "configs": 1, "site": 0}
CANDIDATE = {"t": "candidate", "tuning": 0, "config": "num_warps: 4", "kernel": 0}


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"status": "ok", "seconds": 1.0, "triton": "3.9.0"}, False),
        ({"status": "failed", "error": "does not compile: no such function"}, True),
    ],
)
def test_a_choice_of_which_nothing_compiles_is_told(make, result, said):
    """Then no configuration stands for it."""
    site = {"t": "site", "n": 0, "frames": [["/nowhere/program.py", 1, "main"]]}
    capture = read(make([site, KERNEL, TUNING, CANDIDATE, {**LAUNCH, "tuning": 0}, END], result=result))
    text = " ".join(CaptureTextReporter(110, 0).render(capture).split())
    assert "1 choice not known" in text
    assert ("; for 1 of them no configuration compiles" in text) is said
