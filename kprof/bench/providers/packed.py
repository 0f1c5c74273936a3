"""Attention of packed sequences: SDPA per sequence, and AITER's and Composable Kernel's variable-length functions."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kprof.bench.providers.attention import CK, CK_MODULE, TRITON, TRITON_MODULE
from kprof.bench.providers.prepared import Prepared, need
from kprof.errors import KprofError
from kprof.kernel_spec import Shape

Values = Mapping[str, Any]


def _per_sequence(inputs: Values, shape: Shape) -> Values:
    """Return each sequence's heads-first views and mask. Reading the sequence bounds here waits for the device."""
    sequences = []
    ends = [inputs[name].tolist() for name in ("cu_queries", "cu_keys")]
    for b in range(shape["B"]):
        (q0, q1), (k0, k1) = ends[0][b : b + 2], ends[1][b : b + 2]
        if q0 == q1 or k0 == k1:
            continue
        q = inputs["q"][q0:q1].transpose(0, 1)[None]
        k, v = (inputs[name][k0:k1].transpose(0, 1)[None] for name in "kv")
        sequences.append({"at": q0, "q": q, "k": k, "v": v, "mask": _mask(inputs, shape, b, q1 - q0, k1 - k0)})
    return {"like": inputs["q"], "sequences": sequences}


def _mask(inputs: Values, shape: Shape, b: int, queries: int, keys: int) -> Any:
    """Return the term to add to a sequence's scores, (H, queries, keys) or (queries, keys), or ``None``."""
    import torch

    q = inputs["q"]
    last = torch.arange(queries, device=q.device)[:, None] + keys - queries
    key = torch.arange(keys, device=q.device)[None, :]
    added = None
    if shape["alibi"]:
        added = -inputs["slopes"][:, None, None] * (last - key).abs()
    if shape["bias"]:
        bias = inputs["bias"][b, :, :queries, :keys].float()
        added = bias if added is None else added + bias
    if shape["causal"]:
        hidden = key > last
        empty = torch.zeros(queries, keys, device=q.device)
        added = (empty if added is None else added).masked_fill(hidden, -torch.inf)
    return None if added is None else added.to(q.dtype)


def _sdpa(values: Values, _shape: Shape) -> Values:
    """Compute attention with one SDPA call per sequence; rows without visible keys are zero."""
    import torch

    out = torch.zeros_like(values["like"])
    for one in values["sequences"]:
        q, k, v = (one[name] for name in "qkv")
        mask = None if one["mask"] is None else one["mask"].expand(1, q.shape[1], q.shape[2], k.shape[2])
        found = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, enable_gqa=q.shape[1] != k.shape[1]
        )
        out[one["at"] : one["at"] + q.shape[2]] = found[0].transpose(0, 1)
    return {"out": out.nan_to_num_()}


def _library_inputs(inputs: Values, shape: Shape, what: str) -> Values:
    need("aiter", what)
    if shape["bias"]:
        raise KprofError(f"{what} takes no matrix of biases for packed sequences")
    return inputs


def _library(values: Values, shape: Shape, module: str) -> Values:
    from importlib import import_module

    options = {"alibi_slopes": values["slopes"]} if shape["alibi"] else {}
    out = import_module(module).flash_attn_varlen_func(
        *(values[name] for name in ("q", "k", "v", "cu_queries", "cu_keys")),
        shape["SQ"],
        shape["SK"],
        causal=shape["causal"],
        **options,
    )
    return {"out": out[0] if isinstance(out, tuple) else out}


PROVIDERS = {
    "attention_varlen": {
        "sdpa": Prepared(_per_sequence, _sdpa),
        "aiter": Prepared(partial(_library_inputs, what=TRITON), partial(_library, module=TRITON_MODULE)),
        "ck": Prepared(partial(_library_inputs, what=CK), partial(_library, module=CK_MODULE)),
    }
}
