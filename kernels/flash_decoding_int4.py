"""Flash decoding on a 4-bit KV cache, dequantised in registers: a quarter of the bytes that 16 bits would take.

A byte holds two elements of one head's vector, half a head apart: element d in the low four bits, element d + D / 2 in
the high ones. Both halves of a tile then come from the same bytes of the same lane, with a mask and a shift, and no
value changes its lane. The products are done by halves too: scores add over the halves of the head, and the result
has an accumulator for each. Every half of a head of a token has its own scale and shift,
element = scale * (0 ... 15) + shift, in 16 bits.

With one query a head there are only B * HK independent tiles, far fewer than compute units, so each sequence's keys
are cut into ``SPLITS`` runs. A workgroup attends from all heads of a group to one run and leaves a normalised result
and its log-sum-exp; the reduction weighs the runs by exp(lse) and adds them up.

The rows of a tile are the heads that share a key head, padded to the 16 of the smallest matrix instruction, so the
cache is read once for every group size: N HK (D + 16) bytes a sequence, with scales and shifts.

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
def _halves(bytes_ptrs, scale_ptrs, shift_ptrs, live, kind: tl.constexpr):
    """The two halves of the heads' vectors of a block of tokens, (token, D / 2) each, dequantised.

    The scales of a token's two halves are read as one pair and then split: loads twice as wide, and each made once.
    """
    # bfloat16 has no arithmetic of its own on most architectures: float32 there, with one rounding at the end.
    WIDE: tl.constexpr = tl.float16 if kind == tl.float16 else tl.float32
    packed = tl.load(bytes_ptrs, mask=live[:, None], other=0)
    half = tl.arange(0, 2)[None, :]
    low_scale, high_scale = tl.split(tl.load(scale_ptrs[:, None] + half, mask=live[:, None], other=0.0).to(WIDE))
    low_shift, high_shift = tl.split(tl.load(shift_ptrs[:, None] + half, mask=live[:, None], other=0.0).to(WIDE))
    low = ((packed & 15).to(WIDE) * low_scale[:, None] + low_shift[:, None]).to(kind)
    high = ((packed >> 4).to(WIDE) * high_scale[:, None] + high_shift[:, None]).to(kind)
    return low, high


@triton.jit
def flash_decoding_int4_kernel(
    q_ptr, k_ptr, v_ptr, k_scale_ptr, k_shift_ptr, v_scale_ptr, v_shift_ptr, lengths_ptr, run_out_ptr, run_lse_ptr,
    scale, capacity, HK: tl.constexpr, GROUP: tl.constexpr, D: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """One run of one sequence for the heads of one group; grid: key heads, runs, sequences."""
    LOG2E: tl.constexpr = 1.4426950408889634
    HALF: tl.constexpr = D // 2
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
    at = (sequence.to(tl.int64) * capacity + begin) * HK + hk
    member = tl.arange(0, BLOCK_H)
    col = tl.arange(0, BLOCK_N)
    d = tl.arange(0, HALF)
    live_h = (member < GROUP)[:, None]
    head = sequence * (HK * GROUP) + hk * GROUP + member
    q_at = head[:, None] * D + d[None, :]
    q_low = tl.load(q_ptr + q_at, mask=live_h, other=0.0)
    q_high = tl.load(q_ptr + q_at + HALF, mask=live_h, other=0.0)
    bytes_at = col[:, None] * (HK * HALF) + d[None, :]
    k_ptrs = k_ptr + at * HALF + bytes_at
    v_ptrs = v_ptr + at * HALF + bytes_at
    pair = at * 2
    DTYPE: tl.constexpr = q_ptr.dtype.element_ty

    factor = scale * LOG2E
    acc_low = tl.zeros([BLOCK_H, HALF], tl.float32)
    acc_high = tl.zeros([BLOCK_H, HALF], tl.float32)
    total = tl.zeros([BLOCK_H], tl.float32)
    top = tl.full([BLOCK_H], -float("inf"), tl.float32)
    for start in range(0, end - begin, BLOCK_N):
        live = start + col < end - begin
        step = (start + col) * (HK * 2)
        k_low, k_high = _halves(
            k_ptrs + start * (HK * HALF), k_scale_ptr + pair + step, k_shift_ptr + pair + step, live, DTYPE
        )
        scores = tl.dot(q_low, tl.trans(k_low), input_precision="ieee")
        scores = tl.dot(q_high, tl.trans(k_high), scores, input_precision="ieee")
        scores = tl.where(live[None, :], scores, -float("inf"))
        # A block has a key at least, so the maximum is finite.
        new_top = tl.maximum(top, tl.max(scores, axis=1) * factor)
        p = tl.exp2(scores * factor - new_top[:, None])
        fade = tl.exp2(top - new_top)
        total = total * fade + tl.sum(p, axis=1)
        v_low, v_high = _halves(
            v_ptrs + start * (HK * HALF), v_scale_ptr + pair + step, v_shift_ptr + pair + step, live, DTYPE
        )
        weights = p.to(DTYPE)
        acc_low = tl.dot(weights, v_low, acc_low * fade[:, None], input_precision="ieee")
        acc_high = tl.dot(weights, v_high, acc_high * fade[:, None], input_precision="ieee")
        top = new_top

    # An empty run leaves zeros and a log-sum-exp of -inf, which weighs nothing in the reduction.
    total = tl.where(total > 0.0, total, 1.0)
    run = head * splits + split
    run_at = run[:, None] * D + d[None, :]
    tl.store(run_out_ptr + run_at, acc_low / total[:, None], mask=live_h)
    tl.store(run_out_ptr + run_at + HALF, acc_high / total[:, None], mask=live_h)
    tl.store(run_lse_ptr + run, top + tl.log2(total), mask=member < GROUP)


@triton.jit
def flash_decoding_int4_reduce_kernel(
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
        "k_ptr": Tensor("u8", (b, n, hk, d // 2)),
        "v_ptr": Tensor("u8", (b, n, hk, d // 2)),
        **{f"{x}_{kind}_ptr": Tensor(shape["dtype"], (b, n, hk, 2)) for x in "kv" for kind in ("scale", "shift")},
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


# By size of the heads, the fastest by the model over the cases: docs/validation/defaults.md.
_FASTEST: Mapping[tuple[str, int], Config] = {
    ("gfx942", 64): {"BLOCK_N": 64, "matrix_instr_nonkdim": 16, "num_stages": 2},
    ("gfx942", 128): {"BLOCK_N": 16, "matrix_instr_nonkdim": 16, "num_stages": 2},
    ("gfx950", 64): {"BLOCK_N": 32, "matrix_instr_nonkdim": 16, "num_stages": 2},
    ("gfx950", 128): {"BLOCK_N": 64, "matrix_instr_nonkdim": 16},
}


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return tiles for one wavefront per workgroup.

    The second product has the 16 rows of a group, which cannot be divided among wavefronts: each wavefront of a larger
    workgroup would dequantise all values. In 4 bits that work, rather than the reading, limits the kernel.
    """
    small = arch.startswith(("gfx10", "gfx11", "gfx12")) or shape["D"] > 128 or shape["H"] > 16 * shape["HK"]
    return {"BLOCK_N": 16 if small else 32, **({} if small else _FASTEST.get((arch, shape["D"]), {}))}


def gpu_config(shape: Shape, gpu: LaunchGpu) -> dict[str, Any]:
    """Return a number of runs for about eight workgroups of one wavefront per CU, but no runs below 256 keys."""
    wanted = max(1, 8 * gpu.compute_units // (shape["B"] * shape["HK"]))
    longest = max(1, shape["N"] // 256)
    return {"SPLITS": min(128, triton.next_power_of_2(min(wanted, longest)))}


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return the attention of ``q`` (B, H, D) to packed ``k``, ``v`` (B, N, HK, D / 2).

    Scales and shifts are (B, N, HK, 2), one for each half of a head. The results are ``out`` (B, H, D) and ``lse`` (B,
    H).
    """
    import torch

    q = inputs["q"]
    made = {"device": q.device, "dtype": torch.float32}
    outputs = {"out": torch.empty_like(q), "lse": torch.empty(q.shape[:2], **made)}
    tensors = {f"{name}_ptr": tensor for name, tensor in {**inputs, **outputs}.items()}
    tensors["run_out_ptr"] = torch.empty((*q.shape[:2], config["SPLITS"], q.shape[2]), **made)
    tensors["run_lse_ptr"] = torch.empty((*q.shape[:2], config["SPLITS"]), **made)
    execute(flash_decoding_int4_kernel, launch(shape, config), tensors, config)
    execute(flash_decoding_int4_reduce_kernel, launch_reduce(shape, config), tensors, config)
    return outputs


def cache_lengths(shape: Shape) -> list[int]:
    """Return the number of keys of each sequence: N, or if ``ragged`` is set, falling evenly from N to 0."""
    b, n = shape["B"], shape["N"]
    return [n * (b - 1 - index) // max(1, b - 1) if shape["ragged"] else n for index in range(b)]


def quantise(x: Any) -> tuple[Any, Any, Any]:
    """Return the packed bytes, scales and shifts of a (..., D) tensor.

    The 16 steps of each half of a head go from its least to its greatest element.
    """
    import torch

    halves = x.float().unflatten(-1, (2, -1))
    least, greatest = halves.amin(-1), halves.amax(-1)
    scale, shift = ((greatest - least) / 15).to(x.dtype), least.to(x.dtype)
    steps = (halves - shift.float()[..., None]) / scale.float()[..., None]
    low, high = steps.round().clamp(0, 15).to(torch.uint8).unbind(-2)
    return low | high << 4, scale, shift


def dequantise(packed: Any, scale: Any, shift: Any) -> Any:
    """Return the float64 (..., D) tensor of packed bytes, scales and shifts: the inverse of :func:`quantise`."""
    import torch

    halves = torch.stack([packed & 15, packed >> 4], dim=-2).double()
    return (halves * scale.double()[..., None] + shift.double()[..., None]).flatten(-2)


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs with a quantised cache.

    The scales behind a sequence's end are infinite; the kernel must not use them.
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
        result[name], scale, result[f"{name}_shift"] = quantise(cache)
        result[f"{name}_scale"] = scale.masked_fill_(unused[:, :, None, None], torch.inf)
    return result | {"lengths": lengths}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64 from the dequantised cache, one sequence at a time."""
    import torch

    q = inputs["q"]
    out = torch.zeros(q.shape, device=q.device, dtype=torch.float64)
    lse = torch.full(q.shape[:2], -torch.inf, device=q.device, dtype=torch.float64)
    for b, length in enumerate(cache_lengths(shape)):
        if length == 0:
            continue
        k, v = (dequantise(*(inputs[x + part][b, :length] for part in ("", "_scale", "_shift"))) for x in "kv")
        grouped = q[b].double().unflatten(0, (shape["HK"], -1))
        scores = torch.einsum("kgd,nkd->kgn", grouped, k) * shape["D"] ** -0.5
        out[b] = torch.einsum("kgn,nkd->kgd", scores.softmax(dim=2), v).flatten(0, 1)
        lse[b] = scores.logsumexp(dim=2).flatten()
    return {"out": out, "lse": lse}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    Elements are dequantised with two roundings to the dtype, and weights and results are rounded once, each with
    relative error u.

    The errors of a key's elements are independent: a score of D products of about 1, over sqrt(D), is off by 2 u or so,
    and its weight by as much again. With values up to 4, themselves off by 2 u, the result is off by less than 4 (2 u +
    u) + 4 u = 16 u; the float32 sums add a few 2**-20.
    """
    relative, _ = rounding(shape["dtype"])
    return relative + 2.0**-19, 16 * relative + 2.0**-19


def flops(shape: Shape) -> int:
    """Return the FLOPs: two products of 2 D per key and head."""
    return 4 * shape["H"] * shape["D"] * sum(cache_lengths(shape))


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic.

    The filled part of the cache with its scales is read once, q is read, and out is written. The partial results of the
    runs stay in the caches.
    """
    size = size_of(shape["dtype"])
    cache = 2 * sum(cache_lengths(shape)) * shape["HK"] * (shape["D"] // 2 + 4 * size)
    return cache + shape["B"] * (2 * shape["H"] * shape["D"] * size + 4 * (1 + shape["H"]))


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why the head size is not supported, or None. This kernel does not pad heads."""
    if shape["D"] < 32 or shape["D"] & (shape["D"] - 1):
        return f"head size {shape['D']} is not a power of two from 32, on {arch} as elsewhere"
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
    name="flash_decoding_int4",
    entry=flash_decoding_int4_kernel,
    summary="Flash decoding on a 4-bit KV cache, dequantised in registers; keys split, then reduced; GQA",
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
    config={"BLOCK_N": 32, "SPLITS": 8, "num_warps": 1, "num_stages": 1, "waves_per_eu": 2},
    shape_config=shape_config,
    gpu_config=gpu_config,
    configs=[
        {"BLOCK_N": 64},
        {"BLOCK_N": 32},
        {"BLOCK_N": 32, "num_stages": 2},
        {"BLOCK_N": 64, "num_warps": 4},
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
        "one_run": Check(_case(1, 2, 1, 50, 32), {"BLOCK_N": 32, "SPLITS": 1}),
        "ragged_and_empty": Check(_case(4, 4, 2, 90, 32, "fp32", ragged=True), {"BLOCK_N": 16, "SPLITS": 4}),
        "more_runs_than_blocks": Check(_case(1, 2, 2, 20, 32, "fp32"), {"BLOCK_N": 16, "SPLITS": 5}),
        "head_256": Check(_case(1, 2, 1, 40, 256), {"BLOCK_N": 16, "SPLITS": 2}),
    },
    parts={"reduce": Part(flash_decoding_int4_reduce_kernel, launch_reduce)},
)
