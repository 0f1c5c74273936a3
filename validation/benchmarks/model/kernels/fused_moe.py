"""Mixture-of-experts matrix product as vLLM's ``fused_moe_kernel`` does it: rows gathered by expert.

Tokens are sorted by expert and padded to whole blocks; every block of rows multiplies with its expert's weights
[E, N, K]. bf16, or FP8 with one scale for A and one for each expert. Ours differs: ``GROUP_M`` is a number of the
launch instead of a constant, so that one compile serves all; the routing weights are left out; the grid has only
the blocks that have rows (there further workgroups end at once).
"""

import triton
import triton.language as tl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor


@triton.jit(do_not_specialize=["GROUP_M", "n_rows", "padded"])
def fused_moe(
    A, B, C, a_scale, b_scale, sorted_rows, experts, n_padded, N, K, padded, n_rows, top_k,
    a_row, b_expert, b_col, c_row, GROUP_M,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, FP8: tl.constexpr,
):  # fmt: skip
    """C [rows, N] = A [tokens, K] gathered, times the weights of each row's expert."""
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(padded, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    width = GROUP_M * tiles_n
    first = (pid // width) * GROUP_M
    height = min(tiles_m - first, GROUP_M)
    pid_m = first + ((pid % width) % height)
    pid_n = (pid % width) // height
    if pid_m * BLOCK_M >= tl.load(n_padded):
        return
    rows = tl.load(sorted_rows + pid_m * BLOCK_M + tl.arange(0, BLOCK_M).to(tl.int64)).to(tl.int64)
    live = rows < n_rows
    expert = tl.load(experts + pid_m).to(tl.int64)
    cols = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)) % N
    depth = tl.arange(0, BLOCK_K)
    a_ptrs = A + (rows[:, None] // top_k * a_row + depth[None, :])
    b_ptrs = B + expert * b_expert + (depth[:, None] + cols[None, :] * b_col)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=live[:, None] & (depth[None, :] < K - k * BLOCK_K), other=0.0)
        b = tl.load(b_ptrs, mask=depth[:, None] < K - k * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc=acc) if FP8 else acc + tl.dot(a, b)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    if FP8:
        acc *= tl.load(a_scale) * tl.load(b_scale + expert)
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    places = C + c_row * rows[:, None] + columns[None, :]
    tl.store(places, acc.to(C.dtype.element_ty), mask=live[:, None] & (columns[None, :] < N))


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per block of rows and columns; ``blocks`` maps BLOCK_M to the row blocks."""
    n, k, experts, rows = shape["N"], shape["K"], shape["E"], shape["rows"]
    fp8 = shape["dtype"].startswith("fp8")
    blocks = shape["blocks"][config["BLOCK_M"]]
    args = {
        "A": Tensor(shape["dtype"], (rows // shape["top_k"], k)),
        "B": Tensor(shape["dtype"], (experts, n, k)),
        "C": Tensor("bf16", (rows, n)),
        "a_scale": Tensor("fp32", (1,)) if fp8 else None,
        "b_scale": Tensor("fp32", (experts,)) if fp8 else None,
        "sorted_rows": Tensor("i32", (blocks * config["BLOCK_M"],)),
        "experts": Tensor("i32", (blocks,)),
        "n_padded": Tensor("i32", (1,)),
        "N": n,
        "K": k,
        "padded": blocks * config["BLOCK_M"],
        "n_rows": rows,
        "top_k": shape["top_k"],
        "a_row": k,
        "b_expert": n * k,
        "b_col": k,
        "c_row": n,
        "GROUP_M": config["GROUP_M"],
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")},
        "FP8": fp8,
    }
    return Launch(args, (blocks * triton.cdiv(n, config["BLOCK_N"]),))


KERNEL = Kernel(
    name="fused_moe",
    entry=fused_moe,
    summary="Mixture-of-experts matrix product as vLLM has it",
    launch=launch,
    shapes={
        "mixtral": {
            "E": 8,
            "N": 3584,
            "K": 4096,
            "rows": 128,
            "top_k": 2,
            "dtype": "bf16",
            "blocks": {16: 12, 32: 8, 64: 8, 128: 8, 256: 8},
        }
    },
    config={
        "BLOCK_M": 16,
        "BLOCK_N": 64,
        "BLOCK_K": 128,
        "GROUP_M": 1,
        "num_warps": 4,
        "num_stages": 2,
        "waves_per_eu": 0,
        "matrix_instr_nonkdim": 0,
        "kpack": 1,
    },
)
