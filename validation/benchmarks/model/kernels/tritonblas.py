"""Persistent matrix product with two pools of tiles: one for each XCD, then one shared by all.

Written to the algorithm, grid and layout of tritonBLAS's ``ws_hierarchical_matmul``: one workgroup a CU; 90 % of the
tiles are divided among the XCDs in contiguous runs, in columns of ``GROUP_M`` tiles; the rest is for whoever is done.
A (M x K) and B (K x N) are row-major.

Ours differs in one thing: there a workgroup draws its next tile from a counter in memory (an atomic addition for each
tile), here it takes every n-th tile of the pool, of the shared pool from the other end, so that workgroups that were
given fewer get those. With equal tiles both give each workgroup the same number; ours can be counted without
running it. ``STEAL`` is the drawing form, to compare the code that the two become.
"""

from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor

CUS, XCDS = 304, 8


@triton.jit
def _tile(
    tile, A, B, C, M, N, K, a_stride, b_stride: tl.constexpr, c_stride, tiles_m, tiles_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, MODIFIER: tl.constexpr,
):  # fmt: skip
    """One tile of C."""
    width = GROUP_M * tiles_n
    first = (tile // width) * GROUP_M
    height = min(tiles_m - first, GROUP_M)
    pid_m = first + (tile % width) % height
    pid_n = (tile % width) // height
    tl.assume(pid_m >= 0)
    tl.assume(pid_n >= 0)
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    cols = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    rows = tl.max_contiguous(tl.multiple_of(rows, BLOCK_M), BLOCK_M)
    cols = tl.max_contiguous(tl.multiple_of(cols, BLOCK_N), BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    a_ptrs = A + rows[:, None] * a_stride + depth[None, :]
    b_ptrs = B + depth[:, None] * b_stride + cols[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    steps = tl.cdiv(K, BLOCK_K)
    tl.assume(steps > 1)
    for _ in range(steps):
        a = tl.load(tl.multiple_of(a_ptrs, (1, 16)), cache_modifier=MODIFIER)
        b = tl.load(tl.multiple_of(b_ptrs, (1, 16)), cache_modifier=MODIFIER)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * b_stride
    c_ptrs = C + rows[:, None] * c_stride + cols[None, :]
    tl.store(c_ptrs, acc.to(C.dtype.element_ty), mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def persistent_matmul(
    A, B, C, local_counter, shared_counter, active, M, N, K, a_stride, b_stride: tl.constexpr, c_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, MODIFIER: tl.constexpr,
    GRID: tl.constexpr, XCDS: tl.constexpr, LOCAL: tl.constexpr, SHARED: tl.constexpr, STEAL: tl.constexpr,
):  # fmt: skip
    """C = A B: ``LOCAL`` tiles for each XCD, ``SHARED`` for all; a workgroup whose ``active`` is 0 does nothing."""
    pid = tl.program_id(0)
    xcd = pid % XCDS
    if tl.load(active + pid) == 0:
        return
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    if STEAL:
        counter = local_counter + xcd * 64
        drawn = tl.atomic_add(counter, 1, scope="gpu")
        while drawn < LOCAL:
            _tile(
                xcd * LOCAL + drawn, A, B, C, M, N, K, a_stride, b_stride, c_stride, tiles_m, tiles_n,
                BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, MODIFIER,
            )  # fmt: skip
            drawn = tl.atomic_add(counter, 1, scope="gpu")
        drawn = tl.atomic_add(shared_counter, 1, scope="gpu")
        while drawn < SHARED:
            _tile(
                XCDS * LOCAL + drawn, A, B, C, M, N, K, a_stride, b_stride, c_stride, tiles_m, tiles_n,
                BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, MODIFIER,
            )  # fmt: skip
            drawn = tl.atomic_add(shared_counter, 1, scope="gpu")
    else:
        for drawn in range(pid // XCDS, LOCAL, GRID // XCDS):
            _tile(
                xcd * LOCAL + drawn, A, B, C, M, N, K, a_stride, b_stride, c_stride, tiles_m, tiles_n,
                BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, MODIFIER,
            )  # fmt: skip
        for drawn in range(GRID - 1 - pid, SHARED, GRID):
            _tile(
                XCDS * LOCAL + drawn, A, B, C, M, N, K, a_stride, b_stride, c_stride, tiles_m, tiles_n,
                BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, MODIFIER,
            )  # fmt: skip


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per CU, regardless of the size."""
    m, n, k = shape["M"], shape["N"], shape["K"]
    blocks = {name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M")}
    tiles = triton.cdiv(m, config["BLOCK_M"]) * triton.cdiv(n, config["BLOCK_N"])
    local = max(1, int(tiles * config["LOCAL_SHARE"]) // XCDS)
    args: dict[str, Any] = {
        "A": Tensor("bf16", (m, k)),
        "B": Tensor("bf16", (k, n)),
        "C": Tensor("bf16", (m, n)),
        "local_counter": Tensor("i32", (XCDS * 64,)),
        "shared_counter": Tensor("i32", (64,)),
        "active": Tensor("i32", (CUS,)),
        "M": m,
        "N": n,
        "K": k,
        "a_stride": k,
        "b_stride": n,
        "c_stride": n,
        **blocks,
        "MODIFIER": config["MODIFIER"],
        "GRID": CUS,
        "XCDS": XCDS,
        "LOCAL": local,
        "SHARED": tiles - local * XCDS,
        "STEAL": config["STEAL"],
    }
    return Launch(args, (CUS,))


KERNEL = Kernel(
    name="tritonblas",
    entry=persistent_matmul,
    summary="Persistent matrix product, tiles by XCD and then for all, as tritonBLAS has it",
    launch=launch,
    shapes={"12288": {"M": 12288, "N": 12288, "K": 12288}},
    config={
        "BLOCK_M": 256,
        "BLOCK_N": 256,
        "BLOCK_K": 64,
        "GROUP_M": 4,
        "MODIFIER": "",
        "LOCAL_SHARE": 0.9,
        "STEAL": False,
        "num_warps": 8,
        "num_stages": 2,
        "waves_per_eu": 0,
        "matrix_instr_nonkdim": 16,
        "kpack": 1,
    },
)
