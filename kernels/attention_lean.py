"""Lean attention forward for heads of 64 and 128: whole blocks only, no mask, no log-sum-exp, nothing to tune.

Everything optional is left out: full attention, lengths that are multiples of the tile, V transposed
so that the sequence is contiguous (see ``attention_transposed_v``). The tiles are fixed. The kernel is a ceiling for
general kernels, and shows how much a mask or an edge case costs.
"""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Check, Config, Kernel, Launch, Shape, Tensor, execute, rounding, size_of, torch_dtype


@triton.jit
def attention_lean_kernel(
    q_ptr,
    k_ptr,
    vt_ptr,
    out_ptr,
    scale,
    n_queries,
    n_keys,
    GROUP: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    PRE_LOAD_V: tl.constexpr,
):
    """Attention of ``BLOCK_M`` queries of one head; grid: heads, blocks of queries, batch."""
    # Heads are numbered first, so that the query blocks of a head share the L2 of an XCD.
    head = tl.program_id(2) * tl.num_programs(0) + tl.program_id(0)
    # Uniform 64-bit parts go to the bases; the lanes' offsets stay within 32 bits (buffer loads).
    q_at = (head.to(tl.int64) * n_queries + tl.program_id(1) * BLOCK_M) * D
    kv_at = (head // GROUP).to(tl.int64) * n_keys * D
    row = tl.arange(0, BLOCK_M)
    col = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + q_at + row[:, None] * D + d[None, :])
    k_ptrs = k_ptr + kv_at + col[None, :] * D + d[:, None]
    v_ptrs = vt_ptr + kv_at + col[:, None] + d[None, :] * n_keys

    # exp2 is one instruction, exp two: the base change goes into the scale.
    factor = scale * 1.4426950408889634
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    top = tl.full([BLOCK_M], -float("inf"), tl.float32)
    for start in range(0, n_keys, BLOCK_N):
        k = tl.load(k_ptrs + start * D)
        if PRE_LOAD_V:
            v = tl.load(v_ptrs + start)
        scores = tl.dot(q, k, input_precision="ieee")
        new_top = tl.maximum(top, tl.max(scores, axis=1) * factor)
        p = tl.exp2(scores * factor - new_top[:, None])
        fade = tl.exp2(top - new_top)
        total = total * fade + tl.sum(p, axis=1)
        acc = acc * fade[:, None]
        if not PRE_LOAD_V:
            v = tl.load(v_ptrs + start)
        acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee")
        top = new_top
    acc = acc / total[:, None]
    tl.store(out_ptr + q_at + row[:, None] * D + d[None, :], acc.to(out_ptr.dtype.element_ty))


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for ``BLOCK_M`` queries of one head.

    Raises:
        ValueError: a length is not a multiple of its tile.
    """
    if reason := legal(shape, config):
        raise ValueError(reason)
    b, h, hk, sq, sk, d = (shape[name] for name in ("B", "H", "HK", "SQ", "SK", "D"))
    args = {
        "q_ptr": Tensor(shape["dtype"], (b, h, sq, d)),
        "k_ptr": Tensor(shape["dtype"], (b, hk, sk, d)),
        "vt_ptr": Tensor(shape["dtype"], (b, hk, d, sk)),
        "out_ptr": Tensor(shape["dtype"], (b, h, sq, d)),
        "scale": d**-0.5,
        "n_queries": sq,
        "n_keys": sk,
        "GROUP": h // hk,
        "D": d,
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "PRE_LOAD_V")},
    }
    return Launch(args, (h, sq // config["BLOCK_M"], b))


# The fastest by the model over the cases of each width of heads on MI300X and MI355X, none of which spills:
# docs/validation/defaults.md says what a longer search finds.
_FASTEST: Mapping[tuple[str, int], Config] = {
    ("gfx942", 128): {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 4, "num_stages": 2, "waves_per_eu": 0},
    ("gfx950", 128): {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 4, "num_stages": 2, "waves_per_eu": 0},
    ("gfx950", 64): {"num_stages": 2, "waves_per_eu": 0},
}


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return tiles other than the default ones: for a head dimension of 64, and for RDNA.

    Measurements on MI250X found 128 x 64 with three wavefronts per SIMD and early loads of the values to be the best
    for heads of 64. The tile that they found for heads of 128, 256 x 128, spills in the loop with Triton 3.9. Half of
    that tile does not spill; in bfloat16, which CDNA2 and RDNA round with several instructions, it has to be a
    quarter.
    """
    rdna = arch.startswith(("gfx11", "gfx12"))
    if shape["D"] == 64:
        tiles = {"BLOCK_M": 128, "PRE_LOAD_V": True, "num_warps": 8 if rdna else 4, "waves_per_eu": 3}
        return {**tiles, **_FASTEST.get((arch, 64), {})}
    if rdna:
        return {"BLOCK_M": 128, "BLOCK_N": 16 if arch == "gfx1100" else 32, "num_warps": 8}
    return _FASTEST.get((arch, 128)) or ({"BLOCK_N": 32} if shape["dtype"] == "bf16" else {})


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return the attention of ``q``, ``k`` (batch, head, token, D) and ``vt`` (batch, head, D, token)."""
    import torch

    out = torch.empty_like(inputs["q"])
    tensors = {f"{name}_ptr": inputs[name] for name in ("q", "k", "vt")}
    execute(attention_lean_kernel, launch(shape, config), tensors | {"out_ptr": out}, config)
    return {"out": out}


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    b, h, hk, sq, sk, d = (shape[name] for name in ("B", "H", "HK", "SQ", "SK", "D"))
    sizes = {"q": (b, h, sq, d), "k": (b, hk, sk, d), "vt": (b, hk, d, sk)}
    dtype = torch_dtype(shape["dtype"])
    return {n: torch.randn(size, device=device, generator=generator).to(dtype) for n, size in sizes.items()}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64, one head at a time so that long sequences fit in memory."""
    import torch

    q, k, vt = (inputs[name] for name in ("q", "k", "vt"))
    out = torch.empty(q.shape, device=q.device, dtype=torch.float64)
    group = shape["H"] // shape["HK"]
    for b in range(shape["B"]):
        for h in range(shape["H"]):
            scores = q[b, h].double() @ k[b, h // group].double().T * shape["D"] ** -0.5
            out[b, h] = scores.softmax(dim=1) @ vt[b, h // group].double().T
    return {"out": out}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    The weights and the result are each rounded once to the dtype, with relative error u. A weighted mean of values up
    to 4 with each weight off by u is off by less than 4 u; the float32 sums over the head and the keys add a few
    2**-20.
    """
    relative, _ = rounding(shape["dtype"])
    return relative + 2.0**-19, 4 * relative + 2.0**-19


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic: Q, K and V are read once, and the result is written once."""
    rows = shape["H"] * shape["SQ"] + shape["HK"] * shape["SK"]
    return 2 * shape["B"] * rows * shape["D"] * size_of(shape["dtype"])


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why a shape is not supported, or None: other head sizes, and lengths that need masks."""
    if shape["D"] not in {64, 128}:
        return f"the lean kernel has tiles for heads of 64 and 128, not {shape['D']}; use flash_attention"
    return legal(shape, KERNEL.configure(arch, shape=shape), arch)


def legal(shape: Shape, config: Config, _arch: str = "") -> str | None:
    """Return why a tile is rejected, or None: tiles must divide the lengths, because there are no masks."""
    for length, tile in (("SQ", "BLOCK_M"), ("SK", "BLOCK_N")):
        if shape[length] % config[tile]:
            return f"{tile}={config[tile]} does not divide {length}={shape[length]}"
    return None


def _case(b: int, h: int, hk: int, s: int, d: int, dtype: str = "fp16", **flags: Any) -> dict[str, Any]:
    return {"B": b, "H": h, "HK": hk, "SQ": s, "SK": s, "D": d, "dtype": dtype, **flags}


KERNEL = Kernel(
    name="attention_lean",
    entry=attention_lean_kernel,
    summary="Lean attention forward with fixed tiles for heads of 64 and 128: no masks, V transposed",
    launch=launch,
    shapes={
        "s4096_d128": _case(4, 48, 48, 4096, 128),
        "s4096_d64": _case(4, 48, 48, 4096, 64),
        "s1024_d128": _case(16, 16, 16, 1024, 128),
        "s2048_d128": _case(8, 16, 16, 2048, 128),
        "s16384_d128": _case(1, 16, 16, 16384, 128),
        "gqa_bf16": _case(2, 32, 8, 8192, 128, "bf16"),
    },
    config={
        "BLOCK_M": 256,
        "BLOCK_N": 64,
        "PRE_LOAD_V": False,
        "num_warps": 8,
        "num_stages": 1,
        "waves_per_eu": 2,
    },
    # The published tiles for heads of 128 and 64, for comparison: what a search would find is not for this kernel.
    configs=[
        {"BLOCK_M": 256, "BLOCK_N": 128, "num_warps": 8, "PRE_LOAD_V": False, "waves_per_eu": 2},
        {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 4, "PRE_LOAD_V": True, "waves_per_eu": 3},
    ],
    space={"BLOCK_M": (128, 256), "BLOCK_N": (32, 64, 128), "PRE_LOAD_V": (False, True), "num_warps": (4, 8)},
    shape_config=shape_config,
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=lambda shape: 4 * shape["B"] * shape["H"] * shape["SQ"] * shape["SK"] * shape["D"],
    bytes=traffic,
    unsupported=unsupported,
    checks={
        "d64": Check(_case(1, 2, 2, 128, 64)),
        "d128_bf16": Check(_case(1, 1, 1, 256, 128, "bf16", SK=64)),
        "gqa_fp32": Check(_case(1, 4, 2, 128, 64, "fp32", SK=192)),
        "load_v_late": Check(_case(2, 1, 1, 128, 64), {"PRE_LOAD_V": False}),
        "d128_load_v_early": Check(_case(1, 1, 1, 256, 128), {"PRE_LOAD_V": True}),
    },
)
