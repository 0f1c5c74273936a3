"""Each unit of the simulated CU, on a few operations whose cycles are counted in the tests' text.

An operation is issued 4 cycles after the one before; a branch that is taken takes 16 more.
"""

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof_analyzers.model.program import (
    BARRIER,
    BRANCH,
    IDLE,
    LDS,
    LOAD,
    MATRIX,
    SCALAR,
    SCRATCH,
    SMEM,
    STORE,
    VALU,
    VMEM,
    WAIT,
)  # fmt: skip
from kprof_analyzers.model.setting import MemoryPath, SimulationInput
from kprof_analyzers.model.simulate import BEGIN, CAUSE_COUNT, CAUSES, END, SPLIT, Simulator

PATHS = (MemoryPath(0.5, 100.0), MemoryPath(0.5, 50.0), MemoryPath(0.5, 70.0))
"""Of loads, stores and scratch: two bytes a cycle."""


def simulated(ops, groups=1, waves=1, **named):
    """The simulator after its run, and the result; ``named`` are fields of the setting."""
    setting = SimulationInput(
        PATHS, 4, 16, 2, 4, len(ops), 0.0, blocking_matrix=False, queues=(16.0, 16.0), skew=0.0
    )  # fmt: skip
    simulator = Simulator([(op, at) for at, op in enumerate(ops)], groups, waves, replace(setting, **named))
    return simulator, simulator.run()


def cycles(ops, groups=1, waves=1, **named):
    return simulated(ops, groups, waves, **named)[1].cycles


def causes(spent, position):
    """Cause to cycles at an operation, without those of none."""
    part = spent[CAUSE_COUNT * position : CAUSE_COUNT * (position + 1)]
    return {name: taken for name, taken in zip(CAUSES, part, strict=True) if taken}


def by_operation(ops, groups=1, waves=1, **named):
    """Causes of each operation."""
    _, result = simulated(ops, groups, waves, **named)
    return [causes(result.spent, at) for at in range(len(ops))]


def valu(busy, *waits):
    return (VALU, float(busy), waits, 0.0, 0, 0)


def matrix(result, *waits, scaled=0):
    """16 cycles of the unit, and 28 to the result."""
    return (MATRIX, 16.0, waits, 28.0, result, scaled)


def lds(busy, latency=64.0, own=0):
    return (LDS, float(busy), (0,), latency, own, 0)


def memory(busy, moved, path=LOAD):
    return (VMEM, float(busy), (0,), float(moved), path, 0)


def scalar_load(latency):
    return (SMEM, 4.0, (1,), latency, 0, 0)


def wait(counter=0, count=0):
    return (WAIT, 0.0, ((counter, count),), 0.0, 0, 0)


def idle(busy):
    return (IDLE, float(busy), (), 0.0, 0, 0)


HELD = (BARRIER, 0.0, (), 0.0, 0, 0)


def test_vector_instructions_follow_each_other_on_their_pipe():
    """Two wavefronts that begin together: the second one's 16 cycles come after the first one's."""
    _, result = simulated([valu(16)], waves=2)
    assert (result.cycles, result.vector, result.matrix) == (32, 32, 0)
    assert causes(result.spent, 0) == {"vector": 16 + 32}


def test_a_wavefront_waits_for_the_matrix_results_that_it_reads():
    """The unit is free for the second product in cycle 16, whose result is there in cycle 44."""
    ops = [matrix(0), matrix(1), valu(4, 0, 1)]
    _, result = simulated(ops)
    assert (result.cycles, result.matrix, result.vector) == (48, 32, 4)
    assert by_operation(ops) == [{"matrix": 4}, {"matrix": 16}, {"matrix": 24, "vector": 4}]
    assert cycles([matrix(0), matrix(1), valu(4, 1, 0)]) == 48
    assert cycles([matrix(0), matrix(1), valu(4, 0)]) == 28 + 4
    assert cycles([matrix(0), matrix(1), valu(4)]) == 20 + 4


def test_a_matrix_instruction_waits_for_results_its_unit_and_its_turn():
    """A result takes 28 cycles and the unit 16; behind a long vector instruction it issues when that is done."""
    assert cycles([matrix(0), matrix(1, 0)]) == 28 + 4
    assert cycles([matrix(0), matrix(1)]) == 16 + 4
    assert cycles([matrix(0), matrix(1), matrix(2, 0, 1)]) == 44 + 4
    assert cycles([matrix(0), matrix(1), matrix(2, 1, 0)]) == 44 + 4
    # The other wavefront's addition keeps the vector pipe until cycle 40.
    assert cycles([valu(40), matrix(0)], waves=2) == 80 + 16 + 4


def test_scales_are_another_instruction_and_some_gpus_have_one_pipe_for_all():
    """An addition behind a product of 16 cycles; one with scales issues twice."""
    pair = [matrix(0), valu(4)]
    scaled = [matrix(0, scaled=1), valu(4)]
    assert (cycles(pair), cycles(scaled)) == (8, 12)
    assert (cycles(pair, blocking_matrix=True), cycles(scaled, blocking_matrix=True)) == (20, 20)
    assert by_operation(pair, blocking_matrix=True) == [{"matrix": 4}, {"vector": 16}]
    assert by_operation(scaled) == [{"matrix": 8}, {"vector": 4}]


def test_scalar_instructions_have_a_pipe_of_their_own():
    """Branches share it; vector instructions of another wavefront do not wait for it."""
    scalar, branch = (SCALAR, 4.0, (), 0.0, 0, 0), (BRANCH, 4.0, (), 0.0, 0, 0)
    assert (cycles([scalar], waves=2), cycles([branch], waves=2)) == (8, 8)
    assert by_operation([scalar], waves=2) == [{"issue": 4 + 8}]
    # 0: scalar 0 to 4, vector 4 to 8; 1: scalar 4 to 8, vector 8 to 12.
    assert cycles([scalar, valu(4)], waves=2) == 12
    assert by_operation([idle(10)], waves=2) == [{"issue": 20}]
    assert cycles([idle(10)], waves=2) == 10


def test_the_lds_takes_work_in_advance_and_then_holds_a_wavefront_up():
    """40 cycles an access, 16 in front of it at most: the second issues in cycle 24, the third in cycle 64.

    The last one is done in cycle 120, and its data come 64 later.
    """
    ops = [lds(40), lds(40), lds(40), wait()]
    assert cycles(ops) == 184
    assert by_operation(ops) == [{"issue": 4}, {"lds": 20, "issue": 4}, {"lds": 36, "issue": 4},
                                 {"issue": 4, "lds": 184 - 72}]  # fmt: skip


@pytest.mark.parametrize(("count", "end"), [(0, 184), (1, 144), (2, 104), (3, 72), (4, 72)])
def test_a_wait_leaves_the_newest_accesses_under_way(count, end):
    """Of the three above, which end in cycles 104, 144 and 184."""
    assert cycles([lds(40), lds(40), lds(40), wait(count=count)]) == end


def test_what_was_waited_for_is_waited_for_once():
    """A second wait finds nothing under way, and one after a later access only that."""
    assert cycles([lds(40), wait(), wait()]) == 104 + 4
    # Issued in cycle 104, for 40 cycles and 64.
    assert cycles([lds(40), wait(), lds(40), wait(count=1)]) == 108 + 4
    assert cycles([lds(40), wait(), lds(40), wait()]) == 104 + 104


def test_two_simds_share_a_port_that_may_be_narrower():
    """40 cycles of the port and 8 of the LDS: the second access issues in cycle 24, its data pass until cycle 80."""
    ops = [lds(8, own=40), lds(8, own=40), wait()]
    assert cycles(ops) == 80 + 64
    assert by_operation(ops)[1] == {"lds": 20, "issue": 4}
    # The LDS is free meanwhile: an access that needs no port issues at once, and comes in order.
    assert by_operation([lds(8, own=40), lds(8)])[1] == {"issue": 4}
    # The wider LDS holds up as well: 8 cycles of the port, 40 of the LDS.
    assert cycles([lds(40, own=8), lds(40, own=8), wait()]) == 80 + 64


def test_answers_of_one_counter_come_in_order():
    """A short access behind a long one is not there before it: 8 + 100 cycles."""
    assert cycles([lds(8, 100.0), lds(8, 10.0), wait()]) == 108
    assert cycles([scalar_load(100.0), scalar_load(10.0), wait(1)]) == 100
    assert cycles([memory(16, 0), memory(16, 0, path=STORE), wait()]) == 16 + 100
    # One after the other at the scalar cache; each counter by itself.
    assert cycles([scalar_load(10.0), scalar_load(100.0), wait(1)]) == 4 + 100
    assert cycles([lds(8, 100.0), scalar_load(20.0), wait(1)]) == 4 + 20


def test_scalar_loads_issue_one_after_the_other():
    """Of two wavefronts the second one's load issues in cycle 4."""
    ops = [scalar_load(100.0), wait(1)]
    assert cycles(ops, waves=2) == 104
    # The first waits from cycle 8 to 100, the second from 12 to 104.
    assert by_operation(ops, waves=2) == [{"issue": 4 + 8}, {"issue": 8, "memory latency": 92 + 92}]


def test_a_load_takes_its_bytes_at_its_share_and_then_the_latency():
    """200 bytes take 100 cycles each: until cycle 200, and 100 of latency.

    Of the wait from cycle 12 on an unloaded memory would have taken until cycle 4 + 100.
    """
    ops = [memory(16, 200), memory(16, 200), wait()]
    assert cycles(ops) == 300
    assert by_operation(ops)[2] == {"issue": 4, "memory latency": 92, "memory bandwidth": 196}
    # Where the cache before it takes longer than the bytes do, that counts.
    assert cycles([memory(160, 200), wait()]) == 160 + 100
    # What was there long ago makes no time of a wait negative.
    assert by_operation([memory(16, 1000), idle(200), wait()])[2] == {"issue": 4, "memory bandwidth": 600 - 208}


def test_the_vector_cache_takes_work_in_advance_and_then_holds_a_wavefront_up():
    """100 cycles an access, 16 in front of it at most: the second issues in cycle 84 and has passed in cycle 200."""
    ops = [memory(100, 0), memory(100, 0), wait()]
    assert cycles(ops) == 300
    assert by_operation(ops)[:2] == [{"issue": 4}, {"memory bandwidth": 80, "issue": 4}]


@pytest.mark.parametrize(("pause", "start"), [(28, 32), (29, 33 + 8)])
def test_an_idle_cache_is_asked_by_all_simds_at_once(pause, start):
    """After cycle 16 + 16 the average wavefront waits for half of the others, here for half of 16 cycles."""
    ops = [memory(16, 0), idle(pause), memory(16, 0), wait()]
    assert cycles(ops, skew=0.5) == max(start + 100, 4 + pause + 16 + 100)
    assert by_operation(ops, skew=0.5)[2].get("memory bandwidth", 0) == start - pause - 4


def test_an_idle_cache_is_busy_from_the_moment_that_it_is_asked():
    """The skew of the first access is no work of the cache: it is free for the next one 100 cycles after cycle 200."""
    ops = [idle(200), memory(100, 0), memory(100, 0)]
    assert by_operation(ops, skew=0.5)[1:] == [
        {"memory bandwidth": 50, "issue": 4},
        {"memory bandwidth": 30, "issue": 4},
    ]


def test_waits_for_spilled_registers_are_a_cause_of_their_own():
    """Also those for the cache before them: 16 cycles of 100 may be in front of it."""
    assert by_operation([memory(16, 0, SCRATCH), wait()]) == [{"issue": 4}, {"issue": 4, "scratch": 16 + 70 - 8}]
    assert by_operation([memory(100, 0, SCRATCH)] * 2)[1] == {"scratch": 80, "issue": 4}


def test_paths_wait_for_those_with_the_same_number_only():
    """A path without a number has number 0: the store's 1000 bytes are served behind the load's."""
    for numbers, end in (((0, 1), 550), ((1, 0), 550), ((1, 1), 1050), ((0, None), 1050), ((1, None), 550)):
        load, store = (PATHS[at] if n is None else replace(PATHS[at], queue=n) for at, n in enumerate(numbers))
        paths = (load, store, replace(PATHS[2], queue=2))
        ops = [(VMEM, 16.0, (0,), 1000.0, LOAD, 0), (VMEM, 16.0, (1,), 1000.0, STORE, 0), wait(1)]
        assert cycles(ops, paths=paths) == pytest.approx(end, abs=4), numbers


def test_loads_hold_their_lines_until_they_arrive():
    """Two of 1024 bytes fit. They arrive in cycles 116 and 132; the third and the fourth issue then."""
    free = [replace(path, cycles_per_byte=0.0) for path in PATHS]
    ops = [memory(16, 1024)] * 4
    found = by_operation([*ops, wait()], paths=free, in_flight=2048.0)
    assert [one.get("memory bandwidth", 0) for one in found[:4]] == [0, 0, 116 - 8, 132 - 120]
    assert cycles([*ops, wait()], paths=free, in_flight=2048.0) == 132 + 16 + 100
    assert cycles([*ops, wait()], paths=free, in_flight=4096.0) == cycles([*ops, wait()], paths=free) == 64 + 100
    # Lines of loads that have arrived are free again, to the byte.
    again = [*ops[:2], idle(124), *ops[:2]]
    assert [one.get("memory bandwidth", 0) for one in by_operation(again, paths=free, in_flight=2048.0)] == [0] * 5


@pytest.mark.parametrize("path", [STORE, SCRATCH])
def test_stores_and_scratch_hold_no_lines(path):
    ops = [memory(16, 1024, path)] * 4
    assert cycles(ops, in_flight=1024.0) == cycles(ops, in_flight=inf) == 48 - 16 + 4


def test_a_barrier_lets_a_workgroup_go_two_issues_after_the_last_one_came():
    """Wavefronts come in cycles 4 and 8, go on in cycle 16, and then add one after the other."""
    ops = [valu(4), HELD, valu(4)]
    assert cycles(ops, waves=2) == 24
    assert by_operation(ops, waves=2)[1] == {"barrier": 12 + 8}
    # Workgroups do not wait for each other; a lone wavefront takes the two issues all the same.
    assert by_operation(ops, groups=2)[1] == {"barrier": 8 + 8}
    assert by_operation([idle(4), HELD], groups=2, waves=2, stagger=100.0)[1] == {"barrier": 4 * 8}
    # A barrier can be passed again and again.
    assert cycles([HELD] * 3, waves=2) == 3 * 8


def test_half_of_a_workgroup_stops_at_a_barrier_of_its_own():
    """Wavefronts 2 and 3 of four stop in cycle 4; the others come to the next barrier in cycle 104, and all go on.

    Then the second half takes its 100 cycles, and the first one waits for it behind them. What all of them wait counts
    at the barrier of those that came last.
    """

    def split(half):
        return (SPLIT, float(half), (), 0.0, 0, 0)

    ops = [idle(4), split(1), idle(100), HELD, split(0)]
    _, result = simulated(ops, waves=4)
    assert result.cycles == 220
    first, second = 2 * (112 - 104 + 220 - 112), 2 * (112 - 4 + 220 - 212)
    assert [causes(result.spent, at) for at in (1, 3, 4)] == [{}, {"barrier": first + second}, {}]
    # One of three is the first half.
    assert simulated(ops, waves=3)[1].cycles == 220


def test_workgroups_begin_one_after_the_other():
    """10 cycles apart, all wavefronts of one at once."""
    assert cycles([idle(4)], groups=3, waves=1, stagger=10.0) == 24
    assert cycles([idle(4)], groups=3, waves=2, stagger=10.0) == 24
    simulator, _ = simulated([idle(4)], groups=2, waves=2, stagger=10.0)
    assert simulator.begins == [0, 0, 10, 10]


def loop(number, first, count, *body):
    """A loop round operations, the first of which is the ``first`` operation of the program but one."""
    return [
        (BEGIN, float(number), (), 0.0, 0, 0), *body, (END, float(number), first, float(count), 0, 0)
    ]  # fmt: skip


def test_iterations_of_a_loop_are_noted_with_what_they_took():
    """Four cycles an iteration, and 16 for each of three branches back."""
    ops = loop(0, 1, 4, valu(4))
    _, result = simulated(ops)
    found = result.iterations[0]
    assert result.cycles == 64
    assert found.times == [[0, 4, 24, 44, 64]]
    assert found.busy == [(24, 0, 8), (64, 0, 16)]
    assert [causes(found.middle, at) for at in range(3)] == [{}, {"vector": 8}, {"issue": 16}]
    assert [causes(found.end, at) for at in range(3)] == [{}, {"vector": 16}, {"issue": 48}]
    assert (len(found.middle), len(found.end), found.first) == (3 * CAUSE_COUNT, 3 * CAUSE_COUNT, 0)


def test_only_the_instructions_of_a_loop_are_noted_where_they_are_known():
    """Of five operations the third alone."""
    ops = [idle(4), *loop(0, 2, 4, valu(4)), idle(4)]
    found = simulated(ops, spans={0: range(2, 3)})[1].iterations[0]
    assert (found.first, len(found.middle), len(found.end)) == (2, CAUSE_COUNT, CAUSE_COUNT)
    assert (causes(found.middle, 0), causes(found.end, 0)) == ({"vector": 8}, {"vector": 16})


@pytest.mark.parametrize(("count", "middle"), [(1, None), (2, 4), (3, 4), (5, 24)])
def test_half_of_the_iterations_are_rounded_down(count, middle):
    """One iteration has no half."""
    ops = loop(0, 1, count, valu(4))
    found = simulated(ops)[1].iterations[0]
    assert [at for at, _, _ in found.busy] == [*([middle] if middle else []), 20 * count - 16]
    assert bool(found.middle) is (middle is not None)


def test_a_loop_that_is_entered_again_keeps_its_last_entry():
    """Two entries of two iterations; wavefront 1 runs on a SIMD of its own, 10 cycles later."""
    inner = loop(1, 2, 2, valu(4))
    ops = loop(0, 1, 2, *inner)
    _, result = simulated(ops, groups=2, stagger=10.0, simds=2)
    # An entry takes 4 + 16 + 4 cycles, the way back to the outer loop's first operation 16.
    assert result.iterations[0].times == [[0, 24, 64], [10, 34, 74]]
    assert result.iterations[1].times == [[40, 44, 64], [50, 54, 74]]
    assert len(result.iterations[1].busy) == 2
    assert result.cycles == 74


def test_simds_have_pipes_of_their_own_and_share_the_cu():
    """Wavefronts are dealt out in turn: the third one is on the first SIMD again."""
    _, result = simulated([valu(16)], waves=3, simds=2)
    assert (result.cycles, result.vector) == (32, (16 * 3) / 2)
    _, result = simulated([matrix(0), matrix(1)], waves=3, simds=2)
    # Four products of 16 cycles on the first SIMD; half of all six are a SIMD's mean.
    assert (result.cycles, result.matrix) == (3 * 16 + 4, 6 * 16 / 2)
    assert cycles([(SCALAR, 4.0, (), 0.0, 0, 0)], waves=3, simds=2) == 8
    # The LDS is of the CU, the port of the SIMD: 8 cycles each after one another, or 40 at the same time.
    assert cycles([lds(40), wait()], waves=2, simds=2) == 80 + 64
    assert cycles([lds(8, own=40), wait()], waves=2, simds=2) == 40 + 64
    assert cycles([lds(8, own=40), wait()], waves=2, simds=1) == 80 + 64


def test_a_simd_is_the_only_one_unless_the_setting_says_otherwise():
    assert cycles([valu(16)], waves=2) == cycles([valu(16)], waves=2, simds=1) == 32


def step_by_step(ops, waves):
    """Cycles of vector, scalar and idle operations, one operation of one wavefront at a time.

    The wavefront that is behind goes on, of two equal ones the one that went on last, then the smaller number.
    """
    now, at, free, last = [0.0] * waves, [0] * waves, {VALU: 0.0, SCALAR: 0.0}, 0
    while any(position < len(ops) for position in at):
        left = [w for w in range(waves) if at[w] < len(ops)]
        last = min(left, key=lambda w: (now[w], w != last, w))
        kind, busy = ops[at[last]][:2]
        begin = max(now[last], free.get(kind, 0.0))
        now[last] = begin + busy
        if kind in free:
            free[kind] = now[last]
        at[last] += 1
    return max(now)


OPERATION = st.tuples(st.sampled_from([VALU, SCALAR, IDLE]), st.sampled_from([4.0, 8.0, 12.0, 20.0]))


@given(st.lists(OPERATION, min_size=1, max_size=12), st.integers(1, 4))
def test_wavefronts_take_turns(operations, waves):
    """Against a list of times, of which the smallest goes on."""
    ops = [(kind, busy, (), 0.0, 0, 0) for kind, busy in operations]
    assert cycles(ops, waves=waves) == step_by_step(ops, waves)


def test_a_program_without_operations_takes_no_time():
    assert cycles([]) == 0
    # Without wait counters a memory access has none to count, and there is still a queue to be empty.
    assert cycles([wait()], counters=0) == 4
