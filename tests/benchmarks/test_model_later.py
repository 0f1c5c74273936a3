"""The tables beside the main one, and whether a configuration launches."""

import csv

import pytest

from validation.benchmarks.model import data, validity
from validation.benchmarks.model.compiling import Built, Facts, Point
from validation.benchmarks.model.data import Row, Rows, UnusableError, later
from validation.benchmarks.model.families import later_times, launchable

SHUFFLED = "flydsl_bpreshuflle_16x64x512_F8_F8_B16_0x3x0x1_default"
GEMM = (
    "flydsl_gemm8_abf16_wbf16_bf16_t{tile}_split_k2_block_m_warp1_block_n_warp2_block_k_warp{k}_async_copyTrue_"
    "b_to_ldsTrue_b_preshuffleFalse_c_to_ldsFalse_gfx950"
)


def flydsl(name, dtype="", split=0):
    config = {"name": name, "SPLIT_K": split or 1}
    shape = {"M": 64, "N": 192, "K": 1024}
    return Row("p", "flydsl", "FlyDSL", shape, config, dtype, "", 3.2, "", "", "gemm", "gfx950")


def test_a_tile_is_read_from_its_name():
    what, config = later_times.flydsl(flydsl(SHUFFLED))
    assert (what.m, what.n, what.k, what.gpu, what.kind.dtype) == (64, 192, 1024, "MI355X", "fp8")
    assert [config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")] == [16, 64, 512]
    assert [point.kernel for point in what.points(config)] == ["preshuffled"]
    what, config = later_times.flydsl(flydsl(GEMM.format(tile="16x64x64", k=1), "bfloat16", 2))
    assert what.kind.dtype == "bf16"
    assert [config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "SPLIT_K")] == [16, 64, 64, 2]
    assert (config["num_warps"], config["num_stages"], what.atomic) == (2, 8, True)
    # Tiles are numbered row by row, and parts of K are added behind a signal.
    assert (what.kind.xcds, [point.kernel for point in what.points(config)]) == (1, ["split_signals"])
    what, config = later_times.flydsl(flydsl(GEMM.format(tile="16x64x64", k=1), "bfloat16"))
    assert [point.kernel for point in what.points(config)] == ["gemm_split"]


@pytest.mark.parametrize(
    ("ending", "waves", "together", "straight", "buffers"),
    [
        ("1x2x4x1", 2, 4, True, 1),
        ("0x3x0x2", 3, 0, False, 2),
        ("2x0x1x3x4", 3, 4, True, 2),
        ("1x1x0x1x0", 1, 0, False, 1),
    ],
)
def test_what_the_numbers_of_a_name_say(ending, waves, together, straight, buffers):
    """Positions of AITER's ``kernelInstance.name``, which has put the numbers in two orders."""
    what, config = later_times.flydsl(flydsl(f"flydsl_bpreshuflle_128x256x128_F8_F8_B16_{ending}_default"))
    assert (what.kind.kernel, config["waves_per_eu"], config["TOGETHER"]) == ("preshuffled", waves, together)
    assert (config["STRAIGHT"], config["BUFFERS"], config["num_warps"]) == (straight, buffers, 4)


@pytest.mark.parametrize(("ending", "together", "xcds"), [("2x8", 8, 8), ("2x0", 1, 1)])
def test_eight_wavefronts_are_another_kernel(ending, together, xcds):
    """Without an order of its own a grid deals out its rows first."""
    what, config = later_times.flydsl(flydsl(f"flydsl_bpreshuffle_8w_128x256x128_F8_F8_B16_{ending}"))
    assert (what.kind.kernel, config["num_warps"], config["waves_per_eu"]) == ("gemm_split", 8, 2)
    assert (config["GROUP_M"], what.kind.xcds) == (together, xcds)


def test_a_short_step_of_k_takes_another_matrix_instruction():
    what, _ = later_times.flydsl(flydsl("flydsl_bpreshuflle_64x256x64_F8_F8_B16_0x2x0x2_default"))
    assert what.kind.kernel == "gemm_split"


@pytest.mark.triton
@pytest.mark.parametrize(
    ("tile", "straight", "buffers", "matrix", "loads", "reads", "writes"),
    [
        ((16, 64, 512), False, 2, 8, 20, 16, 4),
        ((64, 64, 256), False, 2, 16, 16, 32, 8),
        ((128, 256, 128), False, 1, 32, 12, 16, 4),
        ((128, 128, 128), True, 1, 16, 8, 16, 0),
        ((32, 64, 512), True, 1, 8, 12, 16, 0),
    ],
)
def test_a_loop_is_that_of_flydsl(tile, straight, buffers, matrix, loads, reads, writes):
    """Instructions of the loop as FlyDSL 0.3.1 compiles AITER's ``preshuffle_gemm.py``; two barriers each."""
    if not hasattr(pytest.importorskip("triton.experimental.gluon.language").amd, "hint"):
        pytest.skip("barriers for LLVM's scheduler came to Gluon with 3.9")
    config = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
    config |= {"TOGETHER": 0, "BUFFERS": buffers, "STRAIGHT": straight, "num_warps": 4}
    facts = Facts()
    (known,) = facts.prepare([Point("preshuffled", {"M": 1024, "N": 5120, "K": 5120}, config, "MI355X")])
    assert known is not None, facts.failures
    (loop,) = known.loops
    found = [loop.classes["matrix"], loop.classes["vmem"], loop.instructions["ds_read_b128"]]
    assert [*found, loop.instructions.get("ds_write_b128", 0)] == [matrix, loads, reads, writes]
    assert (loop.classes["barrier"], known.resources.vgpr_spills) == (2, 0)
    assert known.resources.lds_bytes == tile[0] * tile[2] * buffers


def test_copies_straight_to_lds_are_compiled_by_a_release_that_makes_them():
    """Both operands of the bf16 kernels go to LDS; of shuffled weights only A does, which Gluon says."""
    name = GEMM.format(tile="16x64x64", k=1)
    rows = [
        flydsl(name, "bfloat16"),
        flydsl(SHUFFLED),
        flydsl(name.replace("b_to_ldsTrue", "b_to_ldsFalse"), "bfloat16"),
    ]
    (family,) = (one for one in later_times.FAMILIES if one.name == "flydsl")
    found = [problem.candidates[0].release for problem in family.problems(rows, False)]
    assert sorted(found) == ["", "3.9.0", "3.9.0"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (GEMM.format(tile="96x128x64", k=1), "a tile that Triton does not have"),
        (GEMM.format(tile="16x64x64", k=2), "share K"),
        ("flydsl_mxfp8_128_bpreshuffle_wmma_t128x128x256_mw2_nw2", "did not write"),
        ("flydsl_other", "did not write"),
    ],
)
def test_what_triton_cannot_say_is_left_out(name, why):
    with pytest.raises(UnusableError, match=why):
        later_times.flydsl(flydsl(name, "bfloat16"))


def test_later_tables_are_read_where_they_are(tmp_path):
    assert list(later(tmp_path)) == []
    fields = [
        "repo",
        "commit",
        "csv",
        "gfx",
        "cu_num",
        "M",
        "N",
        "K",
        "dtype",
        "outdtype",
        "us",
        "tflops",
        "splitK",
        "kernelName",
    ]
    with (tmp_path / "aiter_flydsl_gemm_times.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, fields)
        table.writeheader()
        table.writerow(dict.fromkeys(fields, "") | {"gfx": "gfx950", "M": 8, "N": 16, "K": 32, "us": 1.5, "splitK": 4,
                                                    "kernelName": SHUFFLED})  # fmt: skip
    (found,) = later(tmp_path)
    assert (found.kind, found.shape, found.time_us) == ("flydsl", {"M": 8, "N": 16, "K": 32}, 1.5)
    assert found.config == {"name": SHUFFLED, "SPLIT_K": 4}


def tried(valid, lds=None, stages=2):
    config = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 64, "num_stages": stages, "num_warps": 4, "stage": 3}
    shape = {"B": 1, "H": 2, "S": 16452, "D": 128}
    return Row("p", "validity", launchable.KERNEL, shape, config, "int8/fp8", "MI300X", None, "", "", "attn_fwd",
               "gfx942", valid=valid, lds=lds)  # fmt: skip


def test_tried_configurations_keep_what_happened():
    rows = Rows([tried(valid=True), tried(valid=False, lds=180224, stages=8)])
    found = {one.candidates[0].valid: one.candidates[0] for one in launchable.problems(rows, False)}
    assert found[False].lds == 180224
    assert found[True].lds is None
    assert found[False].points[0].config == {"BLOCK_M": 64, "BLOCK_N": 64, "num_stages": 8, "num_warps": 4}


class Told(Facts):
    """Compiles nothing: says what it is told."""

    def __init__(self, built):
        super().__init__()
        self.told = built

    def build(self, points):
        assert len(list(points)) == len(self.told)
        return self.told


def test_what_does_not_compile_is_wrong_where_it_ran():
    rows = Rows([tried(True), tried(False, 100), tried(False, 200), tried(True), tried(False, 300)])
    problems = sorted(launchable.problems(rows, False), key=lambda one: one.candidates[0].lds or 0)
    said = [
        Built(64, (), ""), Built(None, (), "no code"),
        Built(100, ("too much",), ""), Built(999, ("too much",), ""), Built(None, (), "no code"),
    ]  # fmt: skip
    found = validity.summary(validity.figures(Told(said), problems))
    assert found["launch_right"] == pytest.approx(4 / 5)
    assert found["always_the_same_right"] == pytest.approx(3 / 5)
    assert (found["not_compiled"], found["with_lds"]) == (2, 3)
    assert found["lds_exact"] == pytest.approx(1 / 3)
    assert found["compiled_lds_exact"] == pytest.approx(1 / 2)
    assert found["compiled_launch_right"] == 1


def test_rows_that_are_not_drawn_are_told():
    """The same draw each time; what is left out is counted under its own reason."""
    rows = Rows(Row(str(n), "validity", "k", {}, {}, "", "", None, "", "") for n in range(20))
    found = data.drawn(rows, list(rows), 5, "seed")
    assert [row.problem for row in found] == [row.problem for row in data.drawn(Rows(rows), list(rows), 5, "seed")]
    assert len(found) == 5
    assert rows.skipped == {("k", data.NOT_DRAWN): 15}
    assert data.drawn(Rows(), list(rows), 50, "seed") != []
