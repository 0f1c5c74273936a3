"""FP8 product with shuffled weights in Gluon, to the design of FlyDSL's on CDNA 4: only A goes to LDS.

A (M x K) row-major; B shuffled so that a wavefront's lanes find what its matrix instructions take side by side: blocks
of 16 columns by 64 of K, in them 16 bytes of K after each other, column by column; C row-major, bf16. Four wavefronts
share the columns of a tile. B goes to registers a tile of K ahead, and so does A: through LDS, straight there
(``STRAIGHT``) or by registers, into one buffer (``BUFFERS`` 1, read before the next tile is stored) or two in turns.
A workgroup's tile is its place in the grid, rows of tiles first, or the one that FlyDSL's order for eight dies gives it
(``TOGETHER`` rows of tiles each). Ours differs: loops are not unrolled by more than two tiles of K, instructions have
LLVM's order.
"""

import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor

MATRIX_K = gl.constexpr(128)
"""K of the matrix instruction."""


@gluon.jit
def _tile(tiles_m, tiles_n, TOGETHER: gl.constexpr):
    """Row and column of this workgroup's tile."""
    row = gl.program_id(0)
    column = gl.program_id(1)
    if TOGETHER > 0:
        number = row * tiles_n + column
        tiles = tiles_m * tiles_n
        die = number % 8
        number = die * (tiles // 8) + gl.minimum(die, tiles % 8) + number // 8
        group = TOGETHER * tiles_n
        first = number // group * TOGETHER
        height = gl.minimum(tiles_m - first, TOGETHER)
        row = first + number % group % height
        column = number % group // height
    return row, column


@gluon.jit
def _fetch_a(buffer, a_base, a_places, inside, STRAIGHT: gl.constexpr):
    """Ask for a tile of A; what :func:`_put_a` is to put into LDS."""
    if STRAIGHT:
        gl.amd.cdna4.async_copy.buffer_load_to_shared(buffer, a_base, a_places, mask=inside)
        gl.amd.cdna4.async_copy.commit_group()
        fetched = a_places
    else:
        fetched = gl.amd.cdna3.buffer_load(a_base, a_places, mask=inside)
    return fetched


@gluon.jit
def _put_a(buffer, fetched, STRAIGHT: gl.constexpr):
    if STRAIGHT:
        gl.amd.cdna4.async_copy.wait_group(0)
    else:
        buffer.store(fetched)


@gluon.jit
def _fetch_b(b_base, b_places, COUNT: gl.constexpr):
    """Tiles of B for ``COUNT`` matrix instructions after each other."""
    fetched = ()
    for part in gl.static_range(COUNT):
        fetched += (gl.amd.cdna3.buffer_load(b_base + part * (16 * MATRIX_K), b_places),)
    return fetched


@gluon.jit
def _part(buffer, number: gl.constexpr, first: gl.constexpr, ROWS: gl.constexpr, SUMS: gl.constexpr):
    """Rows of A for the matrix instructions ``number``, from LDS."""
    rows = buffer.slice(number % SUMS * ROWS, ROWS, dim=0)
    return rows.slice(number // SUMS * MATRIX_K, MATRIX_K, dim=1).load(first)


@gluon.jit
def _multiply(buffer, sums, b, first: gl.constexpr, ROWS: gl.constexpr):
    """Add a tile of K to the sums of ``ROWS`` rows each; the next part of A is read while one is multiplied."""
    a = _part(buffer, 0, first, ROWS, len(sums))
    for step in gl.static_range(len(b)):
        added = ()
        for part in gl.static_range(len(sums)):
            gl.amd.hint.sched_barrier()
            if step * len(sums) + part + 1 < len(b) * len(sums):
                following = _part(buffer, step * len(sums) + part + 1, first, ROWS, len(sums))
            else:
                following = a
            added += (gl.amd.cdna4.mfma_scaled(a, None, "e4m3", b[step], None, "e4m3", sums[part]),)
            a = following
        sums = added
    gl.amd.hint.sched_barrier()
    return sums


@gluon.jit
def _step(
    a_lds, a_base, b_base, a_places, b_places, inside, sums, b, read: gl.constexpr, written: gl.constexpr,
    first: gl.constexpr, ROWS: gl.constexpr, STRAIGHT: gl.constexpr,
):  # fmt: skip
    """Multiply a tile of K, and fetch the next one; the sums, and the next tile of B."""
    if read == written and STRAIGHT:
        sums = _multiply(a_lds.index(read), sums, b, first, ROWS)
        b_next = _fetch_b(b_base, b_places, len(b))
        fetched = _fetch_a(a_lds.index(written), a_base, a_places, inside, STRAIGHT)
    else:
        fetched = _fetch_a(a_lds.index(written), a_base, a_places, inside, STRAIGHT)
        b_next = _fetch_b(b_base, b_places, len(b))
        sums = _multiply(a_lds.index(read), sums, b, first, ROWS)
    _put_a(a_lds.index(written), fetched, STRAIGHT)
    return sums, b_next


@gluon.jit
def preshuffled(
    A, B, C, a_scale, b_scale, M, N, K: gl.constexpr, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr,
    BLOCK_K: gl.constexpr, TOGETHER: gl.constexpr, BUFFERS: gl.constexpr, STRAIGHT: gl.constexpr,
):  # fmt: skip
    """C [M, N] = A B, rows and columns scaled."""
    pid_m, pid_n = _tile(gl.cdiv(M, BLOCK_M), N // BLOCK_N, TOGETHER)
    matrix: gl.constexpr = gl.amd.AMDMFMALayout(
        version=4, instr_shape=[16, 16, MATRIX_K], transposed=False, warps_per_cta=[1, 4]
    )
    first: gl.constexpr = gl.DotOperandLayout(operand_index=0, parent=matrix, k_width=32)
    second: gl.constexpr = gl.DotOperandLayout(operand_index=1, parent=matrix, k_width=32)
    lanes: gl.constexpr = BLOCK_K // 16
    load_a: gl.constexpr = gl.BlockedLayout([1, 16], [64 // lanes, lanes], [4, 1], [1, 0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(vec=16, per_phase=1, max_phase=lanes, order=[1, 0])
    a_lds = gl.allocate_shared_memory(A.dtype.element_ty, [BUFFERS, BLOCK_M, BLOCK_K], shared)
    rows = gl.arange(0, BLOCK_M, gl.SliceLayout(1, load_a))
    a_depth = gl.arange(0, BLOCK_K, gl.SliceLayout(0, load_a))
    a_places = rows[:, None] * K + a_depth[None, :]
    inside = (pid_m * BLOCK_M + rows < M)[:, None]
    columns = gl.arange(0, BLOCK_N, gl.SliceLayout(0, second))
    b_depth = gl.arange(0, MATRIX_K, gl.SliceLayout(1, second))
    b_places = (b_depth // 64 * 1024 + b_depth // 16 % 4 * 256 + b_depth % 16)[:, None] + (
        columns // 16 * (16 * K) + columns % 16 * 16
    )[None, :]
    a_base = A + pid_m * BLOCK_M * K
    b_base = B + pid_n * BLOCK_N * K
    count: gl.constexpr = K // BLOCK_K
    ROWS: gl.constexpr = min(BLOCK_M, 32)
    sums = ()
    for _ in gl.static_range(BLOCK_M // ROWS):
        sums += (gl.zeros((ROWS, BLOCK_N), gl.float32, matrix),)

    fetched = _fetch_a(a_lds.index(0), a_base, a_places, inside, STRAIGHT)
    b = _fetch_b(b_base, b_places, BLOCK_K // MATRIX_K)
    _put_a(a_lds.index(0), fetched, STRAIGHT)
    if BUFFERS == 1:
        for _ in range(count - 1):
            a_base += BLOCK_K
            b_base += 16 * BLOCK_K
            sums, b = _step(
                a_lds, a_base, b_base, a_places, b_places, inside, sums, b, read=0, written=0, first=first,
                ROWS=ROWS, STRAIGHT=STRAIGHT,
            )  # fmt: skip
    else:
        for _ in range((count - 1) // 2):
            for half in gl.static_range(2):
                a_base += BLOCK_K
                b_base += 16 * BLOCK_K
                sums, b = _step(
                    a_lds, a_base, b_base, a_places, b_places, inside, sums, b, read=half, written=1 - half,
                    first=first, ROWS=ROWS, STRAIGHT=STRAIGHT,
                )  # fmt: skip
        if count % 2 == 0:
            sums, b = _step(
                a_lds, a_base + BLOCK_K, b_base + 16 * BLOCK_K, a_places, b_places, inside, sums, b, read=0, written=1,
                first=first, ROWS=ROWS, STRAIGHT=STRAIGHT,
            )  # fmt: skip
    last: gl.constexpr = (count - 1) % BUFFERS
    sums = _multiply(a_lds.index(last), sums, b, first, ROWS)

    out_columns = pid_n * BLOCK_N + gl.arange(0, BLOCK_N, gl.SliceLayout(0, matrix))
    wide = gl.amd.cdna3.buffer_load(b_scale, out_columns)
    for part in gl.static_range(BLOCK_M // ROWS):
        out_rows = pid_m * BLOCK_M + part * ROWS + gl.arange(0, ROWS, gl.SliceLayout(1, matrix))
        there = out_rows < M
        high = gl.amd.cdna3.buffer_load(a_scale, out_rows, mask=there)
        scaled = sums[part] * high[:, None] * wide[None, :]
        places = out_rows[:, None] * N + out_columns[None, :]
        gl.amd.cdna3.buffer_store(scaled.to(C.dtype.element_ty), C, places, mask=there[:, None])


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per tile of C; K is known to the compiler."""
    m, n, k = shape["M"], shape["N"], shape["K"]
    args = {
        "A": Tensor("fp8e4nv", (m, k)),
        "B": Tensor("fp8e4nv", (n, k)),
        "C": Tensor("bf16", (m, n)),
        "a_scale": Tensor("fp32", (m,)),
        "b_scale": Tensor("fp32", (n,)),
        "M": m,
        "N": n,
        "K": k,
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "TOGETHER", "BUFFERS", "STRAIGHT")},
    }
    return Launch(args, (triton.cdiv(m, config["BLOCK_M"]), n // config["BLOCK_N"]))


KERNEL = Kernel(
    name="preshuffled",
    entry=preshuffled,
    summary="FP8 product with shuffled weights in Gluon",
    launch=launch,
    shapes={"4096x5120x5120": {"M": 4096, "N": 5120, "K": 5120}},
    config={"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 256, "TOGETHER": 0, "BUFFERS": 2, "STRAIGHT": True}
    | {"num_warps": 4},
)
