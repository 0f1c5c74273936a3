"""torchnorm: its norms as layers, forward and backward."""

import torch
import torchnorm

x = torch.randn(8, 512, 1024, device="cuda", dtype=torch.bfloat16, requires_grad=True)
image = torch.randn(4, 64, 32, 32, device="cuda", requires_grad=True)
calls = {
    "RMSNorm": lambda: torchnorm.RMSNorm(1024).to("cuda", torch.bfloat16)(x),
    "LayerNorm": lambda: torchnorm.LayerNorm(1024).to("cuda", torch.bfloat16)(x),
    "FusedAddRMSNorm": lambda: torchnorm.FusedAddRMSNorm(1024).to("cuda", torch.bfloat16)(x, x.detach()),
    "GroupNorm": lambda: torchnorm.GroupNorm(8, 64).to("cuda")(image),
    "InstanceNorm": lambda: torchnorm.InstanceNorm(64).to("cuda")(image),
    "ScaleNorm": lambda: torchnorm.ScaleNorm(1024).to("cuda", torch.bfloat16)(x),
}
for name, call in calls.items():
    try:
        made = call()
        (made[0] if isinstance(made, tuple) else made).float().sum().backward()
    except Exception as error:  # noqa: BLE001  # one layer's failure is a line of the page
        print(f"failed {name}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
