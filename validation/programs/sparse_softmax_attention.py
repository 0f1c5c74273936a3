"""adasplash: attention with entmax in place of softmax, both versions, and entmax itself, forward and backward."""

import adasplash
import torch


def heads() -> torch.Tensor:
    """Return a tensor of eight heads of size 64 over 1,024 tokens."""
    return torch.randn(1, 8, 1024, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)


rows = torch.randn(256, 2048, device="cuda", requires_grad=True)
calls = {
    "adasplash_v2": lambda: adasplash.adasplash_v2(heads(), heads(), heads()),
    "adasplash_v1": lambda: adasplash.adasplash_v1(heads(), heads(), heads(), alpha=1.5, is_causal=True),
    "triton_entmax": lambda: adasplash.triton_entmax(rows),
}
for name, call in calls.items():
    try:
        call().float().sum().backward()
    except Exception as error:  # noqa: BLE001  # one operator's failure is a line of the page
        print(f"failed {name}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
