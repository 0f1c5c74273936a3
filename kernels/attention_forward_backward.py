"""Fused attention with its gradients: forward, then dQ, dK and dV from the scores computed a second time.

The forward keeps one number a query, the log-sum-exp of its scores. The backward makes every weight from it again,
p = exp(score - lse), instead of reading an SQ x SK matrix. It is two kernels, so that nothing needs atomics and the
result is the same every time: one owns a block of keys and walks over the queries (dK, dV), the other owns a block of
queries and walks over the keys (dQ). delta, the sum over the head of out * dout, is shared by both and made first.

Causal or full, grouped and multi-query (the keys' kernel sums over the heads of its group), any lengths. The head
size is a power of two; ``attention_varlen`` shows the padding of others.
"""

import math
from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import (
    Check,
    Config,
    Kernel,
    Launch,
    Part,
    Shape,
    Tensor,
    execute,
    rounding,
    size_of,
    torch_dtype,
)


@triton.jit
def _tile(base, first, length, D: tl.constexpr, ROWS: tl.constexpr, MASKED: tl.constexpr):
    """Rows ``first`` to ``first + ROWS`` of a contiguous (length, D) matrix, zeros beyond its end."""
    row = first + tl.arange(0, ROWS)[:, None]
    pointers = base + row * D + tl.arange(0, D)[None, :]
    if MASKED:
        return tl.load(pointers, mask=row < length, other=0.0)
    return tl.load(pointers)


@triton.jit
def _attend(
    acc, total, top, q, k_ptr, v_ptr, first, last, n_keys, limit, scale,
    D: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Attend to the keys from ``first`` up to ``last``; ``limit`` is each query's last visible key."""
    for start in range(first, last, BLOCK_N):
        k = _tile(k_ptr, start, n_keys, D, BLOCK_N, MASKED)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee")
        if MASKED:
            col = (start + tl.arange(0, BLOCK_N))[None, :]
            visible = (col < n_keys) & ((col <= limit[:, None]) | (not CAUSAL))
            scores = tl.where(visible, scores, -float("inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=1) * scale)
        # A query that has seen no key yet: exponents against 0, not -inf.
        base = tl.where(new_top == -float("inf"), 0.0, new_top) if MASKED else new_top
        p = tl.exp2(scores * scale - base[:, None])
        fade = tl.exp2(top - base)
        total = total * fade + tl.sum(p, axis=1)
        v = _tile(v_ptr, start, n_keys, D, BLOCK_N, MASKED)
        acc = tl.dot(p.to(v.dtype), v, acc * fade[:, None], input_precision="ieee")
        top = new_top
    return acc, total, top


@triton.jit
def _key_range(q_first, n_queries, n_keys, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    """Up to where all queries of a tile see whole blocks of keys, and up to where any sees one.

    Causal masks are aligned at the ends: the last query sees all keys, whatever the lengths.
    """
    whole = n_keys // BLOCK_N * BLOCK_N
    end = n_keys
    if CAUSAL:
        seen_by_first = tl.maximum(q_first + n_keys - n_queries + 1, 0)
        whole = tl.minimum(whole, seen_by_first // BLOCK_N * BLOCK_N)
        end = tl.minimum(end, tl.maximum(q_first + n_keys - n_queries + BLOCK_M, 0))
    return whole, end


@triton.jit
def attention_forward_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, scale, n_queries, n_keys,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    LOG2E: tl.constexpr = 1.4426950408889634
    # Heads are numbered first, so that the query blocks of a head share the L2 of an XCD. Longest blocks start first.
    head = tl.program_id(2) * tl.num_programs(0) + tl.program_id(0)
    q_first = (tl.num_programs(1) - 1 - tl.program_id(1)) * BLOCK_M
    at = head.to(tl.int64) * n_queries
    kv_at = (head // GROUP).to(tl.int64) * n_keys * D
    limit = q_first + tl.arange(0, BLOCK_M) + (n_keys - n_queries)
    whole, end = _key_range(q_first, n_queries, n_keys, BLOCK_M, BLOCK_N, CAUSAL)

    q = _tile(q_ptr + at * D, q_first, n_queries, D, BLOCK_M, True)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    top = tl.full([BLOCK_M], -float("inf"), tl.float32)
    for masked in tl.static_range(2):
        acc, total, top = _attend(
            acc, total, top, q, k_ptr + kv_at, v_ptr + kv_at, whole if masked else 0, end if masked else whole,
            n_keys, limit, scale * LOG2E, D, BLOCK_N, CAUSAL, masked == 1,
        )  # fmt: skip

    # A query that sees no key at all (more queries than keys) gets zeros and a log-sum-exp of -inf.
    total = tl.where(total > 0.0, total, 1.0)
    row = q_first + tl.arange(0, BLOCK_M)
    live = row < n_queries
    result = (acc / total[:, None]).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + at * D + row[:, None] * D + tl.arange(0, D)[None, :], result, mask=live[:, None])
    tl.store(lse_ptr + at + row, (top + tl.log2(total)) / LOG2E, mask=live)


@triton.jit
def attention_delta_kernel(out_ptr, dout_ptr, delta_ptr, n_rows, D: tl.constexpr, BLOCK_M: tl.constexpr):
    """Write delta = sum of out * dout over the head, for every query of every head."""
    first = tl.program_id(0).to(tl.int64) * BLOCK_M
    left = (n_rows - first).to(tl.int32)
    out = _tile(out_ptr + first * D, 0, left, D, BLOCK_M, True).to(tl.float32)
    dout = _tile(dout_ptr + first * D, 0, left, D, BLOCK_M, True).to(tl.float32)
    row = tl.arange(0, BLOCK_M)
    tl.store(delta_ptr + first + row, tl.sum(out * dout, axis=1), mask=row < left)


@triton.jit
def _collect(
    dk, dv, k, v, q_ptr, dout_ptr, lse_ptr, delta_ptr, first, last, n_queries, key, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Add to dK and dV what the queries from ``first`` up to ``last`` contribute.

    The tiles are transposed, keys by queries, so that the weights are an operand of the next product as they are.
    ``key`` is the first query that sees each key. Rows for keys beyond the end hold nonsense and are never stored.
    """
    LOG2E: tl.constexpr = 1.4426950408889634
    for start in range(first, last, BLOCK_M):
        row = start + tl.arange(0, BLOCK_M)
        q = _tile(q_ptr, start, n_queries, D, BLOCK_M, MASKED)
        live = row < n_queries
        lse = tl.load(lse_ptr + row, mask=live, other=float("inf"))
        # A weight against +inf is 0: for queries that saw no key, and for rows beyond the last query.
        lse = tl.where(lse == -float("inf"), float("inf"), lse)
        scores = tl.dot(k, tl.trans(q), input_precision="ieee")
        if CAUSAL and MASKED:
            scores = tl.where(key[:, None] <= row[None, :], scores, -float("inf"))
        p = tl.exp2(scores * (scale * LOG2E) - (lse * LOG2E)[None, :])
        dout = _tile(dout_ptr, start, n_queries, D, BLOCK_M, MASKED)
        dv = tl.dot(p.to(dout.dtype), dout, dv, input_precision="ieee")
        dp = tl.dot(v, tl.trans(dout), input_precision="ieee")
        delta = tl.load(delta_ptr + row, mask=live, other=0.0)
        ds = p * (dp - delta[None, :])
        dk = tl.dot(ds.to(q.dtype), q, dk, input_precision="ieee")
    return dk, dv


@triton.jit
def attention_backward_keys_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, scale, n_queries, n_keys,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Make dK and dV of one block of keys, summed over the queries of all heads of the group."""
    kv_head = tl.program_id(2) * tl.num_programs(0) + tl.program_id(0)
    k_first = tl.program_id(1) * BLOCK_N
    kv_at = kv_head.to(tl.int64) * n_keys * D
    k = _tile(k_ptr + kv_at, k_first, n_keys, D, BLOCK_N, True)
    v = _tile(v_ptr + kv_at, k_first, n_keys, D, BLOCK_N, True)

    # From ``first`` on some query sees the block, from ``whole`` on each sees all of it; ``tail`` is a part block.
    key = k_first + tl.arange(0, BLOCK_N) - (n_keys - n_queries)
    tail = n_queries // BLOCK_M * BLOCK_M
    first = 0
    whole = 0
    if CAUSAL:
        diagonal = k_first - (n_keys - n_queries)
        first = tl.maximum(diagonal, 0) // BLOCK_M * BLOCK_M
        whole = tl.minimum(tl.cdiv(tl.maximum(diagonal + BLOCK_N - 1, 0), BLOCK_M) * BLOCK_M, tail)
        whole = tl.maximum(whole, first)

    dk = tl.zeros([BLOCK_N, D], tl.float32)
    dv = tl.zeros([BLOCK_N, D], tl.float32)
    for member in range(GROUP):
        at = (kv_head * GROUP + member).to(tl.int64) * n_queries
        q, dout, lse, delta = q_ptr + at * D, dout_ptr + at * D, lse_ptr + at, delta_ptr + at
        # The diagonal, whole blocks below it, and what is left of the last block.
        for step in tl.static_range(0 if CAUSAL else 1, 3):
            begin = first if step == 0 else whole if step == 1 else tl.maximum(whole, tail)
            stop = whole if step == 0 else tail if step == 1 else n_queries
            dk, dv = _collect(
                dk, dv, k, v, q, dout, lse, delta, begin, stop, n_queries, key, scale,
                D, BLOCK_M, CAUSAL, step != 1,
            )  # fmt: skip

    row = (k_first + tl.arange(0, BLOCK_N))[:, None]
    offsets = row * D + tl.arange(0, D)[None, :]
    tl.store(dk_ptr + kv_at + offsets, (dk * scale).to(dk_ptr.dtype.element_ty), mask=row < n_keys)
    tl.store(dv_ptr + kv_at + offsets, dv.to(dv_ptr.dtype.element_ty), mask=row < n_keys)


@triton.jit
def _descend(
    dq, q, dout, lse, delta, k_ptr, v_ptr, first, last, n_keys, limit, scale,
    D: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Add to dQ what the keys from ``first`` up to ``last`` contribute."""
    for start in range(first, last, BLOCK_N):
        k = _tile(k_ptr, start, n_keys, D, BLOCK_N, MASKED)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee")
        if MASKED:
            col = (start + tl.arange(0, BLOCK_N))[None, :]
            visible = (col < n_keys) & ((col <= limit[:, None]) | (not CAUSAL))
            scores = tl.where(visible, scores, -float("inf"))
        p = tl.exp2(scores * scale - lse[:, None])
        v = _tile(v_ptr, start, n_keys, D, BLOCK_N, MASKED)
        dp = tl.dot(dout, tl.trans(v), input_precision="ieee")
        ds = p * (dp - delta[:, None])
        dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")
    return dq


@triton.jit
def attention_backward_queries_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, lse_ptr, delta_ptr, dq_ptr, scale, n_queries, n_keys,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Make dQ of one block of queries."""
    LOG2E: tl.constexpr = 1.4426950408889634
    head = tl.program_id(2) * tl.num_programs(0) + tl.program_id(0)
    q_first = (tl.num_programs(1) - 1 - tl.program_id(1)) * BLOCK_M
    at = head.to(tl.int64) * n_queries
    kv_at = (head // GROUP).to(tl.int64) * n_keys * D
    row = q_first + tl.arange(0, BLOCK_M)
    live = row < n_queries
    limit = row + (n_keys - n_queries)
    whole, end = _key_range(q_first, n_queries, n_keys, BLOCK_M, BLOCK_N, CAUSAL)

    q = _tile(q_ptr + at * D, q_first, n_queries, D, BLOCK_M, True)
    dout = _tile(dout_ptr + at * D, q_first, n_queries, D, BLOCK_M, True)
    delta = tl.load(delta_ptr + at + row, mask=live, other=0.0)
    lse = tl.load(lse_ptr + at + row, mask=live, other=float("inf")) * LOG2E
    lse = tl.where(lse == -float("inf"), float("inf"), lse)
    dq = tl.zeros([BLOCK_M, D], tl.float32)
    for masked in tl.static_range(2):
        dq = _descend(
            dq, q, dout, lse, delta, k_ptr + kv_at, v_ptr + kv_at, whole if masked else 0, end if masked else whole,
            n_keys, limit, scale * LOG2E, D, BLOCK_N, CAUSAL, masked == 1,
        )  # fmt: skip
    result = (dq * scale).to(dq_ptr.dtype.element_ty)
    tl.store(dq_ptr + at * D + row[:, None] * D + tl.arange(0, D)[None, :], result, mask=live[:, None])


def _arguments(shape: Shape, names: tuple[str, ...]) -> dict[str, Any]:
    """The named tensors as descriptors, and what all but the delta kernel need besides."""
    queries = Tensor(shape["dtype"], (shape["B"], shape["H"], shape["SQ"], shape["D"]))
    keys = Tensor(shape["dtype"], (shape["B"], shape["HK"], shape["SK"], shape["D"]))
    row = Tensor("fp32", (shape["B"], shape["H"], shape["SQ"]))
    kind = {"q": queries, "out": queries, "dout": queries, "dq": queries, "lse": row, "delta": row}
    return {
        **{f"{name}_ptr": kind.get(name, keys) for name in names},
        "scale": shape["D"] ** -0.5,
        "n_queries": shape["SQ"],
        "n_keys": shape["SK"],
        "GROUP": shape["H"] // shape["HK"],
        "CAUSAL": shape["causal"],
        "D": shape["D"],
    }


def launch(shape: Shape, config: Config) -> Launch:
    """Forward: a workgroup for ``BLOCK_M`` queries of a head."""
    args = _arguments(shape, ("q", "k", "v", "out", "lse"))
    args |= {"BLOCK_M": config["BLOCK_M"], "BLOCK_N": config["BLOCK_N"]}
    return Launch(args, (shape["H"], triton.cdiv(shape["SQ"], config["BLOCK_M"]), shape["B"]))


def launch_delta(shape: Shape, config: Config) -> Launch:
    """A workgroup for ``BLOCK_M`` queries, heads and batches in one row."""
    rows = shape["B"] * shape["H"] * shape["SQ"]
    args = _arguments(shape, ("out", "dout", "delta"))
    args = {name: args[name] for name in ("out_ptr", "dout_ptr", "delta_ptr", "D")}
    args |= {"n_rows": rows, "BLOCK_M": config["BLOCK_M"]}
    return Launch(args, (triton.cdiv(rows, config["BLOCK_M"]),))


def launch_keys(shape: Shape, config: Config) -> Launch:
    """dK, dV: a workgroup for ``KEYS_BLOCK_N`` keys of a key head."""
    args = _arguments(shape, ("q", "k", "v", "dout", "lse", "delta", "dk", "dv"))
    args |= {"BLOCK_M": config["KEYS_BLOCK_M"], "BLOCK_N": config["KEYS_BLOCK_N"]}
    return Launch(args, (shape["HK"], triton.cdiv(shape["SK"], config["KEYS_BLOCK_N"]), shape["B"]))


def launch_queries(shape: Shape, config: Config) -> Launch:
    """dQ: a workgroup for ``QUERIES_BLOCK_M`` queries of a head."""
    args = _arguments(shape, ("q", "k", "v", "dout", "lse", "delta", "dq"))
    args |= {"BLOCK_M": config["QUERIES_BLOCK_M"], "BLOCK_N": config["QUERIES_BLOCK_N"]}
    return Launch(args, (shape["H"], triton.cdiv(shape["SQ"], config["QUERIES_BLOCK_M"]), shape["B"]))


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """``out``, ``lse`` and the gradients of sum(out * dout); q, k, v, dout are (batch, head, token, D)."""
    import torch

    q, k, v = (inputs[name] for name in "qkv")
    rows = {"device": q.device, "dtype": torch.float32}
    made = {"out": torch.empty_like(q), "lse": torch.empty(q.shape[:3], **rows)}
    made |= {"dq": torch.empty_like(q), "dk": torch.empty_like(k), "dv": torch.empty_like(v)}
    tensors = {f"{name}_ptr": tensor for name, tensor in {**inputs, **made}.items()}
    tensors["delta_ptr"] = torch.empty(q.shape[:3], **rows)
    execute(attention_forward_kernel, launch(shape, config), tensors, config)
    execute(attention_delta_kernel, launch_delta(shape, config), tensors, config)
    execute(attention_backward_keys_kernel, launch_keys(shape, config), tensors, config)
    execute(attention_backward_queries_kernel, launch_queries(shape, config), tensors, config)
    return made


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Normal values; ``dout`` is the gradient that arrives."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    queries = (shape["B"], shape["H"], shape["SQ"], shape["D"])
    keys = (shape["B"], shape["HK"], shape["SK"], shape["D"])
    sizes = {"q": queries, "k": keys, "v": keys, "dout": queries}
    dtype = torch_dtype(shape["dtype"])
    return {n: torch.randn(size, device=device, generator=generator).to(dtype) for n, size in sizes.items()}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """In float64 with gradients from torch's autograd, a head at a time so that long sequences fit."""
    import torch

    q, k, v, dout = (inputs[name] for name in ("q", "k", "v", "dout"))
    wide = {"device": q.device, "dtype": torch.float64}
    out, dq, dk, dv = (torch.zeros(t.shape, **wide) for t in (q, q, k, v))
    lse = torch.full(q.shape[:3], -torch.inf, **wide)
    hidden = torch.ones(shape["SQ"], shape["SK"], device=q.device, dtype=torch.bool)
    hidden = hidden.triu(1 + shape["SK"] - shape["SQ"]) & shape["causal"]
    # Queries before the first key see nothing: zeros, and no gradient.
    blind = max(0, shape["SQ"] - shape["SK"]) if shape["causal"] else 0
    for b in range(shape["B"]):
        for h in range(shape["H"]):
            hk = h // (shape["H"] // shape["HK"])
            leaves = [t.double().requires_grad_() for t in (q[b, h, blind:], k[b, hk], v[b, hk])]
            scores = leaves[0] @ leaves[1].T * shape["D"] ** -0.5
            scores = scores.masked_fill(hidden[blind:], -torch.inf)
            result = scores.softmax(dim=1) @ leaves[2]
            gradients = torch.autograd.grad(result, leaves, dout[b, h, blind:].double())
            out[b, h, blind:], lse[b, h, blind:] = result.detach(), scores.detach().logsumexp(dim=1)
            dq[b, h, blind:] = gradients[0]
            dk[b, hk] += gradients[1]
            dv[b, hk] += gradients[2]
    return {"out": out, "lse": lse, "dq": dq, "dk": dk, "dv": dv}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Weights, scores' gradients and results are each rounded once to the dtype, with relative error u.

    An output is a sum of weights times values up to 4. A query's weights sum to 1; a key collects, over the ``group``
    heads it serves, at most group * (1 + ln SQ), which is what the first key gets under a causal mask when
    scores are even. 2**-19 stands for the sums in float32.
    """
    relative, _ = rounding(shape["dtype"])
    collected = shape["H"] // shape["HK"] * (1 + math.log(shape["SQ"]))
    return relative + 2.0**-19, 4 * collected * (relative + 2.0**-19)


def _pairs(shape: Shape) -> int:
    """Query-key pairs of a head that the mask lets through."""
    sq, sk = shape["SQ"], shape["SK"]
    seen = min(sq, sk)
    return seen * (seen + 1) // 2 + seen * (sk - seen) if shape["causal"] else sq * sk


def traffic(shape: Shape) -> int:
    """Forward: q, k, v in, out and lse out. Backward: q, k, v, out, dout and lse in, three gradients out."""
    queries, keys = shape["B"] * shape["H"] * shape["SQ"], shape["B"] * shape["HK"] * shape["SK"]
    return (6 * queries + 6 * keys) * shape["D"] * size_of(shape["dtype"]) + 8 * queries


def unsupported(arch: str, shape: Shape) -> str | None:
    """Heads are not padded here."""
    if shape["D"] < 16 or shape["D"] & (shape["D"] - 1):
        return f"head size {shape['D']} is not a power of two from 16, on {arch} as elsewhere; attention_varlen pads"
    return None


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Tiles whose accumulators leave a lane no registers for anything else."""
    lanes = config["num_warps"] * (32 if arch.startswith(("gfx10", "gfx11", "gfx12")) else 64)
    rows = max(config["BLOCK_M"], 2 * config["KEYS_BLOCK_N"], config["QUERIES_BLOCK_M"])
    if rows * shape["D"] > 256 * lanes:
        return f"accumulators of {rows} x {shape['D']} take {rows * shape['D'] // lanes} registers a lane"
    return None


def _case(b: int, h: int, hk: int, s: int, d: int, dtype: str = "fp16", **flags: Any) -> dict[str, Any]:
    return {"B": b, "H": h, "HK": hk, "SQ": s, "SK": s, "D": d, "causal": True, "dtype": dtype, **flags}


def _tiles(forward: tuple[int, int], keys: tuple[int, int], queries: tuple[int, int], **options: int) -> dict[str, Any]:
    """Tiles of the three kernels, each queries by keys."""
    names = ("BLOCK", "KEYS_BLOCK", "QUERIES_BLOCK")
    sizes = zip(names, (forward, keys, queries), strict=True)
    return {f"{name}_{axis}": n for name, tile in sizes for axis, n in zip("MN", tile, strict=True)} | options


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Larger tiles for small heads; twice the waves for heads of 256, whose accumulators fill four."""
    if arch == "gfx1100":
        return _tiles((128, 16), (16, 32), (64, 16), num_warps=8)
    warps = 8 if arch.startswith("gfx12") else 4
    if shape["D"] <= 64:
        return _tiles((128, 64), (32, 64), (64, 64), num_warps=warps)
    if shape["D"] > 128:
        return _tiles((64, 32), (16, 64), (64, 16), num_warps=8)
    return {"num_warps": warps}


_SMALL = _tiles((32, 16), (16, 32), (16, 16))

KERNEL = Kernel(
    name="attention_forward_backward",
    entry=attention_forward_kernel,
    summary="Fused attention with gradients: forward, dK and dV by keys, dQ by queries; causal, GQA",
    launch=launch,
    shapes={
        "s4096_d128": _case(4, 32, 32, 4096, 128),
        "s4096_d64": _case(4, 32, 32, 4096, 64),
        "d256_s512": _case(4, 8, 8, 512, 256),
        "d256_s1024": _case(4, 8, 8, 1024, 256),
        "d256_s2048": _case(4, 8, 8, 2048, 256),
        "d256_s4096": _case(4, 8, 8, 4096, 256),
        "llama_gqa": _case(1, 32, 8, 8192, 128, "bf16"),
        "full": _case(4, 16, 16, 2048, 64, causal=False),
    },
    config=_tiles((128, 32), (16, 64), (64, 32), num_warps=4, num_stages=1, waves_per_eu=2),
    shape_config=shape_config,
    configs=[
        _tiles((128, 32), (16, 64), (64, 32)),
        _tiles((128, 64), (32, 64), (64, 32), waves_per_eu=0),
        _tiles((128, 64), (32, 64), (64, 64), num_warps=8),
        _tiles((64, 64), (32, 64), (64, 64)),
    ],
    space={
        **dict.fromkeys(("BLOCK_M", "KEYS_BLOCK_N", "QUERIES_BLOCK_M"), (32, 64, 128)),
        **dict.fromkeys(("BLOCK_N", "KEYS_BLOCK_M", "QUERIES_BLOCK_N"), (16, 32, 64)),
        "num_warps": (2, 4, 8),
        "num_stages": (1, 2),
        "waves_per_eu": (0, 1, 2),
        "matrix_instr_nonkdim": (0, 16, 32),
    },
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    # Two products forward; backward the scores again, dP, dV, dK and dQ.
    flops=lambda shape: (4 + 10) * shape["B"] * shape["H"] * _pairs(shape) * shape["D"],
    bytes=traffic,
    unsupported=unsupported,
    notes={
        "gfx1100": "WMMA of this generation keeps each operand twice, in both halves of a wave: the keys and values "
        "that dK and dV hold in registers for the whole loop do not fit for heads of 128, whatever the tile",
    },
    checks={
        "causal": Check(_case(1, 2, 2, 70, 32, "fp32"), _SMALL),
        "full": Check(_case(1, 1, 1, 40, 64, causal=False), _SMALL),
        "whole_blocks": Check(_case(2, 1, 1, 64, 16, "fp32"), _SMALL),
        "gqa_bf16": Check(_case(1, 4, 2, 50, 32, "bf16"), _SMALL),
        "more_keys": Check(_case(1, 1, 1, 20, 32, "fp32", SK=75), _SMALL),
        "more_queries": Check(_case(1, 2, 1, 75, 32, "fp32", SK=20), _SMALL),
        "head_256": Check(_case(1, 1, 1, 40, 256), _SMALL),
    },
    parts={
        "delta": Part(attention_delta_kernel, launch_delta),
        "backward_keys": Part(attention_backward_keys_kernel, launch_keys),
        "backward_queries": Part(attention_backward_queries_kernel, launch_queries),
    },
)
