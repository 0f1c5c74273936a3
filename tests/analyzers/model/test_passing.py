"""Shares of a workgroup's bytes that take no line of the last-level cache, summed up by hand."""

import pytest

from kprof_analyzers.model.outline import outline
from kprof_analyzers.model.passing import NOTHING, Passing, passing
from kprof_analyzers.model.program import LOAD, SCRATCH, STORE, VALU, VMEM
from kprof_analyzers.model.trips import Trips

LINES = [
    "global_load_dword v0, v[80:81], off",  # 0
    "global_load_dword v1, v[80:81], off nt",  # 1
    ".LBB0_1:",
    "global_load_dword v2, v[80:81], off nt",  # 2
    ".LBB0_2:",
    "global_load_dword v3, v[80:81], off",  # 3
    "global_store_dword v[80:81], v0, off sc0 sc1",  # 4
    "s_cbranch_scc1 .LBB0_2",  # 5
    "s_cbranch_scc1 .LBB0_1",  # 6
    "global_store_dword v[80:81], v0, off",  # 7
    "scratch_load_dword v0, off, s0 nt",  # 8
    "v_add_f32_e32 v1, v2, v3",  # 9
]


def access(moved, path=LOAD):
    """An access to memory that moves so many bytes."""
    return VMEM, 1.0, (), float(moved), path, 0


OTHER = VALU, 4.0, (), 1000.0, 0, 0
OPS = [
    *(access(1), access(10), access(100), access(1000), access(7, STORE)),
    *(OTHER, OTHER, access(5, STORE), access(1e6, SCRATCH), OTHER, OTHER),
]
TRIPS = {0: Trips(3.0), 1: Trips(2.0)}


def found(kernel, lines, ops=OPS):
    """Shares of a program's bytes; its outer loop has three iterations, the inner one two in each."""
    program = kernel(lines).program
    return passing(program, ops, outline(program), TRIPS)


def test_bytes_count_as_often_as_loops_iterate(kernel):
    """Loads: 1 and 10 once, 100 three times, 1,000 six times; stores: 7 six times, 5 once. Spills are none of them."""
    assert found(kernel, LINES) == pytest.approx(
        Passing(loaded=(10 + 3 * 100) / (1 + 10 + 3 * 100 + 6 * 1000), stored=6 * 7 / (6 * 7 + 5))
    )


def test_without_modifiers_nothing_passes(kernel):
    """A modifier of a spill, or of what moves nothing, is none."""
    plain = [line.replace(" nt", "").replace(" sc0 sc1", "") for line in LINES]
    assert found(kernel, plain) is NOTHING
    assert found(kernel, [*plain[:-2], *LINES[-2:]]) is NOTHING
    assert found(kernel, LINES, [OTHER] * 11) is NOTHING
    assert Passing(0.0, 0.0) == NOTHING


def test_a_side_without_bytes_has_no_share(kernel):
    """Only loads, only stores."""
    assert found(kernel, [LINES[1]], [access(10), OTHER]) == Passing(1.0, 0.0)
    assert found(kernel, [LINES[6]], [access(10, STORE), OTHER]) == Passing(0.0, 1.0)
