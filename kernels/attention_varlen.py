"""Fused attention, forward, of sequences of any lengths packed one after the other.

Tokens of all sequences lie in one (tokens, heads, D) tensor without padding; ``cu_queries`` and ``cu_keys`` hold where
each sequence begins, with the total at the end. Lengths of queries and keys may differ, and either may be zero.

Head sizes that are no power of two are padded in registers, never in memory. Causal masks, grouped and multi-query
heads, ALiBi (a slope a head), an additive bias matrix, log-sum-exp output. A flag that is off costs nothing: it is a
compile-time argument, and so is a missing bias or slope (``None``).
"""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Check, Config, Kernel, Launch, Shape, Tensor, execute, rounding, size_of, torch_dtype


@triton.jit
def _attend(
    acc, total, top, q, k_ptr, v_ptr, bias_ptr, first, last, n_keys, limit, factor, slope, k_stride, max_keys,
    live_q, D: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, ALIBI: tl.constexpr,
    MASKED: tl.constexpr, PRE_LOAD_V: tl.constexpr,
):  # fmt: skip
    """Attend to the keys from ``first`` up to ``last``; ``limit`` is each query's last visible key."""
    LOG2E: tl.constexpr = 1.4426950408889634
    d = tl.arange(0, BLOCK_D)
    for start in range(first, last, BLOCK_N):
        col = start + tl.arange(0, BLOCK_N)
        # Constant masks vanish: none is left for whole blocks of an unpadded head.
        live = col < (n_keys if MASKED else start + BLOCK_N)
        k_at = col[None, :] * k_stride + d[:, None]
        v_at = col[:, None] * k_stride + d[None, :]
        k = tl.load(k_ptr + k_at, mask=live[None, :] & (d < D)[:, None], other=0.0)
        if PRE_LOAD_V:
            v = tl.load(v_ptr + v_at, mask=live[:, None] & (d < D)[None, :], other=0.0)
        scores = tl.dot(q, k, input_precision="ieee")
        rate = factor
        if ALIBI or bias_ptr is not None:
            scores *= factor
            rate = 1.0
        if ALIBI:
            scores -= slope * tl.abs(limit[:, None] - col[None, :]).to(tl.float32)
        if bias_ptr is not None:
            row = tl.arange(0, q.shape[0])
            bias = tl.load(bias_ptr + row[:, None] * max_keys + col[None, :], mask=live_q & live[None, :], other=0.0)
            scores += bias.to(tl.float32) * LOG2E
        if MASKED:
            visible = live[None, :] & ((col[None, :] <= limit[:, None]) | (not CAUSAL))
            scores = tl.where(visible, scores, -float("inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=1) * rate)
        # A query that has seen no key yet, or only biases of -inf: exponents against 0, not -inf.
        base = tl.where(new_top == -float("inf"), 0.0, new_top)
        p = tl.exp2(scores * rate - base[:, None])
        fade = tl.exp2(top - base)
        total = total * fade + tl.sum(p, axis=1)
        acc = acc * fade[:, None]
        if not PRE_LOAD_V:
            v = tl.load(v_ptr + v_at, mask=live[:, None] & (d < D)[None, :], other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee")
        top = new_top
    return acc, total, top


@triton.jit
def attention_varlen_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, cu_queries_ptr, cu_keys_ptr, slopes_ptr, bias_ptr,
    scale, all_queries, max_queries, max_keys, H: tl.constexpr, HK: tl.constexpr, D: tl.constexpr,
    BLOCK_D: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    PRE_LOAD_V: tl.constexpr,
):  # fmt: skip
    """Attention of ``BLOCK_M`` queries of one head of one sequence; grid: heads, blocks of queries, sequences."""
    LOG2E: tl.constexpr = 1.4426950408889634
    ALIBI: tl.constexpr = slopes_ptr is not None
    head = tl.program_id(0)
    sequence = tl.program_id(2)
    q_begin = tl.load(cu_queries_ptr + sequence)
    k_begin = tl.load(cu_keys_ptr + sequence)
    n_queries = tl.load(cu_queries_ptr + sequence + 1) - q_begin
    n_keys = tl.load(cu_keys_ptr + sequence + 1) - k_begin
    # The grid is made for the longest sequence. The longest blocks of a causal mask start first.
    q_first = (tl.num_programs(1) - 1 - tl.program_id(1)) * BLOCK_M
    if q_first >= n_queries:
        return

    # Uniform 64-bit parts go to the bases; the lanes' offsets stay within 32 bits (buffer loads).
    first_token = (q_begin + q_first).to(tl.int64)
    q_at = first_token * (H * D) + head * D
    kv_at = k_begin.to(tl.int64) * (HK * D) + head // (H // HK) * D
    row = tl.arange(0, BLOCK_M)
    d = tl.arange(0, BLOCK_D)
    live = (q_first + row < n_queries)[:, None]
    at = row[:, None] * (H * D) + d[None, :]
    mask = live & (d < D)[None, :]
    q = tl.load(q_ptr + q_at + at, mask=mask, other=0.0)
    slope = 0.0
    if ALIBI:
        slope = tl.load(slopes_ptr + head) * LOG2E
    bias = bias_ptr
    if bias_ptr is not None:
        bias += ((sequence * H + head).to(tl.int64) * max_queries + q_first) * max_keys

    # Up to ``whole`` every query sees whole blocks. Causal masks end together: the last query sees all keys.
    limit = q_first + row + (n_keys - n_queries)
    whole = n_keys // BLOCK_N * BLOCK_N
    end = n_keys
    if CAUSAL:
        seen_by_first = tl.maximum(q_first + n_keys - n_queries + 1, 0)
        whole = tl.minimum(whole, seen_by_first // BLOCK_N * BLOCK_N)
        end = tl.minimum(end, tl.maximum(q_first + n_keys - n_queries + BLOCK_M, 0))

    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    top = tl.full([BLOCK_M], -float("inf"), tl.float32)
    for masked in tl.static_range(2):
        acc, total, top = _attend(
            acc, total, top, q, k_ptr + kv_at, v_ptr + kv_at, bias, whole if masked else 0, end if masked else whole,
            n_keys, limit, scale * LOG2E, slope, HK * D, max_keys, live,
            D, BLOCK_D, BLOCK_N, CAUSAL, ALIBI, masked == 1, PRE_LOAD_V,
        )  # fmt: skip

    # A query that sees no key at all gets zeros and a log-sum-exp of -inf.
    total = tl.where(total > 0.0, total, 1.0)
    acc = acc / total[:, None]
    tl.store(out_ptr + q_at + at, acc.to(out_ptr.dtype.element_ty), mask=mask)
    lse_at = head.to(tl.int64) * all_queries + first_token
    tl.store(lse_ptr + lse_at + row, (top + tl.log2(total)) / LOG2E, mask=q_first + row < n_queries)


MOST = 1 << 20
"""Maximum number of sequences in a batch; the list of their lengths takes memory on the host."""


def lengths(shape: Shape, longest: str) -> list[int]:
    """Return the number of tokens of each sequence; ``longest`` is ``SQ`` or ``SK``.

    The shape's pattern is one of three. ``equal``: all sequences are the longest. ``ragged``: lengths fall evenly from
    the longest to a ``B``-th of it. ``empty``: as ``ragged``, but the second sequence has no queries and the last one
    no keys.

    Raises:
        ValueError: fewer sequences than one, or more than ``MOST``.
    """
    count = shape["B"]
    if not 0 < count <= MOST:
        raise ValueError(f"B={count} sequences: from 1 to {MOST} can be packed")
    if shape["lengths"] == "equal":
        return [shape[longest]] * count
    tokens = [-(-shape[longest] * (count - index) // count) for index in range(count)]
    if shape["lengths"] == "empty":
        tokens[min(1, count - 1) if longest == "SQ" else -1] = 0
    return tokens


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for ``BLOCK_M`` queries of one head of one sequence."""
    b, h, hk, d, dtype = (shape[name] for name in ("B", "H", "HK", "D", "dtype"))
    queries, keys = sum(lengths(shape, "SQ")), sum(lengths(shape, "SK"))
    args = {
        "q_ptr": Tensor(dtype, (queries, h, d)),
        "k_ptr": Tensor(dtype, (keys, hk, d)),
        "v_ptr": Tensor(dtype, (keys, hk, d)),
        "out_ptr": Tensor(dtype, (queries, h, d)),
        "lse_ptr": Tensor("fp32", (h, queries)),
        "cu_queries_ptr": Tensor("i32", (b + 1,), values=(0, *accumulate(lengths(shape, "SQ")))),
        "cu_keys_ptr": Tensor("i32", (b + 1,), values=(0, *accumulate(lengths(shape, "SK")))),
        "slopes_ptr": Tensor("fp32", (h,)) if shape["alibi"] else None,
        "bias_ptr": Tensor(dtype, (b, h, shape["SQ"], shape["SK"])) if shape["bias"] else None,
        "scale": d**-0.5,
        "all_queries": queries,
        "max_queries": shape["SQ"],
        "max_keys": shape["SK"],
        "H": h,
        "HK": hk,
        "D": d,
        "BLOCK_D": max(16, triton.next_power_of_2(d)),
        "CAUSAL": shape["causal"],
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "PRE_LOAD_V")},
    }
    return Launch(args, (h, triton.cdiv(shape["SQ"], config["BLOCK_M"]), b))


# The fastest by the model over the cases of each width of heads on MI300X and MI355X, none of which spills:
# docs/validation/defaults.md says what a longer search finds.
_FASTEST: Mapping[tuple[str, int], Config] = {
    ("gfx942", 128): {"kpack": 2, "matrix_instr_nonkdim": 16, "num_stages": 2},
    ("gfx942", 256): {"kpack": 2, "matrix_instr_nonkdim": 16, "num_stages": 2},
    ("gfx950", 128): {"BLOCK_N": 64, "num_stages": 2, "waves_per_eu": 0},
    ("gfx950", 256): {"num_stages": 2, "matrix_instr_nonkdim": 16},
}


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return tiles whose accumulator and scores leave registers for two wavefronts per SIMD."""
    rdna, width = (
        arch.startswith(("gfx10", "gfx11", "gfx12")),
        64 if shape["D"] <= 64 else 128 if shape["D"] <= 128 else 256,
    )
    tiles = {
        64: {"BLOCK_M": 128, "BLOCK_N": 32 if rdna else 64, "num_warps": 8 if rdna else 4},
        128: {"BLOCK_M": 128, "BLOCK_N": 16 if arch == "gfx1100" else 32, "num_warps": 8 if rdna else 4},
        256: {"BLOCK_M": 64, "BLOCK_N": 32, "num_warps": 8},
    }
    return {**tiles[width], **_FASTEST.get((arch, width), {})}


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return the attention of packed ``q``, ``k``, ``v`` (tokens, heads, D).

    ``out`` has the shape of ``q``; ``lse`` is (H, tokens) float32.
    """
    import torch

    q = inputs["q"]
    lse = torch.empty(q.shape[1], q.shape[0], device=q.device, dtype=torch.float32)
    outputs = {"out": torch.empty_like(q), "lse": lse}
    tensors = {f"{name}_ptr": tensor for name, tensor in {**inputs, **outputs}.items()}
    execute(attention_varlen_kernel, launch(shape, config), tensors, config)
    return outputs


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs.

    ALiBi slopes are 2**(-8 (h + 1) / H). The bias is normally distributed, and one of eight elements is -inf.
    """
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    b, h, hk, d = (shape[name] for name in ("B", "H", "HK", "D"))
    sizes = {"q": (sum(lengths(shape, "SQ")), h, d)}
    sizes |= dict.fromkeys("kv", (sum(lengths(shape, "SK")), hk, d))
    dtype = torch_dtype(shape["dtype"])
    result = {n: torch.randn(size, device=device, generator=generator).to(dtype) for n, size in sizes.items()}
    for name, longest in (("cu_queries", "SQ"), ("cu_keys", "SK")):
        ends = torch.tensor([0, *lengths(shape, longest)], device=device).cumsum(0)
        result[name] = ends.to(torch.int32)
    if shape["alibi"]:
        result["slopes"] = torch.exp2(-8.0 * torch.arange(1, h + 1, device=device, dtype=torch.float32) / h)
    if shape["bias"]:
        bias = torch.randn(b, h, shape["SQ"], shape["SK"], device=device, generator=generator)
        result["bias"] = bias.masked_fill(bias > 1.15, -torch.inf).to(dtype)
    return result


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64, one sequence and head at a time so that long sequences fit in memory."""
    import torch

    q, k, v, cu_queries, cu_keys = (inputs[name] for name in ("q", "k", "v", "cu_queries", "cu_keys"))
    out = torch.zeros(q.shape, device=q.device, dtype=torch.float64)
    lse = torch.full((q.shape[1], q.shape[0]), -torch.inf, device=q.device, dtype=torch.float64)
    for b in range(shape["B"]):
        (q0, q1), (k0, k1) = cu_queries[b : b + 2].tolist(), cu_keys[b : b + 2].tolist()
        if q0 == q1 or k0 == k1:
            continue
        last = torch.arange(q1 - q0, device=q.device)[:, None] + (k1 - k0) - (q1 - q0)
        key = torch.arange(k1 - k0, device=q.device)[None, :]
        for h in range(shape["H"]):
            hk = h // (shape["H"] // shape["HK"])
            scores = q[q0:q1, h].double() @ k[k0:k1, hk].double().T * shape["D"] ** -0.5
            if shape["alibi"]:
                scores -= inputs["slopes"][h].double() * (last - key).abs()
            if shape["bias"]:
                scores += inputs["bias"][b, h, : q1 - q0, : k1 - k0].double()
            if shape["causal"]:
                scores = scores.masked_fill(key > last, -torch.inf)
            lse[h, q0:q1] = scores.logsumexp(dim=1)
            weights = (scores - lse[h, q0:q1, None]).exp().nan_to_num(0.0)
            out[q0:q1, h] = weights @ v[k0:k1, hk].double()
    return {"out": out, "lse": lse}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    The weights and the result are each rounded once to the dtype, with relative error u. A weighted mean of values up
    to 4 with each weight off by u is off by less than 4 u; the float32 sums over the head and the keys add a few
    2**-20, and with ALiBi the exponent is rounded at a magnitude of up to SK.
    """
    relative, _ = rounding(shape["dtype"])
    exponent = 2.0**-24 * shape["SK"] if shape["alibi"] else 0.0
    return relative + 2.0**-19 + exponent, 4 * (relative + exponent) + 2.0**-19


def flops(shape: Shape) -> int:
    """Return the FLOPs: two products of 2 D for each head and each visible pair of a query and a key."""
    pairs = 0
    for sq, sk in zip(lengths(shape, "SQ"), lengths(shape, "SK"), strict=True):
        seen = min(sq, sk)
        pairs += seen * (seen + 1) // 2 + seen * (sk - seen) if shape["causal"] else sq * sk
    return 4 * shape["H"] * pairs * shape["D"]


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic.

    Q, K, V and a bias are read once; the result and its log-sum-exp are written once.
    """
    sq, sk = lengths(shape, "SQ"), lengths(shape, "SK")
    queries, keys = shape["H"] * sum(sq), shape["HK"] * sum(sk)
    bias = shape["H"] * sum(m * n for m, n in zip(sq, sk, strict=True)) if shape["bias"] else 0
    return (2 * (queries + keys) * shape["D"] + bias) * size_of(shape["dtype"]) + 4 * queries


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why the accumulators of a head do not fit the registers, or None if they fit."""
    return f"{arch} has no room for accumulators of a head of {shape['D']}" if shape["D"] > 256 else None


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why a tile's accumulator does not fit the register file, or None if it fits."""
    lanes = config["num_warps"] * (32 if arch.startswith(("gfx10", "gfx11", "gfx12")) else 64)
    elements = config["BLOCK_M"] * max(16, triton.next_power_of_2(shape["D"]))
    if elements <= 256 * lanes:
        return None
    return f"too many registers: the accumulator alone takes {elements // lanes} a lane"


def _case(b: int, h: int, hk: int, s: int, d: int, dtype: str = "fp16", **flags: Any) -> dict[str, Any]:
    base = {"B": b, "H": h, "HK": hk, "SQ": s, "SK": s, "D": d, "lengths": "ragged", "causal": True}
    return {**base, "alibi": False, "bias": False, "dtype": dtype, **flags}


KERNEL = Kernel(
    name="attention_varlen",
    entry=attention_varlen_kernel,
    summary="Fused attention of packed sequences: any lengths and head sizes, causal, GQA, ALiBi, bias matrix",
    launch=launch,
    shapes={
        "ragged_d128": _case(8, 32, 8, 4096, 128),
        "d256_s512": _case(4, 8, 8, 512, 256, lengths="equal"),
        "d256_s1024": _case(4, 8, 8, 1024, 256, lengths="equal"),
        "d256_s2048": _case(4, 8, 8, 2048, 256, lengths="equal"),
        "d256_s4096": _case(4, 8, 8, 4096, 256, lengths="equal"),
        "padded_d80": _case(8, 32, 32, 2048, 80),
        "mqa_bf16": _case(16, 32, 1, 4096, 128, "bf16"),
        "alibi": _case(8, 32, 32, 4096, 64, alibi=True),
        "bias": _case(2, 16, 16, 2048, 64, bias=True, causal=False),
    },
    config={
        "BLOCK_M": 128,
        "BLOCK_N": 32,
        "PRE_LOAD_V": False,
        "num_warps": 4,
        "num_stages": 1,
        "waves_per_eu": 2,
    },
    configs=[
        {"BLOCK_M": 128, "BLOCK_N": 32},
        {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8},
        {"BLOCK_M": 64, "BLOCK_N": 64},
        {"BLOCK_M": 64, "BLOCK_N": 32, "PRE_LOAD_V": True},
    ],
    space={
        "BLOCK_M": (16, 32, 64, 128),
        "BLOCK_N": (16, 32, 64, 128),
        "PRE_LOAD_V": (False, True),
        "num_warps": (2, 4, 8),
        "waves_per_eu": (0, 1, 2, 3),
        "matrix_instr_nonkdim": (0, 16, 32),
    },
    shape_config=shape_config,
    legal=legal,
    notes={"gfx942": "Triton 3.8 spills 7 registers in the case 'bias', four times in its loop; 3.9 does not."},
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=flops,
    bytes=traffic,
    unsupported=unsupported,
    checks={
        "causal": Check(_case(3, 2, 2, 70, 32, "fp32"), {"BLOCK_M": 32, "BLOCK_N": 16}),
        "full_padded": Check(_case(2, 1, 1, 40, 40, causal=False), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "gqa_bf16": Check(_case(2, 4, 2, 48, 16, "bf16", lengths="equal"), {"BLOCK_M": 32, "BLOCK_N": 16}),
        "mqa_more_keys": Check(_case(2, 3, 1, 20, 24, "fp32", SK=75), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "more_queries": Check(_case(2, 1, 1, 60, 32, "fp32", SK=25), {"BLOCK_M": 32, "BLOCK_N": 16}),
        "empty": Check(_case(4, 2, 1, 40, 32, lengths="empty"), {"BLOCK_M": 16, "BLOCK_N": 16, "PRE_LOAD_V": True}),
        "alibi": Check(_case(2, 4, 4, 50, 32, "fp32", alibi=True), {"BLOCK_M": 32, "BLOCK_N": 16}),
        "bias": Check(_case(2, 2, 2, 50, 32, "fp32", bias=True, causal=False), {"BLOCK_M": 32, "BLOCK_N": 16}),
        "bias_alibi_causal": Check(
            _case(2, 2, 1, 33, 48, bias=True, alibi=True, SK=41), {"BLOCK_M": 16, "BLOCK_N": 16, "PRE_LOAD_V": True}
        ),
    },
)
