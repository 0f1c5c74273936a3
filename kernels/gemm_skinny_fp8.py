"""Matrix product for decoding: 1 to 32 rows of activations against a large 8-bit float weight matrix.

Every weight is read once and used M times, so the speed of reading them decides. K is split over workgroups
because N alone gives too few of them; a second kernel adds the parts in a fixed order, scales and rounds.

Nothing is padded in memory, and rows that do not exist are never fetched. From 3 rows up the product runs on the matrix
unit in tiles of 16 or 32 rows. Their spare rows cost no time: while an MI300X reads weights at its full bandwidth, 16
rows keep its matrix units busy for 7 % of it. For 1 or 2 rows the product is an explicit multiplication of just these;
the sums stay spread over the lanes and are reduced once at the end.
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
    Part,
    Shape,
    Tensor,
    execute,
    no_fp8,
    rounding,
    size_of,
    torch_dtype,
)


@triton.jit
def gemm_skinny_fp8_kernel(
    a_ptr,
    b_ptr,
    out_ptr,
    a_scale_ptr,
    b_scale_ptr,
    M,
    N,
    K,
    a_stride,
    b_stride,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    SPLIT_K: tl.constexpr,
    EVEN_M: tl.constexpr,
    EVEN_NK: tl.constexpr,
    PER_CHANNEL: tl.constexpr,
):
    n_first = tl.program_id(0) * BLOCK_N
    split = tl.program_id(1)
    steps = tl.cdiv(tl.cdiv(K, BLOCK_K), SPLIT_K)
    k_first = split * steps * BLOCK_K
    steps = tl.minimum(steps, tl.cdiv(K - k_first, BLOCK_K))
    a_ptr += k_first
    b_ptr += n_first.to(tl.int64) * b_stride + k_first

    row = tl.arange(0, BLOCK_M)
    col = tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    if BLOCK_M >= 16:
        a_ptrs = a_ptr + row[:, None] * a_stride + depth[None, :]
        b_ptrs = b_ptr + depth[:, None] + col[None, :] * b_stride
        acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
        for step in range(steps):
            live_k = k_first + step * BLOCK_K + depth < K
            if EVEN_NK:
                b = tl.load(b_ptrs)
                a = tl.load(a_ptrs) if EVEN_M else tl.load(a_ptrs, mask=(row < M)[:, None], other=0.0)
            else:
                b = tl.load(b_ptrs, mask=live_k[:, None] & (n_first + col < N)[None, :], other=0.0)
                a = tl.load(a_ptrs, mask=(row < M)[:, None] & live_k[None, :], other=0.0)
            acc = tl.dot(a, b, acc, max_num_imprecise_acc=0)
            a_ptrs += BLOCK_K
            b_ptrs += BLOCK_K
    else:
        a_ptrs = a_ptr + row[:, None, None] * a_stride + depth[None, None, :]
        b_ptrs = b_ptr + col[None, :, None] * b_stride + depth[None, None, :]
        products = tl.zeros([BLOCK_M, BLOCK_N, BLOCK_K], tl.float32)
        for step in range(steps):
            live_k = (k_first + step * BLOCK_K + depth < K)[None, None, :]
            if EVEN_NK:
                b = tl.load(b_ptrs)
                a = tl.load(a_ptrs) if EVEN_M else tl.load(a_ptrs, mask=(row < M)[:, None, None], other=0.0)
            else:
                b = tl.load(b_ptrs, mask=live_k & (n_first + col < N)[None, :, None], other=0.0)
                a = tl.load(a_ptrs, mask=live_k & (row < M)[:, None, None], other=0.0)
            products += a.to(tl.float32) * b.to(tl.float32)
            a_ptrs += BLOCK_K
            b_ptrs += BLOCK_K
        acc = tl.sum(products, axis=2)

    live = (row < M)[:, None] & (n_first + col < N)[None, :]
    if SPLIT_K == 1:
        if PER_CHANNEL:
            a_scale = tl.load(a_scale_ptr + row, mask=row < M, other=0.0)
            b_scale = tl.load(b_scale_ptr + n_first + col, mask=n_first + col < N, other=0.0)
            acc = acc * a_scale[:, None] * b_scale[None, :]
        else:
            acc = acc * (tl.load(a_scale_ptr) * tl.load(b_scale_ptr))
    out_ptrs = out_ptr + split * M * N + row[:, None] * N + n_first + col[None, :]
    tl.store(out_ptrs, acc.to(out_ptr.dtype.element_ty), mask=live)


@triton.jit
def reduce_kernel(
    partial_ptr,
    out_ptr,
    a_scale_ptr,
    b_scale_ptr,
    M,
    N,
    SPLIT_K: tl.constexpr,
    PER_CHANNEL: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Add the parts of one row in order, scale them, round them."""
    row = tl.program_id(1)
    col = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = col < N
    total = tl.zeros([BLOCK], tl.float32)
    for split in tl.static_range(SPLIT_K):
        total += tl.load(partial_ptr + (split * M + row) * N + col, mask=live, other=0.0)
    if PER_CHANNEL:
        total = total * tl.load(a_scale_ptr + row) * tl.load(b_scale_ptr + col, mask=live, other=0.0)
    else:
        total = total * tl.load(a_scale_ptr) * tl.load(b_scale_ptr)
    tl.store(out_ptr + row * N + col, total.to(out_ptr.dtype.element_ty), mask=live)


def _storage(shape: Shape) -> dict[str, Tensor]:
    m, n, k = shape["M"], shape["N"], shape["K"]
    channels = (m, n) if shape["per_channel"] else (1, 1)
    return {
        "a_ptr": Tensor(shape["dtype"], (m, k)),
        "b_ptr": Tensor(shape["dtype"], (n, k)),
        "out_ptr": Tensor(shape["out"], (m, n)),
        "a_scale_ptr": Tensor("fp32", channels[:1]),
        "b_scale_ptr": Tensor("fp32", channels[1:]),
    }


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: a workgroup for ``BLOCK_N`` columns and a part of K; the grid is (N / BLOCK_N, SPLIT_K).

    Each workgroup computes all rows.
    """
    m, n, k, split = shape["M"], shape["N"], shape["K"], config["SPLIT_K"]
    args = {
        **_storage(shape),
        "M": m,
        "N": n,
        "K": k,
        "a_stride": k,
        "b_stride": k,
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "SPLIT_K")},
        "EVEN_M": config["BLOCK_M"] == m,
        "EVEN_NK": n % config["BLOCK_N"] == 0 and k % (config["BLOCK_K"] * split) == 0,
        "PER_CHANNEL": shape["per_channel"],
    }
    if split > 1:
        args["out_ptr"] = Tensor("fp32", (split, m, n))
    return Launch(args, (triton.cdiv(n, config["BLOCK_N"]), split))


def launch_reduce(shape: Shape, config: Config) -> Launch:
    """Return the launch that adds the partial sums: one workgroup for 512 columns of a row."""
    m, n, split = shape["M"], shape["N"], max(2, config["SPLIT_K"])
    args = {
        **{name: tensor for name, tensor in _storage(shape).items() if name not in {"a_ptr", "b_ptr"}},
        "partial_ptr": Tensor("fp32", (split, m, n)),
        "M": m,
        "N": n,
        "SPLIT_K": split,
        "PER_CHANNEL": shape["per_channel"],
        "BLOCK": 512,
    }
    return Launch(args, (triton.cdiv(n, 512), m))


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``out`` (M x N) of ``a`` (M x K), ``b`` (N x K) and their float32 scales.

    Raises:
        ValueError: the configuration has fewer rows than the shape.
    """
    import torch

    if shape["M"] > config["BLOCK_M"]:
        raise ValueError(f"{shape['M']} rows do not fit BLOCK_M={config['BLOCK_M']}")
    split, device = config["SPLIT_K"], inputs["a"].device
    out = torch.empty(shape["M"], shape["N"], device=device, dtype=torch_dtype(shape["out"]))
    partial = torch.empty(split, *out.shape, device=device, dtype=torch.float32) if split > 1 else out
    tensors = {f"{name}_ptr": value for name, value in inputs.items()}
    execute(gemm_skinny_fp8_kernel, launch(shape, config), tensors | {"out_ptr": partial}, config)
    if split > 1:
        tensors |= {"partial_ptr": partial, "out_ptr": out}
        execute(reduce_kernel, launch_reduce(shape, config), tensors, {"num_warps": 4})
    return {"out": out}


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed values rounded to 8 bits, and scales around 1 and 1 / sqrt(K).

    The results are then about 1.
    """
    import torch

    generator = torch.Generator(device).manual_seed(seed)

    def scales(like: Tensor, size: float) -> Any:
        return size * (0.5 + torch.rand(like.shape, device=device, generator=generator))

    memory, kind = _storage(shape), torch_dtype(shape["dtype"])
    return {
        "a": torch.randn(memory["a_ptr"].shape, device=device, generator=generator).to(kind),
        "b": torch.randn(memory["b_ptr"].shape, device=device, generator=generator).to(kind),
        "a_scale": scales(memory["a_scale_ptr"], 1.0),
        "b_scale": scales(memory["b_scale_ptr"], shape["K"] ** -0.5),
    }


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the result in float64."""
    a = inputs["a"].double() * inputs["a_scale"].double()[:, None]
    return {"out": a @ (inputs["b"].double() * inputs["b_scale"].double()[:, None]).T}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    They cover the rounding of the result and of a float32 sum of K exact products: K steps at 1 / sqrt(K) of the
    result's size.
    """
    relative, absolute = rounding(shape["out"])
    return relative + 2.0**-22, absolute + 4 * shape["K"] ** 0.5 * 2.0**-24 * 2.25


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic: weights, activations and scales are read once, the result is written once."""
    m, n, k = shape["M"], shape["N"], shape["K"]
    scales = 4 * (m + n if shape["per_channel"] else 2)
    return (m + n) * k * size_of(shape["dtype"]) + m * n * size_of(shape["out"]) + scales


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why the architecture does not support the 8-bit float type, or None if it does."""
    return no_fp8(arch, shape["dtype"])


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why a configuration is rejected, or None.

    It may have too few rows or too many parts of K, or its tiles may fit neither the matrix unit nor LDS nor registers.
    """
    m, n, k = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
    if shape["M"] > m:
        return f"{shape['M']} rows do not fit BLOCK_M={m}"
    if m >= 16 and min(n, k) < 16:
        return "tl.dot needs tiles of at least 16 in every direction"
    lanes = config["num_warps"] * (32 if arch.startswith("gfx1") else 64)
    if m < 16 and m * n * k > 128 * lanes:
        return f"the products take {m * n * k // lanes} registers per lane"
    if ((m + n) * max(0, config["num_stages"] - 1) or max(m, n)) * k > (
        163840 if arch == "gfx950" else 65536
    ) and m >= 16:
        return "the tiles do not fit LDS"
    if k * config["SPLIT_K"] > max(shape["K"], k):
        return "more parts than K has blocks"
    return None


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return a tile without unused rows, and enough parts of K to give each CU about sixteen wavefronts.

    The explicit product has one wavefront per workgroup and 16 bytes of each row per lane. Both operands then arrive in
    the lanes that multiply them, and nothing goes through LDS.
    """
    m, rdna = shape["M"], arch.startswith("gfx1")
    if m > 2 or rdna:
        # On gfx12, Triton converts 8-bit floats in software, so the matrix unit is faster even for one row.
        block_m = max(16, triton.next_power_of_2(m))
        tile = {"BLOCK_N": 64, "BLOCK_K": 128 if rdna else 256, "num_warps": 4}
        if arch == "gfx950" and m <= 16 and shape["K"] >= 8192:
            # Half the columns and one more tile loaded ahead: 6 to 16 % faster by the model over these cases.
            return {"BLOCK_M": block_m, **tile, "BLOCK_N": 32, "SPLIT_K": 8, "num_stages": 3}
    else:
        block_m = m
        tile = {"BLOCK_N": 4 // m, "BLOCK_K": 1024, "num_warps": 1}
    waves, split = triton.cdiv(shape["N"], tile["BLOCK_N"]) * tile["num_warps"], 1
    while waves * split < 4096 and split < 16 and tile["BLOCK_K"] * split * 4 <= shape["K"]:
        split *= 2
    return {"BLOCK_M": block_m, **tile, "SPLIT_K": split}


def _case(m: int, n: int, k: int, **flags: Any) -> dict[str, Any]:
    return {"M": m, "N": n, "K": k, "dtype": "fp8_e4m3", "out": "bf16", "per_channel": False, **flags}


_SMALL = {"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 64, "SPLIT_K": 1}

KERNEL = Kernel(
    name="gemm_skinny_fp8",
    entry=gemm_skinny_fp8_kernel,
    summary="FP8 matrix product for 1 to 32 rows: split-K, no padded rows, scales by tensor or channel",
    launch=launch,
    # Projections of Llama 3.1 405B on eight GPUs: QKV, gate and up, down.
    shapes={
        "llama405b_qkv_m16": _case(16, 2304, 16384),
        "llama405b_qkv_m1": _case(1, 2304, 16384),
        "llama405b_qkv_m8": _case(8, 2304, 16384),
        "llama405b_qkv_m32": _case(32, 2304, 16384),
        "llama405b_gate_up_m1": _case(1, 13312, 16384),
        "llama405b_gate_up_m8": _case(8, 13312, 16384),
        "llama405b_gate_up_m16": _case(16, 13312, 16384),
        "llama405b_gate_up_m32": _case(32, 13312, 16384),
        "llama405b_down_m1": _case(1, 16384, 6656),
        "llama405b_down_m8": _case(8, 16384, 6656),
        "llama405b_down_m16": _case(16, 16384, 6656),
        "llama405b_down_m32": _case(32, 16384, 6656),
        "per_channel": _case(16, 8192, 8192, per_channel=True),
        "bf8": _case(16, 2304, 16384, dtype="fp8_e5m2"),
    },
    config={
        "BLOCK_M": 16,
        "BLOCK_N": 64,
        "BLOCK_K": 256,
        "SPLIT_K": 8,
        "num_warps": 4,
        "num_stages": 2,
        "waves_per_eu": 0,
        "matrix_instr_nonkdim": 16,
    },
    shape_config=shape_config,
    configs=[
        {"BLOCK_N": 64, "BLOCK_K": 256, "SPLIT_K": 16},
        {"BLOCK_N": 32, "BLOCK_K": 256, "SPLIT_K": 8},
        {"BLOCK_N": 32, "BLOCK_K": 512, "SPLIT_K": 8},
        {"BLOCK_N": 16, "BLOCK_K": 512, "SPLIT_K": 4},
        {"BLOCK_N": 64, "BLOCK_K": 128, "SPLIT_K": 16},
        {"BLOCK_N": 64, "BLOCK_K": 256, "SPLIT_K": 16, "num_warps": 2},
    ],
    space={
        "BLOCK_M": (1, 2, 4, 16, 32),
        "BLOCK_N": (4, 8, 16, 32, 64, 128),
        "BLOCK_K": (64, 128, 256, 512, 1024),
        "SPLIT_K": (1, 2, 4, 8, 16, 32),
        "num_warps": (1, 2, 4, 8),
        "num_stages": (1, 2, 3),
        "waves_per_eu": (0, 2, 4),
        "matrix_instr_nonkdim": (16, 32),
        "kpack": (1, 2),
    },
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=lambda shape: 2 * shape["M"] * shape["N"] * shape["K"],
    bytes=traffic,
    unsupported=unsupported,
    parts={"reduce": Part(reduce_kernel, launch_reduce, lambda _, config: config["SPLIT_K"] > 1, {"num_warps": 4})},
    checks={
        "m16": Check(_case(16, 64, 128), _SMALL),
        "m9_split": Check(_case(9, 64, 512), {**_SMALL, "SPLIT_K": 4}),
        "m32_masked": Check(_case(27, 50, 200), {**_SMALL, "BLOCK_M": 32, "SPLIT_K": 2}),
        "m1": Check(_case(1, 32, 256), {"BLOCK_M": 1, "BLOCK_N": 8, "BLOCK_K": 64, "SPLIT_K": 2}),
        "m3_masked": Check(_case(3, 30, 200), {"BLOCK_M": 4, "BLOCK_N": 8, "BLOCK_K": 64, "SPLIT_K": 1}),
        "per_channel": Check(_case(5, 64, 128, per_channel=True), _SMALL),
        "per_channel_split": Check(_case(2, 40, 256, per_channel=True, out="fp16"), {**_SMALL, "SPLIT_K": 2}),
        "e5m2_ocp": Check(_case(16, 32, 128, dtype="fp8e5", out="fp32"), _SMALL),
    },
)
