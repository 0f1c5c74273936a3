"""Fused attention, forward, by a persistent kernel: as many workgroups as the GPU holds, each taking tile after tile.

A launch with one workgroup a tile leaves it to the hardware to fill the gaps. Under a causal mask the tiles' costs
differ by as much as their number, and with few tiles a compute unit (moderate lengths) the last ones run alone. Here
the tiles are in order of falling cost, and the workgroups share them out themselves in one of two ways:

* static: round after round, back and forth ("snake"), so that the workgroup with the longest tile of one round
  gets the shortest one of the next. This order costs nothing.
* dynamic: a workgroup that is done takes the next tile from a counter in memory: one atomic a tile, best balance.

Heads are numbered first. A GPU made of XCDs deals workgroups out in turn, so the tiles of a head, which read the same
keys and values, stay on one XCD's L2 when H is a multiple of the XCDs; the snake turns in steps of whole XCD rounds.

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
    LaunchGpu,
    Shape,
    Tensor,
    execute,
    rounding,
    size_of,
    torch_dtype,
)


@triton.jit
def _attend(
    acc, total, top, q, k_ptrs, v_ptrs, first, last, n_keys, limit, factor,
    D: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Attend to the keys from ``first`` up to ``last``; ``limit`` is each query's last visible key."""
    col = tl.arange(0, BLOCK_N)
    for start in range(first, last, BLOCK_N):
        live = start + col < n_keys
        k = tl.load(k_ptrs + start * D, mask=live[None, :], other=0.0) if MASKED else tl.load(k_ptrs + start * D)
        scores = tl.dot(q, k, input_precision="ieee")
        if MASKED:
            visible = live[None, :] & (((start + col)[None, :] <= limit[:, None]) | (not CAUSAL))
            scores = tl.where(visible, scores, -float("inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=1) * factor)
        # A query that has seen no key yet: exponents against 0, not -inf.
        base = tl.where(new_top == -float("inf"), 0.0, new_top) if MASKED else new_top
        p = tl.exp2(scores * factor - base[:, None])
        fade = tl.exp2(top - base)
        total = total * fade + tl.sum(p, axis=1)
        v = tl.load(v_ptrs + start * D, mask=live[:, None], other=0.0) if MASKED else tl.load(v_ptrs + start * D)
        acc = tl.dot(p.to(v.dtype), v, acc * fade[:, None], input_precision="ieee")
        top = new_top
    return acc, total, top


@triton.jit
def _attention_tile(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, scale, n_queries, n_keys, head, q_first,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Attention of the ``BLOCK_M`` queries from ``q_first`` of one head; heads are numbered through the batch."""
    LOG2E: tl.constexpr = 1.4426950408889634
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
            scale * LOG2E, D, BLOCK_N, CAUSAL, masked == 1,
        )  # fmt: skip

    # A query that sees no key at all (more queries than keys) gets zeros and a log-sum-exp of -inf.
    total = tl.where(total > 0.0, total, 1.0)
    acc = acc / total[:, None]
    tl.store(out_ptr + at * D + row[:, None] * D + d[None, :], acc.to(out_ptr.dtype.element_ty), mask=live)
    tl.store(lse_ptr + at + row, (top + tl.log2(total)) / LOG2E, mask=q_first + row < n_queries)


@triton.jit
def attention_persistent_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, counter_ptr, scale, n_queries, n_keys, n_heads,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    XCDS: tl.constexpr,
):  # fmt: skip
    """Tile after tile; ``n_heads`` counts the whole batch's. With a counter the schedule is dynamic."""
    me = tl.program_id(0)
    workers = tl.num_programs(0)
    blocks = tl.cdiv(n_queries, BLOCK_M)
    tile = me
    turn = 0
    while tile < n_heads * blocks:
        # The last blocks come first: under a causal mask they are the longest.
        _attention_tile(
            q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, scale, n_queries, n_keys, tile % n_heads,
            (blocks - 1 - tile // n_heads) * BLOCK_M, GROUP, CAUSAL, D, BLOCK_M, BLOCK_N,
        )  # fmt: skip
        turn += 1
        if counter_ptr is not None:
            # Everyone's first tile is its own number, so the counter, from 0, hands out those behind.
            tile = workers + tl.atomic_add(counter_ptr, 1, sem="relaxed")
        else:
            back = (workers // XCDS - 1 - me // XCDS) * XCDS + me % XCDS
            tile = turn * workers + (back if turn % 2 == 1 else me)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: ``COMPUTE_UNITS * WORKGROUPS_PER_CU`` workgroups, or one per tile if there are fewer tiles."""
    b, h, hk, sq, sk, d = (shape[name] for name in ("B", "H", "HK", "SQ", "SK", "D"))
    workers = min(b * h * triton.cdiv(sq, config["BLOCK_M"]), config["COMPUTE_UNITS"] * config["WORKGROUPS_PER_CU"])
    args = {
        "q_ptr": Tensor(shape["dtype"], (b, h, sq, d)),
        "k_ptr": Tensor(shape["dtype"], (b, hk, sk, d)),
        "v_ptr": Tensor(shape["dtype"], (b, hk, sk, d)),
        "out_ptr": Tensor(shape["dtype"], (b, h, sq, d)),
        "lse_ptr": Tensor("fp32", (b, h, sq)),
        "counter_ptr": Tensor("i32", (1,)) if config["DYNAMIC"] else None,
        "scale": d**-0.5,
        "n_queries": sq,
        "n_keys": sk,
        "n_heads": b * h,
        "GROUP": h // hk,
        "CAUSAL": shape["causal"],
        "D": d,
        "BLOCK_M": config["BLOCK_M"],
        "BLOCK_N": config["BLOCK_N"],
        "XCDS": 1 if workers % config["XCDS"] else config["XCDS"],
    }
    return Launch(args, (workers,))


# The fastest by the model over the cases of each width of heads on MI300X and MI355X, none of which spills:
# docs/validation/defaults.md says what a longer search finds.
_FASTEST: Mapping[tuple[str, int], Config] = {
    ("gfx942", 256): {"BLOCK_N": 32, "kpack": 2, "num_stages": 2},
    ("gfx950", 64): {"WORKGROUPS_PER_CU": 4, "num_stages": 2, "waves_per_eu": 0},
    ("gfx950", 128): {"BLOCK_N": 64, "WORKGROUPS_PER_CU": 4, "num_stages": 2, "waves_per_eu": 0},
    ("gfx950", 256): {"BLOCK_N": 64, "matrix_instr_nonkdim": 16, "num_stages": 2, "waves_per_eu": 0},
}


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return tiles that leave registers for two wavefronts per SIMD, and the number of resident workgroups per CU."""
    rdna, width = (
        arch.startswith(("gfx10", "gfx11", "gfx12")),
        64 if shape["D"] <= 64 else 128 if shape["D"] <= 128 else 256,
    )
    tiles: Mapping[int, Config] = {
        64: {"BLOCK_N": 64, "num_warps": 8, "WORKGROUPS_PER_CU": 1} if rdna else {"BLOCK_N": 64},
        128: {"BLOCK_N": 16, "num_warps": 8, "WORKGROUPS_PER_CU": 1} if rdna else {},
        256: {"BLOCK_M": 64, "num_warps": 8, "WORKGROUPS_PER_CU": 1},
    }
    return {**tiles[width], **_FASTEST.get((arch, width), {})}


def gpu_config(shape: Shape, gpu: LaunchGpu) -> dict[str, Any]:
    """Return the numbers of CUs and XCDs, which set the number of workgroups and their order."""
    return {"COMPUTE_UNITS": gpu.compute_units, "XCDS": gpu.xcds}


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return the attention ``out`` and ``lse`` of ``q``, ``k``, ``v`` (batch, head, token, D)."""
    import torch

    q = inputs["q"]
    outputs = {"out": torch.empty_like(q), "lse": torch.empty(q.shape[:3], device=q.device, dtype=torch.float32)}
    tensors = {f"{name}_ptr": tensor for name, tensor in {**inputs, **outputs}.items()}
    if config["DYNAMIC"]:
        tensors["counter_ptr"] = torch.zeros(1, device=q.device, dtype=torch.int32)
    execute(attention_persistent_kernel, launch(shape, config), tensors, config)
    return outputs


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    b, h, hk, sq, sk, d = (shape[name] for name in ("B", "H", "HK", "SQ", "SK", "D"))
    sizes = {"q": (b, h, sq, d), "k": (b, hk, sk, d), "v": (b, hk, sk, d)}
    dtype = torch_dtype(shape["dtype"])
    return {n: torch.randn(size, device=device, generator=generator).to(dtype) for n, size in sizes.items()}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64, one head at a time so that long sequences fit in memory."""
    import torch

    q, k, v = (inputs[name] for name in "qkv")
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
    return {"out": out, "lse": lse}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    The weights and the result are each rounded once to the dtype, with relative error u. A weighted mean of values up
    to 4 with each weight off by u is off by less than 4 u; the float32 sums over the head and the keys add a few
    2**-20.
    """
    relative, _ = rounding(shape["dtype"])
    return relative + 2.0**-19, 4 * relative + 2.0**-19


def flops(shape: Shape) -> int:
    """Return the FLOPs: two products of 2 SQ SK D per head; with a causal mask only those of visible pairs."""
    sq, sk = shape["SQ"], shape["SK"]
    seen = min(sq, sk)
    pairs = seen * (seen + 1) // 2 + seen * (sk - seen) if shape["causal"] else sq * sk
    return 4 * shape["B"] * shape["H"] * pairs * shape["D"]


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic: Q, K and V are read once; the result and its log-sum-exp are written once."""
    queries, keys = shape["B"] * shape["H"] * shape["SQ"], shape["B"] * shape["HK"] * shape["SK"]
    return 2 * (queries + keys) * shape["D"] * size_of(shape["dtype"]) + 4 * queries


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why the head size is not supported, or None. This kernel does not pad heads."""
    if shape["D"] < 16 or shape["D"] & (shape["D"] - 1):
        return f"head size {shape['D']} is not a power of two from 16, on {arch} as elsewhere; flash_attention pads"
    return None


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why a tile's accumulator does not fit the register file, or None if it fits."""
    lanes = config["num_warps"] * (32 if arch.startswith(("gfx10", "gfx11", "gfx12")) else 64)
    if config["BLOCK_M"] * shape["D"] > 256 * lanes:
        return f"too many registers: the accumulator alone takes {config['BLOCK_M'] * shape['D'] // lanes} a lane"
    return None


def _case(b: int, h: int, hk: int, s: int, d: int, dtype: str = "fp16", **flags: Any) -> dict[str, Any]:
    return {"B": b, "H": h, "HK": hk, "SQ": s, "SK": s, "D": d, "causal": True, "dtype": dtype, **flags}


_FEW = {"BLOCK_M": 16, "BLOCK_N": 16, "COMPUTE_UNITS": 4, "WORKGROUPS_PER_CU": 1}

KERNEL = Kernel(
    name="attention_persistent",
    entry=attention_persistent_kernel,
    summary="Fused attention forward, persistent: workgroups share out the tiles, static or by a counter",
    launch=launch,
    shapes={
        "s2048_d128": _case(4, 32, 32, 2048, 128),
        "s1024_d64": _case(8, 16, 16, 1024, 64),
        "s4096_d128": _case(4, 32, 32, 4096, 128),
        "d256_s512": _case(4, 8, 8, 512, 256),
        "d256_s1024": _case(4, 8, 8, 1024, 256),
        "d256_s2048": _case(4, 8, 8, 2048, 256),
        "d256_s4096": _case(4, 8, 8, 4096, 256),
        "full": _case(4, 32, 32, 2048, 128, causal=False),
        "llama_gqa": _case(1, 64, 8, 8192, 128, "bf16"),
    },
    config={
        "BLOCK_M": 128,
        "BLOCK_N": 32,
        "COMPUTE_UNITS": 304,
        "WORKGROUPS_PER_CU": 2,
        "XCDS": 1,
        "DYNAMIC": False,
        "num_warps": 4,
        "num_stages": 1,
        "waves_per_eu": 2,
    },
    arch_config={
        # 16 x 16 MFMA: the addresses that live through the loop over tiles leave too few registers for 32 x 32 here.
        "gfx942": {"matrix_instr_nonkdim": 16},
    },
    configs=[
        {"DYNAMIC": False},
        {"DYNAMIC": True},
        {"WORKGROUPS_PER_CU": 1, "waves_per_eu": 1, "BLOCK_N": 64},
        {"BLOCK_M": 64, "WORKGROUPS_PER_CU": 4},
        {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8, "WORKGROUPS_PER_CU": 1},
    ],
    space={
        "BLOCK_M": (32, 64, 128, 256),
        "BLOCK_N": (16, 32, 64, 128),
        "WORKGROUPS_PER_CU": (1, 2, 3, 4),
        "DYNAMIC": (False, True),
        "num_warps": (4, 8),
        "waves_per_eu": (0, 1, 2, 3),
        "matrix_instr_nonkdim": (0, 16, 32),
    },
    shape_config=shape_config,
    gpu_config=gpu_config,
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=flops,
    bytes=traffic,
    unsupported=unsupported,
    checks={
        "one_round": Check(_case(1, 2, 2, 70, 32, "fp32"), {"BLOCK_M": 32, "BLOCK_N": 16}),
        "snake": Check(_case(2, 4, 2, 70, 32, "fp32"), _FEW | {"XCDS": 2}),
        "snake_odd": Check(_case(1, 3, 1, 90, 16), _FEW | {"COMPUTE_UNITS": 5, "XCDS": 8}),
        "dynamic": Check(_case(2, 2, 1, 70, 32, "bf16"), _FEW | {"DYNAMIC": True}),
        "full": Check(_case(2, 2, 2, 40, 64, causal=False), _FEW),
        "more_keys": Check(_case(1, 3, 3, 20, 32, "fp32", SK=75), _FEW),
        "more_queries": Check(_case(1, 2, 1, 60, 32, "fp32", SK=25), _FEW | {"DYNAMIC": True}),
        "head_256": Check(_case(1, 1, 1, 40, 256), _FEW | {"COMPUTE_UNITS": 1}),
    },
)
