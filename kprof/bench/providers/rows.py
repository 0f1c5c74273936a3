"""Softmax, norms, SwiGLU and their gradients in torch; norms and SwiGLU in vLLM, the RMS norm in AITER."""

from collections.abc import Mapping
from typing import Any

from kprof.bench.providers.prepared import Prepared, need
from kprof.errors import KprofError
from kprof.kernel_spec import Shape, torch_dtype

Values = Mapping[str, Any]
_MAX_FP8 = {"fp8e4nv": 448.0, "fp8e4b8": 240.0}


def _softmax(inputs: Values, _shape: Shape) -> Values:
    return {"out": inputs["x"].softmax(dim=1)}


def _whole_gain(inputs: Values, shape: Shape) -> Values:
    """Return the inputs, with one added to the gain if ``unit_offset`` is set; other implementations do not add it."""
    return {**inputs, "gain": inputs["gain"] + 1 if shape["unit_offset"] else inputs["gain"]}


def _rmsnorm(inputs: Values, shape: Shape) -> Values:
    import torch

    return {"out": torch.nn.functional.rms_norm(inputs["x"], (shape["N"],), inputs["gain"], shape["eps"])}


def _rmsnorm_aiter_inputs(inputs: Values, shape: Shape) -> Values:
    need("aiter", "AITER's RMS norm")
    return _whole_gain(inputs, shape)


def _rmsnorm_aiter(inputs: Values, shape: Shape) -> Values:
    from importlib import import_module

    return {"out": import_module("aiter").rms_norm(inputs["x"], inputs["gain"], shape["eps"])}


def _vllm() -> Any:
    """Return vLLM's operators, which its own module registers with torch.

    Raises:
        NotInstalled: vLLM is not installed.
    """
    from importlib import import_module

    need("vllm", "vLLM's operator")
    import_module("vllm._custom_ops")
    import torch

    return torch.ops._C  # noqa: SLF001 - where vLLM puts them


def _rmsnorm_vllm_inputs(inputs: Values, shape: Shape) -> Values:
    _vllm()
    return _whole_gain(inputs, shape)


def _rmsnorm_vllm(inputs: Values, shape: Shape) -> Values:
    import torch

    out = torch.empty_like(inputs["x"])
    torch.ops._C.rms_norm(out, inputs["x"], inputs["gain"], shape["eps"])  # noqa: SLF001 - as above
    return {"out": out}


def _quantising_vllm(inputs: Values, shape: Shape) -> Values:
    """Prepare vLLM's inputs: the inverse scale, since vLLM divides, and a copy of the overwritten residual."""
    import torch

    _vllm()
    if torch_dtype(shape["out"]) not in {torch.float8_e4m3fn, torch.float8_e4m3fnuz}:
        raise KprofError("vLLM quantises to e4m3 only")
    own = {"residual": inputs["residual"].clone()} if "residual" in inputs else {}
    return {**inputs, **own, "scale": inputs["scale"].reciprocal()}


def _rmsnorm_residual_vllm(inputs: Values, shape: Shape) -> Values:
    """Compute the norm with vLLM, which adds to the residual in place, so that its values grow from call to call."""
    import torch

    x, residual = inputs["x"], inputs["residual"]
    out = torch.empty_like(x, dtype=torch_dtype(shape["out"]))
    operator = torch.ops._C.fused_add_rms_norm_static_fp8_quant  # noqa: SLF001 - as above
    operator(out, x, residual, inputs["weight"], inputs["scale"], 1e-5)
    return {"new_residual": residual, "quantised": out}


def _swiglu_vllm(inputs: Values, shape: Shape) -> Values:
    import torch

    x = inputs["x"]
    out = torch.empty(shape["M"], shape["N"], device=x.device, dtype=torch_dtype(shape["out"]))
    torch.ops._C.silu_and_mul_quant(out, x, inputs["scale"])  # noqa: SLF001 - as above
    return {"quantised": out}


def _layernorm(inputs: Values, shape: Shape) -> Values:
    import torch

    return {"y": torch.nn.functional.layer_norm(inputs["x"], (shape["N"],), inputs["weight"], inputs["bias"], 1e-5)}


def _with_bias(inputs: Values, _shape: Shape) -> Values:
    """Add a bias of zeros, because torch computes its gradient only if there is a bias; its values do not matter."""
    import torch

    return {**inputs, "bias": torch.zeros_like(inputs["weight"])}


def _layernorm_backward(inputs: Values, shape: Shape) -> Values:
    import torch

    dx, dw, db = torch.ops.aten.native_layer_norm_backward(
        inputs["dy"],
        inputs["x"],
        (shape["N"],),
        inputs["mean"][:, None],
        inputs["rstd"][:, None],
        inputs["weight"],
        inputs["bias"],
        (True, True, True),
    )
    return {"dx": dx, "dw": dw, "db": db}


def _rmsnorm_backward(inputs: Values, _shape: Shape) -> Values:
    """Compute the gradients by their formula in float32, one operation at a time."""
    dy, x, rstd = inputs["dy"].float(), inputs["x"].float(), inputs["rstd"][:, None]
    xhat = x * rstd
    g = dy * inputs["weight"].float()
    dx = rstd * (g - xhat * (g * xhat).mean(-1, keepdim=True))
    return {"dx": dx.to(inputs["x"].dtype), "dw": (dy * xhat).sum(0).to(inputs["x"].dtype)}


def _rmsnorm_residual_fp8(inputs: Values, shape: Shape) -> Values:
    """Compute the result with separate operations: add, norm, scale, clamp, convert."""
    import torch

    stored = inputs["x"] + inputs["residual"]
    norm = torch.nn.functional.rms_norm(stored.float(), (shape["N"],), inputs["weight"].float(), 1e-5)
    limit = _MAX_FP8[shape["out"]]
    quantised = (norm * inputs["scale"]).clamp(-limit, limit).to(torch_dtype(shape["out"]))
    return {"new_residual": stored, "quantised": quantised}


def _swiglu_fp8(inputs: Values, shape: Shape) -> Values:
    """Compute the result with separate operations: SiLU, product, scale, clamp, convert."""
    import torch

    gate, up = inputs["x"].float().split(shape["N"], dim=-1)
    limit = _MAX_FP8[shape["out"]]
    value = torch.nn.functional.silu(gate) * up * inputs["scale"]
    return {"quantised": value.clamp(-limit, limit).to(torch_dtype(shape["out"]))}


PROVIDERS = {
    "softmax": {"torch": _softmax},
    "rmsnorm": {
        "torch": Prepared(_whole_gain, _rmsnorm),
        "aiter": Prepared(_rmsnorm_aiter_inputs, _rmsnorm_aiter),
        "vllm": Prepared(_rmsnorm_vllm_inputs, _rmsnorm_vllm),
    },
    "layernorm": {"torch": _layernorm},
    "layernorm_backward": {"torch": Prepared(_with_bias, _layernorm_backward)},
    "rmsnorm_backward": {"torch": _rmsnorm_backward},
    "rmsnorm_residual_fp8": {
        "torch": _rmsnorm_residual_fp8,
        "vllm": Prepared(_quantising_vllm, _rmsnorm_residual_vllm),
    },
    "swiglu_fp8": {"torch": _swiglu_fp8, "vllm": Prepared(_quantising_vllm, _swiglu_vllm)},
}
