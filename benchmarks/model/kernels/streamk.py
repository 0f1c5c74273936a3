"""Stream-K matrix product as ROCm's perf-kernels have it: persistent, with the last tiles shared by all workgroups.

``GRID`` workgroups. Whole tiles are done in turn; the tiles that do not fill a last round (all of them when there are
fewer than workgroups) are cut along K into equal shares, and a workgroup that has a tile's first share waits for
the others' partial sums, which go through memory. A (M x K) and B^T (N x K) are read along K.
Ours differs: workgroups are numbered by XCD as there, but the wait is on one flag for each workgroup, polled
without a limit of tries.
"""

import triton
import triton.language as tl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor


@triton.jit
def _place(tile, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    width = GROUP_M * tiles_n
    first = (tile // width) * GROUP_M
    height = min(tiles_m - first, GROUP_M)
    return first + (tile % width) % height, (tile % width) // height


@triton.jit
def streamk(
    A, B, C, partial, flags, M, N, K, a_stride, b_stride, c_stride, full, share, extra, last,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    GRID: tl.constexpr, XCDS: tl.constexpr, EVEN_K: tl.constexpr,
):  # fmt: skip
    """``full`` tiles whole; then ``share`` blocks of K for each workgroup, one more for the first ``extra`` ones."""
    pid = (tl.program_id(0) % XCDS) * (GRID // XCDS) + (tl.program_id(0) // XCDS)
    steps = tl.cdiv(K, BLOCK_K)
    depth = tl.arange(0, BLOCK_K)
    for tile in range(pid, full, GRID):
        pid_m, pid_n = _place(tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
        cols = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
        rows = tl.max_contiguous(tl.multiple_of(rows, BLOCK_M), BLOCK_M)
        cols = tl.max_contiguous(tl.multiple_of(cols, BLOCK_N), BLOCK_N)
        a_ptrs = A + rows[:, None] * a_stride + depth[None, :]
        b_ptrs = B + depth[:, None] + cols[None, :] * b_stride
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for step in range(steps):
            if EVEN_K:
                a = tl.load(tl.multiple_of(a_ptrs, (1, 16)))
                b = tl.load(tl.multiple_of(b_ptrs, (16, 1)))
            else:
                a = tl.load(a_ptrs, mask=depth[None, :] < K - step * BLOCK_K, other=0.0)
                b = tl.load(b_ptrs, mask=depth[:, None] < K - step * BLOCK_K, other=0.0)
            acc += tl.dot(a, b)
            a_ptrs += BLOCK_K
            b_ptrs += BLOCK_K
        inside = (rows < M)[:, None] & (cols < N)[None, :]
        tl.store(C + rows[:, None] * c_stride + cols[None, :], acc.to(C.dtype.element_ty), mask=inside)

    at = full * steps + pid * share + tl.minimum(pid, extra)
    end = full * steps + (pid + 1) * share + tl.minimum(pid + 1, extra)
    while at < end:
        tile = at // steps
        begun = at % steps
        stop = tl.minimum(at + (steps - begun), end)
        pid_m, pid_n = _place(tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
        cols = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
        rows = tl.max_contiguous(tl.multiple_of(rows, BLOCK_M), BLOCK_M)
        cols = tl.max_contiguous(tl.multiple_of(cols, BLOCK_N), BLOCK_N)
        a_ptrs = A + rows[:, None] * a_stride + depth[None, :] + begun * BLOCK_K
        b_ptrs = B + depth[:, None] + cols[None, :] * b_stride + begun * BLOCK_K
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for step in range(at, stop):
            if EVEN_K:
                a = tl.load(tl.multiple_of(a_ptrs, (1, 16)))
                b = tl.load(tl.multiple_of(b_ptrs, (16, 1)))
            else:
                left = K - (step % steps) * BLOCK_K
                a = tl.load(a_ptrs, mask=depth[None, :] < left, other=0.0)
                b = tl.load(b_ptrs, mask=depth[:, None] < left, other=0.0)
            acc += tl.dot(a, b)
            a_ptrs += BLOCK_K
            b_ptrs += BLOCK_K
        inner_m = tl.arange(0, BLOCK_M)
        inner_n = tl.arange(0, BLOCK_N)
        if begun != 0:
            place = partial + pid * BLOCK_M * BLOCK_N + inner_m[:, None] * BLOCK_N + inner_n[None, :]
            tl.store(place, acc, cache_modifier=".wt")
            tl.debug_barrier()
            tl.atomic_xchg(flags + pid, 1)
        else:
            following = pid + 1
            reached = stop
            while (reached < (tile + 1) * steps) & (following < last):
                while tl.atomic_cas(flags + following, 1, 1) != 1:
                    pass
                place = partial + following * BLOCK_M * BLOCK_N + inner_m[:, None] * BLOCK_N + inner_n[None, :]
                acc += tl.load(place, cache_modifier=".cv")
                reached += share + (following < extra).to(tl.int32)
                following += 1
            inside = (rows < M)[:, None] & (cols < N)[None, :]
            tl.store(C + rows[:, None] * c_stride + cols[None, :], acc.to(C.dtype.element_ty), mask=inside)
        at = stop


def launch(shape: Shape, config: Config) -> Launch:
    """``GRID`` workgroups, as many as CUs."""
    m, n, k, grid = shape["M"], shape["N"], shape["K"], config["GRID"]
    tiles = triton.cdiv(m, config["BLOCK_M"]) * triton.cdiv(n, config["BLOCK_N"])
    over = tiles % grid
    blocks = over * triton.cdiv(k, config["BLOCK_K"])
    args = {
        "A": Tensor("fp16", (m, k)),
        "B": Tensor("fp16", (n, k)),
        "C": Tensor("fp16", (m, n)),
        "partial": Tensor("fp32", (grid, config["BLOCK_M"], config["BLOCK_N"])),
        "flags": Tensor("i32", (grid,)),
        "M": m,
        "N": n,
        "K": k,
        "a_stride": k,
        "b_stride": k,
        "c_stride": n,
        "full": tiles - over,
        "share": blocks // grid,
        "extra": blocks % grid,
        "last": grid,
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "GRID")},
        "XCDS": 8,
        "EVEN_K": k % config["BLOCK_K"] == 0,
    }
    return Launch(args, (grid,))


KERNEL = Kernel(
    name="streamk",
    entry=streamk,
    summary="Stream-K matrix product with the partial sums added in the kernel",
    launch=launch,
    shapes={"8k": {"M": 8192, "N": 8192, "K": 8192}},
    config={
        "BLOCK_M": 256,
        "BLOCK_N": 256,
        "BLOCK_K": 64,
        "GROUP_M": 8,
        "GRID": 304,
        "num_warps": 8,
        "num_stages": 2,
        "waves_per_eu": 0,
        "matrix_instr_nonkdim": 16,
        "kpack": 2,
    },
)
