"""Advice for a bare Triton function."""

from collections.abc import Callable
from pathlib import Path

import pytest

import kprof
from kprof.errors import KprofError, TargetError

pytestmark = pytest.mark.triton

SOURCE = """
import triton
import triton.language as tl


@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr, ROUNDS: tl.constexpr, EVEN: tl.constexpr):
    first = tl.program_id(0) * BLOCK * ROUNDS
    for step in range(ROUNDS):
        at = first + step * BLOCK + tl.arange(0, BLOCK)
        if EVEN:
            tl.store(out + at, tl.load(x + at))
        else:
            tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)
"""
LAUNCH = {
    "signature": "*fp32,*fp32,i32",
    "shape": {"n": 1 << 22},
    "config": {"BLOCK": 128, "num_warps": 4},
    "constexpr": {"ROUNDS": 1, "EVEN": False},
}


def test_its_tiles_change_and_what_is_fixed_does_not(tmp_path: Path, at_most: Callable[[int], None]) -> None:
    """The block follows its grid; the number of rounds and the flag are given."""
    pytest.importorskip("triton")
    path = tmp_path / "copy.py"
    path.write_text(SOURCE)
    at_most(12)
    found = kprof.advise(f"{path}::copy", grid="cdiv(n,BLOCK*ROUNDS)", budget=40, jobs=2, **LAUNCH)  # type: ignore[arg-type]
    assert found.trials is not None
    assert found.trials.start.time_us is not None
    tried = {name for trial in found.trials.all for name in trial.change}
    assert "BLOCK" in tried
    assert not tried & {"ROUNDS", "EVEN", "n"}
    times = [trial.time_us for trial in found.trials.all if trial.time_us is not None]
    told = found.best[0].time_us if found.best else found.trials.start.time_us
    assert told is not None
    assert told <= 1.01 * min(*times, found.trials.start.time_us)


def test_what_is_not_known_of_its_launch_is_asked_for(tmp_path: Path) -> None:
    """Its workgroups, and the sizes in them; a kernel with cases needs none of it."""
    pytest.importorskip("triton")
    path = tmp_path / "copy.py"
    path.write_text(SOURCE)
    with pytest.raises(KprofError, match="the number of workgroups is unknown"):
        kprof.advise(f"{path}::copy", **LAUNCH)  # type: ignore[arg-type]
    with pytest.raises(KprofError, match="the grid uses m"):
        kprof.advise(f"{path}::copy", grid="cdiv(m,BLOCK)", **LAUNCH)  # type: ignore[arg-type]
    with pytest.raises(TargetError, match="does not use --signature"):
        kprof.advise("softmax", signature="*fp32")
