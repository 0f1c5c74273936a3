"""Matrix product in Gluon on CDNA 4: tiles go to LDS without registers, two buffers, operands read one tile ahead.

A (M x K) row-major, B read along K, C row-major, fp16, four wavefronts, a workgroup a tile. ``HALVES`` is 1 where a
tile of B is read and multiplied whole, 2 where its columns are in two halves, so that the operands of one are read
while the other is multiplied; there two tiles of K are an iteration. Ours differs: layouts are worked out for each tile
(rows 16 apart lie side by side in LDS, 32 bytes of padding every 1,024), C is stored as the matrix unit leaves it.
"""

import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor

ROWS = 16
"""Rows of a matrix instruction."""
LANE = 8
"""Elements that a lane fetches at once."""


@gluon.constexpr_function
def _bases(rows, depth, along):
    """Places of a tile's elements one after another in LDS: along K first, then rows 16 apart, then the others."""
    steps = []
    step = 1
    while step < depth:
        steps.append([0, step])
        step *= 2
    far = []
    step = ROWS
    while step < rows and len(far) < 3:
        far.append([step, 0])
        step *= 2
    rest = [[1, 0], [2, 0], [4, 0], [8, 0]]
    while step < rows:
        rest.append([step, 0])
        step *= 2
    found = steps + far + rest
    return [one if along else [one[1], one[0]] for one in found]


@gluon.constexpr_function
def _shared(rows, depth, along):
    shape = [rows, depth] if along else [depth, rows]
    return gl.PaddedSharedLayout([[512, 16]], _bases(rows, depth, along), [], shape)


@gluon.constexpr_function
def _global(rows, depth, along):
    """Who fetches what: a wavefront's 64 lanes fill 1,024 bytes of LDS that lie side by side."""
    bases = _bases(rows, depth, along)
    shape = [rows, depth] if along else [depth, rows]
    return gl.DistributedLinearLayout(
        reg_bases=bases[:3] + bases[11:], lane_bases=bases[3:9], warp_bases=bases[9:11], block_bases=[], shape=shape
    )


@gluon.jit
def _fetch(shared, base, offsets):
    gl.amd.cdna4.async_copy.buffer_load_to_shared(shared, base, offsets)


@gluon.jit
def _whole(
    a_lds, b_lds, a_base, b_base, a_places, b_places, acc, count: gl.constexpr, BLOCK_K: gl.constexpr,
    first: gl.constexpr, second: gl.constexpr,
):  # fmt: skip
    """The sum over K of a tile in one piece, the next step's operands read from LDS ahead."""
    for buffer in gl.static_range(2):
        _fetch(a_lds.index(buffer), a_base, a_places)
        _fetch(b_lds.index(buffer), b_base, b_places)
        gl.amd.cdna4.async_copy.commit_group()
        a_base += BLOCK_K
        b_base += BLOCK_K
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
def gluon_gemm(
    A, B, C, M, N, K: gl.constexpr, a_row, b_col, c_row, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr,
    BLOCK_K: gl.constexpr, HALVES: gl.constexpr,
):  # fmt: skip
    """C [M, N] = A B."""
    pid = gl.program_id(0)
    tiles_n = gl.cdiv(N, BLOCK_N)
    pid_m = pid // tiles_n
    pid_n = pid % tiles_n
    PART: gl.constexpr = BLOCK_N // HALVES
    load_a: gl.constexpr = _global(BLOCK_M, BLOCK_K, True)
    load_b: gl.constexpr = _global(PART, BLOCK_K, False)
    matrix: gl.constexpr = gl.amd.AMDMFMALayout(
        version=4, instr_shape=[16, 16, 32], transposed=True, warps_per_cta=[2, 2]
    )
    first: gl.constexpr = gl.DotOperandLayout(operand_index=0, parent=matrix, k_width=8)
    second: gl.constexpr = gl.DotOperandLayout(operand_index=1, parent=matrix, k_width=8)
    dtype: gl.constexpr = A.dtype.element_ty
    a_lds = gl.allocate_shared_memory(dtype, [2, BLOCK_M, BLOCK_K], _shared(BLOCK_M, BLOCK_K, True))
    b_lds = gl.allocate_shared_memory(dtype, [2, BLOCK_K, PART], _shared(PART, BLOCK_K, False))
    rows = gl.arange(0, BLOCK_M, gl.SliceLayout(1, load_a))
    a_depth = gl.arange(0, BLOCK_K, gl.SliceLayout(0, load_a))
    cols = gl.arange(0, PART, gl.SliceLayout(0, load_b))
    b_depth = gl.arange(0, BLOCK_K, gl.SliceLayout(1, load_b))
    a_places = rows[:, None] * a_row + a_depth[None, :]
    b_places = b_depth[:, None] + cols[None, :] * b_col
    a_base = A + pid_m * BLOCK_M * a_row
    b_base = B + pid_n * BLOCK_N * b_col
    count: gl.constexpr = K // BLOCK_K
    acc = gl.zeros((BLOCK_M, PART), gl.float32, matrix)
    out_rows = pid_m * BLOCK_M + gl.arange(0, BLOCK_M, gl.SliceLayout(1, matrix))
    out_cols = pid_n * BLOCK_N + gl.arange(0, PART, gl.SliceLayout(0, matrix))
    places = out_rows[:, None] * c_row + out_cols[None, :]
    if HALVES == 1:
        acc = _whole(
            a_lds, b_lds, a_base, b_base, a_places, b_places, acc, count=count, BLOCK_K=BLOCK_K, first=first,
            second=second,
        )  # fmt: skip
        gl.amd.cdna3.buffer_store(acc.to(dtype), C, places)
    else:
        right_lds = gl.allocate_shared_memory(dtype, [2, BLOCK_K, PART], _shared(PART, BLOCK_K, False))
        right_places = b_places + PART * b_col
        right = gl.zeros((BLOCK_M, PART), gl.float32, matrix)
        acc, right = _halves(
            a_lds, b_lds, right_lds, a_base, b_base, a_places, b_places, right_places, acc, right, count=count,
            BLOCK_K=BLOCK_K, first=first, second=second,
        )  # fmt: skip
        gl.amd.cdna3.buffer_store(acc.to(dtype), C, places)
        gl.amd.cdna3.buffer_store(right.to(dtype), C, places + PART)


def launch(shape: Shape, config: Config) -> Launch:
    """One workgroup for a tile of C; K is known to the compiler."""
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
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "HALVES")},
    }
    return Launch(args, (triton.cdiv(m, config["BLOCK_M"]) * triton.cdiv(n, config["BLOCK_N"]),))


KERNEL = Kernel(
    name="gluon_gemm",
    entry=gluon_gemm,
    summary="Matrix product in Gluon, tiles straight to LDS",
    launch=launch,
    shapes={"4096x4096x8192": {"M": 4096, "N": 4096, "K": 8192}},
    config={"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 64, "HALVES": 2, "num_warps": 4},
)
