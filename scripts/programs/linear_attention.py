"""fla-core: the delta rule forward; simple gated linear attention step by step, forward and backward."""

import torch
from fla import ops
from torch.nn import functional

B, T, H, D = 1, 256, 4, 64


def heads(*last: int) -> torch.Tensor:
    """A bfloat16 tensor for every token and head."""
    return torch.randn(B, T, H, *last, device="cuda", dtype=torch.bfloat16, requires_grad=True)


def gates(*last: int) -> torch.Tensor:
    """Logarithms of forget gates."""
    return functional.logsigmoid(torch.randn(B, T, H, *last, device="cuda")).requires_grad_()


calls = {
    "chunk_delta_rule": lambda: ops.chunk_delta_rule(heads(D), heads(D), heads(D), beta=heads().sigmoid()),
    "fused_recurrent_simple_gla": lambda: ops.fused_recurrent_simple_gla(heads(D), heads(D), heads(D), g=gates()),
}
for name, call in calls.items():
    try:
        made = call()
        if name.startswith("fused"):
            # The backward of the chunked form has hundreds of configurations to compile.
            made[0].sum().backward()
    except Exception as error:  # noqa: BLE001  # one operator's failure is a line of the page
        print(f"failed {name}: {type(error).__name__}: {str(error).splitlines()[0][:160]}")
