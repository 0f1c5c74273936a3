"""Matrix product C = A B (+ bias) for every element type, each operand stored as it is or transposed.

Tiles are assigned in two steps. First, each XCD gets a contiguous run of tiles: the hardware assigns workgroups to the
XCDs in turn, and neighbouring tiles should share one XCD's L2. Second, a run is divided into columns of ``GROUP_M``
tiles, so that the tiles computed at the same time read few rows of A and few columns of B.

With ``SPLIT_K`` above 1 the sum over K is cut into that many parts, each with its own workgroups, for products whose
C is too small to fill the GPU. The partial sums go to a float32 workspace, and a second kernel adds them in a fixed
order: the result does not change from run to run, as it would with atomic additions.
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
def _own_tile(n_tiles, XCDS: tl.constexpr):
    """The tile of this workgroup when each of ``XCDS`` XCDs is to have a contiguous run of tiles."""
    pid = tl.program_id(0)
    if XCDS == 1:
        return pid
    xcd = pid % XCDS
    longest = (n_tiles + XCDS - 1) // XCDS
    # So many XCDs have a run of the full length; the runs of the others are one shorter.
    full = n_tiles - (longest - 1) * XCDS
    return xcd * longest - tl.maximum(xcd - full, 0) + pid // XCDS


@triton.jit
def gemm_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    bias_ptr,
    M,
    N,
    K,
    a_stride_m,
    a_stride_k,
    b_stride_k,
    b_stride_n,
    c_stride_m,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    SPLIT_K: tl.constexpr,
    XCDS: tl.constexpr,
    EVEN_MN: tl.constexpr,
    EVEN_K: tl.constexpr,
    ACC: tl.constexpr,
):
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    tile = _own_tile(tiles_m * tiles_n, XCDS)
    column = tile // (GROUP_M * tiles_n)
    height = tl.minimum(tiles_m - column * GROUP_M, GROUP_M)
    within = tile % (GROUP_M * tiles_n)
    m_first = (column * GROUP_M + within % height) * BLOCK_M
    n_first = (within // height) * BLOCK_N
    split = tl.program_id(1)
    steps = tl.cdiv(tl.cdiv(K, BLOCK_K), SPLIT_K)
    k_first = split * steps * BLOCK_K

    row = tl.arange(0, BLOCK_M)
    col = tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    # Uniform 64-bit parts go to the bases; the lanes' offsets stay within 32 bits.
    a_ptr += m_first.to(tl.int64) * a_stride_m + k_first.to(tl.int64) * a_stride_k
    b_ptr += n_first.to(tl.int64) * b_stride_n + k_first.to(tl.int64) * b_stride_k
    a_ptrs = a_ptr + row[:, None] * a_stride_m + depth[None, :] * a_stride_k
    b_ptrs = b_ptr + depth[:, None] * b_stride_k + col[None, :] * b_stride_n

    acc = tl.zeros([BLOCK_M, BLOCK_N], ACC)
    for step in range(tl.minimum(steps, tl.cdiv(K - k_first, BLOCK_K))):
        if EVEN_MN and EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            live_k = k_first + step * BLOCK_K + depth < K
            a = tl.load(a_ptrs, mask=(m_first + row < M)[:, None] & live_k[None, :], other=0.0)
            b = tl.load(b_ptrs, mask=live_k[:, None] & (n_first + col < N)[None, :], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee", max_num_imprecise_acc=0, out_dtype=ACC)
        a_ptrs += BLOCK_K * a_stride_k
        b_ptrs += BLOCK_K * b_stride_k

    live = (m_first + row < M)[:, None] & (n_first + col < N)[None, :]
    if bias_ptr is not None:
        bias = tl.load(bias_ptr + n_first + col, mask=n_first + col < N, other=0)
        acc += bias[None, :].to(ACC)
    c_ptr += split.to(tl.int64) * M * N + m_first.to(tl.int64) * c_stride_m + n_first
    c_ptrs = c_ptr + row[:, None] * c_stride_m + col[None, :]
    if EVEN_MN:
        tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty))
    else:
        tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=live)


@triton.jit
def reduce_kernel(
    partial_ptr,
    c_ptr,
    bias_ptr,
    n_elements,
    N,
    SPLIT_K: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Add the ``SPLIT_K`` partial results, in order, and the bias."""
    at = tl.program_id(0).to(tl.int64) * BLOCK
    offset = tl.arange(0, BLOCK)
    live = at + offset < n_elements
    place = partial_ptr + at
    total = tl.load(place + offset, mask=live, other=0)
    for _ in tl.static_range(1, SPLIT_K):
        place += n_elements
        total += tl.load(place + offset, mask=live, other=0)
    if bias_ptr is not None:
        total += tl.load(bias_ptr + (at + offset) % N, mask=live, other=0).to(total.dtype)
    tl.store(c_ptr + at + offset, total.to(c_ptr.dtype.element_ty), mask=live)


def _storage(shape: Shape) -> dict[str, Tensor]:
    """Return the operands as they are stored; each row of A and B ends with ``pad`` unused elements."""
    m, n, k, pad = (shape[name] for name in ("M", "N", "K", "pad"))
    return {
        "a": Tensor(shape["dtype"], (k, m + pad) if shape["trans_a"] else (m, k + pad)),
        "b": Tensor(shape["dtype"], (n, k + pad) if shape["trans_b"] else (k, n + pad)),
        "c": Tensor(shape["out"], (m, n)),
        "bias": Tensor(shape["out"], (n,)),
    }


def _accumulator(shape: Shape) -> str:
    return "i32" if shape["dtype"] == "i8" else "fp32"


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for each tile of C and part of K; the grid is (tiles, ``SPLIT_K``)."""
    m, n, k = shape["M"], shape["N"], shape["K"]
    blocks = {name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "SPLIT_K", "XCDS")}
    memory, split = _storage(shape), config["SPLIT_K"]
    a_row, b_row = memory["a"].shape[1], memory["b"].shape[1]
    args = {
        "a_ptr": memory["a"],
        "b_ptr": memory["b"],
        "c_ptr": memory["c"] if split == 1 else Tensor(_accumulator(shape), (split, m, n)),
        "bias_ptr": memory["bias"] if shape["bias"] and split == 1 else None,
        "M": m,
        "N": n,
        "K": k,
        "a_stride_m": 1 if shape["trans_a"] else a_row,
        "a_stride_k": a_row if shape["trans_a"] else 1,
        "b_stride_k": 1 if shape["trans_b"] else b_row,
        "b_stride_n": b_row if shape["trans_b"] else 1,
        "c_stride_m": n,
        **blocks,
        "EVEN_MN": m % config["BLOCK_M"] == 0 and n % config["BLOCK_N"] == 0,
        "EVEN_K": k % (config["BLOCK_K"] * split) == 0,
        "ACC": tl.int32 if shape["dtype"] == "i8" else tl.float32,
    }
    return Launch(args, (triton.cdiv(m, config["BLOCK_M"]) * triton.cdiv(n, config["BLOCK_N"]), split))


def launch_reduce(shape: Shape, config: Config) -> Launch:
    """Return the launch that adds the partial sums: one workgroup for 1,024 elements of C."""
    m, n, split = shape["M"], shape["N"], max(2, config["SPLIT_K"])
    memory = _storage(shape)
    args = {
        "partial_ptr": Tensor(_accumulator(shape), (split, m, n)),
        "c_ptr": memory["c"],
        "bias_ptr": memory["bias"] if shape["bias"] else None,
        "n_elements": m * n,
        "N": n,
        "SPLIT_K": split,
        "BLOCK": 1024,
    }
    return Launch(args, (triton.cdiv(m * n, 1024),))


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``c`` (M x N) of ``a``, ``b`` and ``bias``, which are stored as by :func:`inputs`."""
    import torch

    m, n, split, device = shape["M"], shape["N"], config["SPLIT_K"], inputs["a"].device
    c = torch.empty(m, n, device=device, dtype=torch_dtype(shape["out"]))
    target = c
    if split > 1:
        target = torch.empty(split, m, n, device=device, dtype=torch_dtype(_accumulator(shape)))
    tensors = {"a_ptr": inputs["a"], "b_ptr": inputs["b"], "bias_ptr": inputs.get("bias")}
    execute(gemm_kernel, launch(shape, config), tensors | {"c_ptr": target}, config)
    if split > 1:
        tensors = {"partial_ptr": target, "c_ptr": c, "bias_ptr": inputs.get("bias")}
        execute(reduce_kernel, launch_reduce(shape, config), tensors, {"num_warps": 4})
    return {"c": c}


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs, or integers from -8 to 7 for int8."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    memory = _storage(shape)

    def filled(like: Tensor) -> Any:
        if like.dtype in {"i8", "i32"}:
            values = torch.randint(-8, 8, like.shape, device=device, generator=generator)
        else:
            values = torch.randn(like.shape, device=device, generator=generator)
        return values.to(torch_dtype(like.dtype))

    return {name: filled(memory[name]) for name in ("a", "b", *(["bias"] if shape["bias"] else []))}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the result in float64."""
    a, b = inputs["a"].double(), inputs["b"].double()
    a = a[:, : shape["M"]].T if shape["trans_a"] else a[:, : shape["K"]]
    b = b[:, : shape["K"]].T if shape["trans_b"] else b[:, : shape["N"]]
    return {"c": a @ b + inputs["bias"].double() if shape["bias"] else a @ b}


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
    """Return the bytes of memory traffic: A, B and the bias are read once, without padding; C is written once."""
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

    Tiles must suit the matrix instructions and fit LDS and registers, and K must have a block for each part.
    """
    m, n, k = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
    if min(m, n, k) < 16:
        return "tl.dot needs tiles of at least 16 in every direction"
    lanes = config["num_warps"] * (32 if arch.startswith("gfx1") else 64)
    if m * n > 256 * lanes:
        return f"too many registers: the accumulator alone takes {m * n // lanes} a lane"
    # Without pipelining the operands go through LDS one after the other.
    staged = ((m + n) * max(0, config["num_stages"] - 1) or max(m, n)) * k * size_of(shape["dtype"])
    if staged > (163840 if arch == "gfx950" else 65536):
        return f"too much LDS: {staged} bytes for {config['num_stages']} stages"
    if config["SPLIT_K"] > 1 and k * config["SPLIT_K"] > shape["K"]:
        return "more parts than K has blocks"
    return None


_SQUARE_128 = {"BLOCK_M": 128, "BLOCK_N": 128, "num_warps": 4}


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return the tiles: smaller ones for a small C, and ``BLOCK_K`` by the element size.

    If even small tiles leave most CUs without work, K is split.
    """
    m, n, k = shape["M"], shape["N"], shape["K"]
    size, rdna = size_of(shape["dtype"]), arch.startswith("gfx1")
    if arch in {"gfx942", "gfx950"} and size == 2 and m * n >= 2048 * 2048 and (k + shape["pad"]) % 2:
        # Rows at arbitrary addresses are loaded one element at a time, so a deep block would consist mostly of loads.
        return {"BLOCK_K": 32} if arch == "gfx942" else {**_SQUARE_128, "BLOCK_K": 32}
    if size == 4:
        tile = {"BLOCK_M": 64 if rdna else 128, "BLOCK_N": 64 if rdna else 128, "BLOCK_K": 16 if rdna else 32}
        return tile | {"num_warps": 4}
    if m * n >= 4096 * 4096:
        if size == 1 and arch == "gfx942":
            # As in AITER: 256 x 256 fills LDS with a block of 128, and is slower with a block of 64.
            return {**_SQUARE_128, "BLOCK_K": 128}
        return {} if size == 2 else {"BLOCK_K": 128 if arch == "gfx950" else 64}
    block_m = min(128, max(16, triton.next_power_of_2(m)))
    tiles = triton.cdiv(m, block_m) * triton.cdiv(n, 128)
    if arch == "gfx950" and size == 2 and m <= 64:
        return _few_rows(n, k, block_m)
    deep, split = (64 if rdna else 128) // size, 1
    while tiles * split < 256 and split < 16 and k >= 2 * split * 8 * deep:
        split *= 2
    warps = (4 if block_m >= 64 else 2) * (2 if rdna else 1)
    return {"BLOCK_M": block_m, "BLOCK_N": 128, "BLOCK_K": deep, "SPLIT_K": split, "num_warps": warps}


def _few_rows(n: int, k: int, block_m: int) -> dict[str, Any]:
    """Return narrow tiles for few rows in 16 bits on gfx950: memory-bound products need many loads in flight."""
    deep, split = 128, 1
    while triton.cdiv(n, 64) * split < 256 and split < 16 and k >= 4 * split * deep:
        split *= 2
    return {"BLOCK_M": block_m, "BLOCK_N": 64, "BLOCK_K": deep, "SPLIT_K": split, "num_warps": 4, "num_stages": 3}


def gpu_config(shape: Shape, gpu: LaunchGpu) -> dict[str, Any]:
    """Return the number of XCDs; each XCD gets a contiguous run of tiles."""
    return {"XCDS": gpu.xcds}


def _case(m: int, n: int, k: int, dtype: str = "fp16", out: str | None = None, **flags: Any) -> dict[str, Any]:
    base = {"M": m, "N": n, "K": k, "dtype": dtype, "out": out or dtype, "bias": False}
    return {**base, "trans_a": False, "trans_b": True, "pad": 0, **flags}


_SMALL = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "SPLIT_K": 1}

KERNEL = Kernel(
    name="gemm",
    entry=gemm_kernel,
    summary="Matrix product, all types: grouped and XCD-aware tile order, split-K, masked K, bias, transposes",
    launch=launch,
    shapes={
        "square_8k": _case(8192, 8192, 8192),
        "square_8k_bf16": _case(8192, 8192, 8192, "bf16"),
        "square_8k_padded": _case(8192, 8192, 8192, pad=128),
        "square_8k_fp8": _case(8192, 8192, 8192, "fp8_e4m3", "bf16"),
        "square_8k_bf8": _case(8192, 8192, 8192, "fp8_e5m2", "bf16"),
        "square_8k_int8": _case(8192, 8192, 8192, "i8", "i32"),
        "square_4k_fp32": _case(4096, 4096, 4096, "fp32"),
        "nn": _case(4096, 4096, 4096, trans_b=False),
        "tn": _case(4096, 4096, 4096, trans_a=True, trans_b=False),
        "tt": _case(4096, 4096, 4096, trans_a=True),
        "odd": _case(4000, 4100, 4001, "bf16"),
        "llama_up": _case(4096, 28672, 8192, "bf16"),
        "llama_down": _case(4096, 8192, 28672, "bf16"),
        "small_c": _case(256, 1024, 32768, "bf16"),
        "biased": _case(4096, 12288, 4096, "bf16", bias=True),
    },
    config={
        "BLOCK_M": 256,
        "BLOCK_N": 256,
        "BLOCK_K": 64,
        "GROUP_M": 4,
        "SPLIT_K": 1,
        "XCDS": 8,
        "num_warps": 8,
        "num_stages": 2,
        "waves_per_eu": 0,
        "matrix_instr_nonkdim": 16,
    },
    # 256 x 256 is the tile of CDNA3 and 4: half the traffic of 128 x 128 for each product, and still no spill. CDNA2
    # moves half as fast, where four waves per SIMD hide more than a larger tile saves.
    arch_config={
        "gfx90a": {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32, "num_warps": 4},
        "gfx1100": {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32, "matrix_instr_nonkdim": 0},
        "gfx1201": {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32, "matrix_instr_nonkdim": 0},
    },
    shape_config=shape_config,
    gpu_config=gpu_config,
    configs=[
        {"BLOCK_M": 256, "BLOCK_N": 256},
        {"BLOCK_M": 256, "BLOCK_N": 128},
        {"BLOCK_M": 128, "BLOCK_N": 128, "num_warps": 4},
        {"BLOCK_M": 128, "BLOCK_N": 128, "num_warps": 4, "waves_per_eu": 2},
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32, "num_warps": 4},
        {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 4},
        {"matrix_instr_nonkdim": 32},
        {"XCDS": 1},
        {"GROUP_M": 8},
    ],
    space={
        "BLOCK_M": (16, 32, 64, 128, 256),
        "BLOCK_N": (16, 32, 64, 128, 256),
        "BLOCK_K": (16, 32, 64, 128, 256),
        "GROUP_M": (1, 2, 4, 8, 16),
        "SPLIT_K": (1, 2, 4, 8, 16),
        "XCDS": (1, 8),
        "num_warps": (2, 4, 8),
        "num_stages": (1, 2, 3),
        "waves_per_eu": (0, 1, 2, 3),
        "matrix_instr_nonkdim": (16, 32),
        "kpack": (1, 2),
    },
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=lambda shape: 2 * shape["M"] * shape["N"] * shape["K"],
    bytes=traffic,
    unsupported=unsupported,
    parts={"reduce": Part(reduce_kernel, launch_reduce, lambda _, config: config["SPLIT_K"] > 1, {"num_warps": 4})},
    checks={
        "even": Check(_case(64, 64, 64, "fp32"), _SMALL),
        "masked": Check(_case(50, 70, 45, "fp16"), _SMALL),
        "bias": Check(_case(40, 64, 96, "bf16", bias=True), _SMALL),
        "nn": Check(_case(33, 65, 40, "fp16", trans_b=False), _SMALL),
        "tn": Check(_case(48, 40, 64, "fp32", trans_a=True, trans_b=False), _SMALL),
        "tt_padded": Check(_case(40, 48, 64, "fp16", trans_a=True, pad=16), _SMALL),
        "split_k": Check(_case(64, 32, 256, "fp16"), {**_SMALL, "SPLIT_K": 4}),
        "split_k_masked": Check(_case(33, 40, 200, "bf16", bias=True), {**_SMALL, "SPLIT_K": 3}),
        "split_k_empty": Check(_case(32, 32, 100, "fp32"), {**_SMALL, "SPLIT_K": 8}),
        "xcds": Check(_case(160, 224, 32, "fp16"), {**_SMALL, "XCDS": 8, "GROUP_M": 2}),
        "int8": Check(_case(32, 48, 70, "i8", "i32", bias=True), _SMALL),
        "e4m3": Check(_case(32, 32, 64, "fp8_e4m3", "fp16"), _SMALL),
        "e4m3_masked": Check(_case(20, 32, 72, "fp8_e4m3", "fp16"), _SMALL),
        "e5m2": Check(_case(32, 32, 64, "fp8_e5m2", "bf16"), _SMALL),
        "e4m3_ocp": Check(_case(32, 32, 64, "fp8e4nv", "bf16"), _SMALL),
    },
)
