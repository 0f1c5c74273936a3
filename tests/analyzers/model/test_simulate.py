"""The simulator on programs short enough to count their cycles by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof_analyzers.model import Effects
from kprof_analyzers.model.kernel import build, simulate
from kprof_analyzers.model.program import SMEM, VALU, VMEM, WAIT
from kprof_analyzers.model.setting import MemoryPath, SimulationInput
from kprof_analyzers.model.simulate import CAUSE_COUNT, CAUSES, Simulator

ISSUE = 4
PASSES = 16
"""Cycles of v_mfma_f32_16x16x16_f16 on gfx942: four passes of four."""
MFMA = "v_mfma_f32_16x16x16_f16 v[{d}:{e}], v[100:101], v[102:103], v[{d}:{e}]"


def mfma(number):
    """An MFMA with an accumulator of its own."""
    return MFMA.format(d=4 * number, e=4 * number + 3)


def cycles(facts, groups=1, **effects):
    """Cycles until the last wavefront of ``groups`` workgroups has ended."""
    return simulate(build(facts, Effects(**effects)), groups).result.cycles


def loop(body, barrier_before=()):
    """A loop round some instructions."""
    return [*barrier_before, "s_mov_b32 s0, 0", ".LBB0_1:", *body, "s_cmp_lt_i32 s0, 64", "s_cbranch_scc1 .LBB0_1"]


def iteration(facts, groups=1, **effects):
    """Cycles of an iteration in the steady state."""
    run = simulate(build(facts, Effects(matrix_power=False, **effects)), groups)
    return next(iter(run.length.values()))


def test_each_vector_instruction_takes_four_cycles(kernel):
    """64 lanes go through 16 lanes of the SIMD."""
    assert cycles(kernel(["v_add_u32_e32 v0, v1, v2"] * 10)) == 10 * ISSUE + ISSUE


def test_transcendentals_take_four_times_as_long(kernel):
    """A quarter of the rate."""
    assert cycles(kernel(["v_exp_f32_e32 v0, v1"] * 10)) == 10 * 4 * ISSUE + ISSUE


@pytest.mark.parametrize("same", [True, False])
def test_matrix_instructions_follow_each_other_after_their_passes(kernel, same):
    """With one accumulator as with several: the hardware forwards it."""
    body = [mfma(0 if same else n) for n in range(8)]

    assert cycles(kernel(body)) == 7 * PASSES + ISSUE + ISSUE


def test_wavefronts_of_one_simd_share_its_matrix_unit(kernel):
    """Eight wavefronts are two a SIMD: twice the work on the same unit; four are one a SIMD."""
    body = [mfma(n) for n in range(8)]

    assert cycles(kernel(body, warps=8)) == 15 * PASSES + ISSUE + ISSUE
    assert cycles(kernel(body, warps=4)) == 7 * PASSES + ISSUE + ISSUE


def test_vector_work_hides_behind_matrix_work(kernel):
    """Three vector instructions fit into the passes of each MFMA."""
    body = [line for n in range(8) for line in (mfma(n), *["v_add_u32_e32 v90, v91, v92"] * 3)]

    assert cycles(kernel(body)) == 8 * PASSES + ISSUE


def test_a_result_is_read_when_it_is_there(kernel):
    """LLVM waits for the passes and three more wait states; so does the simulator."""
    facts = kernel([mfma(0), "v_add_f32_e32 v90, v0, v1"])

    assert cycles(facts) == PASSES + 3 * ISSUE + ISSUE + ISSUE


def test_a_nop_waits_as_long_as_it_says(kernel):
    """``s_nop 7`` are eight wait states."""
    assert cycles(kernel(["s_nop 7"])) == 8 * ISSUE + ISSUE


def test_a_wait_ends_when_the_load_is_there(kernel):
    """Through the vector cache for all four SIMDs, then the latency; the wait itself is issued meanwhile."""
    facts = kernel(["buffer_load_dword v0, v1, s[4:7], 0 offen", "s_waitcnt vmcnt(0)"])
    model = build(facts)
    path = model.paths[0]
    served = 4 * 64 * 4 * path.cycles_per_byte

    assert cycles(facts) == pytest.approx(max(served, 4 * 16) + path.latency + ISSUE)


def test_waits_count_loads_and_stores_in_order(kernel):
    """``vmcnt(1)`` after a load and a store is over with the load, ``vmcnt(0)`` with both."""
    load, store = "buffer_load_dword v0, v1, s[4:7], 0 offen", "buffer_store_dword v2, v1, s[4:7], 0 offen"
    first = cycles(kernel([load, store, "s_waitcnt vmcnt(1)"]))
    both = cycles(kernel([load, store, "s_waitcnt vmcnt(0)"]))

    assert first == pytest.approx(cycles(kernel([load, "s_waitcnt vmcnt(0)"])), abs=16)
    assert both >= first


def test_lds_reads_queue_for_all_simds(kernel):
    """1,024 bytes of each of four wavefronts at 128 bytes a cycle: 32 cycles a read."""
    body = ["ds_read_b128 v[0:3], v40"] * 16
    facts = kernel([*body, "s_waitcnt lgkmcnt(0)"])
    model = build(facts)

    assert cycles(facts) == pytest.approx(16 * 32 + model.machine.lds_latency + ISSUE, abs=8)


def test_bank_conflicts_take_their_cycles(kernel):
    """As many cycles of conflicts as of data: twice the time."""
    from kprof_analyzers.model.program import Translator

    facts = kernel(["ds_read_b128 v[0:3], v40"])
    machine = build(facts).machine
    plain = Translator(machine, Effects(), 4, {}).translate(facts.program.instructions).ops[0]
    worse = Translator(machine, Effects(), 4, {0: 1.0}).translate(facts.program.instructions).ops[0]

    assert (plain[1], worse[1]) == (32, 64)


def test_a_barrier_waits_for_the_slowest(kernel):
    """Two wavefronts of a SIMD take turns at its matrix unit and meet at the barrier."""
    body = [*[mfma(n) for n in range(4)], "s_barrier", "v_add_u32_e32 v90, v91, v92"]
    free = cycles(kernel(body, warps=8), barriers=False)
    held = cycles(kernel(body, warps=8))

    assert held > free
    assert held <= 8 * PASSES + 6 * ISSUE


def test_ping_pong_lets_one_half_compute_while_the_other_loads(kernel):
    """Half of the wavefronts run one barrier ahead: matrix and memory phases overlap, not follow each other."""
    phases = [
        *["ds_read_b128 v[0:3], v40"] * 8,
        "s_waitcnt lgkmcnt(0)",
        "s_barrier",
        *[mfma(n) for n in range(10, 20)],
        "s_barrier",
    ]
    split = ["s_cbranch_execz .LBB0_9", "s_barrier", ".LBB0_9:"]
    facts = kernel(loop(phases, split), warps=8)

    assert iteration(facts) < 0.85 * iteration(facts, ping_pong=False)


def test_scratch_waits_behind_loads(kernel):
    """In-order counting: a reload waits for the global load issued before it."""
    reload = ["scratch_load_dword v0, off, off offset:16", "s_waitcnt vmcnt(0)"]
    behind = cycles(kernel(["buffer_load_dwordx4 v[4:7], v1, s[4:7], 0 offen", *reload]))

    assert behind > cycles(kernel(reload)) + 100


def test_causes_and_lines_add_up_to_the_iteration(kernel):
    """Nothing is lost between issue and cause."""
    body = ["buffer_load_dword v0, v1, s[4:7], 0 offen", mfma(4), "v_exp_f32_e32 v90, v91", "s_waitcnt vmcnt(0)"]
    facts = kernel(loop(body))
    run = simulate(build(facts), 1)
    iterations = next(iter(run.result.iterations.values()))
    count = next(iter(run.iterations.values()))
    spent = (sum(iterations.end) - sum(iterations.middle)) / (count - count // 2)

    assert spent == pytest.approx(next(iter(run.length.values())), rel=0.05)
    assert len(iterations.end) % CAUSE_COUNT == 0
    assert len(CAUSES) == CAUSE_COUNT


_STEP = st.sampled_from(
    [
        (VALU, 4.0, (), 0.0, 0, 0),
        (SMEM, 4.0, (1,), 100.0, 0, 0),
        (VMEM, 16.0, (0,), 1024.0, 0, 0),
        (VMEM, 16.0, (0,), 1024.0, 1, 0),
        (WAIT, 0.0, ((0, 0),), 0.0, 0, 0),
        (WAIT, 0.0, ((0, 2), (1, 0)), 0.0, 0, 0),
    ]
)


@given(st.lists(_STEP, max_size=40), st.floats(0, 2000), st.floats(0, 2000), st.floats(0, 0.5))
def test_more_latency_never_makes_a_wavefront_faster(steps, latency, more, rate):
    """For one wavefront alone, whatever its program: with others (skew) the average wait depends on who comes when."""

    def time(cycles_of_load):
        paths = (MemoryPath(rate, cycles_of_load), MemoryPath(rate, 100.0), MemoryPath(rate, 100.0))
        setting = SimulationInput(
            paths, 4, 16, 2, 0, len(steps), 0.0, blocking_matrix=False, queues=(16.0, 16.0), skew=0.0
        )
        return Simulator([(op, n) for n, op in enumerate(steps)], 1, 1, setting).run().cycles

    assert time(latency + more) >= time(latency)


def _loads(count, limit, *, bytes_each=1024.0, latency=1000.0):
    """Cycles until so many loads have come back, of which the first is waited for last."""
    steps = [(VMEM, 16.0, (0,), bytes_each, 0, 0)] * count + [(WAIT, 0.0, ((0, 0),), 0.0, 0, 0)]
    paths = (MemoryPath(0.0, latency), MemoryPath(0.0, 0.0), MemoryPath(0.0, 0.0))
    setting = SimulationInput(
        paths, 4, 16, 1, 0, len(steps), 0.0, blocking_matrix=False, queues=(16.0, 1e9), skew=0.0, in_flight=limit
    )
    return Simulator([(op, n) for n, op in enumerate(steps)], 1, 1, setting).run().cycles


@pytest.mark.parametrize(("count", "trips"), [(4, 1), (5, 2), (8, 2), (9, 3)])
def test_loads_wait_until_the_oldest_has_come_back(count, trips):
    """Four of them fit: each further four take one more round trip."""
    assert _loads(count, 4096.0) == pytest.approx(trips * 1000, abs=count * 20)


def test_a_load_larger_than_all_that_may_be_on_its_way_goes_alone():
    assert _loads(3, 512.0) == pytest.approx(3000, abs=60)


@given(st.integers(1, 40), st.floats(256, 65536), st.floats(1, 4))
def test_more_in_flight_is_never_slower(count, limit, more):
    """By Little's law no faster than what may be in flight in each round trip."""
    slow = _loads(count, limit)
    assert _loads(count, limit * more) <= slow
    at_once = max(1, int(limit // 1024))
    assert slow >= 1000 * -(-count // at_once)
