"""Matrix product with one workgroup a tile, as ROCm's ``tune_gemm`` times it: ``GROUP_M`` columns, optional split-K.

fp16; A (M x K) row-major; B along K (layout ``TN``) or row-major (``TT``). Split-K adds the parts with atomics.
Ours differs: no numbering by XCD, because the published tables do not say which of the two forms was timed.
"""

import triton
import triton.language as tl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor


@triton.jit
def tune_gemm(
    A, B, C, M, N, K, a_stride, b_depth, b_col, c_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    SPLIT_K: tl.constexpr, EVEN_K: tl.constexpr,
):  # fmt: skip
    """C = A B, each of ``SPLIT_K`` workgroups with every ``SPLIT_K``-th block of K."""
    pid = tl.program_id(0)
    split = tl.program_id(1)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    if GROUP_M == 1:
        pid_m = pid // tiles_n
        pid_n = pid % tiles_n
    else:
        width = GROUP_M * tiles_n
        first = (pid // width) * GROUP_M
        height = min(tiles_m - first, GROUP_M)
        pid_m = first + (pid % height)
        pid_n = (pid % width) // height
    depth = split * BLOCK_K + tl.arange(0, BLOCK_K)
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    cols = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    a_ptrs = A + rows[:, None] * a_stride + depth[None, :]
    b_ptrs = B + depth[:, None] * b_depth + cols[None, :] * b_col
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K * SPLIT_K)):
        if EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            a = tl.load(a_ptrs, mask=depth[None, :] < K - k * BLOCK_K * SPLIT_K, other=0.0)
            b = tl.load(b_ptrs, mask=depth[:, None] < K - k * BLOCK_K * SPLIT_K, other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K * SPLIT_K
        b_ptrs += BLOCK_K * SPLIT_K * b_depth
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    places = C + rows[:, None] * c_stride + cols[None, :]
    inside = (rows < M)[:, None] & (cols < N)[None, :]
    if SPLIT_K == 1:
        tl.store(places, acc.to(C.dtype.element_ty), mask=inside)
    else:
        tl.atomic_add(places, acc.to(C.dtype.element_ty), mask=inside)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per tile and part of K."""
    m, n, k, rows = shape["M"], shape["N"], shape["K"], shape["trans_b"]
    args = {
        "A": Tensor("fp16", (m, k)),
        "B": Tensor("fp16", (n, k)),
        "C": Tensor("fp16", (m, n)),
        "M": m,
        "N": n,
        "K": k,
        "a_stride": k,
        "b_depth": 1 if rows else n,
        "b_col": k if rows else 1,
        "c_stride": n,
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "SPLIT_K")},
        "EVEN_K": k % (config["BLOCK_K"] * config["SPLIT_K"]) == 0,
    }
    return Launch(args, (triton.cdiv(m, config["BLOCK_M"]) * triton.cdiv(n, config["BLOCK_N"]), config["SPLIT_K"]))


KERNEL = Kernel(
    name="tune_gemm",
    entry=tune_gemm,
    summary="Matrix product as tune_gemm has it",
    launch=launch,
    shapes={"8k": {"M": 8192, "N": 8192, "K": 8192, "trans_b": True}},
    config={
        "BLOCK_M": 256,
        "BLOCK_N": 256,
        "BLOCK_K": 64,
        "GROUP_M": 4,
        "SPLIT_K": 1,
        "num_warps": 8,
        "num_stages": 2,
        "waves_per_eu": 0,
        "matrix_instr_nonkdim": 16,
        "kpack": 2,
    },
)
