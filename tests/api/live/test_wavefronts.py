"""The timeline that the page draws is the trace that ``kprof analyze kernel --timeline`` writes."""

import json
from collections import Counter
from pathlib import Path

import pytest

import kprof
from kprof.api.live.wavefronts import wavefronts
from kprof.errors import TargetError

ARTIFACTS = Path(__file__).resolve().parents[2] / "artifacts" / "gfx942"
MATMUL = ARTIFACTS / "matmul.triton-3.9.0.amdgcn"


def test_each_step_of_the_trace_is_drawn():
    """Every slice, with its track, its cycles and its instruction; 1 ns of the trace is a cycle."""
    found = wavefronts(str(MATMUL), arch="MI300X")
    trace = json.loads(kprof.analyze(MATMUL, arch="MI300X").timeline())["traceEvents"]
    slices = [event for event in trace if event["ph"] == "X"]

    def expected(category: str) -> Counter[tuple[int, int, str, str]]:
        return Counter(
            (event["tid"], round(1000 * event["ts"]), event["args"]["instruction"], event["args"]["cause"])
            for event in slices
            if event["cat"] == category
        )

    for category, steps in (("issue", found.issue), ("wait", found.wait)):
        told = [
            (wave, round(start), found.instructions[at][1], found.causes[cause]) for wave, start, _, at, cause in steps
        ]
        assert Counter(told) == expected(category)
    assert len(found.busy) == sum(event["cat"] in found.units for event in slices)
    assert len(found.loops) == sum(event["cat"] == "loop" for event in slices) > 0
    assert found.cycles == pytest.approx(max(1000 * (e["ts"] + e["dur"]) for e in slices if e["pid"] == 1), abs=0.2)


def test_instructions_are_named_by_their_line():
    found = wavefronts(str(MATMUL), arch="MI300X")
    text = MATMUL.read_text().split("\n")
    assert all(text[line - 1].split()[0] == words.split()[0] for line, words in found.instructions)


def test_there_is_no_such_kernel():
    with pytest.raises(TargetError, match="there is no kernel 2"):
        wavefronts(str(MATMUL), kernel=1, arch="MI300X")
