"""Fused attention with its gradients: forward, then dQ, dK and dV from the scores computed a second time.

The forward keeps one number a query, the log-sum-exp of its scores. The backward makes every weight from it again,
p = exp(score - lse), instead of reading an SQ x SK matrix. It is two kernels, so that nothing needs atomics and the
result is the same every time: one owns a block of queries and walks over the keys (dQ), the other owns a block of keys
and walks over the queries (dK, dV). Both need delta, the sum over the head of out * dout, which the first one leaves.

Causal or full, grouped and multi-query (the keys' kernel sums over the heads of its group), any lengths. The head
size is a power of two; ``attention_varlen`` shows the padding of others.
"""

import math
from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import ELEMENT_TYPES, Check, Config, Kernel, Launch, Part, Shape, Tensor, execute, torch_dtype


@triton.jit
def _tile(base, first, length, D: tl.constexpr, ROWS: tl.constexpr, MASKED: tl.constexpr):
    """Rows ``first`` to ``first + ROWS`` of a contiguous (length, D) matrix, zeros beyond its end."""
    row = first + tl.arange(0, ROWS)[:, None]
    pointers = base + row * D + tl.arange(0, D)[None, :]
    return tl.load(pointers, mask=row < length, other=0.0) if MASKED else tl.load(pointers)


@triton.jit
def _scores(q, k, start, n_keys, limit, CAUSAL: tl.constexpr, MASKED: tl.constexpr):
    """Products of a tile of queries and the keys from ``start``, -inf where a query does not see a key."""
    scores = tl.dot(q, tl.trans(k), input_precision="ieee")
    if MASKED:
        col = (start + tl.arange(0, k.shape[0]))[None, :]
        scores = tl.where((col < n_keys) & ((col <= limit[:, None]) | (not CAUSAL)), scores, -float("inf"))
    return scores


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
    """Result and log-sum-exp of one block of queries."""
    LOG2E: tl.constexpr = 1.4426950408889634
    # Heads are numbered first, so that the query blocks of a head share the L2 of an XCD. Longest blocks start first.
    head = tl.program_id(2) * tl.num_programs(0) + tl.program_id(0)
    q_first = (tl.num_programs(1) - 1 - tl.program_id(1)) * BLOCK_M
    at = head.to(tl.int64) * n_queries
    kv_at = (head // GROUP).to(tl.int64) * n_keys * D
    row = q_first + tl.arange(0, BLOCK_M)
    limit = row + (n_keys - n_queries)
    whole, end = _key_range(q_first, n_queries, n_keys, BLOCK_M, BLOCK_N, CAUSAL)

    q = _tile(q_ptr + at * D, q_first, n_queries, D, BLOCK_M, True)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    top = tl.full([BLOCK_M], -float("inf"), tl.float32)
    for masked in tl.static_range(2):
        for start in range(whole if masked else 0, end if masked else whole, BLOCK_N):
            k = _tile(k_ptr + kv_at, start, n_keys, D, BLOCK_N, masked)
            scores = _scores(q, k, start, n_keys, limit, CAUSAL, masked)
            new_top = tl.maximum(top, tl.max(scores, axis=1) * (scale * LOG2E))
            # A query that has seen no key yet: exponents against 0, not -inf.
            base = tl.where(new_top == -float("inf"), 0.0, new_top) if masked else new_top
            p = tl.exp2(scores * (scale * LOG2E) - base[:, None])
            fade = tl.exp2(top - base)
            total = total * fade + tl.sum(p, axis=1)
            v = _tile(v_ptr + kv_at, start, n_keys, D, BLOCK_N, masked)
            acc = tl.dot(p.to(v.dtype), v, acc * fade[:, None], input_precision="ieee")
            top = new_top

    # A query that sees no key at all (more queries than keys) gets zeros and a log-sum-exp of -inf.
    total = tl.where(total > 0.0, total, 1.0)
    live = row < n_queries
    result = (acc / total[:, None]).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + at * D + row[:, None] * D + tl.arange(0, D)[None, :], result, mask=live[:, None])
    tl.store(lse_ptr + at + row, (top + tl.log2(total)) / LOG2E, mask=live)


@triton.jit
def attention_backward_queries_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, dout_ptr, lse_ptr, delta_ptr, dq_ptr, scale, n_queries, n_keys,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Make dQ of one block of queries, and leave its delta for the keys' kernel."""
    LOG2E: tl.constexpr = 1.4426950408889634
    head = tl.program_id(2) * tl.num_programs(0) + tl.program_id(0)
    q_first = (tl.num_programs(1) - 1 - tl.program_id(1)) * BLOCK_M
    at = head.to(tl.int64) * n_queries
    kv_at = (head // GROUP).to(tl.int64) * n_keys * D
    row = q_first + tl.arange(0, BLOCK_M)
    limit = row + (n_keys - n_queries)
    live = row < n_queries
    whole, end = _key_range(q_first, n_queries, n_keys, BLOCK_M, BLOCK_N, CAUSAL)

    q = _tile(q_ptr + at * D, q_first, n_queries, D, BLOCK_M, True)
    dout = _tile(dout_ptr + at * D, q_first, n_queries, D, BLOCK_M, True)
    out = _tile(out_ptr + at * D, q_first, n_queries, D, BLOCK_M, True)
    delta = tl.sum(out.to(tl.float32) * dout.to(tl.float32), axis=1)
    tl.store(delta_ptr + at + row, delta, mask=live)
    lse = tl.load(lse_ptr + at + row, mask=live, other=float("inf")) * LOG2E
    # A weight against +inf is 0: for queries that saw no key, and for rows beyond the last query.
    lse = tl.where(lse == -float("inf"), float("inf"), lse)
    dq = tl.zeros([BLOCK_M, D], tl.float32)
    for masked in tl.static_range(2):
        for start in range(whole if masked else 0, end if masked else whole, BLOCK_N):
            k = _tile(k_ptr + kv_at, start, n_keys, D, BLOCK_N, masked)
            scores = _scores(q, k, start, n_keys, limit, CAUSAL, masked)
            p = tl.exp2(scores * (scale * LOG2E) - lse[:, None])
            v = _tile(v_ptr + kv_at, start, n_keys, D, BLOCK_N, masked)
            dp = tl.dot(dout, tl.trans(v), input_precision="ieee")
            ds = p * (dp - delta[:, None])
            dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")
    result = (dq * scale).to(dq_ptr.dtype.element_ty)
    tl.store(dq_ptr + at * D + row[:, None] * D + tl.arange(0, D)[None, :], result, mask=live[:, None])


@triton.jit
def attention_backward_keys_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, scale, n_queries, n_keys,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Make dK and dV of one block of keys, summed over the queries of all heads of the group.

    The tiles are transposed, keys by queries, so that the weights are an operand of the next product as they are.
    Rows for keys beyond the end hold nonsense and are never stored.
    """
    LOG2E: tl.constexpr = 1.4426950408889634
    kv_head = tl.program_id(2) * tl.num_programs(0) + tl.program_id(0)
    k_first = tl.program_id(1) * BLOCK_N
    kv_at = kv_head.to(tl.int64) * n_keys * D
    k = _tile(k_ptr + kv_at, k_first, n_keys, D, BLOCK_N, True)
    v = _tile(v_ptr + kv_at, k_first, n_keys, D, BLOCK_N, True)

    # From ``first`` on some query sees the block, from ``whole`` on each sees all of it; ``tail`` is a part block.
    first_to_see = k_first + tl.arange(0, BLOCK_N) - (n_keys - n_queries)
    tail = n_queries // BLOCK_M * BLOCK_M
    first, whole = 0, 0
    if CAUSAL:
        diagonal = k_first - (n_keys - n_queries)
        first = tl.maximum(diagonal, 0) // BLOCK_M * BLOCK_M
        whole = tl.minimum(tl.cdiv(tl.maximum(diagonal + BLOCK_N - 1, 0), BLOCK_M) * BLOCK_M, tail)
        whole = tl.maximum(whole, first)

    dk = tl.zeros([BLOCK_N, D], tl.float32)
    dv = tl.zeros([BLOCK_N, D], tl.float32)
    for member in range(GROUP):
        at = (kv_head * GROUP + member).to(tl.int64) * n_queries
        # The diagonal, whole blocks below it, and what is left of the last block.
        for step in tl.static_range(0 if CAUSAL else 1, 3):
            begin = first if step == 0 else whole if step == 1 else tl.maximum(whole, tail)
            end = whole if step == 0 else tail if step == 1 else n_queries
            for start in range(begin, end, BLOCK_M):
                row = start + tl.arange(0, BLOCK_M)
                live = row < n_queries
                q = _tile(q_ptr + at * D, start, n_queries, D, BLOCK_M, step != 1)
                lse = tl.load(lse_ptr + at + row, mask=live, other=float("inf")) * LOG2E
                lse = tl.where(lse == -float("inf"), float("inf"), lse)
                scores = tl.dot(k, tl.trans(q), input_precision="ieee")
                if CAUSAL and step != 1:
                    scores = tl.where(first_to_see[:, None] <= row[None, :], scores, -float("inf"))
                p = tl.exp2(scores * (scale * LOG2E) - lse[None, :])
                dout = _tile(dout_ptr + at * D, start, n_queries, D, BLOCK_M, step != 1)
                dv = tl.dot(p.to(dout.dtype), dout, dv, input_precision="ieee")
                dp = tl.dot(v, tl.trans(dout), input_precision="ieee")
                delta = tl.load(delta_ptr + at + row, mask=live, other=0.0)
                ds = p * (dp - delta[None, :])
                dk = tl.dot(ds.to(q.dtype), q, dk, input_precision="ieee")

    row = (k_first + tl.arange(0, BLOCK_N))[:, None]
    offsets = row * D + tl.arange(0, D)[None, :]
    tl.store(dk_ptr + kv_at + offsets, (dk * scale).to(dk_ptr.dtype.element_ty), mask=row < n_keys)
    tl.store(dv_ptr + kv_at + offsets, dv.to(dv_ptr.dtype.element_ty), mask=row < n_keys)


def _launch(shape: Shape, config: Config, names: str, tile: str, *, by_keys: bool = False) -> Launch:
    """A workgroup for a tile of queries of a head, or for one of keys of a key head."""
    queries = Tensor(shape["dtype"], (shape["B"], shape["H"], shape["SQ"], shape["D"]))
    keys = Tensor(shape["dtype"], (shape["B"], shape["HK"], shape["SK"], shape["D"]))
    row = Tensor("fp32", (shape["B"], shape["H"], shape["SQ"]))
    kind = {**dict.fromkeys(("k", "v", "dk", "dv"), keys), **dict.fromkeys(("lse", "delta"), row)}
    args = {
        **{f"{name}_ptr": kind.get(name, queries) for name in names.split()},
        "scale": shape["D"] ** -0.5,
        "n_queries": shape["SQ"],
        "n_keys": shape["SK"],
        "GROUP": shape["H"] // shape["HK"],
        "CAUSAL": shape["causal"],
        "D": shape["D"],
        "BLOCK_M": config[f"{tile}_M"],
        "BLOCK_N": config[f"{tile}_N"],
    }
    heads, length, block = ("HK", "SK", "BLOCK_N") if by_keys else ("H", "SQ", "BLOCK_M")
    return Launch(args, (shape[heads], triton.cdiv(shape[length], args[block]), shape["B"]))


def launch(shape: Shape, config: Config) -> Launch:
    """Forward: a workgroup for ``BLOCK_M`` queries of a head."""
    return _launch(shape, config, "q k v out lse", "BLOCK")


def launch_keys(shape: Shape, config: Config) -> Launch:
    """dK, dV: a workgroup for ``KEYS_BLOCK_N`` keys of a key head."""
    return _launch(shape, config, "q k v dout lse delta dk dv", "KEYS_BLOCK", by_keys=True)


def launch_queries(shape: Shape, config: Config) -> Launch:
    """dQ: a workgroup for ``QUERIES_BLOCK_M`` queries of a head."""
    return _launch(shape, config, "q k v out dout lse delta dq", "QUERIES_BLOCK")


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
    execute(attention_backward_queries_kernel, launch_queries(shape, config), tensors, config)
    execute(attention_backward_keys_kernel, launch_keys(shape, config), tensors, config)
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

    An output is a sum of weights times values up to 4. A query's weights sum to 1; a key's, over the ``group`` heads it
    serves, to group * (1 + ln SQ) for the first one under a causal mask. 2**-19 stands for the sums in float32.
    """
    relative = ELEMENT_TYPES[shape["dtype"]].roundoff
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
    return (6 * queries + 6 * keys) * shape["D"] * ELEMENT_TYPES[shape["dtype"]].size + 8 * queries


def unsupported(arch: str, shape: Shape) -> str | None:
    """Heads are not padded here."""
    odd = shape["D"] < 16 or shape["D"] & (shape["D"] - 1)
    return f"no head size {shape['D']} on {arch}: only powers of two from 16; attention_varlen pads" if odd else None


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Tiles whose accumulators leave a lane no registers for anything else."""
    lanes = config["num_warps"] * (32 if arch.startswith(("gfx10", "gfx11", "gfx12")) else 64)
    rows = max(config["BLOCK_M"], 2 * config["KEYS_BLOCK_N"], config["QUERIES_BLOCK_M"])
    registers = rows * shape["D"] // lanes
    return f"accumulators of {rows} x {shape['D']} take {registers} registers a lane" if registers > 256 else None


def _case(b: int, h: int, hk: int, s: int, d: int, dtype: str = "fp16", **flags: Any) -> dict[str, Any]:
    return {"B": b, "H": h, "HK": hk, "SQ": s, "SK": s, "D": d, "causal": True, "dtype": dtype, **flags}


def _tiles(forward: tuple[int, int], keys: tuple[int, int], queries: tuple[int, int], **options: int) -> dict[str, Any]:
    """Return the knobs for the three kernels' tiles, each as (queries, keys), and for further options."""
    names = ("BLOCK", "KEYS_BLOCK", "QUERIES_BLOCK")
    sizes = zip(names, (forward, keys, queries), strict=True)
    return {f"{name}_{axis}": n for name, tile in sizes for axis, n in zip("MN", tile, strict=True)} | options


# The fastest by the model over the cases of each width of heads on MI300X and MI355X, none of which spills:
# docs/validation/defaults.md says what a longer search finds.
_FASTEST: Mapping[tuple[str, int], Config] = {
    ("gfx942", 64): {
        "KEYS_BLOCK_M": 16,
        "KEYS_BLOCK_N": 64,
        "QUERIES_BLOCK_M": 128,
        "QUERIES_BLOCK_N": 32,
        "num_stages": 2,
        "kpack": 2,
    },
    ("gfx942", 128): {"KEYS_BLOCK_M": 32, "QUERIES_BLOCK_N": 64, "kpack": 2},
    ("gfx942", 256): {"BLOCK_N": 64, "KEYS_BLOCK_M": 16, "QUERIES_BLOCK_M": 128, "QUERIES_BLOCK_N": 32, "kpack": 2},
    ("gfx950", 64): {"KEYS_BLOCK_M": 16, "QUERIES_BLOCK_M": 128, "QUERIES_BLOCK_N": 64, "num_stages": 2},
    ("gfx950", 128): {"BLOCK_N": 64, "KEYS_BLOCK_M": 16, "QUERIES_BLOCK_M": 64, "QUERIES_BLOCK_N": 64, "num_stages": 2},
    ("gfx950", 256): {"BLOCK_N": 64, "KEYS_BLOCK_M": 16, "QUERIES_BLOCK_M": 64, "QUERIES_BLOCK_N": 32, "num_stages": 2},
}


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Larger tiles for small heads; twice the waves for heads of 256, whose accumulators fill four."""
    if arch == "gfx1100":
        return _tiles((128, 16), (16, 32), (64, 16), num_warps=8)
    warps, width = 8 if arch.startswith("gfx12") else 4, 64 if shape["D"] <= 64 else 128 if shape["D"] <= 128 else 256
    tiles: Mapping[int, dict[str, Any]] = {
        64: _tiles((128, 64), (32, 64), (64, 64), num_warps=warps),
        128: {"num_warps": warps},
        256: _tiles((64, 32), (16, 64), (64, 16), num_warps=8),
    }
    return {**tiles[width], **_FASTEST.get((arch, width), {})}


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
    # Scores of 64 keys by 16 queries take 16 x 16 instructions. The products behind them would take 32 x 32, and all
    # weights would go through LDS, 2 bytes at a time, to get from one layout to the other.
    arch_config={"gfx942": {"matrix_instr_nonkdim": 16}, "gfx950": {"matrix_instr_nonkdim": 16}},
    shape_config=shape_config,
    configs=[
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
    notes={"gfx1100": "its WMMA takes operands twice, in both halves of a wave: keys and values of 128 do not fit"},
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
        "backward_queries": Part(attention_backward_queries_kernel, launch_queries),
        "backward_keys": Part(attention_backward_keys_kernel, launch_keys),
    },
)
