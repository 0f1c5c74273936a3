"""Addresses of loads and stores without a TTGIR, compared with a formula for every lane and workgroup."""

from dataclasses import replace

import pytest

from kprof_analyzers.lane_execution.accesses import executed_accesses
from kprof_analyzers.model.code_accesses import code_traffic
from kprof_analyzers.model.machine import Channels
from kprof_analyzers.model.traffic import sharing

BASE = ["s_load_dwordx2 s[4:5], s[0:1], 0x0"]
DESCRIPTOR = ["s_and_b32 s5, s5, 0xffff", "s_mov_b32 s6, -1", "s_mov_b32 s7, 0x27000"]
LANES = 256


@pytest.fixture
def accesses(compiled):
    """``accesses(lines)``: addresses of lanes and of 100 workgroups relative to the first lane of the first one."""

    def found(body, grid=100):
        programs = [(n, 0, 0) for n in range(grid)]
        result = []
        for one in executed_accesses(compiled([*BASE, *body], grid=(grid,)), programs, (grid, 1, 1)):
            start = one.lanes[0]
            lanes = [None if a is None else a - start for a in one.lanes]
            result.append((lanes, [None if a is None else a - start for a in one.firsts]))
        return result

    return found


def test_rows_of_lanes(accesses):
    """16 lanes read a row of 256 bytes, each row at a distance of 1,024; workgroups follow each other."""
    body = ["v_and_b32_e32 v1, 15, v0", "v_lshrrev_b32_e32 v2, 4, v0", "v_lshlrev_b32_e32 v1, 4, v1"]
    body += ["s_lshl_b32 s8, s2, 14", "v_lshl_add_u32 v1, v2, 10, v1", *DESCRIPTOR]
    ((lanes, firsts),) = accesses([*body, "buffer_load_dwordx4 v[4:7], v1, s[4:7], s8 offen offset:32"])

    assert lanes == [n % 16 * 16 + n // 16 * 1024 for n in range(LANES)]
    assert firsts == [n * 16384 for n in range(100)]


def test_some_lanes_store(accesses):
    """Only the first of 16 lanes stores; the code jumps over the store where no lane is left."""
    body = ["v_and_b32_e32 v1, 15, v0", "v_cmp_eq_u32_e32 vcc, 0, v1", "s_and_saveexec_b64 s[8:9], vcc"]
    body += ["s_cbranch_execz .L0", "v_lshrrev_b32_e32 v2, 4, v0", "v_lshlrev_b32_e32 v2, 1, v2"]
    ((lanes, _),) = accesses([*body, "global_store_short v2, v3, s[4:5]", ".L0:"])

    assert lanes == [None if n % 16 else n // 16 * 2 for n in range(LANES)]


def test_addresses_from_a_list_of_indices(accesses):
    """A workgroup loads its slot's number from memory; the list's element ``n`` is taken to be ``n``."""
    body = [*DESCRIPTOR, "s_lshl_b32 s8, s2, 2", "v_mov_b32_e32 v1, s8", "buffer_load_dword v2, v1, s[4:7], 0 offen"]
    body += ["s_waitcnt vmcnt(0)", "v_readfirstlane_b32 s9, v2", "s_lshl_b32 s9, s9, 12", "v_lshlrev_b32_e32 v3, 2, v0"]
    (_, index), (lanes, slots) = accesses([*body, "buffer_load_dword v4, v3, s[4:7], s9 offen"])

    assert index == [4 * n for n in range(100)]
    assert lanes == [4 * n for n in range(LANES)]
    assert slots == [4096 * n for n in range(100)]


def test_addresses_that_are_no_sum_of_bits_are_left_out(accesses):
    """The square of the lane's number is no sum with one term for each of its bits."""
    assert accesses(["v_mul_lo_u32 v1, v0, v0", "global_load_dword v2, v1, s[4:5]"]) == []


def test_addresses_of_unknown_numbers_are_left_out(accesses):
    """``n`` has no value here."""
    body = ["s_load_dword s8, s[0:1], 0x8", "v_mul_lo_u32 v1, v0, s8", "global_load_dword v2, v1, s[4:5]"]
    assert accesses(body) == []


def test_bytes_of_lanes_with_equal_addresses_move_once(compiled):
    """Wavefronts of a workgroup that load the same 256 bytes fetch them once: a quarter of a wavefront's 1,024."""
    body = [*BASE, "v_and_b32_e32 v1, 15, v0", "v_lshlrev_b32_e32 v1, 4, v1", "global_load_dwordx4 v[4:7], v1, s[4:5]"]
    facts = compiled(body)
    programs = [(n, 0, 0) for n in range(64)]
    found = code_traffic(facts, programs, programs, (64, 1, 1), {}, request=64.0, line=128.0, together=4)
    (load,) = found.accesses
    warps = facts.resources.num_warps

    assert load.tile_bytes == 256
    assert found.fetched == {load.position: 256 / (1024 * warps)}
    assert found.addressed == {load.position: 1.0}
    assert len(set(load.corners)) == 1


def test_a_workgroup_in_several_axes_is_left_out(compiled):
    """The numbers of lanes in y and z are not known."""
    facts = compiled([*BASE, "v_lshlrev_b32_e32 v1, 2, v0", "global_load_dword v2, v1, s[4:5]"])
    program = facts.program
    square = replace(
        facts, program=replace(program, metadata={**program.metadata, ".reqd_workgroup_size": [16, 16, 1]})
    )

    assert len(executed_accesses(facts, [(0, 0, 0)], (1, 1, 1))) == 1
    assert executed_accesses(square, [(0, 0, 0)], (1, 1, 1)) == []


def test_bytes_of_unknown_addresses_are_counted(compiled):
    """The second load's addresses are squares, which are not followed: the bytes of all its lanes count."""
    body = [*BASE, "v_lshlrev_b32_e32 v1, 2, v0", "global_load_dword v2, v1, s[4:5]"]
    body += ["v_mul_lo_u32 v3, v0, v0", "global_load_dwordx2 v[4:5], v3, s[4:5]"]
    facts = compiled(body)
    programs = [(n, 0, 0) for n in range(64)]
    found = code_traffic(facts, programs, programs, (64, 1, 1), {}, request=64.0, line=128.0, together=4)
    known, hidden = found.accesses

    assert (known.tile_bytes, hidden.tile_bytes) == (4 * LANES, 8 * LANES)
    assert hidden.corners is None
    assert hidden.position not in found.fetched
    assert not sharing(found.accesses, 8, 64, Channels(128, 256, 0.5, 2.0)).known


def test_a_load_that_no_lane_executes_moves_nothing(compiled):
    """The code jumps over the second load, whatever its addresses are."""
    body = [*BASE, "v_lshlrev_b32_e32 v1, 2, v0", "global_load_dword v2, v1, s[4:5]", "s_cmp_eq_u32 0, 1"]
    body += ["s_cbranch_scc0 .L0", "v_mul_lo_u32 v3, v0, v0", "global_load_dwordx2 v[4:5], v3, s[4:5]", ".L0:"]
    facts = compiled(body)
    programs = [(n, 0, 0) for n in range(64)]
    found = code_traffic(facts, programs, programs, (64, 1, 1), {}, request=64.0, line=128.0, together=4)

    assert [one.tile_bytes for one in found.accesses] == [4 * LANES]
