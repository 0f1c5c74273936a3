"""Bytes that loads and stores move for each byte of their lanes, counted by hand."""

from dataclasses import replace

import pytest

from kprof_analyzers.model.fetched import fetched_shares
from tests.rules.literate import assembly, facts_of

HEAD = """\
#b = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [{warps}], order = [0]}}>
#w = #ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = [8, 8], warpsPerCTA = [{warps}, 1], order = [1, 0]}}>
#r = #ttg.slice<{{dim = 1, parent = #w}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {warps} : i32, "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func public @k(%x: !tt.ptr<{kind}>, %n: i32, %pitch: i32, %rows: i32) {{
    %lane = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #b>
    %ps = tt.splat %pitch : i32 -> tensor<64xi32, #b>
    %at = arith.muli %lane, %ps : tensor<64xi32, #b>
    %ns = tt.splat %n : i32 -> tensor<64xi32, #b>
    %m = arith.cmpi slt, %lane, %ns : tensor<64xi32, #b>
    %ms = tt.splat %rows : i32 -> tensor<64xi32, #b>
    %wrapped = arith.remsi %lane, %ms : tensor<64xi32, #b>
    %down = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32, #r>
    %de = tt.expand_dims %down {{axis = 1 : i32}} : tensor<8xi32, #r> -> tensor<8x1xi32, #w>
    %dp = tt.splat %pitch : i32 -> tensor<8x1xi32, #w>
    %dm = arith.muli %de, %dp : tensor<8x1xi32, #w>
"""
END = """
    tt.return
  }}
}}
#at7 = loc("/user/k.py":7:1)
#at8 = loc("/user/k.py":8:1)
"""
LOAD = "%v = amdg.buffer_load %x[%{}] : !tt.ptr<{{kind}}> -> tensor<64x{{kind}}, #b> loc(#at7)"
MASKED = LOAD.replace("]", "], %m", 1)
STORE = "amdg.buffer_store %v, %x[%{}] : tensor<64x{{kind}}, #b> loc(#at8)"
BODY = """\
	.loc	1 7 1 ; k.py:7:1
	buffer_load_dword v1, v2, s[4:7], 0 offen
	.loc	1 8 1 ; k.py:8:1
	buffer_store_dword v1, v2, s[4:7], 0 offen"""


def shares(*lines, warps=1, kind="f32", request=64, wrapped=None, **arguments):
    """What is told of the load of line 7 and of the store of line 8; 1 where nothing is."""
    text = (HEAD + "\n".join(lines) + END).format(warps=warps, kind=kind)
    case = replace(assembly(BODY), ttgir=text, named={"arg": {"pitch": 1} | arguments}, grid=(1, 1, 1))
    found = fetched_shares(facts_of(case), request, **({} if wrapped is None else {"wrapped": wrapped}))
    assert found.keys() <= {0, 1}
    assert 1 not in found.values()
    return found.get(0, 1), found.get(1, 1)


@pytest.mark.parametrize("warps", [1, 2, 4])
def test_lanes_that_ask_for_the_same_element_get_it_with_one_access(warps):
    """64 elements for 64, 128 and 256 lanes. A store's lanes each write: which of them is not told apart."""
    assert shares(LOAD.format("at"), STORE.format("at"), warps=warps) == (1 / warps, 1)


@pytest.mark.parametrize(
    ("pitch", "kind", "request_", "each"),
    [
        (1, "f32", 64, 4),
        (2, "f32", 64, 8),  # what lies between two elements comes with them
        (-2, "f32", 64, 8),
        (2, "f16", 64, 4),
        (16, "f32", 64, 64),
        (56, "f32", 64, 64),  # each element in a request of its own
        (56, "f32", 128, 128),
        (56, "f16", 64, 64),
        (2, "f32", 2, 4),  # a request is no less than the element
        (0, "f32", 64, 4),
    ],
)
def test_a_column_of_single_elements_costs_a_request_each(pitch, kind, request_, each):
    size = 4 if kind == "f32" else 2
    found, _ = shares(LOAD.format("at"), kind=kind, request=request_, pitch=pitch)
    assert found == each / size


def test_a_column_at_an_unknown_distance_counts_as_it_is():
    assert shares(LOAD.format("at"), pitch="unknown") == (1, 1)


def test_in_a_tile_of_two_axes_the_rest_of_a_request_is_another_row_s():
    """Eight rows of one element for 64 lanes: each lane of a row asks for the same."""
    wide = "%v = amdg.buffer_load %x[%dm] : !tt.ptr<f32> -> tensor<8x1xf32, #w> loc(#at7)"
    assert shares(wide, pitch=56) == (1 / 8, 1)


@pytest.mark.parametrize(("n", "share"), [(16, 1 / 4), (64, 1)])
def test_lanes_that_the_mask_turns_off_move_nothing(n, share):
    stored = STORE.format("at").replace("]", "], %m", 1)
    assert shares(MASKED.format("at"), stored, n=n) == (share, share)
    # Of four wavefronts that ask for the same a quarter of a quarter.
    assert shares(MASKED.format("at"), stored, n=n, warps=4) == (share / 4, share)


def test_rows_that_wrap_round_are_not_fetched_again():
    assert shares(LOAD.format("wrapped"), rows=4) == (4 / 64, 1)
    assert shares(LOAD.format("wrapped"), rows=4, wrapped=True) == (4 / 64, 1)
    assert shares(LOAD.format("wrapped"), rows=4, wrapped=False) == (1, 1)
    # What is stored is stored by each lane.
    assert shares(STORE.format("wrapped").replace("%v", "%lane").replace("{kind}", "i32"), rows=4) == (1, 1)


def test_accesses_of_one_line_get_their_mean():
    """A load of half the lanes and one of all: three of four bytes. Without a line it is none of them."""
    both = MASKED.format("at"), LOAD.format("at").replace("%v", "%u")
    assert shares(*both, n=32) == (3 / 4, 1)
    assert shares(both[0], both[1].replace(" loc(#at7)", ""), n=32) == (1 / 2, 1)


def test_a_scalar_is_no_tile_of_lanes():
    """It counts for nothing beside a tile on its line."""
    scalar = "%s = tt.load %x : !tt.ptr<{kind}> loc(#at7)"
    assert shares(scalar) == (1, 1)
    assert shares(scalar, MASKED.format("at"), n=32) == (1 / 2, 1)


def test_without_a_program_of_tensors_nothing_is_told():
    assert fetched_shares(facts_of(assembly(BODY)), 64) == {}
