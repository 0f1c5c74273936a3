"""Bytes by level of what workgroups load, against counting workgroup by workgroup, and against sums done by hand."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.model.machine import Channels
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.traffic import Access, Sharing, accesses, footprint, sharing, within_caches, within_l2
from tests.rules.literate import assembly, facts_of

CHANNELS = Channels(line=128, interleave=256, short=0.5, most=2.0)


class Operation:
    """As much of an operation as the traffic of given accesses looks at."""

    def __init__(self, name):
        self.name = name


LOAD, STORE, PLAIN_STORE = map(Operation, ("tt.load", "amdg.buffer_store", "tt.store"))


def load(corners, tile_bytes=1024, times=1.0, **more):
    return Access(LOAD, tile_bytes, corners, times, **more)


# What workgroups share.


def counted_on_dies(corners, live, xcds, together, *, in_blocks):
    """Mean over the dies of different tiles for each tile that its running workgroups load."""
    workgroups = [n for n in range(len(corners)) if live is None or live[n]] or [*range(len(corners))]
    dies = {}
    for n in workgroups:
        if n < together:
            dies.setdefault(n * xcds // together if in_blocks else n % xcds, []).append(corners[n])
    shares = [len(set(mine)) / len(mine) for mine in dies.values()] or [1.0]
    return sum(shares) / len(shares)


@given(
    corners=st.lists(st.integers(0, 6), min_size=8, max_size=40),
    live=st.none() | st.lists(st.booleans(), min_size=40, max_size=40),
    xcds=st.integers(1, 6),
    together=st.integers(1, 45),
    in_blocks=st.booleans(),
)
def test_each_die_fetches_a_tile_of_its_running_workgroups_once(corners, live, xcds, together, in_blocks):
    """Dealt out in turn or in blocks, with all workgroups at work or some of them."""
    together = min(together, len(corners))
    mine = None if live is None else tuple(live[: len(corners)])
    found = sharing([load(corners, live=mine)], xcds, together, CHANNELS, in_blocks=in_blocks)
    expected = counted_on_dies(corners, mine, xcds, together, in_blocks=in_blocks)
    assert found.beyond_l2 == pytest.approx(expected)
    assert found.beyond_mall <= 1


def counted_window(tiles, together, size):
    """Workgroups in a row that load no more different bytes than ``size``; ``tiles``: corners and bytes."""
    most = len(tiles[0][0])
    fitting = [n for n in range(most + 1) if sum(len(set(corners[:n])) * moved for corners, moved in tiles) <= size]
    return min(most, max(together, max(fitting, default=0)))


def counted_misses(corners, members, window):
    """Share of tiles that no workgroup of the window before has loaded."""
    if len(members) < 1.5 * window:
        first = [corners[n] for n in members if n < window] or [corners[n] for n in members]
        return len(set(first)) / len(first)
    settled = [n for n in members if n >= window]
    return sum(not any(corners[m] == corners[n] for m in members if n - window <= m < n) for n in settled) / len(
        settled
    )


@given(
    one=st.lists(st.integers(0, 9), min_size=12, max_size=60),
    period=st.integers(1, 12),
    live=st.none() | st.lists(st.booleans(), min_size=60, max_size=60),
    sizes=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    together=st.integers(1, 8),
    held=st.integers(0, 40),
)
def test_the_infinity_cache_holds_what_fits_of_all_loads_together(one, period, live, sizes, together, held):
    """Two loads of different tiles share it; a tile that all load takes its bytes once."""
    other = [n % period for n in range(len(one))]
    mine = None if live is None or not any(live[: len(one)]) else tuple(live[: len(one)])
    found = [load(one, sizes[0], live=mine), load(other, sizes[1], times=2.0), load(0, 3.0)]
    window = counted_window([(one, sizes[0]), (other, 2 * sizes[1])], together, held - 3)
    members = [n for n in range(len(one)) if mine is None or mine[n]]
    parts = [
        (sizes[0], counted_misses(one, members, window)),
        (2 * sizes[1], counted_misses(other, range(len(one)), window)),
        (3.0, 1 / window),
    ]
    expected = sum(part * missed for part, missed in parts) / sum(part for part, _ in parts)
    assert sharing(found, 1, together, CHANNELS, held).beyond_mall == pytest.approx(expected)


def test_a_tile_of_all_workgroups_takes_its_part_of_the_infinity_cache():
    """Of five bytes three are the common tile's; two workgroups fit in the rest, and share one load of it."""
    found = sharing([load([*range(10)], 1.0), load(0, 3.0)], 1, 1, CHANNELS, size=5.0)
    assert found.beyond_mall == (1 * 1 + 3 / 2) / 4


@pytest.mark.parametrize(("workgroups", "missed"), [(5, 2 / 4), (6, 1.0), (7, 1.0)])
def test_from_half_a_window_more_on_what_comes_later_counts(workgroups, missed):
    """Tiles 0 1 0 1 2 3 4: of the first four two differ, those after them are all new. Five are too few to tell."""
    found = sharing([load([0, 1, 0, 1, 2, 3, 4][:workgroups])], 1, 4, CHANNELS, size=0.0)
    assert found.beyond_mall == missed


def test_a_tile_of_all_workgroups_is_loaded_once_by_each_die_and_once_from_memory():
    """8 of 64 loads miss L2, 1 of 64 the Infinity Cache; no die loads more often than its workgroups ask."""
    found = sharing([load(5, 1000.0)], 8, 64, CHANNELS)
    assert (found.beyond_l2, found.beyond_mall) == (8 / 64, 1 / 64)
    assert sharing([load(5, 1000.0)], 8, 4, CHANNELS).beyond_l2 == 1
    # With no list of addresses the window is what runs together, however much the cache holds.
    assert sharing([load(5, 1000.0)], 8, 64, CHANNELS, size=1e6).beyond_mall == 1 / 64


def test_loads_count_by_their_bytes_and_stores_apart():
    """One tile of 300 bytes three times, all different; one of 100 bytes that all load; a store of 50 bytes twice."""
    apart, same = load([*range(10)], 300.0, 3.0), load(0, 100.0)
    stores = [Access(STORE, 50.0, [*range(10)], 2.0), Access(PLAIN_STORE, 3.0, None, 2.0)]
    found = sharing([apart, same, *stores, load(None, 7.0)], 1, 10, CHANNELS)
    assert (found.loaded, found.stored) == (300 * 3 + 100 + 7, 100 + 6)
    assert found.beyond_l2 == found.beyond_mall == pytest.approx((900 * 1 + 100 / 10) / 1000)
    assert (found.known, found.loads, found.footprint) == (False, (3, 1), None)
    both = sharing([apart, same], 1, 10, CHANNELS)
    assert (both.known, both.loads) == (True, (2, 0))


def test_loads_that_nobody_does_count_as_if_each_were_done_once():
    """Tiles of 300 bytes, all different, and one of 100 bytes for all ten workgroups."""
    found = sharing([load([*range(10)], 300.0, 0.0), load(0, 100.0, 0.0)], 1, 10, CHANNELS)
    assert found.loaded == 0
    assert found.beyond_l2 == pytest.approx((300 + 100 / 10) / 400)


def test_where_nothing_is_known_all_comes_from_memory():
    unknown = sharing([load(None, 10.0, 4.0), load(None)], 8, 64, CHANNELS)
    assert unknown == Sharing(1.0, 1.0, 40.0 + 1024, 0.0, None, known=False, loads=(2, 2))
    nothing = sharing([Access(STORE, 50.0, 0, 2.0)], 8, 64, CHANNELS)
    assert nothing == Sharing(1.0, 1.0, 0.0, 100.0, None, known=True, loads=(0, 0))
    # A mask that lets nothing through: no bytes to take the mean of.
    masked = sharing([load(0, 0.0), Access(STORE, 50.0, 0, 2.0)], 8, 64, CHANNELS)
    assert masked == Sharing(1.0, 1.0, 0.0, 100.0, None, known=False)


def test_what_is_not_told_of_a_launch_s_traffic_adds_nothing():
    """No extra work for short runs, no loads of unknown address, stores that all go to memory, no atomics that wait."""
    plain = Sharing(1.0, 1.0, 0.0, 0.0, None, known=True)
    assert (plain.effort, plain.effort_beyond, plain.loads, plain.on_xcd) == (1, 1, (0, 0), None)
    assert (plain.stored_beyond, plain.contended) == (1, 0)
    assert load(0).fresh == (1, 1)


def test_what_was_loaded_just_before_comes_from_the_caches():
    """A quarter of the tile is new to L2 and an eighth to any cache; 4 of 16 loads of a common tile miss each L2."""
    alone = sharing([load([*range(16)], fresh=(0.25, 0.125))], 4, 16, CHANNELS)
    assert (alone.beyond_l2, alone.beyond_mall) == (0.25, 0.125)
    common = sharing([load(0, fresh=(0.5, 0.25))], 4, 16, CHANNELS)
    assert (common.beyond_l2, common.beyond_mall) == (4 / 16 / 2, 1 / 16 / 4)


def test_short_runs_count_by_their_bytes_and_by_what_leaves_l2():
    """Runs of 32 bytes: four to a line, 1 + 0.5 * 3, no more than 2. Of 128: 1 from L2 and 1.5 from beyond.

    300 bytes of the first all miss L2; 100 of the second miss it once in ten. Beyond L2 a line is the least: 1.5.
    """
    short, whole = load([*range(10)], 300.0, run=32), load(0, 100.0, run=128)
    found = sharing([short, whole], 1, 10, CHANNELS)
    assert found.effort == pytest.approx((300 * 2 + 100 * (0.9 * 1 + 0.1 * 1.5)) / 400)
    assert found.effort_beyond == pytest.approx(1.5)
    mixed = sharing([load([*range(10)], 300.0, run=256), whole], 1, 10, CHANNELS)
    assert mixed.effort_beyond == pytest.approx((300 * 1 + 10 * 1.5) / 310)


def test_where_nothing_leaves_l2_runs_make_no_work_beyond_it():
    assert sharing([load(0, fresh=(0.0, 0.0), run=32)], 1, 10, CHANNELS).effort_beyond == 1


# Different bytes of a launch.


@pytest.mark.parametrize(("different", "counted"), [(8, 8), (9, 9), (19, 19 * 5), (20, 20 * 5)])
def test_where_nearly_all_tiles_differ_the_others_do_too(different, counted):
    """20 of 100 workgroups were looked at (10 of 50); more than nine of ten different: those of all 100 are."""
    looked_at = 10 if different < 10 else 20
    corners = [min(n, different - 1) for n in range(looked_at)]
    assert footprint([load(corners, 8.0, 3.0)], looked_at, 5 * looked_at) == counted * 8 * 3


def test_workgroups_that_leave_early_do_not_count_among_those_that_differ():
    """Of 20 workgroups that were looked at, of 100, 12 come to the load, each with a tile of its own."""
    comes = tuple(n < 12 for n in range(20))
    assert footprint([load([*range(12), *[0] * 8], 8.0, 3.0, live=comes)], 20, 100) == 12 * 5 * 8 * 3


def test_the_footprint_is_of_loads_alone_and_no_more_than_they_span():
    """One tile for all, twice, of which half is in a cache already; 10 tiles within 50 bytes; stores do not load."""
    found = [
        load(7, 16.0, 2.0, fresh=(1.0, 0.5)),
        load([*range(10)], 16.0, span=50.0),
        Access(STORE, 1000.0, None, 1.0),
        load([*range(10)], 4.0, span=5000.0),
    ]
    assert footprint(found, 10, 10) == 16 + 50 + 40


@pytest.mark.parametrize(("unknown", "found"), [(4.0, 96.0), (5.0, 95.0), (6.0, None)])
def test_one_byte_of_twenty_may_be_of_unknown_address(unknown, found):
    """Bytes of 100, and whether the others' footprint is given: one tile for all workgroups."""
    assert footprint([load(0, 100 - unknown), load(None, unknown / 2, 2.0)], 10, 10) == found


def test_the_footprint_of_no_loads_is_nothing():
    assert footprint([], 10, 10) == 0


# Launches whose data fits.

SHARED = Sharing(0.75, 0.5, 100.0, 10.0, None, known=True)


@pytest.mark.parametrize(
    ("different", "near", "far"),
    [
        (40, 40 * 4 / 800, 40 / 800),  # each of four dies loads it once
        (41, 0.75, 41 / 800),  # more than an L2
        (200, 0.75, 200 / 800),
        (201, 0.75, 0.5),  # more than the Infinity Cache, too
    ],
)
def test_what_fits_a_cache_is_loaded_into_it_once(different, near, far):
    """Eight workgroups that load 100 bytes each; an L2 of 40 bytes, an Infinity Cache of 200."""
    found = within_caches(SHARED, different, 8, (40.0, 200.0), 4)
    assert found == replace(SHARED, beyond_l2=near, beyond_mall=far, footprint=different)


def test_what_fits_no_cache_or_is_not_known_is_as_it_was():
    assert within_caches(SHARED, None, 8, (40.0, 200.0), 4) == SHARED
    assert within_caches(replace(SHARED, loaded=0.0), 40, 8, (40.0, 200.0), 4) == replace(SHARED, loaded=0.0)
    few = within_caches(replace(SHARED, beyond_l2=0.01), 40, 8, (40.0, 200.0), 4)
    assert (few.beyond_l2, few.beyond_mall) == (0.01, 0.01)


@pytest.mark.parametrize(
    ("different", "near"),
    [
        (20, 20 * 4 / 800),  # all of it fits: the first use of each die alone
        (80, 1 - (1 - 80 * 4 / 800) * 40 / 80),  # half of what is loaded again is still there
        (400, 0.75),  # 400 bytes on each of four dies are all that is loaded
    ],
)
def test_what_a_die_loads_again_is_there_by_the_size_of_its_l2(different, near):
    """Eight workgroups that load 100 bytes each, on four dies with an L2 of 40 bytes."""
    found = within_l2(SHARED, different, 8, 40.0, 4)
    assert (found.beyond_l2, found.beyond_mall) == pytest.approx((near, min(0.5, near)))
    assert found.on_xcd == different
    assert within_l2(SHARED, None, 8, 40.0, 4) == within_l2(SHARED, 0.0, 8, 40.0, 4) == SHARED
    assert within_l2(replace(SHARED, loaded=0.0), different, 8, 40.0, 4) == replace(SHARED, loaded=0.0)


# Accesses of a program.

HEAD = """\
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
#w = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
#r = #ttg.slice<{dim = 1, parent = #w}>
#c = #ttg.slice<{dim = 0, parent = #w}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%x: !tt.ptr<f16>, %indices: !tt.ptr<i32>, %n: i32, %pitch: i32, %turns: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %each = arith.constant 1000 : i32
    %deep = arith.constant 50 : i32
    %p = tt.get_program_id x : i32
    %first = arith.muli %p, %each : i32
    %fs = tt.splat %first : i32 -> tensor<64xi32, #b>
    %lane = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b>
    %at = arith.addi %fs, %lane : tensor<64xi32, #b>
    %some = arith.cmpi slt, %p, %c3 : i32
    %longer = arith.subi %p, %c3 : i32
"""
END = "\n    tt.return\n  }\n}\n"
FLAT = "amdg.buffer_load %x[%{}] : !tt.ptr<f16> -> tensor<64xf16, #b>"
PROGRAMS = 8
STARTS = [1000 * p for p in range(PROGRAMS)]


def found_in(body, times=None, *, arguments=None, **more):
    """Accesses of a program by workgroups 0 to 7, and the module's loops."""
    module = mlir.parse(HEAD + body + END)
    evaluator = Evaluator(module, arguments or {}, [(p, 0, 0) for p in range(PROGRAMS)], (PROGRAMS, 1, 1))
    facts = replace(facts_of(assembly("    s_nop 0")), ttgir=module, grid=(PROGRAMS, 1, 1), arguments=arguments or {})
    loops = [op for op in module.operations if op.is_loop]
    for loop in loops:
        evaluator.enter(loop, first=True)
    named = {None: 1.0} | dict(zip([loop.index for loop in loops], times or (), strict=False))
    if "come_to" in more:
        (branch,) = [op for op in module.operations if "buffer_load" in op.name]
        more["come_to"] = {branch.index: more["come_to"]}
    return accesses(facts, evaluator, named, **more)


def test_loads_and_stores_outside_loops_are_done_once():
    """64 elements of two bytes, side by side; a scalar is no tile, arithmetic no access."""
    body = f"""
    %v = {FLAT.format("at")}
    %s = tt.load %indices : !tt.ptr<i32>
    amdg.buffer_store %v, %x[%at] : tensor<64xf16, #b>"""
    found = found_in(body)
    assert [access.operation.name for access in found] == ["amdg.buffer_load", "amdg.buffer_store"]
    for access in found:
        assert (access.tile_bytes, access.times, access.run, access.live) == (128, 1.0, 128, None)
        assert (access.span, access.fresh) == (None, (1.0, 1.0))
        assert [corner - access.corners[0] for corner in access.corners] == STARTS


LOOP = f"""
    scf.for %i = %c0 to %turns step %c1  : i32 {{{{
      %on = arith.muli %i, %deep : i32
      %os = tt.splat %on : i32 -> tensor<64xi32, #b>
      %la = arith.addi %at, %os : tensor<64xi32, #b>
      {{}}
      %v = {FLAT.format("la")}
    }}}}"""


@pytest.mark.parametrize("turns", [1, 2, 9, 40])
def test_a_loop_s_loads_span_what_all_its_iterations_touch(turns):
    (found,) = found_in(LOOP.format(""), [turns], arguments={"turns": turns})
    touched = [start + 50 * i + lane for start in STARTS for i in range(turns) for lane in range(64)]
    assert (found.times, found.tile_bytes) == (turns, 128)
    assert found.span == 2 * (max(touched) + 1 - min(touched))
    (without,) = found_in(LOOP.format(""), [turns], arguments={"turns": turns}, spans=False)
    assert without.span is None
    (rare,) = found_in(LOOP.format(""), [turns], arguments={"turns": turns}, come_to=0.25)
    assert rare.times == turns / 4


def test_a_loop_of_unknown_length_spans_nothing_known():
    (found,) = found_in(LOOP.format(""), [6.0])
    assert (found.times, found.span) == (6.0, None)


def test_iterations_of_a_loop_around_may_be_elsewhere():
    """Four times what one entry of the inner loop spans: 7 * 1000 + 2 * 50 + 64 elements of two bytes."""
    nested = f"    scf.for %j = %c0 to %c3 step %c1  : i32 {{{LOOP.format('')}\n    }}"
    (found,) = found_in(nested, [4.0, 12.0], arguments={"turns": 3})
    assert found.times == 12
    assert found.span == 4 * 2 * (7000 + 2 * 50 + 64)
    (seldom,) = found_in(nested, [0.5, 1.5], arguments={"turns": 3})
    assert seldom.span == 2 * (7000 + 2 * 50 + 64)


def test_loops_that_nobody_has_counted_count_once():
    nested = f"    scf.for %j = %c0 to %c3 step %c1  : i32 {{{LOOP.format('')}\n    }}"
    (found,) = found_in(nested, arguments={"turns": 3})
    assert (found.times, found.span) == (1.0, 2 * (7000 + 2 * 50 + 64))


def test_workgroups_that_take_the_other_branch_load_nothing():
    """Three of eight come to the load, so that it is done three eighths of a time; a loop's times are means already."""
    (found,) = found_in(f"    scf.if %some {{\n      %v = {FLAT.format('at')}\n    }}")
    assert found.live == tuple(p < 3 for p in range(PROGRAMS))
    assert found.times == 3 / 8
    (looped,) = found_in(f"    scf.if %some {{{LOOP.format('')}\n    }}", [2.0], arguments={"turns": 5})
    assert (looped.live, looped.times) == (found.live, 2.0)


def test_workgroups_whose_loop_has_no_iterations_load_nothing():
    """Workgroup p goes through p - 3 iterations, none of them where that is negative; also around another loop."""
    loop = LOOP.format("").replace("%turns", "%longer")
    (found,) = found_in(loop, [1.25])
    assert found.live == tuple(p > 3 for p in range(PROGRAMS))
    assert found.times == 1.25
    nested = f"    scf.for %j = %c0 to %longer step %c1  : i32 {{{LOOP.format('')}\n    }}"
    (inner,) = found_in(nested, [1.25, 2.5], arguments={"turns": 2})
    assert inner.live == found.live
    (both,) = found_in(f"    scf.if %some {{{loop}\n    }}", [1.0])
    # Workgroups 0 to 2 come to the loop and have no iterations: nobody loads, which is told as if all did.
    assert both.live is None


def tile_of(rows, columns, scale="", kind="f16"):
    """A tile of 4 x 32 elements: rows ``pitch`` apart, columns as given."""
    return f"""
    %rr = tt.make_range {{end = 4 : i32, start = 0 : i32}} : tensor<4xi32, #r>
    %re = tt.expand_dims %rr {{axis = 1 : i32}} : tensor<4xi32, #r> -> tensor<4x1xi32, #w>
    %rp = tt.splat {rows} : i32 -> tensor<4x1xi32, #w>
    %rm = arith.muli %re, %rp : tensor<4x1xi32, #w>
    %rb = tt.broadcast %rm : tensor<4x1xi32, #w> -> tensor<4x32xi32, #w>
    %cc = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32, #c>
    %ce = tt.expand_dims %cc {{axis = 0 : i32}} : tensor<32xi32, #c> -> tensor<1x32xi32, #w>
    %cp = tt.splat {columns} : i32 -> tensor<1x32xi32, #w>
    %cm = arith.muli %ce, %cp : tensor<1x32xi32, #w>
    %cb = tt.broadcast %cm : tensor<1x32xi32, #w> -> tensor<4x32xi32, #w>
    %two = arith.addi %rb, %cb : tensor<4x32xi32, #w>
    scf.for %i = %c0 to %turns step %c1  : i32 {{
      %v = amdg.buffer_load %x[%two] : !tt.ptr<{kind}> -> tensor<4x32x{kind}, #w>
    }}"""


@pytest.mark.parametrize(
    ("rows", "columns", "kind", "run"),
    [
        ("%pitch", "%c1", "f16", 64),  # 32 elements of two bytes in a row
        ("%pitch", "%c1", "f32", 128),
        ("%c1", "%pitch", "f16", 8),  # four elements in a column
        ("%pitch", "%each", "f16", 2),  # no two elements side by side
        ("%n", "%c1", "f16", 64),  # the rows' distance is not known
        ("%c1", "%c1", "f16", 64),  # both: the longer one
    ],
)
def test_the_run_is_as_long_as_the_axis_whose_elements_lie_side_by_side(rows, columns, kind, run):
    (found,) = found_in(tile_of(rows, columns, kind=kind), [3.0], arguments={"pitch": 300, "turns": 3})
    assert found.run == run
    size = 2 if kind == "f16" else 4
    assert found.tile_bytes == 4 * 32 * size
    step = {"%pitch": 300, "%c1": 1, "%each": 1000, "%n": None}
    if rows == "%n":
        assert found.span is None
    else:
        touched = [r * step[rows] + c * step[columns] for r in range(4) for c in range(32)]
        assert found.span == size * (max(touched) + 1)


def test_a_negative_step_reaches_as_far():
    (found,) = found_in(tile_of("%pitch", "%c1"), [3.0], arguments={"pitch": -300, "turns": 3})
    assert found.span == 2 * (3 * 300 + 32)


def test_indices_from_memory_say_nothing_of_runs_or_spans():
    body = """
    scf.for %i = %c0 to %turns step %c1  : i32 {
      %index = amdg.buffer_load %indices[%at] : !tt.ptr<i32> -> tensor<64xi32, #b>
      %v = amdg.buffer_load %x[%index] : !tt.ptr<f16> -> tensor<64xf16, #b>
    }"""
    index, found = found_in(body, [3.0], arguments={"turns": 3})
    assert (index.run, index.tile_bytes) == (256, 256)
    assert (found.run, found.span, found.tile_bytes) == (None, None, 128)


def test_lanes_that_a_mask_turns_off_move_nothing():
    """Of 64 lanes those below 16."""
    body = """
    %ns = tt.splat %n : i32 -> tensor<64xi32, #b>
    %m = arith.cmpi slt, %lane, %ns : tensor<64xi32, #b>
    %v = amdg.buffer_load %x[%at], %m : !tt.ptr<f16> -> tensor<64xf16, #b>"""
    (found,) = found_in(body, arguments={"n": 16})
    assert found.tile_bytes == 16 * 2


def test_a_load_shifted_by_a_quarter_finds_the_rest_as_far_as_caches_hold_it():
    """16 of 64 elements are new. A cache that holds half of the tile's 128 bytes has half of the other 48."""
    body = f"""
    %q = arith.constant dense<16> : tensor<64xi32, #b>
    %shifted = arith.addi %at, %q : tensor<64xi32, #b>
    %v = {FLAT.format("at")}
    %u = {FLAT.format("shifted")}"""
    first, second = found_in(body, held=(64.0, 1000.0))
    assert first.fresh == (1.0, 1.0)
    assert second.fresh == pytest.approx((1 - 0.75 / 2, 0.25))
    assert found_in(body)[1].fresh == (1.0, 1.0)
    assert found_in(body, held=(0.0, 128.0))[1].fresh == pytest.approx((1.0, 0.25))


def test_a_shifted_load_of_which_the_mask_leaves_nothing_has_nothing_to_find():
    body = """
    %ns = tt.splat %n : i32 -> tensor<64xi32, #b>
    %m = arith.cmpi slt, %lane, %ns : tensor<64xi32, #b>
    %v = amdg.buffer_load %x[%at], %m : !tt.ptr<f16> -> tensor<64xf16, #b>
    %u = amdg.buffer_load %x[%at], %m : !tt.ptr<f16> -> tensor<64xf16, #b>"""
    found = found_in(body, arguments={"n": 0}, held=(64.0, 64.0))
    assert [(access.tile_bytes, access.fresh) for access in found] == [(0.0, (1.0, 1.0))] * 2
