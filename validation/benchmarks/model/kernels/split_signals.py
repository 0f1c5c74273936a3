"""Matrix product whose parts of K are added up in the result itself, as FlyDSL's bf16 kernels do it on CDNA 4.

A (M x K) row-major, B read along K, C row-major, bf16. The first workgroup that comes to a tile sets it to zero and
signals that; each one, with its part of K done, waits for the signal, counts itself off and adds with atomics.
Workgroups have their tile by the grid's first axis, row by row, and their part of K by the second. Ours differs: the
signal is asked for once, and the counters are not set back.
"""

import triton
import triton.language as tl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor


@triton.jit(do_not_specialize=["M"])
def split_signals(
    A, B, C, signals, M, N, K, a_row, b_col, c_row, part,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EVEN_K: tl.constexpr,
):  # fmt: skip
    """C [M, N] = A B."""
    tile = tl.program_id(0)
    begin = tl.program_id(1) * part
    tiles_n = tl.cdiv(N, BLOCK_N)
    pid_m = tile // tiles_n
    pid_n = tile % tiles_n
    out_rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (out_rows[:, None] < M) & (out_cols[None, :] < N)
    places = C + out_rows.to(tl.int64)[:, None] * c_row + out_cols[None, :]
    ready = signals + tl.num_programs(0) + tile
    if tl.atomic_add(signals + tile, 1, sem="relaxed") == 0:
        tl.store(places, tl.zeros((BLOCK_M, BLOCK_N), C.dtype.element_ty), mask=inside)
        tl.debug_barrier()
        tl.store(ready, 1)
    depth = tl.arange(0, BLOCK_K)
    a_ptrs = A + (out_rows % M)[:, None] * a_row + (begin + depth)[None, :]
    b_ptrs = B + (begin + depth)[:, None] + (out_cols % N)[None, :] * b_col
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    span = tl.minimum(part, K - begin)
    for k in range(tl.cdiv(span, BLOCK_K)):
        if EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            a = tl.load(a_ptrs, mask=depth[None, :] < span - k * BLOCK_K, other=0.0)
            b = tl.load(b_ptrs, mask=depth[:, None] < span - k * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    signal = tl.load(ready, volatile=True)
    count = tl.atomic_add(signals + tile, signal, sem="relaxed")
    tl.atomic_add(places, acc.to(C.dtype.element_ty), mask=inside & (count >= 0), sem="relaxed")


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per tile and part of K."""
    m, n, k, count, block = shape["M"], shape["N"], shape["K"], config["SPLIT_K"], config["BLOCK_K"]
    part = triton.cdiv(triton.cdiv(k, count), block) * block
    tiles = triton.cdiv(m, config["BLOCK_M"]) * triton.cdiv(n, config["BLOCK_N"])
    args = {
        "A": Tensor("bf16", (m, k)),
        "B": Tensor("bf16", (n, k)),
        "C": Tensor("bf16", (m, n)),
        "signals": Tensor("i32", (2 * tiles,)),
        "M": m,
        "N": n,
        "K": k,
        "a_row": k,
        "b_col": k,
        "c_row": n,
        "part": part,
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")},
        "EVEN_K": k % part == 0,
    }
    return Launch(args, (tiles, triton.cdiv(k, part)))


KERNEL = Kernel(
    name="split_signals",
    entry=split_signals,
    summary="Matrix product, parts of K added up behind a signal",
    launch=launch,
    shapes={"512x1024x7168": {"M": 512, "N": 1024, "K": 7168}},
    config={"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "SPLIT_K": 4, "num_warps": 4, "num_stages": 3},
)
