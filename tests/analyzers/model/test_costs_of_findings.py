"""What a finding costs, against the model of another kernel that lacks what it names, or sums done by hand."""

from dataclasses import replace

import msgspec
import pytest

from kprof.analysis import ModelChange
from kprof.condition import FLUSHED
from kprof.findings import Finding, Severity
from kprof.inputs import mlir
from kprof_analyzers.model.gains import cost_of, costs_of, without
from kprof_analyzers.model.kernel import build, predict_model
from kprof_analyzers.model.traffic import Access, Sharing, sharing

LOAD = "buffer_load_dword v0, v1, s[4:7], 0 offen"
READ = "ds_read_b128 v[4:7], v8"
EXP, ADD = "v_exp_f32_e32 v0, v1", "v_add_f32_e32 v0, v1, v2"
MFMA = "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]"
WAIT = "s_waitcnt vmcnt(0) lgkmcnt(0)"


@pytest.fixture
def saved(kernel):
    """``saved(lines, change)``: microseconds that a change of a kernel is worth."""

    def made(lines, change, **named):
        model = build(kernel(lines, **named))
        return cost_of(model, predict_model(model), change).us

    return made


@pytest.fixture
def time(kernel):
    return lambda lines, **named: predict_model(build(kernel(lines, **named))).time_us


def test_instructions_that_are_gone_leave_the_kernel_without_them(saved, time):
    """The second and the fourth of 400 exponentials and additions each."""
    lines = [EXP, ADD] * 400
    gone = ModelChange(gone=tuple(range(0, 800, 2)))
    assert saved(lines, gone) == pytest.approx(time(lines) - time([ADD] * 400), abs=1e-3)
    assert saved(lines, ModelChange()) == 0


def test_cycles_are_those_of_a_faster_instruction(saved, time):
    """An exponential at a quarter of its cycles takes as long as an addition."""
    faster = ModelChange(cycles=dict.fromkeys(range(0, 800, 2), 0.25))
    assert saved([EXP, ADD] * 400, faster) == pytest.approx(time([EXP, ADD] * 400) - time([ADD] * 800), abs=1e-3)


def test_a_factor_changes_the_cycles_alone(kernel):
    model = build(kernel([MFMA, MFMA, "v_accvgpr_read_b32 v9, a0", LOAD, WAIT]))
    before, after = model.code, without(model, ModelChange(cycles=dict.fromkeys(range(5), 0.5))).code
    assert [op[1] for op in after.ops[:5]] == [op[1] / 2 for op in before.ops[:5]]
    assert [(op[0], *op[2:]) for op in after.ops] == [(op[0], *op[2:]) for op in before.ops]
    assert (after.counters, after.results) == (before.counters, before.results)


@pytest.mark.parametrize(
    ("narrow", "wide", "width"),
    [(LOAD, "buffer_load_dwordx4 v[0:3], v8, s[4:7], 0 offen", 16), ("ds_read_b32 v4, v8", READ, 16)],
)
def test_a_wider_access_is_that_of_the_wider_instruction(kernel, narrow, wide, width):
    model, other = build(kernel([WAIT, narrow])), build(kernel([WAIT, wide]))
    assert without(model, ModelChange(wide={1: width})).code.ops == other.code.ops
    assert model.code.ops[1] != other.code.ops[1]


def test_an_access_without_conflicts_takes_the_cycles_of_its_data(kernel):
    """Twice as long with as many cycles of conflicts as of data; what is no access to LDS stays as it is."""
    model = build(kernel([READ, LOAD, WAIT]))
    kind, busy, *rest = model.code.ops[0]
    slow = replace(model, code=replace(model.code, ops=[(kind, 2 * busy, *rest), *model.code.ops[1:]]))
    assert without(slow, ModelChange(conflict_free=(0, 1, 2))).code.ops == list(model.code.ops)
    assert without(slow, ModelChange(conflict_free=(1, 2))).code.ops == slow.code.ops
    assert without(slow, ModelChange(conflict_free=(0,))).code.counters == model.code.counters


def test_latencies_are_left_out_one_by_one(kernel):
    """Of every path of memory; or of the LDS alone."""
    model = build(kernel([READ, LOAD, MFMA, WAIT]))
    assert model.l2_paths is not None
    at_once = without(model, ModelChange(leave_out=("memory_latency",)))
    for before, after in ((model.paths, at_once.paths), (model.l2_paths, at_once.l2_paths)):
        assert list(after) == [replace(path, latency=0.0) for path in before]
    assert at_once.code.ops == model.code.ops
    assert without(replace(model, l2_paths=None), ModelChange(leave_out=("memory_latency",))).l2_paths is None
    near = without(model, ModelChange(leave_out=("lds_latency",)))
    assert near.paths == model.paths
    assert [op[3] for op in near.code.ops] == [0.0, *[op[3] for op in model.code.ops[1:]]]
    assert [(*op[:3], *op[4:]) for op in near.code.ops] == [(*op[:3], *op[4:]) for op in model.code.ops]
    assert (near.code.counters, near.code.results) == (model.code.counters, model.code.results)


def test_rounds_are_as_long_as_what_is_in_them(kernel):
    """305 workgroups on 304 CUs take one round and a 304th, or two."""
    model = build(kernel([ADD], lds=65536, grid=(305,)))
    assert (model.where.rounds, model.where.last) == (2, 0)
    even = without(model, ModelChange(leave_out=("wave_quantisation",)))
    assert (even.where.rounds, even.where.last) == (305 / 304, 0)
    assert not even.effects.wave_quantisation
    assert without(model, ModelChange()).where == model.where


def test_large_products_draw_no_more_power_than_others(kernel):
    model = build(kernel([MFMA]))
    other = without(model, ModelChange(leave_out=("matrix_large",)))
    assert (model.machine.matrix_large, other.machine.matrix_large) == (0.93, 1.0)
    assert replace(other.machine, matrix_large=0.93) == model.machine


@pytest.mark.parametrize("lds", [0, 20480])
@pytest.mark.parametrize(("before", "after"), [(4, 8), (8, 4), (4, 1), (1, 4), (2, 1), (4, 2)])
def test_another_number_of_wavefronts_is_the_kernel_launched_so(kernel, before, after, lds):
    lines = [READ, LOAD, EXP, WAIT]
    found = without(build(kernel(lines, warps=before, lds=lds)), ModelChange(num_warps=after))
    other = build(kernel(lines, warps=after, lds=lds))
    for name in ("where", "simds", "waves", "apart", "paths"):
        assert getattr(found, name) == getattr(other, name), name
    assert list(found.code.ops) == list(other.code.ops)
    assert found.facts.resources.num_warps == after
    assert found.facts.occupancy.workgroups_per_cu == other.facts.occupancy.workgroups_per_cu
    assert found.l2_paths is None


def test_more_workgroups_a_cu_are_placed(kernel):
    model = build(kernel([LOAD, WAIT], lds=65536, grid=(3040,)))
    found = without(model, ModelChange(workgroups_per_cu=2.0))
    assert (model.where.resident, found.where.resident) == (1, 2)
    assert (model.where.rounds, found.where.rounds) == (10, 5)
    assert (found.waves, found.simds, found.code.ops) == (model.waves, model.simds, model.code.ops)
    both = without(model, ModelChange(num_warps=8, workgroups_per_cu=3.0))
    assert (both.waves, both.where.resident) == (2, 3)
    # A kernel of unknown occupancy has one workgroup a CU whatever a finding says.
    unknown = build(replace(model.facts, occupancy=None))
    assert without(unknown, ModelChange(workgroups_per_cu=2.0)).where.resident == 1


def test_a_workgroup_of_unknown_size_has_four_wavefronts(kernel):
    facts = kernel([LOAD, WAIT], lds=65536, grid=(3040,))
    facts = replace(facts, resources=msgspec.structs.replace(facts.resources, num_warps=None, lds_bytes=None))
    found = without(build(facts), ModelChange(workgroups_per_cu=2.0))
    assert (found.waves, found.simds, found.apart, found.where.resident) == (1, 4, False, 2)
    assert without(build(facts), ModelChange(num_warps=8)).facts.occupancy.workgroups_per_cu == 2


def shared_by_pairs(model):
    """The same with a load whose tiles neighbouring workgroups share, as the model of its launch has it."""
    (op,) = mlir.parse('"tt.load"() : () -> ()').operations
    found = [Access(op, 1024.0, [1024 * (n // 2) for n in range(64)], 1.0, None, 512)]
    machine = model.machine
    shared = sharing(found, machine.xcds, 64, machine.channels, machine.cache_bytes("mall"))
    return replace(model, accesses=found, sharing=shared)


def test_neighbours_on_one_die_find_each_others_tiles_in_its_l2(kernel):
    """Pairs that are dealt out in turn to eight dies load each tile twice from beyond L2, in blocks once."""
    model = shared_by_pairs(build(replace(kernel([LOAD, WAIT], grid=(64,)), condition=FLUSHED)))
    found = without(model, ModelChange(leave_out=("dies_in_turn",)))
    assert (model.sharing.beyond_l2, found.sharing.beyond_l2) == (1.0, 0.5)
    assert found.sharing.loaded == model.sharing.loaded
    # Fewer bytes from beyond L2 take less of the CU's share, where that is what limits them.
    slow = replace(model.machine, level_bytes=dict.fromkeys(model.machine.level_bytes, 0.5))
    before, after = replace(model, machine=slow), replace(model, machine=slow, l2_paths=None)
    paths = [without(each, ModelChange(leave_out=("dies_in_turn",))) for each in (before, after)]
    assert paths[0].paths[0].cycles_per_byte == pytest.approx(0.5 / (0.5 * 304 / 64), rel=0.3)
    assert paths[1].l2_paths is None
    if model.l2_paths is not None:
        assert paths[0].l2_paths[0].cycles_per_byte < paths[0].paths[0].cycles_per_byte


def test_blocks_of_workgroups_keep_what_the_caches_hold(kernel):
    """Each tile is loaded again 512 workgroups later, of which 304 run together: the Infinity Cache still has it.

    Where the whole launch loads 1 GB, of which 64 MB differ, all but these 64 come from the Infinity Cache, which holds
    256 MB; the eight L2 hold 32.
    """
    model = build(replace(kernel([LOAD, WAIT], grid=(1024,), lds=65536), condition=FLUSHED))
    (op,) = mlir.parse('"tt.load"() : () -> ()').operations
    again = [Access(op, 1024.0, [1024 * (n % 512) for n in range(1024)], 1.0, None, 512)]
    found = without(replace(model, accesses=again), ModelChange(leave_out=("dies_in_turn",))).sharing
    assert found.beyond_mall == pytest.approx(0.5)
    much = [replace(again[0], tile_bytes=1e6, corners=[1_000_000 * n for n in range(1024)])]
    shared = replace(model.sharing, footprint=64e6, known=True)
    found = without(replace(model, accesses=much, sharing=shared), ModelChange(leave_out=("dies_in_turn",))).sharing
    assert (found.beyond_l2, found.beyond_mall) == (1, pytest.approx(64e6 / 1024e6))
    # A megabyte fits each of the eight L2, which fetches it once.
    shared = replace(shared, footprint=1e6)
    found = without(replace(model, accesses=much, sharing=shared), ModelChange(leave_out=("dies_in_turn",))).sharing
    assert (found.beyond_l2, found.beyond_mall) == (pytest.approx(8 / 1024), pytest.approx(1 / 1024))


def prediction_of(model, **fields):
    return msgspec.structs.replace(predict_model(model), **fields)


def test_a_gain_has_the_predictions_own_range(kernel):
    """Of 40 µs that a kernel of 10 would have taken, 30 are saved: 24 to 45 where 40 are 32 to 60."""
    model = build(kernel([ADD]))
    now = predict_model(model).time_us + 30
    one = cost_of(model, prediction_of(model, time_us=now, low_us=0.8 * now, high_us=1.5 * now), ModelChange())
    assert (one.us, one.low_us, one.high_us, one.at_most) == (30, 24, 45, False)
    assert one.share == round(30 / now, 4)
    # To a nanosecond, and a hundredth of a percent.
    exact = prediction_of(model, time_us=now - 30 + 1.234567, low_us=None, high_us=None)
    small = cost_of(model, exact, ModelChange())
    assert (small.us, small.low_us, small.high_us) == (1.235, 1.235, 1.235)
    assert small.share == round(1.234567 / exact.time_us, 4)
    # At most that: perhaps nothing.
    most = cost_of(model, prediction_of(model, time_us=now, low_us=now, high_us=now), ModelChange(at_most=True))
    assert (most.us, most.low_us, most.at_most) == (30, 0, True)
    # Without ends there is no range, and no gain is more than the whole time.
    bare = cost_of(model, prediction_of(model, time_us=now, low_us=None, high_us=None), ModelChange())
    assert (bare.low_us, bare.us, bare.high_us) == (30, 30, 30)


def test_what_makes_a_kernel_slower_gains_nothing(kernel):
    model = build(kernel([EXP] * 100))
    found = cost_of(model, predict_model(model), ModelChange(cycles=dict.fromkeys(range(100), 4.0)))
    assert (found.us, found.low_us, found.high_us, found.share) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("light", "idle", "after"),
    [
        (None, 0.75, 6.1 + 24 / 4),  # of 30.1 µs, 1.3 are the launch's and 4.8 the events'
        (0.0, 0.25, 6.1 + 18),
        (20.0, 0.75, 20.0),  # which nothing is faster than
    ],
)
def test_cus_without_work_take_their_part_of_the_others(kernel, light, idle, after):
    """All but the launch itself is spread over them."""
    model = build(replace(kernel([ADD]), condition=FLUSHED))
    found = cost_of(model, prediction_of(model, time_us=30.1, speed_of_light_us=light), ModelChange(idle_share=idle))
    assert found.us == pytest.approx(30.1 - after, abs=1e-3)


def test_a_launch_shorter_than_an_empty_one_has_nothing_to_spread(kernel):
    model = build(kernel([ADD]))
    found = cost_of(model, prediction_of(model, time_us=1.0, speed_of_light_us=None), ModelChange(idle_share=0.5))
    assert found.us == 0


def test_idle_cus_beside_another_change(kernel):
    """First the other change, then the share of what is left."""
    model = build(kernel([EXP, ADD] * 400))
    prediction = predict_model(model)
    gone = tuple(range(0, 800, 2))
    alone = prediction.time_us - cost_of(model, prediction, ModelChange(gone=gone)).us
    both = cost_of(model, prediction, ModelChange(gone=gone, idle_share=0.5, at_most=True))
    assert prediction.time_us - both.us == pytest.approx(1.3 + (alone - 1.3) / 2, abs=2e-3)


def finding():
    return Finding(rule="KP101", name="x-y", severity=Severity.NOTE, message="")


def test_only_findings_with_a_change_have_a_cost(kernel):
    model = build(kernel([EXP] * 100))
    prediction = predict_model(model)
    silent, one, same = finding(), finding(), finding()
    gone = ModelChange(gone=tuple(range(100)))
    found = costs_of(model, prediction, [(silent, None), (one, gone), (same, ModelChange(gone=tuple(range(100))))])
    assert set(found) == {id(one), id(same)}
    assert found[id(one)] == cost_of(model, prediction, gone)
    assert found[id(one)] is found[id(same)]
    assert costs_of(model, msgspec.structs.replace(prediction, time_us=None), [(one, gone)]) == {}


def test_twelve_different_changes_are_modelled(kernel):
    """Those of the first findings; a later finding with one of these has its cost, too."""
    model = build(kernel([EXP] * 20))
    changes = [ModelChange(gone=(n,)) for n in range(14)]
    listed = [(finding(), change) for change in [*changes, changes[0]]]
    found = costs_of(model, predict_model(model), listed)
    assert [id(one) in found for one, _ in listed] == [True] * 12 + [False, False, True]


def test_a_launch_that_is_not_possible_has_no_cost(kernel):
    """Of a kernel whose registers are not known, occupancy with other wavefronts is not known either."""
    facts = kernel([ADD])
    registers = replace(facts.program.registers, next_free_vgpr=None, vgpr=None, total_vgpr=None)
    facts = replace(facts, program=replace(facts.program, registers=registers))
    model = build(facts)
    assert cost_of(model, predict_model(model), ModelChange(num_warps=8)) is None
    assert cost_of(model, predict_model(model), ModelChange(num_warps=8, idle_share=0.5)) is None
    one = finding()
    assert costs_of(model, predict_model(model), [(one, ModelChange(num_warps=8))]) == {}


def test_nothing_is_shared_where_no_addresses_are_known(kernel):
    """Blocks of workgroups make no difference to a kernel without TTGIR."""
    model = build(kernel([LOAD, WAIT]))
    model = replace(model, sharing=Sharing(1.0, 1.0, 0.0, 0.0, None, known=False))
    found = without(model, ModelChange(leave_out=("dies_in_turn",)))
    assert (found.sharing.loaded, found.sharing.stored) == (0, 0)
