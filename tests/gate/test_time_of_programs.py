"""The gate compares the predicted time of what a program launches: a slowdown that no other metric shows."""

import pytest
from msgspec import UNSET

from kprof.gate.captured import captured
from tests.gate.test_captured import ENTRY, sources

# Without torch, whose import takes longer than all the rest.
PROGRAM = """import triton
import triton.language as tl

TRIPS = 4


@triton.jit
def summed(x_ptr, y_ptr, TRIPS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for trip in range(TRIPS):
        total += tl.load(x_ptr + trip * 1048576 + at)
    tl.store(y_ptr + at, total)


class Floats:
    dtype = "fp32"

    def __init__(self, n):
        self.shape = (n,)

    def data_ptr(self):
        return 4096

    def ptr_range(self):
        return 4 * self.shape[0]

    def stride(self):
        return (1,)


summed[(1024,)](Floats(64 << 20), Floats(1 << 20), TRIPS=TRIPS, BLOCK=1024)
"""


def test_a_launch_of_a_capture_is_modelled(recording, tmp_path):
    """As far as the values of its arguments are known: of this one the launch has none."""
    capture = recording(lines=sources(tmp_path, a="1"), root="../..")
    (found,) = captured(ENTRY, str(capture.path), ["gfx942"])
    assert found.report.model is not UNSET
    assert found.report.model.workgroups == 4
    assert found.metrics()["time_us"] is None
    assert found.metrics()["cycles_per_element"] is not None


@pytest.mark.slow
@pytest.mark.triton
def test_more_trips_of_a_recorded_loop_fail_by_their_time(kprof, tmp_path, monkeypatch):
    """Registers, LDS and waves stay as they are; 4 and 48 MiB times four bytes are read."""
    # Older Tritons look at arguments through torch.
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "step.py").write_text(PROGRAM)
    (tmp_path / "kprof.toml").write_text(
        'arch = ["MI300X"]\nbaseline = "b.json"\n[[program]]\ncommand = ["python", "step.py"]\n'
    )
    assert kprof("check", "--update-baseline").code == 0
    same = kprof("check")
    assert same.code == 0, same.out
    assert "predicted time compared in all checks" in same.out
    (tmp_path / "step.py").write_text(PROGRAM.replace("TRIPS = 4", "TRIPS = 48"))
    ran = kprof("check", "--markdown", "comment.md")
    assert ran.code == 1, ran.out
    assert "times as much" in ran.out
    assert "TRIPS 4 → 48: predicted time" in (tmp_path / "comment.md").read_text()
