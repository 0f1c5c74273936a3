"""Stream-K matrix product as ROCm's perf-kernels have it: persistent, with the last tiles shared by all workgroups.

``GRID`` workgroups. Whole tiles are done in turn; the tiles that do not fill a last round (all of them when there are
fewer than workgroups) are cut along K into equal shares, and a workgroup that has a tile's first share waits for
the others' partial sums, which go through memory. A (M x K) is read along K, B along K or along N.
Ours differs, and is for compiling only: each flag is asked once instead of until it is set, and loops are written so
that their turns follow from the launch.
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
    A, B, C, partial, flags, M, N, K, a_stride, b_k_stride, b_stride, c_stride, full, share, extra,
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
        b_ptrs = B + depth[:, None] * b_k_stride + cols[None, :] * b_stride
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for _ in range(steps if EVEN_K else steps - 1):
            a = tl.load(tl.multiple_of(a_ptrs, (1, 16)))
            b = tl.load(tl.multiple_of(b_ptrs, (16, 1)))
            acc += tl.dot(a, b)
            a_ptrs += BLOCK_K
            b_ptrs += BLOCK_K * b_k_stride
        if not EVEN_K:
            left = K - (steps - 1) * BLOCK_K
            a = tl.load(tl.multiple_of(a_ptrs, (1, 16)), mask=depth[None, :] < left, other=0.0)
            b = tl.load(tl.multiple_of(b_ptrs, (16, 1)), mask=depth[:, None] < left, other=0.0)
            acc += tl.dot(a, b)
        inside = (rows < M)[:, None] & (cols < N)[None, :]
        tl.store(C + rows[:, None] * c_stride + cols[None, :], acc.to(C.dtype.element_ty), mask=inside)

    # This workgroup's run of blocks, all shared tiles' blocks being laid end to end.
    at = pid * share + tl.minimum(pid, extra)
    end = (pid + 1) * share + tl.minimum(pid + 1, extra)
    for shared in range(at // steps, (end + steps - 1) // steps):
        begun = tl.maximum(at, shared * steps)
        stop = tl.minimum(end, (shared + 1) * steps)
        pid_m, pid_n = _place(full + shared, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
        cols = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
        rows = tl.max_contiguous(tl.multiple_of(rows, BLOCK_M), BLOCK_M)
        cols = tl.max_contiguous(tl.multiple_of(cols, BLOCK_N), BLOCK_N)
        first = (begun - shared * steps) * BLOCK_K
        a_ptrs = A + rows[:, None] * a_stride + depth[None, :] + first
        b_ptrs = B + (depth[:, None] + first) * b_k_stride + cols[None, :] * b_stride
        a_ptrs = tl.multiple_of(a_ptrs, (1, 16))
        b_ptrs = tl.multiple_of(b_ptrs, (16, 1))
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for step in range(begun, stop):
            if EVEN_K:
                a = tl.load(tl.multiple_of(a_ptrs, (1, 16)))
                b = tl.load(tl.multiple_of(b_ptrs, (16, 1)))
            else:
                left = K - (step - shared * steps) * BLOCK_K
                a = tl.load(a_ptrs, mask=depth[None, :] < left, other=0.0)
                b = tl.load(b_ptrs, mask=depth[:, None] < left, other=0.0)
            acc += tl.dot(a, b)
            a_ptrs += BLOCK_K
            b_ptrs += BLOCK_K * b_k_stride
        inner_m = tl.arange(0, BLOCK_M)
        inner_n = tl.arange(0, BLOCK_N)
        if begun != shared * steps:
            place = partial + pid * BLOCK_M * BLOCK_N + inner_m[:, None] * BLOCK_N + inner_n[None, :]
            tl.store(place, acc, cache_modifier=".wt")
            tl.debug_barrier()
            tl.atomic_xchg(flags + pid, 1)
        else:
            # Whoever has the last block of this tile is the last to wait for.
            final = (shared + 1) * steps - 1
            whole = extra * (share + 1)
            last = tl.where(final < whole, final // (share + 1), extra + (final - whole) // tl.maximum(share, 1))
            for other in range(pid + 1, last + 1):
                tl.atomic_add(flags + other, 0)
                place = partial + other * BLOCK_M * BLOCK_N + inner_m[:, None] * BLOCK_N + inner_n[None, :]
                acc += tl.load(place, cache_modifier=".cv")
            inside = (rows < M)[:, None] & (cols < N)[None, :]
            tl.store(C + rows[:, None] * c_stride + cols[None, :], acc.to(C.dtype.element_ty), mask=inside)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: ``GRID`` workgroups, as many as CUs."""
    m, n, k, grid = shape["M"], shape["N"], shape["K"], config["GRID"]
    along = shape["trans_b"]
    tiles = triton.cdiv(m, config["BLOCK_M"]) * triton.cdiv(n, config["BLOCK_N"])
    over = tiles % grid
    blocks = over * triton.cdiv(k, config["BLOCK_K"])
    args = {
        "A": Tensor("fp16", (m, k)),
        "B": Tensor("fp16", (n, k) if along else (k, n)),
        "C": Tensor("fp16", (m, n)),
        "partial": Tensor("fp32", (grid, config["BLOCK_M"], config["BLOCK_N"])),
        "flags": Tensor("i32", (grid,)),
        "M": m,
        "N": n,
        "K": k,
        "a_stride": k,
        "b_k_stride": 1 if along else n,
        "b_stride": k if along else 1,
        "c_stride": n,
        "full": tiles - over,
        "share": blocks // grid,
        "extra": blocks % grid,
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
    shapes={"8k": {"M": 8192, "N": 8192, "K": 8192, "trans_b": True}},
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
