"""Fused attention with its gradients: forward, then dQ, dK and dV from the scores computed a second time.

The forward kernel stores one number per query, the log-sum-exp of its scores. The backward recomputes every weight from
it, p = exp(score - lse), instead of reading an SQ x SK matrix. It is two kernels, so that nothing needs atomics and the
result is the same every time: one owns a block of queries and walks over the keys (dQ), the other owns a block of keys
and walks over the queries (dK, dV). Both need delta, the sum over the head of out * dout, which the dQ kernel stores.

Causal or full, grouped and multi-query (the keys' kernel sums over the heads of its group), any lengths, sliding
window, attention sinks and dropout on request. The head size is a power of two; ``attention_varlen`` shows the padding
of others.

A window bounds every loop on both sides: a block of queries has a first and a last key, a block of keys a first and a
last query. A sink is a logit of a head without a value, so the log-sum-exp contains it and the backward kernels need
not know it. Its own gradient follows from lse and delta alone, in a small third kernel. Dropout keeps no mask: each
kernel draws it again from the place of the weight (batch, head, query, key), as ``flash_attention`` does.
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
def _scores(q, k, start, n_keys, limit, CAUSAL: tl.constexpr, WINDOW: tl.constexpr, STEP: tl.constexpr):
    """Products of a tile of queries and the keys from ``start``, -inf where a query does not see a key.

    ``STEP`` is the part of the loop over the keys: 0 is the far edge of a window, 1 has whole blocks, 2 the rest. The
    far edge of a window shorter than the two sides of a tile crosses the blocks of the last part, too.
    """
    scores = tl.dot(q, tl.trans(k), input_precision="ieee")
    col = (start + tl.arange(0, k.shape[0]))[None, :]
    if STEP == 2:
        scores = tl.where((col < n_keys) & ((col <= limit[:, None]) | (not CAUSAL)), scores, -float("inf"))
    if WINDOW > 0 and (STEP == 0 or (STEP == 2 and q.shape[0] + k.shape[0] > WINDOW)):
        scores = tl.where(col + WINDOW > limit[:, None], scores, -float("inf"))
    return scores


@triton.jit
def _kept(seed, head, query, start, DROP: tl.constexpr, BLOCK_N: tl.constexpr):
    """Whether dropout keeps the weights of a tile of queries and ``BLOCK_N`` keys from ``start``.

    A counter of Philox gives four words, for four keys in a row, which is how MFMA results lie in the lanes. A query is
    counted by its last visible key, as in ``flash_attention``.
    """
    four = (start // 4 + tl.arange(0, BLOCK_N // 4)).to(tl.uint32)[None, :]
    query = query.to(tl.uint32)[:, None]
    zero = tl.zeros_like(four + query)
    w0, w1, w2, w3 = tl.philox(seed, zero + four, zero + query, zero + head.to(tl.uint32), zero)
    return tl.join(tl.join(w0, w2), tl.join(w1, w3)).reshape(query.shape[0], BLOCK_N) >= DROP


@triton.jit
def _key_range(
    q_first, n_queries, n_keys, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, WINDOW: tl.constexpr
):
    """Return four bounds of the loop over the keys for a tile of queries.

    In this order: the first block that any query sees; the first block that every query sees in full, and the end of
    such blocks; the end of the keys that any query sees. Causal masks are aligned at the ends: the last query sees all
    keys, whatever the lengths.
    """
    begin, inner = 0, 0
    whole = n_keys // BLOCK_N * BLOCK_N
    end = n_keys
    if CAUSAL:
        shared = q_first + n_keys - n_queries + 1
        whole = tl.minimum(whole, tl.maximum(shared, 0) // BLOCK_N * BLOCK_N)
        end = tl.minimum(end, tl.maximum(shared + BLOCK_M - 1, 0))
        if WINDOW > 0:
            begin = tl.maximum(shared - WINDOW, 0) // BLOCK_N * BLOCK_N
            inner = tl.minimum(tl.cdiv(tl.maximum(shared + BLOCK_M - 1 - WINDOW, 0), BLOCK_N) * BLOCK_N, whole)
    return begin, inner, whole, end


@triton.jit
def _query_range(
    k_first, n_queries, n_keys, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, WINDOW: tl.constexpr
):
    """Return four bounds of the loop over the queries for a tile of keys.

    In this order: the first block of which any query sees a key; the first block of which every query sees every key,
    and the end of such blocks; the end of the queries that see any of the keys.
    """
    first, whole = 0, 0
    whole_end = n_queries // BLOCK_M * BLOCK_M
    end = n_queries
    if CAUSAL:
        diagonal = k_first - (n_keys - n_queries)
        first = tl.maximum(diagonal, 0) // BLOCK_M * BLOCK_M
        whole = tl.minimum(tl.cdiv(tl.maximum(diagonal + BLOCK_N - 1, 0), BLOCK_M) * BLOCK_M, whole_end)
        whole = tl.maximum(whole, first)
        if WINDOW > 0:
            whole_end = tl.minimum(whole_end, tl.maximum(diagonal + WINDOW, 0) // BLOCK_M * BLOCK_M)
            end = tl.minimum(end, tl.maximum(diagonal + BLOCK_N - 1 + WINDOW, 0))
    return first, whole, whole_end, end


@triton.jit
def attention_forward_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, sinks_ptr, scale, n_queries, n_keys, seed,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, WINDOW: tl.constexpr, DROP: tl.constexpr,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Result and log-sum-exp of one block of queries."""
    LOG2E: tl.constexpr = 1.4426950408889634
    KEPT: tl.constexpr = 1.0 - DROP / 4294967296.0
    # Heads are numbered first, so that the query blocks of a head share the L2 of an XCD. Longest blocks start first.
    head = tl.program_id(2) * tl.num_programs(0) + tl.program_id(0)
    q_first = (tl.num_programs(1) - 1 - tl.program_id(1)) * BLOCK_M
    at = head.to(tl.int64) * n_queries
    kv_at = (head // GROUP).to(tl.int64) * n_keys * D
    row = q_first + tl.arange(0, BLOCK_M)
    limit = row + (n_keys - n_queries)
    begin, inner, whole, end = _key_range(q_first, n_queries, n_keys, BLOCK_M, BLOCK_N, CAUSAL, WINDOW)

    q = _tile(q_ptr + at * D, q_first, n_queries, D, BLOCK_M, True)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    if sinks_ptr is None:
        total = tl.zeros([BLOCK_M], tl.float32)
        top = tl.full([BLOCK_M], -float("inf"), tl.float32)
    else:
        total = tl.full([BLOCK_M], 1.0, tl.float32)
        top = tl.zeros([BLOCK_M], tl.float32) + tl.load(sinks_ptr + tl.program_id(0)) * LOG2E
    # The far edge of a window, whole blocks, and what is left: the diagonal and the end of the keys.
    for step in tl.static_range(0 if WINDOW > 0 else 1, 3):
        first = begin if step == 0 else inner if step == 1 else whole
        last = inner if step == 0 else whole if step == 1 else end
        for start in range(first, last, BLOCK_N):
            k = _tile(k_ptr + kv_at, start, n_keys, D, BLOCK_N, step == 2)
            scores = _scores(q, k, start, n_keys, limit, CAUSAL, WINDOW, step)
            new_top = tl.maximum(top, tl.max(scores, axis=1) * (scale * LOG2E))
            # A query that has seen no key yet: exponents against 0, not -inf.
            base = tl.where(new_top == -float("inf"), 0.0, new_top) if step != 1 else new_top
            p = tl.exp2(scores * (scale * LOG2E) - base[:, None])
            fade = tl.exp2(top - base)
            total = total * fade + tl.sum(p, axis=1)
            if DROP > 0:
                # Dropped weights still count in the sum: dropout comes after the softmax.
                p = tl.where(_kept(seed, head, limit, start, DROP, BLOCK_N), p, 0.0)
            v = _tile(v_ptr + kv_at, start, n_keys, D, BLOCK_N, step == 2)
            acc = tl.dot(p.to(v.dtype), v, acc * fade[:, None], input_precision="ieee")
            top = new_top

    # A query that sees no key at all (more queries than keys) gets zeros and a log-sum-exp of -inf.
    total = tl.where(total > 0.0, total, 1.0)
    live = row < n_queries
    result = (acc / total[:, None] * (1.0 / KEPT)).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + at * D + row[:, None] * D + tl.arange(0, D)[None, :], result, mask=live[:, None])
    tl.store(lse_ptr + at + row, (top + tl.log2(total)) / LOG2E, mask=live)


@triton.jit
def attention_backward_queries_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, dout_ptr, lse_ptr, delta_ptr, dq_ptr, scale, n_queries, n_keys, seed,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, WINDOW: tl.constexpr, DROP: tl.constexpr,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Make dQ of one block of queries, and leave its delta for the keys' kernel."""
    LOG2E: tl.constexpr = 1.4426950408889634
    KEPT: tl.constexpr = 1.0 - DROP / 4294967296.0
    head = tl.program_id(2) * tl.num_programs(0) + tl.program_id(0)
    q_first = (tl.num_programs(1) - 1 - tl.program_id(1)) * BLOCK_M
    at = head.to(tl.int64) * n_queries
    kv_at = (head // GROUP).to(tl.int64) * n_keys * D
    row = q_first + tl.arange(0, BLOCK_M)
    limit = row + (n_keys - n_queries)
    live = row < n_queries
    begin, inner, whole, end = _key_range(q_first, n_queries, n_keys, BLOCK_M, BLOCK_N, CAUSAL, WINDOW)

    q = _tile(q_ptr + at * D, q_first, n_queries, D, BLOCK_M, True)
    dout = _tile(dout_ptr + at * D, q_first, n_queries, D, BLOCK_M, True)
    out = _tile(out_ptr + at * D, q_first, n_queries, D, BLOCK_M, True)
    delta = tl.sum(out.to(tl.float32) * dout.to(tl.float32), axis=1)
    tl.store(delta_ptr + at + row, delta, mask=live)
    # Dropout divides dP by the share of the weights that it keeps. That is done at the end, so delta gets it before.
    delta *= KEPT
    lse = tl.load(lse_ptr + at + row, mask=live, other=float("inf")) * LOG2E
    # A weight against +inf is 0: for queries that saw no key, and for rows beyond the last query.
    lse = tl.where(lse == -float("inf"), float("inf"), lse)
    dq = tl.zeros([BLOCK_M, D], tl.float32)
    # The far edge of a window, whole blocks, and what is left: the diagonal and the end of the keys.
    for step in tl.static_range(0 if WINDOW > 0 else 1, 3):
        first = begin if step == 0 else inner if step == 1 else whole
        last = inner if step == 0 else whole if step == 1 else end
        for start in range(first, last, BLOCK_N):
            k = _tile(k_ptr + kv_at, start, n_keys, D, BLOCK_N, step == 2)
            scores = _scores(q, k, start, n_keys, limit, CAUSAL, WINDOW, step)
            p = tl.exp2(scores * (scale * LOG2E) - lse[:, None])
            v = _tile(v_ptr + kv_at, start, n_keys, D, BLOCK_N, step == 2)
            dp = tl.dot(dout, tl.trans(v), input_precision="ieee")
            if DROP > 0:
                dp = tl.where(_kept(seed, head, limit, start, DROP, BLOCK_N), dp, 0.0)
            ds = p * (dp - delta[:, None])
            dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")
    result = (dq * (scale * (1.0 / KEPT))).to(dq_ptr.dtype.element_ty)
    tl.store(dq_ptr + at * D + row[:, None] * D + tl.arange(0, D)[None, :], result, mask=live[:, None])


@triton.jit
def attention_backward_keys_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, scale, n_queries, n_keys, seed,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, WINDOW: tl.constexpr, DROP: tl.constexpr,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Make dK and dV of one block of keys, summed over the queries of all heads of the group.

    The tiles are transposed, keys by queries, so that the weights are an operand of the next product as they are.
    Rows for keys beyond the end hold nonsense and are never stored.
    """
    LOG2E: tl.constexpr = 1.4426950408889634
    KEPT: tl.constexpr = 1.0 - DROP / 4294967296.0
    kv_head = tl.program_id(2) * tl.num_programs(0) + tl.program_id(0)
    k_first = tl.program_id(1) * BLOCK_N
    kv_at = kv_head.to(tl.int64) * n_keys * D
    k = _tile(k_ptr + kv_at, k_first, n_keys, D, BLOCK_N, True)
    v = _tile(v_ptr + kv_at, k_first, n_keys, D, BLOCK_N, True)

    first_to_see = k_first + tl.arange(0, BLOCK_N) - (n_keys - n_queries)
    first, whole, whole_end, last = _query_range(k_first, n_queries, n_keys, BLOCK_M, BLOCK_N, CAUSAL, WINDOW)
    dk = tl.zeros([BLOCK_N, D], tl.float32)
    dv = tl.zeros([BLOCK_N, D], tl.float32)
    for member in range(GROUP):
        head = kv_head * GROUP + member
        at = head.to(tl.int64) * n_queries
        # The diagonal, whole blocks below it, and what is left: the far edge of a window, or of the last block.
        for step in tl.static_range(0 if CAUSAL else 1, 3):
            begin = first if step == 0 else whole if step == 1 else tl.maximum(whole, whole_end)
            end = whole if step == 0 else whole_end if step == 1 else last
            for start in range(begin, end, BLOCK_M):
                row = start + tl.arange(0, BLOCK_M)
                live = row < n_queries
                q = _tile(q_ptr + at * D, start, n_queries, D, BLOCK_M, step != 1)
                lse = tl.load(lse_ptr + at + row, mask=live, other=float("inf")) * LOG2E
                lse = tl.where(lse == -float("inf"), float("inf"), lse)
                scores = tl.dot(k, tl.trans(q), input_precision="ieee")
                if CAUSAL and step != 1:
                    visible = first_to_see[:, None] <= row[None, :]
                    if WINDOW > 0 and (step == 2 or BLOCK_M + BLOCK_N > WINDOW):
                        visible &= row[None, :] < first_to_see[:, None] + WINDOW
                    scores = tl.where(visible, scores, -float("inf"))
                p = tl.exp2(scores * (scale * LOG2E) - lse[None, :])
                dout = _tile(dout_ptr + at * D, start, n_queries, D, BLOCK_M, step != 1)
                weights = p
                if DROP > 0:
                    kept = tl.trans(_kept(seed, head, row + (n_keys - n_queries), k_first, DROP, BLOCK_N))
                    weights = tl.where(kept, p, 0.0)
                dv = tl.dot(weights.to(dout.dtype), dout, dv, input_precision="ieee")
                dp = tl.dot(v, tl.trans(dout), input_precision="ieee")
                if DROP > 0:
                    dp = tl.where(kept, dp, 0.0)
                delta = tl.load(delta_ptr + at + row, mask=live, other=0.0) * KEPT
                ds = p * (dp - delta[None, :])
                dk = tl.dot(ds.to(q.dtype), q, dk, input_precision="ieee")

    row = (k_first + tl.arange(0, BLOCK_N))[:, None]
    offsets = row * D + tl.arange(0, D)[None, :]
    tl.store(dk_ptr + kv_at + offsets, (dk * (scale * (1.0 / KEPT))).to(dk_ptr.dtype.element_ty), mask=row < n_keys)
    tl.store(dv_ptr + kv_at + offsets, (dv * (1.0 / KEPT)).to(dv_ptr.dtype.element_ty), mask=row < n_keys)


@triton.jit
def attention_backward_sinks_kernel(
    sinks_ptr, lse_ptr, delta_ptr, dsinks_ptr, n_queries, B: tl.constexpr, BLOCK: tl.constexpr
):
    """Make the gradient of a head's sink: its weight has no value, so each query adds -weight * delta."""
    LOG2E: tl.constexpr = 1.4426950408889634
    head = tl.program_id(0)
    sink = tl.load(sinks_ptr + head)
    total = tl.zeros([BLOCK], tl.float32)
    for batch in range(B):
        at = (batch * tl.num_programs(0) + head).to(tl.int64) * n_queries
        for start in range(0, n_queries, BLOCK):
            row = start + tl.arange(0, BLOCK)
            live = row < n_queries
            lse = tl.load(lse_ptr + at + row, mask=live, other=float("inf"))
            # A query that sees no key, beside a sink that is turned off by a logit of -inf.
            lse = tl.where(lse == -float("inf"), float("inf"), lse)
            delta = tl.load(delta_ptr + at + row, mask=live, other=0.0)
            total -= tl.exp2((sink - lse) * LOG2E) * delta
    tl.store(dsinks_ptr + head, tl.sum(total, axis=0))


SEED = 0x5EED
"""Seed of the dropout masks of ``run``. Each training step passes a different seed."""


def drop_below(shape: Shape) -> int:
    """Return the threshold of dropout: a weight is dropped if its random 32-bit word is below the threshold."""
    return round(shape.get("dropout", 0.0) * 2**32)


def _launch(shape: Shape, config: Config, names: str, tile: str, *, by_keys: bool = False) -> Launch:
    """Return a launch with a workgroup for each tile: of queries of a head, or of keys of a key head."""
    queries = Tensor(shape["dtype"], (shape["B"], shape["H"], shape["SQ"], shape["D"]))
    keys = Tensor(shape["dtype"], (shape["B"], shape["HK"], shape["SK"], shape["D"]))
    row = Tensor("fp32", (shape["B"], shape["H"], shape["SQ"]))
    sinks = Tensor("fp32", (shape["H"],)) if shape.get("sinks") else None
    kind = {**dict.fromkeys(("k", "v", "dk", "dv"), keys), **dict.fromkeys(("lse", "delta"), row), "sinks": sinks}
    args = {
        **{f"{name}_ptr": kind.get(name, queries) for name in names.split()},
        "scale": shape["D"] ** -0.5,
        "n_queries": shape["SQ"],
        "n_keys": shape["SK"],
        "seed": SEED if drop_below(shape) else None,
        "GROUP": shape["H"] // shape["HK"],
        "CAUSAL": shape["causal"],
        "WINDOW": shape.get("window", 0),
        "DROP": drop_below(shape),
        "D": shape["D"],
        "BLOCK_M": config[f"{tile}_M"],
        "BLOCK_N": config[f"{tile}_N"],
    }
    heads, length, block = ("HK", "SK", "BLOCK_N") if by_keys else ("H", "SQ", "BLOCK_M")
    return Launch(args, (shape[heads], triton.cdiv(shape[length], args[block]), shape["B"]))


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch of the forward kernel: a workgroup for ``BLOCK_M`` queries of a head."""
    return _launch(shape, config, "q k v out lse sinks", "BLOCK")


def launch_keys(shape: Shape, config: Config) -> Launch:
    """Return the launch that computes dK and dV: a workgroup for ``KEYS_BLOCK_N`` keys of a key head."""
    return _launch(shape, config, "q k v dout lse delta dk dv", "KEYS_BLOCK", by_keys=True)


def launch_queries(shape: Shape, config: Config) -> Launch:
    """Return the launch that computes dQ: a workgroup for ``QUERIES_BLOCK_M`` queries of a head."""
    return _launch(shape, config, "q k v out dout lse delta dq", "QUERIES_BLOCK")


def launch_sinks(shape: Shape, config: Config) -> Launch:
    """Return the launch that computes the gradients of the sinks: a workgroup for each head."""
    head, row = Tensor("fp32", (shape["H"],)), Tensor("fp32", (shape["B"], shape["H"], shape["SQ"]))
    args = {"sinks_ptr": head, "lse_ptr": row, "delta_ptr": row, "dsinks_ptr": head}
    return Launch({**args, "n_queries": shape["SQ"], "B": shape["B"], "BLOCK": 1024}, (shape["H"],))


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``out``, ``lse`` and the gradients of sum(out * dout).

    q, k, v and dout are (batch, head, token, D); sinks, float32 logits, are (head,).
    """
    import torch

    q, k, v = (inputs[name] for name in "qkv")
    rows = {"device": q.device, "dtype": torch.float32}
    made = {"out": torch.empty_like(q), "lse": torch.empty(q.shape[:3], **rows)}
    made |= {"dq": torch.empty_like(q), "dk": torch.empty_like(k), "dv": torch.empty_like(v)}
    if shape.get("sinks"):
        made["dsinks"] = torch.empty_like(inputs["sinks"])
    tensors = {f"{name}_ptr": tensor for name, tensor in {**inputs, **made}.items()}
    tensors["delta_ptr"] = torch.empty(q.shape[:3], **rows)
    execute(attention_forward_kernel, launch(shape, config), tensors, config)
    execute(attention_backward_queries_kernel, launch_queries(shape, config), tensors, config)
    execute(attention_backward_keys_kernel, launch_keys(shape, config), tensors, config)
    if shape.get("sinks"):
        execute(attention_backward_sinks_kernel, launch_sinks(shape, config), tensors, {"num_warps": 4})
    return made


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs, including the sinks; ``dout`` is the gradient of the output."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    queries = (shape["B"], shape["H"], shape["SQ"], shape["D"])
    keys = (shape["B"], shape["HK"], shape["SK"], shape["D"])
    sizes = {"q": queries, "k": keys, "v": keys, "dout": queries}
    dtype = torch_dtype(shape["dtype"])
    tensors = {n: torch.randn(size, device=device, generator=generator).to(dtype) for n, size in sizes.items()}
    if shape.get("sinks"):
        tensors["sinks"] = torch.randn(shape["H"], device=device, generator=generator)
    return tensors


def philox(seed: int, keys: Any, query: Any, stream: int) -> Any:
    """Return the words of Philox 4x32-10 as int64: for each key, word key % 4 of (key // 4, query, stream, 0)."""
    import torch

    word = 0xFFFFFFFF
    c0, c1, c2, c3 = torch.broadcast_tensors(keys // 4, query & word, torch.full_like(keys, stream), keys * 0)
    k0, k1 = seed & word, seed >> 32
    for _ in range(10):
        # The product of two 32-bit words in two steps, because int64 has no room for it.
        wide = [(c * (m >> 16), c * (m & 0xFFFF)) for m, c in ((0xD2511F53, c0), (0xCD9E8D57, c2))]
        (high0, low0), (high2, low2) = (((high + (low >> 16)) >> 16, ((high << 16) + low) & word) for high, low in wide)
        c0, c1, c2, c3 = high2 ^ c1 ^ k0, low2, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) & word, (k1 + 0xBB67AE85) & word
    return torch.stack([c0, c1, c2, c3], dim=-1).gather(-1, (keys % 4).expand_as(c0)[..., None])[..., 0]


def _one_head(q: Any, k: Any, v: Any, sink: Any, shape: Shape, first: int, stream: int) -> tuple[Any, Any]:
    """Return the result and the log-sum-exp of the queries of a head from number ``first`` on."""
    import torch

    key = torch.arange(shape["SK"], device=q.device)[None, :]
    limit = torch.arange(first, shape["SQ"], device=q.device)[:, None] + shape["SK"] - shape["SQ"]
    hidden = (key > limit) & shape["causal"]
    if shape.get("window"):
        hidden = hidden | (key <= limit - shape["window"])
    scores = (q @ k.T * shape["D"] ** -0.5).masked_fill(hidden, -torch.inf)
    # The sink is one more score, whose weight has no value.
    scores = torch.cat([scores, sink.expand(len(q), 1)], dim=1)
    weights = scores.softmax(dim=1)[:, :-1]
    if drop_below(shape):
        kept = philox(SEED, key, limit, stream) >= drop_below(shape)
        weights = weights * kept / (1 - drop_below(shape) / 2**32)
    return weights @ v, scores.logsumexp(dim=1)


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64, one head at a time so that long sequences fit in memory.

    The gradients are those of torch's autograd.
    """
    import torch

    q, k, v, dout = (inputs[name] for name in ("q", "k", "v", "dout"))
    wide = {"device": q.device, "dtype": torch.float64}
    sinks = inputs["sinks"].double() if shape.get("sinks") else torch.full(q.shape[1:2], -torch.inf, **wide)
    made = {name: torch.zeros(t.shape, **wide) for name, t in (("out", q), ("dq", q), ("dk", k), ("dv", v))}
    made["lse"] = sinks[None, :, None].repeat(shape["B"], 1, shape["SQ"])
    dsinks = torch.zeros_like(sinks)
    # Queries before the first key see nothing: zeros, and no gradient.
    blind = max(0, shape["SQ"] - shape["SK"]) if shape["causal"] else 0
    for b in range(shape["B"]):
        for h in range(shape["H"]):
            hk = h // (shape["H"] // shape["HK"])
            leaves = [t.double().requires_grad_() for t in (q[b, h, blind:], k[b, hk], v[b, hk], sinks[h])]
            result, lse = _one_head(*leaves, shape, blind, b * shape["H"] + h)
            gradients = torch.autograd.grad(result, leaves, dout[b, h, blind:].double())
            made["out"][b, h, blind:], made["lse"][b, h, blind:] = result.detach(), lse.detach()
            made["dq"][b, h, blind:] = gradients[0]
            made["dk"][b, hk] += gradients[1]
            made["dv"][b, hk] += gradients[2]
            dsinks[h] += gradients[3]
    return made | ({"dsinks": dsinks} if shape.get("sinks") else {})


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    Weights, gradients of the scores, and results are each rounded once to the dtype, with relative error u.

    An output is a sum of weights times values up to 4. A query's weights sum to 1; a key's, over the ``group`` heads it
    serves, to group * (1 + ln SQ) for the first one under a causal mask. 2**-19 is for the sums in float32. A sink
    takes part in as many sums as a key does. Dropout divides the weights by what it keeps.
    """
    relative = ELEMENT_TYPES[shape["dtype"]].roundoff
    collected = shape["H"] // shape["HK"] * (1 + math.log(shape["SQ"]))
    return relative + 2.0**-19, 4 * collected * (relative + 2.0**-19) / (1 - shape.get("dropout", 0.0))


def _causal_pairs(sq: int, sk: int) -> int:
    seen = min(sq, sk)
    return seen * (seen + 1) // 2 + seen * (sk - seen)


def _pairs(shape: Shape) -> int:
    """Return the number of pairs of a query and a key that the mask keeps in a head."""
    sq, sk = shape["SQ"], shape["SK"]
    if not shape["causal"]:
        return sq * sk
    # A window hides the keys that the same queries would see of a sequence shorter by the window.
    behind = max(0, sk - shape["window"]) if shape.get("window") else 0
    return _causal_pairs(sq, sk) - _causal_pairs(sq, behind)


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic.

    The forward pass reads q, k and v, and writes out and lse. The backward pass reads q, k, v, out, dout and lse, and
    writes three gradients.
    """
    queries, keys = shape["B"] * shape["H"] * shape["SQ"], shape["B"] * shape["HK"] * shape["SK"]
    return (6 * queries + 6 * keys) * shape["D"] * ELEMENT_TYPES[shape["dtype"]].size + 8 * queries


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why a shape is not supported on any architecture, or None. Heads are not padded here."""
    if shape["D"] < 16 or shape["D"] & (shape["D"] - 1):
        return f"no head size {shape['D']} on {arch}: only powers of two from 16; attention_varlen pads"
    if shape.get("window") and not shape["causal"]:
        return f"a sliding window ends at the query, so that it needs causal=True, on {arch} as elsewhere"
    if not 0.0 <= shape.get("dropout", 0.0) < 1.0:
        return f"dropout={shape['dropout']} is not a probability below 1, on {arch} as elsewhere"
    return None


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return a reason if the accumulators alone take all registers of a lane, or None if they fit."""
    lanes = config["num_warps"] * (32 if arch.startswith(("gfx10", "gfx11", "gfx12")) else 64)
    rows = max(config["BLOCK_M"], 2 * config["KEYS_BLOCK_N"], config["QUERIES_BLOCK_M"])
    registers = rows * shape["D"] // lanes
    return f"accumulators of {rows} x {shape['D']} take {registers} registers per lane" if registers > 256 else None


def _case(b: int, h: int, hk: int, s: int, d: int, dtype: str = "fp16", **flags: Any) -> dict[str, Any]:
    base = {"B": b, "H": h, "HK": hk, "SQ": s, "SK": s, "D": d, "causal": True, "dtype": dtype}
    return {**base, "window": 0, "sinks": False, "dropout": 0.0, **flags}


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

# The far edge of a window is one more loop, and the words of dropout take registers. With these tiles on top of the
# ones above no loop spills on MI300X and MI355X. They were chosen by the model among a few tiles for each kernel. With
# dropout and heads of 128 the gradients of the keys spill 6 registers outside their loops on gfx942; a tile of 32 keys
# spills none and is predicted to take 1.7 times as long.
_WINDOW: Mapping[tuple[str, int], Config] = {
    ("gfx942", 64): {"KEYS_BLOCK_M": 32, "QUERIES_BLOCK_N": 64, "num_stages": 1},
    ("gfx950", 64): {"BLOCK_N": 32, "KEYS_BLOCK_M": 32, "QUERIES_BLOCK_N": 32},
    ("gfx950", 128): {"BLOCK_N": 32, "QUERIES_BLOCK_N": 32},
}
_DROPOUT: Mapping[tuple[str, int], Config] = {
    ("gfx950", 64): {"BLOCK_N": 32, "QUERIES_BLOCK_N": 32},
    ("gfx950", 128): {"BLOCK_N": 32, "QUERIES_BLOCK_N": 32},
}


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return tiles for a head size: larger ones for small heads.

    Heads of 256 get twice the wavefronts, because their accumulators would fill the registers of four.
    """
    if arch == "gfx1100":
        return _tiles((128, 16), (16, 32), (64, 16), num_warps=8)
    warps, width = 8 if arch.startswith("gfx12") else 4, 64 if shape["D"] <= 64 else 128 if shape["D"] <= 128 else 256
    tiles: Mapping[int, dict[str, Any]] = {
        64: _tiles((128, 64), (32, 64), (64, 64), num_warps=warps),
        128: {"num_warps": warps},
        256: _tiles((64, 32), (16, 64), (64, 16), num_warps=8),
    }
    tables = [_FASTEST, *([_WINDOW] if shape.get("window") else []), *([_DROPOUT] if shape.get("dropout") else [])]
    chosen = tiles[width]
    for table in tables:
        chosen |= table.get((arch, width), {})
    return chosen


_SMALL = _tiles((32, 16), (16, 32), (16, 16))

KERNEL = Kernel(
    name="attention_forward_backward",
    entry=attention_forward_kernel,
    summary="Fused attention and its gradients: dQ by queries, dK and dV by keys; causal, GQA, window, sinks, dropout",
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
        "window": _case(4, 32, 32, 4096, 128, window=1024),
        "gpt_oss": _case(1, 64, 8, 8192, 64, "bf16", window=128, sinks=True),
        "dropout": _case(4, 32, 32, 4096, 128, dropout=0.1),
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
        "window": Check(_case(1, 2, 2, 130, 32, "fp32", window=70), _SMALL),
        "window_below_tile": Check(_case(1, 2, 1, 70, 32, window=5), _SMALL),
        "window_more_keys": Check(_case(1, 1, 1, 20, 32, "fp32", SK=75, window=33), _SMALL),
        "window_more_queries": Check(_case(1, 1, 1, 90, 32, "fp32", SK=55, window=20), _SMALL),
        "sinks": Check(_case(2, 4, 2, 50, 32, "fp32", sinks=True), _SMALL),
        "sinks_full": Check(_case(2, 2, 2, 40, 32, causal=False, sinks=True), _SMALL),
        "sinks_more_queries": Check(_case(1, 2, 1, 75, 32, "fp32", SK=20, sinks=True), _SMALL),
        "window_sinks_gqa_bf16": Check(_case(1, 4, 2, 70, 32, "bf16", window=24, sinks=True), _SMALL),
        "dropout": Check(_case(2, 2, 1, 50, 32, "fp32", dropout=0.3), _SMALL),
        "dropout_full": Check(_case(1, 2, 2, 40, 32, causal=False, dropout=0.1), _SMALL),
        "dropout_window_sinks": Check(_case(1, 2, 2, 60, 32, SK=50, window=20, sinks=True, dropout=0.5), _SMALL),
    },
    parts={
        "backward_queries": Part(attention_backward_queries_kernel, launch_queries),
        "backward_keys": Part(attention_backward_keys_kernel, launch_keys),
        "backward_sinks": Part(
            attention_backward_sinks_kernel, launch_sinks, lambda shape, _: bool(shape.get("sinks")), {"num_warps": 4}
        ),
    },
)
