"""fla-core: the delta rule forward; simple gated linear attention step by step, forward and backward."""

import torch
from fla import ops
from torch.nn import functional

B, T, H, D = 1, 256, 4, 64


def heads(*last: int) -> torch.Tensor:
    """Return a bfloat16 tensor with one vector per token and head."""
    return torch.randn(B, T, H, *last, device="cuda", dtype=torch.bfloat16, requires_grad=True)


def gates(*last: int) -> torch.Tensor:
    """Return logarithms of forget gates."""
    return functional.logsigmoid(torch.randn(B, T, H, *last, device="cuda")).requires_grad_()


calls = {
    "chunk_delta_rule": lambda: ops.chunk_delta_rule(heads(D), heads(D), heads(D), beta=heads().sigmoid()),
    "fused_recurrent_simple_gla": lambda: ops.fused_recurrent_simple_gla(heads(D), heads(D), heads(D), g=gates()),
}
for name, call in calls.items():
    try:
        made = call()
        if name.startswith("fused"):
            # The backward pass of the chunked form would compile hundreds of configurations.
            made[0].sum().backward()
    except Exception as error:  # noqa: BLE001  # one operator's failure is a line of the page
        print(f"failed {name}: {type(error).__name__}: {str(error).splitlines()[0][:160]}")
