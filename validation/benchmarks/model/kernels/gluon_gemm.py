"""Matrix product in Gluon on CDNA 4: tiles go to LDS without registers, two buffers, operands read one tile ahead.

A (M x K) row-major, B read along K, C row-major, fp16, four wavefronts, a workgroup a tile. ``DESIGN`` is one of the
published ones: ``ahead``, an iteration for a tile of K; ``unrolled``, for two of them, so that none is copied;
``halves``, the columns of B in two halves, so that the operands of one are read while the other is multiplied;
``quarters``, the rows of A, too. Places in LDS are Triton's own choice for each tile, as in the report of the published
times. Ours differs: C is stored as the matrix unit leaves it.
"""

import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor


@gluon.constexpr_function
def _global(shared, shape):
    """Return the layout of fetches: a wavefront's 64 lanes fill 1,024 contiguous bytes of LDS."""
    bases = shared.offset_bases
    return gl.DistributedLinearLayout(
        reg_bases=bases[:3] + bases[11:], lane_bases=bases[3:9], warp_bases=bases[9:11], block_bases=[], shape=shape
    )


@gluon.jit
def _fetch(shared, base, offsets):
    gl.amd.cdna4.async_copy.buffer_load_to_shared(shared, base, offsets)


@gluon.jit
def _fill(a_lds, b_lds, a_base, b_base, a_places, b_places, BLOCK_K: gl.constexpr):
    """Fetch the first two steps of K; where A and B go on."""
    for buffer in gl.static_range(2):
        _fetch(a_lds.index(buffer), a_base, a_places)
        _fetch(b_lds.index(buffer), b_base, b_places)
        gl.amd.cdna4.async_copy.commit_group()
        a_base += BLOCK_K
        b_base += BLOCK_K
    return a_base, b_base


@gluon.jit
def _whole(
    a_lds, b_lds, a_base, b_base, a_places, b_places, acc, count: gl.constexpr, BLOCK_K: gl.constexpr,
    first: gl.constexpr, second: gl.constexpr,
):  # fmt: skip
    """The sum over K of a tile in one piece, the next step's operands read from LDS ahead."""
    a_base, b_base = _fill(a_lds, b_lds, a_base, b_base, a_places, b_places, BLOCK_K)
    gl.amd.cdna4.async_copy.wait_group(1)
    a = gl.amd.cdna4.async_copy.load_shared_relaxed(a_lds.index(0), first)
    b = gl.amd.cdna4.async_copy.load_shared_relaxed(b_lds.index(0), second)
    for k in range(count - 1):
        filled = k % 2
        acc = gl.amd.cdna3.mfma(a, b, acc)
        gl.amd.cdna4.async_copy.wait_group(0)
        more = k != count - 2
        gl.amd.cdna4.async_copy.buffer_load_to_shared(a_lds.index(filled), a_base, a_places, mask=more)
        gl.amd.cdna4.async_copy.buffer_load_to_shared(b_lds.index(filled), b_base, b_places, mask=more)
        gl.amd.cdna4.async_copy.commit_group()
        a = gl.amd.cdna4.async_copy.load_shared_relaxed(a_lds.index(1 - filled), first)
        b = gl.amd.cdna4.async_copy.load_shared_relaxed(b_lds.index(1 - filled), second)
        a_base += BLOCK_K
        b_base += BLOCK_K
    return gl.amd.cdna3.mfma(a, b, acc)


@gluon.jit
def _unrolled(
    a_lds, b_lds, a_base, b_base, a_places, b_places, acc, count: gl.constexpr, BLOCK_K: gl.constexpr,
    first: gl.constexpr, second: gl.constexpr,
):  # fmt: skip
    """As :func:`_whole`, two tiles of K in an iteration: operands are in two sets of registers in turns."""
    a_base, b_base = _fill(a_lds, b_lds, a_base, b_base, a_places, b_places, BLOCK_K)
    gl.amd.cdna4.async_copy.wait_group(1)
    a = a_lds.index(0).load(first)
    b = b_lds.index(0).load(second)
    for _ in range(0, count - 2, 2):
        for filled in gl.static_range(2):
            acc = gl.amd.cdna3.mfma(a, b, acc)
            gl.amd.cdna4.async_copy.wait_group(0)
            _fetch(a_lds.index(filled), a_base, a_places)
            _fetch(b_lds.index(filled), b_base, b_places)
            gl.amd.cdna4.async_copy.commit_group()
            a = a_lds.index(1 - filled).load(first)
            b = b_lds.index(1 - filled).load(second)
            a_base += BLOCK_K
            b_base += BLOCK_K
    acc = gl.amd.cdna3.mfma(a, b, acc)
    gl.amd.cdna4.async_copy.wait_group(0)
    a = a_lds.index(1).load(first)
    b = b_lds.index(1).load(second)
    return gl.amd.cdna3.mfma(a, b, acc)


@gluon.jit
def _halves(
    a_lds, b_lds, right_lds, a_base, b_base, a_places, b_places, right_places, acc, right, count: gl.constexpr,
    BLOCK_K: gl.constexpr, first: gl.constexpr, second: gl.constexpr,
):  # fmt: skip
    """The sums over K of a tile's left and right half in turns."""
    for buffer in gl.static_range(2):
        _fetch(a_lds.index(buffer), a_base, a_places)
        _fetch(b_lds.index(buffer), b_base, b_places)
        gl.amd.cdna4.async_copy.commit_group()
        _fetch(right_lds.index(buffer), b_base, right_places)
        gl.amd.cdna4.async_copy.commit_group()
        a_base += BLOCK_K
        b_base += BLOCK_K
    gl.amd.cdna4.async_copy.wait_group(3)
    a = a_lds.index(0).load(first)
    b = b_lds.index(0).load(second)
    for _ in range(0, count - 2, 2):
        for buffer in gl.static_range(2):
            acc = gl.amd.cdna3.mfma(a, b, acc)
            gl.amd.cdna4.async_copy.wait_group(2)
            b_right = right_lds.index(buffer).load(second)
            _fetch(a_lds.index(buffer), a_base, a_places)
            _fetch(b_lds.index(buffer), b_base, b_places)
            gl.amd.cdna4.async_copy.commit_group()
            right = gl.amd.cdna3.mfma(a, b_right, right)
            gl.amd.cdna4.async_copy.wait_group(2)
            a = a_lds.index(1 - buffer).load(first)
            b = b_lds.index(1 - buffer).load(second)
            _fetch(right_lds.index(buffer), b_base, right_places)
            gl.amd.cdna4.async_copy.commit_group()
            a_base += BLOCK_K
            b_base += BLOCK_K
    acc = gl.amd.cdna3.mfma(a, b, acc)
    gl.amd.cdna4.async_copy.wait_group(0)
    b_right = right_lds.index(0).load(second)
    right = gl.amd.cdna3.mfma(a, b_right, right)
    a = a_lds.index(1).load(first)
    b = b_lds.index(1).load(second)
    b_right = right_lds.index(1).load(second)
    acc = gl.amd.cdna3.mfma(a, b, acc)
    right = gl.amd.cdna3.mfma(a, b_right, right)
    return acc, right


@gluon.jit
def _quarters(
    top_lds, bottom_lds, left_lds, right_lds, a_base, b_base, top_places, bottom_places, left_places, right_places,
    sums, count: gl.constexpr, BLOCK_K: gl.constexpr, first: gl.constexpr, second: gl.constexpr,
):  # fmt: skip
    """The sums over K of a tile's four quarters in turns: each operand is read a turn before it is multiplied first."""
    top_left, bottom_left, top_right, bottom_right = sums
    for buffer in gl.static_range(2):
        _fetch(left_lds.index(buffer), b_base, left_places)
        gl.amd.cdna4.async_copy.commit_group()
        _fetch(top_lds.index(buffer), a_base, top_places)
        gl.amd.cdna4.async_copy.commit_group()
        _fetch(bottom_lds.index(buffer), a_base, bottom_places)
        gl.amd.cdna4.async_copy.commit_group()
        _fetch(right_lds.index(buffer), b_base, right_places)
        gl.amd.cdna4.async_copy.commit_group()
        a_base += BLOCK_K
        b_base += BLOCK_K
    gl.amd.cdna4.async_copy.wait_group(6)
    left = left_lds.index(0).load(second)
    top = top_lds.index(0).load(first)
    for _ in range(0, count - 2, 2):
        for buffer in gl.static_range(2):
            # Four fetches a step, and what is read next was fetched five of them ago.
            top_left = gl.amd.cdna3.mfma(top, left, top_left)
            gl.amd.cdna4.async_copy.wait_group(5)
            bottom = bottom_lds.index(buffer).load(first)
            _fetch(left_lds.index(buffer), b_base + buffer * BLOCK_K, left_places)
            gl.amd.cdna4.async_copy.commit_group()
            bottom_left = gl.amd.cdna3.mfma(bottom, left, bottom_left)
            gl.amd.cdna4.async_copy.wait_group(5)
            right = right_lds.index(buffer).load(second)
            _fetch(top_lds.index(buffer), a_base + buffer * BLOCK_K, top_places)
            gl.amd.cdna4.async_copy.commit_group()
            top_right = gl.amd.cdna3.mfma(top, right, top_right)
            gl.amd.cdna4.async_copy.wait_group(5)
            left = left_lds.index(1 - buffer).load(second)
            _fetch(bottom_lds.index(buffer), a_base + buffer * BLOCK_K, bottom_places)
            gl.amd.cdna4.async_copy.commit_group()
            bottom_right = gl.amd.cdna3.mfma(bottom, right, bottom_right)
            gl.amd.cdna4.async_copy.wait_group(5)
            top = top_lds.index(1 - buffer).load(first)
            _fetch(right_lds.index(buffer), b_base + buffer * BLOCK_K, right_places)
            gl.amd.cdna4.async_copy.commit_group()
        a_base += 2 * BLOCK_K
        b_base += 2 * BLOCK_K
    gl.amd.cdna4.async_copy.wait_group(0)
    for buffer in gl.static_range(2):
        bottom = bottom_lds.index(buffer).load(first)
        right = right_lds.index(buffer).load(second)
        top_left = gl.amd.cdna3.mfma(top, left, top_left)
        bottom_left = gl.amd.cdna3.mfma(bottom, left, bottom_left)
        top_right = gl.amd.cdna3.mfma(top, right, top_right)
        bottom_right = gl.amd.cdna3.mfma(bottom, right, bottom_right)
        if buffer == 0:
            left = left_lds.index(1).load(second)
            top = top_lds.index(1).load(first)
    return top_left, bottom_left, top_right, bottom_right


@gluon.jit
def gluon_gemm(
    A, B, C, M, N, K: gl.constexpr, a_row, b_col, c_row, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr,
    BLOCK_K: gl.constexpr, DESIGN: gl.constexpr,
):  # fmt: skip
    """C [M, N] = A B."""
    pid = gl.program_id(0)
    tiles_n = gl.cdiv(N, BLOCK_N)
    pid_m = pid // tiles_n
    pid_n = pid % tiles_n
    ROWS: gl.constexpr = BLOCK_M // 2 if DESIGN == "quarters" else BLOCK_M
    COLUMNS: gl.constexpr = BLOCK_N // 2 if DESIGN == "halves" or DESIGN == "quarters" else BLOCK_N  # noqa: PLR1714  # Gluon has no "in"
    matrix: gl.constexpr = gl.amd.AMDMFMALayout(
        version=4, instr_shape=[16, 16, 32], transposed=True, warps_per_cta=[2, 2]
    )
    first: gl.constexpr = gl.DotOperandLayout(operand_index=0, parent=matrix, k_width=8)
    second: gl.constexpr = gl.DotOperandLayout(operand_index=1, parent=matrix, k_width=8)
    dtype: gl.constexpr = A.dtype.element_ty
    a_shared: gl.constexpr = gl.amd.cdna4.compute_efficient_padded_shared_layout(first, [ROWS, BLOCK_K], dtype)
    b_shared: gl.constexpr = gl.amd.cdna4.compute_efficient_padded_shared_layout(second, [BLOCK_K, COLUMNS], dtype)
    load_a: gl.constexpr = _global(a_shared, [ROWS, BLOCK_K])
    load_b: gl.constexpr = _global(b_shared, [BLOCK_K, COLUMNS])
    a_lds = gl.allocate_shared_memory(dtype, [2, ROWS, BLOCK_K], a_shared)
    b_lds = gl.allocate_shared_memory(dtype, [2, BLOCK_K, COLUMNS], b_shared)
    rows = gl.arange(0, ROWS, gl.SliceLayout(1, load_a))
    a_depth = gl.arange(0, BLOCK_K, gl.SliceLayout(0, load_a))
    cols = gl.arange(0, COLUMNS, gl.SliceLayout(0, load_b))
    b_depth = gl.arange(0, BLOCK_K, gl.SliceLayout(1, load_b))
    a_places = rows[:, None] * a_row + a_depth[None, :]
    b_places = b_depth[:, None] + cols[None, :] * b_col
    a_base = A + pid_m * BLOCK_M * a_row
    b_base = B + pid_n * BLOCK_N * b_col
    count: gl.constexpr = K // BLOCK_K
    acc = gl.zeros((ROWS, COLUMNS), gl.float32, matrix)
    out_rows = pid_m * BLOCK_M + gl.arange(0, ROWS, gl.SliceLayout(1, matrix))
    out_cols = pid_n * BLOCK_N + gl.arange(0, COLUMNS, gl.SliceLayout(0, matrix))
    places = out_rows[:, None] * c_row + out_cols[None, :]
    if DESIGN == "ahead":
        acc = _whole(
            a_lds, b_lds, a_base, b_base, a_places, b_places, acc, count=count, BLOCK_K=BLOCK_K, first=first,
            second=second,
        )  # fmt: skip
        gl.amd.cdna3.buffer_store(acc.to(dtype), C, places)
    elif DESIGN == "unrolled":
        acc = _unrolled(
            a_lds, b_lds, a_base, b_base, a_places, b_places, acc, count=count, BLOCK_K=BLOCK_K, first=first,
            second=second,
        )  # fmt: skip
        gl.amd.cdna3.buffer_store(acc.to(dtype), C, places)
    elif DESIGN == "halves":
        right_lds = gl.allocate_shared_memory(dtype, [2, BLOCK_K, COLUMNS], b_shared)
        right_places = b_places + COLUMNS * b_col
        right = gl.zeros((ROWS, COLUMNS), gl.float32, matrix)
        acc, right = _halves(
            a_lds, b_lds, right_lds, a_base, b_base, a_places, b_places, right_places, acc, right, count=count,
            BLOCK_K=BLOCK_K, first=first, second=second,
        )  # fmt: skip
        gl.amd.cdna3.buffer_store(acc.to(dtype), C, places)
        gl.amd.cdna3.buffer_store(right.to(dtype), C, places + COLUMNS)
    else:
        bottom_lds = gl.allocate_shared_memory(dtype, [2, ROWS, BLOCK_K], a_shared)
        right_lds = gl.allocate_shared_memory(dtype, [2, BLOCK_K, COLUMNS], b_shared)
        acc, bottom_left, right, bottom_right = _quarters(
            a_lds, bottom_lds, b_lds, right_lds, a_base, b_base, a_places, a_places + ROWS * a_row, b_places,
            b_places + COLUMNS * b_col, (acc, acc, acc, acc), count=count, BLOCK_K=BLOCK_K, first=first, second=second,
        )  # fmt: skip
        below = places + ROWS * c_row
        gl.amd.cdna3.buffer_store(acc.to(dtype), C, places)
        gl.amd.cdna3.buffer_store(right.to(dtype), C, places + COLUMNS)
        gl.amd.cdna3.buffer_store(bottom_left.to(dtype), C, below)
        gl.amd.cdna3.buffer_store(bottom_right.to(dtype), C, below + COLUMNS)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per tile of C; K is known to the compiler."""
    m, n, k = shape["M"], shape["N"], shape["K"]
    args = {
        "A": Tensor("fp16", (m, k)),
        "B": Tensor("fp16", (n, k)),
        "C": Tensor("fp16", (m, n)),
        "M": m,
        "N": n,
        "K": k,
        "a_row": k,
        "b_col": k,
        "c_row": n,
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "DESIGN")},
    }
    return Launch(args, (triton.cdiv(m, config["BLOCK_M"]) * triton.cdiv(n, config["BLOCK_N"]),))


KERNEL = Kernel(
    name="gluon_gemm",
    entry=gluon_gemm,
    summary="Matrix product in Gluon, tiles straight to LDS",
    launch=launch,
    shapes={"4096x4096x8192": {"M": 4096, "N": 4096, "K": 8192}},
    config={"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 64, "DESIGN": "halves", "num_warps": 4},
)
