"""Iterations of loops without a TTGIR: small kernels, whose loops Python counts, and the bundled kernels, with one."""

import pytest

from kprof_analyzers.lane_execution.iterations import counted_iterations

LOAD_N = "s_load_dword s4, s[0:1], 0x8"
WHILE_BELOW_N = [".L0:", "s_add_i32 s5, s5, 1", "s_cmp_lt_i32 s5, s4", "s_cbranch_scc1 .L0"]


@pytest.fixture
def iterations(compiled):
    """``iterations(lines, grid=(64,), n=10)``: what is counted, by number of the loop."""

    def found(body, *, grid=(64,), preload=0, **arguments):
        facts = compiled(body, grid=grid, preload=preload, **arguments)
        programs = [(p, 0, 0) for p in range(grid[0])] if grid else [(0, 0, 0)]
        return counted_iterations(facts, programs, (*grid, 1, 1) if grid else None)

    return found


def test_constant_bounds(iterations):
    """A loop with a constant end, and one with a step that does not divide it, which is tested first."""
    body = ["s_mov_b32 s5, 0", ".L0:", "s_add_i32 s5, s5, 3", "s_cmp_lg_u32 s5, 30", "s_cbranch_scc1 .L0"]
    body += ["s_mov_b32 s6, 0", ".L1:", "s_cmp_ge_i32 s6, 10", "s_cbranch_scc1 .L2", "s_add_i32 s6, s6, 4"]
    body += ["s_branch .L1", ".L2:"]

    assert iterations(body) == {0: (10.0,), 1: (3.0,)}


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_the_value_of_an_argument(iterations, n):
    """An argument is read from the argument segment, or is in a register already."""
    body = ["s_mov_b32 s5, 0", LOAD_N, *WHILE_BELOW_N]

    assert iterations(body, n=n) == {0: (float(n),)}
    # Registers s2 to s4 hold bytes 0 to 11 of the arguments, so n is in s4 without a load.
    assert iterations([line for line in body if line != LOAD_N], preload=3, n=n) == {0: (float(n),)}


def test_an_unknown_argument_is_named(iterations):
    """The loop after it is counted nevertheless, and the loop whose end comes from memory says so."""
    body = ["s_mov_b32 s5, 0", LOAD_N, *WHILE_BELOW_N, "s_mov_b32 s5, 0"]
    body += [".L1:", "s_add_i32 s5, s5, 1", "s_cmp_lt_i32 s5, 6", "s_cbranch_scc1 .L1"]
    body += ["s_load_dwordx2 s[6:7], s[0:1], 0x0", "s_load_dword s4, s[6:7], 0x0", "s_mov_b32 s5, 0"]
    body += [".L2:", "s_add_i32 s5, s5, 1", "s_cmp_lt_i32 s5, s4", "s_cbranch_scc1 .L2"]

    found = iterations(body)

    assert found[0] == {"n"}
    assert found[1] == (6.0,)
    assert found[2] == {"arg0", "values in memory"}


def test_a_loop_over_a_grid_with_lanes(iterations):
    """Elements that a grid strides over: the loop ends when no lane is active; as often as Python's range says."""
    body = [LOAD_N, "s_load_dword s6, s[0:1], 0x10", "s_load_dword s7, s[0:1], 0x14", "s_and_b32 s7, s7, 0xffff"]
    body += ["s_mul_i32 s6, s6, s7", "s_mul_i32 s8, s2, s7", "v_add_u32_e32 v1, s8, v0"]
    body += ["v_cmp_gt_i32_e32 vcc, s4, v1", "s_and_saveexec_b64 s[10:11], vcc", "s_cbranch_execz .L9"]
    body += ["s_mov_b64 s[12:13], 0", ".L0:", "v_add_u32_e32 v1, s6, v1", "v_cmp_le_i32_e32 vcc, s4, v1"]
    body += ["s_or_b64 s[12:13], vcc, s[12:13]", "s_andn2_b64 exec, exec, s[12:13]", "s_cbranch_execnz .L0", ".L9:"]
    size, groups, n = 256, 64, 100_000

    (each,) = iterations(body, n=n).values()

    counts = [len(range(group * size, n, groups * size)) for group in range(groups)]
    assert set(each) == set(map(float, counts))
    assert sum(each) / len(each) == pytest.approx(sum(counts) / groups, rel=0.03)


def test_nested_loops_count_per_iteration_of_the_outer_one(iterations):
    """A triangle: the inner loop's mean over the iterations of the outer loop."""
    body = ["s_mov_b32 s5, 0", ".L0:", "s_mov_b32 s6, 0", ".L1:", "s_add_i32 s6, s6, 1", "s_cmp_le_i32 s6, s5"]
    body += ["s_cbranch_scc1 .L1", "s_add_i32 s5, s5, 1", "s_cmp_lt_i32 s5, 9", "s_cbranch_scc1 .L0"]

    found = iterations(body)

    assert found[0] == (9.0,)
    assert found[1] == (pytest.approx(sum(range(1, 10)) / 9),)


def test_work_by_workgroup(iterations):
    """A causal loop: as many iterations as the workgroup's number; unknown without a grid."""
    body = ["s_mov_b32 s5, 0", "s_add_i32 s4, s2, 1", *WHILE_BELOW_N]

    (each,) = iterations(body, grid=(512,)).values()

    assert len(each) == 64
    assert sum(each) / 64 == pytest.approx(256.5, rel=0.01)
    assert iterations(body, grid=None) == {0: {"the grid"}}


def test_a_branch_on_data_leaves_the_counter_known(iterations):
    """What depends on data changes only what is written on its way; a break that depends on data is unknown."""
    data = ["s_load_dwordx2 s[6:7], s[0:1], 0x0", "s_load_dword s8, s[6:7], 0x0", "s_mov_b32 s5, 0"]
    skip = ["s_cmp_eq_u32 s8, 0", "s_cbranch_scc1 .L5", "s_add_i32 s9, s9, 1", ".L5:"]
    ends = ["s_add_i32 s5, s5, 1", "s_cmp_lt_i32 s5, 12", "s_cbranch_scc1 .L0"]

    assert iterations([*data, ".L0:", *skip, *ends]) == {0: (12.0,)}
    changed = [line.replace("s9, s9, 1", "s5, s5, 1") for line in skip]
    assert iterations([*data, ".L0:", *changed, *ends])[0] == {"arg0", "values in memory"}
    stop = ["s_cmp_eq_u32 s8, 0", "s_cbranch_scc1 .L7"]
    assert iterations([*data, ".L0:", *stop, *ends, ".L7:"])[0] == {"arg0", "values in memory"}


def test_a_branch_on_the_debugger_is_unknown(iterations):
    """A condition that no register holds leaves the loop's end unknown; it is not taken as false."""
    body = ["s_mov_b32 s5, 0", ".L0:", "s_cbranch_cdbgsys .L9", "s_add_i32 s5, s5, 1", "s_cmp_lt_i32 s5, 6"]

    assert iterations([*body, "s_cbranch_scc1 .L0", ".L9:"]) == {0: frozenset()}


def test_a_skipped_loop_has_no_iteration(iterations):
    """A loop that a known condition skips has none; one that an unknown condition may skip is unknown."""
    body = ["s_mov_b32 s5, 0", LOAD_N, "s_cmp_lt_i32 s4, 1", "s_cbranch_scc1 .L9", *WHILE_BELOW_N, ".L9:"]

    assert iterations(body, n=0) == {0: (0.0,)}
    assert iterations(body, n=5) == {0: (5.0,)}
    assert iterations(body) == {0: {"n"}}


def test_a_loop_without_end_is_not_executed_for_ever(iterations):
    """A counter that never reaches its end, and a jump back without condition, are unknown and not hung on."""
    endless = ["s_mov_b32 s5, 0", ".L0:", "s_add_i32 s5, s5, 2", "s_cmp_lg_u32 s5, 7", "s_cbranch_scc1 .L0"]

    assert iterations(endless) == {0: frozenset()}
    assert iterations([".L0:", "s_nop 0", "s_branch .L0"]) == {0: frozenset()}


def test_too_large_a_program_is_not_counted(iterations):
    """A thousand early exits, each of which skips the rest: nothing is counted, and the loops stay assumed."""
    exits = [line for _ in range(1000) for line in ("s_cmp_eq_u32 s8, 0", "s_cbranch_scc1 .L9", "s_nop 0")]
    loop = ["s_mov_b32 s5, 0", ".L0:", "s_add_i32 s5, s5, 1", "s_cmp_lg_u32 s5, 4", "s_cbranch_scc1 .L0", ".L9:"]

    assert iterations([*exits[:30], *loop]) == {0: (4.0,)}
    assert iterations([*exits, *loop]) == {}


@pytest.mark.triton
@pytest.mark.parametrize("gpu", ["MI300X", "RX9070XT"])
@pytest.mark.parametrize("name", ["gemm", "flash_attention", "mlstm_chunkwise"])
def test_bundled_kernels_agree_with_their_ttgir(name, gpu):
    """Every loop that the TTGIR counts has the same iterations by its assembly alone."""
    from kprof.options.groups import CompileOptions
    from kprof.targets.resolver import load
    from kprof_analyzers.model.kernel import build
    from kprof_analyzers.model.launch import samples
    from kprof_analyzers.pipeline import facts_of

    compared = []
    for loaded in load(name, CompileOptions(arch=(gpu,))):
        facts = facts_of(loaded)[0]
        model = build(facts)
        counts = counted_iterations(facts, samples(model.where), model.where.grid)
        compared += [(trips, counts[number]) for number, trips in model.trips.items()]

    assert compared
    for trips, each in compared:
        assert trips.known
        assert sum(each) / len(each) == pytest.approx(trips.mean, rel=0.02, abs=0.5)
