"""Decode attention with a cache: SDPA per sequence, dequantised 4-bit caches, and latent attention in two forms.

Lengths are read before the timing, because reading them waits for the device.
"""

from collections.abc import Mapping
from typing import Any

from kprof.bench.providers.prepared import Prepared
from kprof.kernel_spec import Shape

Values = Mapping[str, Any]


def _views(inputs: Values, _shape: Shape) -> Values:
    """Return each sequence's query and the filled part of its cache, with heads first."""
    filled = [(b, length) for b, length in enumerate(inputs["lengths"].tolist()) if length]
    return {
        "like": inputs["q"],
        "sequences": [
            {"at": b, "q": inputs["q"][b][None, :, None]}
            | {name: inputs[name][b, :length].transpose(0, 1)[None] for name in "kv"}
            for b, length in filled
        ],
    }


def _sdpa(values: Values, _shape: Shape) -> Values:
    """Compute attention with one SDPA call per sequence."""
    import torch

    out = torch.zeros_like(values["like"])
    for one in values["sequences"]:
        attention = torch.nn.functional.scaled_dot_product_attention(one["q"], one["k"], one["v"], enable_gqa=True)
        out[one["at"]] = attention[0, :, 0]
    return {"out": out}


def _unpacked(packed: Any, scale: Any, shift: Any) -> Any:
    """Unpack nibbles into values of shape (..., D), low nibbles first, with a scale and a shift for each half."""
    import torch

    halves = torch.stack([packed & 15, packed >> 4], dim=-2).to(scale.dtype)
    return (halves * scale[..., None] + shift[..., None]).flatten(-2)


def _int4_views(inputs: Values, _shape: Shape) -> Values:
    """Return the filled parts of packed caches."""
    parts = [name + part for name in "kv" for part in ("", "_scale", "_shift")]
    filled = [(b, length) for b, length in enumerate(inputs["lengths"].tolist()) if length]
    return {
        "like": inputs["q"],
        "sequences": [
            {"at": b, "q": inputs["q"][b][None, :, None]} | {part: inputs[part][b, :length] for part in parts}
            for b, length in filled
        ],
    }


def _dequantised(values: Values, _shape: Shape) -> Values:
    def whole(one: Values, name: str) -> Any:
        return _unpacked(one[name], one[f"{name}_scale"], one[f"{name}_shift"]).transpose(0, 1)[None]

    sequences = [{**one, "k": whole(one, "k"), "v": whole(one, "v")} for one in values["sequences"]]
    return {"like": values["like"], "sequences": sequences}


def _int4_beforehand(inputs: Values, shape: Shape) -> Values:
    values = _dequantised(_int4_views(inputs, shape), shape)
    kept = [{name: one[name] for name in ("at", "q", "k", "v")} for one in values["sequences"]]
    return {"like": values["like"], "sequences": kept}


def _int4_in_the_call(values: Values, shape: Shape) -> Values:
    """Compute attention with SDPA, dequantising the cache in each call."""
    return _sdpa(_dequantised(values, shape), shape)


def _latent_views(inputs: Values, shape: Shape) -> Values:
    """Return the filled part of each sequence's latent cache, and the mask of forbidden keys."""
    import torch

    sequences = []
    device = inputs["kv"].device
    for b, length in enumerate(inputs["lengths"].tolist()):
        if not length:
            continue
        last = length - shape["S"] + torch.arange(shape["S"], device=device)[:, None]
        hidden = (torch.arange(length, device=device)[None, :] > last) & shape["causal"]
        own = {name: inputs[name][b, :length] for name in ("kv", "k_pe")}
        queries = {name: inputs[name][b] for name in ("q_nope", "q_pe")}
        sequences.append({"at": b, "hidden": hidden, **own, **queries})
    keys, values = inputs["w"].split([shape["DN"], shape["DV"]], dim=1)
    return {"like": inputs["q_nope"], "w_keys": keys, "w_values": values, "sequences": sequences}


def _weights(scores: Any, one: Values, shape: Shape) -> Any:
    """Return the softmax of the scaled scores, computed in float32; rows without visible keys are zero."""
    scale = (shape["DN"] + shape["DR"]) ** -0.5
    masked = (scores.float() * scale).masked_fill(one["hidden"], float("-inf"))
    return masked.softmax(dim=-1).nan_to_num(0.0).to(scores.dtype)


def _latent(values: Values, shape: Shape, *, absorbed: bool) -> Values:
    import torch

    like = values["like"]
    out = torch.zeros(*like.shape[:3], shape["DV"], device=like.device, dtype=like.dtype)
    for one in values["sequences"]:
        if absorbed:
            queries = one["q_nope"] @ values["w_keys"]
            scores = queries @ one["kv"].T + one["q_pe"] @ one["k_pe"].T
            out[one["at"]] = _weights(scores, one, shape) @ one["kv"] @ values["w_values"].transpose(1, 2)
        else:
            keys = one["kv"] @ values["w_keys"].transpose(1, 2)
            scores = one["q_nope"] @ keys.transpose(1, 2) + one["q_pe"] @ one["k_pe"].T
            out[one["at"]] = _weights(scores, one, shape) @ (one["kv"] @ values["w_values"].transpose(1, 2))
    return {"out": out}


def _naive(values: Values, shape: Shape) -> Values:
    """Compute each head's keys and values from the latents in each call."""
    return _latent(values, shape, absorbed=False)


def _absorbed(values: Values, shape: Shape) -> Values:
    """Project the queries by the key weights, and the weighted sum by the value weights, one operation at a time."""
    return _latent(values, shape, absorbed=True)


PROVIDERS = {
    "flash_decoding": {"sdpa": Prepared(_views, _sdpa)},
    "flash_decoding_int4": {
        "torch": Prepared(_int4_views, _int4_in_the_call),
        "sdpa": Prepared(_int4_beforehand, _sdpa),
    },
    "mla_decode": {"torch": Prepared(_latent_views, _absorbed), "naive": Prepared(_latent_views, _naive)},
}
