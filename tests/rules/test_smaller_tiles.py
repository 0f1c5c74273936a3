"""The loop that KP410 proposes in place of a tile that is larger than the data."""

import pytest

from kprof_analyzers.rules.launch.masked_lanes import _loop


@pytest.mark.parametrize(
    ("end", "extent", "size"),
    [(520, 1024, 128), (682, 1024, 256), (65, 128, 64), (4097, 8192, 1024), (1000, 4096, 1024)],
)
def test_the_largest_tiles_that_are_nearly_full(end, extent, size):
    """By counting: one tile of twice the size would be filled to less than four fifths, or be the tile itself."""
    assert _loop("n", end, extent).startswith(f"loop over smaller tiles: for start in range(0, n, {size}), ")
    assert -(-end // size) * size <= 1.25 * end or size == 64
    wider = 2 * size
    assert wider >= extent or -(-end // wider) * wider > 1.25 * end


@pytest.mark.parametrize(
    ("end", "extent"), [(None, 1024), ("a size", 1024), (40, 1024), (64, 1024), (4096, 1), (4096, 64), (128, 128)]
)
def test_nothing_where_no_row_ends_inside_the_tile(end, extent):
    """Not known, too short for tiles of a wavefront, or a grid with more workgroups than rows."""
    assert _loop("n", end, extent) == ""


def test_a_constant_is_its_own_name():
    assert "range(0, 520, 128)" in _loop(None, "520", 1024)
