"""The code to write where a mask keeps accesses narrow: the bound along the contiguous axis is padded, no other."""

import pytest

from kprof.inputs import mlir
from kprof_analyzers.memory.dataflow import GLOBAL_STORES, global_loads
from kprof_analyzers.memory.narrowness import causes_of, loads_needed
from tests.analyzers.memory.test_addressing import module, scaled

ROWS = """    %cs = tt.splat %s : i32 -> tensor<64x1xi32, #b>
    %cm = arith.cmpi slt, %r1, %cs : tensor<64x1xi32, #b>
    %rm = tt.broadcast %cm : tensor<64x1xi1, #b> -> tensor<64x64xi1, #b>
"""
COLUMNS = """    %ns = tt.splat %n : i32 -> tensor<64x64xi32, #b>
    %m = arith.cmpi slt, %k2, %ns : tensor<64x64xi32, #b>
"""
BOTH = ROWS + COLUMNS.replace("%m =", "%nm =") + "    %m = arith.andi %nm, %rm : tensor<64x64xi1, #b>\n"
COMPUTED = """    %n8 = arith.muli %n, %n : i32
    %ns = tt.splat %n8 : i32 -> tensor<64x64xi32, #b>
    %m = arith.cmpi slt, %k2, %ns : tensor<64x64xi32, #b>
"""
N = "load and store under k2 < tl.multiple_of(n_PADDED, 8), with a new argument"
UNNAMED = "load and store under a mask with tl.multiple_of(PADDED, 8) for its bound, with a new argument"
FILLED = " to which every tensor under it is padded; after the load, v = tl.where({}, v, 0.0) removes the padding"


@pytest.mark.parametrize(
    ("mask", "fix"),
    [(COLUMNS, N), (BOTH, N), (COMPUTED, UNNAMED)],
    ids=["a bound of columns", "rows have another bound", "a bound that is computed"],
)
def test_the_bound_along_the_contiguous_axis_is_padded(mask, fix):
    """Rows masked by ``s`` do not make the loads narrow. ``n`` itself stays: a mean is divided by it."""
    body = scaled("%t") + mask + "    %v = amdg.buffer_load %x[%o], %m : !tt.ptr<f16> -> tensor<64x64xf16, #b>\n"
    (load,) = global_loads(module(body))
    (cause,) = causes_of(load)
    assert cause.fix == cause.fix_for({}) == fix + FILLED.format("k2 < n" if fix == N else "offsets < bound")


def test_the_padded_bound_of_a_launch_is_a_number():
    """It is the bound rounded up; where the launch does not pass the bound, nothing is said of it."""
    (cause,) = causes(scaled("%t"), COLUMNS)
    host = "padded on the host, as x = torch.nn.functional.pad(x, (0, 7)) (a copy, not in the time);"
    filled = FILLED.format("k2 < n").replace("padded;", host)
    assert cause.fix_for({"n": 1001}) == f"{N} (n_PADDED = 1008){filled}"
    assert cause.fix_for({"s": 1001}) == cause.fix


STORES = {
    "to a pointer": """    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #b>
    %xp = tt.addptr %xs, %o : tensor<64x64x!tt.ptr<f16>, #b>, tensor<64x64xi32, #b>
    tt.store %xp, %v, %m : tensor<64x64x!tt.ptr<f16>, #b>
""",
    "to a buffer": "    amdg.buffer_store %v, %x[%o], %m : tensor<64x64xf16, #b>\n",
}


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_the_mask_of_a_store_is_not_its_value(store):
    """A pointer is followed by the value, a buffer's offsets by the mask."""
    value = "    %v = arith.constant dense<1.0> : tensor<64x64xf16, #b>\n"
    (found,) = module(scaled("%t") + COLUMNS + value + store).named(*GLOBAL_STORES)
    (cause,) = causes_of(found)
    assert cause.fix == f"{N} to which every tensor under it is padded"


def causes(body, mask="", offset="%o"):
    """Why a load of a 64x64 tile of 2-byte elements is narrow."""
    load = f"    %v = amdg.buffer_load %x[{offset}]{', %m' if mask else ''} : !tt.ptr<f16> -> tensor<64x64xf16, #b>\n"
    *_, found = global_loads(module(body + mask + load))
    return causes_of(found)


UNEVEN = scaled("%s").replace("%k2", "%kt") + "    %o2 = arith.addi %o, %o : tensor<64x64xi32, #b>\n"
COLUMNS_APART = """    %ts = tt.splat %t : i32 -> tensor<64x64xi32, #b>
    %kt = arith.muli %k2, %ts : tensor<64x64xi32, #b>
"""
GATHERED = "    %o = amdg.buffer_load %x[%k2] : !tt.ptr<i32> -> tensor<64x64xi32, #b>\n"


def test_no_axis_is_contiguous():
    """The steps of each axis are named."""
    (cause,) = causes(COLUMNS_APART + UNEVEN)
    assert cause.words == "no axis is contiguous in memory (steps of s, t elements)"
    last = "make the axis that is contiguous in memory the last axis of the block, and pass 1 as s or t"
    assert (
        cause.fix
        == f"{last}; or on the host x = x.mT.contiguous() (a copy, not in the time), and swap the strides of its axes"
    )


ROW = "    %row_3 = tt.get_program_id x : i32\n"
SCALED = """    %ss = tt.splat %s : i32 -> tensor<64xi32, #c>
    %ks = arith.muli %k0, %ss : tensor<64xi32, #c>
"""
ADDED = """    %at = tt.splat %row_3 : i32 -> tensor<64xi32, #c>
    %o = arith.addi %ks, %at : tensor<64xi32, #c>
"""
IN_A_LOOP = """    %begin = arith.muli %n, %s : i32
    %begins = tt.splat %begin : i32 -> tensor<64xi32, #c>
    %later = arith.addi %begins, %o : tensor<64xi32, #c>
"""
READ = "    %v = amdg.buffer_load %x[{}] : !tt.ptr<f16> -> tensor<64xf16, #c>\n"
POINTERS = """    %first = tt.addptr %x, %row_3 : !tt.ptr<f16>, i32
    %firsts = tt.splat %first : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #c>
    %q = tt.addptr %firsts, %ks : tensor<64x!tt.ptr<f16>, #c>, tensor<64xi32, #c>
    %v = tt.load %q : tensor<64x!tt.ptr<f16>, #c>
"""


@pytest.mark.parametrize(
    ("body", "swapped"),
    [
        (ROW + SCALED + ADDED + READ.format("%o"), "x + row * s + k0"),
        (ROW + SCALED + ADDED + IN_A_LOOP + READ.format("%later"), "x + row * s + k0"),
        (ROW + SCALED + POINTERS, "x + row * s + k0"),
        # No row, two of them, a row without a name.
        (SCALED + READ.format("%ks"), None),
        (ROW + SCALED + "    %more = arith.remsi %row_3, %n : i32\n" + ADDED.replace("%row_3", "%more")
         + READ.format("%o"), "x + more * s + k0"),
        (ROW.replace("%row_3", "%7") + SCALED + ADDED.replace("%row_3", "%7") + READ.format("%o"), None),
        (ROW + SCALED + ADDED + ADDED.replace("%row_3", "%n").replace("%ks", "%o").replace("%o =", "%o2 =").replace(
         "%at", "%at2") + READ.format("%o2"), None),
    ],
)  # fmt: skip
def test_a_row_of_a_matrix_that_lies_the_other_way(body, swapped):
    """The line to type once the host has turned it, where the address is that of one row; else in general words."""
    *_, load = global_loads(module(body))
    (cause,) = causes_of(load)
    host = "on the host x = x.mT.contiguous() (a copy, not in the time), and "
    general = "make the axis that is contiguous in memory the last axis of the block, and pass "
    if swapped is not None:
        assert cause.fix == f"{host}in the kernel {swapped}"
    else:
        assert cause.fix.startswith(general)
        assert cause.fix.endswith(f"; or {host}swap the strides of its axes")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("arith.muli %k0, %ss", "arith.muli %ss"),
        ("arith.muli %k0, %ss", "arith.muli"),
        ("%ks = arith.muli %k0, %ss : tensor<64xi32, #c>", "%ks = arith.muli %k0, %ss"),
        ("arith.addi %ks, %at", "arith.addi %ks"),
    ],
)
def test_a_damaged_address_is_no_error(old, new):
    """Operands and types may be lost; then less is said."""
    body = (ROW + SCALED + ADDED).replace(old, new)
    *_, load = global_loads(module(body + READ.format("%o")))
    assert all("in the kernel" not in cause.fix or "row" in cause.fix for cause in causes_of(load))


def test_what_is_stored_is_not_copied_on_the_host_before():
    """A copy of the output would be written in vain."""
    body = COLUMNS_APART + UNEVEN
    store = "    amdg.buffer_store %w, %x[%o] : !tt.ptr<f16>, tensor<64x64xf16, #b>\n"
    stored = module(body + "    %w = arith.constant dense<0.0> : tensor<64x64xf16, #b>\n" + store)
    (cause,) = causes_of(next(op for op in stored.operations if op.name == "amdg.buffer_store"))
    assert cause.fix == "make the axis that is contiguous in memory the last axis of the block, and pass 1 as s or t"


@pytest.mark.parametrize(("wide", "words"), [(4, ("rows of the tile have 8 bytes",)), (8, ())])
def test_rows_below_one_access(wide, words):
    """A row of 16 bytes is no shorter than the widest access."""
    body = f"""    %q0 = tt.make_range {{end = {wide} : i32, start = 0 : i32}} : tensor<{wide}xi32, #c>
    %q1 = tt.expand_dims %q0 {{axis = 0 : i32}} : tensor<{wide}xi32, #c> -> tensor<1x{wide}xi32, #b>
    %q2 = tt.broadcast %q1 : tensor<1x{wide}xi32, #b> -> tensor<64x{wide}xi32, #b>
    %ts = tt.splat %t : i32 -> tensor<64x1xi32, #b>
    %rt = arith.muli %r1, %ts : tensor<64x1xi32, #b>
    %rb = tt.broadcast %rt : tensor<64x1xi32, #b> -> tensor<64x{wide}xi32, #b>
    %o = arith.addi %rb, %q2 : tensor<64x{wide}xi32, #b>
    %v = amdg.buffer_load %x[%o] : !tt.ptr<f16> -> tensor<64x{wide}xf16, #b>
"""
    (load,) = global_loads(module(body))
    found = causes_of(load)
    assert tuple(cause.words for cause in found) == words
    assert [cause.fix for cause in found] == [
        "make the block at least 8 elements long on its contiguous axis" for _ in words
    ]


@pytest.mark.parametrize(
    ("constant", "other"),
    [("0.000000e+00", "0.0"), ("-1.500000e+00", "-1.5"), ("3", "3.0"), ("0xFC00", "other"), ("e", "other")],
)
def test_what_a_masked_load_gives_elsewhere(constant, other):
    """Its own number stays what the padding is replaced by; minus infinity is written as bits and not read."""
    making = f"    %else = arith.constant dense<{constant}> : tensor<64x64xf16, #b>\n"
    load = "    %v = amdg.buffer_load %x[%o], %m, %else : !tt.ptr<f16> -> tensor<64x64xf16, #b>\n"
    *_, found = global_loads(module(scaled("%t") + COLUMNS + making + load))
    (cause,) = causes_of(found)
    assert cause.fix.endswith(f"v = tl.where(k2 < n, v, {other}) removes the padding")


def test_arguments_that_are_not_known_to_be_divisible():
    """Two are named in the order of the signature."""
    (one,) = causes(scaled("%s"))
    assert one.words == "s is not known to be a multiple of 16"
    assert one.fix == "if it holds, tell the compiler: s = tl.multiple_of(s, 16)"
    assert one.lacking == ("s",)
    both = "    %sn = arith.addi %s, %n : i32\n" + scaled("%sn")
    (two,) = causes(both)
    assert two.words == "n and s are not known to be a multiple of 16"
    assert two.fix == "if it holds, tell the compiler: n = tl.multiple_of(n, 16), s = tl.multiple_of(s, 16)"
    assert causes(scaled("%t")) == ()


def test_a_hint_that_the_launch_makes_untrue_is_not_given():
    """Its rows have to be padded first; what is a multiple, or not known, is left as it is."""
    (two,) = causes("    %sn = arith.addi %s, %n : i32\n" + scaled("%sn"))
    assert two.fix_for({}) == two.fix_for({"n": 32, "s": 4096}) == two.fix
    hints = "and type n = tl.multiple_of(n, 16), s = tl.multiple_of(s, 16)"
    pad = "pad the rows to a multiple of 16 elements"
    assert two.fix_for({"n": 1001, "s": 4096}) == f"{pad} (n 1,001 → 1,008) {hints}"
    assert two.fix_for({"n": 17, "s": 100}) == f"{pad} (n 17 → 32, s 100 → 112) {hints}"


@pytest.mark.parametrize("name", ["divsi", "remsi", "minsi", "maxsi"])
def test_what_a_tiles_number_is_computed_from_is_not_blamed(name):
    """The number of a tile says nothing of where it begins; how far the address is known is said instead."""
    body = (
        f"    %first = arith.{name} %n, %s : i32\n"
        + scaled("%t", "a")
        + """    %fs = tt.splat %first : i32 -> tensor<64x64xi32, #b>
    %o = arith.addi %a, %fs : tensor<64x64xi32, #b>
"""
    )
    (cause,) = causes(body)
    assert cause.words == "its address is only known to be a multiple of 2 bytes"
    assert cause.fix == "wrap the offsets: tl.max_contiguous(tl.multiple_of(offsets, BLOCK), BLOCK)"
    assert cause.lacking == ()


def test_a_number_from_memory_is_not_blamed_on_where_it_was_loaded_from():
    """``n`` is where the first row's number stands, not the row."""
    body = "    %at = tt.addptr %x, %n : !tt.ptr<f16>, i32\n    %first = tt.load %at : !tt.ptr<i32>\n" + scaled(
        "%t", "a"
    )
    body += "    %fs = tt.splat %first : i32 -> tensor<64x64xi32, #b>\n"
    body += "    %o = arith.addi %a, %fs : tensor<64x64xi32, #b>\n"
    (cause,) = causes(body)
    assert cause.words == "its address is only known to be a multiple of 2 bytes"


WAYS = {
    "converted": COLUMNS.replace("%m =", "%mc =").replace("%nm", "%mc")
    + "    %m = ttg.convert_layout %mc : tensor<64x64xi1, #b> -> tensor<64x64xi1, #b>\n",
    "a limit that is converted": COLUMNS.replace("%ns =", "%nc =").replace(
        "    %m", "    %ns = ttg.convert_layout %nc : tensor<64x64xi32, #b> -> tensor<64x64xi32, #b>\n    %m"
    ),
    "a limit that is broadcast": """    %nc = tt.splat %n : i32 -> tensor<1x64xi32, #b>
    %ns = tt.broadcast %nc : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
    %m = arith.cmpi slt, %k2, %ns : tensor<64x64xi32, #b>
""",
    "a longer number": "    %nl = arith.extsi %n : i32 to i64\n" + COLUMNS.replace("splat %n : i32", "splat %nl : i64"),
    "a shorter number": "    %nl = arith.trunci %n : i32 to i16\n"
    + COLUMNS.replace("splat %n : i32", "splat %nl : i16"),
    "compared along one axis": """    %ns = tt.splat %n : i32 -> tensor<64xi32, #c>
    %m0 = arith.cmpi slt, %k0, %ns : tensor<64xi32, #c>
    %m1 = tt.expand_dims %m0 {axis = 0 : i32} : tensor<64xi1, #c> -> tensor<1x64xi1, #b>
    %m2 = tt.broadcast %m1 : tensor<1x64xi1, #b> -> tensor<64x64xi1, #b>
    %ss = tt.splat %s : i32 -> tensor<64xi32, #r>
    %l0 = arith.cmpi slt, %r0, %ss : tensor<64xi32, #r>
    %l1 = tt.expand_dims %l0 {axis = 1 : i32} : tensor<64xi1, #r> -> tensor<64x1xi1, #b>
    %l2 = tt.broadcast %l1 : tensor<64x1xi1, #b> -> tensor<64x64xi1, #b>
    %m = arith.andi %m2, %l2 : tensor<64x64xi1, #b>
""",
}


@pytest.mark.parametrize("mask", WAYS.values(), ids=WAYS)
def test_a_bound_is_found_however_it_comes_to_the_mask(mask):
    """``n`` is the bound of the columns in each."""
    (cause,) = causes(scaled("%t"), mask)
    assert cause.words == "its mask may change inside 16 bytes"
    assert cause.fix.startswith((N, N.replace("k2", "k0")))


def test_a_mask_of_rows_does_not_split_an_access():
    """All elements of one row have the same, also behind an operation that says nothing of how long a mask stays."""
    assert causes(scaled("%t"), ROWS.replace("%rm", "%m")) == ()
    unknown = ROWS + "    %m = arith.muli %rm, %rm : tensor<64x64xi1, #b>\n"
    converted = "    %m = ttg.convert_layout {} : tensor<64x64xi1, #b> -> tensor<64x64xi1, #b>\n"
    assert causes(scaled("%t"), unknown) == ()
    assert causes(scaled("%t"), unknown.replace("%m =", "%u =") + converted.format("%u")) == ()
    columns = COLUMNS.replace("%m =", "%cm2 =") + "    %m = arith.muli %cm2, %cm2 : tensor<64x64xi1, #b>\n"
    (cause,) = causes(scaled("%t"), columns)
    assert cause.words == "its mask may change inside 16 bytes"


def test_where_the_contiguous_axis_is_not_known_every_bound_counts():
    """Offsets from memory: a mask that a position has a part in may change, one of a number alone does not."""
    (cause,) = causes(GATHERED, BOTH)
    assert cause.words == "its mask may change inside 16 bytes"
    assert cause.fix == (
        "load and store under a mask with tl.multiple_of(n_PADDED, 8) and tl.multiple_of(s_PADDED, 8) for n and s, "
        "with a new argument" + FILLED.format("offsets < bound")
    )
    number = "    %c = arith.cmpi slt, %n, %s : i32\n    %m = tt.splat %c : i1 -> tensor<64x64xi1, #b>\n"
    assert causes(GATHERED, number) == ()


def test_a_mask_that_cannot_be_followed_may_change_where_a_position_has_a_part_in_it():
    """A mask from memory: its place depends on the position."""
    loaded = "    %m = amdg.buffer_load %x[%k2] : !tt.ptr<i1> -> tensor<64x64xi1, #b>\n"
    along_one = """    %m0 = amdg.buffer_load %x[%k0] : !tt.ptr<i1> -> tensor<64xi1, #c>
    %m1 = tt.expand_dims %m0 {axis = 0 : i32} : tensor<64xi1, #c> -> tensor<1x64xi1, #b>
    %m = tt.broadcast %m1 : tensor<1x64xi1, #b> -> tensor<64x64xi1, #b>
"""
    for mask in (loaded, along_one):
        (cause,) = causes(scaled("%t"), mask)
        assert cause.fix.startswith(UNNAMED)


NEEDED = """#b = #ttg.blocked<{{sizePerThread = [{each}], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32}} {{
  tt.func @k(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
    %r = tt.make_range {{end = {elements} : i32, start = 0 : i32}} : tensor<{elements}xi32, #b>
    %v = amdg.buffer_load %x[%r] : !tt.ptr<{element}> -> tensor<{elements}x{element}{layout}>
    tt.return
  }}
}}
"""


def needed(*tiles):
    """Wide loads that loads of tiles need: elements, their type, and the layout where it is another one."""
    loads = []
    for elements, element, *layout in tiles:
        text = NEEDED.format(elements=elements, element=element, each=1, layout=layout[0] if layout else ", #b")
        loads += global_loads(mlir.parse(text))
    return loads_needed(loads)


def test_wide_loads_that_tiles_need():
    """256 lanes fetch 4,096 bytes with one; each tile is loaded on its own."""
    assert needed((1024, "f32")) == 1
    assert needed((2048, "f32")) == 2
    assert needed((1024, "f32"), (1024, "f16")) == 2


def test_small_and_thin_tiles_need_none():
    """Less than a wavefront fetches at once, or no more than 4 bytes a lane: neither is worth a change."""
    assert needed((128, "f32")) == 0
    assert needed((256, "f16")) == 0
    assert needed((256, "f32")) == 0  # 1,024 bytes, 4 in a lane
    assert needed((512, "f16")) == 0
    assert needed((512, "f32")) == 1  # 8 in a lane
    assert needed((512, "f16"), (512, "f32")) == 2
    assert needed((256, "f32"), (512, "f16")) == 0


@pytest.mark.parametrize("layout", ["", ", #other"])
def test_a_layout_that_is_not_known_is_taken_for_one_of_wide_loads(layout):
    """None, and one of a kind that is not read: 1,024 bytes are enough then."""
    assert needed((256, "f32", layout)) == 1
    assert needed((128, "f32", layout)) == 0
