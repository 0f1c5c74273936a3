"""Fused attention, forward, with 8-bit floats: Q, K and V in FP8, both products in FP8, the softmax in float32.

A descale is the value of one unit of a tensor: one float32 a head for Q, for K and for V, or one for the whole tensor,
which is the same number for each head. As it is constant over a product's rows and columns, it is applied to the
product's result, where it joins a multiplication that was there anyway.

The weights of the second product lie in [0, 1] and have to be FP8, too. They are made 2**7 times as large by adding 7
to the exponent, which costs nothing: ``exp2(x - (max - 7))``. That uses the type's range up to 128, which fits both
the 240 of FNUZ (MI300X) and the 448 of OCP (MI355X), and weights down to 2**-13 of the largest one keep all their
bits. The row's sum is larger by the same factor, so the division removes it.

Layout: (batch, head, token, D) with D contiguous. The matrix unit does 8-bit products at twice the rate of 16-bit
ones and half as many bytes are loaded, while the softmax takes as long as before. At heads of 128 both units take about
as long, at heads of 64 the vector instructions bound the kernel. V is needed along the keys and stored along D: gfx942
transposes it in registers before it goes to LDS, and gfx950 has transposing LDS reads.

Causal or full, grouped and multi-query, any lengths, log-sum-exp output.
"""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import (
    Check,
    Config,
    Kernel,
    Launch,
    Shape,
    Tensor,
    execute,
    no_fp8,
    rounding,
    size_of,
    torch_dtype,
)

LARGEST = {"fp8e4nv": 448.0, "fp8e4b8": 240.0}
"""Largest finite value of each type."""


@triton.jit
def _attend(
    acc, total, top, q, k_ptrs, v_ptrs, first, last, n_keys, limit, factor,
    D: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Attend to the keys from ``first`` up to ``last``; ``limit`` is each query's last visible key."""
    SHIFT: tl.constexpr = 7.0
    col = tl.arange(0, BLOCK_N)
    for start in range(first, last, BLOCK_N):
        live = start + col < n_keys
        k = tl.load(k_ptrs + start * D, mask=live[None, :], other=0.0) if MASKED else tl.load(k_ptrs + start * D)
        scores = tl.dot(q, k, max_num_imprecise_acc=0)
        if MASKED:
            visible = live[None, :] & (((start + col)[None, :] <= limit[:, None]) | (not CAUSAL))
            scores = tl.where(visible, scores, -float("inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=1) * factor)
        # A query that has seen no key yet: exponents against 0, not -inf.
        base = tl.where(new_top == -float("inf"), 0.0, new_top) if MASKED else new_top
        p = tl.exp2(scores * factor - (base - SHIFT)[:, None])
        fade = tl.exp2(top - base)
        total = total * fade + tl.sum(p, axis=1)
        acc = acc * fade[:, None]
        v = tl.load(v_ptrs + start * D, mask=live[:, None], other=0.0) if MASKED else tl.load(v_ptrs + start * D)
        acc = tl.dot(p.to(v.dtype), v, acc, max_num_imprecise_acc=0)
        top = new_top
    return acc, total, top


@triton.jit
def attention_fp8_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, q_descale_ptr, k_descale_ptr, v_descale_ptr,
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
    q = tl.load(q_ptr + at * D + row[:, None] * D + d[None, :], mask=live, other=0.0)
    k_ptrs = k_ptr + kv_at + col[None, :] * D + d[:, None]
    v_ptrs = v_ptr + kv_at + col[:, None] * D + d[None, :]

    factor = scale * LOG2E * tl.load(q_descale_ptr + head) * tl.load(k_descale_ptr + head // GROUP)
    worth = tl.load(v_descale_ptr + head // GROUP)

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
            factor, D, BLOCK_N, CAUSAL, masked == 1,
        )  # fmt: skip

    # A query that sees no key at all (more queries than keys) gets zeros and a log-sum-exp of -inf. The 7 that made
    # weights larger is in the sum.
    total = tl.where(total > 0.0, total, 1.0)
    acc = acc * (worth / total)[:, None]
    tl.store(out_ptr + at * D + row[:, None] * D + d[None, :], acc.to(out_ptr.dtype.element_ty), mask=live)
    tl.store(lse_ptr + at + row, (top + tl.log2(total) - 7.0) / LOG2E, mask=q_first + row < n_queries)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for ``BLOCK_M`` queries of one head."""
    b, h, hk, sq, sk, d = (shape[name] for name in ("B", "H", "HK", "SQ", "SK", "D"))
    args = {
        "q_ptr": Tensor(shape["dtype"], (b, h, sq, d)),
        "k_ptr": Tensor(shape["dtype"], (b, hk, sk, d)),
        "v_ptr": Tensor(shape["dtype"], (b, hk, sk, d)),
        "out_ptr": Tensor(shape["out"], (b, h, sq, d)),
        "lse_ptr": Tensor("fp32", (b, h, sq)),
        "q_descale_ptr": Tensor("fp32", (b, h)),
        "k_descale_ptr": Tensor("fp32", (b, hk)),
        "v_descale_ptr": Tensor("fp32", (b, hk)),
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


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return tiles whose accumulator and scores leave registers for two wavefronts per SIMD."""
    rdna = arch.startswith(("gfx10", "gfx11", "gfx12"))
    if shape["D"] <= 64:
        return {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8 if rdna else 4}
    if shape["D"] <= 128:
        knobs = {"BLOCK_M": 128, "BLOCK_N": 16 if rdna else 64, "num_warps": 8 if rdna else 4}
        # The 32 x 32 instructions of gfx950 spill, and half as many rows leave room for a third wavefront.
        return knobs | ({"BLOCK_M": 64, "matrix_instr_nonkdim": 16} if arch == "gfx950" else {})
    return {"BLOCK_M": 64, "BLOCK_N": 32, "num_warps": 8}


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return the attention ``out`` and ``lse`` of 8-bit ``q``, ``k``, ``v`` (batch, head, token, D) with descales."""
    import torch

    q = inputs["q"]
    out = torch.empty(q.shape, device=q.device, dtype=torch_dtype(shape["out"]))
    outputs = {"out": out, "lse": torch.empty(q.shape[:3], device=q.device, dtype=torch.float32)}
    tensors = {f"{name}_ptr": tensor for name, tensor in {**inputs, **outputs}.items()}
    execute(attention_fp8_kernel, launch(shape, config), tensors, config)
    return outputs


def quantise(x: Any, dtype: str, *, per_head: bool) -> tuple[Any, Any]:
    """Return a (batch, head, token, D) tensor in 8 bits, and its descale for each head."""
    unit = x.abs().amax(dim=(2, 3)) / LARGEST[dtype]
    if not per_head:
        unit = unit.amax().expand_as(unit).contiguous()
    return (x / unit[:, :, None, None]).to(torch_dtype(dtype)), unit.float()


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs, larger in later heads, quantised by head or by tensor."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    b, h, hk, sq, sk, d = (shape[name] for name in ("B", "H", "HK", "SQ", "SK", "D"))
    result = {}
    for name, size in {"q": (b, h, sq, d), "k": (b, hk, sk, d), "v": (b, hk, sk, d)}.items():
        x = torch.randn(size, device=device, generator=generator)
        result[name], result[f"{name}_descale"] = quantise(x, shape["dtype"], per_head=shape["per_head"])
    return result


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64 from the 8-bit values times their descales, one head at a time."""
    import torch

    q = inputs["q"]
    out = torch.empty(q.shape, device=q.device, dtype=torch.float64)
    lse = torch.empty(q.shape[:3], device=q.device, dtype=torch.float64)
    hidden = torch.ones(shape["SQ"], shape["SK"], device=q.device, dtype=torch.bool)
    hidden = hidden.triu(1 + shape["SK"] - shape["SQ"]) & shape["causal"]

    def real(name: str, b: int, h: int) -> Any:
        return inputs[name][b, h].double() * inputs[f"{name}_descale"][b, h].double()

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

    Weights are rounded once to 8 bits, with relative error u, and the result is rounded once to its type.

    A row's largest weight is a power of two in 8 bits and therefore exact, so at most half of a mean is off by u: with
    values up to 4, by 2 u. Each weight below 2**-13 of the largest one also loses bits, at most 2**-17 of the largest
    weight. The float32 sums add a few 2**-20.
    """
    relative, _ = rounding(shape["out"])
    weights, _ = rounding(shape["dtype"])
    return relative + 2.0**-19, 2 * weights + 4 * relative + 2.0**-19


def flops(shape: Shape) -> int:
    """Return the FLOPs: two products of 2 SQ SK D per head; with a causal mask only those of visible pairs."""
    sq, sk = shape["SQ"], shape["SK"]
    seen = min(sq, sk)
    pairs = seen * (seen + 1) // 2 + seen * (sk - seen) if shape["causal"] else sq * sk
    return 4 * shape["B"] * shape["H"] * pairs * shape["D"]


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic: Q, K and V are read once; the result and its log-sum-exp are written once."""
    queries, keys = shape["B"] * shape["H"] * shape["SQ"], shape["B"] * shape["HK"] * shape["SK"]
    return (queries * (1 + size_of(shape["out"])) + 2 * keys) * shape["D"] + 4 * queries


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why the head size or the 8-bit float type is not supported, or None. This kernel does not pad heads."""
    if shape["D"] < 32 or shape["D"] & (shape["D"] - 1):
        return f"head size {shape['D']} is not a power of two from 32, as 8-bit products on {arch} need"
    return no_fp8(arch, shape["dtype"])


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why a tile's accumulator does not fit the register file, or None if it fits."""
    lanes = config["num_warps"] * (32 if arch.startswith(("gfx10", "gfx11", "gfx12")) else 64)
    if config["BLOCK_M"] * shape["D"] > 256 * lanes:
        return f"too many registers: the accumulator alone takes {config['BLOCK_M'] * shape['D'] // lanes} a lane"
    return None


def _case(b: int, h: int, hk: int, s: int, d: int, out: str = "bf16", **flags: Any) -> dict[str, Any]:
    base = {"B": b, "H": h, "HK": hk, "SQ": s, "SK": s, "D": d, "causal": True, "per_head": True}
    return {**base, "dtype": "fp8_e4m3", "out": out, **flags}


KERNEL = Kernel(
    name="attention_fp8",
    entry=attention_fp8_kernel,
    summary="Fused attention forward in FP8: both products in 8-bit floats, scales by head or tensor",
    launch=launch,
    shapes={
        "s4096_d128": _case(4, 32, 32, 4096, 128),
        "s4096_d64": _case(4, 32, 32, 4096, 64),
        "d256_s4096": _case(4, 8, 8, 4096, 256),
        "llama_gqa": _case(1, 64, 8, 8192, 128),
        "full": _case(4, 16, 16, 2048, 64, "fp16", causal=False, per_head=False),
    },
    config={"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 4, "num_stages": 1, "waves_per_eu": 2},
    # With 8-bit tiles, LDS has room to load the next keys and values an iteration ahead. kpack=2 reads LDS twice as
    # wide, and the architectures after gfx942 have no such option.
    arch_config={"gfx942": {"num_stages": 2, "kpack": 2}, "gfx950": {"num_stages": 2, "waves_per_eu": 0}},
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
        "kpack": (1, 2),
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
        "causal": Check(_case(1, 2, 2, 70, 32), {"BLOCK_M": 32, "BLOCK_N": 32}),
        "full_by_tensor": Check(_case(2, 2, 2, 64, 64, causal=False, per_head=False), {"BLOCK_M": 32, "BLOCK_N": 64}),
        "gqa_fp32": Check(_case(1, 4, 2, 50, 64, "fp32"), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "mqa": Check(_case(1, 3, 1, 40, 32, "fp16", causal=False), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "more_keys": Check(_case(1, 1, 1, 20, 32, SK=75), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "more_queries": Check(_case(1, 1, 1, 60, 32, SK=25), {"BLOCK_M": 32, "BLOCK_N": 32}),
        "head_256": Check(_case(1, 1, 1, 40, 256), {"BLOCK_M": 32, "BLOCK_N": 32}),
    },
)
