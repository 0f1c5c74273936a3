"""AITER's further families: what is asked for, how it is launched, and what is written."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs.weight_format import WeightFormat
from kprof_servers.served.aiter import AiterServer
from kprof_servers.served.aiter_families import BatchedProduct, Fp4Product, ShuffledProduct, fp4_split
from kprof_servers.served.devices import served_gpu
from kprof_servers.served.document import NeededFile, PredictedConfig, RankedBatch
from kprof_servers.served.lookup import ServerCode
from kprof_servers.served.proposals import contents, proposed
from kprof_servers.served.ranking import Ranker
from kprof_servers.served.shapes import AttentionShape, ExpertShape, LayerShapes, ProductShape
from kprof_servers.served.step_cost import steps

TILE = {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 1}
LATENT = AttentionShape(16, 192, latent=True, layers=61, kv_heads=16, value=128, rank=512, rope=64)
SHAPES = LayerShapes(
    [ProductShape("o_proj", 7168, 2048, 61), ProductShape("shared_experts.gate_up_proj", 512, 7168, 58)],
    ExpertShape(256, 256, 7168, 8, 58, everywhere=256), [], LATENT,
    plain=[ProductShape("router", 256, 7168, 58), ProductShape("lm_head", 16160, 7168, 1)],
)  # fmt: skip
BLOCKS = WeightFormat("fp8-block", block=(128, 128))


def names(weights):
    """File names without the architecture, and whether the caller chooses."""
    return {need.name.removeprefix("{arch}-"): need.alternative for need in AiterServer().needed(SHAPES, weights, (1,))}


def test_families_by_weights():
    """Of pre-shuffled and plain products the caller takes one; the router and the output are never quantised."""
    found = names(BLOCKS)
    assert found["GEMM-A8W8_BLOCKSCALE-N=7168-K=2048.json"] is False
    assert found["GEMM-A8W8_BLOCKSCALE_PRESHUFFLED-N=7168-K=2048.json"] is True
    assert found["FUSED-GEMM-A8W8_BLOCKSCALE-A16W16-N8=512-N16=256-K=7168.json"] is True
    assert {"GEMM-A16W16-N=256-K=7168.json", "GEMM-A16W16-N=16160-K=7168.json"} <= set(found)
    assert "BATCHED_GEMM-A16W16-B=16-N=512-K=128.json" in names(WeightFormat("bf16"))


def test_experts_alone_in_four_bits_leave_products_as_they_are():
    """As gpt-oss has them; Quark's models have all of them in four bits but the plain ones."""
    some, every = names(WeightFormat("mxfp4")), names(WeightFormat("mxfp4", everywhere=True))
    assert "GEMM-A16W16-N=7168-K=2048.json" in some
    assert not any("AFP4WFP4" in name for name in some)
    assert (every["GEMM-AFP4WFP4-N=7168-K=2048.json"], every["GEMM-AFP4WFP4_PRESHUFFLED-N=7168-K=2048.json"]) == (
        False,
        True,
    )
    assert "GEMM-A16W16-N=7168-K=2048.json" not in every


def test_shuffled_weights_have_rows_of_sixteen_columns():
    """Their strides say so; scales of the activations are transposed, and K is split evenly."""
    launch = ShuffledProduct("family", 2112, 7168, "fp8_e4m3", 128, 128)
    wanted = ["b_ptr", "stride_bn", "stride_ascale_m", "stride_ascale_k", "SPLITK_BLOCK_SIZE", "NUM_KSPLIT"]
    made = launch.launches(64, {**TILE, "NUM_KSPLIT": 3}, wanted, "gfx942")
    args = made[""].args
    assert (args["b_ptr"].shape, args["stride_bn"]) == ((132, 7168 * 16), 7168 * 16)
    assert (args["stride_ascale_m"], args["stride_ascale_k"], args["SPLITK_BLOCK_SIZE"]) == (1, 64, 2390)
    assert made[""].grid == (3 * 2 * 33,)
    assert "groups of 16" in ShuffledProduct("family", 100, 7168, "fp8_e4m3", 128, 128).refusal(TILE)


@pytest.mark.parametrize(("shuffled", "rows", "height", "error"), [
    (True, 8, 32, "less than 32 rows"), (True, 64, 16, "less than 32 rows"), (True, 64, 32, ""), (False, 8, 32, ""),
])  # fmt: skip
def test_tiles_of_four_bits(shuffled, rows, height, error):
    """Pre-shuffled scales begin at 32 rows; no other architecture multiplies four bits."""
    launch = Fp4Product("family", 2112, 7168, "u8", shuffled=shuffled)
    config = {**TILE, "BLOCK_SIZE_M": height, "NUM_KSPLIT": 1}
    if error:
        with pytest.raises(KprofError, match=error):
            launch.launches(rows, config, ["M"], "gfx950")
    else:
        args = launch.launches(rows, config, ["K", "a_ptr"], "gfx950")[""].args
        assert (args["K"], args["a_ptr"].shape) == (7168 if shuffled else 3584, (rows, 3584))
    with pytest.raises(KprofError, match="refuses MXFP4 on gfx942"):
        launch.launches(rows, config, ["M"], "gfx942")


@given(st.integers(1, 64), st.sampled_from([128, 256, 512, 1024]), st.integers(2, 16))
def test_parts_of_four_bits_cover_all_of_k(blocks, depth, parts):
    """Each part is whole tiles, and no part is without work."""
    k = 64 * blocks
    part, deep, count = fp4_split(k, depth, parts)
    assert part % deep == 0
    assert (count - 1) * (part // 2) < k <= count * (part // 2)


def test_heads_products():
    """A workgroup in the first direction for each head; where activations are quantised K is not split."""
    plain = BatchedProduct(16, 512, 128)
    made = plain.launches(64, {**TILE, "NUM_KSPLIT": 1}, ["a_ptr", "stride_bb", "BLOCK_SIZE_K"], "gfx942")
    assert (made[""].grid, made[""].args["stride_bb"]) == ((16, 16), 512 * 128)
    with pytest.raises(KprofError, match="does not know the launch that sums"):
        plain.launches(64, {**TILE, "NUM_KSPLIT": 2}, [], "gfx942")
    quantised = BatchedProduct(16, 512, 128, quantised=True)
    args = quantised.launches(64, TILE, ["b_ptr", "DTYPE_MAX", "stride_in_bb"], "gfx942")[""].args
    assert (args["b_ptr"].dtype, args["DTYPE_MAX"], args["stride_in_bb"]) == ("fp8e4b8", 240.0, 512 * 128)
    assert not {"NUM_KSPLIT", "BLOCK_SIZE_K"} & {*quantised.space, *quantised.default_knobs, *quantised.knobs}


def file(kernel, *rows, alternative=False):
    """A file with a proposal of its own for each number of rows."""
    ranked = [RankedBatch(each, 1, *[PredictedConfig({"BLOCK_SIZE_M": each}, 2.0, 2.0, 2.0)] * 2) for each in rows]
    return NeededFile(kernel, "o_proj", {"N": 1}, "x.json", "default", layers=1, folder="c", ranked=ranked,
                      alternative=alternative)  # fmt: skip


class Found:
    """What of a document is looked at."""

    def __init__(self, *files):
        self.needed = files


def test_rows_below_32_have_low_tiles_in_the_written_file():
    """Up to 31 rows the last of them is asked for; without any the file would stop the server."""
    one = file("GEMM-AFP4WFP4_PRESHUFFLED", 1, 8, 64)
    written = json.loads(dict(contents([one], "aiter"))["c/x.json"])
    assert {name: bucket["BLOCK_SIZE_M"] for name, bucket in written.items()} == {
        "M_LEQ_1": 1, "M_LEQ_8": 8, "M_LEQ_31": 8, "M_LEQ_64": 64, "any": 64,
    }  # fmt: skip
    assert proposed(Found(one)) == [one]
    assert proposed(Found(file("GEMM-AFP4WFP4_PRESHUFFLED", 64))) == []


def test_what_the_caller_chooses_is_in_no_sum():
    """Else a step would count a product twice."""
    both = [file("GEMM-A8W8_BLOCKSCALE", 8), file("GEMM-A8W8_BLOCKSCALE_PRESHUFFLED", 8, alternative=True)]
    assert [(step.runs_us, step.files) for step in steps(both, [8])] == [(2.0, 1)]


def test_other_families_are_ranked_on_request_alone():
    """Else a model would take twice as long, for products that may not run."""
    need = next(need for need in AiterServer().needed(SHAPES, BLOCKS, (1,)) if need.alternative)
    ranker = Ranker(AiterServer(), ServerCode(Path(), ""), served_gpu("MI300X"), None, None, (1,), 1)
    unranked = ranker.ranked(need, file(need.kernel, alternative=True), "gfx942").unranked
    assert unranked == "--alternatives ranks other families for the same weights, too"
