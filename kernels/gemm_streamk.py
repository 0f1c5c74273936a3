"""Matrix product C = A B (+ bias) with the stream-K schedule: every workgroup gets the same number of MACs.

A GPU of 304 CUs does 1,024 tiles in four rounds of which the last is only a third full. Stream-K (Osama et al., 2023)
starts as many workgroups as there are CUs, and lets them share the tiles of the incomplete last round and of one full
round: the blocks of K of these tiles are laid end to end and cut into equal parts, also inside of tiles. The
remaining tiles are done whole, in turn, in a loop of their own: all workgroups begin them at the same K, so that those
of a die find each other's rows and columns in L2.

A workgroup that has only part of a tile's K leaves its sum in a float32 workspace: one place for the part that begins
inside a tile, one for the part that ends inside one. A second kernel adds the parts of each tile, in order. No
workgroup ever waits for another, and the result is the same in every run.
"""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import (
    Check,
    Config,
    Kernel,
    Launch,
    LaunchGpu,
    Part,
    Shape,
    Tensor,
    execute,
    no_fp8,
    rounding,
    size_of,
    torch_dtype,
)


@triton.jit
def _place(tile, M, N, GROUP_M: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """First row and column of a tile; tiles are numbered down columns of ``GROUP_M``."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    column = tile // (GROUP_M * tiles_n)
    height = tl.minimum(tiles_m - column * GROUP_M, GROUP_M)
    within = tile % (GROUP_M * tiles_n)
    return (column * GROUP_M + within % height) * BLOCK_M, (within // height) * BLOCK_N


@triton.jit
def _products(
    a_ptr,
    b_ptr,
    M,
    N,
    K,
    a_stride_m,
    b_stride_k,
    b_stride_n,
    m_first,
    n_first,
    k_begin,
    k_end,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    EVEN_MN: tl.constexpr,
    EVEN_K: tl.constexpr,
    ACC: tl.constexpr,
):
    """Sum of a tile's products over the blocks of K from ``k_begin`` to ``k_end``."""
    row = tl.arange(0, BLOCK_M)
    col = tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + m_first.to(tl.int64) * a_stride_m + k_begin * BLOCK_K
    a_ptrs += row[:, None] * a_stride_m + depth[None, :]
    b_ptrs = b_ptr + n_first.to(tl.int64) * b_stride_n + k_begin * BLOCK_K * b_stride_k
    b_ptrs += depth[:, None] * b_stride_k + col[None, :] * b_stride_n
    acc = tl.zeros([BLOCK_M, BLOCK_N], ACC)
    for step in range(k_begin, k_end):
        if EVEN_MN and EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            live_k = step * BLOCK_K + depth < K
            a = tl.load(a_ptrs, mask=(m_first + row < M)[:, None] & live_k[None, :], other=0.0)
            b = tl.load(b_ptrs, mask=live_k[:, None] & (n_first + col < N)[None, :], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee", max_num_imprecise_acc=0, out_dtype=ACC)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * b_stride_k
    return acc


@triton.jit
def _store_tile(acc, c_ptr, bias_ptr, M, N, m_first, n_first, EVEN_MN: tl.constexpr):
    """Add the bias and write a whole tile."""
    row = tl.arange(0, acc.shape[0])
    col = tl.arange(0, acc.shape[1])
    if bias_ptr is not None:
        acc += tl.load(bias_ptr + n_first + col, mask=n_first + col < N, other=0)[None, :].to(acc.dtype)
    c_ptrs = c_ptr + m_first.to(tl.int64) * N + n_first + row[:, None] * N + col[None, :]
    live = (m_first + row < M)[:, None] & (n_first + col < N)[None, :]
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=None if EVEN_MN else live)


@triton.jit
def gemm_streamk_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    bias_ptr,
    partial_ptr,
    M,
    N,
    K,
    n_tiles,
    n_shared,
    n_parts,
    a_stride_m,
    b_stride_k,
    b_stride_n,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    WORKGROUPS: tl.constexpr,
    XCDS: tl.constexpr,
    EVEN_MN: tl.constexpr,
    EVEN_K: tl.constexpr,
    ACC: tl.constexpr,
):
    # The hardware deals workgroups to the XCDs in turn: give each XCD neighbours.
    me = tl.program_id(0) % XCDS * (WORKGROUPS // XCDS) + tl.program_id(0) // XCDS
    steps = tl.cdiv(K, BLOCK_K)
    shared_steps = (n_shared * steps).to(tl.int64)
    at = (tl.minimum(me, n_parts) * shared_steps // n_parts).to(tl.int32)
    end = (tl.minimum(me + 1, n_parts) * shared_steps // n_parts).to(tl.int32)

    while at < end:
        tile = at // steps
        k_begin = at - tile * steps
        k_end = tl.minimum(steps, end - tile * steps)
        m_first, n_first = _place(tile, M, N, GROUP_M, BLOCK_M, BLOCK_N)
        acc = _products(
            a_ptr, b_ptr, M, N, K, a_stride_m, b_stride_k, b_stride_n, m_first, n_first, k_begin, k_end,
            BLOCK_M, BLOCK_N, BLOCK_K, EVEN_MN, EVEN_K, ACC,
        )  # fmt: skip
        if k_end - k_begin == steps:
            _store_tile(acc, c_ptr, bias_ptr, M, N, m_first, n_first, EVEN_MN)
        else:
            # The first of the two places for a part that begins inside the tile, the second for one that ends there.
            slot = 2 * me + (k_begin == 0).to(tl.int32)
            place = partial_ptr + slot.to(tl.int64) * BLOCK_M * BLOCK_N
            tl.store(place + tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :], acc)
        at += k_end - k_begin

    for tile in range(n_shared + me, n_tiles, WORKGROUPS):
        m_first, n_first = _place(tile, M, N, GROUP_M, BLOCK_M, BLOCK_N)
        acc = _products(
            a_ptr, b_ptr, M, N, K, a_stride_m, b_stride_k, b_stride_n, m_first, n_first, 0, steps,
            BLOCK_M, BLOCK_N, BLOCK_K, EVEN_MN, EVEN_K, ACC,
        )  # fmt: skip
        _store_tile(acc, c_ptr, bias_ptr, M, N, m_first, n_first, EVEN_MN)


@triton.jit
def fixup_kernel(
    partial_ptr,
    c_ptr,
    bias_ptr,
    M,
    N,
    K,
    n_shared,
    n_parts,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    ROWS: tl.constexpr,
    STEP: tl.constexpr,
):
    """Add the parts of ``ROWS`` rows of a shared tile, in the order of K."""
    tile = tl.program_id(0)
    steps = tl.cdiv(K, BLOCK_K)
    shared_steps = (n_shared * steps).to(STEP)
    # Part p begins at p * shared_steps // n_parts: these two hold the tile's first and last step.
    first = ((tile * steps + 1).to(STEP) * n_parts - 1) // shared_steps
    last = ((tile * steps + steps).to(STEP) * n_parts - 1) // shared_steps
    if first < last:
        m_first, n_first = _place(tile, M, N, GROUP_M, BLOCK_M, BLOCK_N)
        row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
        col = tl.arange(0, BLOCK_N)
        inside = row[:, None] * BLOCK_N + col[None, :]
        place = partial_ptr + 2 * first.to(tl.int64) * BLOCK_M * BLOCK_N + inside
        total = tl.load(place + BLOCK_M * BLOCK_N)
        for _ in range(first, last):
            place += 2 * BLOCK_M * BLOCK_N
            total += tl.load(place)
        if bias_ptr is not None:
            total += tl.load(bias_ptr + n_first + col, mask=n_first + col < N, other=0)[None, :].to(total.dtype)
        c_ptrs = c_ptr + m_first.to(tl.int64) * N + n_first + row[:, None] * N + col[None, :]
        live = (m_first + row < M)[:, None] & (n_first + col < N)[None, :]
        tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=live)


def _tiles(shape: Shape, config: Config) -> tuple[int, int, int]:
    """Return the number of tiles, the number of shared tiles, and the number of workgroups that share them.

    The shared tiles are those of the incomplete last round, and of one full round. No workgroup gets less than one
    block of K.
    """
    tiles = triton.cdiv(shape["M"], config["BLOCK_M"]) * triton.cdiv(shape["N"], config["BLOCK_N"])
    workgroups = config["WORKGROUPS"]
    over = tiles % workgroups
    shared = over + workgroups if over and tiles > workgroups else over
    return tiles, shared, max(1, min(workgroups, shared * triton.cdiv(shape["K"], config["BLOCK_K"])))


def _storage(shape: Shape, config: Config) -> dict[str, Tensor | None]:
    m, n, k = shape["M"], shape["N"], shape["K"]
    sums = "i32" if shape["dtype"] == "i8" else "fp32"
    return {
        "a_ptr": Tensor(shape["dtype"], (m, k)),
        "b_ptr": Tensor(shape["dtype"], (n, k) if shape["trans_b"] else (k, n)),
        "c_ptr": Tensor(shape["out"], (m, n)),
        "bias_ptr": Tensor(shape["out"], (n,)) if shape["bias"] else None,
        "partial_ptr": Tensor(sums, (2 * config["WORKGROUPS"], config["BLOCK_M"], config["BLOCK_N"])),
    }


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: the configuration's number of workgroups, which should be the number of CUs."""
    m, n, k = shape["M"], shape["N"], shape["K"]
    tiles, shared, parts = _tiles(shape, config)
    args = {
        **_storage(shape, config),
        "M": m,
        "N": n,
        "K": k,
        "n_tiles": tiles,
        "n_shared": shared,
        "n_parts": parts,
        "a_stride_m": k,
        "b_stride_k": 1 if shape["trans_b"] else n,
        "b_stride_n": k if shape["trans_b"] else 1,
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "WORKGROUPS", "XCDS")},
        "EVEN_MN": m % config["BLOCK_M"] == 0 and n % config["BLOCK_N"] == 0,
        "EVEN_K": k % config["BLOCK_K"] == 0,
        "ACC": tl.int32 if shape["dtype"] == "i8" else tl.float32,
    }
    return Launch(args, (config["WORKGROUPS"],))


def launch_fixup(shape: Shape, config: Config) -> Launch:
    """Return the launch that adds the partial sums: one workgroup for 16 rows of each shared tile."""
    _, shared, parts = _tiles(shape, config)
    args = {
        **{name: tensor for name, tensor in _storage(shape, config).items() if name not in {"a_ptr", "b_ptr"}},
        "M": shape["M"],
        "N": shape["N"],
        "K": shape["K"],
        "n_shared": shared,
        "n_parts": parts,
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M")},
        "ROWS": 16,
        "STEP": tl.int32 if shared * triton.cdiv(shape["K"], config["BLOCK_K"]) * parts < 2**31 else tl.int64,
    }
    return Launch(args, (max(1, shared), config["BLOCK_M"] // 16))


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``c`` (M x N) of ``a`` (M x K), ``b`` (N x K, or K x N without ``trans_b``) and ``bias`` (N)."""
    import torch

    memory, device = _storage(shape, config), inputs["a"].device
    partial, c = (
        torch.empty(tensor.shape, device=device, dtype=torch_dtype(tensor.dtype))
        for tensor in (memory["partial_ptr"], memory["c_ptr"])
        if tensor is not None
    )
    tensors = {f"{name}_ptr": value for name, value in inputs.items()} | {"partial_ptr": partial, "c_ptr": c}
    execute(gemm_streamk_kernel, launch(shape, config), tensors, config)
    if _tiles(shape, config)[1]:
        execute(fixup_kernel, launch_fixup(shape, config), tensors, {"num_warps": 4})
    return {"c": c}


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs, or integers from -8 to 7 for int8."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    m, n, k = shape["M"], shape["N"], shape["K"]

    def filled(dtype: str, *size: int) -> Any:
        if dtype in {"i8", "i32"}:
            values = torch.randint(-8, 8, size, device=device, generator=generator)
        else:
            values = torch.randn(size, device=device, generator=generator)
        return values.to(torch_dtype(dtype))

    made = {
        "a": filled(shape["dtype"], m, k),
        "b": filled(shape["dtype"], *((n, k) if shape["trans_b"] else (k, n))),
    }
    return made | {"bias": filled(shape["out"], n)} if shape["bias"] else made


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the result in float64."""
    b = inputs["b"].double()
    c = inputs["a"].double() @ (b.T if shape["trans_b"] else b)
    return {"c": c + inputs["bias"].double() if shape["bias"] else c}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    The result is rounded, and so is a float32 sum of K products of size 1, which grows to sqrt(K). K errors of half a
    unit of that sum, all in one direction, would be K**1.5 * 2**-24: matrix units need not round each addition to
    nearest. A quarter of it is allowed. Integers are exact.
    """
    if shape["dtype"] == "i8":
        return 0.0, 0.5
    relative, absolute = rounding(shape["out"])
    return relative + 2.0**-23, absolute + max(shape["K"], shape["K"] ** 1.5 / 8) * 2.0**-23


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic: A, B and the bias are read once, and C is written once."""
    m, n, k = shape["M"], shape["N"], shape["K"]
    return (m * k + k * n) * size_of(shape["dtype"]) + (m * n + n * shape["bias"]) * size_of(shape["out"])


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why the operands' type is not supported, or None.

    Architectures support different 8-bit floats, and no matrix unit multiplies 32-bit integers.
    """
    if shape["dtype"] == "i32":
        return "no matrix unit multiplies 32-bit integers; gemm_multiply_reduce does without one"
    return no_fp8(arch, shape["dtype"])


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why a configuration is rejected, or None.

    Tiles must suit the matrix instructions and fit LDS and registers, and XCDs must get equal numbers of workgroups.
    """
    m, n, k = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
    if min(m, n, k) < 16:
        return "tl.dot needs tiles of at least 16 in every direction"
    if config["WORKGROUPS"] % config["XCDS"]:
        return f"{config['WORKGROUPS']} workgroups do not divide among {config['XCDS']} XCDs"
    lanes = config["num_warps"] * (32 if arch.startswith("gfx1") else 64)
    if m * n > 256 * lanes:
        return f"too many registers: the accumulator alone takes {m * n // lanes} a lane"
    rows = m + n if config["num_stages"] > 1 else max(m, n)
    if rows * k * size_of(shape["dtype"]) * max(1, config["num_stages"] - 1) > (163840 if arch == "gfx950" else 65536):
        return "the tiles do not fit LDS"
    return None


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return BLOCK_K for types that are not 16 bits wide: a row of a tile is 128 bytes, or 64 on RDNA and gfx90a."""
    size = size_of(shape["dtype"])
    row = 128 if arch.startswith("gfx9") and arch != "gfx90a" else 64
    return {} if size == 2 else {"BLOCK_K": row // size}


def gpu_config(shape: Shape, gpu: LaunchGpu) -> dict[str, Any]:
    """Return the tile, the number of workgroups, one per CU for large tiles and two for 128 x 128, and of XCDs.

    On CDNA3 and CDNA4, tiles of 256 x 256 in 16 bits, and of 256 x 128 otherwise, read less for each product. But they
    spill outside the loop over K, and the parts of shared tiles miss L2 more often. According to the model, that costs
    more than it saves in 8 bits on gfx942 and, if full rounds leave tiles over, in 16 bits on gfx942 when there is one
    full round and up to half of another, and on gfx950 always. Fewer than 128 rows are padded less by 128 x 128.
    """
    by_die = {"WORKGROUPS": gpu.compute_units, "XCDS": gpu.xcds}
    if gpu.arch not in {"gfx942", "gfx950"}:
        return by_die
    size, columns = size_of(shape["dtype"]), 256 if size_of(shape["dtype"]) == 2 else 128
    tiles = triton.cdiv(shape["M"], 256) * triton.cdiv(shape["N"], columns)
    rounds = tiles / gpu.compute_units
    by_size = size == 2 and shape["M"] * shape["N"] > 4096 * 4096
    large = rounds.is_integer() if gpu.arch == "gfx950" else by_size
    if large and gpu.arch == "gfx942" and 1 < rounds < 1.5:
        return {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 128, **by_die}
    if large:
        return {"BLOCK_N": columns, **by_die}
    if gpu.arch == "gfx950" and size == 2 and shape["M"] > 128:
        return {"BLOCK_N": 128, "GROUP_M": 8, "num_stages": 3, **by_die}
    small = {"BLOCK_M": 128, "BLOCK_N": 128, "GROUP_M": 6 if size == 1 else 8, "num_warps": 4}
    return {**small, **by_die, "WORKGROUPS": 2 * gpu.compute_units}


def _case(m: int, n: int, k: int, dtype: str = "fp16", out: str | None = None, **flags: Any) -> dict[str, Any]:
    return {"M": m, "N": n, "K": k, "dtype": dtype, "out": out or dtype, "bias": False, "trans_b": True, **flags}


_SMALL = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "GROUP_M": 2, "XCDS": 1, "num_warps": 1}
# CUDA's matrix units use 32 elements of 8 bits at a time.
_EIGHT_BITS = {**_SMALL, "BLOCK_K": 32, "WORKGROUPS": 4}

KERNEL = Kernel(
    name="gemm_streamk",
    entry=gemm_streamk_kernel,
    summary="Matrix product with the stream-K schedule: equal work for every CU, no partly filled last round",
    launch=launch,
    shapes={
        "square_8k": _case(8192, 8192, 8192),
        "square_4k": _case(4096, 4096, 4096),
        "square_5k_bf16": _case(5120, 5120, 5120, "bf16"),
        "deep": _case(512, 512, 65536, "bf16"),
        "fp8": _case(8192, 8192, 8192, "fp8_e4m3", "bf16"),
        "int8": _case(8192, 8192, 8192, "i8", "i32"),
        "fp32": _case(4096, 4096, 4096, "fp32"),
        "nn": _case(4864, 4096, 8256, trans_b=False),
        "odd_biased": _case(4000, 4112, 4016, "bf16", bias=True),
    },
    # WORKGROUPS and tiles follow from the number of CUs, here an MI300X's: gpu_config.
    config={"BLOCK_M": 256, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 4, "WORKGROUPS": 304, "XCDS": 8}
    | {"num_warps": 8, "num_stages": 2, "waves_per_eu": 0, "matrix_instr_nonkdim": 16},
    arch_config={
        "gfx90a": {"BLOCK_K": 32},
        "gfx1100": {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32},
        "gfx1201": {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32},
    },
    shape_config=shape_config,
    gpu_config=gpu_config,
    configs=[
        {"BLOCK_M": 256, "BLOCK_N": 128},
        {"BLOCK_M": 128, "BLOCK_N": 256},
        {"BLOCK_M": 256, "BLOCK_N": 256},
        {"BLOCK_M": 128, "BLOCK_N": 128, "num_warps": 4},
        {"BLOCK_M": 128, "BLOCK_N": 128, "num_warps": 4, "WORKGROUPS": 608},
        {"matrix_instr_nonkdim": 32},
    ],
    space={
        "BLOCK_M": (32, 64, 128, 256),
        "BLOCK_N": (32, 64, 128, 256),
        "BLOCK_K": (16, 32, 64, 128),
        "GROUP_M": (1, 2, 4, 6, 8, 16),
        "WORKGROUPS": (152, 256, 304, 512, 608),
        "XCDS": (1, 8),
        "num_warps": (4, 8),
        "num_stages": (1, 2, 3),
        "waves_per_eu": (0, 1, 2),
    },
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=lambda shape: 2 * shape["M"] * shape["N"] * shape["K"],
    bytes=traffic,
    unsupported=unsupported,
    parts={
        "fixup": Part(
            fixup_kernel, launch_fixup, lambda shape, config: bool(_tiles(shape, config)[1]), {"num_warps": 4}
        )
    },
    notes={
        "gfx942": "A tile of 256 x 256 spills 55 registers (Triton 3.9), once a tile, outside the loop over K. By the "
        "model it is 2 % faster than 128 x 128, which does not spill, for 8,192 rows and columns, and 11 % for 5,120."
    },
    checks={
        "one_tile_shared": Check(_case(16, 16, 112, "fp32"), {**_SMALL, "WORKGROUPS": 3}),
        "two_rounds": Check(_case(64, 48, 80, "fp32"), {**_SMALL, "WORKGROUPS": 5}),
        "full_rounds_only": Check(_case(32, 48, 64, "fp16"), {**_SMALL, "WORKGROUPS": 6}),
        "fewer_tiles": Check(_case(48, 16, 96, "bf16", bias=True), {**_SMALL, "WORKGROUPS": 7}),
        "more_workgroups_than_steps": Check(_case(16, 16, 48, "fp16"), {**_SMALL, "WORKGROUPS": 8, "XCDS": 4}),
        "masked": Check(_case(50, 70, 75, "fp16", bias=True), {**_SMALL, "WORKGROUPS": 6, "XCDS": 2}),
        "nn_int8": Check(_case(40, 33, 100, "i8", "i32", trans_b=False, bias=True), _EIGHT_BITS),
        "e4m3": Check(_case(32, 48, 64, "fp8_e4m3", "bf16"), _EIGHT_BITS),
        "e4m3_masked": Check(_case(16, 33, 80, "fp8_e4m3", "bf16"), {**_EIGHT_BITS, "BLOCK_M": 32}),
    },
)
