"""Flash decoding: one new query a sequence against a long KV cache, the keys split over workgroups and then reduced.

With one query a head there are only B * HK independent tiles, far fewer than compute units, so each sequence's keys
are cut into ``SPLITS`` runs. A workgroup attends from all heads of a group to one run and leaves a normalised result
and its log-sum-exp; the reduction weighs the runs by exp(lse) and adds them up.

The rows of a tile are the heads that share a key head, padded to the 16 of the smallest matrix instruction, so the
cache is read once whatever the group. The kernel is bound by that reading: 4 N HK D bytes a sequence in 16 bits.

Each sequence has its own length, at most N; 0 gives zeros and a log-sum-exp of -inf.
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
def flash_decoding_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    lengths_ptr,
    run_out_ptr,
    run_lse_ptr,
    scale,
    capacity,
    HK: tl.constexpr,
    GROUP: tl.constexpr,
    D: tl.constexpr,
    BLOCK_H: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """One run of one sequence for the heads of one group; grid: key heads, runs, sequences."""
    LOG2E: tl.constexpr = 1.4426950408889634
    hk = tl.program_id(0)
    split = tl.program_id(1)
    splits = tl.num_programs(1)
    sequence = tl.program_id(2)
    length = tl.load(lengths_ptr + sequence)
    # Runs are whole blocks, so that only the last one of a sequence needs a mask.
    blocks = tl.cdiv(tl.cdiv(length, BLOCK_N), splits)
    begin = tl.minimum(split * blocks * BLOCK_N, length)
    end = tl.minimum(begin + blocks * BLOCK_N, length)

    # Uniform 64-bit parts go to the bases; the lanes' offsets stay within 32 bits (buffer loads).
    kv_at = ((sequence.to(tl.int64) * capacity + begin) * HK + hk) * D
    member = tl.arange(0, BLOCK_H)
    col = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    live_h = member < GROUP
    head = sequence * (HK * GROUP) + hk * GROUP + member
    q = tl.load(q_ptr + head[:, None] * D + d[None, :], mask=live_h[:, None], other=0.0)
    k_ptrs = k_ptr + kv_at + col[None, :] * (HK * D) + d[:, None]
    v_ptrs = v_ptr + kv_at + col[:, None] * (HK * D) + d[None, :]

    factor = scale * LOG2E
    acc = tl.zeros([BLOCK_H, D], tl.float32)
    total = tl.zeros([BLOCK_H], tl.float32)
    top = tl.full([BLOCK_H], -float("inf"), tl.float32)
    for start in range(0, end - begin, BLOCK_N):
        live = start + col < end - begin
        k = tl.load(k_ptrs + start * (HK * D), mask=live[None, :], other=0.0)
        v = tl.load(v_ptrs + start * (HK * D), mask=live[:, None], other=0.0)
        scores = tl.where(live[None, :], tl.dot(q, k, input_precision="ieee"), -float("inf"))
        # A block has a key at least, so the maximum is finite.
        new_top = tl.maximum(top, tl.max(scores, axis=1) * factor)
        p = tl.exp2(scores * factor - new_top[:, None])
        fade = tl.exp2(top - new_top)
        total = total * fade + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc * fade[:, None], input_precision="ieee")
        top = new_top

    # An empty run leaves zeros and a log-sum-exp of -inf, which weighs nothing in the reduction.
    total = tl.where(total > 0.0, total, 1.0)
    run = head * splits + split
    tl.store(run_out_ptr + run[:, None] * D + d[None, :], acc / total[:, None], mask=live_h[:, None])
    tl.store(run_lse_ptr + run, top + tl.log2(total), mask=live_h)


@triton.jit
def flash_decoding_reduce_kernel(
    run_out_ptr, run_lse_ptr, out_ptr, lse_ptr, SPLITS: tl.constexpr, BLOCK_S: tl.constexpr, D: tl.constexpr
):
    """Add up the partial results of one head of one sequence, each weighted by exp2(lse); ``run_lse`` is in base 2."""
    LOG2E: tl.constexpr = 1.4426950408889634
    head = tl.program_id(0)
    split = tl.arange(0, BLOCK_S)
    d = tl.arange(0, D)
    lse = tl.load(run_lse_ptr + head * SPLITS + split, mask=split < SPLITS, other=-float("inf"))
    top = tl.max(lse, axis=0)
    base = tl.where(top == -float("inf"), 0.0, top)
    weight = tl.exp2(lse - base)
    total = tl.sum(weight, axis=0)
    total = tl.where(total > 0.0, total, 1.0)
    at = (head * SPLITS + split)[:, None] * D + d[None, :]
    out = tl.load(run_out_ptr + at, mask=(split < SPLITS)[:, None], other=0.0)
    out = tl.sum(out * (weight / total)[:, None], axis=0)
    tl.store(out_ptr + head * D + d, out.to(out_ptr.dtype.element_ty))
    tl.store(lse_ptr + head, (top + tl.log2(total)) / LOG2E)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for each run of keys of a sequence and key head."""
    b, h, hk, n, d = (shape[name] for name in ("B", "H", "HK", "N", "D"))
    splits = config["SPLITS"]
    args = {
        "q_ptr": Tensor(shape["dtype"], (b, h, d)),
        "k_ptr": Tensor(shape["dtype"], (b, n, hk, d)),
        "v_ptr": Tensor(shape["dtype"], (b, n, hk, d)),
        "lengths_ptr": Tensor("i32", (b,), values=tuple(cache_lengths(shape))),
        "run_out_ptr": Tensor("fp32", (b, h, splits, d)),
        "run_lse_ptr": Tensor("fp32", (b, h, splits)),
        "scale": d**-0.5,
        "capacity": n,
        "HK": hk,
        "GROUP": h // hk,
        "D": d,
        "BLOCK_H": max(16, triton.next_power_of_2(h // hk)),
        "BLOCK_N": config["BLOCK_N"],
    }
    return Launch(args, (hk, splits, b))


def launch_reduce(shape: Shape, config: Config) -> Launch:
    """Return the launch of the reduction: one workgroup for each head of a sequence."""
    b, h, d = (shape[name] for name in ("B", "H", "D"))
    splits = config["SPLITS"]
    args = {
        "run_out_ptr": Tensor("fp32", (b, h, splits, d)),
        "run_lse_ptr": Tensor("fp32", (b, h, splits)),
        "out_ptr": Tensor(shape["dtype"], (b, h, d)),
        "lse_ptr": Tensor("fp32", (b, h)),
        "SPLITS": splits,
        "BLOCK_S": triton.next_power_of_2(splits),
        "D": d,
    }
    return Launch(args, (b * h,))


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return the tiles: smaller ones for larger heads."""
    block = 32 if shape["D"] > 128 else 64
    if arch.startswith(("gfx10", "gfx11", "gfx12")):
        # Wavefronts have half as many lanes here: use half the tile, and do not load the next tile ahead.
        return {"BLOCK_N": block // 2, "num_stages": 1}
    return {"BLOCK_N": block}


def gpu_config(shape: Shape, gpu: LaunchGpu) -> dict[str, Any]:
    """Return a number of runs for about two workgroups per CU, but without runs of fewer than 256 keys."""
    wanted = max(1, 2 * gpu.compute_units // (shape["B"] * shape["HK"]))
    longest = max(1, shape["N"] // 256)
    return {"SPLITS": min(128, triton.next_power_of_2(min(wanted, longest)))}


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return the attention of ``q`` (B, H, D) to ``k``, ``v`` (B, N, HK, D) of ``lengths`` (B).

    The results are ``out`` (B, H, D) and ``lse`` (B, H).
    """
    import torch

    q = inputs["q"]
    made = {"device": q.device, "dtype": torch.float32}
    outputs = {"out": torch.empty_like(q), "lse": torch.empty(q.shape[:2], **made)}
    tensors = {f"{name}_ptr": tensor for name, tensor in {**inputs, **outputs}.items()}
    tensors["run_out_ptr"] = torch.empty((*q.shape[:2], config["SPLITS"], q.shape[2]), **made)
    tensors["run_lse_ptr"] = torch.empty((*q.shape[:2], config["SPLITS"]), **made)
    execute(flash_decoding_kernel, launch(shape, config), tensors, config)
    execute(flash_decoding_reduce_kernel, launch_reduce(shape, config), tensors, config)
    return outputs


def cache_lengths(shape: Shape) -> list[int]:
    """Return the number of keys of each sequence: N, or if ``ragged`` is set, falling evenly from N to 0."""
    b, n = shape["B"], shape["N"]
    return [n * (b - 1 - index) // max(1, b - 1) if shape["ragged"] else n for index in range(b)]


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs.

    The cache behind a sequence's end contains infinities, which the kernel must not use.
    """
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    b, h, hk, n, d = (shape[name] for name in ("B", "H", "HK", "N", "D"))
    dtype = torch_dtype(shape["dtype"])
    result = {"q": torch.randn(b, h, d, device=device, generator=generator).to(dtype)}
    lengths = torch.tensor(cache_lengths(shape), device=device, dtype=torch.int32)
    unused = torch.arange(n, device=device)[None, :] >= lengths[:, None]
    for name in "kv":
        cache = torch.randn(b, n, hk, d, device=device, generator=generator).to(dtype)
        result[name] = cache.masked_fill_(unused[:, :, None, None], torch.inf)
    return result | {"lengths": lengths}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64, one sequence at a time."""
    import torch

    q, k, v = (inputs[name] for name in "qkv")
    out = torch.zeros(q.shape, device=q.device, dtype=torch.float64)
    lse = torch.full(q.shape[:2], -torch.inf, device=q.device, dtype=torch.float64)
    for b, length in enumerate(cache_lengths(shape)):
        if length == 0:
            continue
        grouped = q[b].double().unflatten(0, (shape["HK"], -1))
        scores = torch.einsum("kgd,nkd->kgn", grouped, k[b, :length].double()) * shape["D"] ** -0.5
        out[b] = torch.einsum("kgn,nkd->kgd", scores.softmax(dim=2), v[b, :length].double()).flatten(0, 1)
        lse[b] = scores.logsumexp(dim=2).flatten()
    return {"out": out, "lse": lse}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    The weights and the result are each rounded once to the dtype, with relative error u. A weighted mean of values up
    to 4 with each weight off by u is off by less than 4 u; the float32 sums over the head and the keys add a few
    2**-20. The runs are kept in float32.
    """
    relative, _ = rounding(shape["dtype"])
    return relative + 2.0**-19, 4 * relative + 2.0**-19


def flops(shape: Shape) -> int:
    """Return the FLOPs: two products of 2 D per key and head."""
    return 4 * shape["H"] * shape["D"] * sum(cache_lengths(shape))


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic: the filled part of the cache and q are read once, and out is written.

    The partial results of the runs stay in L2 and the last-level cache.
    """
    elements = 2 * sum(cache_lengths(shape)) * shape["HK"] * shape["D"] + 2 * shape["B"] * shape["H"] * shape["D"]
    return elements * size_of(shape["dtype"]) + 4 * shape["B"] * (1 + shape["H"])


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why the head size is not supported, or None. This kernel does not pad heads."""
    if shape["D"] < 16 or shape["D"] & (shape["D"] - 1):
        return f"head size {shape['D']} is not a power of two from 16, on {arch} as elsewhere"
    return None


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why a configuration is rejected, or None.

    If there are more runs than blocks of keys, some workgroups have nothing to do, on any architecture.
    """
    blocks = triton.cdiv(shape["N"], config["BLOCK_N"])
    return f"{config['SPLITS']} runs of {blocks} blocks, on {arch}" if config["SPLITS"] > blocks else None


def _case(b: int, h: int, hk: int, n: int, d: int, dtype: str = "fp16", **flags: Any) -> dict[str, Any]:
    return {"B": b, "H": h, "HK": hk, "N": n, "D": d, "ragged": False, "dtype": dtype, **flags}


KERNEL = Kernel(
    name="flash_decoding",
    entry=flash_decoding_kernel,
    summary="Flash decoding: one query a sequence, KV cache split over workgroups, then reduced; GQA, any lengths",
    launch=launch,
    shapes={
        "llama70b_n8192": _case(8, 64, 8, 8192, 128),
        "llama70b_n131072": _case(1, 64, 8, 131072, 128),
        "llama8b_b64": _case(64, 32, 8, 4096, 128, "bf16"),
        "mha_n4096": _case(16, 32, 32, 4096, 128),
        "mqa_n16384": _case(4, 32, 1, 16384, 128),
        "ragged": _case(32, 32, 8, 8192, 128, ragged=True),
        "d64": _case(8, 32, 8, 8192, 64),
        "d256": _case(4, 8, 8, 4096, 256),
    },
    config={"BLOCK_N": 64, "SPLITS": 8, "num_warps": 4, "num_stages": 2, "waves_per_eu": 2},
    shape_config=shape_config,
    gpu_config=gpu_config,
    configs=[
        {"BLOCK_N": 64},
        {"BLOCK_N": 128},
        {"BLOCK_N": 64, "num_stages": 1},
        {"BLOCK_N": 32, "num_warps": 2},
    ],
    space={
        "BLOCK_N": (16, 32, 64, 128),
        "SPLITS": (1, 2, 4, 8, 16, 32, 64, 128),
        "num_warps": (1, 2, 4, 8),
        "num_stages": (1, 2, 3),
        "waves_per_eu": (0, 1, 2, 4),
    },
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=flops,
    bytes=traffic,
    unsupported=unsupported,
    checks={
        "gqa": Check(_case(2, 4, 2, 100, 32, "fp32"), {"BLOCK_N": 16, "SPLITS": 3}),
        "mha": Check(_case(2, 2, 2, 64, 64), {"BLOCK_N": 32, "SPLITS": 2}),
        "mqa_bf16": Check(_case(1, 20, 1, 70, 32, "bf16"), {"BLOCK_N": 16, "SPLITS": 4}),
        "one_run": Check(_case(1, 2, 1, 50, 16), {"BLOCK_N": 32, "SPLITS": 1}),
        "ragged_and_empty": Check(_case(4, 4, 2, 90, 32, "fp32", ragged=True), {"BLOCK_N": 16, "SPLITS": 4}),
        "more_runs_than_blocks": Check(_case(1, 2, 2, 20, 32, "fp32"), {"BLOCK_N": 16, "SPLITS": 5}),
        "head_256": Check(_case(1, 2, 1, 40, 256), {"BLOCK_N": 16, "SPLITS": 2}),
    },
    parts={"reduce": Part(flash_decoding_reduce_kernel, launch_reduce)},
)
