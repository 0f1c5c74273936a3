"""Folders that nobody has seen before: other problems, GPUs, columns; what cannot be used is counted, not fatal."""

import csv
import gzip
import json
import random

import pytest

from validation.benchmarks.model import data, report
from validation.benchmarks.model.families import aiter_gemm, gemms, inductor, rocm_gemm, state_update, tritonblas

COLUMNS = (
    "problem_id", "kind", "kernel_family", "kernel", "triton_version", "dtype", "shape", "arch", "gpu", "config",
    "time_us", "valid", "quality", "source_ref",
)  # fmt: skip
TILE = {"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4, "num_stages": 2}
SIZES = {f"BLOCK_SIZE_{side}": size for side, size in zip("MNK", (32, 64, 128), strict=True)} | {"num_warps": 4}


def folder(path, *rows, seed=0):
    """A data folder of these rows, their order and the columns' shuffled."""
    listed = [dict.fromkeys(COLUMNS, "") | {"kind": "sweep", "time_us": "9", "valid": "1"} | row for row in rows]
    columns = [*COLUMNS, "a new one"]
    random.Random(seed).shuffle(listed)
    random.Random(seed).shuffle(columns)
    with gzip.open(path / data.NAME, "wt", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        for row in listed:
            writer.writerow({k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()})
    return data.load(str(path))


def blas(**fields):
    row = {"kernel": "ws_hierarchical_matmul", "kernel_family": "gemm", "problem_id": "b", "gpu": "MI300X"}
    return row | {"arch": "gfx942", "dtype": "bf16", "shape": {"M": 512, "N": 256, "K": 64}, "config": TILE} | fields


def reasons(rows):
    return {reason for _, reason in rows.skipped}


@pytest.mark.parametrize(
    ("gpu", "arch", "product"),
    [
        ("AMD_Instinct_MI325_OAM", "gfx942", "MI325X"),
        ("MI300X/MI308/MI325", "gfx942", "MI300X"),
        ("MI350/355", "gfx950", "MI355X"),
        ("AMD_Instinct_MI350_OAM", "gfx950", "MI350X"),
        ("MI210", "gfx90a", "MI210"),
        ("", "gfx90a", "MI210"),
        ("AMD_Radeon_R9700", "?", None),
        ("NVIDIA_H100", "sm_90", None),
    ],
)
def test_published_names_of_gpus(gpu, arch, product):
    assert data.product_of(gpu, arch) == product


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sizes_and_gpus_come_from_the_rows(tmp_path, seed):
    """Oblong sizes, another GPU under the same problem id, columns in any order."""
    rows = folder(
        tmp_path,
        blas(),
        blas(config={**TILE, "num_warps": 8}),
        blas(gpu="MI355X", arch="gfx950"),
        blas(problem_id="tag", shape={"tag": "run_640x320x128"}, config={"label": "wpe=1, split=75/25, .cg"}),
        seed=seed,
    )
    found = {(one.product, one.sides[0][:3]): one for one in tritonblas.problems(rows, False)}

    assert set(found) == {("MI300X", (512, 256, 64)), ("MI355X", (512, 256, 64)), ("MI300X", (640, 320, 128))}
    assert len(found["MI300X", (512, 256, 64)].candidates) == 2
    # One workgroup a CU: 256 of them here, 304 in the file.
    assert found["MI355X", (512, 256, 64)].candidates[0].points[0].grid == (256,)
    tagged = found["MI300X", (640, 320, 128)].candidates[0].points[0].config
    assert tagged == {"LOCAL_SHARE": 0.75, "waves_per_eu": 1, "MODIFIER": ".cg"}


def test_odd_rows_are_counted(tmp_path):
    """Every reason is told once with its number; the good row is used."""
    rows = folder(
        tmp_path,
        blas(),
        blas(shape="nonsense"),
        blas(shape={}),
        blas(shape={"M": 0, "N": 1, "K": 1}),
        blas(valid="0"),
        blas(time_us="nan"),
        blas(gpu="H100", arch="sm_90"),
        blas(dtype="complex64"),
        blas(config={**TILE, "UNHEARD": 1}),
        blas(config={**TILE, "layout": "TT"}),
    )

    assert [len(problem.candidates) for problem in tritonblas.problems(rows, False)] == [2]
    assert rows.without == {("ws_hierarchical_matmul", "UNHEARD"): 1}
    assert reasons(rows) == {
        "shape or configuration is not a JSON object",
        "marked as not valid",
        "no sizes",
        "no such GPU: H100",
        "type complex64 is not ours",
        "layout TT is not ours",
    }


def test_what_was_not_used_is_printed(tmp_path, capsys):
    rows = folder(tmp_path, blas(), blas(shape={}), blas(kernel="fa", kernel_family="attention"))
    tritonblas.problems(rows, False)
    found = report.print_rows(rows, whole=True)

    assert found == {"no sizes": 1, "no family reads this kernel": 1}
    assert "Rows that were not used: 2 of 3" in capsys.readouterr().out


def test_any_sweep_of_a_matrix_product_is_read_by_its_knobs(tmp_path):
    """AITER's and plain names, parts of K with their addition, types from the column or the kernel's name."""
    gemm = {"kernel_family": "gemm", "gpu": "MI355X", "arch": "gfx950", "shape": {"M": 64, "N": 256, "K": 7168}}
    rows = folder(
        tmp_path,
        gemm | {"kernel": "_gemm_a16_w16_kernel", "problem_id": "r", "config": {**SIZES, "NUM_KSPLIT": 7}},
        gemm | {"kernel": "_gemm_a16_w16_kernel", "problem_id": "r", "config": {**SIZES, "cache_modifier": None}},
        gemm | {"kernel": "router", "dtype": "fp16", "problem_id": "n", "config": TILE},
        gemm | {"kernel": "gemm_a8w8_blockscale", "dtype": "see kernel", "problem_id": "s", "config": SIZES},
        gemm | {"kernel": "gemm_afp4wfp4", "problem_id": "4", "config": SIZES},
        gemm | {"kernel": "x", "dtype": "bf16", "problem_id": "no blocks", "config": {"num_warps": 4}},
        gemm | {"kernel": "x", "dtype": "int4", "problem_id": "no type", "config": TILE},
    )
    found = {problem.name: problem for problem in gemms.sweeps(rows, False)}

    assert set(found) == {"r", "n", "s", "4"}
    launches = sorted(tuple(point.kernel for point in one.points) for one in found["r"].candidates)
    assert launches == [("gemm_split",), ("gemm_split", "gemm_split::reduce")]
    assert (found["r"].rate, found["n"].rate, found["s"].rate, found["4"].rate) == ("bf16", "fp16", "fp8", "fp4")
    assert found["s"].candidates[0].points[0].shape["scales"] == "blocks"
    assert found["4"].candidates[0].points[0].kernel == "gemm_fp4"
    assert reasons(rows) == {"no BLOCK_K, BLOCK_M, BLOCK_N", "type int4 is not ours"}


def test_single_times_of_unknown_products(tmp_path):
    """Not those that have a family of their own."""
    gemm = {"kernel_family": "gemm", "kind": "tuned_best", "gpu": "MI300X", "arch": "gfx942", "dtype": "fp16"}
    gemm |= {"shape": {"M": 64, "N": 64, "K": 64}, "config": SIZES}
    rows = folder(tmp_path, gemm | {"kernel": "mine"}, gemm | {"kernel": "tune_gemm matmul_kernel"})

    assert len(gemms.times(rows, False)) == 1
    assert len(rocm_gemm.tune_gemm(rows, False)) == 1


def test_tables_of_other_gpus_and_strides(tmp_path):
    conv = {"kernel": "inductor convolution template", "gpu": "MI300X", "arch": "gfx942", "dtype": "bf16 (autocast)"}
    plain = {"op": "convolution", "shapes": "2x32x16x16, 64x32x3x3", "stride": "(2, 2)", "padding": [1, 1]}
    rows = folder(
        tmp_path,
        conv | {"problem_id": "c", "shape": plain, "config": TILE},
        conv | {"problem_id": "g", "shape": {**plain, "shapes": "2x32x16x16, 64x1x3x3"}, "config": TILE},
    )
    (problem,) = inductor.convolutions(rows, False)

    assert problem.product == "MI300X"
    # 8 x 8 pixels of two images.
    assert problem.sides == ((2 * 8 * 8, 64, 32 * 9, 1, 2),)
    assert reasons(rows) == {"a convolution with groups or an oblong window"}


def winner(kernel, bucket, **fields):
    given = {"kernel_family": "gemm", "kind": "tuned_best", "kernel": kernel, "time_us": "", "arch": "gfx950"}
    shape = {"N": "512", "K": "7168", "bucket": bucket}
    return given | {"gpu": "MI350/355", "problem_id": f"{kernel}-{bucket}", "shape": shape, "config": SIZES} | fields


def test_winners_of_aiter_are_drawn_and_have_their_space(tmp_path):
    """M is the bucket's upper end; tiles higher than it needs are not in the space; the winner is there once."""
    rows = folder(
        tmp_path,
        winner("GEMM-A16W16-N=512-K=7168", "M_LEQ_16"),
        winner("GEMM-A8W8_BLOCKSCALE-N=512-K=7168", "M_LEQ_64", arch="gfx942", gpu="MI300X/MI308/MI325"),
        winner("GEMM-A16W16-N=512-K=7168", "any"),
        winner("GEMM-A16W16-gated", "M_LEQ_16"),
    )
    found = {problem.name: problem for problem in aiter_gemm.winners(rows, False)}
    first = found["A16W16 gfx950 16x512x7168"]

    assert set(found) == {"A16W16 gfx950 16x512x7168", "A8W8_BLOCKSCALE gfx942 64x512x7168"}
    assert [one.winner for one in first.candidates].count(True) == 1
    assert len(first.candidates) > 40
    assert max(one.points[0].config["BLOCK_M"] for one in first.candidates if not one.winner) == 16
    assert first.candidates == aiter_gemm.winners(rows, False)[0].candidates
    assert reasons(rows) == {"M is not known (a bucket without an upper end)", "a kernel that we did not write"}


def test_pipelines_need_more_than_one_block_of_k():
    tile = {"BLOCK_K": 512, "num_stages": 2}

    assert aiter_gemm._kept(tile, 4096, 4, 1)
    assert not aiter_gemm._kept(tile, 4096, 4, 2)
    assert not aiter_gemm._kept(tile, 4096, 1, 8)
    assert aiter_gemm._kept({**tile, "num_stages": 1}, 4096, 1, 8)
    assert not aiter_gemm._kept(tile, 4096, 1, 16)


def test_the_state_updates_space_is_whole(tmp_path):
    shape = {"M": 128, "headdim": "64", "dstate": "128", "cache_dtype": "float16"}
    row = {"kernel": "_selective_scan_update_kernel", "kind": "tuned_best", "time_us": "", "shape": shape}
    row |= {"gpu": "AMD_Instinct_MI325X", "arch": "gfx942", "config": {"BLOCK_SIZE_M": 8, "num_warps": 4}}
    rows = folder(tmp_path, row | {"problem_id": "a"}, row | {"problem_id": "b", "config": {"num_warps": 4}})
    (problem,) = state_update.winners(rows, False)

    assert len(problem.candidates) == 20
    # Two tokens of 64 heads: the state read and written once, and inputs.
    assert problem.bytes == 128 * 64 * (2 * 128 * 2 + 4)
    assert reasons(rows) == {"no BLOCK_SIZE_M"}
