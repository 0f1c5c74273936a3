"""The attention kernels' references agree with torch's own attention, and their counts with counting one by one."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kprof.kernel_spec import Kernel
from kprof.targets import library as kernel_library

KernelOf = Callable[[str], Kernel]
DENSE = ("flash_attention", "attention_transposed_v", "attention_persistent", "attention_forward_backward")
# Kernels with windows, sinks and dropout, and the number of their products of queries and keys by the head.
FEATURED = {"flash_attention": 2, "attention_forward_backward": 7}


def dense_shape(sq: int, sk: int, *, causal: bool, h: int = 4, hk: int = 2) -> dict[str, Any]:
    """A problem that every dense kernel understands."""
    shape = {"B": 2, "H": h, "HK": hk, "SQ": sq, "SK": sk, "D": 16, "causal": causal, "dtype": "fp32"}
    return {**shape, "lse": True, "layout": "bhsd"}


def visible(sq: int, sk: int, *, causal: bool) -> Any:
    """Which key each query sees: masks are aligned at the last query and the last key."""
    import torch

    offset = sk - sq if causal else sk
    return torch.arange(sk)[None, :] <= torch.arange(sq)[:, None] + offset


def sdpa(q: Any, k: Any, v: Any, mask: Any, scale: float | None = None) -> Any:
    """Attention by torch in float64; queries without a key give NaN there, zero here."""
    import torch

    group = q.shape[1] // k.shape[1]
    k, v = (t.repeat_interleave(group, dim=1) for t in (k, v))
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    return torch.where(mask.any(-1)[..., None], out, 0.0)


def assert_close(got: Any, want: Any) -> None:
    """Equal but for float64 rounding; infinities in the same places."""
    import torch

    torch.testing.assert_close(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.triton
@pytest.mark.parametrize(("sq", "sk", "causal"), [(9, 9, True), (9, 9, False), (5, 12, True), (12, 5, True)])
@pytest.mark.parametrize("name", DENSE)
def test_reference_is_torch_attention(name: str, sq: int, sk: int, causal: bool, kernel_of: KernelOf) -> None:
    """Result and log-sum-exp are those of torch's scaled_dot_product_attention, grouped heads repeated."""
    torch = pytest.importorskip("torch")
    shape = dense_shape(sq, sk, causal=causal)
    kernel = kernel_of(name)
    inputs = kernel.inputs(shape, "cpu", 1)

    got = kernel.reference(inputs, shape)

    q, k = inputs["q"].double(), inputs["k"].double()
    v = inputs["v"] if "v" in inputs else inputs["vt"].transpose(-1, -2)
    mask = visible(sq, sk, causal=causal)
    assert_close(got["out"], sdpa(q, k, v.double(), mask))
    scores = q @ k.repeat_interleave(2, dim=1).transpose(-1, -2) / 4
    assert_close(got["lse"], torch.where(mask, scores, -torch.inf).logsumexp(-1))


@pytest.mark.triton
@pytest.mark.parametrize(("sq", "sk", "window"), [(9, 9, 1), (9, 9, 4), (5, 12, 7), (12, 5, 3), (9, 9, 50)])
@pytest.mark.parametrize("name", FEATURED)
def test_window_is_a_mask_of_torch_attention(name: str, sq: int, sk: int, window: int, kernel_of: KernelOf) -> None:
    """Each query sees its own key and the ones before it, as many as the window says."""
    torch = pytest.importorskip("torch")
    shape = dense_shape(sq, sk, causal=True) | {"window": window}
    kernel = kernel_of(name)
    inputs = kernel.inputs(shape, "cpu", 1)

    got = kernel.reference(inputs, shape)

    position = torch.arange(sq)[:, None] + sk - sq
    mask = visible(sq, sk, causal=True) & (position - torch.arange(sk)[None, :] < window)
    q, k, v = (inputs[name].double() for name in "qkv")
    assert_close(got["out"], sdpa(q, k, v, mask))
    assert kernel.flops is not None
    assert kernel.flops(shape) == 2 * FEATURED[name] * 2 * 4 * int(mask.sum()) * 16


@pytest.mark.triton
@pytest.mark.parametrize("name", FEATURED)
@pytest.mark.parametrize(("sq", "sk"), [(7, 9), (9, 4)])
def test_sink_is_a_key_with_a_learned_score_and_no_value(name: str, sq: int, sk: int, kernel_of: KernelOf) -> None:
    """Torch's softmax of the scores and the sink, with the sink's weight left out of the mean."""
    torch = pytest.importorskip("torch")
    shape = dense_shape(sq, sk, causal=True) | {"sinks": True}
    kernel = kernel_of(name)
    inputs = kernel.inputs(shape, "cpu", 1)

    got = kernel.reference(inputs, shape)

    q, k, v = (inputs[name].double() for name in "qkv")
    k, v = (t.repeat_interleave(2, dim=1) for t in (k, v))
    scores = (q @ k.transpose(-1, -2) / 4).masked_fill(~visible(sq, sk, causal=True), -torch.inf)
    sinks = inputs["sinks"].double()[None, :, None, None].expand(2, -1, sq, 1)
    assert_close(got["out"], torch.cat([scores, sinks], dim=-1).softmax(-1)[..., :-1] @ v)
    assert_close(got["lse"], torch.cat([scores, sinks], dim=-1).logsumexp(-1))


@pytest.mark.triton
@pytest.mark.parametrize("name", FEATURED)
def test_dropout_words_are_philox(name: str, kernel_of: KernelOf) -> None:
    """The published test vector of Philox 4x32-10 with counter and key of zeros."""
    torch = pytest.importorskip("torch")
    philox = kernel_of(name).reference.__globals__["philox"]

    words = philox(0, torch.arange(4)[None, :], torch.zeros(1, 1, dtype=torch.int64), 0)

    assert words.tolist() == [[0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]]


@pytest.mark.triton
@pytest.mark.parametrize("name", FEATURED)
def test_dropout_keeps_the_mean_and_the_log_sum_exp(name: str, kernel_of: KernelOf) -> None:
    """The share of dropped weights is the probability, and heads have masks of their own."""
    torch = pytest.importorskip("torch")
    kernel = kernel_of(name)
    shape = dense_shape(64, 64, causal=False) | {"D": 64, "dropout": 0.25}
    inputs = kernel.inputs(shape, "cpu", 1)
    # Equal scores and the unit matrix as values: the result is the mask.
    inputs |= {"q": torch.zeros_like(inputs["q"]), "v": torch.eye(64).expand(2, 2, 64, 64)}

    got = kernel.reference(inputs, shape)

    kept = got["out"] * 64 * 0.75
    assert torch.equal(kept.round(), kept.round().clamp(0, 1))
    assert kept.mean().item() == pytest.approx(0.75, abs=0.01)
    assert not torch.equal(kept[0, 0].round(), kept[0, 1].round())
    assert_close(got["lse"], kernel.reference(inputs, shape | {"dropout": 0.0})["lse"])


@pytest.mark.triton
@pytest.mark.parametrize(("sq", "sk"), [(8, 8), (5, 9), (9, 5)])
@pytest.mark.parametrize(
    "features",
    [{}, {"window": 3}, {"sinks": True}, {"dropout": 0.4}, {"window": 4, "sinks": True, "dropout": 0.2}],
    ids=str,
)
def test_reference_gradients_are_finite_differences(
    features: dict[str, Any], sq: int, sk: int, kernel_of: KernelOf
) -> None:
    """A step in the direction of a gradient changes sum(out * dout) by the squared length of that gradient."""
    torch = pytest.importorskip("torch")
    shape = dense_shape(sq, sk, causal=True) | features
    kernel = kernel_of("attention_forward_backward")
    inputs = {name: tensor.double() for name, tensor in kernel.inputs(shape, "cpu", 2).items()}
    gradients = kernel.reference(inputs, shape)

    for name in ("q", "k", "v", *(["sinks"] if "sinks" in features else [])):
        direction = gradients[f"d{name}"]
        ends = [
            (kernel.reference({**inputs, name: inputs[name] + step * direction}, shape)["out"] * inputs["dout"]).sum()
            for step in (1e-5, -1e-5)
        ]
        torch.testing.assert_close((ends[0] - ends[1]) / 2e-5, (direction**2).sum(), rtol=1e-6, atol=1e-9)


@pytest.mark.triton
def test_varlen_is_attention_of_each_sequence(kernel_of: KernelOf) -> None:
    """Packing, ALiBi and bias: each sequence alone, with the biases added up as one mask, gives the same."""
    torch = pytest.importorskip("torch")
    kernel = kernel_of("attention_varlen")
    shape = dict(kernel.checks["bias_alibi_causal"].shape) | {"dtype": "fp32"}
    inputs = kernel.inputs(shape, "cpu", 3)

    got = kernel.reference(inputs, shape)["out"]

    queries, keys = inputs["cu_queries"].tolist(), inputs["cu_keys"].tolist()
    for b in range(shape["B"]):
        q = inputs["q"][queries[b] : queries[b + 1]].double().transpose(0, 1)[None]
        k, v = (inputs[n][keys[b] : keys[b + 1]].double().transpose(0, 1)[None] for n in "kv")
        sq, sk = q.shape[2], k.shape[2]
        distance = (torch.arange(sq)[:, None] + sk - sq - torch.arange(sk)[None, :]).abs()
        bias = inputs["bias"][b, :, :sq, :sk].double() - inputs["slopes"].double()[:, None, None] * distance
        bias = bias.masked_fill(~visible(sq, sk, causal=True), -torch.inf)
        group = shape["H"] // shape["HK"]
        k, v = (t.repeat_interleave(group, dim=1) for t in (k, v))
        want = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias).nan_to_num(0.0)
        assert_close(got[queries[b] : queries[b + 1]], want[0].transpose(0, 1))


@pytest.mark.triton
@pytest.mark.parametrize("name", ["flash_decoding", "flash_decoding_int4"])
def test_decoding_is_attention_of_one_query(name: str, kernel_of: KernelOf) -> None:
    """One query against the filled part of the cache; a sequence without keys gives zeros and -inf."""
    torch = pytest.importorskip("torch")
    kernel = kernel_of(name)
    module = kernel.reference.__globals__
    shape = {"B": 3, "H": 4, "HK": 2, "N": 20, "D": 32, "ragged": True, "dtype": "fp32"}
    inputs = kernel.inputs(shape, "cpu", 4)

    got = kernel.reference(inputs, shape)

    assert inputs["lengths"].tolist() == [20, 10, 0]
    for b, length in enumerate((20, 10)):
        if name == "flash_decoding":
            k, v = (inputs[x][b, :length].double() for x in "kv")
        else:
            k, v = (module["dequantise"](*(inputs[x + p][b, :length] for p in ("", "_scale", "_shift"))) for x in "kv")
        k, v = (t.transpose(0, 1)[None] for t in (k, v))
        want = sdpa(inputs["q"][b].double()[None, :, None], k, v, torch.ones(1, length, dtype=torch.bool))
        assert_close(got["out"][b], want[0, :, 0])
    assert not got["out"][2].any()
    assert (got["lse"][2] == -torch.inf).all()


@pytest.mark.triton
@pytest.mark.parametrize("page", [4, 16])
def test_paged_decoding_is_decoding_of_the_gathered_pages(page: int, kernel_of: KernelOf) -> None:
    """A plain cache put together from the pages gives what ``flash_decoding`` computes."""
    pytest.importorskip("torch")
    kernel = kernel_of("paged_decoding")
    shape = {"B": 3, "H": 4, "HK": 2, "N": 20, "D": 32, "PAGE": page, "ragged": True, "dtype": "fp32"}
    inputs = kernel.inputs(shape, "cpu", 4)

    got = kernel.reference(inputs, shape)

    table = inputs["table"].clamp(max=inputs["k"].shape[0] - 1).long()
    plain = {n: inputs[n][table].transpose(2, 3).flatten(1, 2)[:, :20] for n in "kv"}
    want = kernel_of("flash_decoding").reference({**inputs, **plain}, shape)
    assert inputs["lengths"].tolist() == [20, 10, 0]
    assert_close(got["out"], want["out"])
    assert_close(got["lse"], want["lse"])


@pytest.mark.triton
def test_int4_cache_is_off_by_half_a_step_at_most(kernel_of: KernelOf) -> None:
    """Quantised and back, an element moves by half a step; the least of a half comes back as it was."""
    torch = pytest.importorskip("torch")
    module = kernel_of("flash_decoding_int4").reference.__globals__
    x = torch.randn(3, 5, 2, 64, generator=torch.Generator().manual_seed(5))

    packed, scale, shift = module["quantise"](x)
    back = module["dequantise"](packed, scale, shift)

    assert packed.dtype == torch.uint8
    assert packed.shape == (3, 5, 2, 32)
    error = (back - x.double()).unflatten(-1, (2, 32)).abs()
    assert (error <= scale.double()[..., None] * 0.5001).all()
    assert_close(back.unflatten(-1, (2, 32)).amin(-1), shift.double())


@pytest.mark.triton
@pytest.mark.parametrize("name", ["qkv", "qkpv", "kv"])
def test_int8_inputs_are_what_the_form_says(name: str, kernel_of: KernelOf) -> None:
    """Integers with a step a head for what the form quantises, the dtype and no step for the rest."""
    torch = pytest.importorskip("torch")
    kernel = kernel_of("attention_int8")
    shape = dict(kernel.checks["qkv_causal"].shape) | {"form": name}

    inputs = kernel.inputs(shape, "cpu", 6)

    assert inputs["k"].dtype == inputs["v"].dtype == torch.int8
    assert inputs["q"].dtype == (torch.float16 if name == "kv" else torch.int8)
    assert ("q_descale" in inputs) == (name != "kv")
    assert inputs["k"].abs().amax() == 127
    arguments = kernel.launch(shape, kernel.configure("gfx942")).args
    assert (arguments["p_descale"] is not None) == (name == "qkpv")


@pytest.mark.triton
@pytest.mark.parametrize("dtype", ["fp8e4b8", "fp8e4nv"])
@pytest.mark.parametrize("per_head", [True, False])
def test_fp8_reference_is_torch_attention_of_what_the_values_mean(
    dtype: str, per_head: bool, kernel_of: KernelOf
) -> None:
    """Both forms of FP8, scales by head and by tensor; each scale uses the type's whole range."""
    torch = pytest.importorskip("torch")
    kernel = kernel_of("attention_fp8")
    shape = {**dense_shape(9, 12, causal=True), "dtype": dtype, "out": "fp32", "per_head": per_head}
    inputs = kernel.inputs(shape, "cpu", 6)

    got = kernel.reference(inputs, shape)

    q, k, v = (inputs[n].double() * inputs[f"{n}_descale"].double()[:, :, None, None] for n in "qkv")
    assert_close(got["out"], sdpa(q, k, v, visible(9, 12, causal=True)))
    largest = kernel.reference.__globals__["LARGEST"][dtype]
    assert inputs["k"].float().abs().amax() == largest
    assert (len(inputs["k_descale"].unique()) == 1) != per_head
    assert torch.equal(inputs["k"].float().abs().amax(dim=(2, 3)) == largest, torch.ones(2, 2).bool()) or not per_head


@pytest.mark.triton
def test_latent_attention_is_attention_of_its_heads(kernel_of: KernelOf) -> None:
    """Latent attention is torch's attention of the keys and values that the weights make of the latents."""
    torch = pytest.importorskip("torch")
    kernel = kernel_of("mla_decode")
    shape = dict(kernel.checks["two_tokens"].shape) | {"dtype": "fp32"}
    inputs = kernel.inputs(shape, "cpu", 7)

    got = kernel.reference(inputs, shape)["out"]

    dn = shape["DN"]
    heads = torch.einsum("btc,hdc->bhtd", inputs["kv"].double(), inputs["w"].double())
    rotary = inputs["k_pe"].double()[:, None].expand(-1, shape["H"], -1, -1)
    q = torch.cat([inputs["q_nope"], inputs["q_pe"]], dim=-1).double()
    k = torch.cat([heads[..., :dn], rotary], dim=-1)
    mask = visible(shape["S"], shape["T"], causal=True)
    assert_close(got, sdpa(q, k, heads[..., dn:], mask, scale=(dn + shape["DR"]) ** -0.5))


@pytest.mark.triton
@pytest.mark.parametrize("features", [{}, {"window": 5, "dropout": 0.3}], ids=["plain", "window-dropout"])
def test_both_references_drop_the_same_weights(features: dict[str, Any], kernel_of: KernelOf) -> None:
    """The kernel with gradients and the one without give the same result, dropout included."""
    pytest.importorskip("torch")
    shape = dense_shape(11, 13, causal=True) | {"dropout": 0.5, "sinks": True} | features
    inputs = kernel_of("attention_forward_backward").inputs(shape, "cpu", 8)

    forward, both = (kernel_of(name).reference(inputs, shape) for name in FEATURED)

    assert_close(both["out"], forward["out"])
    assert_close(both["lse"], forward["lse"])


@pytest.mark.triton
@settings(deadline=None, max_examples=40)
@given(sq=st.integers(1, 40), sk=st.integers(1, 40), causal=st.booleans(), h=st.sampled_from([2, 6]))
def test_flops_count_visible_pairs(sq: int, sk: int, causal: bool, h: int) -> None:
    """FLOPs are four times the head size for each pair that the mask lets through, counted one by one."""
    pytest.importorskip("torch")
    shape = dense_shape(sq, sk, causal=causal, h=h)
    pairs = int(visible(sq, sk, causal=causal).sum())

    names = ("flash_attention", "attention_transposed_v", "attention_persistent", "attention_int8", "attention_fp8")
    for name in names:
        assert kernel_library.load(name).flops(shape) == 4 * 2 * h * pairs * 16, name
    assert kernel_library.load("attention_forward_backward").flops(shape) == 14 * 2 * h * pairs * 16


@pytest.mark.triton
@pytest.mark.parametrize(
    ("name", "change", "word"),
    [
        ("attention_lean", {"D": 80}, "64 and 128"),
        ("attention_lean", {"SQ": 1000}, "does not divide"),
        ("attention_forward_backward", {"D": 80}, "powers of two"),
        ("attention_transposed_v", {"D": 8}, "power of two"),
        ("attention_persistent", {"D": 96}, "power of two"),
        ("attention_int8", {"D": 16}, "power of two"),
        ("attention_varlen", {"D": 512}, "512"),
        ("flash_attention", {"window": 8, "causal": False}, "causal"),
        ("flash_attention", {"dropout": 1.0}, "probability"),
        ("attention_forward_backward", {"window": 8, "causal": False}, "causal"),
        ("attention_forward_backward", {"dropout": 1.0}, "probability"),
        ("flash_decoding", {"D": 100}, "power of two"),
        ("paged_decoding", {"D": 100}, "power of two"),
        ("paged_decoding", {"PAGE": 12}, "pages of 12"),
        ("flash_decoding_int4", {"D": 16}, "power of two"),
        ("mla_decode", {"C": 500}, "C=500"),
    ],
)
def test_what_is_not_supported_is_said(name: str, change: dict[str, Any], word: str, kernel_of: KernelOf) -> None:
    """A shape that the kernel cannot do has a reason; the named cases have none on any architecture."""
    kernel = kernel_of(name)

    reason = kernel.unsupported("gfx942", kernel.problem("gfx942", overrides=change))

    assert reason is not None
    assert word in reason
    for arch in ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"):
        assert all(kernel.unsupported(arch, kernel.problem(arch, case)) is None for case in kernel.shapes)


@pytest.mark.triton
def test_lean_refuses_lengths_it_has_no_masks_for(kernel_of: KernelOf) -> None:
    """A length that is no multiple of the tile is an error at the launch, not a read beyond the end."""
    kernel = kernel_of("attention_lean")
    shape = kernel.problem("gfx942", overrides={"SK": 4100})

    with pytest.raises(ValueError, match="BLOCK_N=64 does not divide SK=4100"):
        kernel.launch(shape, kernel.configure("gfx942", shape=shape))
