"""Matrix product in Gluon on CDNA 3: a tile of 256 x 256 in quarters, operands through registers into 64 KB of LDS.

A (M x K) row-major, B read along K, C row-major, 16-bit, a workgroup a tile. LDS has one tile of each operand in two
halves; a half is written again one step after it was read last, from registers that were loaded a tile before. With
four wavefronts an iteration has four steps, each a quarter's product over the whole depth; with eight it has eight,
each over half of the depth, and the two wavefronts of a SIMD take turns at products and memory. Sizes are multiples of
the tile, and there are four tiles of K at least. C is stored as the matrix unit leaves it.
"""

import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import warp_pipeline_stage

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor

XCDS = 8


@gluon.constexpr_function
def _global(along, warps):
    """Return the layout in which lanes load 128 rows of 64 elements: 8 lanes per row, a wavefront's rows adjacent."""
    within = [[0, 1], [0, 2], [0, 4]]
    lanes = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0]]
    more, apart = ([[8, 0], [16, 0]], [[32, 0], [64, 0]]) if warps == 4 else ([[8, 0]], [[16, 0], [32, 0], [64, 0]])
    bases = [[one if along else [one[1], one[0]] for one in part] for part in (within + more, lanes, apart)]
    shape = [128, 64] if along else [64, 128]
    return gl.DistributedLinearLayout(
        reg_bases=bases[0], lane_bases=bases[1], warp_bases=bases[2], block_bases=[], shape=shape
    )


@gluon.jit
def _place(M, N, GROUP_SIZE_M: gl.constexpr, XCDS: gl.constexpr):
    """Row and column of a workgroup's tile: neighbours on one XCD, groups of ``GROUP_SIZE_M`` rows."""
    down = gl.cdiv(M, 256)
    across = gl.cdiv(N, 256)
    count = down * across
    pid = gl.program_id(0)
    each = gl.cdiv(count, XCDS)
    longer = count % XCDS
    longer = gl.where(longer == 0, XCDS, longer)
    xcd = pid % XCDS
    turn = pid // XCDS
    pid = gl.where(xcd < longer, xcd * each + turn, longer * each + (xcd - longer) * (each - 1) + turn)
    group = pid // (GROUP_SIZE_M * across)
    first = group * GROUP_SIZE_M
    height = min(down - first, GROUP_SIZE_M)
    within = pid % (GROUP_SIZE_M * across)
    return first + within % height, within // height


@gluon.jit
def _step(acc, a, b, source, layout: gl.constexpr, target, staged, base, places):
    """A quarter's product, the next one's operand from LDS, and a half of LDS filled and asked for anew."""
    acc = gl.amd.cdna3.mfma(a, b, acc)
    operand = source.load(layout)
    target.store(staged)
    return acc, operand, gl.amd.cdna3.buffer_load(base, places)


@gluon.jit
def _last_step(acc, a, b, source, layout: gl.constexpr, target, staged):
    """The same without asking for more."""
    acc = gl.amd.cdna3.mfma(a, b, acc)
    operand = source.load(layout)
    target.store(staged)
    return acc, operand


@gluon.jit
def _four(
    top, bottom, left, right, staged_top, staged_bottom, staged_left, staged_right, a_base, b_base, top_places,
    bottom_places, left_places, right_places, tl, bl, tr, br, count, first: gl.constexpr, second: gl.constexpr,
):  # fmt: skip
    """The sums over K by four wavefronts."""
    b_left = left.load(second)
    a_top = top.load(first)
    for _ in range(count - 2):
        tl, a_bottom, staged_left = _step(tl, a_top, b_left, bottom, first, left, staged_left, b_base, left_places)
        bl, b_right, staged_top = _step(bl, a_bottom, b_left, right, second, top, staged_top, a_base, top_places)
        tr, b_left, staged_bottom = _step(
            tr, a_top, b_right, left, second, bottom, staged_bottom, a_base, bottom_places
        )
        br, a_top, staged_right = _step(br, a_bottom, b_right, top, first, right, staged_right, b_base, right_places)
        a_base += 64
        b_base += 64
    tl, a_bottom = _last_step(tl, a_top, b_left, bottom, first, left, staged_left)
    bl, b_right = _last_step(bl, a_bottom, b_left, right, second, top, staged_top)
    tr, b_left = _last_step(tr, a_top, b_right, left, second, bottom, staged_bottom)
    br, a_top = _last_step(br, a_bottom, b_right, top, first, right, staged_right)
    tl = gl.amd.cdna3.mfma(a_top, b_left, tl)
    a_bottom = bottom.load(first)
    bl = gl.amd.cdna3.mfma(a_bottom, b_left, bl)
    b_right = right.load(second)
    tr = gl.amd.cdna3.mfma(a_top, b_right, tr)
    br = gl.amd.cdna3.mfma(a_bottom, b_right, br)
    return tl, bl, tr, br


@gluon.jit
def _half(slot, part: gl.constexpr, axis: gl.constexpr, layout: gl.constexpr):
    """Half of the depth of a half of LDS."""
    return slot.slice(32 * part, 32, axis).load(layout)


@gluon.jit
def _eight(
    top, bottom, left, right, staged_top, staged_bottom, staged_left, staged_right, a_base, b_base, top_places,
    bottom_places, left_places, right_places, tl, bl, tr, br, count, first: gl.constexpr, second: gl.constexpr,
):  # fmt: skip
    """The sums over K by eight wavefronts, half of which multiply while the others move data."""
    b_left = _half(left, 0, 0, second)
    a_top = _half(top, 0, 1, first)
    for _ in range(count - 2):
        with warp_pipeline_stage("product", priority=0):
            tl = gl.amd.cdna3.mfma(a_top, b_left, tl)
        with warp_pipeline_stage("memory", priority=1):
            a_bottom = _half(bottom, 0, 1, first)
        with warp_pipeline_stage("product", priority=0):
            bl = gl.amd.cdna3.mfma(a_bottom, b_left, bl)
        with warp_pipeline_stage("memory", priority=1):
            b_right = _half(right, 0, 0, second)
        with warp_pipeline_stage("product", priority=0):
            tr = gl.amd.cdna3.mfma(a_top, b_right, tr)
        with warp_pipeline_stage("memory", priority=1):
            a_top = _half(top, 1, 1, first)
        with warp_pipeline_stage("product", priority=0):
            br = gl.amd.cdna3.mfma(a_bottom, b_right, br)
        with warp_pipeline_stage("memory", priority=1):
            b_left = _half(left, 1, 0, second)
            top.store(staged_top)
            staged_top = gl.amd.cdna3.buffer_load(a_base, top_places)
        with warp_pipeline_stage("product", priority=0):
            tl = gl.amd.cdna3.mfma(a_top, b_left, tl)
        with warp_pipeline_stage("memory", priority=1):
            a_bottom = _half(bottom, 1, 1, first)
            left.store(staged_left)
            staged_left = gl.amd.cdna3.buffer_load(b_base, left_places)
        with warp_pipeline_stage("product", priority=0):
            bl = gl.amd.cdna3.mfma(a_bottom, b_left, bl)
        with warp_pipeline_stage("memory", priority=1):
            b_right = _half(right, 1, 0, second)
            bottom.store(staged_bottom)
            staged_bottom = gl.amd.cdna3.buffer_load(a_base, bottom_places)
        with warp_pipeline_stage("product", priority=0):
            tr = gl.amd.cdna3.mfma(a_top, b_right, tr)
        with warp_pipeline_stage("memory", priority=1):
            b_left = _half(left, 0, 0, second)
            right.store(staged_right)
            staged_right = gl.amd.cdna3.buffer_load(b_base, right_places)
        with warp_pipeline_stage("product", priority=0):
            br = gl.amd.cdna3.mfma(a_bottom, b_right, br)
        with warp_pipeline_stage("memory", priority=1):
            a_top = _half(top, 0, 1, first)
            a_base += 64
            b_base += 64
    for last in gl.static_range(2):
        for part in gl.static_range(2):
            a_bottom = _half(bottom, part, 1, first)
            b_right = _half(right, part, 0, second)
            tl = gl.amd.cdna3.mfma(a_top, b_left, tl)
            bl = gl.amd.cdna3.mfma(a_bottom, b_left, bl)
            tr = gl.amd.cdna3.mfma(a_top, b_right, tr)
            br = gl.amd.cdna3.mfma(a_bottom, b_right, br)
            if part == 0:
                a_top = _half(top, 1, 1, first)
                b_left = _half(left, 1, 0, second)
        if last == 0:
            top.store(staged_top)
            left.store(staged_left)
            bottom.store(staged_bottom)
            right.store(staged_right)
            a_top = _half(top, 0, 1, first)
            b_left = _half(left, 0, 0, second)
    return tl, bl, tr, br


@gluon.jit
def gluon_gemm_cdna3(
    A, B, C, M, N, K, a_row, b_col, c_row, WARPS: gl.constexpr, GROUP_SIZE_M: gl.constexpr, PHASE: gl.constexpr,
    XCDS: gl.constexpr,
):  # fmt: skip
    """C [M, N] = A B."""
    row, col = _place(M, N, GROUP_SIZE_M, XCDS)
    load_a: gl.constexpr = _global(True, WARPS)
    load_b: gl.constexpr = _global(False, WARPS)
    lds_a: gl.constexpr = gl.SwizzledSharedLayout(8, PHASE, 8, order=[1, 0])
    lds_b: gl.constexpr = gl.SwizzledSharedLayout(8, PHASE, 8, order=[0, 1])
    matrix: gl.constexpr = gl.amd.AMDMFMALayout(
        version=3, instr_shape=[16, 16, 16], transposed=True, warps_per_cta=[2, WARPS // 2]
    )
    first: gl.constexpr = gl.DotOperandLayout(operand_index=0, parent=matrix, k_width=8)
    second: gl.constexpr = gl.DotOperandLayout(operand_index=1, parent=matrix, k_width=8)
    dtype: gl.constexpr = A.dtype.element_ty
    top = gl.allocate_shared_memory(dtype, [128, 64], lds_a)
    bottom = gl.allocate_shared_memory(dtype, [128, 64], lds_a)
    left = gl.allocate_shared_memory(dtype, [64, 128], lds_b)
    right = gl.allocate_shared_memory(dtype, [64, 128], lds_b)
    rows = gl.arange(0, 128, gl.SliceLayout(1, load_a))
    cols = gl.arange(0, 128, gl.SliceLayout(0, load_b))
    top_places = rows[:, None] * a_row + gl.arange(0, 64, gl.SliceLayout(0, load_a))[None, :]
    left_places = gl.arange(0, 64, gl.SliceLayout(1, load_b))[:, None] + cols[None, :] * b_col
    bottom_places = top_places + 128 * a_row
    right_places = left_places + 128 * b_col
    a_base = A + row * 256 * a_row
    b_base = B + col * 256 * b_col
    count = gl.cdiv(K, 64)
    gl.assume(count > 2)
    staged_left = gl.amd.cdna3.buffer_load(b_base, left_places)
    staged_top = gl.amd.cdna3.buffer_load(a_base, top_places)
    staged_bottom = gl.amd.cdna3.buffer_load(a_base, bottom_places)
    staged_right = gl.amd.cdna3.buffer_load(b_base, right_places)
    left.store(staged_left)
    top.store(staged_top)
    bottom.store(staged_bottom)
    right.store(staged_right)
    a_base += 64
    b_base += 64
    staged_left = gl.amd.cdna3.buffer_load(b_base, left_places)
    staged_top = gl.amd.cdna3.buffer_load(a_base, top_places)
    staged_bottom = gl.amd.cdna3.buffer_load(a_base, bottom_places)
    staged_right = gl.amd.cdna3.buffer_load(b_base, right_places)
    a_base += 64
    b_base += 64
    none = gl.zeros((128, 128), gl.float32, matrix)
    if WARPS == 4:
        tl, bl, tr, br = _four(
            top, bottom, left, right, staged_top, staged_bottom, staged_left, staged_right, a_base, b_base, top_places,
            bottom_places, left_places, right_places, none, none, none, none, count, first, second,
        )  # fmt: skip
    else:
        tl, bl, tr, br = _eight(
            top, bottom, left, right, staged_top, staged_bottom, staged_left, staged_right, a_base, b_base, top_places,
            bottom_places, left_places, right_places, none, none, none, none, count, first, second,
        )  # fmt: skip
    out_rows = gl.arange(0, 128, gl.SliceLayout(1, matrix))
    out_cols = gl.arange(0, 128, gl.SliceLayout(0, matrix))
    places = out_rows[:, None] * c_row + out_cols[None, :]
    c_base = C + row * 256 * c_row + col * 256
    gl.amd.cdna3.buffer_store(tl.to(dtype), c_base, places)
    gl.amd.cdna3.buffer_store(bl.to(dtype), c_base + 128 * c_row, places)
    gl.amd.cdna3.buffer_store(tr.to(dtype), c_base + 128, places)
    gl.amd.cdna3.buffer_store(br.to(dtype), c_base + 128 * c_row + 128, places)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per tile of C."""
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
        "WARPS": config["num_warps"],
        "GROUP_SIZE_M": config["GROUP_SIZE_M"],
        "PHASE": config["PHASE"],
        "XCDS": XCDS,
    }
    return Launch(args, (triton.cdiv(m, 256) * triton.cdiv(n, 256),))


KERNEL = Kernel(
    name="gluon_gemm_cdna3",
    entry=gluon_gemm_cdna3,
    summary="Matrix product in Gluon on CDNA 3, quarters of a tile in turns",
    launch=launch,
    shapes={"4096x4864x4160": {"M": 4096, "N": 4864, "K": 4160}},
    config={"GROUP_SIZE_M": 4, "PHASE": 2, "num_warps": 4, "llvm_fn_attrs": "amdgpu-agpr-alloc=256"},
)
