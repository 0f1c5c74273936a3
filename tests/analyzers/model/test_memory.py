"""Paths of loads, stores and scratch, against sums done by hand and cases that are gone through one by one."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import pytest

from kprof.document import Resources
from kprof.hardware.machine import load
from kprof.inputs import amdgcn
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.launch import Spread
from kprof_analyzers.model.machine import machine_of
from kprof_analyzers.model.memory import _latency, memory_paths, respilled_share, spilled_bytes
from kprof_analyzers.model.traffic import Sharing
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


def test_registers_that_hold_the_address_tell_places_apart():
    """A store names its data second, a buffer store first; what is loaded again there is the same place."""
    stored, elsewhere = "scratch_store_dword v9, v1, s3 offset:4", "scratch_load_dword v8, v10, s3 offset:4"
    again, other = "scratch_load_dword v8, v9, s3 offset:4", "scratch_load_dword v8, v9, s4 offset:4"
    assert spilled_bytes(program(stored, again)) == 4
    assert spilled_bytes(program(stored, elsewhere, other)) == 12
    assert respilled_share(program(stored, again, elsewhere, other)) == 1 / 3
    assert spilled_bytes(program(again, again.replace("offset:4", "offset:8"))) == 8


BUFFERS = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
\t.text
\t.globl\tk
\t.type\tk,@function
k:
\ts_add_u32 s0, s0, s19
\tbuffer_store_dword v1, v9, s[0:3], 0 offen offset:4
\tbuffer_load_dword v8, v9, s[0:3], 0 offen offset:4
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_private_segment_fixed_size 16
\t\t.amdhsa_next_free_vgpr 16
\t\t.amdhsa_next_free_sgpr 32
\t.end_amdhsa_kernel
"""


def test_scratch_behind_a_buffer_is_written_and_read_at_one_place():
    """As on GPUs before gfx940, whose kernels add their wavefront's offset to a descriptor in s[0:3]."""
    (found,) = amdgcn.parse(BUFFERS).kernels
    assert spilled_bytes(found) == 4
    assert respilled_share(found) == 1.0


def test_an_access_of_unknown_width_counts_as_one_register():
    assert spilled_bytes(program("scratch_load_block v[0:31], off, off")) == 4


# Ten CUs of two dies; bytes a cycle and cycles in round numbers.

GFX942 = load("gfx942")
SIZES = {"l1": 8192.0, "l2": 40960.0, "mall": None}


def hardware(*, sizes=SIZES, without=(), **changes):
    """A GPU whose vector cache gives up to 32 of its 64 bytes a cycle, L2 16, the Infinity Cache 8 and memory 4."""
    product = GFX942.products["MI300X"]
    memory = {
        name: replace(level, size_bytes=sizes.get(name))
        for name, level in product.memory.items()
        if name not in without
    }
    made = machine_of(GFX942, replace(product, memory=memory), 64)
    given = {
        "units": 10,
        "xcds": 2,
        "vector_bytes": 16.0,
        "l1_bytes": 64.0,
        "level_bytes": {level: width for level, width in (("mall", 8.0), ("hbm", 4.0)) if level not in without},
        "latency": {level: cycles for level, cycles in ({"l1": 100.0} | LATENCIES).items() if level not in without},
        "loaded": 1.5,
        "streaming": 0.5,
        "figures": {**made.figures, "l1_sustained": 0.5},
    }
    return replace(made, **given | changes)


FULL = Spread(20, (20, 1, 1), 2, 1.0, 0, 10, known=True)
PLAIN = facts_of(assembly("    s_nop 0"))


def shared(near, far, **more):
    return Sharing(near, far, 100.0, 0.0, None, known=True, **more)


def paths(
    near=0.1, far=0.05, machine_=None, where=FULL, effects=None, facts=PLAIN, last=False, near_only=False, **more
):
    return memory_paths(
        facts,
        machine_ or hardware(),
        effects or Effects(),
        where,
        shared(near, far, **more),
        last=last,
        near_only=near_only,
    )


@pytest.mark.parametrize(
    ("near", "far", "cycles"),
    [
        (0.1, 0.05, 1 / 16),  # L2 itself: 0.1 / 8 and 0.05 / 4 are less
        (0.8, 0.2, 0.8 / 8),  # the Infinity Cache
        (0.9, 0.8, 0.8 / 4),  # memory
    ],
)
def test_a_load_takes_what_the_narrowest_level_takes(near, far, cycles):
    load_, store, _, *_ = paths(near, far)
    assert load_.cycles_per_byte == pytest.approx(cycles)
    assert store.cycles_per_byte == 1 / 16
    assert paths(near, far, near_only=True)[0].cycles_per_byte == 1 / 16
    # What every load asks for comes from memory where tiles are not shared, by way of the Infinity Cache.
    alone = Effects(l2_traffic=False)
    assert paths(near, far, effects=alone)[0].cycles_per_byte == 1 / 4
    assert paths(near, far, hardware(without=("hbm",)), effects=alone)[0].cycles_per_byte == 1 / 8


def test_levels_that_a_gpu_lacks_are_not_on_the_way():
    """Without an Infinity Cache all that misses L2 comes from memory; of a GPU of unknown memory that is left out."""
    assert paths(0.9, 0.3, hardware(without=("mall",)))[0].cycles_per_byte == pytest.approx(0.9 / 4)
    assert paths(0.9, 0.8, hardware(without=("hbm",)))[0].cycles_per_byte == pytest.approx(0.9 / 8)
    assert paths(0.9, 0.8, hardware(without=("mall", "hbm")))[0].cycles_per_byte == 1 / 16


@pytest.mark.parametrize(
    ("total", "last", "spare"),
    [
        (20, False, 1.0),
        (10, False, 2.0),  # half of the places are empty: each workgroup has twice its share
        (25, True, 10 * 1 / 5),  # five workgroups are left, one a CU
        (21, True, 10 * 1 / 1),
    ],
)
def test_what_empty_places_leave_is_shared_by_the_others(total, last, spare):
    """Up to what the vector cache sustains: 32 bytes a cycle."""
    where = Spread(total, (total, 1, 1), 2, 1.0, int(last), 10, known=True)
    load_, store, *_ = paths(0.8, 0.2, where=where, last=last)
    assert load_.cycles_per_byte == pytest.approx(max(1 / min(16 * spare, 32), 0.8 / (8 * spare)))
    assert store.cycles_per_byte == 1 / min(16 * spare, 32)
    (from_memory, *_) = paths(0.9, 0.8, where=where, last=last)
    assert from_memory.cycles_per_byte == pytest.approx(max(1 / min(16 * spare, 32), 0.8 / (4 * spare)))


def test_full_rounds_and_all_levels_count_unless_asked_otherwise():
    where = Spread(21, (21, 1, 1), 2, 1.0, 1, 10, known=True)
    found = memory_paths(PLAIN, hardware(), Effects(), where, shared(0.9, 0.8))
    assert found[0].cycles_per_byte == pytest.approx(0.8 / 4)


def test_more_workgroups_than_places_take_no_less():
    """A round counts at least as many cycles for a byte as all places together need."""
    where = Spread(40, (40, 1, 1), 2, 1.0, 0, 10, known=True)
    assert paths(where=where)[0].cycles_per_byte == 1 / 16


def test_short_runs_take_longer_before_l2_and_behind_it():
    """1.5 times on the way from L2; twice behind it."""
    short = {"effort": 1.5, "effort_beyond": 2.0}
    assert paths(**short)[0].cycles_per_byte == pytest.approx(1.5 / 16)
    assert paths(0.8, 0.2, **short)[0].cycles_per_byte == pytest.approx(2 * 0.8 / 8)
    assert paths(0.9, 0.8, **short)[0].cycles_per_byte == pytest.approx(2 * 0.8 / 4)
    long = Effects(short_runs=False)
    assert paths(effects=long, **short)[0].cycles_per_byte == 1 / 16
    assert paths(0.9, 0.8, effects=long, **short)[0].cycles_per_byte == pytest.approx(0.8 / 4)


@pytest.mark.parametrize(("near", "far", "cycles"), [(0.1, 0.05, 1 / 8), (0.9, 0.8, 0.2)])
def test_streaming_loads_reach_half_of_it_and_no_more_than_the_others_beyond_l2(near, far, cycles):
    load_, *_, streamed = paths(near, far)
    assert streamed.cycles_per_byte == pytest.approx(cycles)
    assert streamed.latency == load_.latency


@pytest.mark.parametrize(("active", "loaded"), [(10, 1.5), (5, 1.25)])
def test_loads_wait_for_the_later_of_two_and_stores_for_l2(active, loaded):
    where = replace(FULL, active=active)
    load_, store, _, *followed, streamed = paths(0.5, 0.25, where=where)
    assert load_.latency == streamed.latency == pytest.approx(loaded * expected(0.5, 0.25, LATENCIES))
    assert store.latency == 200
    # From none of eight lines missed to four: between L2 and all the way.
    near, far = loaded * 200, load_.latency
    assert [path.latency for path in followed] == pytest.approx([near + (far - near) * n / 8 for n in range(5)])


def test_loads_that_go_on_in_a_line_take_what_misses_takes_and_l2_for_the_rest():
    load_, _, _, *followed, _ = paths(0.9, 0.8)
    cycles = [path.cycles_per_byte for path in followed]
    assert cycles == pytest.approx([1 / 16 + (load_.cycles_per_byte - 1 / 16) * n / 8 for n in range(5)])


def test_a_gpu_of_unknown_size_is_taken_as_one_unit_that_works():
    where = Spread(2, (2, 1, 1), 2, 1.0, 0, 1, known=True)
    load_ = paths(0.5, 0.25, hardware(units=None), where=where)[0]
    assert load_.cycles_per_byte == 1 / 16
    assert load_.latency == pytest.approx(1.5 * expected(0.5, 0.25, LATENCIES))


def test_effects_that_are_left_out_take_nothing():
    without_latency = paths(0.9, 0.8, effects=Effects(memory_latency=False))
    assert [path.latency for path in (*without_latency[:2], *without_latency[3:])] == [0] * 8
    assert without_latency[0].cycles_per_byte == pytest.approx(0.2)
    without_bytes = paths(0.9, 0.8, effects=Effects(vector_memory=False))
    assert [path.cycles_per_byte for path in (*without_bytes[:2], *without_bytes[3:])] == [0] * 8
    assert without_bytes[0].latency == paths(0.9, 0.8)[0].latency


# Sixteen bytes a lane, 64 lanes, four wavefronts, two workgroups: 8,192 bytes of a CU, 40,960 of a die's five.
SPILLING = facts_of(assembly("    scratch_store_dwordx4 off, v[4:7], off"))


def scratch(machine_, facts=SPILLING, where=FULL):
    path = paths(machine_=machine_, facts=facts, where=where)[2]
    return path.cycles_per_byte, path.latency


def test_few_spills_stay_in_the_vector_cache_but_for_those_written_just_before():
    """The vector cache keeps no line for a store: what is reloaded comes from L2, half of it where half was written."""
    assert scratch(hardware()) == (1 / 64, 100)
    assert scratch(hardware(), PLAIN) == (1 / 64, 100)
    written = ["scratch_store_dwordx2 off, v[4:5], off", "scratch_load_dwordx2 v[4:5], off, off"]
    half = [*written, "scratch_load_dwordx2 v[6:7], off, off offset:8"]
    from_l2 = 1 / 16, 1.5 * 200
    assert scratch(hardware(), facts_of(assembly("\n".join(written)))) == pytest.approx(from_l2)
    mean = (1 / 64 + from_l2[0]) / 2, (100 + from_l2[1]) / 2
    assert scratch(hardware(), facts_of(assembly("\n".join(half)))) == pytest.approx(mean)
    few = replace(FULL, active=5)
    assert scratch(hardware(), facts_of(assembly("\n".join(written))), few)[1] == pytest.approx(1.25 * 200)


def test_more_spills_lie_in_l2():
    """A byte too many for the vector cache, or one of unknown size; L2 holds just what a die's five CUs have."""
    assert scratch(hardware(sizes=SIZES | {"l1": 8191.0})) == (1 / 16, 200)
    assert scratch(hardware(sizes=SIZES | {"l1": 8191.0, "l2": None})) == (1 / 16, 200)
    assert scratch(hardware(sizes=SIZES | {"l1": 8191.0, "l2": 50000.0, "mall": 1.0})) == (1 / 16, 200)
    # Of a vector cache of unknown size, or of none, nothing is known to fit.
    assert scratch(hardware(sizes=SIZES | {"l1": None})) == (1 / 16, 200)
    assert scratch(hardware(without=("l1",))) == (1 / 16, 200)


@pytest.mark.parametrize(
    ("changes", "mall", "narrowest", "latency"),
    [
        # Half of it misses L2, all of that the Infinity Cache, of whose size nothing is known.
        ({}, None, 0.5 / 4, (0.5, 0.5)),
        # 40,960 of the 81,920 bytes of ten CUs: half of what misses.
        ({}, 40960.0, 1 / 16, (0.5, 0.25)),
        ({"vector_bytes": 32.0}, 40960.0, 0.5 / 8, (0.5, 0.25)),
        ({"vector_bytes": 32.0, "level_bytes": {"mall": 8.0}}, None, 0.5 / 8, (0.5, 0.5)),
        ({"vector_bytes": 32.0, "level_bytes": {"hbm": 4.0}}, 8192.0, 0.5 * 0.9 / 4, (0.5, 0.45)),
        ({"vector_bytes": 32.0, "level_bytes": {}}, 90000.0, 1 / 32, (0.5, 0.0)),
    ],
)
def test_what_l2_does_not_hold_of_spills_comes_from_beyond(changes, mall, narrowest, latency):
    found = scratch(hardware(sizes={"l1": 8191.0, "l2": 20480.0, "mall": mall}, **changes))
    assert found == pytest.approx((narrowest, 1.5 * expected(*latency, LATENCIES)))


def test_spills_of_a_gpu_of_unknown_size_and_of_a_workgroup_of_unknown_size():
    """One CU has an L2 to itself; a workgroup is taken to have a wavefront for each of four SIMDs."""
    sizes = {"l1": 8191.0, "l2": 8192.0, "mall": 8192.0}
    alone = replace(FULL, total=2, active=1)
    assert scratch(hardware(sizes=sizes, units=None), where=alone) == (1 / 16, 200)
    assert scratch(hardware(sizes=sizes, units=None, xcds=1), where=alone) == (1 / 16, 200)
    small = {"l1": 8191.0, "l2": 4096.0, "mall": 4096.0}
    found = scratch(hardware(sizes=small, units=None), where=alone)
    assert found == pytest.approx((1 / 16, 1.5 * expected(0.5, 0.25, LATENCIES)))
    unknown = replace(SPILLING, resources=Resources(lds_bytes=0))
    assert scratch(hardware(sizes=sizes | {"l1": 8192.0}), unknown) == (1 / 64, 100)
    assert scratch(hardware(sizes=SIZES | {"l1": 8191.0}), unknown) == (1 / 16, 200)
    one = replace(SPILLING, resources=Resources(lds_bytes=0, num_warps=1))
    assert scratch(hardware(sizes=SIZES | {"l1": 2048.0}), one) == (1 / 64, 100)


def test_without_a_product_the_architecture_s_caches_count():
    """A vector cache of 32 KiB on every CDNA3."""
    assert scratch(replace(hardware(), product=None)) == (1 / 64, 100)
    many = facts_of(assembly("\n".join(f"scratch_store_dwordx4 off, v[4:7], off offset:{16 * n}" for n in range(5))))
    assert scratch(replace(hardware(), product=None), many) == (1 / 16, 200)
