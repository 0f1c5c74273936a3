"""Gluon products by tile: which rows become launches, and how full a loop's matrix unit is."""

import csv

import pytest

from validation.benchmarks.model import tiles
from validation.benchmarks.model.compiling import Facts, Point
from validation.benchmarks.model.data import Row, Rows, later
from validation.benchmarks.model.families import gluon

NEEDED = "compute_efficient_padded_shared_layout"


def row(kernel="v7_sliceN", variant="base", share="56.92", tile=(256, 128)):
    config = {"BLOCK_M": str(tile[0]), "BLOCK_N": str(tile[1]), "BLOCK_K": "64", "variant": variant}
    shape = {"M": 4096, "N": 2048, "K": 8192}
    return Row("p", gluon.KIND, kernel, shape, config | {"matrix_share": share}, "fp16", "", 127.6, "", "", "gemm",
               "gfx950")  # fmt: skip


def test_the_stock_compile_of_known_kernels_is_read():
    rows = Rows([row(), row("v5_local_prefetch", share=""), row(variant="llir"), row("v9_beyond_hotloop")])
    first, second = gluon.problems(rows, False)
    assert first.name == "v7_sliceN 256x128x64"
    assert first.candidates[0].points[0].config == {
        "BLOCK_M": 256, "BLOCK_N": 128, "BLOCK_K": 64, "DESIGN": "halves", "num_warps": 4,
    }  # fmt: skip
    assert first.candidates[0].points[0].product == "MI355X"
    assert first.candidates[0].matrix_share == pytest.approx(0.5692)
    assert second.candidates[0].points[0].config["DESIGN"] == "ahead"
    assert second.candidates[0].matrix_share is None
    assert sum(rows.skipped.values()) == 2


def test_the_table_is_read_where_it_is(tmp_path):
    line = {"path": "report.md", "arch": "gfx950", "dtype": "fp16", "kernel": "v7_sliceN", "M": 64, "N": 32, "K": 128,
            "BLOCK_M": 64, "BLOCK_N": 32, "BLOCK_K": 64, "config": "base", "time_us_derived": 5.5,
            "mfma_eff_pct": 40}  # fmt: skip
    with (tmp_path / "gfx950_gluon_gemm_tiles.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(line))
        table.writeheader()
        table.writerow(line)
    (found,) = later(tmp_path)
    assert (found.kind, found.kernel, found.time_us, found.arch) == (gluon.KIND, "v7_sliceN", 5.5, "gfx950")
    assert found.config["matrix_share"] == "40"


def test_points_and_the_order_of_two_kernels():
    def one(tile, traced, simulated):
        return {"tile": tile, "matrix_share": traced, "simulated_share": simulated, "closed_form": 0.6}

    shown = [one("a", 0.5, 0.52), one("a", 0.6, 0.57), one("b", 0.4, 0.44), one("b", 0.5, 0.43), one("c", None, 0.2)]
    found = tiles.summary(shown)
    assert found["traced"] == 4
    assert found["matrix_share_off_by_points"] == pytest.approx((2 + 3 + 4 + 7) / 4)
    assert found["most_points"] == pytest.approx(7)
    assert found["mean_of_signed_points"] == pytest.approx((2 - 3 + 4 - 7) / 4)
    assert found["closed_form_off_by_points"] == pytest.approx((10 + 0 + 20 + 10) / 4)
    assert (found["pairs_of_kernels"], found["order_right"]) == (2, 0.5)
    three = tiles.summary([one("a", 0.5, 0.52), one("a", 0.6, 0.57), one("a", 0.7, 0.55)])
    assert (three["pairs_of_kernels"], three["order_right"]) == (3, pytest.approx(2 / 3))
    assert tiles.summary([one("c", None, 0.2)]) == {}


@pytest.mark.parametrize(
    ("rows", "columns", "percent"),
    [(256, 256, 100), (128, 256, 94), (128, 128, 70), (256, 64, 56), (64, 128, 47)],
)
def test_the_closed_form_is_amds(rows, columns, percent):
    """The column of predictions in docs/tcp_bound_tile_model.md of ROCm/gfx950-gluon-tutorials."""
    assert 100 * tiles.closed_form(rows, columns) == pytest.approx(percent, abs=0.6)


@pytest.mark.triton
@pytest.mark.parametrize(("design", "steps"), [("ahead", 1), ("unrolled", 2), ("halves", 2), ("quarters", 2)])
def test_a_loop_multiplies_whole_steps_of_its_tile(design, steps):
    if not hasattr(pytest.importorskip("triton.experimental.gluon.language").amd.cdna4, NEEDED):
        pytest.skip("Triton's own choice of places in LDS came with 3.8")
    config = {"BLOCK_M": 64, "BLOCK_N": 128, "BLOCK_K": 64, "DESIGN": design, "num_warps": 4}
    point = Point("gluon_gemm", {"M": 1024, "N": 2048, "K": 8192}, config, "MI355X")
    facts = Facts()
    (known,) = facts.prepare([point])
    assert known is not None, facts.failures
    matrix, cycles = tiles.loop_cycles(known, 2400)
    # A matrix instruction of 16 x 16 x 32 takes 16 cycles of its SIMD, and each of four has a quarter of them.
    assert matrix == 16 * steps * 64 * 128 * 64 / (16 * 16 * 32) / 4
    assert cycles > matrix
