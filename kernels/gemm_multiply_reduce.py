"""Matrix product for tiles too small for the matrix unit: multiply and reduce, without ``tl.dot``.

A tile has 1 to 8 rows and columns, nothing is rounded up to 16. Both operands are loaded with K along the lanes, 16
bytes each, as (rows, 1, K) and (1, columns, K): they broadcast against each other where they are, so nothing goes
through LDS. The products stay spread over the lanes while K goes by; one reduction at the end adds them up.

For a C with at least 16 rows and columns ``gemm`` is faster.
"""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Check, Config, Kernel, Launch, Shape, Tensor, execute, rounding, size_of, torch_dtype


@triton.jit
def gemm_multiply_reduce_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    bias_ptr,
    M,
    N,
    K,
    a_stride_m,
    b_stride_n,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    EVEN: tl.constexpr,
    ACC: tl.constexpr,
):
    tiles_m = tl.cdiv(M, BLOCK_M)
    m_first = tl.program_id(0) % tiles_m * BLOCK_M
    n_first = tl.program_id(0) // tiles_m * BLOCK_N
    row = tl.arange(0, BLOCK_M)[:, None, None]
    col = tl.arange(0, BLOCK_N)[None, :, None]
    depth = tl.arange(0, BLOCK_K)[None, None, :]
    # Uniform 64-bit parts go to the bases; the lanes' offsets stay within 32 bits.
    a_ptrs = a_ptr + m_first.to(tl.int64) * a_stride_m + row * a_stride_m + depth
    b_ptrs = b_ptr + n_first.to(tl.int64) * b_stride_n + col * b_stride_n + depth

    products = tl.zeros([BLOCK_M, BLOCK_N, BLOCK_K], ACC)
    for k_first in range(0, K, BLOCK_K):
        if EVEN:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            live_k = k_first + depth < K
            a = tl.load(a_ptrs, mask=live_k & (m_first + row < M), other=0.0)
            b = tl.load(b_ptrs, mask=live_k & (n_first + col < N), other=0.0)
        products += a.to(ACC) * b.to(ACC)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    total = tl.sum(products, axis=2)

    c_row = m_first + tl.arange(0, BLOCK_M)
    c_col = n_first + tl.arange(0, BLOCK_N)
    if bias_ptr is not None:
        total += tl.load(bias_ptr + c_col, mask=c_col < N, other=0)[None, :].to(ACC)
    c_ptrs = c_ptr + c_row.to(tl.int64)[:, None] * N + c_col[None, :]
    tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=(c_row < M)[:, None] & (c_col < N)[None, :])


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for each tile of C; tiles that share columns of B are adjacent."""
    m, n, k = shape["M"], shape["N"], shape["K"]
    bm, bn, bk = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
    args = {
        "a_ptr": Tensor(shape["dtype"], (m, k)),
        "b_ptr": Tensor(shape["dtype"], (n, k)),
        "c_ptr": Tensor(shape["out"], (m, n)),
        "bias_ptr": Tensor(shape["out"], (n,)) if shape["bias"] else None,
        "M": m,
        "N": n,
        "K": k,
        "a_stride_m": k,
        "b_stride_n": k,
        "BLOCK_M": bm,
        "BLOCK_N": bn,
        "BLOCK_K": bk,
        "EVEN": m % bm == 0 and n % bn == 0 and k % bk == 0,
        "ACC": tl.int32 if shape["dtype"] in {"i8", "i32"} else tl.float32,
    }
    return Launch(args, (triton.cdiv(m, bm) * triton.cdiv(n, bn),))


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``c`` (M x N) of ``a`` (M x K), ``b`` (N x K) and ``bias`` (N)."""
    import torch

    c = torch.empty(shape["M"], shape["N"], device=inputs["a"].device, dtype=torch_dtype(shape["out"]))
    tensors = {"a_ptr": inputs["a"], "b_ptr": inputs["b"], "c_ptr": c, "bias_ptr": inputs.get("bias")}
    execute(gemm_multiply_reduce_kernel, launch(shape, config), tensors, config)
    return {"c": c}


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs, or integers from -8 to 7 for int8 and int32."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    sizes = {"a": (shape["M"], shape["K"]), "b": (shape["N"], shape["K"])}
    if shape["bias"]:
        sizes["bias"] = (shape["N"],)
    whole = shape["dtype"] in {"i8", "i32"}
    made = {}
    for name, size in sizes.items():
        kind = torch_dtype(shape["out"] if name == "bias" else shape["dtype"])
        values = (
            torch.randint(-8, 8, size, device=device, generator=generator)
            if whole
            else torch.randn(size, device=device, generator=generator)
        )
        made[name] = values.to(kind)
    return made


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the result in float64."""
    c = inputs["a"].double() @ inputs["b"].double().T
    return {"c": c + inputs["bias"].double() if shape["bias"] else c}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    They cover the rounding of the result and of a float32 sum of K products of size 1. Integers are exact.
    """
    if shape["dtype"] in {"i8", "i32"}:
        return 0.0, 0.5
    relative, absolute = rounding(shape["out"])
    return relative + 2.0**-23, absolute + shape["K"] * 2.0**-23


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic: A, B and the bias are read once, and C is written once."""
    m, n, k = shape["M"], shape["N"], shape["K"]
    return (m + n) * k * size_of(shape["dtype"]) + (m * n + n * shape["bias"]) * size_of(shape["out"])


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why the products of a tile do not fit the registers, or None if they fit."""
    lanes = config["num_warps"] * (32 if arch.startswith("gfx1") else 64)
    registers = config["BLOCK_M"] * config["BLOCK_N"] * config["BLOCK_K"] // lanes
    return f"the products take {registers} registers per lane" if registers > 128 else None


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return tiles for one wavefront with 16 bytes of K per lane.

    A tile has as many rows as A, rounded up to a power of two, but at most 4. Each lane computes 32 or 64 products.
    """
    lanes = 32 if arch.startswith("gfx1") else 64
    per_lane = 16 // size_of(shape["dtype"])
    rows = min(4, triton.next_power_of_2(shape["M"]))
    products = 32 if rows == 1 else 64
    return {"BLOCK_M": rows, "BLOCK_N": max(1, products // (rows * per_lane)), "BLOCK_K": lanes * per_lane}


def _case(m: int, n: int, k: int, dtype: str = "fp16", out: str | None = None, *, bias: bool = False) -> dict[str, Any]:
    return {"M": m, "N": n, "K": k, "dtype": dtype, "out": out or dtype, "bias": bias}


KERNEL = Kernel(
    name="gemm_multiply_reduce",
    entry=gemm_multiply_reduce_kernel,
    summary="Matrix product for tiny tiles: explicit multiply and reduce, no matrix instructions",
    launch=launch,
    shapes={
        "row": _case(1, 8192, 28672),
        "row_bf16": _case(1, 8192, 28672, "bf16"),
        "two_rows": _case(2, 16384, 16384),
        "four_rows": _case(4, 4096, 4096),
        "tiny": _case(8, 8, 65536, "fp32"),
        "odd": _case(1, 23, 3079),
        "int8": _case(1, 8192, 8192, "i8", "i32"),
        "biased": _case(1, 4096, 4096, bias=True),
    },
    config={"BLOCK_M": 1, "BLOCK_N": 8, "BLOCK_K": 512, "num_warps": 1, "num_stages": 2, "waves_per_eu": 0},
    shape_config=shape_config,
    configs=[
        {"BLOCK_N": 4},
        {"BLOCK_N": 16},
        {"BLOCK_N": 4, "BLOCK_K": 2048, "num_warps": 4},
        {"BLOCK_N": 8, "BLOCK_K": 1024, "num_warps": 2},
        {"BLOCK_N": 8, "BLOCK_K": 256},
    ],
    space={
        "BLOCK_M": (1, 2, 4, 8),
        "BLOCK_N": (1, 2, 4, 8, 16),
        "BLOCK_K": (128, 256, 512, 1024, 2048),
        "num_warps": (1, 2, 4, 8),
        "waves_per_eu": (0, 2, 4),
    },
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=lambda shape: 2 * shape["M"] * shape["N"] * shape["K"],
    bytes=traffic,
    checks={
        "even": Check(_case(2, 16, 256, "fp32"), {"BLOCK_M": 2, "BLOCK_N": 4, "BLOCK_K": 64}),
        "masked": Check(_case(3, 23, 131, "fp16"), {"BLOCK_M": 4, "BLOCK_N": 8, "BLOCK_K": 64}),
        "row_bf16": Check(_case(1, 31, 200, "bf16"), {"BLOCK_M": 1, "BLOCK_N": 4, "BLOCK_K": 128}),
        "bias": Check(_case(5, 12, 100, "bf16", bias=True), {"BLOCK_M": 2, "BLOCK_N": 2, "BLOCK_K": 128}),
        "int32": Check(_case(3, 9, 150, "i32", bias=True), {"BLOCK_M": 4, "BLOCK_N": 4, "BLOCK_K": 64}),
        "int8": Check(_case(2, 9, 150, "i8", "i32", bias=True), {"BLOCK_M": 2, "BLOCK_N": 4, "BLOCK_K": 64}),
    },
)
