"""Latencies of loads and the scratch of a kernel, against cases that are gone through one by one."""

from itertools import product
from types import SimpleNamespace

import pytest

from kprof_analyzers.model.memory import _latency, respilled_share, spilled_bytes
from tests.rules.literate import assembly, facts_of

LATENCIES = {"l2": 200.0, "mall": 500.0, "hbm": 900.0}


def machine(loaded: float = 1.0, **latency: float) -> SimpleNamespace:
    """A GPU of which only latencies are known."""

    def latency_of(*levels: str) -> float:
        return next(latency[level] for level in levels if level in latency)

    return SimpleNamespace(latency=latency, latency_of=latency_of, loaded=loaded)


def expected(near: float, far: float, latency: dict[str, float]) -> float:
    """The mean of the later of two loads, each of which comes from some level by itself."""
    far = min(far, near)
    if "mall" in latency:
        levels = [(latency["l2"], 1 - near), (latency["mall"], near - far), (latency["hbm"], far)]
    else:
        levels = [(latency["l2"], 1 - near), (latency["hbm"], near)]
    return sum(max(a, b) * p * q for (a, p), (b, q) in product(levels, repeat=2))


@pytest.mark.parametrize(("near", "far"), [(0, 0), (1, 1), (1, 0), (0.5, 0.25), (0.3, 0.3), (0.2, 0.6), (0.75, 0.1)])
@pytest.mark.parametrize("levels", [("l2", "mall", "hbm"), ("l2", "hbm")])
def test_a_wait_for_two_tiles_takes_as_long_as_the_later_one(near, far, levels):
    """With the Infinity Cache and without; what misses it misses L2 as well."""
    latency = {level: LATENCIES[level] for level in levels}
    assert _latency(machine(**latency), near, far) == pytest.approx(expected(near, far, latency))


@pytest.mark.parametrize(("busy", "factor"), [(0.0, 1.0), (0.5, 1.3), (1.0, 1.6)])
def test_a_loaded_gpu_answers_later(busy, factor):
    """In proportion to the CUs that load."""
    alone = _latency(machine(**LATENCIES), 0.5, 0.25)
    assert _latency(machine(1.6, **LATENCIES), 0.5, 0.25, busy) == pytest.approx(alone * factor)


def program(*lines: str):
    """A kernel of these instructions."""
    return facts_of(assembly("\n".join(lines))).program


def test_each_place_of_scratch_counts_once_with_its_widest_access():
    """By offset, and by register where one holds the address."""
    assert spilled_bytes(program("v_add_f32_e32 v0, v1, v2")) == 0
    found = program(
        "scratch_store_dword off, v1, off",
        "scratch_store_dwordx4 off, v[4:7], off offset:16",
        "scratch_load_dword v1, off, off",
        "scratch_load_dwordx2 v[4:5], off, off offset:16",
        "scratch_load_dword v8, v9, off offset:4",
        "scratch_load_dword v8, v10, off offset:4",
    )
    assert spilled_bytes(found) == 4 + 16 + 4


def test_of_a_kernel_with_loops_the_hot_one_counts():
    lines = (
        "scratch_store_dwordx4 off, v[4:7], off",
        ".LBB0_1:",
        "scratch_load_dword v1, off, off offset:32",
        "s_cmp_lt_i32 s0, s1",
        "s_cbranch_scc1 .LBB0_1",
        "scratch_load_dwordx4 v[4:7], off, off",
    )
    assert spilled_bytes(program(*lines)) == 4
    assert respilled_share(program(*lines)) == 0.0


@pytest.mark.parametrize(
    ("lines", "share"),
    [
        (["v_add_f32_e32 v0, v1, v2"], 0.0),
        (["scratch_store_dword off, v1, off"], 0.0),
        (["scratch_load_dword v1, off, off"], 0.0),
        (["scratch_store_dword off, v1, off", "scratch_load_dword v1, off, off"], 1.0),
        (["scratch_store_dword off, v1, off", "scratch_load_dword v1, off, off offset:4"], 0.0),
        (
            [
                "scratch_store_dword off, v1, off offset:4",
                "scratch_load_dword v1, off, off offset:4",
                "scratch_load_dword v1, off, off offset:8",
                "scratch_load_dword v1, off, off offset:12",
                "scratch_load_dword v1, off, off offset:4",
            ],
            0.5,
        ),
    ],
)
def test_reloads_of_what_was_written_just_before(lines, share):
    """Each reload counts; what is only written or only read is none."""
    assert respilled_share(program(*lines)) == share
