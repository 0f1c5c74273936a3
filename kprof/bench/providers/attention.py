"""Attention in torch (all scores in memory), torch's SDPA, AITER (Triton) and Composable Kernel through AITER.

Layouts, masks and dequantised tensors are prepared before the timing, except where a provider's name says otherwise.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kprof.bench.providers.prepared import Prepared, need
from kprof.errors import KprofError
from kprof.kernel_spec import Shape

Values = Mapping[str, Any]


def _heads_first(inputs: Values, shape: Shape) -> tuple[Any, Any, Any]:
    """Return q, k and v with the heads before the sequence.

    Raises:
        KprofError: the shape has sinks or dropout, which these libraries cannot compute with the kernel's inputs.
    """
    if shape.get("sinks") or shape.get("dropout"):
        raise KprofError("only the bundled kernel supports attention with sinks or with its dropout masks")
    q, k = inputs["q"], inputs["k"]
    v = inputs["v"] if "v" in inputs else inputs["vt"].transpose(-1, -2)
    if shape.get("layout") == "bshd":
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    return q, k, v


def _like_input(out: Any, shape: Shape) -> Any:
    return out.transpose(1, 2) if shape.get("layout") == "bshd" else out


def _forbidden_keys(shape: Shape, device: Any) -> Any:
    """Return the mask of forbidden keys per query. The last query may use all keys, or the last ``window`` keys."""
    import torch

    pairs = torch.ones(shape["SQ"], shape["SK"], device=device, dtype=torch.bool)
    shift = shape["SK"] - shape["SQ"]
    hidden = pairs.triu(1 + shift)
    return hidden | pairs.tril(shift - shape["window"]) if shape.get("window") else hidden


def _native_inputs(inputs: Values, shape: Shape) -> Values:
    """Return inputs with keys and values repeated for each query head, and the mask."""
    q, k, v = _heads_first(inputs, shape)
    group = q.shape[1] // k.shape[1]
    k, v = (t.repeat_interleave(group, dim=1) if group > 1 else t for t in (k, v))
    return {"q": q, "k": k, "v": v} | ({"hidden": _forbidden_keys(shape, q.device)} if shape.get("causal") else {})


def _native(values: Values, shape: Shape) -> Values:
    scores = (values["q"] @ values["k"].transpose(-1, -2)) * shape["D"] ** -0.5
    if "hidden" in values:
        scores = scores.masked_fill(values["hidden"], float("-inf"))
    return {"out": _like_input(scores.softmax(dim=-1) @ values["v"], shape)}


def sdpa_inputs(inputs: Values, shape: Shape) -> Values:
    """Return inputs with heads first and contiguous V; with a mask if SDPA's causal mask differs."""
    q, k, v = _heads_first(inputs, shape)
    values = {"q": q, "k": k, "v": v if "v" in inputs else v.contiguous()}
    if shape.get("causal") and (shape["SQ"] != shape["SK"] or shape.get("window")):
        values["seen"] = ~_forbidden_keys(shape, q.device)
    return values


def sdpa(values: Values, shape: Shape) -> Values:
    """Compute attention with one call of SDPA."""
    import torch

    q, k, v = (values[name] for name in "qkv")
    mask = values.get("seen")
    out = torch.nn.functional.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=mask,
        is_causal=bool(shape.get("causal")) and mask is None,
        enable_gqa=q.shape[1] != k.shape[1],
    )
    return {"out": _like_input(out, shape)}


def _aiter_inputs(inputs: Values, shape: Shape, what: str) -> Values:
    """Return contiguous inputs with the sequence before the heads, the only layout that AITER supports."""
    need("aiter", what)
    if shape.get("lse"):
        raise KprofError(f"kprof does not call {what} for the log-sum-exp")
    if shape.get("window"):
        raise KprofError(f"kprof does not call {what} with a sliding window")
    return dict(zip("qkv", (t.transpose(1, 2).contiguous() for t in _heads_first(inputs, shape)), strict=True))


def _aiter(values: Values, shape: Shape, module: str) -> Values:
    from importlib import import_module

    q, k, v = (values[name] for name in "qkv")
    out = import_module(module).flash_attn_func(q, k, v, causal=bool(shape.get("causal")))
    out = out[0] if isinstance(out, tuple) else out
    return {"out": out if shape.get("layout") == "bshd" else out.transpose(1, 2)}


TRITON_MODULE, TRITON = "aiter.ops.triton.mha", "AITER's Triton attention"
CK_MODULE, CK = "aiter", "Composable Kernel (through AITER)"


def _backward_inputs(inputs: Values, shape: Shape) -> Values:
    return {**sdpa_inputs(inputs, shape), "dout": inputs["dout"]}


def _backward(values: Values, shape: Shape) -> Values:
    """Compute forward and backward through SDPA."""
    import torch

    leaves = {n: values[n].detach().requires_grad_() for n in ("q", "k", "v")}
    out = sdpa({**values, **leaves}, shape)["out"]
    dq, dk, dv = torch.autograd.grad(out, list(leaves.values()), values["dout"])
    return {"out": out.detach(), "dq": dq, "dk": dk, "dv": dv}


def _dequantised(inputs: Values, shape: Shape) -> Values:
    from kprof.kernel_spec import torch_dtype

    def real(name: str) -> Any:
        x = inputs[name].float()
        step = inputs.get(f"{name}_descale")
        return (x if step is None else x * step[:, :, None, None]).to(torch_dtype(shape["dtype"]))

    return {name: real(name) for name in "qkv"}


def _int8_beforehand(inputs: Values, shape: Shape) -> Values:
    return sdpa_inputs(_dequantised(inputs, shape), shape)


def _int8_in_the_call(inputs: Values, shape: Shape) -> Values:
    """Compute with SDPA, dequantising in each call: the cost of integers without a specialised kernel."""
    values = {**inputs, **_dequantised(inputs, shape)}
    return sdpa(values, shape)


def _int8_mask(inputs: Values, shape: Shape) -> Values:
    mask = (
        {"seen": ~_forbidden_keys(shape, inputs["q"].device)} if shape["causal"] and shape["SQ"] != shape["SK"] else {}
    )
    return {**inputs, **mask}


_FORWARD = {
    "torch": Prepared(_native_inputs, _native),
    "sdpa": Prepared(sdpa_inputs, sdpa),
    "aiter": Prepared(partial(_aiter_inputs, what=TRITON), partial(_aiter, module=TRITON_MODULE)),
    "ck": Prepared(partial(_aiter_inputs, what=CK), partial(_aiter, module=CK_MODULE)),
}

PROVIDERS = {
    "flash_attention": _FORWARD,
    "attention_lean": _FORWARD,
    "attention_persistent": _FORWARD,
    "attention_transposed_v": _FORWARD,
    "attention_forward_backward": {"sdpa": Prepared(_backward_inputs, _backward)},
    "attention_int8": {
        "torch": Prepared(_int8_mask, _int8_in_the_call),
        "sdpa": Prepared(_int8_beforehand, sdpa),
    },
}
