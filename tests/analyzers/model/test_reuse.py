"""What an XCD loads in all, against sets of the addresses that its workgroups touch, and what its L2 makes of that."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.condition import WARM
from kprof.inputs import mlir
from kprof_analyzers.model.caches_before import found as found_before
from kprof_analyzers.model.entries import ends
from kprof_analyzers.model.reuse import of_one_xcd
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.traffic import Access, Sharing, within_l2

BYTES = 2
TILE = 16
MODULE = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %n: i32, %steps: i32, %pitch: i32, %apart: i32, %unknown: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %pid = tt.get_program_id x : i32
    %size = tt.get_num_programs x : i32
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #b>
    %rs = tt.splat %apart : i32 -> tensor<16xi32, #b>
    %ra = arith.muli %r, %rs : tensor<16xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>, #b>
    %ys = tt.splat %y : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>, #b>
BODY
    tt.return
  }
}
"""


def load(array, offset, name="v"):
    """Text that loads a tile from an offset on."""
    return f"""
    %s{name} = tt.splat {offset} : i32 -> tensor<16xi32, #b>
    %o{name} = arith.addi %s{name}, %ra : tensor<16xi32, #b>
    %a{name} = tt.addptr %{array}s, %o{name} : tensor<16x!tt.ptr<f16>, #b>, tensor<16xi32, #b>
    %{name} = tt.load %a{name} : tensor<16x!tt.ptr<f16>, #b>
"""


# Rows of x are the workgroup's quotient by %n, of y the rest; both go on along K, as a matrix product does.
PRODUCT = f"""
    %row = arith.divsi %pid, %n : i32
    %column = arith.remsi %pid, %n : i32
    %rx = arith.muli %row, %pitch : i32
    %ry = arith.muli %column, %pitch : i32
    scf.for %k = %c0 to %steps step %c1 : i32 {{
    %kk = arith.muli %k, %c16 : i32
    %ox = arith.addi %rx, %kk : i32
    {load("x", "%ox", "one")}
    %oy = arith.addi %ry, %kk : i32
    {load("y", "%oy", "two")}
    }}
"""
# Every workgroup has each %size-th tile; the loop over K begins at the tile's first step.
PERSISTENT = f"""
    scf.for %t = %pid to %n step %size : i32 {{
    %from = arith.muli %t, %steps : i32
    %to = arith.addi %from, %steps : i32
    scf.for %k = %from to %to step %c1 : i32 {{
    %ox = arith.muli %k, %c16 : i32
    {load("x", "%ox")}
    }}
    }}
"""
# The same with the tile carried from one iteration to the next.
CARRIED = PERSISTENT.replace("step %size : i32 {", "step %size iter_args(%tile = %pid) -> (i32) : i32 {", 1).replace(
    "arith.muli %t,", "arith.muli %tile,"
)
CARRIED = CARRIED.rstrip().removesuffix("}") + "  %ahead = arith.addi %tile, %size : i32\n scf.yield %ahead : i32\n }\n"
# What is added to each tile's product lies in the outer loop itself.
BIAS = (
    PERSISTENT.rstrip().removesuffix("}")
    + f"""
    %ob = arith.muli %t, %c16 : i32
    {load("y", "%ob", "bias")}
    }}
"""
)
STREAM_K = f"""
    %begin = arith.muli %pid, %n : i32
    %end = arith.addi %begin, %n : i32
    %last = scf.while (%at = %begin) : (i32) -> i32 {{
      %more = arith.cmpi slt, %at, %end : i32
      scf.condition(%more) %at : i32
    }} do {{
    ^bb0(%at: i32):
    %tile = arith.divsi %at, %steps : i32
    %next = arith.addi %tile, %c1 : i32
    %bound = arith.muli %next, %steps : i32
    %stop = arith.minsi %bound, %end : i32
    scf.for %k = %at to %stop step %c1 : i32 {{
    %ox = arith.muli %k, %c16 : i32
    {load("x", "%ox")}
    }}
    scf.yield %stop : i32
    }}
"""


def on_xcd(body, workgroups, xcds, live=None, *, idle=(), known=True, **arguments):
    """Bytes of the XCD that loads most, as the model has them; of ``idle`` loads by number no body is ever done."""
    module = mlir.parse(MODULE.replace("BODY", body))
    evaluator = Evaluator(module, arguments, [(p, 0, 0) for p in range(workgroups)], (workgroups, 1, 1))
    times = {None: 1.0}
    loops = [op for op in module.operations if op.is_loop]
    outer = {loop.loop for loop in loops}
    for loop in loops:
        count = evaluator.trips(loop)
        count = [count] if isinstance(count, int) else count or [1]
        times[loop.index] = times[loop.loop] * sum(count) / len(count)
        evaluator.enter(loop, first=loop.index not in outer)
    accesses = [op for op in module.operations if op.name in {"tt.load", "tt.store"}]
    found = [
        Access(op, TILE * BYTES, None, 0.0 if number in idle else times[op.loop], live)
        for number, op in enumerate(accesses)
    ]
    return of_one_xcd(found, evaluator, arguments, times if known else {}, xcds)


def touched(tiles, workgroups, xcds, apart=1):
    """The same, counted: ``tiles(workgroup)`` are arrays and offsets at which a workgroup's tiles begin."""
    sets = [
        {(array, at + n * apart) for p in range(first, workgroups, xcds) for array, at in tiles(p) for n in range(TILE)}
        for first in range(min(xcds, workgroups))
    ]
    return BYTES * max(map(len, sets))


def product(n, steps, pitch):
    def tiles(p):
        yield from (("x", p // n * pitch + TILE * k) for k in range(steps))
        yield from (("y", p % n * pitch + TILE * k) for k in range(steps))

    return tiles


WORKGROUPS, XCDS = st.integers(1, 24), st.sampled_from([1, 2, 4, 8])
SMALL = st.integers(1, 6)


@given(workgroups=WORKGROUPS, xcds=XCDS, n=SMALL, steps=SMALL, pitch=st.integers(0, 120))
def test_contiguous_tiles_are_counted_to_the_byte(workgroups, xcds, n, steps, pitch):
    """Also where rows overlap, or are all the same."""
    found = on_xcd(PRODUCT, workgroups, xcds, n=n, steps=steps, pitch=pitch, apart=1)

    assert found == touched(product(n, steps, pitch), workgroups, xcds)


@given(workgroups=WORKGROUPS, xcds=XCDS, n=SMALL, steps=SMALL, pitch=st.integers(0, 120), apart=st.integers(2, 40))
def test_tiles_with_gaps_count_with_them(workgroups, xcds, n, steps, pitch, apart):
    """Never less than what is touched."""
    found = on_xcd(PRODUCT, workgroups, xcds, n=n, steps=steps, pitch=pitch, apart=apart)

    assert found >= touched(product(n, steps, pitch), workgroups, xcds, apart)


@pytest.mark.parametrize("body", [PERSISTENT, CARRIED])
@given(workgroups=WORKGROUPS, xcds=XCDS, rounds=SMALL, steps=SMALL)
def test_tiles_one_after_the_other_are_all_counted(body, workgroups, xcds, rounds, steps):
    """The loop over K begins elsewhere in every tile; what the outer loop carries goes on as well as what it counts."""
    n = rounds * workgroups
    found = on_xcd(body, workgroups, xcds, n=n, steps=steps, apart=1)

    def tiles(p):
        return [("x", TILE * k) for tile in range(p, n, workgroups) for k in range(tile * steps, (tile + 1) * steps)]

    assert found == touched(tiles, workgroups, xcds)


@given(workgroups=WORKGROUPS, rounds=SMALL, steps=SMALL)
def test_a_load_beside_the_inner_loop_reaches_over_the_outer_one(workgroups, rounds, steps):
    """On a single XCD there are no gaps between the tiles of its workgroups."""
    n = rounds * workgroups
    found = on_xcd(BIAS, workgroups, 1, n=n, steps=steps, apart=1)
    inner, beside = n * steps * TILE * BYTES, n * TILE * BYTES

    # Half the rounds stand for two of them: what is counted as a whole already counts again.
    assert inner + beside <= found <= inner + beside * max(1, rounds / 2)


@given(workgroups=WORKGROUPS, xcds=XCDS, tiles=st.integers(1, 5), steps=SMALL)
def test_whole_tiles_of_a_while_loop(workgroups, xcds, tiles, steps):
    found = on_xcd(STREAM_K, workgroups, xcds, n=tiles * steps, steps=steps, apart=1)

    assert found == touched(lambda p: stream_k(p, tiles * steps), workgroups, xcds)


@given(workgroups=WORKGROUPS, xcds=XCDS, share=st.integers(1, 12), steps=st.integers(12, 20))
def test_parts_of_tiles_of_a_while_loop(workgroups, xcds, share, steps):
    """No workgroup has more than two: both are looked at, each to its own end."""
    found = on_xcd(STREAM_K, workgroups, xcds, n=share, steps=steps, apart=1)

    assert found == touched(lambda p: stream_k(p, share), workgroups, xcds)


def stream_k(workgroup, share):
    return [("x", TILE * k) for k in range(workgroup * share, (workgroup + 1) * share)]


STORED = """
    %so = tt.splat %far : i32 -> tensor<16xi32, #b>
    %oo = arith.addi %so, %ra : tensor<16xi32, #b>
    %ao = tt.addptr %ys, %oo : tensor<16x!tt.ptr<f16>, #b>, tensor<16xi32, #b>
    tt.store %ao, %ra : tensor<16x!tt.ptr<f16>, #b>
"""


def test_what_is_stored_or_never_done_is_not_loaded():
    """Two loads far from each other and a store: each load counts where its body is done, the store never."""
    body = f"%far = arith.constant 4096 : i32\n{load('x', '%c0', 'near')}{load('x', '%far', 'beyond')}{STORED}"
    assert on_xcd(body, 4, 1, apart=1) == 2 * TILE * BYTES
    assert on_xcd(body, 4, 1, idle={1}, apart=1) == TILE * BYTES
    assert on_xcd(body, 4, 1, idle={0, 1}, apart=1) == 0.0


def test_a_tile_within_another_counts_once():
    """The wider of two loads holds all of the narrower one, which begins later and ends earlier."""
    wide = """
    %wr = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b>
    %ws = tt.splat %x : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #b>
    %wa = tt.addptr %ws, %wr : tensor<64x!tt.ptr<f16>, #b>, tensor<64xi32, #b>
    %w = tt.load %wa : tensor<64x!tt.ptr<f16>, #b>
"""
    assert on_xcd(wide + load("x", "%c16"), 4, 1, apart=1) == 64 * BYTES
    assert on_xcd(load("x", "%c16") + wide, 4, 1, apart=1) == 64 * BYTES


# A third loop around: each of its rounds has %steps tiles, each tile %n steps.
NESTED = f"""
    scf.for %r = %c0 to %pitch step %c1 : i32 {{
    scf.for %t = %c0 to %steps step %c1 : i32 {{
    %whole = arith.muli %r, %steps : i32
    %tile = arith.addi %whole, %t : i32
    %from = arith.muli %tile, %n : i32
    %to = arith.addi %from, %n : i32
    scf.for %k = %from to %to step %c1 : i32 {{
    %ox = arith.muli %k, %c16 : i32
    {load("x", "%ox")}
    }}
    }}
    }}
"""


@given(rounds=st.integers(1, 4), steps=st.integers(2, 4), n=SMALL)
def test_all_loops_around_count(rounds, steps, n):
    """The first and the last tile of all rounds stand for each tile."""
    assert on_xcd(NESTED, 3, 1, pitch=rounds, steps=steps, n=n, apart=1) == rounds * steps * n * TILE * BYTES
    # Of a loop whose iterations nobody has counted the two count once.
    assert on_xcd(NESTED, 3, 1, known=False, pitch=rounds, steps=steps, n=n, apart=1) == 2 * n * TILE * BYTES


# Not a loop with bounds, and the load is in it: its first and its last iteration are looked at.
DRAWN = f"""
    %end = arith.addi %pid, %n : i32
    %last = scf.while (%at = %pid) : (i32) -> i32 {{
      %more = arith.cmpi slt, %at, %end : i32
      scf.condition(%more) %at : i32
    }} do {{
    ^bb0(%at: i32):
    %ox = arith.muli %at, %pitch : i32
    {load("x", "%ox")}
    %next = arith.addi %at, %c1 : i32
    scf.yield %next : i32
    }}
"""


@given(n=st.integers(2, 9), pitch=st.integers(16, 64))
def test_a_load_in_a_while_loop_counts_at_both_ends(n, pitch):
    """Half of the iterations stand for each of the two."""
    assert on_xcd(DRAWN, 1, 1, n=n, pitch=pitch, apart=1) == n * TILE * BYTES


@given(live=st.lists(st.booleans(), min_size=8, max_size=8), xcds=XCDS)
def test_workgroups_that_return_at_once_load_nothing(live, xcds):
    found = on_xcd(PRODUCT, 8, xcds, live=tuple(live), n=4, steps=2, pitch=64, apart=1)
    tiles = product(4, 2, 64)

    assert found == touched(lambda p: tiles(p) if live[p] else (), 8, xcds)


@pytest.mark.parametrize(
    ("body", "given"),
    [
        (PRODUCT, {"steps": 4, "pitch": 64, "apart": 1}),
        (PRODUCT, {"n": 4, "pitch": 64, "apart": 1}),
        (PRODUCT, {"n": 4, "steps": 4, "pitch": 64}),
        (PERSISTENT, {"steps": 4, "apart": 1}),
        (STREAM_K, {"steps": 4, "apart": 1}),
    ],
)
def test_what_is_not_known_is_no_number(body, given):
    """Rows, iterations, strides, and the course of loops around."""
    assert on_xcd(body, 8, 8, **given) is None


@given(workgroups=WORKGROUPS, n=SMALL, steps=SMALL, pitch=st.integers(0, 120))
def test_first_and_last_address_of_a_loop(workgroups, n, steps, pitch):
    """One for each workgroup; of a load outside of all loops both are the same."""
    text = MODULE.replace("BODY", PRODUCT + load("x", "%rx", "single"))
    arguments = {"n": n, "steps": steps, "pitch": pitch, "apart": 1}
    evaluator = Evaluator(mlir.parse(text), arguments, [(p, 0, 0) for p in range(workgroups)], (workgroups, 1, 1))
    one, two, single = (op for op in evaluator.module.operations if op.name == "tt.load")
    loop = evaluator.module.operations[one.loop]
    evaluator.enter(loop, first=True)
    base = evaluator.value("%x"), evaluator.value("%y")
    for op, start, rows in (
        (one, base[0], [p // n for p in range(workgroups)]),
        (two, base[1], [p % n for p in range(workgroups)]),
    ):
        evaluator.inside(op.loop)
        begin = [start + row * pitch for row in rows]
        assert ends(evaluator, op, evaluator.trips(loop)) == (begin, [b + (steps - 1) * TILE for b in begin])
        assert ends(evaluator, op, None) is None
    evaluator.inside(None)
    first, last = ends(evaluator, single, None)
    assert first == last == [base[0] + p // n * pitch for p in range(workgroups)]


SHARES = st.floats(0, 1)
SIZES = st.floats(1, 1e9)


def shared(beyond_l2, beyond_mall=0.0, loaded=1024.0):
    return Sharing(beyond_l2, beyond_mall, loaded, 0.0, None, known=True)


@given(SHARES, SHARES, SIZES, SIZES, SIZES, st.integers(1, 9999), XCDS)
def test_a_cache_never_makes_more_misses_and_a_larger_one_never_more(near, far, different, size, more, total, xcds):
    before = shared(near, min(near, far))
    small, large = (within_l2(before, different, total, bytes_, xcds) for bytes_ in (size, size + more))

    assert 0 <= large.beyond_l2 <= small.beyond_l2 <= before.beyond_l2
    assert small.beyond_mall <= min(small.beyond_l2, before.beyond_mall)
    assert small.on_xcd == different
    assert (small.loaded, small.stored, small.footprint) == (before.loaded, before.stored, before.footprint)


@given(st.integers(1, 8), st.integers(1, 100), st.integers(1, 20))
def test_what_fits_is_loaded_once(xcds, each, again):
    """Every workgroup of an XCD loads the same bytes, ``again`` times: all but the first are hits."""
    total, different = 8 * xcds, 1024.0 * each
    found = within_l2(shared(1.0, 1.0, different * again), different, total, different, xcds)

    assert found.beyond_l2 == pytest.approx(1 / (8 * again))


def test_half_of_what_does_not_fit_is_found():
    """A chance of one half; nothing loaded twice, and nothing known, are as before."""
    found = within_l2(shared(1.0, 1.0), 4096.0, 8, 2048.0, 1)

    assert found.beyond_l2 == pytest.approx(1 - (1 - 4096 / 8192) / 2)
    assert within_l2(shared(1.0, 1.0), 8192.0, 8, 1e9, 1).beyond_l2 == 1.0
    assert within_l2(shared(0.5), None, 8, 1e9, 1) == shared(0.5)
    assert within_l2(shared(0.5, loaded=0.0), 64.0, 8, 1e9, 1) == shared(0.5, loaded=0.0)


@pytest.mark.parametrize(("size", "near"), [(4096.0, 0.0), (4095.0, 0.5)])
def test_the_next_launch_finds_what_an_xcd_s_cache_holds(gpu, size, near):
    """What its workgroups load in all is what has to fit, not what they miss in step."""
    on_one = within_l2(shared(0.5, 0.5, 65536.0), 4096.0, 8, 1.0, 1)
    assert on_one.on_xcd == 4096.0
    again, machine = replace(WARM, between=1024.0), gpu(l2=size, mall=1e9, xcds=1)
    found = found_before(again, on_one, 8, machine)

    assert found.beyond_l2 == pytest.approx(near)
    assert found.beyond_mall == 0.0
    # Without it, loads that miss count: 8 of 32 KiB.
    assert found_before(again, shared(0.5, 0.5, 65536.0), 8, machine).beyond_l2 == 0.5
