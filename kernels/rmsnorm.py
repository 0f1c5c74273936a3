"""RMS norm of the rows of a matrix: y = x / sqrt(mean(x^2) + eps) * g.

A row that fits one block is read once. A wider row is read twice, in blocks: the first pass sums the squares lane by
lane, with one reduction at the end. Several short rows share a workgroup. ``inv_rms`` is kept on request, for the
backward pass.
"""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Check, Config, Kernel, Launch, Shape, Tensor, execute, rounding, size_of, torch_dtype


@triton.jit
def rmsnorm_kernel(
    out_ptr,
    inv_rms_ptr,
    x_ptr,
    gain_ptr,
    n_rows,
    n_cols,
    x_stride,
    out_stride,
    eps,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    ONE_PASS: tl.constexpr,
    UNIT_OFFSET: tl.constexpr,
):
    first = tl.program_id(0) * ROWS
    # The 64-bit part of the address is uniform and goes to the base; the lanes' offsets stay 32-bit (buffer loads).
    x_ptr += first.to(tl.int64) * x_stride
    out_ptr += first.to(tl.int64) * out_stride
    row = tl.arange(0, ROWS)
    col = tl.arange(0, BLOCK)[None, :]
    live = (first + row < n_rows)[:, None]

    if ONE_PASS:
        mask = live & (col < n_cols)
        x = tl.load(x_ptr + row[:, None] * x_stride + col, mask=mask, other=0.0).to(tl.float32)
        # Loaded before the reduction, whose barrier it would otherwise wait behind.
        gain = tl.load(gain_ptr + col, mask=col < n_cols, other=0.0).to(tl.float32)
        inv_rms = tl.rsqrt(tl.sum(x * x, axis=1) / n_cols + eps)
        if UNIT_OFFSET:
            gain += 1.0
        result = x * inv_rms[:, None] * gain
        tl.store(out_ptr + row[:, None] * out_stride + col, result.to(out_ptr.dtype.element_ty), mask=mask)
    else:
        squares = tl.zeros([ROWS, BLOCK], tl.float32)
        for start in range(0, n_cols, BLOCK):
            mask = live & (start + col < n_cols)
            x = tl.load(x_ptr + row[:, None] * x_stride + start + col, mask=mask, other=0.0).to(tl.float32)
            squares += x * x
        inv_rms = tl.rsqrt(tl.sum(squares, axis=1) / n_cols + eps)
        for start in range(0, n_cols, BLOCK):
            mask = live & (start + col < n_cols)
            x = tl.load(x_ptr + row[:, None] * x_stride + start + col, mask=mask, other=0.0).to(tl.float32)
            gain = tl.load(gain_ptr + start + col, mask=start + col < n_cols, other=0.0).to(tl.float32)
            if UNIT_OFFSET:
                gain += 1.0
            result = x * inv_rms[:, None] * gain
            tl.store(out_ptr + row[:, None] * out_stride + start + col, result.to(out_ptr.dtype.element_ty), mask=mask)

    if inv_rms_ptr is not None:
        tl.store(inv_rms_ptr + first + row, inv_rms, mask=first + row < n_rows)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for ``ROWS`` rows."""
    m, n = shape["M"], shape["N"]
    width = triton.next_power_of_2(n)
    block = min(config["BLOCK"], width)
    args = {
        "out_ptr": Tensor(shape["dtype"], (m, n)),
        "inv_rms_ptr": Tensor("fp32", (m,)) if shape["inv_rms"] else None,
        "x_ptr": Tensor(shape["dtype"], (m, n)),
        "gain_ptr": Tensor(shape["dtype"], (n,)),
        "n_rows": m,
        "n_cols": n,
        "x_stride": n,
        "out_stride": n,
        "eps": shape["eps"],
        "ROWS": config["ROWS"],
        "BLOCK": block,
        "ONE_PASS": width <= block,
        "UNIT_OFFSET": shape["unit_offset"],
    }
    return Launch(args, (triton.cdiv(m, config["ROWS"]),))


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return 16 to 32 elements per lane: fewer wavefronts for short rows, several very short rows per workgroup.

    On CDNA rows of up to 65,536 stay in registers, 128 elements per lane: reading them again costs half of the time.
    """
    width = triton.next_power_of_2(shape["N"])
    lanes = 32 if arch.startswith("gfx1") else 64
    warps = max(1, min(8, width // (16 * lanes)))
    one_pass = {"BLOCK": width} if 16384 < width <= 1024 * lanes and lanes == 64 else {}
    return {"ROWS": max(1, 8 * lanes // width), "num_warps": warps, **one_pass}


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return the RMS norm of ``inputs["x"]`` (M x N, contiguous rows).

    ``out`` has the shape of ``x``; ``inv_rms`` is (M,) float32.
    """
    import torch

    x = inputs["x"]
    outputs = {"out": torch.empty_like(x)}
    if shape["inv_rms"]:
        outputs["inv_rms"] = torch.empty(shape["M"], device=x.device, dtype=torch.float32)
    tensors = {"x_ptr": x, "gain_ptr": inputs["gain"], "out_ptr": outputs["out"]}
    execute(rmsnorm_kernel, launch(shape, config), tensors | {"inv_rms_ptr": outputs.get("inv_rms")}, config)
    return outputs


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs; the gain is around 1, or around 0 if the kernel adds 1 to it."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    kind = torch_dtype(shape["dtype"])
    x = torch.randn(shape["M"], shape["N"], device=device, generator=generator)
    gain = 0.25 * torch.randn(shape["N"], device=device, generator=generator) + (not shape["unit_offset"])
    return {"x": x.to(kind), "gain": gain.to(kind)}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64 from the rounded inputs."""
    x, gain = inputs["x"].double(), inputs["gain"].double()
    inv_rms = (x.square().mean(dim=1) + shape["eps"]).rsqrt()
    out = x * inv_rms[:, None] * (gain + shape["unit_offset"])
    return {"out": out, "inv_rms": inv_rms} if shape["inv_rms"] else {"out": out}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    They cover the rounding of the result and a few float32 roundings; a sum of positive squares loses nothing to
    cancellation.

    Lanes add N / lanes terms one after another, so the sum's relative error stays below 2**-17 up to a million columns.
    """
    relative, absolute = rounding(shape["dtype"])
    return relative + 2.0**-18, absolute + 2.0**-30


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic: input and gain are read once, and the results are written once."""
    m, n = shape["M"], shape["N"]
    return (2 * m * n + n) * size_of(shape["dtype"]) + (4 * m if shape["inv_rms"] else 0)


def _case(m: int, n: int, dtype: str = "bf16", **flags: Any) -> dict[str, Any]:
    return {"M": m, "N": n, "dtype": dtype, "eps": 1e-6, "inv_rms": False, "unit_offset": False, **flags}


KERNEL = Kernel(
    name="rmsnorm",
    entry=rmsnorm_kernel,
    summary="RMS norm of each row, one pass or in blocks; keeps 1/rms for the backward pass on request",
    launch=launch,
    shapes={
        "rows_8k": _case(4096, 8192),
        "llama405b": _case(2048, 16384, "fp16"),
        "llama405b_decode": _case(32, 16384, "fp16"),
        "llama8b": _case(8192, 4096),
        "head_norm": _case(131072, 128),
        "gemma": _case(4096, 5376, unit_offset=True),
        "training": _case(8192, 4096, inv_rms=True),
        "wide": _case(1024, 65536),
        "fp32": _case(4096, 4096, "fp32"),
    },
    config={"BLOCK": 16384, "ROWS": 1, "num_warps": 8, "num_stages": 2, "waves_per_eu": 0},
    shape_config=shape_config,
    configs=[
        {"BLOCK": 16384, "num_warps": 8},
        {"BLOCK": 16384, "num_warps": 16},
        {"BLOCK": 8192, "num_warps": 4},
        {"BLOCK": 2048, "num_warps": 4},
        {"BLOCK": 2048, "num_warps": 8},
    ],
    space={
        "BLOCK": (1024, 2048, 4096, 8192, 16384, 32768, 65536),
        "ROWS": (1, 2, 4),
        "num_warps": (1, 2, 4, 8, 16),
        "waves_per_eu": (0, 1, 2, 4),
    },
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    # Square, sum, two products.
    flops=lambda shape: 4 * shape["M"] * shape["N"],
    bytes=traffic,
    checks={
        "one_pass": Check(_case(5, 256, "fp32", inv_rms=True), {"ROWS": 1}),
        "masked": Check(_case(7, 100, "fp16"), {"ROWS": 4}),
        "blocks": Check(_case(3, 500, "bf16", inv_rms=True), {"BLOCK": 128, "ROWS": 1}),
        "unit_offset": Check(_case(4, 128, "bf16", unit_offset=True), {"ROWS": 2}),
        "unit_offset_blocks": Check(_case(3, 300, "fp32", unit_offset=True), {"BLOCK": 128, "ROWS": 2}),
    },
)
