"""Matrix product with the knobs of AITER's Triton kernels: split K, streaming loads of the weights, numbering by XCD.

A (M x K) row-major, weights read along K (or row-major, by strides), C row-major; with a batch in the grid's second
axis. Each of ``SPLIT`` workgroups of a tile has a contiguous part of K; their float32 sums are added by ``reduce``, or
with atomics. Scales: none, one for each row of A and column of B, or one for each 1 x 128 of A and 128 x 128 of B.
Ours differs: ``GROUP_M``, ``SPLIT`` and, of the product, the sizes are numbers of the launch that the compiler does not
look at, so that one compile serves all problems; there is no bias and no activation.
"""

from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Config, Kernel, Launch, Part, Shape, Tensor

REDUCED = 32
"""Rows and columns that a workgroup of the reduction adds up."""


@triton.jit
def _own(pid, total, XCDS: tl.constexpr):
    """Workgroups are dealt to the XCDs in turn: give each XCD a contiguous run of numbers."""
    if XCDS == 1:
        return pid
    each = total // XCDS
    more = total % XCDS
    xcd = pid % XCDS
    return xcd * each + tl.minimum(xcd, more) + pid // XCDS


@triton.jit(do_not_specialize=["M", "N", "GROUP_M", "SPLIT", "a_scale_row", "b_scale_row"])
def gemm_split(
    A, B, C, a_scale, b_scale, M, N, K, a_row, a_depth, b_depth, b_col, c_row, c_part, a_batch, b_batch, c_batch,
    a_scale_row, b_scale_row, GROUP_M, SPLIT, part,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EVEN_K: tl.constexpr, MODIFIER: tl.constexpr,
    SCALES: tl.constexpr, QUANT: tl.constexpr, ATOMIC: tl.constexpr, XCDS: tl.constexpr,
):  # fmt: skip
    """C [SPLIT, M, N] = A B, parts of K apart."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    pid = _own(tl.program_id(0), tiles_m * tiles_n * SPLIT, XCDS)
    batch = tl.program_id(1)
    split = pid % SPLIT
    pid = pid // SPLIT
    width = GROUP_M * tiles_n
    first = (pid // width) * GROUP_M
    height = min(tiles_m - first, GROUP_M)
    pid_m = first + (pid % width) % height
    pid_n = (pid % width) // height
    tl.assume(pid_m >= 0)
    tl.assume(pid_n >= 0)
    tl.assume(split >= 0)
    begin = split * part
    if begin < K:
        depth = tl.arange(0, BLOCK_K)
        rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
        cols = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
        a_ptrs = A + batch * a_batch + rows[:, None] * a_row + (begin + depth)[None, :] * a_depth
        b_ptrs = B + batch * b_batch + (begin + depth)[:, None] * b_depth + cols[None, :] * b_col
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        span = tl.minimum(part, K - begin)
        if SCALES == "blocks":
            a_scales = a_scale + rows * a_scale_row + begin // QUANT
            b_scales = b_scale + (cols // QUANT) * b_scale_row + begin // QUANT
        for k in range(tl.cdiv(span, BLOCK_K)):
            if EVEN_K:
                a = tl.load(a_ptrs)
                b = tl.load(b_ptrs, cache_modifier=MODIFIER)
            else:
                a = tl.load(a_ptrs, mask=depth[None, :] < span - k * BLOCK_K, other=0.0)
                b = tl.load(b_ptrs, mask=depth[:, None] < span - k * BLOCK_K, other=0.0, cache_modifier=MODIFIER)
            if SCALES == "blocks":
                by_row = tl.load(a_scales + k * (BLOCK_K // QUANT))
                by_col = tl.load(b_scales + k * (BLOCK_K // QUANT))
                acc += tl.dot(a, b) * by_row[:, None] * by_col[None, :]
            else:
                acc = tl.dot(a, b, acc)
            a_ptrs += BLOCK_K * a_depth
            b_ptrs += BLOCK_K * b_depth
        if SCALES == "rows":
            acc *= tl.load(a_scale + rows)[:, None] * tl.load(b_scale + cols)[None, :]
        rows = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
        inside = (rows[:, None] < M) & (cols[None, :] < N)
        places = C + batch * c_batch + rows[:, None] * c_row + cols[None, :] + split * c_part
        if ATOMIC:
            tl.atomic_add(places, acc.to(C.dtype.element_ty), mask=inside, sem="relaxed")
        else:
            tl.store(places, acc.to(C.dtype.element_ty), mask=inside)


@triton.jit
def reduce(
    parts, C, M, N, c_row, c_part, SPLIT: tl.constexpr, PARTS: tl.constexpr, BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):  # fmt: skip
    """C [M, N] = the sum of ``SPLIT`` parts; ``PARTS`` is the next power of two. Rows and columns wrap round."""
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    cols = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    each = tl.arange(0, PARTS)
    places = parts + each[:, None, None] * c_part + (rows[:, None] * c_row + cols[None, :])[None, :, :]
    used = (each < SPLIT)[:, None, None]
    values = tl.load(places) if SPLIT == PARTS else tl.load(places, mask=used, other=0.0)
    total = tl.sum(values, axis=0)
    tl.store(C + rows[:, None] * c_row + cols[None, :], total.to(C.dtype.element_ty))


def _split(shape: Shape, config: Config) -> tuple[int, int]:
    """Return the number of parts of K and the length of a part, a multiple of ``BLOCK_K`` if K allows it."""
    k, count, block = shape["K"], config["SPLIT_K"], config["BLOCK_K"]
    length = triton.cdiv(k, count)
    if length % block and count > 1:
        length = triton.cdiv(length, block) * block
    return triton.cdiv(k, length), length


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per tile, part of K and product of the batch."""
    m, n, k, batch, dtype = shape["M"], shape["N"], shape["K"], shape["batch"], shape["dtype"]
    split, length = _split(shape, config)
    apart = split > 1 and not shape["atomic"]
    along = shape["trans_b"]
    scales = shape["scales"]
    blocks = triton.cdiv(k, 128)
    args: dict[str, Any] = {
        "A": Tensor(dtype, (batch * m, k)),
        "B": Tensor(dtype, (batch * n, k)),
        "C": Tensor("fp32" if apart else shape["out"], (split * batch * m, n)),
        "a_scale": Tensor("fp32", (m, blocks if scales == "blocks" else 1)) if scales != "none" else None,
        "b_scale": Tensor("fp32", (n, blocks if scales == "blocks" else 1)) if scales != "none" else None,
        "M": m,
        "N": n,
        "K": k,
        "a_row": k,
        "a_depth": 1,
        "b_depth": 1 if along else n,
        "b_col": k if along else 1,
        "c_row": n,
        "c_part": batch * m * n if apart else 0,
        "a_batch": m * k if batch > 1 else 0,
        "b_batch": n * k if batch > 1 else 0,
        "c_batch": m * n if batch > 1 else 0,
        "a_scale_row": blocks,
        "b_scale_row": blocks,
        "GROUP_M": config["GROUP_M"],
        "SPLIT": split,
        "part": length,
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "MODIFIER")},
        "EVEN_K": k % length == 0 and length % config["BLOCK_K"] == 0,
        "SCALES": scales,
        "QUANT": 128,
        "ATOMIC": bool(shape["atomic"] and split > 1),
        "XCDS": shape["xcds"],
    }
    tiles = triton.cdiv(m, config["BLOCK_M"]) * triton.cdiv(n, config["BLOCK_N"])
    return Launch(args, (tiles * split, batch))


def _reduce(shape: Shape, config: Config) -> Launch:
    """Return the launch of the reduction: one workgroup per 32 x 32 of C."""
    m, n = shape["batch"] * shape["M"], shape["N"]
    split = _split(shape, config)[0]
    args = {
        "parts": Tensor("fp32", (split * m, n)),
        "C": Tensor(shape["out"], (m, n)),
        "M": m,
        "N": n,
        "c_row": n,
        "c_part": m * n,
        "SPLIT": split,
        "PARTS": triton.next_power_of_2(split),
        "BLOCK_M": REDUCED,
        "BLOCK_N": REDUCED,
    }
    return Launch(args, (triton.cdiv(m, REDUCED), triton.cdiv(n, REDUCED)))


KERNEL = Kernel(
    name="gemm_split",
    entry=gemm_split,
    summary="Matrix product with AITER's knobs",
    launch=launch,
    shapes={
        "router": {
            "M": 128,
            "N": 256,
            "K": 7168,
            "batch": 1,
            "dtype": "bf16",
            "out": "bf16",
            "trans_b": True,
            "scales": "none",
            "atomic": False,
            "xcds": 8,
        }
    },
    config={
        "BLOCK_M": 64,
        "BLOCK_N": 64,
        "BLOCK_K": 64,
        "GROUP_M": 1,
        "SPLIT_K": 1,
        "MODIFIER": "",
        "num_warps": 4,
        "num_stages": 2,
        "waves_per_eu": 0,
        "matrix_instr_nonkdim": 16,
        "kpack": 1,
    },
    parts={"reduce": Part(reduce, _reduce, options={"num_warps": 4})},
)
