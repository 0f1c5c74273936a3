"""What knobs mean by their names."""

import pytest

from kprof.knobs import is_tile_name, tile_names


@pytest.mark.parametrize(
    "name", ["BLOCK", "BLOCK_M", "BLOCK_SIZE_N", "XBLOCK", "TILE_K", "BM", "BN", "BK", "B_M", "bq", "BKV", "BLOCKM"]
)
def test_tiles(name):
    assert is_tile_name(name)


@pytest.mark.parametrize("name", ["B", "BATCH", "BIAS", "M", "GROUP_M", "num_warps", "kpack", "BNM", "MBN"])
def test_what_is_no_tile(name):
    assert not is_tile_name(name)


def test_a_configuration_is_another_program_by_its_tiles_and_wavefronts():
    """In the order in which they come."""
    assert tile_names(["BN", "GROUP_M", "num_warps", "kpack", "BLOCK_SIZE_M", "NUM_SMS"]) == (
        "BN", "num_warps", "BLOCK_SIZE_M",
    )  # fmt: skip
