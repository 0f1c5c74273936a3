"""Fused attention, forward: softmax(Q K^T / sqrt(D)) V without the score matrix ever leaving registers.

Causal or full, grouped and multi-query, any head size up to 256 (others are padded to a power of two with masks),
any sequence lengths, log-sum-exp output on request. The loop over the keys is split in two: blocks that every query
of the tile sees in full, without a single comparison, and the few at the diagonal or the end that need a mask.

Workgroups are numbered heads first. A GPU made of XCDs deals them out in turn, so all the query blocks of a head,
which read the same keys and values, meet in the L2 of one XCD. With a causal mask the longest blocks start first.
"""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Check, Config, Kernel, Launch, Shape, Tensor, execute, rounding, size_of, torch_dtype


@triton.jit
def _attend(
    acc,
    total,
    top,
    q,
    k_ptrs,
    v_ptrs,
    first,
    last,
    n_keys,
    limit,
    k_stride,
    v_stride,
    scale,
    live_d,
    CAUSAL: tl.constexpr,
    MASKED: tl.constexpr,
    PAD_D: tl.constexpr,
    PRE_LOAD_V: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Attend to the keys from ``first`` up to ``last``; ``limit`` is each query's last visible key."""
    col = tl.arange(0, BLOCK_N)
    for start in range(first, last, BLOCK_N):
        if MASKED:
            live = start + col < n_keys
            k_mask = live[None, :] & live_d[:, None]
            v_mask = live[:, None] & live_d[None, :]
        elif PAD_D:
            k_mask = live_d[:, None]
            v_mask = live_d[None, :]
        else:
            k_mask = None
            v_mask = None
        masked_load: tl.constexpr = MASKED or PAD_D
        k = tl.load(k_ptrs + start * k_stride, mask=k_mask, other=0.0 if masked_load else None)
        if PRE_LOAD_V:
            v = tl.load(v_ptrs + start * v_stride, mask=v_mask, other=0.0 if masked_load else None)
        scores = tl.dot(q, k)
        if MASKED:
            visible = live[None, :]
            if CAUSAL:
                visible &= (start + col)[None, :] <= limit[:, None]
            scores = tl.where(visible, scores, -float("inf"))

        new_top = tl.maximum(top, tl.max(scores, axis=1) * scale)
        base = new_top
        if MASKED:
            # A query that has seen no key yet: exponents against 0, not -inf.
            base = tl.where(new_top == -float("inf"), 0.0, new_top)
        p = tl.exp2(scores * scale - base[:, None])
        fade = tl.exp2(top - base)
        total = total * fade + tl.sum(p, axis=1)
        acc = acc * fade[:, None]
        if not PRE_LOAD_V:
            v = tl.load(v_ptrs + start * v_stride, mask=v_mask, other=0.0 if masked_load else None)
        acc = tl.dot(p.to(v.dtype), v, acc)
        top = new_top
    return acc, total, top


@triton.jit
def flash_attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    lse_ptr,
    scale,
    n_queries,
    n_keys,
    q_stride_b,
    q_stride_h,
    q_stride_s,
    k_stride_b,
    k_stride_h,
    k_stride_s,
    v_stride_b,
    v_stride_h,
    v_stride_s,
    o_stride_b,
    o_stride_h,
    o_stride_s,
    GROUP: tl.constexpr,
    CAUSAL: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    PRE_LOAD_V: tl.constexpr,
):
    LOG2E: tl.constexpr = 1.4426950408889634
    PAD_D: tl.constexpr = BLOCK_D != HEAD_DIM
    head = tl.program_id(0)
    batch = tl.program_id(2).to(tl.int64)
    block = tl.program_id(1)
    if CAUSAL:
        block = tl.num_programs(1) - 1 - block
    q_first = block * BLOCK_M

    row = tl.arange(0, BLOCK_M)
    col = tl.arange(0, BLOCK_N)
    d = tl.arange(0, BLOCK_D)
    live_d = d < HEAD_DIM
    live_q = q_first + row < n_queries

    # Uniform 64-bit parts go to the bases; the lanes' offsets stay within 32 bits.
    q_ptr += batch * q_stride_b + head.to(tl.int64) * q_stride_h + q_first.to(tl.int64) * q_stride_s
    k_ptr += batch * k_stride_b + (head // GROUP).to(tl.int64) * k_stride_h
    v_ptr += batch * v_stride_b + (head // GROUP).to(tl.int64) * v_stride_h
    out_ptr += batch * o_stride_b + head.to(tl.int64) * o_stride_h + q_first.to(tl.int64) * o_stride_s
    k_ptrs = k_ptr + col[None, :] * k_stride_s + d[:, None]
    v_ptrs = v_ptr + col[:, None] * v_stride_s + d[None, :]

    q_mask = live_q[:, None] & live_d[None, :]
    q = tl.load(q_ptr + row[:, None] * q_stride_s + d[None, :], mask=q_mask, other=0.0)

    # Causal masks are aligned at the ends: the last query sees all keys, whatever the lengths.
    limit = q_first + row + (n_keys - n_queries)
    whole = n_keys // BLOCK_N * BLOCK_N
    end = n_keys
    if CAUSAL:
        shared = q_first + (n_keys - n_queries) + 1
        whole = tl.minimum(whole, tl.maximum(shared, 0) // BLOCK_N * BLOCK_N)
        end = tl.minimum(n_keys, tl.maximum(shared + BLOCK_M - 1, 0))

    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    top = tl.full([BLOCK_M], -float("inf"), tl.float32)
    acc, total, top = _attend(
        acc, total, top, q, k_ptrs, v_ptrs, 0, whole, n_keys, limit, k_stride_s, v_stride_s, scale * LOG2E, live_d,
        CAUSAL, False, PAD_D, PRE_LOAD_V, BLOCK_N,
    )  # fmt: skip
    acc, total, top = _attend(
        acc, total, top, q, k_ptrs, v_ptrs, whole, end, n_keys, limit, k_stride_s, v_stride_s, scale * LOG2E, live_d,
        CAUSAL, True, PAD_D, PRE_LOAD_V, BLOCK_N,
    )  # fmt: skip

    # A query that sees no key at all (more queries than keys) gets zeros.
    acc = acc * tl.where(total > 0.0, 1.0 / total, 0.0)[:, None]
    tl.store(out_ptr + row[:, None] * o_stride_s + d[None, :], acc.to(out_ptr.dtype.element_ty), mask=q_mask)
    if lse_ptr is not None:
        lse_ptr += (batch * tl.num_programs(0) + head) * n_queries + q_first
        tl.store(lse_ptr + row, (top + tl.log2(total)) / LOG2E, mask=live_q)


def launch(shape: Shape, config: Config) -> Launch:
    """One workgroup for ``BLOCK_M`` queries of one head."""
    b, h, hk, sq, sk, d = (shape[name] for name in ("B", "H", "HK", "SQ", "SK", "D"))
    # "bshd" keeps the heads of a token together, as projections write them; "bhsd" keeps a head together.
    tokens_first = shape["layout"] == "bshd"

    def strides(heads: int, length: int) -> tuple[int, int, int]:
        return (length * heads * d, d, heads * d) if tokens_first else (heads * length * d, length * d, d)

    def tensor(heads: int, length: int) -> Tensor:
        return Tensor(shape["dtype"], (b, length, heads, d) if tokens_first else (b, heads, length, d))

    args: dict[str, Any] = {
        "q_ptr": tensor(h, sq),
        "k_ptr": tensor(hk, sk),
        "v_ptr": tensor(hk, sk),
        "out_ptr": tensor(h, sq),
        "lse_ptr": Tensor("fp32", (b, h, sq)) if shape["lse"] else None,
        "scale": d**-0.5,
        "n_queries": sq,
        "n_keys": sk,
    }
    for name, heads, length in (("q", h, sq), ("k", hk, sk), ("v", hk, sk), ("o", h, sq)):
        args.update(zip((f"{name}_stride_{axis}" for axis in "bhs"), strides(heads, length), strict=True))
    args |= {
        "GROUP": h // hk,
        "CAUSAL": shape["causal"],
        "HEAD_DIM": d,
        "BLOCK_D": max(16, triton.next_power_of_2(d)),
        "BLOCK_M": config["BLOCK_M"],
        "BLOCK_N": config["BLOCK_N"],
        "PRE_LOAD_V": config["PRE_LOAD_V"],
    }
    return Launch(args, (h, triton.cdiv(sq, config["BLOCK_M"]), b))


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Attention of ``q``, ``k``, ``v`` in the shape's layout; ``out`` like ``q``, ``lse`` as (B, H, SQ) float32."""
    import torch

    q = inputs["q"]
    outputs = {"out": torch.empty_like(q)}
    if shape["lse"]:
        outputs["lse"] = torch.empty(shape["B"], shape["H"], shape["SQ"], device=q.device, dtype=torch.float32)
    tensors = {"q_ptr": q, "k_ptr": inputs["k"], "v_ptr": inputs["v"], "out_ptr": outputs["out"]}
    execute(flash_attention_kernel, launch(shape, config), tensors | {"lse_ptr": outputs.get("lse")}, config)
    return outputs


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Normal values."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    tensors = {}
    for name, heads, length in (("q", "H", "SQ"), ("k", "HK", "SK"), ("v", "HK", "SK")):
        size = [shape["B"], shape[heads], shape[length], shape["D"]]
        if shape["layout"] == "bshd":
            size[1], size[2] = size[2], size[1]
        tensors[name] = torch.randn(size, device=device, generator=generator).to(torch_dtype(shape["dtype"]))
    return tensors


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """In float64, one batch entry and head at a time so that long sequences fit."""
    import torch

    heads_first = shape["layout"] == "bhsd"
    q, k, v = (inputs[n] if heads_first else inputs[n].transpose(1, 2) for n in "qkv")
    out = torch.empty(q.shape, device=q.device, dtype=torch.float64)
    lse = torch.empty(q.shape[:3], device=q.device, dtype=torch.float64)
    group = shape["H"] // shape["HK"]
    hidden = torch.ones(shape["SQ"], shape["SK"], device=q.device, dtype=torch.bool)
    hidden = hidden.triu(1 + shape["SK"] - shape["SQ"]) & shape["causal"]
    for b in range(shape["B"]):
        for h in range(shape["H"]):
            scores = q[b, h].double() @ k[b, h // group].double().T * shape["D"] ** -0.5
            scores = scores.masked_fill(hidden, -torch.inf)
            lse[b, h] = scores.logsumexp(dim=1)
            out[b, h] = (scores - lse[b, h][:, None]).exp().nan_to_num(0.0) @ v[b, h // group].double()
    result = {"out": out if heads_first else out.transpose(1, 2)}
    return result | {"lse": lse} if shape["lse"] else result


def tolerance(shape: Shape) -> tuple[float, float]:
    """The weights and the result are each rounded once to the dtype; values are about 1, weights sum to 1.

    A weighted mean of values up to about 4 with each weight off by u is off by less than 4 u; the sum in float32
    over the head and the keys adds a few 2**-20.
    """
    relative, _ = rounding(shape["dtype"])
    return relative + 2.0**-19, 4 * relative + 2.0**-19


def flops(shape: Shape) -> int:
    """Two products of 2 SQ SK D per head; with a causal mask only the visible pairs."""
    sq, sk = shape["SQ"], shape["SK"]
    pairs = sq * sk
    if shape["causal"]:
        visible = min(sq, sk)
        pairs = visible * (visible + 1) // 2 + visible * (sk - visible)
    return 4 * shape["B"] * shape["H"] * pairs * shape["D"]


def traffic(shape: Shape) -> int:
    """Q, K, V once each in, the result once out."""
    queries, keys = shape["H"] * shape["SQ"], shape["HK"] * shape["SK"]
    elements = 2 * (queries + keys) * shape["B"] * shape["D"]
    return elements * size_of(shape["dtype"]) + (4 * shape["B"] * queries if shape["lse"] else 0)


# Largest head size to (BLOCK_M, BLOCK_N, num_warps), the widest tiles that do not spill in the loop. At 256 the
# accumulator, the queries and the scores of a 128 x 64 tile ask for twice the registers there are.
_CDNA_TILES = {64: (128, 64, 4), 128: (128, 64, 4), 256: (64, 32, 4)}
# gfx11 holds every WMMA operand twice, once for each half of the wave; at 256 each tile spills, this one least.
_RDNA3_TILES = {64: (128, 32, 8), 128: (64, 32, 8), 256: (32, 16, 8)}
_RDNA4_TILES = {64: (128, 64, 8), 128: (128, 32, 8), 256: (128, 32, 8)}


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """The tile for a head size; never more query rows than there are queries.

    A wave has to have all the weights of its queries: with fewer than 32 rows a wave, 32 x 32 matrix instructions
    would put two waves on the same rows, pass the weights between them through LDS, and do some of the work twice.
    """
    tiles = _RDNA4_TILES if arch.startswith("gfx12") else _RDNA3_TILES if arch.startswith("gfx1") else _CDNA_TILES
    m, n, warps = next((tile for d, tile in tiles.items() if shape["D"] <= d), tiles[256])
    m = min(m, max(16, triton.next_power_of_2(shape["SQ"])))
    narrow = tiles is _CDNA_TILES and m < 32 * warps
    return {"BLOCK_M": m, "BLOCK_N": n, "num_warps": warps, "matrix_instr_nonkdim": 16 if narrow else 0}


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Tiles that the matrix unit cannot use, or that no register file holds."""
    if config["BLOCK_M"] < 16 or config["BLOCK_N"] < 16:
        return "tl.dot needs tiles of at least 16 x 16"
    head = max(16, triton.next_power_of_2(shape["D"]))
    lanes = config["num_warps"] * (32 if arch.startswith(("gfx10", "gfx11", "gfx12")) else 64)
    if config["BLOCK_M"] * head > 256 * lanes:
        return f"too many registers: the accumulator alone takes {config['BLOCK_M'] * head // lanes} a lane"
    return None


def _case(b: int, h: int, hk: int, s: int, d: int, dtype: str = "fp16", **flags: Any) -> dict[str, Any]:
    base = {"B": b, "H": h, "HK": hk, "SQ": s, "SK": s, "D": d, "causal": True, "lse": False}
    return {**base, "layout": "bhsd", "dtype": dtype, **flags}


KERNEL = Kernel(
    name="flash_attention",
    entry=flash_attention_kernel,
    summary="Fused attention forward: causal or full, GQA/MQA, head sizes to 256, log-sum-exp output",
    launch=launch,
    shapes={
        "s4096_d128": _case(4, 32, 32, 4096, 128),
        "d256_s512": _case(4, 8, 8, 512, 256),
        "d256_s1024": _case(4, 8, 8, 1024, 256),
        "d256_s2048": _case(4, 8, 8, 2048, 256),
        "d256_s4096": _case(4, 8, 8, 4096, 256),
        "s4096_d64": _case(4, 32, 32, 4096, 64),
        "llama_gqa": _case(1, 64, 8, 8192, 128, "bf16", layout="bshd"),
        "mqa": _case(2, 32, 1, 4096, 128, "bf16"),
        "full": _case(4, 16, 16, 2048, 64, causal=False),
        "training": _case(2, 32, 8, 4096, 128, "bf16", lse=True),
        "padded_d80": _case(4, 32, 32, 2048, 80),
        "prefix": _case(2, 32, 8, 1000, 128, SK=5000),
    },
    config={
        "BLOCK_M": 128,
        "BLOCK_N": 64,
        "PRE_LOAD_V": False,
        "num_warps": 4,
        "num_stages": 1,
        "waves_per_eu": 2,
        "matrix_instr_nonkdim": 0,
    },
    arch_config={
        # Loads go straight to LDS here, and LDS is large enough to have the next keys on their way.
        "gfx950": {"num_stages": 2},
        # A floor of two waves means nothing to a SIMD with 1,536 registers a lane.
        "gfx1100": {"waves_per_eu": 0},
        "gfx1201": {"waves_per_eu": 0},
    },
    shape_config=shape_config,
    configs=[
        {"BLOCK_M": 128, "BLOCK_N": 64},
        {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8},
        {"BLOCK_M": 128, "BLOCK_N": 32},
        {"BLOCK_M": 64, "BLOCK_N": 64},
        {"BLOCK_M": 64, "BLOCK_N": 32},
        {"BLOCK_M": 64, "BLOCK_N": 32, "PRE_LOAD_V": True},
    ],
    space={
        "BLOCK_M": (16, 32, 64, 128, 256),
        "BLOCK_N": (16, 32, 64, 128),
        "PRE_LOAD_V": (False, True),
        "num_warps": (2, 4, 8),
        "num_stages": (1, 2),
        "waves_per_eu": (0, 1, 2, 3, 4),
        "matrix_instr_nonkdim": (0, 16, 32),
    },
    legal=legal,
    notes={
        "gfx942": "Triton 3.6 and 3.9 do not spill in a loop with these tiles. At head size 128 Triton 3.4 spills some "
        "40 registers and 3.8 27; BLOCK_N=32 avoids it, at the price of twice as many rescalings of the accumulator.",
        "gfx1100": "At head size 256 no tile of 16 rows or more fits 256 registers with both WMMA operands replicated.",
    },
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=flops,
    bytes=traffic,
    checks={
        "causal": Check(_case(1, 2, 2, 70, 32, "fp32", lse=True), {"BLOCK_M": 32, "BLOCK_N": 16}),
        "full": Check(_case(2, 1, 1, 40, 64, causal=False, lse=True), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "gqa_tokens_first": Check(_case(1, 4, 2, 48, 16, layout="bshd"), {"BLOCK_M": 32, "BLOCK_N": 16}),
        "mqa_bf16": Check(_case(1, 3, 1, 33, 32, "bf16"), {"BLOCK_M": 16, "BLOCK_N": 16}),
        "padded_head": Check(_case(1, 1, 1, 50, 40, lse=True), {"BLOCK_M": 32, "BLOCK_N": 32, "PRE_LOAD_V": True}),
        "more_keys": Check(_case(1, 1, 1, 20, 32, "fp32", SK=75, lse=True), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "more_queries": Check(_case(1, 1, 1, 60, 32, "fp32", SK=25, lse=True), {"BLOCK_M": 32, "BLOCK_N": 16}),
        "head_256": Check(_case(1, 1, 1, 40, 256), {"BLOCK_M": 32, "BLOCK_N": 32}),
    },
)
