"""The simulator against a thread trace, and what is asked of both."""

import pytest

from validation.benchmarks.model import att
from validation.benchmarks.model.att import Event


def events(*parts):
    """Instructions one after the other, each ``(text, cycles)``."""
    found, now = [], 0.0
    for text, cycles in parts:
        name, _, operands = text.partition(" ")
        found.append(Event(name, operands, now, now + cycles))
        now += cycles
    return found


def test_intervals_and_waits_by_hand():
    wave = events(
        ("v_mfma_f32_16x16x16_f16 a", 4),
        ("v_mfma_f32_16x16x16_f16 b", 16),
        ("ds_read_b128 v[0:3], v4", 4),
        ("ds_read_b128 v[4:7], v4", 8),
        ("s_waitcnt lgkmcnt(0)", 90),
        ("s_waitcnt vmcnt(2)", 4),
        ("ds_read_b128 v[0:3], v4", 4),
        ("v_mfma_f32_16x16x16_f16 c", 60),
        ("s_waitcnt lgkmcnt(0)", 6),
        ("s_barrier", 100),
    )
    found = att.rhythm([wave])
    assert found["matrix after matrix"][1] == 16
    assert found["ds_read after ds_read"][1] == 8
    assert found["lgkmcnt(0) at once, from the last ds_read"][1] == 90
    assert found["lgkmcnt(0) later on, its stall"][1] == 6
    assert found["vmcnt alone, its stall"][1] == 4
    assert found["barriers, share of the time"][1] == pytest.approx(100 / 296)


@pytest.fixture(scope="module")
def compared(shared):
    return att.compare(shared / "samples" / "att" / "rocprofv3_triton_gemm_afp4")


def test_an_iteration_takes_as_long_as_traced(compared):
    assert compared.simulated == pytest.approx(compared.traced, rel=0.10)


def test_instructions_issue_as_traced(compared):
    """Medians are equal: 16 cycles from one matrix instruction to the next, 4 for vector and scalar ones."""
    for name, cycles in (("matrix", 16), ("vector", 4), ("scalar", 4)):
        traced, simulated = compared.rhythm[f"{name} after {name}"]
        assert traced[1] == simulated[1] == cycles
    traced, simulated = compared.rhythm["ds_read after ds_read"]
    assert traced[0] <= simulated[1] <= traced[2]


def test_waits_end_as_traced(compared):
    """A wait for the LDS right behind its last read ends 84 to 96 cycles after that; loads have long arrived."""
    traced, simulated = compared.rhythm["lgkmcnt(0) at once, from the last ds_read"]
    assert 84 <= traced[1] <= 96
    assert 84 <= simulated[1] <= 96
    for name in ("lgkmcnt(0) later on, its stall", "vmcnt alone, its stall"):
        traced, simulated = compared.rhythm[name]
        assert traced[2] == simulated[2] == 4
    traced, simulated = compared.rhythm["barriers, share of the time"]
    assert simulated[1] == pytest.approx(traced[1], abs=0.08)
