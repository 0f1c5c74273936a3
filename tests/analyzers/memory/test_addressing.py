"""Data flow and strides of TTGIR modules, on names used twice, carried values and LDS."""

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.memory.addressing import (
    Stride,
    address,
    constant,
    element_bytes,
    pointer,
    steps_of,
    strides,
    tile,
)
from kprof_analyzers.memory.dataflow import arguments, flow_of, global_loads
from kprof_analyzers.memory.narrowness import causes_of
from kprof_analyzers.memory.replication import products, replication

HEAD = """#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#r = #ttg.slice<{dim = 1, parent = #b}>
#c = #ttg.slice<{dim = 0, parent = #b}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %s: i32, %t: i32 {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %five = arith.constant 5 : i32
    %r0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #r>
    %r1 = tt.expand_dims %r0 {axis = 1 : i32} : tensor<64xi32, #r> -> tensor<64x1xi32, #b>
    %k0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #c>
    %k1 = tt.expand_dims %k0 {axis = 0 : i32} : tensor<64xi32, #c> -> tensor<1x64xi32, #b>
    %k2 = tt.broadcast %k1 : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
    %two = arith.constant dense<2> : tensor<64x1xi32, #b>
"""
TAIL = "    tt.return\n  }\n}\n"
LOAD = "%v = amdg.buffer_load %x[{}] : !tt.ptr<f16> -> tensor<64x64xf16, #b>\n"


def module(body):
    """A function with rows %r1 and columns %k2 at hand."""
    return mlir.parse(HEAD + body + TAIL)


def scaled(by, name="o"):
    """Rows times something plus columns."""
    return f"""    %{name}s = tt.splat {by} : i32 -> tensor<64x1xi32, #b>
    %{name}m = arith.muli %r1, %{name}s : tensor<64x1xi32, #b>
    %{name}b = tt.broadcast %{name}m : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
    %{name} = arith.addi %{name}b, %k2 : tensor<64x64xi32, #b>
"""


def test_rows_by_a_stride_and_contiguous_columns():
    """The usual tile; sizes and arguments are read too."""
    found = module(scaled("%s") + "    " + LOAD.format("%o"))
    (load,) = global_loads(found)
    assert strides(load) == {0: Stride(1, ("s",)), 1: Stride()}
    assert element_bytes(load) == 2
    assert arguments(found) == ("x", "n", "s", "t")
    assert strides(load)[0].value({"s": 4096}) == 4096
    assert strides(load)[0].value({}) is None
    assert str(strides(load)[0]) == "s"


def test_gathered_rows_are_irregular_and_their_columns_are_not():
    """Row numbers that come from memory."""
    body = """    %g0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #r>
    %rows = amdg.buffer_load %x[%g0] : !tt.ptr<i32> -> tensor<64xi32, #r>
    %g1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #r> -> tensor<64x1xi32, #b>
    %gs = tt.splat %s : i32 -> tensor<64x1xi32, #b>
    %gm = arith.muli %g1, %gs : tensor<64x1xi32, #b>
    %gb = tt.broadcast %gm : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
    %o = arith.addi %gb, %k2 : tensor<64x64xi32, #b>
"""
    *_, load = global_loads(module(body + "    " + LOAD.format("%o")))
    assert strides(load) == {0: None, 1: Stride()}


def test_a_pointer_that_a_loop_moves_on_keeps_its_strides():
    """The carried offset's first value decides."""
    body = (
        scaled("%s")
        + "    %e:1 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (tensor<64x64xi32, #b>)  : i32 {\n"
    )
    body += "      " + LOAD.format("%p") + "      %q = arith.addi %p, %k2 : tensor<64x64xi32, #b>\n"
    body += "      scf.yield %q : tensor<64x64xi32, #b>\n    }\n"
    (load,) = global_loads(module(body))
    assert strides(load) == {0: Stride(1, ("s",)), 1: Stride()}
    assert load.loop is not None


def test_a_name_that_two_loops_use_is_two_values():
    """MLIR gives names away again once their region has ended."""
    loop = "    scf.for %i = %c0 to %n step %c1  : i32 {{\n{}      " + LOAD.format("%o") + "    }}\n"
    found = module(loop.format(scaled("%s")) + loop.format(scaled("%t")))
    assert [str(strides(load)[0]) for load in global_loads(found)] == ["s", "t"]


def test_products_of_two_positions_are_irregular():
    """Rows times columns have no stride."""
    body = "    %b1 = tt.broadcast %r1 : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>\n"
    body += "    %o = arith.muli %b1, %k2 : tensor<64x64xi32, #b>\n    " + LOAD.format("%o")
    (load,) = global_loads(module(body))
    assert strides(load) == {0: None, 1: None}


def test_constants_are_multiplied_in():
    """A stride that was made a constant."""
    body = "    %m = arith.muli %r1, %two : tensor<64x1xi32, #b>\n"
    body += "    %b1 = tt.broadcast %m : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>\n"
    body += "    %o = arith.addi %b1, %k2 : tensor<64x64xi32, #b>\n    " + LOAD.format("%o")
    (load,) = global_loads(module(body))
    assert strides(load)[0] == Stride(2)


def test_what_goes_through_lds_is_followed_on_demand():
    """From a read back to the store into the same buffer and its load."""
    body = """    %buf = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
    scf.for %i = %c0 to %n step %c1  : i32 {
      %v = amdg.buffer_load %x[%k2] : !tt.ptr<f16> -> tensor<64x64xf16, #b>
      ttg.local_store %v, %buf : tensor<64x64xf16, #b> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
      %l = ttg.local_load %buf : !ttg.memdesc<64x64xf16, #s, #smem, mutable> -> tensor<64x64xf16, #b>
    }
"""
    found = module(body)
    (read,) = found.named("ttg.local_load")
    flow = flow_of(found)
    value = flow.inputs(read)[0]
    assert "amdg.buffer_load" in [op.name for op in flow.back(value, memory=True)]
    assert "amdg.buffer_load" not in [op.name for op in flow.back(value)]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (scaled("%s") + "    " + LOAD.format("%o"), ["s is not known to be a multiple of 16"]),
        (scaled("%t") + "    " + LOAD.format("%o"), []),
        (scaled("%five") + "    " + LOAD.format("%o"), ["its address is only known to be a multiple of 2 bytes"]),
    ],
)
def test_why_a_load_is_narrow(body, words):
    """A stride without divisibility is named; with it there is nothing to say; of a number what follows from it."""
    (load,) = global_loads(module(body))
    assert [cause.words for cause in causes_of(load)] == words


def test_a_mask_along_the_tile_is_named():
    """Where all else would allow wide loads."""
    body = scaled("%t") + "    %m = arith.cmpi slt, %k2, %k2 : tensor<64x64xi32, #b>\n"
    body += "    %v = amdg.buffer_load %x[%o], %m : !tt.ptr<f16> -> tensor<64x64xf16, #b>\n"
    (load,) = global_loads(module(body))
    assert [cause.words for cause in causes_of(load)] == ["its mask may change inside 16 bytes"]


@pytest.mark.parametrize(("warps", "copies"), [("4, 1", 1), ("8, 1", 2), ("4, 2", 1), ("8, 2", 2)])
def test_repeated_matrix_work(warps, copies):
    """64 rows keep four wavefronts busy, one below the other."""
    mma = f"#ttg.amd_mfma<{{version = 3, warpsPerCTA = [{warps}], instrShape = [16, 16, 16], isTransposed = true}}>"
    a, b = (f"#ttg.dot_op<{{opIdx = {i}, parent = #mma, kWidth = 4}}>" for i in (0, 1))
    text = f"""#mma = {mma}
module attributes {{"ttg.num-warps" = 4 : i32}} {{
  tt.func public @k(%n: i32, %l: tensor<64x32xf16, {a}>, %w: tensor<32x64xf16, {b}>, %d: tensor<64x64xf32, #mma>) {{
    scf.for %i = %n to %n step %n  : i32 {{
      %r = tt.dot %l, %w, %d : tensor<64x32xf16, {a}> * tensor<32x64xf16, {b}> -> tensor<64x64xf32, #mma>
    }}
    tt.return
  }}
}}
"""
    found = mlir.parse(text)
    (product,) = products(found)
    assert (product.shape, product.copies, product.flops) == ((64, 64, 32), copies, 2 * 64 * 64 * 32)
    assert replication(found) == copies


SQUARE = "tensor<64x64xi32, #b>"


def last_steps(body):
    """Steps of the value of a function's last assignment."""
    found = module(body)
    *_, op = (op for op in found.operations if op.results)
    return steps_of(found, flow_of(found).results(op)[0])


def binary(name, left, right, kind="64x1"):
    return f"    %o = arith.{name} {left}, {right} : tensor<{kind}xi32, #b>\n"


TRANS = "    %u = tt.trans {} {{order = array<i32: 1, 0>}} : tensor<{}xi32, #b> -> tensor<{}xi32, #b>\n"
HISTOGRAM = "    %h = tt.histogram %r1 : tensor<64x1xi32, #b> -> tensor<64x1xi32, #b>\n"
POINTERS = """    %p = tt.splat %x : !tt.ptr<i32> -> tensor<64x1x!tt.ptr<i32>, #b>
    %q = tt.addptr %p, %r1 : tensor<64x1x!tt.ptr<i32>, #b>, tensor<64x1xi32, #b>
"""
SPLAT = "    %d = tt.splat {} : i32 -> tensor<64x1xi32, #b>\n"


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        (SPLAT.format("%s"), {}),
        (SPLAT.format("%s") + binary("addi", "%r1", "%d"), {0: Stride()}),
        (SPLAT.format("%s") + binary("subi", "%r1", "%d"), {0: Stride()}),
        (SPLAT.format("%s") + binary("subi", "%d", "%r1"), {0: Stride(-1)}),
        (SPLAT.format("%s") + binary("muli", "%d", "%r1"), {0: Stride(1, ("s",))}),
        (SPLAT.format("%s") + binary("muli", "%d", "%d"), {}),
        (SPLAT.format("%five") + binary("muli", "%r1", "%d"), {0: Stride(5)}),
        (binary("addi", "%r1", "%r1"), {0: None}),
        (binary("muli", "%r1", "%r1"), {0: None}),
        # Wrapped round at s, and counted from the end of a tile that itself wraps round.
        (SPLAT.format("%s") + binary("remsi", "%r1", "%d"), {0: Stride()}),
        (SPLAT.format("%s") + binary("remsi", "%d", "%r1"), {0: None}),
        (SPLAT.format("%s") + binary("divsi", "%r1", "%d"), {0: None}),
        (SPLAT.format("%s") + binary("divui", "%d", "%d"), {}),
        # What is not followed.
        (SPLAT.format("%s") + binary("shli", "%r1", "%d"), None),
        (SPLAT.format("%s") + binary("shli", "%d", "%d") + binary("addi", "%r1", "%o"), None),
        (SPLAT.format("%s") + binary("shli", "%d", "%d") + binary("muli", "%o", "%r1"), None),
        # Numbers that are no tensors are the same for all lanes, whatever makes them.
        ("    %a = arith.shli %s, %n : i32\n" + SPLAT.format("%a") + binary("addi", "%r1", "%d"), {0: Stride()}),
        ("    %o = arith.shli %s, %n : i32\n", {}),
        ("    %w = arith.extsi %r1 : tensor<64x1xi32, #b> to tensor<64x1xi64, #b>\n", {0: Stride()}),
        ("    %w = tt.expand_dims %r0 {axis = 0 : i32} : tensor<64xi32, #r> -> tensor<1x64xi32, #b>\n", {1: Stride()}),
        ("    %w = tt.expand_dims %r0 : tensor<64xi32, #r> -> tensor<1x64xi32, #b>\n", None),
        (TRANS.format("%r1", "64x1", "1x64"), {1: Stride()}),
        (TRANS.format("%k1", "1x64", "64x1"), {0: Stride()}),
        ("    %w = tt.trans %k1 : tensor<1x64xi32, #b> -> tensor<64x1xi32, #b>\n", None),
        (HISTOGRAM + TRANS.format("%h", "64x1", "1x64"), None),
        (
            HISTOGRAM + "    %u = tt.expand_dims %h {axis = 0 : i32} : tensor<64xi32, #r> -> tensor<1x64xi32, #b>\n",
            None,
        ),
        (POINTERS, {0: Stride()}),
        # Loaded indices are irregular along the axes along which they are loaded, and no others.
        (POINTERS + "    %v = tt.load %q : tensor<64x1x!tt.ptr<i32>, #b>\n", {0: None}),
        (HISTOGRAM + "    %v = amdg.buffer_load %x[%h] : !tt.ptr<i32> -> tensor<64x1xi32, #b>\n", None),
    ],
)
def test_steps_of_an_expression(body, steps):
    """Counted by hand: how far the value moves when the row or the column moves on by one."""
    assert last_steps(body) == steps


@pytest.mark.parametrize(
    ("making", "step"),
    [
        (
            "    %e = arith.extsi %s : i32 to i64\n    %d = tt.splat %e : i64 -> tensor<64x1xi64, #b>\n",
            Stride(1, ("s",)),
        ),
        ("    %e = arith.constant 3 : i64\n    %d = tt.splat %e : i64 -> tensor<64x1xi64, #b>\n", Stride(3)),
        # A computed number has no value that a caller could give; its name is its own.
        ("    %e = arith.addi %s, %n : i32\n    %d = tt.splat %e : i32 -> tensor<64x1xi32, #b>\n", Stride(1, ("e",))),
        ("    %d = arith.constant dense<-4> : tensor<64x1xi32, #b>\n", Stride(-4)),
    ],
)
def test_what_a_step_is_multiplied_by(making, step):
    assert last_steps(making + binary("muli", "%r1", "%d")) == {0: step}


def test_words_and_numbers_of_a_step():
    """An argument that is not known, or is no number, leaves the step unknown."""
    step = Stride(2, ("s",)).times(-3, ("n", "s"))
    assert step == Stride(-6, ("n", "s", "s"))
    assert str(step) == "-6 * n * s * s"
    assert (str(Stride()), str(Stride(4)), str(Stride(1, ("s",)))) == ("1", "4", "s")
    assert step.value({"n": 2, "s": 5}) == -6 * 2 * 5 * 5
    assert Stride(4).value({}) == 4
    assert [step.value({"n": 2, "s": other}) for other in (True, 5.0, "5", None)] == [None] * 4
    assert step.value({"s": 5}) is None


ACCESSES = """    %p = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #b>
    %q = tt.addptr %p, %k2 : tensor<64x64x!tt.ptr<f16>, #b>, tensor<64x64xi32, #b>
    %m = arith.cmpi slt, %k2, %k2 : tensor<64x64xi32, #b>
    %a = tt.load %q, %m : tensor<64x64x!tt.ptr<f16>, #b>
    %b = amdg.buffer_load %x[%k2], %m : tensor<64x64xf16, #b>
    tt.store %q, %a : tensor<64x64x!tt.ptr<f16>, #b>
    amdg.buffer_store %b, %x[%k2] : tensor<64x64xf16, #b>
    %c = tt.load %x : !tt.ptr<f16>
    amdg.buffer_load
    tt.load
"""


def test_the_address_the_pointer_and_the_tile_of_each_access():
    """Read off the text: what is in brackets, what stands before them, else the first operand."""
    found = module(ACCESSES)
    accesses = [*found.named("tt.load", "amdg.buffer_load", "tt.store", "amdg.buffer_store")]
    names = [tuple(None if v is None else v.partition("@")[0] for v in (address(op), pointer(op))) for op in accesses]
    plain, buffer, nothing = ("%q", "%q"), ("%k2", "%x"), (None, None)
    assert names == [plain, buffer, plain, buffer, ("%x", "%x"), nothing, nothing]
    assert [op.name for op in accesses if strides(op) is None] == ["amdg.buffer_load", "tt.load"]
    assert [held.shape if held else None for held in map(tile, accesses)] == [(64, 64)] * 4 + [None] * 3
    assert [element_bytes(op) for op in accesses[:5]] == [2, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("element", "size"),
    [("f64", 8), ("f32", 4), ("i8", 1), ("f8E4M3FNUZ", 1), ("i1", None), ("i7", None), ("!tt.ptr<i64>", 8)],
)
def test_bytes_of_an_element(element, size):
    """Of a pointer those of what it points to; single bits are loaded as bytes by nobody."""
    (load,) = module(f"    %v = amdg.buffer_load %x[%k2] : tensor<64x64x{element}, #b>\n").named("amdg.buffer_load")
    assert element_bytes(load) == size


def test_a_type_without_elements_has_no_bytes():
    (op,) = module("    %v = arith.extsi %n : i32 to i64\n").named("arith.extsi")
    assert element_bytes(op) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("64 : i32", 64),
        ("-3 : i32", -3),
        ("dense<2> : tensor<64xi32, #c>", 2),
        ("dense<-2> : tensor<64xi32, #c>", -2),
        ("0.5 : f32", None),
        ("true", None),
        ("dense<[1, 2]> : tensor<2xi32, #c>", None),
    ],
)
def test_the_number_of_a_constant(text, number):
    *_, op = (op for op in module(f"    %q = arith.constant {text}\n").operations if op.results)
    assert constant(op) == number


def test_only_constants_have_a_number():
    (op,) = module("    %q = tt.splat 64 : i32 -> tensor<64xi32, #c>\n").named("tt.splat")
    assert constant(op) is None


def test_a_chain_of_any_length_is_followed():
    """Longer than Python's stack is deep."""
    lines = ["    %v0 = arith.addi %two, %r1 : tensor<64x1xi32, #b>\n"]
    lines += [f"    %v{n + 1} = arith.addi %v{n}, %two : tensor<64x1xi32, #b>\n" for n in range(3000)]
    assert last_steps("".join(lines)) == {0: Stride()}


LOOP = (
    "    %e:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %k2, %d = %n) -> (tensor<64x64xi32, #b>, i32)  : i32 {\n"
)


@pytest.mark.parametrize(("yielded", "steps"), [("%q", {1: Stride()}), ("%g", {1: None}), ("%e#0", None)])
def test_what_a_loop_gives_has_the_steps_of_what_it_yields(yielded, steps):
    """Columns moved on by a number, and loaded ones; a value that depends on itself is not known."""
    body = LOOP + "      %q = arith.addi %p, %n : tensor<64x64xi32, #b>\n"
    body += "      %g = amdg.buffer_load %x[%q] : !tt.ptr<i32> -> tensor<64x64xi32, #b>\n"
    body += f"      scf.yield {yielded}, %d : tensor<64x64xi32, #b>, i32\n    }}\n"
    body += "    %w = tt.broadcast %e#0 : tensor<64x64xi32, #b> -> tensor<64x64xi32, #b>\n"
    assert last_steps(body) == steps


CASTS = ("tt.broadcast", "ttg.convert_layout", "tt.bitcast", *(f"arith.{op}" for op in ("extsi", "extui", "trunci")))


@pytest.mark.parametrize("name", [*CASTS, "arith.index_cast"])
def test_other_types_and_layouts_keep_steps_and_numbers(name):
    kinds = "tensor<64x1xi32, #b> to tensor<64x1xi64, #b>"
    assert last_steps(f"    %w = {name} %r1 : {kinds}\n") == {0: Stride()}
    assert last_steps(f"    %w = {name} %two : {kinds}\n" + binary("muli", "%r1", "%w")) == {0: Stride(2)}


@st.composite
def expressions(draw):
    """Lines that compute a tensor, and a function from a row and a column to what is computed there."""
    lines = ["    %e0 = tt.broadcast %r1 : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>\n"]
    lines += [f"    %e{n} = tt.splat {name} : i32 -> {SQUARE}\n" for n, name in ((2, "%s"), (3, "%n"), (4, "%five"))]
    made = [("%e0", lambda i, j: i), ("%k2", lambda i, j: j)]
    made += [(f"%e{n}", lambda i, j, value=value: value) for n, value in ((2, 7), (3, -3), (4, 5))]
    arithmetic = {"addi": operator.add, "subi": operator.sub, "muli": operator.mul}
    for number in range(draw(st.integers(1, 6))):
        name, function = draw(st.sampled_from(sorted(arithmetic.items(), key=str)))
        (a, left), (b, right) = draw(st.sampled_from(made)), draw(st.sampled_from(made))
        lines.append(f"    %f{number} = arith.{name} {a}, {b} : {SQUARE}\n")
        made.append((f"%f{number}", lambda i, j, f=function, a=left, b=right: f(a(i, j), b(i, j))))
    return "".join(lines), made[-1][1]


@given(expressions())
def test_steps_are_those_of_the_expression_evaluated_at_every_place(expression):
    """Along an axis that is not named nothing changes; along one with a known step each neighbour is that far."""
    body, value = expression
    steps = last_steps(body)
    for axis, (down, right) in enumerate(((1, 0), (0, 1))):
        differences = {value(i + down, j + right) - value(i, j) for i in range(4) for j in range(4)}
        known = steps[axis].value({"s": 7, "n": -3}) if steps.get(axis) is not None else None
        if axis not in steps:
            assert differences == {0}
        elif known is not None:
            assert differences == {known}
