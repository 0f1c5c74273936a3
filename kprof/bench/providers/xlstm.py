"""Compute mLSTM in torch in its quadratic form, in which it is trained without a specialised kernel."""

from collections.abc import Mapping
from typing import Any

from kprof.kernel_spec import Shape

Values = Mapping[str, Any]


def _mlstm(inputs: Values, shape: Shape) -> Values:
    import torch

    q, k, v = inputs["q"], inputs["k"], inputs["v"]
    decay = torch.nn.functional.logsigmoid(inputs["forget_gate"]).cumsum(-1)
    exponent = decay[:, :, None] - decay[:, None, :] + inputs["input_gate"][:, None, :]
    exponent = exponent.masked_fill(torch.ones_like(exponent[0], dtype=torch.bool).triu(1), -torch.inf)
    m = exponent.amax(-1, keepdim=True)
    weight = (q @ k.transpose(1, 2)).float() * shape["DQK"] ** -0.5 * torch.exp(exponent - m)
    divisor = torch.maximum(weight.sum(-1, keepdim=True).abs(), torch.exp(-m))
    return {"h": (weight / divisor).to(v.dtype) @ v}


PROVIDERS = {"mlstm_chunkwise": {"torch": _mlstm}, "mlstm_chunkwise_d64": {"torch": _mlstm}}
