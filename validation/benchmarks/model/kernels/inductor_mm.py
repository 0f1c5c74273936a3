"""Matrix products as PyTorch's Inductor generates them from its templates: ``mm``, ``addmm`` and ``bmm``.

Same tile order (columns of ``GROUP_M`` tiles), same wrapped row and column offsets, same mask on K, and sizes and
strides as constants in the code, which is how Inductor writes a static shape. Second operand: a transposed weight
matrix for ``mm`` and ``addmm``, keys with interleaved heads for ``bmm``. Ours differs: one function for the three,
and the bias of ``addmm`` is one row for all, as linear layers have it.
"""

import triton
import triton.language as tl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor


@triton.jit
def inductor_mm(
    A, B, bias, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    a_batch: tl.constexpr, a_row: tl.constexpr, b_batch: tl.constexpr, b_depth: tl.constexpr, b_col: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, EVEN_K: tl.constexpr,
):  # fmt: skip
    """Out [batch, M, N] = A [batch, M, K] B [batch, K, N] (+ bias [N])."""
    pid = tl.program_id(0)
    tiles_m = (M + BLOCK_M - 1) // BLOCK_M
    tiles_n = (N + BLOCK_N - 1) // BLOCK_N
    width = GROUP_M * tiles_n
    group = pid // width
    height = min(tiles_m - group * GROUP_M, GROUP_M)
    pid_m = group * GROUP_M + (pid % height)
    pid_n = (pid % width) // height
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    safe_rows = tl.max_contiguous(tl.multiple_of(rows % M, BLOCK_M), BLOCK_M)
    safe_cols = tl.max_contiguous(tl.multiple_of(cols % N, BLOCK_N), BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    batch = tl.program_id(1)
    a_ptrs = A + (safe_rows[:, None] * a_row + depth[None, :] + batch * a_batch)
    b_ptrs = B + (depth[:, None] * b_depth + safe_cols[None, :] * b_col + batch * b_batch)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(K, 0, -BLOCK_K):
        if EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            a = tl.load(a_ptrs, mask=depth[None, :] < k, other=0.0)
            b = tl.load(b_ptrs, mask=depth[:, None] < k, other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * b_depth
    # Rematerialised, as the template does to save registers.
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows < M)[:, None] & (cols < N)[None, :]
    if bias is not None:
        acc += tl.load(bias + tl.broadcast_to(cols[None, :], acc.shape), mask=inside).to(tl.float32)
    places = out + (cols[None, :] + N * rows[:, None] + batch * (M * N))
    tl.store(places, acc.to(out.dtype.element_ty), mask=inside)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per tile; the batch is the second dimension."""
    m, n, k, batch = shape["M"], shape["N"], shape["K"], shape["batch"]
    a_row, b_col = (k, k) if batch == 1 else (k * batch, k * batch)
    args = {
        "A": Tensor("bf16", (batch * m, k)),
        "B": Tensor("bf16", (batch * n, k)),
        "bias": Tensor("bf16", (n,)) if shape["bias"] else None,
        "out": Tensor("bf16", (batch, m, n)),
        "M": m,
        "N": n,
        "K": k,
        "a_batch": 0 if batch == 1 else k,
        "a_row": a_row,
        "b_batch": 0 if batch == 1 else k,
        "b_depth": 1,
        "b_col": b_col,
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M")},
        "EVEN_K": k % config["BLOCK_K"] == 0,
    }
    return Launch(args, (triton.cdiv(m, config["BLOCK_M"]) * triton.cdiv(n, config["BLOCK_N"]), batch))


KERNEL = Kernel(
    name="inductor_mm",
    entry=inductor_mm,
    summary="Inductor's mm, addmm and bmm templates",
    launch=launch,
    shapes={"mm": {"M": 197, "N": 3072, "K": 768, "batch": 1, "bias": False}},
    config={
        "BLOCK_M": 64,
        "BLOCK_N": 64,
        "BLOCK_K": 64,
        "GROUP_M": 8,
        "num_warps": 8,
        "num_stages": 2,
        "matrix_instr_nonkdim": 16,
    },
)
