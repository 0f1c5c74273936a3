"""FP8 matrix product with a scale for every 1 x 128 block of A and 128 x 128 block of B, as vLLM does it.

A (M x K) and B^T (N x K) are read along K; after each block of K the product is scaled and added up in float32.
Ours differs: ``GROUP_M`` is a number of the launch instead of a constant, so that one compile serves all, and the
compiler is not told whether M and the rows of scales divide by 16.
"""

import triton
import triton.language as tl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor


@triton.jit(do_not_specialize=["GROUP_M", "M", "a_scale_row", "b_scale_row"])
def block_fp8(
    A, B, C, a_scale, b_scale, M, N, K, a_row, b_col, c_row, a_scale_row, b_scale_row, GROUP_M,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, QUANT: tl.constexpr,
):  # fmt: skip
    """C [M, N] in bf16."""
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    width = GROUP_M * tiles_n
    first = (pid // width) * GROUP_M
    height = min(tiles_m - first, GROUP_M)
    pid_m = first + (pid % height)
    pid_n = (pid % width) // height
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    cols = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    depth = tl.arange(0, BLOCK_K)
    a_ptrs = A + (rows[:, None] * a_row + depth[None, :])
    b_ptrs = B + (depth[:, None] + cols[None, :] * b_col)
    a_scales = a_scale + rows * a_scale_row
    b_scales = b_scale + (cols // QUANT) * b_scale_row
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=depth[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=depth[:, None] < K - k * BLOCK_K, other=0.0)
        block = k * BLOCK_K // QUANT
        acc += tl.dot(a, b) * tl.load(a_scales + block)[:, None] * tl.load(b_scales + block)[None, :]
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    places = C + c_row * rows[:, None] + cols[None, :]
    tl.store(places, acc.to(C.dtype.element_ty), mask=(rows[:, None] < M) & (cols[None, :] < N))


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per tile."""
    m, n, k = shape["M"], shape["N"], shape["K"]
    args = {
        "A": Tensor("fp8e4b8", (m, k)),
        "B": Tensor("fp8e4b8", (n, k)),
        "C": Tensor("bf16", (m, n)),
        "a_scale": Tensor("fp32", (m, triton.cdiv(k, 128))),
        "b_scale": Tensor("fp32", (triton.cdiv(n, 128), triton.cdiv(k, 128))),
        "M": m,
        "N": n,
        "K": k,
        "a_row": k,
        "b_col": k,
        "c_row": n,
        "a_scale_row": triton.cdiv(k, 128),
        "b_scale_row": triton.cdiv(k, 128),
        "GROUP_M": config["GROUP_M"],
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")},
        "QUANT": 128,
    }
    return Launch(args, (triton.cdiv(m, config["BLOCK_M"]) * triton.cdiv(n, config["BLOCK_N"]),))


KERNEL = Kernel(
    name="block_fp8",
    entry=block_fp8,
    summary="FP8 matrix product with block scales as vLLM has it",
    launch=launch,
    shapes={"deepseek": {"M": 128, "N": 7168, "K": 2304}},
    config={
        "BLOCK_M": 32,
        "BLOCK_N": 64,
        "BLOCK_K": 128,
        "GROUP_M": 8,
        "num_warps": 4,
        "num_stages": 2,
        "waves_per_eu": 0,
        "matrix_instr_nonkdim": 16,
        "kpack": 1,
    },
)
