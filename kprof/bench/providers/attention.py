"""Attention in torch (all scores in memory), torch's SDPA, AITER (Triton) and Composable Kernel through AITER."""

from collections.abc import Mapping
from typing import Any

from kprof.bench.errors import need
from kprof.errors import KprofError
from kprof.kernel_spec import Shape

Values = Mapping[str, Any]


def _heads_first(inputs: Values, shape: Shape) -> tuple[Any, Any, Any]:
    q, k = inputs["q"], inputs["k"]
    v = inputs["v"] if "v" in inputs else inputs["vt"].transpose(-1, -2)
    if shape.get("layout") == "bshd":
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    return q, k, v


def _like_input(out: Any, shape: Shape) -> Any:
    return out.transpose(1, 2) if shape.get("layout") == "bshd" else out


def _causal_mask(shape: Shape, device: Any) -> Any:
    """Where a query must not look; the last query sees all keys."""
    import torch

    return torch.ones(shape["SQ"], shape["SK"], device=device, dtype=torch.bool).triu(1 + shape["SK"] - shape["SQ"])


def _native(inputs: Values, shape: Shape) -> Values:
    q, k, v = _heads_first(inputs, shape)
    group = q.shape[1] // k.shape[1]
    k, v = (t.repeat_interleave(group, dim=1) if group > 1 else t for t in (k, v))
    scores = (q @ k.transpose(-1, -2)) * shape["D"] ** -0.5
    if shape.get("causal"):
        scores = scores.masked_fill(_causal_mask(shape, q.device), float("-inf"))
    return {"out": _like_input(scores.softmax(dim=-1) @ v, shape)}


def _sdpa(inputs: Values, shape: Shape) -> Values:
    import torch

    q, k, v = _heads_first(inputs, shape)
    square = shape["SQ"] == shape["SK"]
    causal = bool(shape.get("causal"))
    mask = None if square or not causal else ~_causal_mask(shape, q.device)
    out = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, is_causal=causal and square, enable_gqa=q.shape[1] != k.shape[1]
    )
    return {"out": _like_input(out, shape)}


def _aiter(inputs: Values, shape: Shape, module: str, what: str) -> Values:
    from importlib import import_module

    need("aiter", what)
    if shape.get("lse"):
        raise KprofError(f"{what} is not asked for the log-sum-exp here")
    q, k, v = (t.transpose(1, 2).contiguous() for t in _heads_first(inputs, shape))
    out = import_module(module).flash_attn_func(q, k, v, causal=bool(shape.get("causal")))
    out = out[0] if isinstance(out, tuple) else out
    return {"out": out if shape.get("layout") == "bshd" else out.transpose(1, 2)}


def _aiter_triton(inputs: Values, shape: Shape) -> Values:
    return _aiter(inputs, shape, "aiter.ops.triton.mha", "AITER's Triton attention")


def _composable_kernel(inputs: Values, shape: Shape) -> Values:
    return _aiter(inputs, shape, "aiter", "Composable Kernel (through AITER)")


def _backward(inputs: Values, shape: Shape) -> Values:
    """Forward and backward through SDPA."""
    import torch

    leaves = [inputs[n].detach().requires_grad_() for n in ("q", "k", "v")]
    out = _sdpa(dict(zip("qkv", leaves, strict=True)), shape)["out"]
    dq, dk, dv = torch.autograd.grad(out, leaves, inputs["dout"])
    return {"out": out.detach(), "dq": dq, "dk": dk, "dv": dv}


def _decoding(inputs: Values, _shape: Shape) -> Values:
    """A call of SDPA for each sequence, on the part of its cache that is filled."""
    import torch

    out = torch.zeros_like(inputs["q"])
    for b, length in enumerate(inputs["lengths"].tolist()):
        if length:
            q = inputs["q"][b][None, :, None]
            k, v = (inputs[n][b, :length].transpose(0, 1)[None] for n in "kv")
            out[b] = torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)[0, :, 0]
    return {"out": out}


_FORWARD = {"torch": _native, "sdpa": _sdpa, "aiter": _aiter_triton, "ck": _composable_kernel}

PROVIDERS = {
    "flash_attention": _FORWARD,
    "attention_lean": _FORWARD,
    "attention_persistent": _FORWARD,
    "attention_transposed_v": _FORWARD,
    "flash_decoding": {"sdpa": _decoding},
    "attention_forward_backward": {"sdpa": _backward},
}
