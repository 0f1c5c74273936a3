"""Iterations of the assembly's loops, from small TTGIR modules whose loops Python's own ranges count."""

from dataclasses import replace

import msgspec
import pytest

from kprof.inputs import mlir
from kprof_analyzers.model.launch import Spread
from kprof_analyzers.model.outline import loops_of, outline
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.trips import ASSUMED, RETRY, Trips, is_lane_loop, lanes_of, loop_trips, loops_of_source

HEAD = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%p: !tt.ptr<f16>, %q: !tt.ptr<i32>, %n: i32, %m: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c16 = arith.constant 16 : i32
    %pid = tt.get_program_id x : i32
"""
ADD = "v_add_f32_e32 v1, v2, v3"
MFMA = "v_mfma_f32_32x32x8_f16 v[16:31], v[100:101], v[102:103], v[16:31]"
LOAD = "global_load_dwordx4 v[0:3], v[80:81], off"
SWAP = "global_atomic_cmpswap v0, v[4:5], v[2:3], off sc0"


def loop(number, *body):
    """A loop of the assembly, with this number in its label."""
    return [f".LBB0_{number}:", *body, f"s_cmp_lt_i32 s{number}, s60", f"s_cbranch_scc1 .LBB0_{number}"]


def at(line, *body):
    """Instructions of a line of the source."""
    return [f".loc\t1 {line} 0", *body]


def counted(name, bounds, *body):
    """A ``scf.for`` of the TTGIR."""
    return [f"scf.for %{name} = {bounds} : i32 {{", *body, "}"]


def prints(line):
    """An operation of a line of the source."""
    return f'tt.print "here" : () loc("/user/k.py":{line}:0)'


def module(*lines):
    """A TTGIR module of one function."""
    return mlir.parse(HEAD + "\n".join(lines) + "\ntt.return\n}\n}\n")


@pytest.fixture
def trips(kernel):
    """``trips(body, ttgir, programs=1, n=4)``: iterations by the loop's label."""

    def found(body, ttgir, *, programs=1, launched=True, known=None, facts=None, where=None, **arguments):
        facts = facts or kernel(['.file\t1 "/build/tree" "k.py"', *body])
        facts = replace(facts, ttgir=ttgir)
        numbers, grid = [(p, 0, 0) for p in range(programs)], (programs, 1, 1)
        evaluator = Evaluator(ttgir, arguments, numbers, grid, known) if ttgir is not None and launched else None
        trips_of = loop_trips(facts, outline(facts.program), evaluator, where)
        return {facts.program.loops[number].header: one for number, one in trips_of.items()}

    return found


def short(one):
    """Iterations, those of each workgroup, whether they are known, and iterations of the source in one of these."""
    return one.mean, one.each, one.known, one.unrolled


def test_loops_one_after_the_other_count_as_their_ranges_do(trips):
    """Three loops that each follow from something else, and what is in none of them."""
    ttgir = module(
        *counted("i", "%pid to %n step %c4"),
        *counted("j", "%c0 to %m step %c1"),
        *counted("k", "%c0 to %pid step %c4"),
    )
    found = trips([ADD, *loop(1, ADD), ADD, *loop(2, ADD), *loop(3, ADD)], ttgir, programs=6, n=9, m=7)
    each = tuple(float(len(range(p, 9, 4))) for p in range(6))
    last = tuple(float(len(range(0, p, 4))) for p in range(6))
    loops = [op for op in ttgir.operations if op.is_loop]

    assert short(found[".LBB0_1"]) == (sum(each) / 6, each, True, 1)
    assert short(found[".LBB0_2"]) == (7.0, (), True, 1)
    assert short(found[".LBB0_3"]) == (sum(last) / 6, last, True, 1)
    assert [one.operation for one in found.values()] == loops
    assert {one.source for one in found.values()} == {"the launch's arguments"}
    assert {one.missing for one in found.values()} == {()}


def test_loops_that_are_never_reached_have_no_iterations(trips):
    """The bounds of an inner loop may come from memory where the loop around it has none: its time is known."""
    ttgir = module(
        *counted("i", "%c0 to %n step %c1", "%d = tt.load %q : !tt.ptr<i32>", *counted("j", "%c0 to %d step %c1")),
        *counted("l", "%c0 to %m step %c1"),
    )
    body = [*loop(1, ADD, *loop(2, ADD), ADD), *loop(3, ADD)]
    never = trips(body, ttgir, n=0, m=3)
    assert short(never[".LBB0_2"]) == (0.0, (), True, 1)
    assert short(never[".LBB0_3"]) == (3.0, (), True, 1)
    entered = trips(body, ttgir, n=1, m=3)
    assert (entered[".LBB0_2"].known, entered[".LBB0_2"].missing) == (False, ("values of q",))


def test_loops_in_loops_are_those_of_the_ttgir_in_loops(trips):
    """The inner one is entered in each iteration of the outer one and depends on which it is: a triangle."""
    ttgir = module(
        *counted("i", "%c0 to %n step %c1", *counted("j", "%c0 to %i step %c1")),
        *counted("l", "%c0 to %m step %c1"),
    )
    found = trips([*loop(1, ADD, *loop(2, ADD), ADD), *loop(3, ADD)], ttgir, programs=2, n=9, m=3)

    assert short(found[".LBB0_1"]) == (9.0, (), True, 1)
    assert short(found[".LBB0_2"]) == (sum(range(9)) / 9, (), True, 1)
    assert short(found[".LBB0_3"]) == (3.0, (), True, 1)
    assert found[".LBB0_2"].operation.index > found[".LBB0_1"].operation.index


def test_entries_of_an_inner_loop_are_averaged_over_those_of_all_workgroups(trips):
    """Workgroup p enters it for each of i = p, p + 4, ... and then goes through i iterations."""
    ttgir = module(*counted("i", "%pid to %n step %c4", *counted("j", "%c0 to %i step %c1")))
    found = trips(loop(1, ADD, *loop(2, ADD), ADD), ttgir, programs=3, n=9)
    entered = [range(p, 9, 4) for p in range(3)]
    each = tuple(sum(mine) / len(mine) for mine in entered)

    assert short(found[".LBB0_2"]) == (sum(map(sum, entered)) / sum(map(len, entered)), each, True, 1)
    nobody = trips(loop(1, ADD, *loop(2, ADD), ADD), ttgir, programs=1, n=0)
    assert nobody[".LBB0_2"].mean == 0.0
    one = module(*counted("i", "%c0 to %c1 step %c1", *counted("j", "%c0 to %i step %c1")))
    assert short(trips(loop(1, ADD, *loop(2, ADD), ADD), one)[".LBB0_2"]) == (0.0, (), True, 1)
    some = trips(loop(1, ADD, *loop(2, ADD), ADD), ttgir, programs=2, n=1)
    assert some[".LBB0_2"].each == ()
    once = module(*counted("i", "%m to %n step %c1", *counted("j", "%c0 to %i step %c1")))
    assert trips(loop(1, ADD, *loop(2, ADD), ADD), once, m=3, n=4)[".LBB0_2"].mean == 3.0


def test_nothing_is_known_without_ttgir_or_launch(trips):
    """Sixteen iterations each, and why; but a loop over lanes finds all of the wavefront's."""
    body = loop(1, ADD, *loop(2, ADD), *LANES)
    expected = {
        ".LBB0_1": Trips(16.0, source="assumed: {why}"),
        ".LBB0_2": Trips(16.0, source="assumed: {why}"),
        ".LBB0_9": Trips(64.0, (), True, "all lanes of a wavefront, assumed to be active"),
    }
    for ttgir, why in ((None, "no TTGIR"), (module(*counted("i", "%c0 to %n step %c1")), "the launch is not known")):
        found = trips(body, ttgir, launched=False)
        assert found == {h: replace(one, source=one.source.format(why=why)) for h, one in expected.items()}


# Reads a mask's lanes one by one: the lowest lane's number, its value, and the lane's bit cleared.
FIRST, READ, CLEAR = "s_ff1_i32_b64 s4, s[2:3]", "v_readlane_b32 s5, v0, s4", "s_andn2_b64 s[2:3], s[2:3], s[6:7]"
LANES = loop(9, FIRST, READ, CLEAR)


@pytest.mark.parametrize(
    ("body", "is_one"),
    [
        ([FIRST, READ, CLEAR], True),
        (["s_ff1_i32_b32 s4, s2", READ, "s_bitset0_b32 s2, s4"], True),
        (["s_ctz_i32_b64 s4, s[2:3]", READ, "s_and_not1_b64 s[2:3], s[2:3], s[6:7]"], True),
        ([READ, CLEAR], False),
        ([FIRST, CLEAR], False),
        ([FIRST, READ], False),
        ([FIRST, READ, "s_cbranch_scc0 .LBB0_8", CLEAR, ".LBB0_8:"], False),
    ],
)
def test_a_loop_over_lanes_finds_reads_and_clears_in_one_block(kernel, body, is_one):
    facts = kernel([ADD, *loop(9, *body), *loop(1, ADD)])
    first, second = facts.program.loops
    assert is_lane_loop(facts.program, first) is is_one
    assert not is_lane_loop(facts.program, second)
    headers = [node.loop.header for node in loops_of_source(facts.program, outline(facts.program))]
    assert headers == ([".LBB0_1"] if is_one else [".LBB0_9", ".LBB0_1"])


SCALAR = '%a = tt.atomic_rmw add, acq_rel, gpu, %q, %c1 : (!tt.ptr<i32>, i32) -> i32 loc("/build/tree/k.py":{line}:0)'
TENSOR = (
    "%s = tt.splat %q : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>\n"
    "%b = tt.atomic_rmw add, acq_rel, gpu, %s, %c1 : (tensor<64x!tt.ptr<i32>>, i32) -> i32 "
    'loc("/build/tree/k.py":{line}:0)'
)


@pytest.mark.parametrize(
    ("atomics", "lanes"),
    [
        ([SCALAR.format(line=7)], 1),
        ([SCALAR.format(line=8)], 64),
        ([TENSOR.format(line=7)], 64),
        ([TENSOR.format(line=8), SCALAR.format(line=7)], 1),
        ([TENSOR.format(line=7), SCALAR.format(line=7)], 64),
        ([], 64),
    ],
)
def test_a_scalar_s_atomic_is_one_lane_s(trips, kernel, atomics, lanes):
    """Where all atomics of the loop's line are scalars'; a loop over lanes is none of the TTGIR's."""
    body = [*at(6, ADD), *at(7, *LANES), *at(9, *loop(1, ADD))]
    ttgir = module(*atomics, *counted("i", "%c0 to %n step %c1"))
    found = trips(body, ttgir, n=5)
    assert (found[".LBB0_9"].mean, found[".LBB0_9"].known) == (lanes, True)
    source = "one lane: the atomic is scalar" if lanes == 1 else "all lanes of a wavefront, assumed to be active"
    assert found[".LBB0_9"].source == source
    assert found[".LBB0_9"].operation is None
    assert found[".LBB0_1"].mean == 5.0


@pytest.mark.parametrize(("size", "lanes"), [(32, 32), (64, 64), (None, 64)])
def test_lanes_are_those_of_the_kernel_s_wavefronts(kernel, size, lanes):
    """The architecture's, 64, where the kernel's are not known."""
    facts = kernel(LANES)
    facts = replace(facts, resources=msgspec.structs.replace(facts.resources, wavefront_size=size))
    assert lanes_of(facts, facts.program.loops[0])[0] == lanes


def test_a_compare_and_swap_is_tried_once(trips):
    """A loop of nothing else; other loops that no TTGIR has iterate as often as any that is not known."""
    ttgir = module(*counted("i", "%c0 to %n step %c1"))
    body = [*loop(1, ADD, *loop(2, SWAP), ADD, *loop(3, ADD), ADD), *loop(4, ADD, *loop(5, ADD, ADD), SWAP)]
    found = trips(loop(1, ADD, *loop(2, SWAP), ADD, *loop(3, ADD), ADD), ttgir, n=5)
    assert found[".LBB0_1"].mean == 5.0
    assert found[".LBB0_2"] == Trips(1.0, source=RETRY)
    assert found[".LBB0_3"] == Trips(ASSUMED, source="assumed: no matching loop in the TTGIR")
    without = trips(body, module(), n=5)
    assert {header: one.mean for header, one in without.items()} == {
        ".LBB0_1": 16.0,
        ".LBB0_2": 1.0,
        ".LBB0_3": 16.0,
        ".LBB0_4": 16.0,
        ".LBB0_5": 16.0,
    }


@pytest.mark.parametrize(("outside", "is_same"), [(3, True), (4, False)])
def test_two_loops_that_were_one_iterate_as_one(trips, outside, is_same):
    """The inner one has 27 instructions: nine tenths of 30 are the same loop again, of 31 they are not."""
    body = loop(1, ADD, *loop(2, *[ADD] * 25), *[ADD] * (outside - 3))
    found = trips(body, module(*counted("i", "%c0 to %n step %c1")), n=5)
    first, second = found[".LBB0_1"], found[".LBB0_2"]
    if is_same:
        assert (first.mean, first.known, first.source) == (1.0, True, "the compiler split one loop in two")
        assert (second.mean, second.known) == (5.0, True)
    else:
        assert (first.mean, first.known) == (5.0, True)
        assert (second.mean, second.known) == (16.0, False)


def test_two_loops_of_the_ttgir_are_not_taken_for_one(trips):
    """The inner one has nearly all instructions, too, but the TTGIR has as many loops in each other."""
    ttgir = module(*counted("i", "%c0 to %n step %c1", *counted("j", "%c0 to %m step %c1")))
    found = trips(loop(1, ADD, *loop(2, *[ADD] * 60)), ttgir, n=5, m=6)
    assert [(found[f".LBB0_{number}"].mean) for number in (1, 2)] == [5.0, 6.0]


def test_a_third_loop_in_two_takes_the_inner_place(trips):
    """Of three in each other that the TTGIR has as two, the outer two have nearly the same instructions."""
    ttgir = module(*counted("i", "%c0 to %n step %c1", *counted("j", "%c0 to %m step %c1")))
    found = trips(loop(1, ADD, *loop(2, *[ADD] * 40, *loop(3, *[ADD] * 40))), ttgir, n=5, m=6)
    assert [found[f".LBB0_{number}"].mean for number in (1, 2, 3)] == [1.0, 5.0, 6.0]


def test_loops_side_by_side_are_none_of_one(trips):
    """Two loops in one: neither is the loop around once more."""
    ttgir = module(*counted("i", "%c0 to %n step %c1"))
    found = trips(loop(1, ADD, *loop(2, *[ADD] * 60), *loop(3, ADD)), ttgir, n=5)
    assert [found[f".LBB0_{number}"].mean for number in (1, 2, 3)] == [5.0, 16.0, 16.0]


def test_loops_of_another_number_are_paired_by_their_lines(trips):
    """By the share of lines that both have: 2 of 3 are more than 3 of 7; a loop of other lines has no pair."""
    ttgir = module(
        *counted("i", "%c0 to %c1 step %c1", *map(prints, range(5, 12))),
        *counted("j", "%c0 to %n step %c1", prints(5), prints(6)),
        *counted("k", "%c0 to %m step %c1", prints(20)),
    )
    body = [*loop(1, *at(20, ADD), ADD), *loop(2, *at(5, ADD), *at(6, ADD), *at(7, ADD))]
    found = trips(body, ttgir, n=5, m=6)
    assert [found[header].mean for header in (".LBB0_1", ".LBB0_2")] == [6.0, 5.0]
    more = trips([*body, *loop(3, *at(30, ADD)), *loop(4, *at(20, ADD))], ttgir, n=5, m=6)
    assert [more[f".LBB0_{number}"].mean for number in (1, 2, 3, 4)] == [6.0, 5.0, 16.0, 6.0]


def test_loops_without_lines_have_no_pair(trips):
    found = trips([*loop(1, ADD), *loop(2, ADD)], module(*counted("i", "%c0 to %n step %c1")), n=5)
    assert [found[header].known for header in (".LBB0_1", ".LBB0_2")] == [False, False]


def test_lines_of_another_file_are_others(trips):
    """Equal numbers of lines say nothing where names of files differ."""
    ttgir = module(*counted("i", "%c0 to %n step %c1", prints(5).replace("k.py", "other.py")))
    found = trips([*loop(1, *at(5, ADD)), *loop(2, *at(6, ADD))], ttgir, n=5)
    assert not any(one.known for one in found.values())


# A product of 128 x 32 by 32 x 32: 2 * 128 * 32 * 32 operations, of which each of four wavefronts does a quarter in
# four instructions of 2 * 32 * 32 * 8. A tile of 64 x 32 fp16: a quarter of it in one load of 16 bytes a lane.
DOT = (
    "%d = tt.dot %a, %b, %c : tensor<128x32xf16> * tensor<32x32xf16> -> tensor<128x32xf32>",
    "%l = tt.load %t : tensor<64x32x!tt.ptr<f16>>",
    "%u = tt.load %q : !tt.ptr<i32>",
)


@pytest.mark.parametrize(
    ("products", "loads", "factor"),
    [
        (4, 1, 1),
        (8, 2, 2),
        (12, 3, 3),
        (8, 0, 2),
        (0, 2, 2),
        (0, 0, 1),
        (2, 1, 1),
        # Loads, or products, that several wavefronts repeat: 2, 4, 8, 16 times as many are none more of the loop.
        (8, 1, 1),
        (8, 4, 2),
        (8, 8, 2),
        (8, 16, 2),
        (8, 32, 2),
        (32, 2, 2),
        # No power of two, or one too many: something else.
        (8, 6, 1),
        (8, 12, 1),
        (8, 64, 1),
        # Loads of remainders: within a fifth. 7 / 6 is, 11 / 9 is not.
        (28, 6, 6),
        (44, 9, 1),
        (44, 10, 10),
    ],
)
def test_unrolling_raises_products_and_loads_alike(trips, products, loads, factor):
    """Iterations of the TTGIR's loop in one of the assembly's, which then has as many times fewer."""
    found = trips(loop(1, *[MFMA] * products, *[LOAD] * loads), module(*counted("i", "%c0 to %n step %c1", *DOT)), n=24)
    one = found[".LBB0_1"]
    assert (one.unrolled, one.mean, one.written) == (factor, 24 / factor, 24.0)
    words = "" if factor == 1 else f", {factor} iterations unrolled into one"
    assert one.source == f"the launch's arguments{words}"


@pytest.mark.parametrize(("done", "unrolled"), [(24, 1.0), (12, 2.0), (11, 24 / 11)])
def test_the_code_decides_by_how_much_a_loop_is_unrolled(trips, done, unrolled):
    """Products and loads suggest two iterations in one; the loop's own counter says what it does."""
    counter = ["s_add_i32 s5, s5, 1", f"s_cmp_lt_i32 s5, {done}", "s_cbranch_scc1 .LBB0_1"]
    body = ["s_mov_b32 s5, 0", ".LBB0_1:", *[MFMA] * 8, *[LOAD] * 2, *counter]
    where = Spread(1, (1, 1, 1), 1, 1.0, 0, 1, known=True)

    one = trips(body, module(*counted("i", "%c0 to %n step %c1", *DOT)), where=where, n=24)[".LBB0_1"]

    assert (one.unrolled, one.mean, one.known) == (unrolled, done, True)
    assert one.written == pytest.approx(24)
    unknown = trips([line.replace(str(done), "s9") for line in body], module(
        *counted("i", "%c0 to %n step %c1", *DOT)), where=where, n=24)[".LBB0_1"]  # fmt: skip
    assert (unknown.unrolled, unknown.mean) == (2, 12.0)


def test_what_the_loop_around_multiplies_and_loads_is_not_the_inner_one_s(trips):
    """On both sides; a store and vector instructions load nothing."""
    ttgir = module(*counted("i", "%c0 to %n step %c1", *DOT, *counted("j", "%c0 to %m step %c1", *DOT), *DOT))
    store = "global_store_dwordx4 v[80:81], v[0:3], off"
    inner = loop(2, *[MFMA] * 8, *[LOAD] * 2, *[store] * 3, ADD)
    found = trips(loop(1, *[MFMA] * 40, *[LOAD] * 10, *inner, *[MFMA] * 10), ttgir, n=5, m=6)
    assert [found[header].unrolled for header in (".LBB0_1", ".LBB0_2")] == [1, 2]
    assert [found[header].mean for header in (".LBB0_1", ".LBB0_2")] == [5.0, 3.0]


def test_an_inner_loop_of_changing_length_is_unrolled_as_well(trips):
    """A triangle of 8 entries, two of its iterations in one."""
    ttgir = module(*counted("i", "%c0 to %n step %c1", *counted("j", "%c0 to %i step %c1", *DOT)))
    body = loop(1, ADD, *loop(2, *[MFMA] * 8, *[LOAD] * 2), ADD)
    found = trips(body, ttgir, n=8)
    assert short(found[".LBB0_2"]) == (sum(range(8)) / 8 / 2, (), True, 2)
    assert found[".LBB0_2"].source == "the launch's arguments, 2 iterations unrolled into one"
    # Workgroup 0 enters it with 0 and 4 iterations, workgroup 1 with 1.
    ttgir = module(*counted("i", "%pid to %n step %c4", *counted("j", "%c0 to %i step %c1", *DOT)))
    assert trips(body, ttgir, programs=2, n=5)[".LBB0_2"].each == ((0 + 4) / 2 / 2, 1 / 2)


def test_a_loop_with_one_over_lanes_in_it_is_unrolled_as_an_innermost_one(trips):
    body = loop(1, *[MFMA] * 8, *[LOAD] * 2, *LANES)
    found = trips(body, module(*counted("i", "%c0 to %n step %c1", *DOT)), n=24)
    assert short(found[".LBB0_1"]) == (12.0, (), True, 2)


@pytest.mark.parametrize("unknown", ["num_warps", "wavefront_size"])
def test_nothing_is_unrolled_where_the_wavefronts_are_not_known(trips, kernel, unknown):
    facts = kernel(loop(1, *[MFMA] * 8, *[LOAD] * 2))
    facts = replace(facts, resources=msgspec.structs.replace(facts.resources, **{unknown: None}))
    found = trips((), module(*counted("i", "%c0 to %n step %c1", *DOT)), facts=facts, n=24)
    assert found[".LBB0_1"].unrolled == 1


def test_products_of_unknown_size_say_nothing(trips):
    """The instruction is gfx950's: gfx942 has no numbers of it. Loads are of two tiles."""
    product = "v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]"
    found = trips(loop(1, *[product] * 8, *[LOAD] * 2), module(*counted("i", "%c0 to %n step %c1", *DOT)), n=24)
    assert found[".LBB0_1"].unrolled == 2


FP4 = (
    "%d = tt.dot_scaled %a, %s, %b, %r, %c lhs = e2m1 rhs = e2m1 : "
    "tensor<64x16xi8>, tensor<64x1xi8> * tensor<16x64xi8>, tensor<64x1xi8> -> tensor<64x64xf32>"
)


@pytest.mark.parametrize(
    ("product", "factor"),
    [
        (FP4, 2),
        (FP4.replace("e2m1", "e4m3"), 4),
        ('"tt.dot"(%a, %b) : (tensor<64x16xi8>, tensor<16x64xi8>) -> ()', 1),
        ("%d = tt.other %a, %b, %c : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>", 1),
    ],
)
def test_two_numbers_of_four_bits_are_one_element(trips, product, factor):
    """64 x 16 bytes hold 64 x 32 numbers of fp4: eight instructions are two of its iterations."""
    found = trips(loop(1, *[MFMA] * 8), module(*counted("i", "%c0 to %n step %c1", product)), n=24)
    assert found[".LBB0_1"].unrolled == factor


def test_what_is_missing_is_named_with_what_an_iteration_adds(trips):
    """An axis that is 64 elements an iteration, two iterations in one; a bound from memory; and no name at all."""
    c64 = "%c64 = arith.constant 64 : i32"
    body = loop(1, *[MFMA] * 8, *[LOAD] * 2)
    one = trips(body, module(c64, *counted("i", "%c0 to %n step %c64", *DOT)))[".LBB0_1"]
    why = "assumed: the bounds depend on data or on unknown arguments"
    assert (one.mean, one.known, one.missing, one.elements) == (16.0, False, ("n",), 2 * 64.0)
    assert one.source == f"{why} (not known: n)"

    length = "%len = tt.load %q : !tt.ptr<i32>"
    one = trips(body, module(c64, length, *counted("i", "%c0 to %len step %c64", *DOT)))[".LBB0_1"]
    assert (one.missing, one.elements) == (("values of q",), 2 * 64.0)

    one = trips(loop(1, ADD), module(*counted("i", "%c0 to %elsewhere step %c1")))[".LBB0_1"]
    assert one == Trips(16.0, source=why, operation=one.operation)

    both = trips(loop(1, ADD), module(*counted("i", "%m to %n step %c1")))[".LBB0_1"]
    assert both.elements is None
    assert both.source == f"{why} (not known: {', '.join(both.missing)})"
    assert set(both.missing) == {"m", "n"}


WHILE = """
%end = scf.while (%at = %pid) : (i32) -> i32 {
  %more = arith.cmpi slt, %at, %n : i32
  scf.condition(%more) %at : i32
} do {
^bb0(%at: i32):
  %next = arith.addi %at, %c4 : i32
  scf.yield %next : i32
}
"""


def test_a_loop_that_data_ends_is_taken_to_run_once(trips):
    """As many iterations as its range has where the launch says; once where it does not."""
    found = trips(loop(1, ADD), module(WHILE), programs=3, n=9)
    each = tuple(float(len(range(p, 9, 4))) for p in range(3))
    assert short(found[".LBB0_1"]) == (sum(each) / 3, each, True, 1)
    one = trips(loop(1, ADD), module(WHILE), programs=3)[".LBB0_1"]
    assert one == Trips(1.0, source="assumed: its end depends on data", operation=one.operation)
    one = trips(loop(1, ADD), module(WHILE.replace("(%at = %pid)", "(%at = %m)")), programs=3, n=9)[".LBB0_1"]
    assert (one.mean, one.known, one.missing, one.elements) == (1.0, False, ("m",), None)
    assert one.source == "assumed: its end depends on data (not known: m)"


QUEUE = """
%first = tt.atomic_rmw add, acq_rel, gpu, %q, %c1 : (!tt.ptr<i32>, i32) -> i32
%end = scf.while (%tile = %first) : (i32) -> i32 {
  %more = arith.cmpi slt, %tile, %n : i32
  scf.condition(%more) %tile : i32
} do {
^bb0(%tile: i32):
  %next = tt.atomic_rmw add, acq_rel, gpu, %q, %c1 : (!tt.ptr<i32>, i32) -> i32
  scf.yield %next : i32
}
"""


def test_tiles_of_a_queue_are_taken_one_after_the_other(trips):
    """Ten tiles, three workgroups in turn: four, three and three."""
    one = trips(loop(1, ADD), module(QUEUE), programs=3, n=10)[".LBB0_1"]
    assert (one.mean, one.each, one.known) == (10 / 3, (4.0, 3.0, 3.0), True)
    assert one.source == "the launch's arguments; tiles are drawn from a counter in order"


def test_a_grid_without_workgroups_iterates_nowhere(trips):
    found = trips(loop(1, ADD), module(*counted("i", "%pid to %n step %c1")), programs=0, n=4)
    assert short(found[".LBB0_1"]) == (0.0, (), True, 1)


def test_every_loop_has_its_trips(kernel, trips):
    """However it is found: also those in loops of which nothing is known."""
    body = loop(1, ADD, *loop(2, ADD, *loop(3, ADD), ADD), *LANES)
    program = kernel(body).program
    assert len(loops_of(outline(program))) == 4
    assert len(trips(body, module())) == len(trips(body, None)) == 4
