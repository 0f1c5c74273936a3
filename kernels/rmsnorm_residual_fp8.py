"""Residual connection, RMS norm and FP8 quantisation in one pass, as an FP8 transformer block does before a projection.

h = x + residual (stored as the new residual); q = fp8(scale * weight * h / sqrt(average(h * h) + eps)).
Unfused, the three steps move the row seven times; here it is read twice (x, residual) and written once and a half.
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
    Shape,
    Tensor,
    execute,
    no_fp8,
    rounding,
    size_of,
    torch_dtype,
)

EPS = 1e-5
LARGEST = {"fp8e4nv": 448.0, "fp8e4b8": 240.0}


@triton.jit
def rmsnorm_residual_fp8(
    x, residual, weight, scale, new_residual, quantised, N, eps, LARGEST: tl.constexpr, BLOCK_N: tl.constexpr
):
    """One row of ``x`` and ``residual`` [M, N] into ``new_residual`` [M, N] and ``quantised`` [M, N] (8-bit float).

    ``scale`` [1] float32 is what the values are multiplied by before rounding; values beyond the format's largest,
    ``LARGEST``, are clamped, since FNUZ would turn them into NaN.
    """
    row = tl.program_id(0).to(tl.int64) * N
    columns = tl.arange(0, BLOCK_N)
    inside = columns < N
    left = tl.load(x + row + columns, mask=inside, other=0.0).to(tl.float32)
    right = tl.load(residual + row + columns, mask=inside, other=0.0).to(tl.float32)
    # The norm sees what later layers will see: the sum as it is stored.
    stored = (left + right).to(new_residual.dtype.element_ty)
    tl.store(new_residual + row + columns, stored, mask=inside)
    h = stored.to(tl.float32)
    factor = tl.load(scale) * tl.rsqrt(tl.sum(h * h, axis=0) / N + eps)
    w = tl.load(weight + columns, mask=inside, other=0.0).to(tl.float32)
    value = h * factor * w
    value = tl.minimum(tl.maximum(value, -LARGEST), LARGEST)
    tl.store(quantised + row + columns, value.to(quantised.dtype.element_ty), mask=inside)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch.

    ``x``, ``residual``, ``new_residual`` are [M, N]; ``weight`` [N]; ``scale`` [1]; ``quantised`` [M, N] 8-bit.
    """
    rows = Tensor(shape["dtype"], (shape["M"], shape["N"]))
    args = {"x": rows, "residual": rows, "weight": Tensor(shape["dtype"], (shape["N"],)), "scale": Tensor("fp32", (1,))}
    args |= {"new_residual": rows, "quantised": Tensor(shape["out"], (shape["M"], shape["N"]))}
    numbers = {"N": shape["N"], "eps": EPS, "LARGEST": LARGEST[shape["out"]]}
    return Launch(args={**args, **numbers, "BLOCK_N": triton.next_power_of_2(shape["N"])}, grid=(shape["M"],))


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed rows, and a scale that saturates values beyond 3.7 standard deviations."""
    import torch

    draw = {"device": device, "generator": torch.Generator(device=device).manual_seed(seed)}
    dtype = torch_dtype(shape["dtype"])
    return {
        "x": torch.randn(shape["M"], shape["N"], **draw).to(dtype),
        "residual": (2 * torch.randn(shape["M"], shape["N"], **draw)).to(dtype),
        "weight": (1 + 0.1 * torch.randn(shape["N"], **draw)).to(dtype),
        "scale": torch.full((1,), LARGEST[shape["out"]] / 3.7, device=device),
    }


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``new_residual`` [M, N] in the input's dtype and ``quantised`` [M, N] in 8 bits."""
    import torch

    x = inputs["x"]
    outputs = {"new_residual": torch.empty_like(x), "quantised": torch.empty_like(x, dtype=torch_dtype(shape["out"]))}
    execute(rmsnorm_residual_fp8, launch(shape, config), {**inputs, **outputs}, config)
    return outputs


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64, before the last rounding."""
    stored = (inputs["x"].float() + inputs["residual"].float()).to(inputs["x"].dtype)
    h = stored.double()
    norm = h * (h.square().mean(-1, keepdim=True) + EPS).rsqrt() * inputs["weight"].double()
    limit = LARGEST[shape["out"]]
    return {"new_residual": stored, "quantised": (norm * inputs["scale"].double()).clamp(-limit, limit)}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    They cover the rounding to the 8-bit format, by up to half a unit, and the float32 arithmetic before it.
    """
    relative, absolute = rounding(shape["out"])
    return relative + 16 * 2.0**-24, absolute + 2.0**-24


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why a row does not fit one tile or the GPU has no conversion to the output's FP8 type, or None."""
    if shape["N"] > 65536:
        return f"rows of {shape['N']} columns do not fit one tile of 65536"
    return no_fp8(arch, shape["out"])


def shape_config(shape: Shape, arch: str) -> Config:
    """Return a number of wavefronts with at most 32 float32 values per lane and row."""
    return {"num_warps": 4 if shape["N"] <= 4096 else 8 if shape["N"] <= 8192 else 16}


def _llama405b(rows: int) -> Shape:
    """Return a problem with rows of Llama 3.1 405B, whose hidden size is 16384."""
    return {"M": rows, "N": 16384, "dtype": "fp16", "out": "fp8_e4m3"}


KERNEL = Kernel(
    name="rmsnorm_residual_fp8",
    entry=rmsnorm_residual_fp8,
    summary="Residual + RMS norm + FP8 quantisation in one pass",
    launch=launch,
    shapes={
        "m2048_n16384": {"M": 2048, "N": 16384, "dtype": "fp16", "out": "fp8_e4m3"},
        "llama405b_m1": _llama405b(1),
        "llama405b_m2": _llama405b(2),
        "llama405b_m4": _llama405b(4),
        "llama405b_m8": _llama405b(8),
        "llama405b_m16": _llama405b(16),
        "llama405b_m32": _llama405b(32),
        "llama405b_m64": _llama405b(64),
        "llama405b_m128": _llama405b(128),
        "llama405b_m256": _llama405b(256),
        "llama405b_m512": _llama405b(512),
        "llama405b_m1024": _llama405b(1024),
        "llama405b_m2048": _llama405b(2048),
        "llama70b_m256": {"M": 256, "N": 8192, "dtype": "bf16", "out": "fp8_e4m3"},
    },
    checks={
        "even": Check({"M": 3, "N": 512, "dtype": "fp16", "out": "fp8_e4m3"}),
        "masked": Check({"M": 2, "N": 777, "dtype": "fp16", "out": "fp8_e4m3"}),
        "fp32": Check({"M": 2, "N": 300, "dtype": "fp32", "out": "fp8_e4m3"}),
    },
    config={"num_warps": 16},
    configs=({"num_warps": 8}, {"num_warps": 4}),
    space={"num_warps": (2, 4, 8, 16), "waves_per_eu": (0, 1, 2, 4)},
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    unsupported=unsupported,
    shape_config=shape_config,
    flops=lambda shape: 6 * shape["M"] * shape["N"],
    bytes=lambda shape: shape["N"] * (shape["M"] * (3 * size_of(shape["dtype"]) + 1) + size_of(shape["dtype"])) + 4,
)
