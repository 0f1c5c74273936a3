"""Integers of a TTGIR module for several workgroups: against the same arithmetic in Python, one workgroup at a time."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.model.scalars import Evaluator

PROGRAMS = [(0, 0, 0), (1, 0, 2), (5, 3, 1)]
GRID = (6, 4, 3)
HEAD = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%p: !tt.ptr<i32>, %q: !tt.ptr<f16>, %a: i32, %b: i32, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x = tt.get_program_id x : i32
"""
# Memory of each pointer argument begins here.
FIRST, SECOND = 2**44, 2**45
OPAQUE = 1_000_003


class Named(Evaluator):
    """An evaluator that also knows results and what loops carry by their names in the text, each of which is unique."""

    def __init__(self, *given_):
        super().__init__(*given_)
        flow = self.flow
        self.names = {n: v for op in self.module.operations for n, v in zip(op.results, flow.results(op), strict=False)}
        for loop in (op for op in self.module.operations if op.name == "scf.for"):
            self.names |= {value.partition("@")[0]: value for value in flow.carried(loop)}

    def value(self, name, depth=0):
        return super().value(self.names.get(name, name), depth)

    def certain(self, name):
        return super().certain(self.names.get(name, name))


def evaluator(*lines, contents=None, programs=PROGRAMS, **arguments):
    """An evaluator of a function with these operations."""
    text = HEAD + "\n".join(lines) + "\ntt.return\n}\n}\n"
    return Named(mlir.parse(text), arguments, programs, GRID, contents)


def value(line, name="%r", *, before=(), **given_):
    """What a single operation gives."""
    return evaluator(*before, line, **given_).value(name)


def toward_zero(a, b):
    """C's quotient; of no divisor 0."""
    return 0 if b == 0 else math.trunc(a / b)


# MLIR's operations on signed integers, as its documentation of the arith dialect defines them.
OPERATIONS = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divsi": toward_zero,
    "remsi": lambda a, b: a - b * toward_zero(a, b),
    "floordivsi": lambda a, b: math.floor(a / b) if b else 0,
    "ceildivsi": lambda a, b: math.ceil(a / b) if b else 0,
    "minsi": min,
    "maxsi": max,
    "cmpi slt,": lambda a, b: int(a < b),
    "cmpi eq,": lambda a, b: int(a == b),
    "cmpi sge,": lambda a, b: int(a >= b),
}


@given(
    st.lists(st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 9), st.integers(0, 9)), max_size=12),
    st.integers(-40, 40),
    st.integers(-40, 40),
)
def test_arithmetic_is_that_of_each_workgroup(steps, a, b):
    """Chains of operations on arguments, program numbers, the grid, constants and what was worked out before."""
    lines = [
        *("%v0 = tt.get_program_id x : i32", "%v1 = tt.get_program_id y : i32", "%v2 = tt.get_program_id z : i32"),
        *("%v3 = tt.get_num_programs x : i32", "%v4 = tt.get_num_programs y : i32"),
        *(
            "%v5 = arith.constant -7 : i32",
            "%v6 = arith.constant true",
            "%v7 = arith.constant dense<3> : tensor<8xi32>",
        ),
        *("%v8 = arith.addi %a, %c0 : i32", "%v9 = tt.splat %b : i32 -> tensor<8xi32>"),
    ]
    expected = [[*program, *GRID[:2], -7, 1, 3, a, b] for program in PROGRAMS]
    for name, left, right in steps:
        at = len(expected[0])
        lines.append(f"%v{at} = arith.{name} %v{at - 1 - left}, %v{at - 1 - right} : i32")
        for values in expected:
            values.append(OPERATIONS[name](values[at - 1 - left], values[at - 1 - right]))
    found = evaluator(*lines, a=a, b=b)
    for place in range(len(expected[0])):
        mine = found.value(f"%v{place}")
        assert ([mine] * len(PROGRAMS) if isinstance(mine, int) else mine) == [values[place] for values in expected]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%r = tt.get_program_id y : i32", [0, 0, 3]),
        ("%r = tt.get_num_programs z : i32", 3),
        ("%r = arith.constant 12 : i32", 12),
        ("%r = arith.constant -12 : i32", -12),
        ("%r = arith.constant dense<12> : tensor<4xi32>", 12),
        ("%r = arith.constant true", 1),
        ("%r = arith.constant false", 0),
        ("%r = arith.constant dense<true> : tensor<4xi1>", 1),
        ("%r = arith.constant 1.5 : f32", None),
        ("%r = arith.constant dense<[1, 2]> : tensor<2xi32>", None),
        ("%r = tt.make_range {end = 72 : i32, start = 8 : i32} : tensor<64xi32>", 8),
        ("%r = tt.make_range {end = 72 : i32} : tensor<64xi32>", None),
        ("%r = tt.expand_dims %x {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>", [0, 1, 5]),
        ("%r = arith.extsi %x : i32 to i64", [0, 1, 5]),
        ("%r = arith.mulf %x, %x : f32", None),
        ("%r = arith.cmpf olt, %x, %x : f32", None),
        ("%r = arith.cmpi elsewhere, %x, %x : i32", None),
        ("%r = arith.addi %x : i32", None),
        ("%r = arith.addi %x, %unknown : i32", None),
        ("%r = arith.addi %unknown, %x : i32", None),
        ("%r = tt.elsewhere %x : i32", None),
    ],
)
def test_an_operation_gives_what_its_text_says(line, expected):
    """``None`` where it is none on integers, or not all is known."""
    assert value(line) == expected


def test_numbers_of_the_launch_are_integers():
    """Fractions and names that the function does not have say nothing; pointers lie far apart."""
    found = evaluator(a=3, b=2.5)
    assert [found.value(f"%{name}") for name in ("a", "b", "n")] == [3, None, None]
    assert (found.value("%p"), found.value("%q")) == (FIRST, SECOND)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [("%x, %a", [10, 20, 20]), ("%c0, %a", 10), ("%a, %c0", 20), ("%x, %unknown", None)],
)
@pytest.mark.parametrize(
    "choice",
    [
        ["%r = arith.select %q0, %yes, %no : i32"],
        ["%r = scf.if %q0 -> (i32) {", "scf.yield %yes : i32", "} else {", "scf.yield %no : i32", "}"],
        [
            "%r:2 = scf.if %q0 -> (i32, i32) {",
            *("scf.yield %c0, %yes : i32, i32", "} else {", "scf.yield %c1, %no : i32, i32", "}"),
        ],
    ],
)
def test_a_choice_is_made_by_each_workgroup(condition, expected, choice):
    """By a selection or a branch, the second of its results among them."""
    before = [
        *("%yes = arith.constant 10 : i32", "%no = arith.constant 20 : i32"),
        f"%q0 = arith.cmpi slt, {condition} : i32",
        *choice[:-1],
    ]
    name = "%r#1" if len(choice) > 1 and ":2" in choice[0] else "%r"
    assert value(choice[-1], name, before=before, a=1) == expected


def test_a_side_that_nobody_takes_may_be_unknown():
    """Where all agree; where some take it, nothing is known."""
    before = ["%q0 = arith.cmpi slt, %x, %a : i32", "%q1 = arith.cmpi slt, %c0, %a : i32"]
    assert value("%r = arith.select %q1, %x, %unknown : i32", before=before, a=1) == [0, 1, 5]
    assert value("%r = arith.select %q1, %unknown, %x : i32", before=before, a=0) == [0, 1, 5]
    assert value("%r = arith.select %q0, %unknown, %x : i32", before=before, a=1) is None
    assert value("%r = arith.select %q0, %x, %unknown : i32", before=before, a=1) is None
    # Other numbers of each workgroup on both sides.
    other = [*before, "%far = arith.muli %x, %x : i32"]
    assert value("%r = arith.select %q0, %x, %far : i32", before=other, a=2) == [0, 1, 25]
    assert value("%r = scf.if %q1 -> (i32) {", before=before, a=1) is None


LOADS = ["%at = tt.addptr %p, %x : !tt.ptr<i32>, i32", "%l = tt.load %at : !tt.ptr<i32>"]


def test_what_was_loaded_is_another_number_for_each_address():
    """A placeholder, of which nothing follows for certain: nor of what is worked out from it."""
    found = evaluator(*LOADS, "%more = arith.addi %l, %c1 : i32", "%same = arith.muli %l, %c0 : i32")
    assert found.value("%l") == [OPAQUE * (FIRST + x) for x in (0, 1, 5)]
    assert found.value("%more") == [OPAQUE * (FIRST + x) + 1 for x in (0, 1, 5)]
    assert [found.certain(name) for name in ("%l", "%more", "%same")] == [None, None, None]
    assert found.certain("%at") == [FIRST, FIRST + 1, FIRST + 5]
    assert value("%r = tt.load %unknown : !tt.ptr<i32>") is None


def test_contents_of_memory_are_looked_up():
    """Six integers behind the first pointer, none known behind the second one."""
    held = [40, 41, 42, 43, 44, 45]
    found = evaluator(*LOADS, "%one = tt.load %p : !tt.ptr<i32>", contents={"p": held, "elsewhere": [9]})
    assert found.value("%l") == found.certain("%l") == [40, 41, 45]
    assert found.value("%one") == found.certain("%one") == 40
    # The last place beyond: a placeholder for that workgroup, and nothing for certain.
    found = evaluator(*LOADS, contents={"p": held[:5]})
    assert found.value("%l") == [40, 41, OPAQUE * (FIRST + 5)]
    assert found.certain("%l") is None
    other = ["%at = tt.addptr %q, %x : !tt.ptr<f16>, i32", "%l = tt.load %at : !tt.ptr<f16>"]
    found = evaluator(*other, "%one = tt.load %q : !tt.ptr<f16>", contents={"p": held})
    assert found.value("%l") == [OPAQUE * (SECOND + x) for x in (0, 1, 5)]
    assert found.value("%one") == OPAQUE * SECOND
    assert (found.certain("%l"), found.certain("%one")) == (None, None)


def test_workgroups_that_do_not_come_to_a_load_read_nothing():
    """Only the one with x = 5 comes to it, and the others' places would lie before what the argument holds."""
    within = [
        "%last = arith.cmpi sge, %x, %a : i32",
        "scf.if %last {",
        "%place = arith.subi %x, %a : i32",
        "%at = tt.addptr %p, %place : !tt.ptr<i32>, i32",
        "%l = tt.load %at : !tt.ptr<i32>",
        "scf.for %i = %c0 to %l step %c1  : i32 {",
        "}",
        "}",
    ]
    found = evaluator(*within, contents={"p": [9]}, a=5)
    assert found.certain("%l") == [9, 9, 9]
    (loop,) = [op for op in found.module.operations if op.name == "scf.for"]
    assert evaluator(*within, contents={"p": [9]}, a=5).trips(loop) == [0, 0, 9]
    # Without a place that is known for the one that comes to it, nothing is.
    assert evaluator(*within, contents={"p": [9]}, a=4).trips(loop) is None


def test_loads_of_several_arguments_are_looked_up_apart():
    """Workgroups 0 and 1 read the first pointer's memory, workgroup 5 that of the second."""
    which = [
        *("%is = arith.cmpi slt, %x, %a : i32", "%at = arith.select %is, %p, %q : !tt.ptr<i32>"),
        "%l = tt.load %at : !tt.ptr<i32>",
    ]
    found = evaluator(*which, contents={"p": [7], "q": [8]}, a=2)
    assert found.value("%l") == [7, 7, 8]
    assert found.certain("%l") is None
    assert evaluator(*which, contents={"q": [8]}, a=2).value("%l") == [OPAQUE * FIRST, OPAQUE * FIRST, 8]
    before = [*which[:2], "%down = arith.subi %at, %c1 : i32", "%l = tt.load %down : !tt.ptr<i32>"]
    found = evaluator(*before, contents={"p": [7], "q": [8]}, a=2)
    assert found.value("%l") == [OPAQUE * (FIRST - 1)] * 2 + [OPAQUE * (SECOND - 1)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%v = tt.load %at : tensor<4x!tt.ptr<i32>>", [FIRST, FIRST + 1, FIRST + 5]),
        ("tt.store %at, %c1 : tensor<4x!tt.ptr<i32>>", [FIRST, FIRST + 1, FIRST + 5]),
        ("%v = amdg.buffer_load %q[%x] : !tt.ptr<f16> -> tensor<4xf16>", [SECOND, SECOND + 1, SECOND + 5]),
        ("amdg.buffer_store %c1, %q[%x] : tensor<4xf16>", [SECOND, SECOND + 1, SECOND + 5]),
        (
            "%v = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %c1, %q[%x] : tensor<4xf16>",
            [SECOND, SECOND + 1, SECOND + 5],
        ),
        ("%v = amdg.buffer_load %unknown[%x] : !tt.ptr<f16> -> tensor<4xf16>", [0, 1, 5]),
        ("%v = amdg.buffer_load %q[%unknown] : !tt.ptr<f16> -> tensor<4xf16>", None),
        ("%v = tt.load %unknown : tensor<4x!tt.ptr<i32>>", None),
        ("%v = tt.load : tensor<4x!tt.ptr<i32>>", None),
    ],
)
def test_a_tile_s_corner_is_its_first_address(line, expected):
    """Offsets of buffer operations are from their pointer, where that is known."""
    found = evaluator(LOADS[0], line)
    access = next(op for op in found.module.operations if op.name.endswith(("load", "store", "rmw")))
    assert found.corner(access) == expected


def loops_of(found):
    """Loops of a module."""
    return [op for op in found.module.operations if op.is_loop]


COUNTS = st.integers(-6, 30)


@given(COUNTS, COUNTS, st.integers(0, 7))
def test_a_loop_iterates_as_often_as_python_s_range(first, last, step):
    """Bounds that all workgroups have, or each its own; a step of 0 is never taken."""
    lines = [
        *("scf.for %i = %a to %b step %n : i32 {", "}"),
        *("scf.for %j = %x to %b step %n : i32 {", "}"),
        *("%by = arith.addi %x, %n : i32", "scf.for %k = %a to %b step %by : i32 {", "}"),
    ]
    found = evaluator(*lines, a=first, b=last, n=step)
    one, other, third = loops_of(found)
    assert found.bounds(one) == (first, last, step)
    assert found.trips(one) == (len(range(first, last, step)) if step else 0)
    assert found.trips(other) == [len(range(p[0], last, step)) if step else 0 for p in PROGRAMS]
    assert found.trips(third) == [len(range(first, last, step + p[0])) if step + p[0] else 0 for p in PROGRAMS]


def test_bounds_are_those_of_a_counted_loop():
    """All three of them known for certain."""
    lines = [*LOADS, "scf.for %i = %c0 to %l step %c1 : i32 {", "}", "scf.for %j = %c0 to %n step %c1 : i32 {", "}"]
    found = evaluator(*lines)
    assert [found.bounds(loop) for loop in loops_of(found)] == [None, None]
    for missing in range(3):
        bounds = ["%c0", "%a", "%c1"]
        bounds[missing] = "%unknown"
        found = evaluator("scf.for %i = {} to {} step {} : i32 {{".format(*bounds), "}", a=4)
        assert found.bounds(loops_of(found)[0]) is None
    assert found.bounds(found.module.operations[2]) is None


def test_workgroups_that_return_before_a_loop_do_not_iterate():
    """Two of three: those whose number is not below 2."""
    lines = ["%q0 = arith.cmpi slt, %x, %b : i32", "scf.if %q0 {", "scf.for %i = %c0 to %a step %c1 : i32 {", "}", "}"]
    found = evaluator(*lines, a=7, b=2)
    assert found.trips(loops_of(found)[0]) == [7, 7, 0]


NESTED = [
    *("scf.for %i = %x to %a step %b : i32 {", "%twice = arith.muli %i, %b : i32"),
    *("scf.for %j = %c0 to %twice step %c1 : i32 {", "%sum = arith.addi %i, %j : i32", "}", "}"),
    *("scf.for %i = %c0 to %b step %c1 : i32 {", "%behind = arith.addi %i, %c0 : i32", "}"),
]


def test_a_loop_is_entered_in_its_middle_or_at_its_first_iteration():
    """From the workgroup's number to 21 in steps of 3: the middle one of 7, 7 and 6 iterations is the fourth."""
    found = evaluator(*NESTED, a=21, b=3)
    outer, inner, other = loops_of(found)
    counts = [len(range(p[0], 21, 3)) for p in PROGRAMS]
    middle = [range(p[0], 21, 3)[n // 2] for p, n in zip(PROGRAMS, counts, strict=True)]
    assert found.trips(outer) == counts
    found.enter(outer)
    assert found.value("%i") == middle
    assert found.trips(inner) == [3 * i for i in middle]
    found.enter(inner)
    assert found.value("%j") == [3 * i // 2 for i in middle]
    assert found.value("%sum") == [i + 3 * i // 2 for i in middle]
    # A loop of the same name behind it is another one.
    found.enter(other, first=True)
    found.inside(other.index)
    assert found.value("%behind") == 0
    found.inside(outer.index)
    assert found.value("%twice") == [3 * i for i in middle]
    found.enter(outer, first=True)
    assert found.value("%i") == middle
    fresh = evaluator(*NESTED, a=21, b=3)
    fresh.enter(loops_of(fresh)[0], first=True)
    assert fresh.value("%i") == [0, 1, 5]
    assert fresh.known() == {"%a": 21, "%b": 3, "%p": FIRST, "%q": SECOND, "%i": [0, 1, 5]}
    assert fresh.outside(None) == {"%a": 21, "%b": 3, "%p": FIRST, "%q": SECOND}
    assert fresh.outside(loops_of(fresh)[1].index)["%i"] == [0, 1, 5]


def test_a_loop_of_unknown_length_is_not_entered():
    found = evaluator("scf.for %i = %c0 to %n step %c1 : i32 {", "}")
    found.enter(loops_of(found)[0])
    assert found.value("%i") is None
    assert "%i" not in found.known()


CARRIED = [
    *("%e = scf.for %i = %x to %a step %b iter_args(%s = %c1) -> (i32) : i32 {", "%more = arith.addi %s, %x : i32"),
    *("scf.yield %more : i32", "}"),
]


def test_a_course_goes_from_the_first_iteration_to_the_last():
    """What is counted and what is carried, of each workgroup: its own last one."""
    found = evaluator(*CARRIED, a=21, b=3)
    loop = loops_of(found)[0]
    found.at(loop, last=False)
    found.inside(loop.index)
    assert found.value("%i") == [0, 1, 5]
    found.at(loop, last=True)
    found.inside(loop.index)
    ranges = [range(p[0], 21, 3) for p in PROGRAMS]
    assert found.value("%i") == [mine[-1] for mine in ranges]
    assert found.value("%s") == [1 + p[0] * (len(mine) - 1) for p, mine in zip(PROGRAMS, ranges, strict=True)]


WHILE = [
    "%e = scf.while (%at = %x) : (i32) -> i32 {",
    *("%more = arith.cmpi slt, %at, %a : i32", "scf.condition(%more) %at : i32", "} do {", "^bb0(%at: i32):"),
    *("scf.for %j = %c0 to %at step %c1 : i32 {", "}", "scf.for %k = %c0 to %n step %c1 : i32 {", "}"),
    *("%next = arith.addi %at, %b : i32", "scf.yield %next : i32", "}", "%r = arith.addi %e, %c1 : i32"),
]


def test_a_while_loop_gives_its_result_and_the_loops_in_it():
    """Entries, iterations in all, and rounded up for each entry, from ranges of the same numbers."""
    found = evaluator(*WHILE, a=20, b=6, n=4)
    outer, inner, fixed = loops_of(found)
    ranges = [range(p[0], 20, 6) for p in PROGRAMS]
    assert found.value("%r") == [mine[-1] + 6 + 1 for mine in ranges]
    assert found.trips(outer) == [len(mine) for mine in ranges]
    assert found.trips(inner) == [math.ceil(sum(mine) / len(mine)) for mine in ranges]
    assert found.trips(fixed) == [4, 4, 4]
    assert found.walked(inner) == ([len(mine) for mine in ranges], [sum(mine) for mine in ranges])
    assert found.walked(outer) == ([1, 1, 1], [len(mine) for mine in ranges])
    assert found.passed(outer) == {}
    for last, place in ((False, 0), (True, -1)):
        found.at(outer, last=last)
        found.inside(outer.index)
        assert found.value("%at") == [mine[place] for mine in ranges]


def test_a_while_loop_that_data_ends_leaves_others_known():
    """The loop in it whose bounds do not change has them; the other one depends on how far it has come."""
    found = evaluator(*WHILE, b=6, n=4)
    outer, inner, fixed = loops_of(found)
    assert (found.trips(outer), found.trips(inner), found.trips(fixed)) == (None, None, 4)
    assert (found.walked(outer), found.walked(inner), found.passed(outer)) == (None, None, {})
    assert found.value("%r") is None
    found = evaluator(*WHILE, b=6, n=4)
    assert found.trips(loops_of(found)[2]) == 4


def test_a_while_loop_in_another_has_no_result_of_its_own():
    inside = ["scf.for %o = %c0 to %b step %c1 : i32 {", *WHILE, "}"]
    assert evaluator(*inside, a=20, b=6, n=4).value("%r") is None


@pytest.mark.parametrize(
    ("lines", "given_", "missing", "elements"),
    [
        (["scf.for %i = %c0 to %n step %a : i32 {"], {"a": 64}, ("n",), 64),
        (["scf.for %i = %c0 to %n step %a : i32 {"], {"n": 64}, ("a",), None),
        (["scf.for %i = %c0 to %n step %a : i32 {"], {"a": 64, "n": 5}, (), None),
        # Twice as many elements an iteration; one less to begin with.
        (["%h = arith.divsi %n, %b : i32", "scf.for %i = %c0 to %h step %a : i32 {"], {"a": 8, "b": 2}, ("n",), 16),
        (["%h = arith.minsi %n, %b : i32", "scf.for %i = %c0 to %h step %a : i32 {"], {"a": 8, "b": 2}, ("n",), None),
        (["%h = arith.subi %b, %n : i32", "scf.for %i = %c0 to %h step %a : i32 {"], {"a": 8, "b": 2}, ("n",), None),
        # A length from memory, a difference of two offsets, and memory of known contents.
        (["%l = tt.load %p : !tt.ptr<i32>", "scf.for %i = %c0 to %l step %a : i32 {"], {"a": 8}, ("values of p",), 8),
        (
            [
                *("%l = tt.load %p : !tt.ptr<i32>", "%at = tt.addptr %p, %c1 : !tt.ptr<i32>, i32"),
                *("%m = tt.load %at : !tt.ptr<i32>", "scf.for %i = %l to %m step %a : i32 {"),
            ],
            {"a": 32},
            ("values of p",),
            32,
        ),
        (
            ["%l = tt.load %p : !tt.ptr<i32>", "scf.for %i = %c0 to %l step %a : i32 {"],
            {"a": 8, "contents": {"p": [64]}},
            (),
            None,
        ),
        (
            ["%l = tt.load %q : !tt.ptr<i32>", "scf.for %i = %c0 to %l step %a : i32 {"],
            {"a": 8, "contents": {"p": [64]}},
            ("values of q",),
            8,
        ),
        (["scf.for %i = %c0 to %elsewhere step %a : i32 {"], {"a": 8}, (), None),
        # What is carried into the loop is no bound of it.
        (["%e = scf.for %i = %c0 to %a step %c1 iter_args(%s = %n) -> (i32) : i32 {"], {"a": 8}, (), None),
    ],
)
def test_what_is_missing_for_a_loop_is_named(lines, given_, missing, elements):
    """With the elements that one more iteration needs, where the iterations grow with what is missing."""
    found = evaluator(*lines, "}", **given_)
    (loop,) = loops_of(found)
    assert found.missing(loop) == missing
    assert found.elements_an_iteration(loop) == elements


def test_iterations_that_are_known_for_one_length_only_tell_no_elements():
    """The bound is in memory at 1 or 0 for n of 2^20 or 2^21, the two that are tried; only what is at 0 is known."""
    lines = [
        *("%large = arith.constant 1048576 : i32", "%c2 = arith.constant 2 : i32"),
        *("%many = arith.divsi %n, %large : i32", "%index = arith.subi %c2, %many : i32"),
        *("%at = tt.addptr %p, %index : !tt.ptr<i32>, i32", "%l = tt.load %at : !tt.ptr<i32>"),
        *("scf.for %i = %c0 to %l step %a : i32 {", "}"),
    ]
    for n, trips in ((1 << 20, None), (1 << 21, 8)):
        known = evaluator(*lines, a=8, n=n, contents={"p": [64]})
        assert known.trips(loops_of(known)[0]) == trips
    found = evaluator(*lines, a=8, contents={"p": [64]})
    (loop,) = loops_of(found)
    assert found.missing(loop) == ("n",)
    assert found.elements_an_iteration(loop) is None


class Counting(Named):
    """Counts the operations that are worked out."""

    count = 0

    def _read(self, *given_):
        self.count += 1
        return super()._read(*given_)


def test_arithmetic_of_one_launch_is_worked_out_once():
    """Another evaluator of the same workgroups has it from the first one; one of other workgroups has not."""
    module = mlir.parse(HEAD + "%y = arith.addi %x, %a : i32\n%r = arith.muli %y, %y : i32\ntt.return\n}\n}\n")
    first, again, other = (Counting(module, {"a": 3}, programs, GRID) for programs in (PROGRAMS, PROGRAMS, [(9, 0, 0)]))
    assert [found.value("%r") for found in (first, again, other)] == [[9, 16, 64], [9, 16, 64], [144]]
    # A product, a sum, and the workgroup's number.
    assert [found.count for found in (first, again, other)] == [3, 0, 3]


def test_what_a_loop_around_carries_is_followed_to_its_beginning():
    """The bound of the inner loop begins as an argument."""
    lines = [
        "%e = scf.for %i = %c0 to %a step %c1 iter_args(%s = %n) -> (i32) : i32 {",
        *("scf.for %j = %c0 to %s step %c1 : i32 {", "}", "scf.yield %s : i32", "}"),
    ]
    found = evaluator(*lines, a=8)
    assert found.missing(loops_of(found)[1]) == ("n",)
    assert evaluator(*lines, a=8, n=3).value("%s") == 3


def test_a_chain_of_any_length_ends():
    """170 additions are followed, more than 180 are not."""
    lines = [f"%s{n + 1} = arith.addi %s{n}, %c1 : i32" for n in range(400)]
    found = evaluator("%s0 = arith.addi %c0, %c0 : i32", *lines)
    assert found.value("%s170") == 170
    assert evaluator("%s0 = arith.addi %c0, %c0 : i32", *lines).value("%s400") is None


def test_a_module_without_a_function_has_no_arguments():
    found = Named(mlir.parse("%r = arith.constant 3 : i32"), {"a": 5}, [(0, 0, 0)], (1, 1, 1), {"p": [1]})
    assert (found.value("%r"), found.value("%a"), found.value("%p")) == (3, 5, None)
