"""Smaller tiles: the loop that KP410 proposes, and whether a smaller tile leaves elements out."""

import pytest

import kprof as kp
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


KERNELS = """
import triton
import triton.language as tl


@triton.jit
def row(x, y, N, BLOCK_N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, BLOCK_N)
    mask = tl.arange(0, BLOCK_N) < N
    values = tl.load(x + at, mask=mask, other=0.0)
    tl.store(y + at, values / tl.sum(values, axis=0), mask=mask)


@triton.jit
def fixed(x, y, BLOCK_N: tl.constexpr):
    at = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    values = tl.load(x + at)
    tl.store(y + at, values / tl.sum(values, axis=0))


@triton.jit
def element(x, y, N, BLOCK_N: tl.constexpr):
    at = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(y + at, tl.load(x + at, mask=at < N) * 2, mask=at < N)


@triton.jit
def looped(x, y, N, BLOCK_N: tl.constexpr):
    total = tl.zeros((BLOCK_N,), tl.float32)
    for start in range(0, N, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        total += tl.load(x + tl.program_id(0) * N + columns, mask=columns < N, other=0.0)
    tl.store(y + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def rows(x, y, N, BLOCK_N: tl.constexpr):
    columns = tl.arange(0, BLOCK_N)
    mask = columns < N
    total = tl.zeros((BLOCK_N,), tl.float32)
    for row in range(tl.program_id(0) * 32, tl.program_id(0) * 32 + 32):
        values = tl.load(x + row * N + columns, mask=mask, other=0.0)
        total += tl.exp(values - tl.max(values, axis=0)) / tl.sum(values * values, axis=0)
    tl.store(y + tl.program_id(0) * N + columns, total, mask=mask)
"""


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    """Analyse a kernel of the file above, by default for 64 workgroups, and return its findings by rule."""
    file = tmp_path_factory.mktemp("tiles") / "tiles.py"
    file.write_text(KERNELS)

    def find(name, tile, length, grid="64"):
        sizes = {} if name == "fixed" else {"N": length}
        (kernel,) = kp.analyze(
            f"{file}::{name}", arch="MI300X", signature="*fp32:16,*fp32:16" + ",i32:16" * len(sizes), grid=grid,
            constexpr={"BLOCK_N": tile}, config={"num_warps": 8}, value=sizes,
        ).document.kernels  # fmt: skip
        return {one.rule: one for one in kernel.findings}

    return find


@pytest.mark.triton
@pytest.mark.parametrize("name", ["row", "fixed"])
def test_a_tile_that_has_to_hold_a_row_is_not_made_smaller(findings, name):
    """With a smaller tile each workgroup would sum a part of its row only."""
    found = findings(name, 65536, 65536)["KP404"]
    assert "split each workgroup's work over 8 (512 workgroups)" in found.fix
    assert [one.knob for one in found.advice] == []
    masked = findings("row", 65536, 33000)["KP410"]
    assert [one.knob for one in masked.advice] == []
    assert "loop over smaller tiles" in masked.fix


@pytest.mark.triton
def test_spills_of_a_loop_over_rows_do_not_cut_the_rows(findings):
    """Each iteration reduces a whole row, so that a smaller tile would compute something else."""
    spills = findings("rows", 131072, 131072)["KP301"]
    assert "BLOCK_N" not in {one.knob for one in spills.advice}


@pytest.mark.triton
def test_smaller_tiles_make_more_workgroups_where_the_grid_numbers_them(findings):
    found = findings("element", 131072, 64 * 131072)["KP404"]
    assert found.fix == "BLOCK_N 131072 → 16384: 512 workgroups"
    assert [(one.knob, one.to) for one in found.advice] == [("BLOCK_N", 65536)]


@pytest.mark.triton
def test_the_last_round_is_filled_by_tiles_only_where_the_grid_numbers_them(findings):
    rows = findings("row", 65536, 65536, "620")["KP405"]
    assert "a persistent kernel" in rows.fix
    elements = findings("element", 131072, 620 * 131072, "620")["KP405"]
    assert elements.fix.startswith("choose a larger tile")


@pytest.mark.triton
def test_a_loop_over_the_row_takes_smaller_tiles(findings):
    masked = findings("looped", 1024, 520)["KP410"]
    assert [(one.knob, one.to) for one in masked.advice] == [("BLOCK_N", 512)]
