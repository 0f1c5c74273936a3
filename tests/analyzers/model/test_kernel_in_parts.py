"""From a kernel's facts to its time, part by part: each against a sum done by hand."""

from dataclasses import replace
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kprof_analyzers.model.kernel as parts
from kprof.inputs.amdgcn import Loop
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.outline import BranchNode, LoopNode
from kprof_analyzers.model.program import DELAY, KIND, LOAD, STORE, STREAMED, VALU, VMEM, WHICH
from kprof_analyzers.model.setting import MemoryPath
from kprof_analyzers.model.simulate import Simulator
from kprof_analyzers.model.trips import Trips

MFMA = "v_mfma_f32_32x32x8_f16 v[16:31], v[100:101], v[102:103], v[16:31]"
LOOP = ["s_mov_b32 s0, 0", ".LBB0_1:", MFMA, "s_cmp_lt_i32 s0, 64", "s_cbranch_scc1 .LBB0_1"]
SIZES = st.floats(0.001, 1e6)


def loop(number, *body, kind=LoopNode):
    """A loop of an outline."""
    return kind(Loop(number, "", 0, (0,), (0,), 1, None, ()), body)


@given(SIZES, SIZES, st.sampled_from([1.0, 2.0, 6.0]))
def test_the_soft_maximum_is_the_norm_of_the_two(one, other, sharpness):
    """(a^p + b^p)^(1/p): the sum for 1, the length of a diagonal for 2."""
    found = parts.soft_max(one, other, sharpness)
    assert found == pytest.approx((one**sharpness + other**sharpness) ** (1 / sharpness))
    assert parts.soft_max(one, 0.0, sharpness) == pytest.approx(one)
    assert parts.soft_max(0.0, 0.0, sharpness) == 0


@pytest.mark.parametrize(
    ("times", "found"),
    [
        ([], (0, False)),
        ([[5.0]], (0, False)),
        ([[3.0, 13.0]], (10, False)),
        # The first of two is for warming up.
        ([[0.0, 10.0, 30.0]], (20, False)),
        ([[0.0, 100.0, 110.0, 120.0]], (10, True)),
        ([[0.0, 90.0, 100.0, 110.0, 130.0]], (15, False)),
        # The last is 5 % longer or shorter than the one before, or 6 %.
        ([[0.0, 0.0, 95.0, 195.0]], (97.5, True)),
        ([[0.0, 0.0, 100.0, 195.0]], (97.5, True)),
        ([[0.0, 0.0, 94.0, 194.0]], (97, False)),
        # The mean of two wavefronts, of which one by itself is not alike: 10 and 10 against 0 and 20, then the sums.
        ([[0.0, 0.0, 10.0, 20.0], [0.0, 10.0, 30.0, 50.0]], (15, True)),
        ([[0.0, 0.0, 0.0, 20.0], [0.0, 0.0, 20.0, 20.0]], (10, True)),
    ],
)
def test_an_iteration_is_the_mean_of_the_second_half(times, found):
    assert parts._mean_of_second_half(times) == (pytest.approx(found[0]), found[1])


def test_wavefronts_that_have_not_ended_are_no_measure():
    """Three iterations begin four times: at the end of the last one, too."""
    whole, part = [0.0, 10.0, 20.0, 30.0], [0.0, 50.0, 90.0]
    measured = {0: SimpleNamespace(times=[whole, part]), 1: SimpleNamespace(times=[part]), 2: SimpleNamespace(times=[])}
    result = SimpleNamespace(iterations=measured)
    assert parts._lengths(result, {0: 3, 1: 2, 2: 1}) == ({0: 10, 1: 40, 2: 0}, {0})


@pytest.mark.parametrize(
    ("size", "waves", "trips", "count"),
    [
        (100, 4, 64.0, 8),  # 9,000 steps / 4 wavefronts / 100 instructions are 22: no more than 8
        (450, 4, 64.0, 5),
        (600, 4, 64.0, 4),  # 3, but four if two are possible
        (1000, 4, 64.0, 4),  # 2.25
        (1200, 4, 64.0, 2),  # 1.9: two at least
        (9000, 4, 64.0, 2),
        (600, 3, 64.0, 5),
        (100, 4, 3.0, 3),  # the loop has no more
        (100, 4, 2.6, 3),
        (100, 4, 0.25, 1),
        (100, 4, 0.0, 0),
        (0, 4, 64.0, 8),
    ],
)
def test_so_many_iterations_are_simulated(size, waves, trips, count):
    model = SimpleNamespace(nodes=(loop(0, range(10, 10 + size)),), trips={0: Trips(trips)})
    assert parts._iterations(model, waves) == {0: count}


def test_inner_loops_share_the_steps_and_outer_ones_go_round_once():
    """9,000 / 2 loops / 3 wavefronts are 1,500: 5 times 300 and 3, that is 4, times 500."""
    model = SimpleNamespace(
        nodes=(loop(0, range(9), loop(1, range(100, 250), range(300, 450)), range(900), loop(2, range(500, 1000))),),
        trips=dict.fromkeys(range(3), Trips(64.0)),
    )
    assert parts._iterations(model, 3) == {0: 1, 1: 5, 2: 4}


def test_of_workgroups_that_iterate_alike_one_is_looked_at():
    """The first and the third, and the second and the fourth."""
    trips = {0: Trips(2.0, (1, 3, 1, 3)), 1: Trips(5.0), 2: Trips(1.5, (1, 2, 1, 2))}
    found = sorted(parts._different(SimpleNamespace(trips=trips)))
    assert [(n % 2, trips[0].each[n]) for n in found] == [(0, 1), (1, 3)]
    assert not list(parts._different(SimpleNamespace(trips={1: Trips(5.0)})))


@pytest.mark.parametrize(
    ("number", "inner"),
    [
        (-1, 20 * 12 - 8 * 10),
        (0, 10 * 12 - 8 * 10),
        (1, 30 * 12 - 8 * 10),
    ],
)
def test_iterations_that_were_not_simulated_are_added(number, inner):
    """Of the outer loop one of five was, 100 cycles long, of the inner one 8 of 10, 30 or 20 in the mean."""
    nodes = (range(5), loop(0, range(5, 9), loop(1, range(9, 20))), loop(2, range(20, 30)))
    trips = {0: Trips(5.0), 1: Trips(20.0, (10, 30)), 2: Trips(7.0)}
    lengths = {0: (1, 100.0, 110.0), 1: (8, 10.0, 12.0), 2: (0, 3.0, 3.0)}
    assert parts._unsimulated_cycles(nodes, trips, lengths, number) == 5 * (110 + inner) - 1 * 100


def ran(cycles, longest, whole=None, memory=0.0):
    """As much of a simulation as rounds are made of."""
    return SimpleNamespace(cycles=cycles, longest=longest, result=SimpleNamespace(cycles=whole, memory=memory))


@pytest.mark.parametrize(
    ("resident", "whole", "alone", "found"),
    [
        (1, 1000.0, 400.0, 5000),
        (3, 1000.0, 400.0, 4900),  # each further one takes 300: three of them 900
        (2, 1000.0, 950.0, 4950),  # no less than one by itself
        (2, 1000.0, 1200.0, 5000),  # no more than all that begin at once
        (4, 1000.0, 100.0, 5000),  # 4 times 300
        (3, 1000.0, 100.0, 5000),
        (3, 1000.0, 550.0, 4675),  # 3 times 225
    ],
)
def test_a_round_in_the_middle_takes_what_the_busiest_pipe_needs(resident, whole, alone, found):
    """4,000 cycles are of long loops, which have found their rhythm anyway."""
    model = SimpleNamespace(where=SimpleNamespace(resident=resident), facts=SimpleNamespace(ttgir="a TTGIR"))
    assert parts._steady_round(model, ran(5000.0, 0.0, whole), ran(0.0, 0.0, alone)) == found


@pytest.mark.parametrize(("ttgir", "found"), [(None, 4980), ("a TTGIR", 4900)])
def test_last_stores_occupy_the_memory_in_the_next_round(ttgir, found):
    """Without a TTGIR a round takes at least as long as the memory is busy: 980 of 1,000 cycles."""
    model = SimpleNamespace(where=SimpleNamespace(resident=3), facts=SimpleNamespace(ttgir=ttgir))
    assert parts._steady_round(model, ran(5000.0, 0.0, 1000.0, 980.0), ran(0.0, 0.0, 400.0)) == found


@pytest.fixture
def rounds(kernel, monkeypatch):
    """``rounds(...)``: cycles of a launch whose simulations are given by the workgroups on a CU and their paths."""
    model = parts.build(kernel(LOOP))
    last_paths = [replace(path, latency=1.0) for path in model.paths]

    def make(cycles, longest, simulated, *, alike=False, **where):
        def paths(*_, last=False, **__):
            assert last
            return model.paths if alike else last_paths

        def simulate(found, groups):
            path = "last" if found.paths == last_paths else "near" if found.l2_paths is not None else "own"
            cycles_, whole = simulated[groups, path]
            return ran(cycles_, 0.0, whole)

        monkeypatch.setattr(parts, "memory_paths", paths)
        monkeypatch.setattr(parts, "simulate", simulate)
        mine = replace(model, where=replace(model.where, **where), l2_paths=model.paths)
        return parts.launch_cycles(mine, ran(cycles, longest, 1000.0))

    return make


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({"resident": 1, "rounds": 1.0, "last": 0}, 140),
        ({"resident": 2, "rounds": 1.0, "last": 0}, (100 + 140) / 2),
        ({"resident": 2, "rounds": 0.0, "last": 1}, (100 + 140) / 2),
        ({"resident": 1, "rounds": 3.0, "last": 0}, 100 + 2 * 100 + 40 / 2),
    ],
)
def test_only_the_last_of_several_rounds_waits_for_the_longest_workgroup(rounds, where, found):
    assert rounds(100.0, 140.0, {}, **where) == found


@pytest.mark.parametrize(
    ("last", "simulated", "found"),
    [
        # A steady round takes max(2 * 100, 900) of the 1,000 cycles simulated; two full rounds, and the last one.
        (1, {(1, "own"): (0.0, 900.0), (1, "last"): (300.0, 0.0)}, 5000 + 4900 + 300 + 50),
        # Longer than a round in the middle it is not.
        (1, {(1, "own"): (0.0, 900.0), (1, "last"): (7000.0, 0.0)}, 5000 + 4900 + 4900 + 50),
        (0, {(1, "own"): (0.0, 900.0)}, 5000 + 4900 + 50),
    ],
)
def test_rounds_follow_each_other(rounds, last, simulated, found):
    assert rounds(5000.0, 5100.0, simulated, resident=2, rounds=2.0, last=last) == found


def test_a_last_round_of_one_workgroup_is_one_that_runs_alone(rounds):
    """Where it loads as the others do: one simulation for both. Two workgroups are another one."""
    alone = {(1, "near"): (300.0, 900.0)}
    assert rounds(5000.0, 5100.0, alone, alike=True, resident=2, rounds=2.0, last=1) == 5000 + 4900 + 300 + 50
    two = {(1, "own"): (300.0, 900.0), (2, "near"): (400.0, 0.0)}
    assert rounds(5000.0, 5100.0, two, alike=True, resident=3, rounds=1.0, last=2) == 5000 + 400 + 50


def operation(kind=VMEM, size=1024.0, which=LOAD):
    """One of the translated program."""
    made = [0] * 6
    made[KIND], made[DELAY], made[WHICH] = kind, size, which
    return tuple(made)


@pytest.mark.parametrize(
    ("length", "bound"),
    [
        (2 * 2048.0, None),  # twice as long as its loads: just not long enough
        (2 * 2048.0 + 1, 2048.0),
        (9000.0, 2048.0),
    ],
)
def test_a_loop_out_of_step_with_others_is_bound_by_its_bytes(length, bound):
    """Two wavefronts of one load, and one past the caches, of 1,024 bytes each at half a cycle a byte."""
    ops = [operation(), operation(which=STREAMED), operation(which=STORE), operation(kind=VALU), operation()]
    body = loop(0, range(3), range(3, 4))
    nodes = (body, loop(1, range(4, 5), body), loop(2, range(4, 5), kind=BranchNode), range(4, 5))
    model = SimpleNamespace(
        l2_paths=(),
        nodes=nodes,
        code=SimpleNamespace(ops=ops),
        paths=[MemoryPath(0.5, 100.0)],
        machine=SimpleNamespace(figures={"saturated": 2.0, "overlap": 2.0}),
    )
    asked = []

    def alone():
        asked.append(1)
        return {0: 2048.0, 1: 1.0, 2: 1.0}

    lengths = {0: length, 1: 1e9, 2: 1e9}
    found = parts._pooled(model, lengths, 2, alone)
    # As long as its loads and as one with the memory for itself: the diagonal of the two.
    wanted = {} if bound is None else {0: pytest.approx(min(length, 2048 * 2**0.5))}
    assert (found, bool(asked)) == (wanted, bound is not None)
    assert parts._pooled(replace_with(model, l2_paths=None), lengths, 2, alone) == {}
    assert parts._pooled(replace_with(model, paths=[MemoryPath(0.0, 100.0)]), lengths, 2, dict) == {}
    slow = parts._pooled(model, lengths, 2, lambda: {0: 1e6})
    assert slow == ({} if bound is None else {0: length})


def replace_with(model, **changed):
    return SimpleNamespace(**{**vars(model), **changed})


@pytest.mark.parametrize(
    ("warps", "groups", "simulated", "simds", "skew", "on_simd"),
    [
        # Four SIMDs do the same: one of them stands for all, and waits for 3 / 2 of the others in the mean.
        (4, 2, 2, 1, 3 / 8, 2),
        (8, 1, 2, 1, 3 / 8, 2),
        # Of three workgroups of two wavefronts each one is simulated, on four SIMDs.
        (2, 3, 6, 4, 0, 3 * 2 / 4),
        (None, 1, 1, 1, 3 / 8, 1),
    ],
)
def test_the_simulator_is_given_wavefronts_and_simds(kernel, warps, groups, simulated, simds, skew, on_simd):
    given_ = []

    def engine(steps, groups, waves, setting):
        given_.append((len(steps), groups, waves, setting))
        return Simulator(steps, groups, waves, setting)

    facts = kernel(LOOP, warps=warps or 4)
    facts = replace(facts, resources=msgspec.structs.replace(facts.resources, num_warps=warps))
    model = parts.build(facts, Effects(matrix_power=False))
    run = parts.simulate(model, groups, engine)
    ((steps, *amounts, setting),) = given_
    assert amounts == [groups, simulated / groups]
    assert (run.simulated, run.waves) == (simulated, on_simd)
    assert (setting.simds, setting.skew) == (simds, skew)
    assert setting.stagger == model.machine.figures["stagger"] * steps * model.machine.issue / groups
    assert setting.spans == {0: range(1, 4)}
    # 64 iterations are assumed of a loop of unknown length, or as many as the model says; all but 8 are added.
    assert run.cycles == pytest.approx(run.result.cycles + (model.trips[0].mean - run.iterations[0]) * run.length[0])
    assert run.longest == run.cycles


@pytest.mark.parametrize(("name", "power"), [("f16", "matrix_fp16"), ("bf16", None)])
def test_matrix_units_do_not_keep_their_peak(kernel, name, power):
    """8 wavefronts on 4 SIMDs, 32 cycles each: 2 x 32 x 32 x 8 operations at 2,048 a cycle of a CU (white paper)."""
    body = [line.replace("32x32x8_f16", f"32x32x8_{name}") for line in LOOP]
    model = parts.build(kernel(body, warps=8))
    machine = model.machine
    run = parts.simulate(model, 1)
    share = machine.matrix_sustained * machine.matrix_large * (getattr(machine, power) if power else 1.0)
    assert share < 1
    wanted = parts.soft_max(run.length[0], 2 * 32 / share, machine.figures["overlap"])
    assert run.powered == {0: pytest.approx(wanted)}
    assert run.length[0] < run.powered[0]
    unlimited = parts.simulate(replace(model, effects=Effects(matrix_power=False)), 1)
    assert unlimited.powered == unlimited.length == run.length


def test_without_ttgir_all_loads_come_from_memory(kernel):
    found = parts.build(kernel(LOOP)).sharing
    assert (found.beyond_l2, found.beyond_mall, found.stored, found.known) == (1, 1, 0, False)


def test_cus_fall_out_of_step_unless_that_is_left_out(kernel):
    """304 workgroups share the memory; the way from L2 alone is quicker."""
    facts = kernel(["global_load_dword v0, v[80:81], off", *LOOP])
    model = parts.build(facts)
    assert model.l2_paths[LOAD].cycles_per_byte < model.paths[LOAD].cycles_per_byte
    assert parts.build(facts, Effects(out_of_step=False)).l2_paths is None


def test_a_line_of_the_vector_cache_is_what_the_data_sheet_says(gpu):
    """128 bytes on CDNA3, by its white paper; of a GPU whose lines are not known what is asked of L2 at least."""
    machine = gpu(l2=1.0, mall=1.0)
    assert parts._l1_line(machine) == 128
    without = {name: level for name, level in machine.product.memory.items() if name != "l1"}
    unknown = replace(machine, product=replace(machine.product, memory=without))
    assert parts._l1_line(unknown) == machine.figures["request_bytes"]
    level = replace(machine.product.memory["l1"], line_bytes=None)
    unknown = replace(machine, product=replace(machine.product, memory={**without, "l1": level}))
    assert parts._l1_line(unknown) == machine.figures["request_bytes"]
