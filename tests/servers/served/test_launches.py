"""What servers launch: each parameter by its name, compared with arithmetic and against drawn routing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof_servers.served.launches import ServedExperts, ServedProduct
from kprof_servers.served.routing import blocks, experts_of_blocks, rows_of_experts

TILE = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 1}
NAMES = ("A", "B", "C", "As", "Bs", "M", "N", "K", "stride_am", "stride_As_m", "BLOCK_SIZE_M", "needs_masking")


@given(st.integers(1, 64), st.integers(1, 40), st.integers(1, 8), st.sampled_from([16, 32, 64]))
def test_rows_are_routed_and_padded(experts, tokens, chosen, height):
    """Each token goes to as many experts as are chosen, and an expert's rows are padded to whole blocks."""
    chosen = min(chosen, experts)
    draws = rows_of_experts(experts, tokens, chosen, draws=3)
    assert all(sum(load) == tokens * chosen for load in draws)
    assert all(0 <= rows <= tokens for load in draws for rows in load)
    assert draws == rows_of_experts(experts, tokens, chosen, draws=3)
    count = blocks(draws, height)
    assert tokens * chosen / height <= sum(-(-rows // height) for rows in draws[0])
    owners = experts_of_blocks(draws[0], height, count)
    assert len(owners) == count
    assert list(owners) == sorted(owners)
    assert all(draws[0][expert] > 0 for expert in owners)


def test_few_rows_fill_no_block_and_many_fill_almost_all():
    """Two tokens of two choices each go to between two and four of eight experts, a block each, however high."""
    few, many = rows_of_experts(8, 2, 2), rows_of_experts(8, 2048, 2)
    assert 2 <= blocks(few, 16) <= 4
    assert blocks(few, 16) == blocks(few, 256)
    assert 4096 // 16 <= blocks(many, 16) <= 4096 // 16 + 8


def test_a_product_s_launch():
    """Scales are a row a group of elements, the grid has a workgroup a tile, masks are on where K is no multiple."""
    product = ServedProduct(2112, 7168, 128, 128)
    (launch,) = product.launches(100, TILE, NAMES, "gfx942").values()
    assert launch.grid == (-(-100 // 16) * -(-2112 // 64),)
    assert (launch.args["A"].dtype, launch.args["A"].shape) == ("fp8e4b8", (100, 7168))
    assert (launch.args["Bs"].shape, launch.args["stride_As_m"]) == ((17, 56), 56)
    assert launch.args["needs_masking"] is False
    assert product.launches(1, {**TILE, "BLOCK_SIZE_K": 96}, NAMES, "gfx950")[""].args["needs_masking"] is True
    assert product.launches(1, TILE, NAMES, "gfx950")[""].args["A"].dtype == "fp8e4nv"
    assert product.work(100) == 2 * 100 * 2112 * 7168


def test_both_products_of_experts():
    """Up to twice the columns from the residual stream, down with the routing's weights and a row a choice."""
    pytest.importorskip("triton")
    experts = ServedExperts(8, 8, 1792, 4096, 2, "fp8-block", (128, 128))
    names = ("a_ptr", "b_ptr", "a_scale_ptr", "b_scale_ptr", "expert_ids_ptr", "N", "K", "EM", "num_valid_tokens",
             "top_k", "MUL_ROUTED_WEIGHT", "BLOCK_SIZE_K", "stride_bse", "use_fp8_w8a8", "b_bias_ptr")  # fmt: skip
    made = experts.launches(64, {**TILE, "BLOCK_SIZE_K": 256}, names, "gfx942")
    up, down = made[""].args, made["down"].args
    assert (up["a_ptr"].shape, up["b_ptr"].shape) == ((64, 4096), (8, 3584, 4096))
    assert (down["a_ptr"].shape, down["b_ptr"].shape) == ((128, 1792), (8, 4096, 1792))
    assert (up["top_k"], down["top_k"], up["num_valid_tokens"]) == (2, 1, 128)
    assert (up["MUL_ROUTED_WEIGHT"], down["MUL_ROUTED_WEIGHT"]) == (False, True)
    assert up["BLOCK_SIZE_K"] == 128, "a tile must not span two scales"
    assert up["b_scale_ptr"].shape == (8, 28, 32)
    assert up["EM"] == len(up["expert_ids_ptr"].values) * 16
    assert made[""].grid == (up["EM"] // 16 * -(-3584 // 64),)
    assert up["b_bias_ptr"] is None
    assert experts.work(64) == 2 * 128 * (2 * 1792 * 4096 + 1792 * 4096)


PACKED = ("a_ptr", "b_ptr", "b_scale_ptr", "b_zp_ptr", "stride_be", "stride_bn", "stride_bse", "stride_bsn",
          "group_size", "use_int4_w4a16", "has_zp", "BLOCK_SIZE_N", "BLOCK_SIZE_K")  # fmt: skip


def test_packed_weights_have_two_a_byte_and_a_scale_a_group():
    """Strides are those of a packed tensor, as PyTorch has them for contiguous ones."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    experts = ServedExperts(8, 8, 256, 512, 2, "w4a16", group=128)
    up = experts.launches(64, TILE, PACKED, "gfx950")[""].args
    weights, scales = (torch.empty(up[name].shape, device="meta") for name in ("b_ptr", "b_scale_ptr"))
    assert (up["a_ptr"].dtype, up["b_ptr"].dtype, up["b_ptr"].shape) == ("bf16", "u8", (8, 512, 256))
    assert (up["stride_be"], up["stride_bn"]) == weights.stride()[:2]
    assert (up["stride_bse"], up["stride_bsn"]) == scales.stride()[:2]
    assert (up["group_size"], up["use_int4_w4a16"], up["has_zp"], up["b_zp_ptr"]) == (128, True, False, None)
    with pytest.raises(KprofError, match="without a group have no scales"):
        ServedExperts(8, 8, 256, 512, 2, "w4a16").launches(64, TILE, PACKED, "gfx950")


def test_a_packed_default_without_columns_gets_those_of_the_launcher():
    """As in vLLM 0.33.0: 32 x 64 where the product has a single row, else 64 x 32."""
    pytest.importorskip("triton")
    experts = ServedExperts(8, 8, 256, 512, 2, "w4a16", group=128)
    made = experts.launches(1, {"BLOCK_SIZE_M": 16, "GROUP_SIZE_M": 1}, PACKED, "gfx950")
    tiles = [tuple(made[name].args[knob] for knob in ("BLOCK_SIZE_N", "BLOCK_SIZE_K")) for name in ("", "down")]
    assert tiles == [(32, 64), (64, 32)]


def test_experts_of_other_gpus_are_not_counted():
    """With experts dealt out to four GPUs, one has about a quarter of the rows."""
    pytest.importorskip("triton")
    names = ("num_tokens_post_padded_ptr", "expert_ids_ptr", "EM")
    all_of_them = ServedExperts(32, 32, 128, 256, 4, "bf16").launches(256, TILE, names, "gfx942")[""]
    mine = ServedExperts(8, 32, 128, 256, 4, "bf16").launches(256, TILE, names, "gfx942")[""]
    assert max(mine.args["expert_ids_ptr"].values) < 8
    assert 0.2 < mine.args["EM"] / all_of_them.args["EM"] < 0.3


def test_what_is_not_known_is_an_error():
    """A parameter that no known version has, a configuration without a tile."""
    product = ServedProduct(128, 128, 128, 128)
    with pytest.raises(KprofError, match="the unknown parameter stride_new; kprof supports no version with it"):
        product.launches(1, TILE, ("A", "stride_new"), "gfx942")
    with pytest.raises(KprofError, match="a configuration without BLOCK_SIZE_N"):
        product.launches(1, {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_K": 64}, ("A",), "gfx942")
