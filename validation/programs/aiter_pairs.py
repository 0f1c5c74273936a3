"""aiter ($AITER_SOURCE), triton: the operator that does the same job as a bundled kernel, at one of its shapes.

    AITER_SOURCE=aiter kprof capture --arch MI300X -o DIR -- python validation/programs/aiter_pairs.py KERNEL SHAPE

``KERNEL`` is a bundled kernel's name and ``SHAPE`` the shape as JSON, with every size. AITER's own Python functions
choose kernels and configurations. Index tensors have the values that the bundled kernel's cases have; other tensors
are not filled. ``validation/parity.py`` runs this.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from aiter_checkout import accept_old_autotune_keys, of, package

from kprof.kernel_spec import torch_dtype

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "kernels"))

Shape = Mapping[str, Any]


class NoCounterpartError(Exception):
    """AITER has the operator, but not for this shape."""


def filled(sizes: Sequence[int], dtype: "str | torch.dtype" = "fp32") -> torch.Tensor:
    """Return a tensor on the device whose values do not matter."""
    return torch.empty(*sizes, device="cuda", dtype=torch_dtype(dtype) if isinstance(dtype, str) else dtype)


def numbers(values: Any) -> torch.Tensor:
    """Return a tensor of 32-bit integers on the device."""
    return torch.tensor(values, device="cuda", dtype=torch.int32)


def sums(lengths: Sequence[int]) -> torch.Tensor:
    """Return the start of each sequence, and the end of the last one."""
    return numbers([sum(lengths[:end]) for end in range(len(lengths) + 1)])


def tokens_first(shape: Shape) -> list[torch.Tensor]:
    """Return q, k and v in AITER's order of axes, as views if the shape keeps heads together."""
    b, h, hk, sq, sk, d = (shape[name] for name in ("B", "H", "HK", "SQ", "SK", "D"))
    each = ((h, sq), (hk, sk), (hk, sk))
    if shape.get("layout") == "bshd":
        return [filled((b, length, heads, d), shape["dtype"]) for heads, length in each]
    return [filled((b, heads, length, d), shape["dtype"]).transpose(1, 2) for heads, length in each]


def attention(shape: Shape) -> None:
    """Run attention forward; a window includes the query's own key."""
    window = (shape["window"] - 1, -1) if shape.get("window") else (-1, -1)
    sink = filled((shape["H"],), "fp32") if shape.get("sinks") else None
    of("attention.mha", "flash_attn_func")(
        *tokens_first(shape),
        dropout_p=shape.get("dropout", 0.0),
        causal=shape["causal"],
        window_size=window,
        return_lse=bool(shape.get("lse")),
        sink=sink,
    )


def attention_with_gradients(shape: Shape) -> None:
    """Run attention forward, then compute the gradients of q, k and v."""
    inputs = [tensor.detach().requires_grad_() for tensor in tokens_first(shape)]
    out = of("attention.mha", "flash_attn_func")(*inputs, causal=shape["causal"])
    torch.autograd.grad(out, inputs, torch.empty_like(out))


def attention_varlen(shape: Shape) -> None:
    """Run attention of packed sequences."""
    from attention_varlen import lengths

    queries, keys = lengths(shape, "SQ"), lengths(shape, "SK")
    d, kind = shape["D"], shape["dtype"]
    q = filled((sum(queries), shape["H"], d), kind)
    k, v = (filled((sum(keys), shape["HK"], d), kind) for _ in "kv")
    of("attention.mha", "flash_attn_varlen_func")(
        q,
        k,
        v,
        sums(queries),
        sums(keys),
        max(queries),
        max(keys),
        causal=shape["causal"],
        # AITER has a parameter for the bias but rejects it; the page quotes its error as the reason.
        bias=filled((shape["SQ"], shape["SK"]), kind) if shape["bias"] else None,
        alibi_slopes=filled((shape["B"], shape["H"]), "fp32") if shape["alibi"] else None,
    )


def attention_fp8(shape: Shape) -> None:
    """Run attention of 8-bit floats with a scale for each sequence and head of the keys."""
    q, k, v = tokens_first(shape)
    scales = [filled((shape["B"], shape["HK"]), "fp32") for _ in "qkv"]
    of("attention.mha_v3", "flash_attn_func")(
        q, k, v, causal=shape["causal"], q_descale=scales[0], k_descale=scales[1], v_descale=scales[2]
    )


def attention_int8(shape: Shape) -> None:
    """Run SageAttention: the first product in INT8, the second one in 8-bit floats, on quantised inputs."""
    if shape["form"] != "qkpv":
        raise NoCounterpartError("AITER's operator has both products in 8 bits")
    q, k, v = tokens_first({**shape, "dtype": "i8"})
    v = filled((shape["B"], shape["HK"], shape["SK"], shape["D"]), package.dtypes.fp8).transpose(1, 2)
    config = of("attention.fav3_sage", "get_sage_fwd_configs")()
    queries, keys = (-(-shape[n] // config[m]) for n, m in (("SQ", "BLOCK_M"), ("SK", "BLOCK_N")))
    q_scale = filled((shape["B"], shape["H"], queries), "fp32")
    k_scale = filled((shape["B"], shape["HK"], keys), "fp32")
    v_scale = filled((shape["B"], shape["HK"], shape["D"]), "fp32")
    of("attention.fav3_sage", "fav3_sage_func")(q, k, v, q_scale, k_scale, v_scale, causal=shape["causal"])


def attention_persistent(shape: Shape) -> None:
    """Run lean attention: persistent workgroups that share the tiles of a head.

    This calls the function behind ``persistent_lean_attention``, which looks for a function in the wrong module.
    """
    module = "attention.lean_atten"
    config = of(module, "_get_config")()
    b, h, hk, sq, sk, d = (shape[name] for name in ("B", "H", "HK", "SQ", "SK", "D"))
    programs = of("utils.device_info", "get_num_sms")() * config["SM_CNT_FACTOR"]
    q = filled((b * sq, h, d), shape["dtype"])
    k, v = (filled((b * sk, hk, d), shape["dtype"]) for _ in "kv")
    maxima, totals = (filled((programs, sq), "fp32") for _ in range(2))
    blocks = -(-sk // config["BLOCK_SIZE_N"])
    of(module, "_persistent_lean_attention")(
        q,
        k,
        v,
        maxima,
        totals,
        filled((programs, sq, d), "fp32"),
        numbers([0] * programs),
        numbers([blocks * (index + 1) for index in range(b)]),
        programs,
        config["BLOCK_SIZE_M"],
        config["BLOCK_SIZE_N"],
        config["XCD_REMAP"],
        shape["causal"],
        b,
        False,
        config["num_warps"],
        config["waves_per_eu"],
        {"matrix_instr_nonkdim": config["matrix_instr_nonkdim"]},
    )


def flash_decoding(shape: Shape) -> None:
    """Run attention of one query per sequence to a contiguous cache."""
    from flash_decoding import cache_lengths

    b, h, hk, n, d, kind = (shape[name] for name in ("B", "H", "HK", "N", "D", "dtype"))
    k, v = (filled((b, hk, n, d), kind).transpose(1, 2) for _ in "kv")
    of("attention.mha", "flash_attn_with_kvcache")(
        filled((b, 1, h, d), kind), k, v, cache_seqlens=numbers(cache_lengths(shape))
    )


def paged_decoding(shape: Shape) -> None:
    """Run attention of one query per sequence to a paged cache, which has the same layout."""
    from paged_decoding import block_table, cache_lengths, cache_shape

    b, h, d, kind = (shape[name] for name in ("B", "H", "D", "dtype"))
    q, out = (filled((b, h, d), kind) for _ in range(2))
    k, v = (filled(cache_shape(shape), kind) for _ in "kv")
    one = torch.ones(1, device="cuda")
    compute = of("utils.types", "torch_to_triton_dtype")[torch_dtype(kind)]
    lengths, table = numbers(cache_lengths(shape)), numbers(block_table(shape))
    of("attention.pa_decode", "paged_attention_decode")(
        out, q, k, v, lengths, table, d**-0.5, shape["N"], compute, one, one
    )


def unified_decoding(shape: Shape) -> None:
    """Run unified attention with one query per sequence; its pages keep the heads of a token together."""
    from paged_decoding import block_table, cache_lengths, cache_shape

    b, h, d, kind = (shape[name] for name in ("B", "H", "D", "dtype"))
    pages, heads, page, _ = cache_shape(shape)
    q, out = (filled((b, h, d), kind) for _ in range(2))
    k, v = (filled((pages, page, heads, d), kind) for _ in "kv")
    lengths = cache_lengths(shape)
    table = numbers([[min(one, pages - 1) for one in row] for row in block_table(shape)])
    of("attention.unified_attention", "unified_attention")(
        q, k, v, out, sums([1] * b), 1, numbers(lengths), max(lengths), d**-0.5, True, (-1, -1), table, 0.0, None, None,
        None,
    )  # fmt: skip


def mla_decode(shape: Shape) -> None:
    """Run both products with the absorbed weights, and the attention to the latents between them."""
    from mla_decode import cache_lengths

    if not shape["causal"]:
        raise NoCounterpartError("AITER's operator is always causal")
    b, h, s, t, dn, dr, dv, c = (shape[name] for name in ("B", "H", "S", "T", "DN", "DR", "DV", "C"))
    page, kind = 64, shape["dtype"]
    product = of("gemm.batched.batched_gemm_bf16", "batched_gemm_bf16")
    product(filled((h, b * s, dn), kind), filled((h, c, dn), kind))
    lengths = cache_lengths(shape)
    pages = -(-t // page)
    of("attention.mla", "mla_decode_fwd")(
        filled((b * s, h, c + dr), kind),
        filled((b * pages, page, 1, c + dr), kind),
        filled((b * s, h, c), kind),
        sums([s] * b),
        numbers(lengths),
        max(lengths),
        numbers([list(range(first * pages, (first + 1) * pages)) for first in range(b)]),
        (dn + dr) ** -0.5,
        c,
        dr,
        True,
        None,
        None,
    )
    product(filled((h, b * s, c), kind), filled((h, dv, c), kind))


def gemm(shape: Shape) -> None:
    """Run a product whose factors have rows along K, in 16 bits, or in 8 bits with scales by row and column."""
    if shape.get("trans_a") or not shape.get("trans_b", True) or shape.get("pad"):
        raise NoCounterpartError("AITER's factors both have their rows along K")
    m, n, k, kind = (shape[name] for name in ("M", "N", "K", "dtype"))
    a, b = filled((m, k), kind), filled((n, k), kind)
    bias = filled((n,), "bf16") if shape.get("bias") else None
    if kind in {"fp16", "bf16"}:
        of("gemm.basic.gemm_a16w16", "gemm_a16w16")(a, b, bias=bias, dtype=torch_dtype(shape["out"]))
        return
    if kind == "fp32":
        raise NoCounterpartError("AITER's factors have 8 or 16 bits")
    out = torch.bfloat16 if shape["out"] == "i32" else torch_dtype(shape["out"])
    of("gemm.basic.gemm_a8w8", "gemm_a8w8")(a, b, filled((m, 1)), filled((1, n)), bias=bias, dtype=out)


def moe_fused(shape: Shape) -> None:
    """Run gate and up with SwiGLU, then down, on sorted slots; AITER sums the experts in another operator."""
    from moe_fused import _sorted, chosen, most_blocks

    t, k, f, e, top, kind = (shape[name] for name in ("T", "K", "F", "E", "TOP_K", "dtype"))
    compute = of("utils.types", "torch_to_triton_dtype")[torch_dtype(kind)]
    config = of("utils.moe_config_utils", "get_optimal_moe_config")(torch_dtype(kind), M=t)
    block_m = config["BLOCK_SIZE_M"]
    slots, experts = _sorted(t, e, top, shape["routing"], block_m, most_blocks(shape, block_m))
    count = sum(expert >= 0 for expert in experts) * block_m
    routing = (
        filled((t, top)),
        numbers(chosen(t, e, top, shape["routing"])).view(t, top),
        numbers(slots),
        numbers([max(expert, 0) for expert in experts]),
        numbers([count]),
    )
    hidden = filled((t * top, f), kind)
    first, second = filled((e, 2 * f, k), kind), filled((e, k, f), kind)
    of("moe.moe_op_silu_fused", "fused_moe_silu")(
        filled((t, k), kind), first, hidden, None, None, None, *routing, False, top, compute, False, False, False,
        config=config,
    )  # fmt: skip
    of("moe.moe_op", "fused_moe")(
        hidden, second, filled((t, top, k), kind), None, None, None, *routing, True, 1, compute, False, False, False,
        config=config,
    )  # fmt: skip


def rmsnorm(shape: Shape) -> None:
    """Run RMS norm of each row."""
    if shape.get("unit_offset"):
        raise NoCounterpartError("AITER's weights have no offset of 1")
    of("normalization.rmsnorm", "rms_norm")(filled((shape["M"], shape["N"]), shape["dtype"]), _row(shape), 1e-6)


def rmsnorm_backward(shape: Shape) -> None:
    """Compute the gradients of RMS norm."""
    size = (shape["M"], shape["N"])
    gradient, x = (filled(size, shape["dtype"]) for _ in range(2))
    of("normalization.rmsnorm", "_rmsnorm_backward")(gradient, x, _row(shape), filled((shape["M"],)))


def rmsnorm_residual_fp8(shape: Shape) -> None:
    """Run residual, RMS norm and quantisation with a given scale."""
    x, residual = (filled((shape["M"], shape["N"]), shape["dtype"]) for _ in range(2))
    of("quant.fused_fp8_quant", "fused_rms_fp8_per_tensor_static_quant")(
        x, _row(shape), 1e-6, filled((1,)), dtype_quant=torch_dtype(shape["out"]), res1=residual
    )


def layernorm(shape: Shape) -> None:
    """Run layer norm of each row."""
    x = filled((shape["M"], shape["N"]), shape["dtype"])
    of("normalization.norm", "layer_norm")(x, _row(shape), _row(shape), 1e-5)


def layernorm_backward(shape: Shape) -> None:
    """Compute the gradients of layer norm."""
    gradient, result, x = (filled((shape["M"], shape["N"]), shape["dtype"]) for _ in range(3))
    moments = [filled((shape["M"],)) for _ in range(2)]
    weights = [_row(shape) for _ in range(3)]
    of("normalization.norm", "_layernorm_backward")(gradient, result, weights[0], weights[1], x, weights[2], *moments)


def softmax(shape: Shape) -> None:
    """Run softmax of each row."""
    of("softmax", "softmax")(filled((shape["M"], shape["N"]), shape["dtype"]))


def swiglu_fp8(shape: Shape) -> None:
    """Run SwiGLU and quantisation with a given scale."""
    x = filled((shape["M"], 2 * shape["N"]), shape["dtype"])
    quantise = of("quant.fused_fp8_quant", "fused_silu_mul_fp8_per_tensor_static_quant")
    quantise(x, filled((1,)), dtype_quant=torch_dtype(shape["out"]))


def _row(shape: Shape) -> torch.Tensor:
    return filled((shape["N"],), shape["dtype"])


OPERATORS: Mapping[str, Callable[[Shape], None]] = {
    "attention_forward_backward": attention_with_gradients,
    "attention_fp8": attention_fp8,
    "attention_int8": attention_int8,
    "attention_persistent": attention_persistent,
    "attention_persistent_not": attention,
    "attention_varlen": attention_varlen,
    "flash_attention": attention,
    "flash_decoding": flash_decoding,
    "gemm": gemm,
    "gemm_skinny_fp8": gemm,
    "gemm_streamk": gemm,
    "layernorm": layernorm,
    "layernorm_backward": layernorm_backward,
    "mla_decode": mla_decode,
    "moe_fused": moe_fused,
    "paged_decoding": paged_decoding,
    "paged_decoding_unified": unified_decoding,
    "rmsnorm": rmsnorm,
    "rmsnorm_backward": rmsnorm_backward,
    "rmsnorm_residual_fp8": rmsnorm_residual_fp8,
    "softmax": softmax,
    "swiglu_fp8": swiglu_fp8,
}
"""Map a bundled kernel's name, or a prefix of it, to the call of the corresponding operator of AITER."""


def main() -> None:
    """Call the operator; if it fails, the error is the last printed line."""
    accept_old_autotune_keys()
    try:
        OPERATORS[sys.argv[1]](json.loads(sys.argv[2]))
    except Exception as error:  # noqa: BLE001  # a shape that AITER refuses is a line of the page
        print(f"failed: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
        sys.exit(1)


if __name__ == "__main__":
    main()
