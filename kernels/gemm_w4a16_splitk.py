"""Matrix product of 16-bit activations and 4-bit weights with a scale and a zero point for each group of K, split-K.

For decoding, few rows are multiplied with a large weight matrix that is read once, so 4 bits per weight give 4 times
the speed. The weights of a column lie along K, four to a 16-bit word (eight to a 32-bit word is the same in memory).

Weights are unpacked in registers without a conversion instruction: a nibble or-ed into the bits of 1024.0 (bfloat16:
128.0) is the number 1024 + q, and subtracting 1024 + zero leaves q - zero exactly. The scale does not touch the weights
at all: it multiplies the sum over the group, which is BLOCK_K / BLOCK_M times less work and one rounding less.
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
    rounding,
    size_of,
    torch_dtype,
)


@triton.jit
def _weight(words, zero, NIBBLE: tl.constexpr, BFLOAT: tl.constexpr):
    """``q - zero`` of one nibble of each word, exact; ``zero`` is float32 and broadcasts."""
    nibble = (words >> (4 * NIBBLE)) & 0xF
    if BFLOAT:
        # Widening is a shift, and so is narrowing: whole numbers below 256 lose nothing.
        number = ((nibble | 0x4300).to(tl.int32) << 16).to(tl.float32, bitcast=True) - (128.0 + zero)
        weight = (number.to(tl.int32, bitcast=True) >> 16).to(tl.int16).to(tl.bfloat16, bitcast=True)
    else:
        weight = (nibble | 0x6400).to(tl.float16, bitcast=True) - (1024.0 + zero).to(tl.float16)
    return weight


@triton.jit
def _unpack(words, zero, BFLOAT: tl.constexpr):
    """``q - zero`` as (N, K) from (N, K / 4) words and (N, 1) zero points: each lane keeps what it loaded."""
    even = tl.join(_weight(words, zero, 0, BFLOAT), _weight(words, zero, 2, BFLOAT))
    odd = tl.join(_weight(words, zero, 1, BFLOAT), _weight(words, zero, 3, BFLOAT))
    return tl.reshape(tl.join(even, odd), [words.shape[0], 4 * words.shape[1]])


@triton.jit
def gemm_w4a16_splitk_kernel(
    a_ptr,
    words_ptr,
    scale_ptr,
    zero_ptr,
    out_ptr,
    M,
    N,
    K,
    words_stride,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    SPLIT_K: tl.constexpr,
    EVEN_M: tl.constexpr,
    EVEN_NK: tl.constexpr,
):
    tl.static_assert(GROUP % BLOCK_K == 0, "a block of K lies within one group")
    m_first = tl.program_id(2) * BLOCK_M
    n_first = tl.program_id(0) * BLOCK_N
    split = tl.program_id(1)
    steps = tl.cdiv(tl.cdiv(K, BLOCK_K), SPLIT_K)
    k_first = split * steps * BLOCK_K
    steps = tl.minimum(steps, tl.cdiv(K - k_first, BLOCK_K))

    row = m_first + tl.arange(0, BLOCK_M)
    col = tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    word = tl.arange(0, BLOCK_K // 4)
    live_n = n_first + col < N
    a_ptrs = a_ptr + row[:, None] * K + k_first + depth[None, :]
    words_ptr += n_first.to(tl.int64) * words_stride + k_first // 4
    words_ptrs = words_ptr + col[:, None] * words_stride + word[None, :]

    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for step in range(steps):
        k_now = k_first + step * BLOCK_K
        if EVEN_NK:
            words = tl.load(words_ptrs)
            a = tl.load(a_ptrs) if EVEN_M else tl.load(a_ptrs, mask=(row < M)[:, None], other=0.0)
        else:
            words = tl.load(words_ptrs, mask=live_n[:, None] & (k_now // 4 + word < words_stride)[None, :], other=0)
            a = tl.load(a_ptrs, mask=(row < M)[:, None] & (k_now + depth < K)[None, :], other=0.0)
        at = k_now // GROUP * N + n_first + col
        scale = tl.load(scale_ptr + at, mask=live_n, other=0.0).to(tl.float32)
        if zero_ptr is not None:
            zero = tl.load(zero_ptr + at, mask=live_n, other=0).to(tl.float32)
        else:
            zero = tl.full([BLOCK_N], 8.0, tl.float32)
        weights = _unpack(words, zero[:, None], a_ptr.dtype.element_ty == tl.bfloat16)
        acc += tl.dot(a, tl.trans(weights)) * scale[None, :]
        a_ptrs += BLOCK_K
        words_ptrs += BLOCK_K // 4

    out_ptrs = out_ptr + split * M * N + row[:, None] * N + n_first + col[None, :]
    tl.store(out_ptrs, acc.to(out_ptr.dtype.element_ty), mask=(row < M)[:, None] & live_n[None, :])


@triton.jit
def reduce_kernel(partial_ptr, out_ptr, n_elements, SPLIT_K: tl.constexpr, BLOCK: tl.constexpr):
    """Add the parts in order and round."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for _ in tl.static_range(SPLIT_K):
        total += tl.load(partial_ptr + at, mask=at < n_elements, other=0.0)
        partial_ptr += n_elements
    tl.store(out_ptr + at, total.to(out_ptr.dtype.element_ty), mask=at < n_elements)


def _storage(shape: Shape) -> dict[str, Tensor | None]:
    m, n, k, groups = shape["M"], shape["N"], shape["K"], triton.cdiv(shape["K"], shape["group"])
    return {
        "a_ptr": Tensor(shape["dtype"], (m, k)),
        "words_ptr": Tensor("i16", (n, k // 4)),
        "scale_ptr": Tensor(shape["dtype"], (groups, n)),
        "zero_ptr": Tensor("i8", (groups, n)) if shape["zeros"] else None,
        "out_ptr": Tensor(shape["dtype"], (m, n)),
    }


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch; the grid is (blocks of columns, parts of K, blocks of rows)."""
    m, n, k, split = shape["M"], shape["N"], shape["K"], config["SPLIT_K"]
    bm, bn, bk = config["BLOCK_M"], config["BLOCK_N"], min(config["BLOCK_K"], shape["group"])
    args: dict[str, Any] = {
        **_storage(shape),
        "M": m,
        "N": n,
        "K": k,
        "words_stride": k // 4,
        "GROUP": shape["group"],
        "BLOCK_M": bm,
        "BLOCK_N": bn,
        "BLOCK_K": bk,
        "SPLIT_K": split,
        "EVEN_M": m % bm == 0,
        "EVEN_NK": n % bn == 0 and k % (bk * split) == 0,
    }
    if split > 1:
        args["out_ptr"] = Tensor("fp32", (split, m, n))
    return Launch(args, (triton.cdiv(n, bn), split, triton.cdiv(m, bm)))


def launch_reduce(shape: Shape, config: Config) -> Launch:
    """Return the launch that adds the partial sums: one workgroup for 512 elements of the result."""
    m, n, split = shape["M"], shape["N"], max(2, config["SPLIT_K"])
    args = {
        "partial_ptr": Tensor("fp32", (split, m, n)),
        "out_ptr": Tensor(shape["dtype"], (m, n)),
        "n_elements": m * n,
        "SPLIT_K": split,
        "BLOCK": 512,
    }
    return Launch(args, (triton.cdiv(m * n, 512),))


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``out`` (M x N) of ``a`` (M x K), packed ``words`` (N x K/4), ``scale`` and ``zero`` (K/group x N)."""
    import torch

    split, device = config["SPLIT_K"], inputs["a"].device
    out = torch.empty(shape["M"], shape["N"], device=device, dtype=torch_dtype(shape["dtype"]))
    partial = torch.empty(split, *out.shape, device=device, dtype=torch.float32) if split > 1 else out
    tensors = {f"{name}_ptr": value for name, value in inputs.items()} | {"out_ptr": partial}
    execute(gemm_w4a16_splitk_kernel, launch(shape, config), tensors, config)
    if split > 1:
        execute(reduce_kernel, launch_reduce(shape, config), {"partial_ptr": partial, "out_ptr": out}, {"num_warps": 4})
    return {"out": out}


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed activations, random 4-bit weights, and zero points from 0 to 15.

    The scales are such that results are about 1.
    """
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    kind, memory = torch_dtype(shape["dtype"]), _storage(shape)
    sizes = {name: tensor.shape for name, tensor in memory.items() if tensor is not None}
    spread = 0.2 * shape["K"] ** -0.5
    made = {
        "a": torch.randn(sizes["a_ptr"], device=device, generator=generator).to(kind),
        "words": torch.randint(-(2**15), 2**15, sizes["words_ptr"], device=device, generator=generator).short(),
        "scale": (spread * (0.5 + torch.rand(sizes["scale_ptr"], device=device, generator=generator))).to(kind),
    }
    if shape["zeros"]:
        made["zero"] = torch.randint(0, 16, sizes["zero_ptr"], device=device, generator=generator).to(torch.int8)
    return made


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the result in float64 from the unpacked weights."""
    import torch

    shift = torch.arange(0, 16, 4, device=inputs["words"].device)
    nibbles = ((inputs["words"].int()[:, :, None] >> shift) & 15).reshape(shape["N"], shape["K"])
    group = torch.arange(shape["K"], device=shift.device) // shape["group"]
    scale = inputs["scale"].double()[group].T
    zero = inputs["zero"].double()[group].T if shape["zeros"] else 8.0
    return {"out": inputs["a"].double() @ ((nibbles.double() - zero) * scale).T}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    They cover the rounding of the result and of a float32 sum of K products: K steps at 1 / sqrt(K) of the result's
    size.
    """
    relative, absolute = rounding(shape["dtype"])
    return relative + 2.0**-22, absolute + 4 * shape["K"] ** 0.5 * 2.0**-24


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic.

    Activations, packed weights, scales and zero points are read once, and the result is written once.
    """
    tensors = [tensor for tensor in _storage(shape).values() if tensor is not None]
    count = 0
    for tensor in tensors:
        elements = tensor.shape[0] * tensor.shape[1]
        count += elements * size_of(tensor.dtype)
    return count


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why a configuration is rejected, or None.

    Tiles must suit the matrix instructions, lie within groups of K and fit LDS, and K must have a block for each part.
    """
    m, n, k = config["BLOCK_M"], config["BLOCK_N"], min(config["BLOCK_K"], shape["group"])
    if min(m, n, k) < 16:
        return "tl.dot needs tiles of at least 16 in every direction"
    if shape["group"] % k:
        return f"blocks of {k} do not lie within groups of {shape['group']}"
    if k * config["SPLIT_K"] > max(shape["K"], k):
        return "more parts than K has blocks"
    if (m + n) * k * 2 > (163840 if arch == "gfx950" else 65536):
        return "the unpacked tiles do not fit LDS"
    return None


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return a tile with up to 64 rows, and enough parts of K to give each CU about four workgroups."""
    rows = min(64, max(16, triton.next_power_of_2(shape["M"])))
    tiles, split = triton.cdiv(shape["N"], 64) * triton.cdiv(shape["M"], rows), 1
    while tiles * split < 1024 and split < 16 and 128 * split * 4 <= shape["K"]:
        split *= 2
    # RDNA's matrix operands need twice the registers, so a block has half a group.
    found = {"BLOCK_M": rows, "SPLIT_K": split, "BLOCK_K": 64 if arch.startswith("gfx1") else 128}
    # With whole groups, loads that are not made an iteration ahead are the fastest by the model in all cases on MI300X.
    if arch == "gfx942" and shape["group"] >= 128:
        return {**found, "num_stages": 1, "kpack": 2}
    return found


def _case(m: int, n: int, k: int, dtype: str = "fp16", **flags: Any) -> dict[str, Any]:
    return {"M": m, "N": n, "K": k, "group": 128, "zeros": True, "dtype": dtype, **flags}


_SMALL = {"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 32, "SPLIT_K": 1}

KERNEL = Kernel(
    name="gemm_w4a16_splitk",
    entry=gemm_w4a16_splitk_kernel,
    summary="4-bit weights, 16-bit activations: group scales and zeros, unpacked in registers, split-K",
    launch=launch,
    shapes={
        "llama70b_qkv_m16": _case(16, 10240, 8192),
        "llama70b_qkv_m1": _case(1, 10240, 8192),
        "llama70b_gate_up_m16": _case(16, 57344, 8192),
        "llama70b_down_m16": _case(16, 8192, 28672),
        "llama70b_down_m32": _case(32, 8192, 28672),
        "llama8b_m1": _case(1, 4096, 4096),
        "llama8b_m16_bf16": _case(16, 4096, 4096, "bf16"),
        "symmetric": _case(16, 8192, 8192, zeros=False),
        "group_32": _case(16, 8192, 8192, group=32),
        "batch_256": _case(256, 8192, 8192, "bf16"),
    },
    config={
        "BLOCK_M": 16,
        "BLOCK_N": 64,
        "BLOCK_K": 128,
        "SPLIT_K": 8,
        "num_warps": 4,
        "num_stages": 2,
        "waves_per_eu": 0,
        "matrix_instr_nonkdim": 16,
    },
    shape_config=shape_config,
    configs=[
        {"BLOCK_N": 64, "SPLIT_K": 8},
        {"BLOCK_N": 32, "SPLIT_K": 8},
        {"BLOCK_N": 128, "SPLIT_K": 8},
        {"BLOCK_N": 64, "SPLIT_K": 4, "BLOCK_K": 64},
        {"BLOCK_N": 64, "SPLIT_K": 16, "num_warps": 2},
        {"BLOCK_N": 64, "SPLIT_K": 8, "num_stages": 1},
    ],
    space={
        "BLOCK_M": (16, 32, 64),
        "BLOCK_N": (16, 32, 64, 128),
        "BLOCK_K": (32, 64, 128),
        "SPLIT_K": (1, 2, 4, 8, 16),
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
    parts={"reduce": Part(reduce_kernel, launch_reduce, lambda _, config: config["SPLIT_K"] > 1, {"num_warps": 4})},
    checks={
        "even": Check(_case(16, 64, 128, group=32), _SMALL),
        "split": Check(_case(16, 32, 256, group=64), {**_SMALL, "SPLIT_K": 4}),
        "masked_rows": Check(_case(5, 40, 128), {**_SMALL, "BLOCK_K": 64}),
        "masked_k": Check(_case(16, 32, 144, group=64), {**_SMALL, "SPLIT_K": 2}),
        "bf16": Check(_case(9, 64, 128, "bf16", group=64), _SMALL),
        "symmetric": Check(_case(3, 32, 128, zeros=False), {**_SMALL, "SPLIT_K": 2}),
        "two_row_blocks": Check(_case(30, 32, 64, "bf16", group=32, zeros=False), _SMALL),
    },
)
