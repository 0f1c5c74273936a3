"""Fused attention, forward, with INT8 keys and values, in three forms that differ in their scales.

=========== ================================= ===================== =====================================
form        scales                            first product (Q K)   second product (P V)
=========== ================================= ===================== =====================================
``qkv``     q_descale, k_descale, v_descale   INT8                  in the dtype, V dequantised
``qkpv``    the same and p_descale            INT8                  INT8: the weights are quantised too
``kv``      k_descale, v_descale              in the dtype, K dequantised   in the dtype, V dequantised
=========== ================================= ===================== =====================================

A descale is the value of one step of an integer: one float32 a head for Q, K and V, one number for the weights,
which lie in [0, 1] (1 / 127 uses the whole range). The softmax is always in float32. As a descale is constant over a
head, it is applied to a product's result, where it costs one multiplication that was there anyway, and not to its
operands: an 8-bit integer is exact in fp16 and bf16.

Causal or full, grouped and multi-query, any lengths, log-sum-exp output.
"""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Check, Config, Kernel, Launch, Shape, Tensor, execute, rounding, size_of, torch_dtype

# 1.5 * 2^23. Within 2^22 of it a float's lowest bits are a whole number: adding it to a float rounds it, and integers
# that were added to its bits become the float of the sum without a conversion. Products of 256 int8 stay within.
_WHOLE = tl.constexpr(12582912.0)
_WHOLE_BITS = tl.constexpr(0x4B400000)


@triton.jit
def _attend(
    acc, total, top, q, k_ptrs, v_ptrs, first, last, n_keys, limit, factor, p_log, INTEGER_P: tl.constexpr,
    D: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr, DTYPE: tl.constexpr,
):  # fmt: skip
    """Attend to the keys from ``first`` up to ``last``; ``limit`` is each query's last visible key.

    Exponents have ``p_log`` added. Scores of an integer ``q`` have ``_WHOLE`` added, and so has ``top``.
    """
    col = tl.arange(0, BLOCK_N)
    for start in range(first, last, BLOCK_N):
        live = start + col < n_keys
        k = tl.load(k_ptrs + start * D, mask=live[None, :], other=0) if MASKED else tl.load(k_ptrs + start * D)
        # The product of two int8 tiles is int32; a q in the dtype gets its partner dequantised.
        if q.dtype == tl.int8:
            bits = tl.dot(q, k, tl.full([q.shape[0], BLOCK_N], _WHOLE_BITS, tl.int32), out_dtype=tl.int32)
            scores = bits.to(tl.float32, bitcast=True)
        else:
            scores = tl.dot(q, k.to(q.dtype), input_precision="ieee")
        if MASKED:
            visible = live[None, :] & (((start + col)[None, :] <= limit[:, None]) | (not CAUSAL))
            scores = tl.where(visible, scores, -float("inf"))
        new_top = tl.maximum(top, tl.fma(tl.max(scores, axis=1), factor, -p_log))
        # A query that has seen no key yet: exponents against 0, not -inf.
        base = tl.where(new_top == -float("inf"), 0.0, new_top) if MASKED else new_top
        # Rounded once: the offset of the scores leaves few bits behind the point.
        p = tl.exp2(tl.fma(scores, factor, -base[:, None]))
        fade = tl.exp2(top - base)
        total = total * fade + tl.sum(p, axis=1)
        acc = acc * fade[:, None]
        v = tl.load(v_ptrs + start * D, mask=live[:, None], other=0) if MASKED else tl.load(v_ptrs + start * D)
        if INTEGER_P:
            steps = (p + _WHOLE).to(tl.int32, bitcast=True).to(tl.int8)
            acc += tl.dot(steps, v).to(tl.float32)
        else:
            acc = tl.dot(p.to(DTYPE), v.to(DTYPE), acc, input_precision="ieee")
        top = new_top
    return acc, total, top


@triton.jit
def attention_int8_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, q_descale_ptr, k_descale_ptr, v_descale_ptr, p_descale,
    scale, n_queries, n_keys, GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Attention of ``BLOCK_M`` queries of one head; grid: heads, blocks of queries (the last first), batch."""
    LOG2E: tl.constexpr = 1.4426950408889634
    # Heads are numbered first, so that the query blocks of a head share the L2 of an XCD. Longest blocks start first.
    head = tl.program_id(2) * tl.num_programs(0) + tl.program_id(0)
    q_first = (tl.num_programs(1) - 1 - tl.program_id(1)) * BLOCK_M
    # Uniform 64-bit parts go to the bases; the lanes' offsets stay within 32 bits (buffer loads).
    at = head.to(tl.int64) * n_queries + q_first
    kv_at = (head // GROUP).to(tl.int64) * n_keys * D
    row = tl.arange(0, BLOCK_M)
    col = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    live = (q_first + row < n_queries)[:, None]
    q = tl.load(q_ptr + at * D + row[:, None] * D + d[None, :], mask=live, other=0)
    k_ptrs = k_ptr + kv_at + col[None, :] * D + d[:, None]
    v_ptrs = v_ptr + kv_at + col[:, None] * D + d[None, :]

    factor = scale * LOG2E * tl.load(k_descale_ptr + head // GROUP)
    if q_descale_ptr is not None:
        factor *= tl.load(q_descale_ptr + head)
    # In the exponent, 1 / p_descale costs nothing. It is in the sum as well, and so falls out of the quotient.
    p_log = 0.0 if p_descale is None else -tl.log2(p_descale)

    # Up to ``whole`` every query sees whole blocks. Causal masks end together: the last query sees all keys.
    limit = q_first + row + (n_keys - n_queries)
    whole = n_keys // BLOCK_N * BLOCK_N
    end = n_keys
    if CAUSAL:
        seen_by_first = tl.maximum(q_first + n_keys - n_queries + 1, 0)
        whole = tl.minimum(whole, seen_by_first // BLOCK_N * BLOCK_N)
        end = tl.minimum(end, tl.maximum(q_first + n_keys - n_queries + BLOCK_M, 0))

    acc = tl.zeros([BLOCK_M, D], tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    top = tl.full([BLOCK_M], -float("inf"), tl.float32)
    for masked in tl.static_range(2):
        acc, total, top = _attend(
            acc, total, top, q, k_ptrs, v_ptrs, whole if masked else 0, end if masked else whole, n_keys, limit,
            factor, p_log, p_descale is not None, D, BLOCK_N, CAUSAL, masked == 1, out_ptr.dtype.element_ty,
        )  # fmt: skip

    # A query that sees no key at all (more queries than keys) gets zeros and a log-sum-exp of -inf.
    total = tl.where(total > 0.0, total, 1.0)
    acc = acc * (tl.load(v_descale_ptr + head // GROUP) / total)[:, None]
    tl.store(out_ptr + at * D + row[:, None] * D + d[None, :], acc.to(out_ptr.dtype.element_ty), mask=live)
    if q.dtype == tl.int8:
        top = tl.fma(-_WHOLE, factor, top)
    tl.store(lse_ptr + at + row, (top + tl.log2(total)) / LOG2E, mask=q_first + row < n_queries)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for ``BLOCK_M`` queries of one head."""
    b, h, hk, sq, sk, d = (shape[name] for name in ("B", "H", "HK", "SQ", "SK", "D"))
    integer_q = shape["form"] != "kv"
    args = {
        "q_ptr": Tensor("i8" if integer_q else shape["dtype"], (b, h, sq, d)),
        "k_ptr": Tensor("i8", (b, hk, sk, d)),
        "v_ptr": Tensor("i8", (b, hk, sk, d)),
        "out_ptr": Tensor(shape["dtype"], (b, h, sq, d)),
        "lse_ptr": Tensor("fp32", (b, h, sq)),
        "q_descale_ptr": Tensor("fp32", (b, h)) if integer_q else None,
        "k_descale_ptr": Tensor("fp32", (b, hk)),
        "v_descale_ptr": Tensor("fp32", (b, hk)),
        "p_descale": 1 / 127 if shape["form"] == "qkpv" else None,
        "scale": d**-0.5,
        "n_queries": sq,
        "n_keys": sk,
        "GROUP": h // hk,
        "CAUSAL": shape["causal"],
        "D": d,
        "BLOCK_M": config["BLOCK_M"],
        "BLOCK_N": config["BLOCK_N"],
    }
    return Launch(args, (h, triton.cdiv(sq, config["BLOCK_M"]), b))


# The fastest by the model over the cases of each width of heads on MI300X and MI355X, none of which spills:
# docs/validation/defaults.md says what a longer search finds.
_FASTEST: Mapping[tuple[str, int], Config] = {
    ("gfx942", 256): {"BLOCK_M": 128, "num_warps": 4, "waves_per_eu": 1},
    ("gfx950", 128): {"BLOCK_N": 64},
    ("gfx950", 256): {"BLOCK_M": 128, "num_warps": 4, "waves_per_eu": 1},
}


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return tiles whose accumulator and scores leave registers for two wavefronts per SIMD."""
    rdna, width = (
        arch.startswith(("gfx10", "gfx11", "gfx12")),
        64 if shape["D"] <= 64 else 128 if shape["D"] <= 128 else 256,
    )
    tiles = {
        64: {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8 if rdna else 4},
        128: {"BLOCK_M": 128, "BLOCK_N": 16 if rdna else 32, "num_warps": 8 if rdna else 4},
        256: {"BLOCK_M": 64, "BLOCK_N": 32, "num_warps": 8},
    }
    found = {**tiles[width], **_FASTEST.get((arch, width), {})}
    if shape["form"] == "qkpv" and arch in {"gfx942", "gfx950"}:
        # 8-bit probabilities leave registers for more keys; without a causal mask there is one loop only, and more.
        # With it, heads of 128 spill one register in the masked loop on gfx942 and are faster than with 32 keys.
        found |= {"BLOCK_N": 64} if width == 128 else {}
        found |= {"BLOCK_N": 128} if width == 64 and not shape["causal"] else {}
    return found


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return the attention ``out`` and ``lse`` of int8 ``k``, ``v`` and int8 or float ``q`` (batch, head, token, D)."""
    import torch

    q = inputs["q"]
    out = torch.empty(q.shape, device=q.device, dtype=torch_dtype(shape["dtype"]))
    outputs = {"out": out, "lse": torch.empty(q.shape[:3], device=q.device, dtype=torch.float32)}
    tensors = {f"{name}_ptr": tensor for name, tensor in {**inputs, **outputs}.items()}
    execute(attention_int8_kernel, launch(shape, config), tensors, config)
    return outputs


def quantise(x: Any) -> tuple[Any, Any]:
    """Return a (batch, head, token, D) tensor as integers from -127 to 127, and each head's step."""
    import torch

    step = x.abs().amax(dim=(2, 3)) / 127
    return (x / step[:, :, None, None]).round().to(torch.int8), step.float()


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs, quantised as the shape's ``form`` requires."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    b, h, hk, sq, sk, d = (shape[name] for name in ("B", "H", "HK", "SQ", "SK", "D"))
    result = {}
    for name, size in {"q": (b, h, sq, d), "k": (b, hk, sk, d), "v": (b, hk, sk, d)}.items():
        x = torch.randn(size, device=device, generator=generator)
        if name in shape["form"]:
            result[name], result[f"{name}_descale"] = quantise(x)
        else:
            result[name] = x.to(torch_dtype(shape["dtype"]))
    return result


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64 from the integers times their steps, one head at a time."""
    import torch

    q = inputs["q"]
    out = torch.empty(q.shape, device=q.device, dtype=torch.float64)
    lse = torch.empty(q.shape[:3], device=q.device, dtype=torch.float64)
    hidden = torch.ones(shape["SQ"], shape["SK"], device=q.device, dtype=torch.bool)
    hidden = hidden.triu(1 + shape["SK"] - shape["SQ"]) & shape["causal"]

    def real(name: str, b: int, h: int) -> Any:
        x = inputs[name][b, h].double()
        return x * inputs[f"{name}_descale"][b, h].double() if f"{name}_descale" in inputs else x

    for b in range(shape["B"]):
        for h in range(shape["H"]):
            hk = h // (shape["H"] // shape["HK"])
            scores = real("q", b, h) @ real("k", b, hk).T * shape["D"] ** -0.5
            scores = scores.masked_fill(hidden, -torch.inf)
            lse[b, h] = scores.logsumexp(dim=1)
            out[b, h] = (scores - lse[b, h][:, None]).exp().nan_to_num(0.0) @ real("v", b, hk)
    return {"out": out, "lse": lse}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    Weights and results are rounded once to the dtype, with relative error u, or the weights are rounded to steps of
    1/127 of a row's largest weight.

    A weighted mean of values up to 4 with each weight off by u is off by less than 4 u; the float32 sums add a few
    2**-20. Steps are absolute: each weight is off by up to half a step, evenly and independently, so n keys whose
    weights sum to l give a deviation of step sqrt(n / 12) / l. With normal scores l is at least about sqrt(n), and
    values up to 4 and a hundred thousand results (4.5 deviations) make it 6 steps.
    """
    relative, _ = rounding(shape["dtype"])
    steps = 6 / 127 if shape["form"] == "qkpv" else 0.0
    return relative + 2.0**-19, 4 * relative + 2.0**-19 + steps


def flops(shape: Shape) -> int:
    """Return the FLOPs: two products of 2 SQ SK D per head; with a causal mask only those of visible pairs."""
    sq, sk = shape["SQ"], shape["SK"]
    seen = min(sq, sk)
    pairs = seen * (seen + 1) // 2 + seen * (sk - seen) if shape["causal"] else sq * sk
    return 4 * shape["B"] * shape["H"] * pairs * shape["D"]


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic: Q, K and V are read once; the result and its log-sum-exp are written once."""
    queries, keys = shape["B"] * shape["H"] * shape["SQ"], shape["B"] * shape["HK"] * shape["SK"]
    size = size_of(shape["dtype"])
    return (queries * (size + (1 if shape["form"] != "kv" else size)) + 2 * keys) * shape["D"] + 4 * queries


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why the head size is not supported, or None. This kernel does not pad heads."""
    if shape["D"] < 32 or shape["D"] & (shape["D"] - 1):
        return f"head size {shape['D']} is not a power of two from 32, as int8 products on {arch} need"
    return None


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why a tile's accumulator does not fit the register file, or None if it fits."""
    lanes = config["num_warps"] * (32 if arch.startswith(("gfx10", "gfx11", "gfx12")) else 64)
    if config["BLOCK_M"] * shape["D"] > 256 * lanes:
        return f"too many registers: the accumulator alone takes {config['BLOCK_M'] * shape['D'] // lanes} a lane"
    return None


def _case(form: str, b: int, h: int, hk: int, s: int, d: int, dtype: str = "fp16", **flags: Any) -> dict[str, Any]:
    base = {"form": form, "B": b, "H": h, "HK": hk, "SQ": s, "SK": s, "D": d}
    return {**base, "causal": True, "dtype": dtype, **flags}


KERNEL = Kernel(
    name="attention_int8",
    entry=attention_int8_kernel,
    summary="Fused attention forward in INT8: the first product, both, or only keys and values stored so",
    launch=launch,
    shapes={
        "qkv_s4096_d128": _case("qkv", 4, 32, 32, 4096, 128),
        "qkpv_s4096_d128": _case("qkpv", 4, 32, 32, 4096, 128),
        "kv_s4096_d128": _case("kv", 4, 32, 32, 4096, 128),
        "qkv_s4096_d64": _case("qkv", 4, 32, 32, 4096, 64),
        "qkpv_s4096_d64": _case("qkpv", 4, 32, 32, 4096, 64),
        "kv_s4096_d64": _case("kv", 4, 32, 32, 4096, 64),
        "d256_s512": _case("qkv", 4, 8, 8, 512, 256),
        "d256_s4096": _case("qkv", 4, 8, 8, 4096, 256),
        "llama_gqa": _case("qkpv", 1, 64, 8, 8192, 128, "bf16"),
        "full": _case("qkpv", 4, 16, 16, 2048, 64, causal=False),
    },
    config={"BLOCK_M": 128, "BLOCK_N": 32, "num_warps": 4, "num_stages": 1, "waves_per_eu": 2},
    # 8-bit tiles are half as large, so LDS has room to load the next keys and values an iteration ahead.
    arch_config={"gfx942": {"num_stages": 2}, "gfx950": {"num_stages": 2}},
    configs=[
        {"BLOCK_M": 128, "BLOCK_N": 32},
        {"BLOCK_M": 128, "BLOCK_N": 64},
        {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8},
        {"BLOCK_M": 64, "BLOCK_N": 64},
    ],
    space={
        "BLOCK_M": (32, 64, 128, 256),
        "BLOCK_N": (32, 64, 128),
        "num_warps": (4, 8),
        "num_stages": (1, 2),
        "waves_per_eu": (0, 1, 2, 3),
        "matrix_instr_nonkdim": (0, 16, 32),
    },
    shape_config=shape_config,
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=flops,
    bytes=traffic,
    unsupported=unsupported,
    checks={
        "qkv_causal": Check(_case("qkv", 1, 2, 2, 70, 32), {"BLOCK_M": 32, "BLOCK_N": 32}),
        "qkv_bf16_gqa": Check(_case("qkv", 1, 4, 2, 50, 64, "bf16"), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "qkv_fp32": Check(_case("qkv", 1, 2, 1, 40, 32, "fp32", causal=False), {"BLOCK_M": 32, "BLOCK_N": 32}),
        "qkpv_causal": Check(_case("qkpv", 1, 2, 2, 70, 32), {"BLOCK_M": 32, "BLOCK_N": 32}),
        "qkpv_full": Check(_case("qkpv", 1, 2, 1, 128, 64, "bf16", causal=False), {"BLOCK_M": 32, "BLOCK_N": 64}),
        "kv_causal": Check(_case("kv", 1, 2, 2, 70, 32, "fp32"), {"BLOCK_M": 32, "BLOCK_N": 32}),
        "kv_gqa_bf16": Check(_case("kv", 1, 4, 1, 40, 64, "bf16", causal=False), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "more_keys": Check(_case("kv", 1, 1, 1, 20, 32, SK=75), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "more_queries": Check(_case("qkv", 1, 1, 1, 60, 32, SK=25), {"BLOCK_M": 32, "BLOCK_N": 32}),
        "head_256": Check(_case("qkpv", 1, 1, 1, 40, 256), {"BLOCK_M": 32, "BLOCK_N": 32}),
    },
)
