"""How aligned addresses are and how constant masks: compared with what Triton makes of them."""

import operator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof.inputs.amdgcn import InstructionClass
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.memory.addressing import mask_of
from kprof_analyzers.memory.alignment import (
    given_divisors,
    known_alignment,
    mask_is_constant,
    pointer_from_memory,
)
from kprof_analyzers.memory.dataflow import flow_of, global_loads
from kprof_analyzers.pipeline import facts_of

FILE = Path(__file__).parents[2] / "rules" / "ab_kernels" / "aligned.py"
BOTH, NO_COLUMNS, NO_STRIDE = "i32:16,i32:16", "i32,i32:16", "i32:16,i32"
FORMS = [
    *((wide, 0, "none", BOTH) for wide in (4001, 4002, 4004, 4008)),
    *((0, shift, "none", BOTH) for shift in (1, 2, 4, 8)),
    *((0, 0, mask, divisible) for mask in ("below", "above", "up to") for divisible in (BOTH, NO_COLUMNS, NO_STRIDE)),
    (0, 8, "below", BOTH),
    (0, 4, "below", BOTH),
    (0, 0, "third", BOTH),
    (0, 0, "row", BOTH),
    (0, 0, "row", NO_COLUMNS),
    (0, 0, "hint", NO_STRIDE),
]


@pytest.mark.triton
@pytest.mark.parametrize(("wide", "shift", "mask", "divisible"), FORMS)
def test_as_triton_decides(wide, shift, mask, divisible):
    """Its own analysis decides the width of the loads; alignment and mask explain that width."""
    pytest.importorskip("triton")
    constexprs = {"BLOCK": 2048, "WIDE": wide, "SHIFT": shift, "MASK": mask}
    options = CompileOptions(
        arch=("gfx942",),
        signature=f"*fp16:16,*fp32:16,{divisible}",
        constexpr=constexprs,
        config={"num_warps": 4},
    )
    (kernel,) = load(f"{FILE}::rows", options)
    facts, _ = facts_of(kernel)
    opcodes = [i.opcode for i in facts.program.instructions if i.opcode.cls is InstructionClass.VMEM]
    width = max(opcode.bytes_per_lane or 0 for opcode in opcodes if opcode.is_load)
    (read,) = global_loads(facts.ttgir)
    found = mask_of(read)
    constant = next((w for w in (16, 8, 4) if found is None or mask_is_constant(read, found, 0, w)), 2)
    assert min(known_alignment(read, 0, 16), constant) == width


HEAD = """#b = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %t: i32 {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %c64 = arith.constant 64 : i32
    %four = arith.constant dense<4> : tensor<2048xi32, #b>
    %r = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #b>
"""
LOAD = "%v = amdg.buffer_load %x[{}] : !tt.ptr<f16> -> tensor<2048xf16, #b>\n"
TAIL = "    tt.return\n  }\n}\n"


def alignment(body):
    """Of the last load of a function with a range %r at hand."""
    *_, read = global_loads(mlir.parse(HEAD + body + TAIL))
    return known_alignment(read, 0, 16)


def plus(scalar):
    """The range moved on by a number."""
    return (
        f"    %s = tt.splat {scalar} : i32 -> tensor<2048xi32, #b>\n"
        "    %o = arith.addi %r, %s : tensor<2048xi32, #b>\n    " + LOAD.format("%o")
    )


@pytest.mark.parametrize(
    ("scalar", "known"),
    [
        ("%c0", 16),
        ("%c4", 8),
        ("%t", 16),
        ("%n", 2),
        ("muli %n, %c4", 8),
        ("muli %n, %c64", 16),
        ("divsi %t, %c4", 8),
        ("divsi %c64, %c8", 16),
        ("divsi %t, %n", 2),
        ("divsi %n, %c4", 2),
        ("remsi %t, %c4", 8),
        ("andi %n, %c8", 16),
        ("minsi %t, %c4", 8),
        ("shli %n, %c4", None),
    ],
)
def test_arithmetic(scalar, known):
    """What divides both sides divides a sum, a remainder, a minimum; products add up; the rest is not known."""
    if scalar.startswith("%"):
        assert alignment(plus(scalar)) == known
    else:
        assert alignment(f"    %a = arith.{scalar} : i32\n" + plus("%a")) == known


@pytest.mark.parametrize(("first", "step", "known"), [("%c0", "%c64", 16), ("%c4", "%c64", 8), ("%c0", "%c4", 8)])
def test_what_a_loop_counts(first, step, known):
    """The first value and the step decide."""
    body = f"    scf.for %i = {first} to %n step {step}  : i32 {{\n{plus('%i')}    }}\n"
    assert alignment(body) == known


def test_what_a_loop_carries_is_what_holds_in_every_iteration():
    """A range that moves on by 4 is aligned in the first iteration only."""
    loop = "    %e = scf.for %i = %c0 to %n step %c64 iter_args(%p = %r) -> (tensor<2048xi32, #b>)  : i32 {\n"
    body = "      " + LOAD.format("%p") + "      %q = arith.addi %p, %four : tensor<2048xi32, #b>\n"
    assert alignment(f"{loop}{body}      scf.yield %q : tensor<2048xi32, #b>\n    }}\n") == 8
    assert alignment("    " + LOAD.format("%r")) == 16


@pytest.mark.parametrize(
    ("making", "known"),
    [
        # Nothing is known of a program's number, of a sum over lanes, or of what memory holds.
        *((f"%a = {op}", 2) for op in ("tt.get_program_id x : i32", "tt.get_num_programs x : i32")),
        *((f"%a = {op} : i32", 2) for op in ("tt.load %x", "amdg.buffer_load %x[%n]", "tt.reduce %r")),
        *((f"%b = {op}\n    %a = arith.muli %b, %c4 : i32", 8) for op in ("tt.get_program_id x : i32", "tt.load %x")),
        # The same number in another type.
        *((f"%a = {op} %t : i32 to i64", 16) for op in ("arith.extsi", "arith.extui", "arith.trunci", "tt.bitcast")),
        ("%a = arith.index_cast %t : i32 to index", 16),
        # What divides both sides divides the result.
        *(
            (f"%a = arith.{op} %t, %c4 : i32", 8)
            for op in ("addi", "subi", "remsi", "remui", "minsi", "maxsi", "minui", "maxui", "ori", "xori")
        ),
        # Either of two numbers, whatever decides.
        ("%a = arith.select %n, %t, %c4 : i1, i32", 8),
        ("%a = arith.divui %t, %c4 : i32", 8),
        ("%a = arith.divui %t, %c8 : i32", 4),
        ("%a = ttg.convert_layout %t : i32 -> i32", 16),
        # 4 / 8 has a remainder; so has 16 / 3; nothing is divided by zero or by a negative power of two.
        ("%a = arith.divsi %c4, %c8 : i32", 2),
        *((f"%b = arith.constant {by} : i32\n    %a = arith.divsi %t, %b : i32", 2) for by in (3, 0, -4)),
        ("%b = arith.constant 1 : i32\n    %a = arith.divsi %t, %b : i32", 16),
        # Bits that either side lacks are lacking; 0 lacks all.
        ("%a = arith.andi %c4, %c8 : i32", 16),
        ("%a = arith.andi %n, %n : i32", 2),
        ("%a = arith.andi %n, %c0 : i32", 16),
        # Multiples: 4 * 3, 12 is no more than 4.
        ("%b = arith.constant 3 : i32\n    %a = arith.muli %c4, %b : i32", 8),
        ("%a = arith.muli %c0, %n : i32", 16),
        ("%a = arith.constant 12 : i32", 8),
        ("%a = arith.constant -8 : i32", 16),
        ("%a = arith.constant 0.5 : f32", None),
        # tl.multiple_of, of a number and of a tensor.
        ("%a = arith.shli %n, %n {tt.divisibility = 8 : i32} : i32", 16),
        ("%a = arith.shli %n, %n {tt.divisibility = dense<4> : tensor<1xi32>} : i32", 8),
        ("%a = arith.addi %unknown, %t : i32", None),
    ],
)
def test_what_is_known_of_a_number(making, known):
    """Bytes that a range of f16 plus that number begins at, every 8 elements: twice what divides the number."""
    assert alignment(f"    {making}\n" + plus("%a")) == known


@pytest.mark.parametrize(
    ("attributes", "known"), [("end = 9 : i32, start = 4 : i32", 8), ("end = 9 : i32, start = 6 : i32", 4), ("", None)]
)
def test_a_range_begins_where_it_says(attributes, known):
    making = f"    %o = tt.make_range {{{attributes}}} : tensor<2048xi32, #b>\n"
    assert alignment(making + "    " + LOAD.format("%o")) == known


@pytest.mark.parametrize(("width", "known"), [(16, 16), (8, 8), (4, 4), (2, 2), (1, None)])
def test_no_more_is_known_than_is_asked(width, known):
    """An element of 2 bytes is no access of 1."""
    (read,) = global_loads(mlir.parse(HEAD + "    " + LOAD.format("%r") + TAIL))
    assert known_alignment(read, 0, width) == known


def test_the_pointer_counts_in_bytes():
    """%y is a multiple of 4 bytes, %z of nothing that is known; an offset of 4 elements of f16 is one of 8 bytes."""
    head = HEAD.replace("%n: i32,", "%n: i32, %y: !tt.ptr<f16> {tt.divisibility = 4 : i32}, %z: !tt.ptr<f16>,")
    body = plus("%c4") + "".join("    " + LOAD.format("%o").replace("%x", name) for name in ("%y", "%z"))
    for name in ("%x", "%y"):
        body += f"    %p{name[1]} = tt.splat {name} : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>, #b>\n"
        body += f"    %q{name[1]} = tt.addptr %p{name[1]}, %o : tensor<2048x!tt.ptr<f16>, #b>, tensor<2048xi32, #b>\n"
        body += f"    %l{name[1]} = tt.load %q{name[1]} : tensor<2048x!tt.ptr<f16>, #b>\n"
    found = mlir.parse(head + body + TAIL)
    assert given_divisors(found) == {"x": 16, "y": 4, "t": 16}
    known = {str(read).partition(" = ")[0] + read.text: known_alignment(read, 0, 16) for read in global_loads(found)}
    assert list(known.values()) == [8, 4, 1, 8, 4]


def test_a_module_without_functions_promises_nothing():
    assert given_divisors(mlir.parse("module {\n}\n")) == {}


def test_of_two_counters_with_one_name_the_inner_one_is_meant():
    outer = "    scf.for %i = %c0 to %n step %c64  : i32 {\n"
    inner = "    scf.for %i = %c4 to %n step %c64  : i32 {\n"
    assert alignment(outer + inner + plus("%i") + "    }\n    }\n") == 8
    assert alignment(outer + "    scf.if %c {\n" + plus("%i") + "    }\n    }\n") == 16
    assert alignment(outer + "    }\n" + plus("%i")) is None


@pytest.mark.parametrize(("long", "known"), [(190, 16), (230, None)])
def test_about_two_hundred_operations_are_followed(long, known):
    lines = ["    %a0 = arith.addi %t, %t : i32\n"]
    lines += [f"    %a{n + 1} = arith.addi %a{n}, %t : i32\n" for n in range(long)]
    assert alignment("".join(lines) + plus(f"%a{long}")) == known


def applied(function, a, b):
    """The result, where both sides are defined."""
    return None if a is None or b is None else function(a, b)


def divided(a, b):
    """Towards zero, as arith.divsi does; by zero nothing is defined."""
    return None if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATIONS = {
    "addi": operator.add, "subi": operator.sub, "muli": operator.mul, "andi": operator.and_, "ori": operator.or_,
    "xori": operator.xor, "minsi": min, "maxsi": max, "divsi": divided,
    "remsi": lambda a, b: None if b == 0 else a - b * divided(a, b),
}  # fmt: skip
PREDICATES = {"slt": operator.lt, "sle": operator.le, "sgt": operator.gt, "sge": operator.ge, "eq": operator.eq}
KIND = "tensor<2048xi32, #b>"


@st.composite
def offsets(draw):
    """Lines that compute offsets, and functions from an index, n and t to what is computed there; the last one last."""
    scalars = (("%n", lambda i, n, t: n), ("%t", lambda i, n, t: t))
    scalars += tuple((f"%c{c}", lambda i, n, t, c=c: c) for c in (0, 4, 8, 64))
    lines = [f"    %w{number} = tt.splat {name} : i32 -> {KIND}\n" for number, (name, _) in enumerate(scalars)]
    made = [("%r", lambda i, n, t: i)] * 3 + [(f"%w{number}", value) for number, (_, value) in enumerate(scalars)]
    for number in range(draw(st.integers(1, 4))):
        name, function = draw(st.sampled_from(sorted(OPERATIONS.items(), key=str)))
        (a, left), (b, right) = draw(st.sampled_from(made)), draw(st.sampled_from(made))
        lines.append(f"    %f{number} = arith.{name} {a}, {b} : {KIND}\n")
        made.append((f"%f{number}", lambda i, n, t, f=function, a=left, b=right: applied(f, a(i, n, t), b(i, n, t))))
    return "".join(lines), made


@given(offsets(), st.integers(-9, 9), st.integers(-3, 3))
def test_addresses_are_multiples_of_what_is_known_of_them(expression, n, t):
    """Evaluated where each of the first accesses begins, for numbers that keep the launch's promise."""
    body, made = expression
    name, value = made[-1]
    known = alignment(body + "    " + LOAD.format(name))
    found = [value(index, n, 16 * t) for index in range(0, 256, 8)]
    assert known is None or all(offset is None or 2 * offset % known == 0 for offset in found)


@given(offsets(), st.sampled_from(sorted(PREDICATES)), st.booleans(), st.integers(-3, 9), st.integers(-3, 3))
def test_masks_that_are_called_constant_are(expression, predicate, swap, n, t):
    """Evaluated at all elements of the first accesses of 8 elements."""
    body, made = expression
    (a, left), (b, right) = (made[-1], made[-2]) if swap else (made[-2], made[-1])
    line = f"    %m = arith.cmpi {predicate}, {a}, {b} : {KIND}\n"
    found = mlir.parse(HEAD + body + line + "    " + LOAD.format("%r") + TAIL)
    (read,), (mask,) = global_loads(found), found.named("arith.cmpi")
    if mask_is_constant(read, flow_of(found).results(mask)[0], 0, 16):
        for begin in range(0, 128, 8):
            values = [(left(i, n, 16 * t), right(i, n, 16 * t)) for i in range(begin, begin + 8)]
            if all(None not in pair for pair in values):
                assert len({PREDICATES[predicate](*pair) for pair in values}) == 1


def compare(predicate, left, right):
    return f"    %m = arith.cmpi {predicate}, {left}, {right} : {KIND}\n"


SPLATS = f"""    %n8 = arith.muli %n, %c8 : i32
    %every8 = tt.splat %n8 : i32 -> {KIND}
    %any = tt.splat %n : i32 -> {KIND}
    %one = arith.constant dense<1> : {KIND}
    %two = arith.constant dense<2> : {KIND}
    %pairs = arith.muli %r, %two : {KIND}
    %late = arith.addi %r, %one : {KIND}
    %mixed = arith.cmpi slt, %r, %any : {KIND}
    %fall = arith.subi %every8, %r : {KIND}
    %level = arith.cmpi slt, %r, %every8 : {KIND}
"""


@pytest.mark.parametrize(
    ("lines", "constant"),
    [
        # Below a multiple of 8, counted from a multiple of 8: 8 elements are all below or all not.
        *((compare(p, "%r", "%every8"), p in {"slt", "ult", "sge", "uge"}) for p in ("slt", "ult", "sge", "uge")),
        *((compare(p, "%every8", "%r"), True) for p in ("sgt", "ugt", "sle", "ule")),
        # r <= 8 n holds for one element of the last access, and so on.
        *((compare(p, "%r", "%every8"), False) for p in ("sle", "ule", "sgt", "ugt", "eq", "ne")),
        *((compare(p, "%every8", "%r"), False) for p in ("slt", "ult", "sge", "uge")),
        (compare("slt", "%r", "%any"), False),
        (compare("slt", "%pairs", "%every8"), False),
        (compare("slt", "%late", "%every8"), False),
        (compare("slt", "%r", "%r"), False),
        # 8 n - r is a multiple of 8 for the first of 8 elements alone, and falls after it.
        (compare("slt", "%fall", "%every8"), False),
        (compare("slt", "%any", "%every8"), True),
        (f"    %s = arith.shli %r, %one : {KIND}\n" + compare("slt", "%s", "%every8"), None),
        (f"    %s = arith.shli %r, %one : {KIND}\n" + compare("slt", "%every8", "%s"), None),
        (f"    %m = arith.andi %level, %level : {KIND}\n", True),
        *((f"    %m = arith.{op} %level, %mixed : {KIND}\n", False) for op in ("andi", "ori", "xori")),
        (f"    %m = arith.select %level, %level, %mixed : {KIND}\n", False),
        (f"    %m = ttg.convert_layout %mixed : {KIND} -> {KIND}\n", False),
        (f"    %m = tt.broadcast %level : {KIND} -> {KIND}\n", True),
        (f"    %m = tt.splat %n : i1 -> {KIND}\n", True),
        ("    %m = arith.constant dense<true> : tensor<2048xi1, #b>\n", True),
        (f"    %m = arith.addi %level, %level : {KIND}\n", None),
        (f"    %m = arith.andi %level, %nobody : {KIND}\n", None),
    ],
)
def test_which_masks_are_constant(lines, constant):
    """For accesses of 8 elements of 2 bytes."""
    found = mlir.parse(HEAD + SPLATS + lines + "    " + LOAD.format("%r") + TAIL)
    (read,) = global_loads(found)
    mask = next(op for op in found.operations if op.results == ("%m",))
    assert mask_is_constant(read, flow_of(found).results(mask)[0], 0, 16) is constant
    assert mask_is_constant(read, flow_of(found).results(mask)[0], 0, 1) is None


ROWS = """    %r0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b>
    %lim = tt.splat %n : i32 -> tensor<64xi32, #b>
    %low = arith.cmpi slt, %r0, %lim : tensor<64xi32, #b>
    %m = tt.expand_dims %low {axis = 1 : i32} : tensor<64xi1, #b> -> tensor<64x1xi1, #b>
    %row = tt.expand_dims %r0 {axis = 1 : i32} : tensor<64xi32, #b> -> tensor<64x1xi32, #b>
    %col = tt.expand_dims %r0 {axis = 0 : i32} : tensor<64xi32, #b> -> tensor<1x64xi32, #b>
    %bad = tt.expand_dims %r0 : tensor<64xi32, #b> -> tensor<1x64xi32, #b>
"""


@pytest.mark.parametrize(
    ("offset", "along_rows", "along_columns"), [("%row", 16, 2), ("%col", 2, 16), ("%bad", None, None)]
)
def test_axes_that_are_made(offset, along_rows, along_columns):
    """A mask of rows is the same along columns; a range is any number along the axis that it does not run along."""
    (read,) = global_loads(found := mlir.parse(HEAD + ROWS + "    " + LOAD.format(offset) + TAIL))
    assert [known_alignment(read, axis, 16) for axis in (0, 1)] == [along_rows, along_columns]
    mask = next(op for op in found.operations if op.results == ("%m",))
    value = flow_of(found).results(mask)[0]
    assert [mask_is_constant(read, value, axis, 16) for axis in (0, 1)] == [False, True]


def test_a_mask_of_columns_is_the_same_along_rows():
    """Its axis comes after the one that is made."""
    text = ROWS.replace("%m = tt.expand_dims %low {axis = 1", "%m = tt.expand_dims %low {axis = 0")
    (read,) = global_loads(found := mlir.parse(HEAD + text + "    " + LOAD.format("%row") + TAIL))
    mask = next(op for op in found.operations if op.results == ("%m",))
    assert [mask_is_constant(read, flow_of(found).results(mask)[0], axis, 16) for axis in (0, 1)] == [True, False]


@pytest.mark.parametrize(
    ("making", "name"),
    [
        ("%where_3 = tt.int_to_ptr %n : i64 -> !tt.ptr<f16>", "where"),
        ("%w = tt.int_to_ptr %n : i64 -> !tt.ptr<f16>\n    %where_3 = tt.bitcast %w : i64 -> !tt.ptr<f16>", "w"),
        ("%where_3 = tt.int_to_ptr %n {tt.divisibility = 16 : i32} : i64 -> !tt.ptr<f16>", None),
        ("%where_3 = tt.bitcast %x : !tt.ptr<f16> -> !tt.ptr<f16>", None),
        ("%where_3 = tt.load %x : !tt.ptr<!tt.ptr<f16>>", None),
    ],
)
def test_a_pointer_that_memory_holds_has_the_kernel_s_name(making, name):
    """Without the number that MLIR adds; with a hint it is as good as an argument."""
    read = LOAD.format("%r").replace("%x", "%where_3")
    (load,) = (op for op in global_loads(mlir.parse(HEAD + f"    {making}\n    {read}" + TAIL)) if "%r" in op.text)
    assert pointer_from_memory(load) == name


def test_a_mask_of_a_thousand_parts_is_not_known():
    """It must not exhaust the stack."""
    lines = [f"    %d0 = arith.andi %level, %level : {KIND}\n"]
    lines += [f"    %d{n + 1} = arith.andi %d{n}, %level : {KIND}\n" for n in range(1000)]
    found = mlir.parse(HEAD + SPLATS + "".join(lines) + "    " + LOAD.format("%r") + TAIL)
    (read,) = global_loads(found)
    masks = [flow_of(found).results(op)[0] for op in found.named("arith.andi")]
    assert mask_is_constant(read, masks[100], 0, 16) is True
    assert mask_is_constant(read, masks[-1], 0, 16) is None
