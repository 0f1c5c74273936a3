"""What a load finds of earlier loads of its workgroup, against the addresses of both, counted one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.model.overlaps import fresh_shares

HEAD = """\
#w = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
#r = #ttg.slice<{dim = 1, parent = #w}>
#c = #ttg.slice<{dim = 0, parent = #w}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%x: !tt.ptr<f16>, %pitch: i32, %step: i32, %n: i32, %on: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
"""
END = "\n    tt.return\n  }\n}\n"
FIRST = "%v = amdg.buffer_load %x[%at] : !tt.ptr<f16> -> tensor<4x8xf16, #w>"
SECOND = "%u = amdg.buffer_load %x[%at] : !tt.ptr<f16> -> tensor<4x8xf16, #w>"


def offsets(rows=4, columns=8, name="at"):
    """Addresses of a tile whose rows are ``pitch`` apart and whose columns are ``step`` apart."""
    tall, wide, whole = (f"tensor<{size}xi32, #w>" for size in (f"{rows}x1", f"1x{columns}", f"{rows}x{columns}"))
    return f"""
    %r{name} = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32, #r>
    %re{name} = tt.expand_dims %r{name} {{axis = 1 : i32}} : tensor<{rows}xi32, #r> -> {tall}
    %rp{name} = tt.splat %pitch : i32 -> {tall}
    %rm{name} = arith.muli %re{name}, %rp{name} : {tall}
    %rb{name} = tt.broadcast %rm{name} : {tall} -> {whole}
    %c{name} = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32, #c>
    %ce{name} = tt.expand_dims %c{name} {{axis = 0 : i32}} : tensor<{columns}xi32, #c> -> {wide}
    %cp{name} = tt.splat %step : i32 -> {wide}
    %cm{name} = arith.muli %ce{name}, %cp{name} : {wide}
    %cb{name} = tt.broadcast %cm{name} : {wide} -> {whole}
    %{name} = arith.addi %rb{name}, %cb{name} : {whole}"""


def shares(body, corners, live=None, *, pitch=100, step=1, **known):
    """What is fresh of each load of a program, 1 where nothing else is told; ``live`` and corners by their order."""
    module = mlir.parse(HEAD + body + END)
    ops = [op for op in module.operations if "buffer_load" in op.name or "buffer_store" in op.name]
    arguments = {"pitch": pitch, "step": step} | known
    masked = {op.index: share for op, share in zip(ops, live or (), strict=False) if share < 1}
    found = fresh_shares([*zip(ops, corners, strict=True)], masked, arguments)
    assert all(share < 1 for share in found.values())
    return [found.get(op.index, 1.0) for op in ops]


def tile(first, pitch, step, rows=4, columns=8):
    return {first + r * pitch + c * step for r in range(rows) for c in range(columns)}


TWO = f"{offsets()}\n    {FIRST}\n    {SECOND}"


@given(
    first=st.integers(0, 50),
    down=st.integers(0, 5),
    right=st.integers(0, 9),
    back=st.booleans(),
    odd=st.booleans(),
    pitch=st.integers(20, 30),
    step=st.sampled_from([1, 2, 3]),
)
def test_a_shifted_tile_is_new_where_no_address_is_in_the_old_one(first, down, right, back, odd, pitch, step):
    """Moved by rows and columns, either way; between two columns it has no address of the old one."""
    pitch *= step
    distance = down * pitch + right * step + (odd and step > 1)
    corners = (first + distance, first) if back else (first, first + distance)
    one, other = (tile(corner, pitch, step) for corner in corners)
    found = shares(TWO, corners, pitch=pitch, step=step)
    assert found == pytest.approx([1.0, len(other - one) / len(other)])


def test_a_column_may_be_the_larger_step_and_steps_may_go_backwards():
    """A transposed tile, and one whose rows go up in memory, moved by one row of a hundred elements."""
    assert shares(TWO, (0, 1), pitch=1, step=100) == [1.0, 1 / 4]
    assert shares(TWO, (0, 100), pitch=1, step=100) == [1.0, 1 / 8]
    assert shares(TWO, (0, 100), pitch=-100) == [1.0, 1 / 4]


def test_workgroups_have_to_agree_on_the_distance():
    """Each moves by one column, or one of three does not; a number stands for all workgroups."""
    assert shares(TWO, ([0, 5, 9], [1, 6, 10])) == pytest.approx([1.0, 1 / 8])
    assert shares(TWO, ([0, 5, 9], [1, 6, 11])) == [1.0, 1.0]
    assert shares(TWO, ([3], 4)) == pytest.approx([1.0, 1 / 8])
    assert shares(TWO, ([3, 3], 4)) == [1.0, 1.0]
    assert shares(TWO, (None, 4)) == shares(TWO, (4, None)) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("live", "fresh"),
    [
        ((1.0, 1.0), 1 / 8),
        ((0.25, 1.0), 1 - 7 / 8 / 4),  # a quarter of the old tile was loaded
        ((0.25, 0.5), 1 - 7 / 8 / 2),  # half as much as is loaded now
        ((1.0, 0.5), 1 / 8),  # of what is loaded now the old tile has no more than all
        ((0.25, 0.0), 1 / 8),  # nothing is loaded: no share to scale
    ],
)
def test_what_a_mask_left_out_is_not_there(live, fresh):
    assert shares(TWO, (0, 1), live)[1] == pytest.approx(fresh)


def test_of_several_earlier_loads_the_nearest_counts():
    """Three columns and one column further: five of eight, then seven of eight are there already."""
    three = f"{offsets()}\n    {FIRST}\n    {SECOND}\n    {FIRST.replace('%v', '%t')}"
    assert shares(three, (0, 3, 4)) == pytest.approx([1.0, 3 / 8, 1 / 8])
    assert shares(three, (3, 0, 4)) == pytest.approx([1.0, 3 / 8, 1 / 8])


STORE = "amdg.buffer_store %v, %x[%at] : tensor<4x8xf16, #w>"
LOOP = "scf.for %i = %c0 to %n step %c1  : i32 {{\n {}\n    }}"
BRANCH = "scf.if %on {{\n {}\n    }} else {{\n {}\n    }}"


@pytest.mark.parametrize(
    "body",
    [
        f"{offsets()}\n {FIRST}\n {LOOP.format(SECOND)}",  # in a loop and before it
        f"{offsets()}\n {LOOP.format(FIRST)}\n {LOOP.format(SECOND)}",
        f"{offsets()}\n {BRANCH.format(FIRST, SECOND)}",  # on both sides of a branch
        f"{offsets()}\n {FIRST}\n {BRANCH.format(SECOND, '')}",
        f"{offsets()}\n {FIRST}\n {SECOND.replace('f16', 'f32')}",  # elements of another size
        f"{offsets()}\n {offsets(8, 4, 'o')}\n {FIRST}\n {SECOND.replace('4x8', '8x4').replace('%at', '%o')}",
        f"{offsets()}\n {FIRST}\n {STORE}",
    ],
)
def test_loads_of_other_places_and_other_shapes_are_not_compared(body):
    assert shares(body, (0, 0)) == [1.0, 1.0]


def test_loads_of_one_branch_or_one_loop_are_compared():
    for body in (BRANCH.format(f"{FIRST}\n {SECOND}", ""), LOOP.format(f"{FIRST}\n {SECOND}")):
        assert shares(f"{offsets()}\n {body}", (0, 1)) == pytest.approx([1.0, 1 / 8])


def test_a_tile_of_unknown_steps_or_of_one_element_many_times_is_not_compared():
    """The pitch is not known; all rows are one."""
    assert shares(TWO, (0, 0), pitch=None) == [1.0, 1.0]
    assert shares(TWO, (0, 0), pitch=0) == [1.0, 1.0]


def test_an_axis_of_one_element_moves_nothing():
    """One row of eight: how far rows are apart does not matter."""
    one = f"{offsets(1, 8)}\n    {FIRST}\n    {SECOND}".replace("4x8", "1x8")
    assert shares(one, (0, 2), pitch=None) == pytest.approx([1.0, 2 / 8])
    assert shares(one, (0, 3), pitch=3) == pytest.approx([1.0, 3 / 8])


def test_two_rows_are_an_axis():
    two = f"{offsets(2, 8)}\n    {FIRST}\n    {SECOND}".replace("4x8", "2x8")
    assert shares(two, (0, 100)) == [1.0, 1 / 2]
    assert shares(two, (0, 0), pitch=None) == [1.0, 1.0]


def test_scalars_are_no_tiles():
    """Their addresses are known, and there is no extent to overlap."""
    module = mlir.parse(f"{HEAD}    %v = tt.load %x : !tt.ptr<f16>\n    %u = tt.load %x : !tt.ptr<f16>{END}")
    loads = [op for op in module.operations if op.name == "tt.load"]
    assert fresh_shares([(op, 0) for op in loads], {}, {}) == {}


def test_indices_from_memory_have_no_steps():
    body = f"""{offsets()}
    %index = amdg.buffer_load %x[%at] : !tt.ptr<i32> -> tensor<4x8xi32, #w>
    %v = amdg.buffer_load %x[%index] : !tt.ptr<f16> -> tensor<4x8xf16, #w>
    %u = amdg.buffer_load %x[%index] : !tt.ptr<f16> -> tensor<4x8xf16, #w>"""
    assert shares(body, (0, 0, 0)) == [1.0, 1.0, 1.0]
