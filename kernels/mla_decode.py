"""Multi-head latent attention on the latent cache, with weight-absorbed products before and after it.

The cache holds one latent vector of C elements per token and a rotary key of DR, shared by all heads. Head h's keys and
values would be kv @ W1[h].T and kv @ W2[h].T, where ``w`` (H, DN + DV, C) stacks W1 and W2. Neither is ever made:

* ``absorb``: W1 is multiplied into the query: absorbed = q_nope @ W1[h], a vector of C;
* the kernel: latents are keys and values at once, so one tile, read once, serves both products;
* ``reduce``: the keys are split into ``SPLITS`` runs, whose mean latents are weighed as in ``flash_decoding``;
* ``project``: W2 is applied to the mean latent, once per query and not once per token.

The products of the kernel are transposed: columns are queries, rows are latent elements or keys. With one new token a
sequence the columns are heads, and it is the long side, C, that the waves share out.

``absorb`` and ``project`` are launches of their own, which read each weight once. Fused into the kernel, every
workgroup of every run would read the weights of its heads, 2 (DN + DV) C bytes each in 16 bits, and in a tile of many
heads each product would have the columns of all others zero. The price is two launches, and runs of C elements, not DV.
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
    LaunchGpu,
    Part,
    Shape,
    Tensor,
    execute,
    rounding,
    size_of,
    torch_dtype,
)


@triton.jit
def mla_product_kernel(
    x_ptr, w_ptr, y_ptr, H, S, TOKENS, W_FIRST: tl.constexpr, W_HEAD: tl.constexpr, K: tl.constexpr,
    K_STRIDE: tl.constexpr, N: tl.constexpr, N_STRIDE: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
):  # fmt: skip
    """``y`` (B, H, S, N) = ``x`` (B, H, S, K) times the weight of each head, ``BLOCK_Q`` new tokens of all sequences.

    The weight of head h has element (k, n) at W_FIRST + h W_HEAD + k K_STRIDE + n N_STRIDE.
    """
    head = tl.program_id(2).to(tl.int64)
    token = tl.program_id(1) * BLOCK_Q + tl.arange(0, BLOCK_Q)
    live = (token < TOKENS)[:, None]
    row = (token // S * H + head) * S + token % S
    n = tl.program_id(0) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    y = tl.zeros([BLOCK_Q, BLOCK_OUT], tl.float32)
    for first in range(0, K, BLOCK_K):
        k = first + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + row[:, None] * K + k[None, :], mask=live, other=0.0)
        w = tl.load(w_ptr + W_FIRST + head * W_HEAD + k[:, None] * K_STRIDE + n[None, :] * N_STRIDE)
        y = tl.dot(x, w, y, input_precision="ieee")
    tl.store(y_ptr + row[:, None] * N + n[None, :], y.to(y_ptr.dtype.element_ty), mask=live)


@triton.jit
def _attend(absorbed, q_pe, kv_ptr, k_pe_ptr, begin, end, limit, factor, C: tl.constexpr, DR: tl.constexpr,
            BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):  # fmt: skip
    """Mean latent of each query over the tokens from ``begin`` up to ``end``, (C, BLOCK_M), and its lse in base 2."""
    c = tl.arange(0, C)
    r = tl.arange(0, DR)
    acc = tl.zeros([C, BLOCK_M], tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    top = tl.full([BLOCK_M], -float("inf"), tl.float32)
    for start in range(begin, end, BLOCK_N):
        token = start + tl.arange(0, BLOCK_N)
        live = (token < end)[:, None]
        kv = tl.load(kv_ptr + token[:, None] * C + c[None, :], mask=live, other=0.0)
        k_pe = tl.load(k_pe_ptr + token[:, None] * DR + r[None, :], mask=live, other=0.0)
        scores = tl.dot(kv, absorbed, input_precision="ieee")
        scores = tl.dot(k_pe, q_pe, scores, input_precision="ieee")
        visible = live & ((token[:, None] <= limit[None, :]) | (not CAUSAL))
        scores = tl.where(visible, scores, -float("inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=0) * factor)
        # A query that has seen no token yet: exponents against 0, not -inf.
        base = tl.where(new_top == -float("inf"), 0.0, new_top)
        p = tl.exp2(scores * factor - base[None, :])
        fade = tl.exp2(top - base)
        total = total * fade + tl.sum(p, axis=0)
        acc = tl.dot(tl.trans(kv), p.to(kv.dtype), acc * fade[None, :], input_precision="ieee")
        top = new_top
    total = tl.where(total > 0.0, total, 1.0)
    return acc / total[None, :], top + tl.log2(total)


@triton.jit
def mla_decode_kernel(
    absorbed_ptr, q_pe_ptr, kv_ptr, k_pe_ptr, lengths_ptr, run_out_ptr, run_lse_ptr, scale, capacity, H, S,
    DR: tl.constexpr, C: tl.constexpr, CAUSAL: tl.constexpr, MEMBERS: tl.constexpr, QUERIES: tl.constexpr,
    BLOCK_N: tl.constexpr,
):  # fmt: skip
    """``QUERIES`` new tokens of ``MEMBERS`` heads over one run; grid: heads and new tokens, runs, sequences."""
    LOG2E: tl.constexpr = 1.4426950408889634
    BLOCK_M: tl.constexpr = MEMBERS * QUERIES
    head_tiles = tl.cdiv(H, MEMBERS)
    head_first = tl.program_id(0) % head_tiles * MEMBERS
    q_first = tl.program_id(0) // head_tiles * QUERIES
    split = tl.program_id(1)
    splits = tl.num_programs(1)
    sequence = tl.program_id(2)
    length = tl.load(lengths_ptr + sequence)
    blocks = tl.cdiv(tl.cdiv(length, BLOCK_N), splits)
    begin = tl.minimum(split * blocks * BLOCK_N, length)
    end = tl.minimum(begin + blocks * BLOCK_N, length)

    column = tl.arange(0, BLOCK_M)
    member = column // QUERIES
    query = q_first + column % QUERIES
    live = (head_first + member < H) & (query < S)
    # Uniform 64-bit parts go to the bases; the lanes' offsets stay within 32 bits (buffer loads).
    at = sequence.to(tl.int64) * H * S
    rows = (head_first + member) * S + query
    token_at = sequence.to(tl.int64) * capacity
    r = tl.arange(0, DR)
    c = tl.arange(0, C)
    q_pe = tl.load(q_pe_ptr + at * DR + rows[None, :] * DR + r[:, None], mask=live[None, :], other=0.0)
    absorbed = tl.load(absorbed_ptr + at * C + rows[None, :] * C + c[:, None], mask=live[None, :], other=0.0)

    # The new tokens are the last ones of the cache: under a causal mask the last of them sees all.
    latent, lse = _attend(
        absorbed, q_pe, kv_ptr + token_at * C, k_pe_ptr + token_at * DR, begin, end,
        length - S + query, scale * LOG2E, C, DR, BLOCK_M, BLOCK_N, CAUSAL,
    )  # fmt: skip

    tl.store(run_lse_ptr + at * splits + rows * splits + split, lse, mask=live)
    out_at = (rows * splits + split)[None, :] * C + c[:, None]
    tl.store(run_out_ptr + at * splits * C + out_at, latent, mask=live[None, :])


@triton.jit
def mla_decode_reduce_kernel(
    run_out_ptr, run_lse_ptr, latent_ptr, lse_ptr, SPLITS: tl.constexpr, BLOCK_S: tl.constexpr, C: tl.constexpr,
    BLOCK_C: tl.constexpr,
):  # fmt: skip
    """Add up the partial results of one query of one head, each weighted by exp2(lse); ``run_lse`` is in base 2."""
    LOG2E: tl.constexpr = 1.4426950408889634
    row = tl.program_id(1).to(tl.int64)
    split = tl.arange(0, BLOCK_S)
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    lse = tl.load(run_lse_ptr + row * SPLITS + split, mask=split < SPLITS, other=-float("inf"))
    top = tl.max(lse, axis=0)
    base = tl.where(top == -float("inf"), 0.0, top)
    weight = tl.exp2(lse - base)
    total = tl.maximum(tl.sum(weight, axis=0), 1.0)  # the top run weighs 1: below it is only a query without tokens
    run_out_ptr += row * SPLITS * C
    latent = tl.load(run_out_ptr + split[:, None] * C + c[None, :], mask=(split < SPLITS)[:, None], other=0.0)
    latent = tl.sum(latent * (weight / total)[:, None], axis=0)
    tl.store(latent_ptr + row * C + c, latent.to(latent_ptr.dtype.element_ty))
    if tl.program_id(0) == 0:
        tl.store(lse_ptr + row, (top + tl.log2(total)) / LOG2E)


def _tensors(shape: Shape, config: Config) -> dict[str, Tensor]:
    b, h, s, t, dn, dr, dv, c = (shape[name] for name in ("B", "H", "S", "T", "DN", "DR", "DV", "C"))
    splits = config["SPLITS"]
    return {
        "q_nope_ptr": Tensor(shape["dtype"], (b, h, s, dn)),
        "q_pe_ptr": Tensor(shape["dtype"], (b, h, s, dr)),
        "kv_ptr": Tensor(shape["dtype"], (b, t, c)),
        "k_pe_ptr": Tensor(shape["dtype"], (b, t, dr)),
        "w_ptr": Tensor(shape["dtype"], (h, dn + dv, c)),
        "lengths_ptr": Tensor("i32", (b,), values=tuple(cache_lengths(shape))),
        "absorbed_ptr": Tensor(shape["dtype"], (b, h, s, c)),
        "latent_ptr": Tensor(shape["dtype"], (b, h, s, c)),
        "run_out_ptr": Tensor("fp32", (b, h, s, splits, c)),
        "run_lse_ptr": Tensor("fp32", (b, h, s, splits)),
        "out_ptr": Tensor(shape["dtype"], (b, h, s, dv)),
        "lse_ptr": Tensor("fp32", (b, h, s)),
    }


def _named(shape: Shape, config: Config, *names: str) -> dict[str, Any]:
    tensors = _tensors(shape, config)
    return {f"{name}_ptr": tensors[f"{name}_ptr"] for name in names}


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for ``BLOCK_M`` queries and one run of a sequence.

    The queries are of one head, or of several heads if each has few queries.
    """
    h, s = shape["H"], shape["S"]
    queries = min(config["BLOCK_M"], triton.next_power_of_2(s))
    members = config["BLOCK_M"] // queries
    args = {
        **_named(shape, config, "absorbed", "q_pe", "kv", "k_pe", "lengths", "run_out", "run_lse"),
        "scale": (shape["DN"] + shape["DR"]) ** -0.5,
        "capacity": shape["T"],
        "H": h,
        "S": s,
        "DR": shape["DR"],
        "C": shape["C"],
        "CAUSAL": shape["causal"],
        "MEMBERS": members,
        "QUERIES": queries,
        "BLOCK_N": config["BLOCK_N"],
    }
    return Launch(args, (triton.cdiv(h, members) * triton.cdiv(s, queries), config["SPLITS"], shape["B"]))


def _launch_product(shape: Shape, config: Config, x: str, y: str, sizes: Mapping[str, int]) -> Launch:
    """Return a launch with a workgroup for ``BLOCK_Q`` new tokens of one head and a part of the result's elements."""
    tensors = _tensors(shape, config)
    tokens = shape["B"] * shape["S"]
    blocks = {"BLOCK_Q": config["BLOCK_Q"], "BLOCK_K": min(128, sizes["K"])}
    blocks["BLOCK_OUT"] = min(config["BLOCK_OUT"], sizes["N"])
    args = {
        "x_ptr": tensors[f"{x}_ptr"],
        "w_ptr": tensors["w_ptr"],
        "y_ptr": tensors[f"{y}_ptr"],
        "H": shape["H"],
        "S": shape["S"],
        "TOKENS": tokens,
        "W_HEAD": (shape["DN"] + shape["DV"]) * shape["C"],
        **sizes,
        **blocks,
    }
    return Launch(args, (sizes["N"] // blocks["BLOCK_OUT"], triton.cdiv(tokens, blocks["BLOCK_Q"]), shape["H"]))


def launch_absorb(shape: Shape, config: Config) -> Launch:
    """Return the launch that multiplies the queries by W1."""
    sizes = {"W_FIRST": 0, "K": shape["DN"], "K_STRIDE": shape["C"], "N": shape["C"], "N_STRIDE": 1}
    return _launch_product(shape, config, "q_nope", "absorbed", sizes)


def launch_project(shape: Shape, config: Config) -> Launch:
    """Return the launch that multiplies the mean latents by W2, transposed."""
    first = shape["DN"] * shape["C"]
    sizes = {"W_FIRST": first, "K": shape["C"], "K_STRIDE": 1, "N": shape["DV"], "N_STRIDE": shape["C"]}
    return _launch_product(shape, config, "latent", "out", sizes)


def launch_reduce(shape: Shape, config: Config) -> Launch:
    """Return the launch of the reduction: one workgroup for 128 latent elements of one query of one head."""
    splits, c = config["SPLITS"], shape["C"]
    blocks = {"BLOCK_S": triton.next_power_of_2(splits), "C": c, "BLOCK_C": min(128, c)}
    args = {**_named(shape, config, "run_out", "run_lse", "latent", "lse"), "SPLITS": splits, **blocks}
    return Launch(args, (c // blocks["BLOCK_C"], shape["B"] * shape["H"] * shape["S"]))


# The fastest by the model over all cases, by the columns of a tile. With 16 of them an MI300X holds two workgroups a
# compute unit; the others hide latency by loading the next latents early, one wavefront a SIMD.
_TILES: Mapping[str, Mapping[int, Config]] = {
    "gfx942": {
        16: {"BLOCK_N": 32, "num_stages": 1, "waves_per_eu": 2, "kpack": 2},
        64: {"BLOCK_N": 16, "num_stages": 2, "kpack": 2},
    },
    "gfx950": {
        16: {"BLOCK_N": 32, "num_stages": 2},
        64: {"BLOCK_N": 32, "num_stages": 2, "matrix_instr_nonkdim": 16},
    },
}


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return a tile with columns for the heads and new tokens of a sequence, so that a tile of latents serves many."""
    columns = _columns(shape, arch)
    rdna = {"num_warps": 8, "BLOCK_N": 16} if arch.startswith(("gfx11", "gfx12")) else {}
    return {"BLOCK_M": columns, **rdna, **_TILES.get(arch, {}).get(columns, {})}


def gpu_config(shape: Shape, gpu: LaunchGpu) -> dict[str, Any]:
    """Return a number of runs for all workgroups that the CUs hold at once, but no runs below 128 tokens."""
    columns = _columns(shape, gpu.arch)
    tiles = shape["B"] * triton.cdiv(shape["H"] * triton.next_power_of_2(shape["S"]), columns)
    resident = gpu.compute_units * _TILES.get(gpu.arch, {}).get(columns, {}).get("waves_per_eu", 1)
    return {"SPLITS": min(max(1, resident // tiles), max(1, shape["T"] // 128), 64)}


def _columns(shape: Shape, arch: str) -> int:
    if arch in _TILES and shape["H"] * triton.next_power_of_2(shape["S"]) >= 64:
        return 64
    return 32 if shape["S"] > 16 and arch not in _TILES else 16


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return the attention of the queries to the latent cache.

    The queries are ``q_nope`` (B, H, S, DN) and ``q_pe`` (B, H, S, DR); the cache is ``kv`` (B, T, C) and ``k_pe`` (B,
    T, DR). The results are ``out`` (B, H, S, DV) and ``lse`` (B, H, S).
    """
    import torch

    descriptions = _tensors(shape, config)
    made = {
        name: torch.empty(
            descriptions[name].shape, device=inputs["kv"].device, dtype=torch_dtype(descriptions[name].dtype)
        )
        for name in ("absorbed_ptr", "run_out_ptr", "run_lse_ptr", "latent_ptr", "out_ptr", "lse_ptr")
    }
    tensors = {**{f"{name}_ptr": tensor for name, tensor in inputs.items()}, **made}
    products = {"x_ptr": tensors["q_nope_ptr"], "w_ptr": tensors["w_ptr"], "y_ptr": tensors["absorbed_ptr"]}
    execute(mla_product_kernel, launch_absorb(shape, config), products, PRODUCT_OPTIONS)
    execute(mla_decode_kernel, launch(shape, config), tensors, config)
    execute(mla_decode_reduce_kernel, launch_reduce(shape, config), tensors, REDUCE_OPTIONS)
    products |= {"x_ptr": tensors["latent_ptr"], "y_ptr": tensors["out_ptr"]}
    execute(mla_product_kernel, launch_project(shape, config), products, PRODUCT_OPTIONS)
    return {"out": made["out_ptr"], "lse": made["lse_ptr"]}


def cache_lengths(shape: Shape) -> list[int]:
    """Return the number of tokens of each sequence: T, or if ``ragged`` is set, falling evenly from T to 0."""
    b, t = shape["B"], shape["T"]
    return [t * (b - 1 - index) // max(1, b - 1) if shape["ragged"] else t for index in range(b)]


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs, with weights scaled by C**-0.5.

    The cache behind a sequence's end contains infinities, which the kernel must not use.
    """
    import torch

    b, h, s, t, dn, dr, dv, c = (shape[name] for name in ("B", "H", "S", "T", "DN", "DR", "DV", "C"))
    generator = torch.Generator(device).manual_seed(seed)
    dtype = torch_dtype(shape["dtype"])

    def draw(*size: int, scale: float = 1.0) -> Any:
        return (scale * torch.randn(size, device=device, generator=generator)).to(dtype)

    lengths = torch.tensor(cache_lengths(shape), device=device, dtype=torch.int32)
    unused = (torch.arange(t, device=device)[None, :] >= lengths[:, None])[:, :, None]
    return {
        "q_nope": draw(b, h, s, dn),
        "q_pe": draw(b, h, s, dr),
        "kv": draw(b, t, c).masked_fill_(unused, torch.inf),
        "k_pe": draw(b, t, dr).masked_fill_(unused, torch.inf),
        "w": draw(h, dn + dv, c, scale=c**-0.5),
        "lengths": lengths,
    }


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64 from each head's own keys and values, which the kernel never computes."""
    import torch

    q_nope, q_pe, w = (inputs[name].double() for name in ("q_nope", "q_pe", "w"))
    scale = (shape["DN"] + shape["DR"]) ** -0.5
    out = torch.zeros(*q_nope.shape[:3], shape["DV"], device=w.device, dtype=torch.float64)
    lse = torch.full(q_nope.shape[:3], -torch.inf, device=w.device, dtype=torch.float64)
    for b, length in enumerate(cache_lengths(shape)):
        kv, k_pe = inputs["kv"][b, :length].double(), inputs["k_pe"][b, :length].double()
        last = length - shape["S"] + torch.arange(shape["S"], device=w.device)[:, None]
        hidden = (torch.arange(length, device=w.device)[None, :] > last) & shape["causal"]
        for h in range(shape["H"]):
            keys, values = kv @ w[h, : shape["DN"]].T, kv @ w[h, shape["DN"] :].T
            scores = (q_nope[b, h] @ keys.T + q_pe[b, h] @ k_pe.T) * scale
            scores = scores.masked_fill(hidden, -torch.inf)
            lse[b, h] = scores.logsumexp(dim=1)
            out[b, h] = (scores - lse[b, h][:, None]).exp().nan_to_num(0.0) @ values
    return {"out": out, "lse": lse}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    Absorbed queries, weights, mean latents and results are each rounded once to the dtype, with relative error u.

    The rounded queries and the rounded weights each cause an error of about u in a weight: together 2 u on weights that
    sum to 1, times values up to 4. The rounded latents, projected, add as much as one rounding of a value of up to 4.
    """
    relative, _ = rounding(shape["dtype"])
    return relative + 2.0**-18, 12 * relative + 2.0**-18


def flops(shape: Shape) -> int:
    """Return the FLOPs.

    The absorbed products are computed once for each query. Each pair of a query and a token has C + DR products for
    scores and C for latents.
    """
    rows = shape["H"] * shape["S"]
    per_query = shape["C"] * (shape["DN"] + shape["DV"])
    hidden = shape["S"] * (shape["S"] - 1) // 2 if shape["causal"] else 0
    pairs = sum(max(0, shape["S"] * length - hidden) for length in cache_lengths(shape))
    return 2 * shape["B"] * rows * per_query + 2 * shape["H"] * pairs * (2 * shape["C"] + shape["DR"])


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic.

    The filled part of the cache, the weights and the queries are read once, and the results are written once.
    """
    cache = sum(cache_lengths(shape)) * (shape["C"] + shape["DR"])
    weights = shape["H"] * (shape["DN"] + shape["DV"]) * shape["C"]
    rows = shape["B"] * shape["H"] * shape["S"]
    return (cache + weights + rows * (shape["DN"] + shape["DR"] + shape["DV"])) * size_of(shape["dtype"]) + 4 * rows


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why a size is not supported, or None. This kernel pads no size."""
    for name in ("DN", "DR", "DV", "C"):
        if shape[name] < 16 or shape[name] & (shape[name] - 1):
            return f"{name}={shape[name]} is not a power of two from 16, on {arch} as elsewhere"
    return None


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why there are more runs than blocks of tokens, on any architecture, or None."""
    blocks = triton.cdiv(shape["T"], config["BLOCK_N"])
    return f"{config['SPLITS']} runs of {blocks} blocks, on {arch}" if config["SPLITS"] > blocks else None


def _case(b: int, h: int, s: int, t: int, sizes: tuple[int, int, int, int], **flags: Any) -> dict[str, Any]:
    base = {"B": b, "H": h, "S": s, "T": t} | dict(zip(("DN", "DR", "DV", "C"), sizes, strict=True))
    return {**base, "causal": True, "ragged": False, "dtype": "bf16", **flags}


_DEEPSEEK = (128, 64, 128, 512)
_SMALL = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_OUT": 16}
PRODUCT_OPTIONS = {"num_warps": 4}
REDUCE_OPTIONS = {"num_warps": 1}

KERNEL = Kernel(
    name="mla_decode",
    entry=mla_decode_kernel,
    summary="Multi-head latent attention: absorbed queries, keys split, then reduced and projected",
    launch=launch,
    shapes={
        "deepseek_b8_t4096": _case(8, 128, 1, 4096, _DEEPSEEK),
        "deepseek_b1_t16384": _case(1, 128, 1, 16384, _DEEPSEEK),
        "deepseek_b32_t8192": _case(32, 128, 1, 8192, _DEEPSEEK),
        "deepseek_two_tokens": _case(8, 128, 2, 4096, _DEEPSEEK),
        "tensor_parallel_8": _case(32, 16, 1, 8192, _DEEPSEEK, ragged=True),
        "published": _case(2, 16, 128, 128, (64, 32, 64, 256), dtype="fp16", causal=False),
        "chunk": _case(1, 16, 512, 4096, _DEEPSEEK),
    },
    config={"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_Q": 16, "BLOCK_OUT": 64, "SPLITS": 1}
    | {"num_warps": 4, "num_stages": 1, "waves_per_eu": 1},
    shape_config=shape_config,
    gpu_config=gpu_config,
    configs=[{"BLOCK_N": 32}, {"BLOCK_N": 16}, {"BLOCK_N": 32, "num_warps": 8}, {"BLOCK_M": 32}],
    space={
        "BLOCK_M": (16, 32, 64),
        "BLOCK_N": (16, 32, 64),
        "BLOCK_Q": (16, 32, 64),
        "BLOCK_OUT": (16, 32, 64, 128),
        "SPLITS": (1, 2, 4, 8, 16, 32, 64),
        "num_warps": (4, 8),
        "num_stages": (1, 2),
        "waves_per_eu": (0, 1, 2),
    },
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=flops,
    bytes=traffic,
    unsupported=unsupported,
    notes={
        **dict.fromkeys(("gfx1100", "gfx1201"), "256 registers a lane do not hold an absorbed query of 512"),
        "gfx942": "Triton 3.4 spills about 100 registers, in the loop too; 3.6 and later do not.",
    },
    checks={
        "decode": Check(_case(2, 16, 1, 50, (32, 16, 16, 64), dtype="fp32"), _SMALL | {"SPLITS": 2}),
        "odd_heads_bf16": Check(_case(1, 5, 1, 40, (16, 16, 32, 32)), _SMALL | {"SPLITS": 3}),
        "two_tokens": Check(_case(1, 9, 2, 33, (16, 16, 16, 64), dtype="fp16"), _SMALL | {"SPLITS": 1}),
        "one_head_a_tile": Check(
            _case(2, 2, 40, 70, (32, 16, 32, 64), dtype="fp32"), _SMALL | {"BLOCK_M": 32, "SPLITS": 2}
        ),
        "full": Check(_case(1, 2, 20, 30, (16, 16, 16, 32), dtype="fp16", causal=False), _SMALL | {"SPLITS": 1}),
        "ragged_and_empty": Check(
            _case(3, 3, 3, 45, (16, 16, 16, 32), dtype="fp32", ragged=True), _SMALL | {"SPLITS": 3}
        ),
        # Longer than a block of the projection and of the reduction.
        "wide_latent": Check(_case(2, 3, 2, 40, (32, 16, 32, 256)), _SMALL | {"SPLITS": 2}),
        "more_queries_than_tokens": Check(_case(1, 2, 9, 5, (16, 16, 16, 32), dtype="fp32"), _SMALL | {"SPLITS": 1}),
    },
    parts={
        "absorb": Part(mla_product_kernel, launch_absorb, options=PRODUCT_OPTIONS),
        "reduce": Part(mla_decode_reduce_kernel, launch_reduce, options=REDUCE_OPTIONS),
        "project": Part(mla_product_kernel, launch_project, options=PRODUCT_OPTIONS),
    },
)
