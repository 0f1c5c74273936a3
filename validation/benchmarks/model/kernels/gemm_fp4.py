"""Matrix product of 4-bit floats with a scale for every 32 along K (MXFP4), with the knobs of AITER's kernel.

A (M x K / 2 bytes) and the weights (N x K / 2 bytes) are read along K, two values a byte; scales are E8M0, one byte for
32 values. Split K as in ``gemm_split``, whose ``reduce`` adds the parts.
Ours differs: ``GROUP_M``, ``SPLIT`` and the sizes are numbers of the launch that the compiler does not look at.
"""

from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor


@triton.jit(do_not_specialize=["M", "N", "GROUP_M", "SPLIT"])
def gemm_fp4(
    A, B, C, a_scale, b_scale, M, N, K, a_row, b_col, c_row, c_part, a_scale_row, b_scale_row, GROUP_M, SPLIT, part,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EVEN_K: tl.constexpr, MODIFIER: tl.constexpr,
    XCDS: tl.constexpr,
):  # fmt: skip
    """C [SPLIT, M, N] = A B, parts of K apart; ``K`` and ``part`` count values."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    pid = tl.program_id(0)
    if XCDS != 1:
        total = tiles_m * tiles_n * SPLIT
        xcd = pid % XCDS
        pid = xcd * (total // XCDS) + tl.minimum(xcd, total % XCDS) + pid // XCDS
    split = pid % SPLIT
    pid = pid // SPLIT
    width = GROUP_M * tiles_n
    first = (pid // width) * GROUP_M
    height = min(tiles_m - first, GROUP_M)
    pid_m = first + (pid % width) % height
    pid_n = (pid % width) // height
    tl.assume(pid_m >= 0)
    tl.assume(pid_n >= 0)
    tl.assume(split >= 0)
    begin = split * part
    if begin < K:
        packed = tl.arange(0, BLOCK_K // 2)
        scaled = tl.arange(0, BLOCK_K // 32)
        rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
        cols = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
        a_ptrs = A + rows[:, None] * a_row + (begin // 2 + packed)[None, :]
        b_ptrs = B + (begin // 2 + packed)[:, None] + cols[None, :] * b_col
        a_scales = a_scale + rows[:, None] * a_scale_row + (begin // 32 + scaled)[None, :]
        b_scales = b_scale + cols[:, None] * b_scale_row + (begin // 32 + scaled)[None, :]
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        span = tl.minimum(part, K - begin)
        for k in range(tl.cdiv(span, BLOCK_K)):
            by_row = tl.load(a_scales)
            by_col = tl.load(b_scales, cache_modifier=MODIFIER)
            if EVEN_K:
                a = tl.load(a_ptrs)
                b = tl.load(b_ptrs, cache_modifier=MODIFIER)
            else:
                a = tl.load(a_ptrs, mask=packed[None, :] < (span - k * BLOCK_K) // 2, other=0)
                b = tl.load(b_ptrs, mask=packed[:, None] < (span - k * BLOCK_K) // 2, other=0, cache_modifier=MODIFIER)
            acc = tl.dot_scaled(a, by_row, "e2m1", b, by_col, "e2m1", acc)
            a_ptrs += BLOCK_K // 2
            b_ptrs += BLOCK_K // 2
            a_scales += BLOCK_K // 32
            b_scales += BLOCK_K // 32
        rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M).to(tl.int64)
        cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)
        places = C + rows[:, None] * c_row + cols[None, :] + split * c_part
        tl.store(places, acc.to(C.dtype.element_ty), mask=(rows[:, None] < M) & (cols[None, :] < N))


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per tile and part of K."""
    m, n, k = shape["M"], shape["N"], shape["K"]
    count, block = config["SPLIT_K"], config["BLOCK_K"]
    length = triton.cdiv(k, count)
    if length % block and count > 1:
        length = triton.cdiv(length, block) * block
    split = triton.cdiv(k, length)
    args: dict[str, Any] = {
        "A": Tensor("u8", (m, k // 2)),
        "B": Tensor("u8", (n, k // 2)),
        "C": Tensor("fp32" if split > 1 else "bf16", (split * m, n)),
        "a_scale": Tensor("u8", (m, k // 32)),
        "b_scale": Tensor("u8", (n, k // 32)),
        "M": m,
        "N": n,
        "K": k,
        "a_row": k // 2,
        "b_col": k // 2,
        "c_row": n,
        "c_part": m * n if split > 1 else 0,
        "a_scale_row": k // 32,
        "b_scale_row": k // 32,
        "GROUP_M": config["GROUP_M"],
        "SPLIT": split,
        "part": length,
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "MODIFIER")},
        "EVEN_K": k % length == 0 and length % block == 0,
        "XCDS": shape["xcds"],
    }
    tiles = triton.cdiv(m, config["BLOCK_M"]) * triton.cdiv(n, config["BLOCK_N"])
    return Launch(args, (tiles * split,))


KERNEL = Kernel(
    name="gemm_fp4",
    entry=gemm_fp4,
    summary="Matrix product of MXFP4 with AITER's knobs",
    launch=launch,
    shapes={"qkv": {"M": 64, "N": 8192, "K": 8192, "xcds": 8}},
    config={
        "BLOCK_M": 32,
        "BLOCK_N": 64,
        "BLOCK_K": 256,
        "GROUP_M": 1,
        "SPLIT_K": 1,
        "MODIFIER": "",
        "num_warps": 4,
        "num_stages": 2,
        "waves_per_eu": 0,
        "matrix_instr_nonkdim": 16,
        "kpack": 1,
    },
)
