"""Softmax, norms, SwiGLU and their gradients in torch."""

from collections.abc import Mapping
from typing import Any

from kprof.kernel_spec import Shape, torch_dtype

Values = Mapping[str, Any]
_LARGEST = {"fp8e4nv": 448.0, "fp8e4b8": 240.0}


def _softmax(inputs: Values, _shape: Shape) -> Values:
    return {"out": inputs["x"].softmax(dim=1)}


def _rmsnorm(inputs: Values, shape: Shape) -> Values:
    import torch

    gain = inputs["gain"] + 1 if shape["unit_offset"] else inputs["gain"]
    return {"out": torch.nn.functional.rms_norm(inputs["x"], (shape["N"],), gain, shape["eps"])}


def _layernorm(inputs: Values, shape: Shape) -> Values:
    import torch

    return {"y": torch.nn.functional.layer_norm(inputs["x"], (shape["N"],), inputs["weight"], inputs["bias"], 1e-5)}


def _layernorm_backward(inputs: Values, shape: Shape) -> Values:
    import torch

    weight = inputs["weight"]
    dx, dw, db = torch.ops.aten.native_layer_norm_backward(
        inputs["dy"],
        inputs["x"],
        (shape["N"],),
        inputs["mean"][:, None],
        inputs["rstd"][:, None],
        weight,
        torch.zeros_like(weight),
        (True, True, True),
    )
    return {"dx": dx, "dw": dw, "db": db}


def _rmsnorm_backward(inputs: Values, _shape: Shape) -> Values:
    """The formula in float32, one operation after the other."""
    dy, x, rstd = inputs["dy"].float(), inputs["x"].float(), inputs["rstd"][:, None]
    xhat = x * rstd
    g = dy * inputs["weight"].float()
    dx = rstd * (g - xhat * (g * xhat).mean(-1, keepdim=True))
    return {"dx": dx.to(inputs["x"].dtype), "dw": (dy * xhat).sum(0).to(inputs["x"].dtype)}


def _rmsnorm_residual_fp8(inputs: Values, shape: Shape) -> Values:
    """Unfused: add, norm, scale, clamp, convert."""
    import torch

    stored = inputs["x"] + inputs["residual"]
    norm = torch.nn.functional.rms_norm(stored.float(), (shape["N"],), inputs["weight"].float(), 1e-5)
    limit = _LARGEST[shape["out"]]
    quantised = (norm * inputs["scale"]).clamp(-limit, limit).to(torch_dtype(shape["out"]))
    return {"new_residual": stored, "quantised": quantised}


def _swiglu_fp8(inputs: Values, shape: Shape) -> Values:
    """Unfused: SiLU, product, scale, clamp, convert."""
    import torch

    gate, up = inputs["x"].float().split(shape["N"], dim=-1)
    limit = _LARGEST[shape["out"]]
    value = torch.nn.functional.silu(gate) * up * inputs["scale"]
    return {"quantised": value.clamp(-limit, limit).to(torch_dtype(shape["out"]))}


PROVIDERS = {
    "softmax": {"torch": _softmax},
    "rmsnorm": {"torch": _rmsnorm},
    "layernorm": {"torch": _layernorm},
    "layernorm_backward": {"torch": _layernorm_backward},
    "rmsnorm_backward": {"torch": _rmsnorm_backward},
    "rmsnorm_residual_fp8": {"torch": _rmsnorm_residual_fp8},
    "swiglu_fp8": {"torch": _swiglu_fp8},
}
