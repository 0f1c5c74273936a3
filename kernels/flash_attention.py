"""Fused attention, forward: softmax(Q K^T / sqrt(D)) V without the score matrix ever leaving registers.

Causal or full, grouped and multi-query, any head size up to 256 (others are padded to a power of two with masks),
any sequence lengths, log-sum-exp output, sliding window, attention sinks and dropout on request. The loop over the
keys is split: blocks that every query of the tile sees in full, without a single comparison, and the few at the
diagonal, at the end, or at the far edge of a window that need a mask.

A window (Beltagy et al., 2020) bounds the loop, so the blocks behind it cost nothing. A sink is a learned logit of
a head without a value, as gpt-oss has it: the running maximum and sum start from it instead of from nothing. Dropout
draws each weight's number from Philox (Salmon et al., 2011), whose counter is the weight's place: batch, head, query
and key. The mask therefore does not depend on the tile, and a backward pass can compute it again instead of reading
it. Philox takes 20 wide multiplications a counter: drawing a counter for each four keys halves the time of the kernel
beside drawing one for each key (predicted).

All query blocks of a head read the same keys and values from L2, so memory does not bound the kernel. A score takes
4 D operations of the matrix units and one exponential of the vector units: the larger the head, the more the matrix
units bound it. Two wavefronts share a SIMD, so that the exponentials of one run beside the products of the other.

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
    acc, total, top, q, k_ptrs, v_ptrs, first, last, n_keys, limit, k_stride, v_stride, scale, live_d, seed, stream,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, WINDOW: tl.constexpr, DROP: tl.constexpr, PAD_D: tl.constexpr,
    PRE_LOAD_V: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Attend to the keys from ``first`` up to ``last``; ``limit`` is each query's last visible key.

    ``MASKED``: whether the end of the keys or the diagonal crosses these blocks. ``WINDOW``: number of keys of a window
    whose far edge crosses them, else 0.
    """
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
        if WINDOW > 0:
            scores = tl.where((start + col + WINDOW)[None, :] > limit[:, None], scores, -float("inf"))

        new_top = tl.maximum(top, tl.max(scores, axis=1) * scale)
        base = new_top
        if MASKED or WINDOW > 0:
            # A query that has seen no key yet: exponents against 0, not -inf.
            base = tl.where(new_top == -float("inf"), 0.0, new_top)
        p = tl.exp2(scores * scale - base[:, None])
        fade = tl.exp2(top - base)
        total = total * fade + tl.sum(p, axis=1)
        acc = acc * fade[:, None]
        if DROP > 0:
            # Dropped weights still count in the sum: dropout comes after the softmax.
            # A counter gives four words, for four keys in a row, which is how MFMA results lie in the lanes.
            four = (start // 4 + tl.arange(0, BLOCK_N // 4)).to(tl.uint32)[None, :]
            query = limit.to(tl.uint32)[:, None]
            zero = tl.zeros_like(four + query)
            w0, w1, w2, w3 = tl.philox(seed, zero + four, zero + query, zero + stream, zero)
            word = tl.join(tl.join(w0, w2), tl.join(w1, w3)).reshape(p.shape)
            p = tl.where(word >= DROP, p, 0.0)
        if not PRE_LOAD_V:
            v = tl.load(v_ptrs + start * v_stride, mask=v_mask, other=0.0 if masked_load else None)
        acc = tl.dot(p.to(v.dtype), v, acc)
        top = new_top
    return acc, total, top


@triton.jit
def flash_attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, sink_ptr, scale, n_queries, n_keys, seed,
    q_stride_b, q_stride_h, q_stride_s, k_stride_b, k_stride_h, k_stride_s,
    v_stride_b, v_stride_h, v_stride_s, o_stride_b, o_stride_h, o_stride_s,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, WINDOW: tl.constexpr, DROP: tl.constexpr,
    D: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    PRE_LOAD_V: tl.constexpr,
):  # fmt: skip
    """Attention of ``BLOCK_M`` queries of one head; grid: heads, blocks of queries, batch."""
    LOG2E: tl.constexpr = 1.4426950408889634
    PAD_D: tl.constexpr = BLOCK_D != D
    head = tl.program_id(0)
    batch = tl.program_id(2).to(tl.int64)
    block = tl.program_id(1)
    if CAUSAL:
        block = tl.num_programs(1) - 1 - block
    q_first = block * BLOCK_M

    row = tl.arange(0, BLOCK_M)
    col = tl.arange(0, BLOCK_N)
    d = tl.arange(0, BLOCK_D)
    live_d = d < D
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
    if sink_ptr is None:
        total = tl.zeros([BLOCK_M], tl.float32)
        top = tl.full([BLOCK_M], -float("inf"), tl.float32)
    else:
        total = tl.full([BLOCK_M], 1.0, tl.float32)
        top = tl.zeros([BLOCK_M], tl.float32) + tl.load(sink_ptr + head) * LOG2E
    stream = (batch * tl.num_programs(0) + head).to(tl.uint32)
    inner = 0
    if WINDOW > 0:
        # From the first key that the first query sees to the first block that the last query sees in full.
        begin = tl.maximum(shared - WINDOW, 0) // BLOCK_N * BLOCK_N
        inner = tl.minimum(tl.cdiv(tl.maximum(shared + BLOCK_M - 1 - WINDOW, 0), BLOCK_N) * BLOCK_N, whole)
        acc, total, top = _attend(
            acc, total, top, q, k_ptrs, v_ptrs, begin, inner, n_keys, limit, k_stride_s, v_stride_s, scale * LOG2E,
            live_d, seed, stream, CAUSAL, False, WINDOW, DROP, PAD_D, PRE_LOAD_V, BLOCK_N,
        )  # fmt: skip
    acc, total, top = _attend(
        acc, total, top, q, k_ptrs, v_ptrs, inner, whole, n_keys, limit, k_stride_s, v_stride_s, scale * LOG2E,
        live_d, seed, stream, CAUSAL, False, 0, DROP, PAD_D, PRE_LOAD_V, BLOCK_N,
    )  # fmt: skip
    # The far edge of a window shorter than a tile crosses the last blocks, too.
    acc, total, top = _attend(
        acc, total, top, q, k_ptrs, v_ptrs, whole, end, n_keys, limit, k_stride_s, v_stride_s, scale * LOG2E,
        live_d, seed, stream, CAUSAL, True, WINDOW, DROP, PAD_D, PRE_LOAD_V, BLOCK_N,
    )  # fmt: skip

    # A query that sees no key at all (more queries than keys) gets zeros.
    acc = acc * tl.where(total > 0.0, 1.0 / total, 0.0)[:, None]
    if DROP > 0:
        acc *= 4294967296.0 / (4294967296.0 - DROP)
    tl.store(out_ptr + row[:, None] * o_stride_s + d[None, :], acc.to(out_ptr.dtype.element_ty), mask=q_mask)
    if lse_ptr is not None:
        lse_ptr += (batch * tl.num_programs(0) + head) * n_queries + q_first
        tl.store(lse_ptr + row, (top + tl.log2(total)) / LOG2E, mask=live_q)


SEED = 0x5EED
"""Seed of the dropout masks of ``run``. Each training step passes a different seed."""


def drop_below(shape: Shape) -> int:
    """Return the threshold of dropout: a weight is dropped if its random 32-bit word is below the threshold."""
    return round(shape.get("dropout", 0.0) * 2**32)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for ``BLOCK_M`` queries of one head."""
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
        "sink_ptr": Tensor("fp32", (h,)) if shape.get("sinks") else None,
        "scale": d**-0.5,
        "n_queries": sq,
        "n_keys": sk,
        "seed": SEED if drop_below(shape) else None,
    }
    for name, heads, length in (("q", h, sq), ("k", hk, sk), ("v", hk, sk), ("o", h, sq)):
        args.update(zip((f"{name}_stride_{axis}" for axis in "bhs"), strides(heads, length), strict=True))
    args |= {
        "GROUP": h // hk,
        "CAUSAL": shape["causal"],
        "WINDOW": shape.get("window", 0),
        "DROP": drop_below(shape),
        "D": d,
        "BLOCK_D": max(16, triton.next_power_of_2(d)),
        "BLOCK_M": config["BLOCK_M"],
        "BLOCK_N": config["BLOCK_N"],
        "PRE_LOAD_V": config["PRE_LOAD_V"],
    }
    return Launch(args, (h, triton.cdiv(sq, config["BLOCK_M"]), b))


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return the attention of ``q``, ``k``, ``v`` in the shape's layout.

    ``out`` has the layout of ``q``; ``lse`` is (B, H, SQ) float32.
    """
    import torch

    q = inputs["q"]
    outputs = {"out": torch.empty_like(q)}
    if shape["lse"]:
        outputs["lse"] = torch.empty(shape["B"], shape["H"], shape["SQ"], device=q.device, dtype=torch.float32)
    tensors = {"q_ptr": q, "k_ptr": inputs["k"], "v_ptr": inputs["v"], "out_ptr": outputs["out"]}
    tensors |= {"lse_ptr": outputs.get("lse"), "sink_ptr": inputs.get("sinks")}
    execute(flash_attention_kernel, launch(shape, config), tensors, config)
    return outputs


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs, including the attention sinks."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    tensors = {}
    for name, heads, length in (("q", "H", "SQ"), ("k", "HK", "SK"), ("v", "HK", "SK")):
        size = [shape["B"], shape[heads], shape[length], shape["D"]]
        if shape["layout"] == "bshd":
            size[1], size[2] = size[2], size[1]
        tensors[name] = torch.randn(size, device=device, generator=generator).to(torch_dtype(shape["dtype"]))
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


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64, one batch entry and head at a time so that long sequences fit in memory."""
    import torch

    heads_first = shape["layout"] == "bhsd"
    q, k, v = (inputs[n] if heads_first else inputs[n].transpose(1, 2) for n in "qkv")
    out = torch.empty(q.shape, device=q.device, dtype=torch.float64)
    lse = torch.empty(q.shape[:3], device=q.device, dtype=torch.float64)
    group = shape["H"] // shape["HK"]
    key = torch.arange(shape["SK"], device=q.device)[None, :]
    limit = torch.arange(shape["SQ"], device=q.device)[:, None] + shape["SK"] - shape["SQ"]
    hidden = (key > limit) & shape["causal"]
    if shape.get("window"):
        hidden = hidden | (key <= limit - shape["window"])
    for b in range(shape["B"]):
        for h in range(shape["H"]):
            scores = q[b, h].double() @ k[b, h // group].double().T * shape["D"] ** -0.5
            scores = scores.masked_fill(hidden, -torch.inf)
            lse[b, h] = scores.logsumexp(dim=1)
            if shape.get("sinks"):
                lse[b, h] = torch.logaddexp(lse[b, h], inputs["sinks"][h].double())
            weights = (scores - lse[b, h][:, None]).exp().nan_to_num(0.0)
            if drop_below(shape):
                kept = philox(SEED, key, limit, b * shape["H"] + h) >= drop_below(shape)
                weights = weights * kept / (1 - drop_below(shape) / 2**32)
            out[b, h] = weights @ v[b, h // group].double()
    result = {"out": out if heads_first else out.transpose(1, 2)}
    return result | {"lse": lse} if shape["lse"] else result


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    The weights and the result are each rounded once to the dtype, with relative error u. Values are about 1, and
    weights sum to 1.

    A weighted mean of values up to about 4 with each weight off by u is off by less than 4 u; the sum in float32 over
    the head and the keys adds a few 2**-20. Dropout divides the weights by the fraction that it keeps.
    """
    relative, _ = rounding(shape["dtype"])
    return relative + 2.0**-19, (4 * relative + 2.0**-19) / (1 - shape.get("dropout", 0.0))


def _causal_pairs(sq: int, sk: int) -> int:
    visible = min(sq, sk)
    return visible * (visible + 1) // 2 + visible * (sk - visible)


def flops(shape: Shape) -> int:
    """Return the FLOPs: two products of 2 SQ SK D per head; with a causal mask or a window only visible pairs count."""
    sq, sk = shape["SQ"], shape["SK"]
    pairs = sq * sk
    if shape["causal"]:
        # A window hides the keys that the same queries would see of a sequence shorter by the window.
        behind = max(0, sk - shape["window"]) if shape.get("window") else 0
        pairs = _causal_pairs(sq, sk) - _causal_pairs(sq, behind)
    return 4 * shape["B"] * shape["H"] * pairs * shape["D"]


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic: Q, K and V are read once, and the result is written once."""
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
    """Return the tile for a head size, with no more query rows than there are queries.

    A wavefront must own all weights of its queries. With fewer than 32 rows per wavefront, 32 x 32 matrix instructions
    would put two wavefronts on the same rows. They would exchange the weights through LDS, and do some of the work
    twice.
    """
    tiles = _RDNA4_TILES if arch.startswith("gfx12") else _RDNA3_TILES if arch.startswith("gfx1") else _CDNA_TILES
    m, n, warps = next((tile for d, tile in tiles.items() if shape["D"] <= d), tiles[256])
    m = min(m, max(16, triton.next_power_of_2(shape["SQ"])))
    narrow = tiles is _CDNA_TILES and m < 32 * warps
    knobs = {"BLOCK_M": m, "BLOCK_N": n, "num_warps": warps, "matrix_instr_nonkdim": 16 if narrow else 0}
    # The third loop of a window and the words of dropout take registers that the wide tile does not leave. What is
    # chosen here is predicted to be the fastest without spills.
    window, dropout = shape.get("window"), shape.get("dropout")
    if tiles is _CDNA_TILES and shape["D"] <= 128 and (window or dropout):
        wide = shape["D"] > 64
        if arch == "gfx950":
            knobs |= {"waves_per_eu": 0} if window and wide else {}
        elif wide:
            knobs |= {"BLOCK_N": 32, "num_stages": 2, "matrix_instr_nonkdim": 16 if dropout else 0}
        else:
            knobs["matrix_instr_nonkdim"] = 16
    return knobs


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why a shape is not supported on any architecture, or None."""
    if shape.get("window") and not shape["causal"]:
        return f"a sliding window ends at the query, so that it needs causal=True, on {arch} as elsewhere"
    if not 0.0 <= shape.get("dropout", 0.0) < 1.0:
        return f"dropout={shape['dropout']} is not a probability below 1, on {arch} as elsewhere"
    return None


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why the matrix unit cannot use a tile, or why its accumulator does not fit the registers, or None."""
    if config["BLOCK_M"] < 16 or config["BLOCK_N"] < 16:
        return "tl.dot needs tiles of at least 16 x 16"
    head = max(16, triton.next_power_of_2(shape["D"]))
    lanes = config["num_warps"] * (32 if arch.startswith(("gfx10", "gfx11", "gfx12")) else 64)
    if config["BLOCK_M"] * head > 256 * lanes:
        return f"too many registers: the accumulator alone takes {config['BLOCK_M'] * head // lanes} a lane"
    return None


def _case(b: int, h: int, hk: int, s: int, d: int, dtype: str = "fp16", **flags: Any) -> dict[str, Any]:
    base = {"B": b, "H": h, "HK": hk, "SQ": s, "SK": s, "D": d, "causal": True, "lse": False}
    return {**base, "layout": "bhsd", "dtype": dtype, "window": 0, "sinks": False, "dropout": 0.0, **flags}


KERNEL = Kernel(
    name="flash_attention",
    entry=flash_attention_kernel,
    summary="Fused attention forward: causal, window, sinks, dropout, GQA/MQA, head sizes to 256, log-sum-exp",
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
        "window": _case(4, 32, 32, 4096, 128, window=1024),
        "gpt_oss": _case(1, 64, 8, 8192, 64, "bf16", layout="bshd", window=128, sinks=True),
        "dropout": _case(4, 32, 32, 4096, 128, lse=True, dropout=0.1),
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
        # Loads go directly to LDS here, and LDS has room to load the next keys an iteration ahead.
        "gfx950": {"num_stages": 2},
        # A minimum of two waves has no effect on a SIMD with 1,536 registers per lane.
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
    unsupported=unsupported,
    checks={
        "causal": Check(_case(1, 2, 2, 70, 32, "fp32", lse=True), {"BLOCK_M": 32, "BLOCK_N": 16}),
        "full": Check(_case(2, 1, 1, 40, 64, causal=False, lse=True), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "gqa_tokens_first": Check(_case(1, 4, 2, 48, 16, layout="bshd"), {"BLOCK_M": 32, "BLOCK_N": 16}),
        "mqa_bf16": Check(_case(1, 3, 1, 33, 32, "bf16"), {"BLOCK_M": 16, "BLOCK_N": 16}),
        "padded_head": Check(_case(1, 1, 1, 50, 40, lse=True), {"BLOCK_M": 32, "BLOCK_N": 32, "PRE_LOAD_V": True}),
        "more_keys": Check(_case(1, 1, 1, 20, 32, "fp32", SK=75, lse=True), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "more_queries": Check(_case(1, 1, 1, 60, 32, "fp32", SK=25, lse=True), {"BLOCK_M": 32, "BLOCK_N": 16}),
        "head_256": Check(_case(1, 1, 1, 40, 256), {"BLOCK_M": 32, "BLOCK_N": 32}),
        "window": Check(_case(1, 2, 2, 100, 32, "fp32", lse=True, window=40), {"BLOCK_M": 32, "BLOCK_N": 16}),
        "window_below_block": Check(_case(1, 2, 1, 70, 32, window=5), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "window_more_keys": Check(_case(1, 1, 1, 20, 32, "fp32", SK=75, window=33), {"BLOCK_M": 16, "BLOCK_N": 16}),
        "window_more_queries": Check(
            _case(1, 1, 1, 90, 32, "fp32", SK=55, lse=True, window=20), {"BLOCK_M": 32, "BLOCK_N": 16}
        ),
        "sinks": Check(_case(2, 4, 2, 50, 32, "fp32", lse=True, sinks=True), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "sinks_window_bf16": Check(
            _case(1, 2, 1, 70, 40, "bf16", SK=60, window=24, sinks=True, lse=True), {"BLOCK_M": 16, "BLOCK_N": 16}
        ),
        "dropout": Check(_case(2, 2, 1, 50, 32, "fp32", lse=True, dropout=0.3), {"BLOCK_M": 16, "BLOCK_N": 32}),
        "dropout_window": Check(
            _case(1, 2, 2, 60, 32, SK=50, window=20, sinks=True, dropout=0.5), {"BLOCK_M": 32, "BLOCK_N": 16}
        ),
    },
)
