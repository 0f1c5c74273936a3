"""The kernels of a recording against a budget, without a compiler: what the recording holds is enough."""

import math
import re
from dataclasses import replace

import pytest

from kprof.errors import KprofError
from kprof.gate.config import Budget
from kprof.gate.launched import broken, budget_of, reports


def test_a_budget_from_names():
    """Metrics have a most, wavefronts a least."""
    assert budget_of({}) == Budget()
    assert budget_of({"vgpr_spills": 0, "waves_per_simd": 2.5}) == Budget(max_vgpr_spills=0, min_waves_per_simd=2.5)
    with pytest.raises(KprofError) as caught:
        budget_of({"vgpr_spils": 0})
    assert caught.value.message.startswith("a budget has no limit 'vgpr_spils'; did you mean 'vgpr_spills'")
    for value in (True, "4", None):
        with pytest.raises(KprofError) as caught:
            budget_of({"sgpr": value})
        assert caught.value.message == f"the limit sgpr takes a number, got {value!r}"
    for value in (math.nan, math.inf):
        with pytest.raises(KprofError) as caught:
            budget_of({"sgpr": value})
        assert caught.value.message == f"sgpr: {value} is not a valid limit; it must be at least 0"


def test_within_the_budget_there_is_nothing_to_say(recording):
    """And every launched kernel has a report."""
    found = recording()
    assert list(broken(found, Budget(max_vgpr_spills=0))) == []
    (report,) = reports(found)
    assert (report.name, report.arch) == ("matmul", "gfx942")
    assert list(broken(found, Budget(max_sgpr=report.resources.sgpr))) == []


def test_over_the_budget(recording):
    """The kernel, its architecture and both numbers."""
    found = recording()
    (report,) = reports(found)
    (said,) = broken(found, Budget(max_sgpr=report.resources.sgpr - 1))
    sgpr = report.resources.sgpr
    assert said == f"matmul on gfx942: {sgpr} SGPRs, the budget is max_sgpr = {sgpr - 1}"


def test_the_line_that_explains_it_stands_in_front(recording):
    """That of a reload, which is the one that spills are seen at."""
    reload = "\tscratch_load_dword v1, off, s32 ; 4-byte Folded Reload\n"
    text = recording.listing.replace("\ts_endpgm", f"{reload}\ts_endpgm", 1)
    found = recording(text=re.sub(r"(\.vgpr_spill_count: *)0", r"\g<1>3", text))
    (report,) = reports(found)
    (place,) = {f.location for f in report.findings if f.name == "spill-outside-loop"}
    said = [said for said in broken(found, Budget(max_vgpr_spills=2)) if "max_vgpr_spills" in said]
    assert said == [f"{place}: matmul on gfx942: 3 VGPRs spilled, the budget is max_vgpr_spills = 2"]
    assert str(place) == "small.py:13"


def test_nothing_launched_is_not_within_a_budget(recording):
    """A recording without launches has nothing that could break it; a compile alone is no launch."""
    found = recording(launched=False)
    assert list(broken(found, Budget())) == [
        "no Triton kernel was launched, so nothing could be compared with the budget"
    ]
    assert reports(found) == []


def test_a_recording_that_was_cut_off(recording):
    """What it says of itself."""
    found = recording(lines=())
    assert not found.complete
    assert found.notes
    assert list(broken(found, Budget())) == ["; ".join(found.notes)]
    assert list(broken(replace(found, notes=("one", "two")), Budget())) == ["one; two"]


def test_a_kernel_that_did_not_compile(recording):
    """With the compiler's words, and no report."""
    found = recording(result={"status": "failed", "error": "does not compile: too bad", "stage": "ttir"})
    (said,) = broken(found, Budget())
    with pytest.raises(KprofError) as caught:
        reports(found)
    assert said == f"matmul on gfx942: {caught.value}"
    assert "too bad" in said


def test_what_was_not_seen_cannot_be_told(recording):
    """One instruction is enough."""
    found = recording(text=recording.listing.replace("\ts_endpgm", "\tv_no_such_thing v0, v1\n\ts_endpgm", 1))
    (said,) = broken(found, Budget())
    assert said.startswith("matmul on gfx942: cannot tell: 1 of its ")
