"""unsloth: cross entropy, rms norm and SwiGLU, forward and backward."""

import torch

try:
    from unsloth.kernels.cross_entropy_loss import fast_cross_entropy_loss
    from unsloth.kernels.rms_layernorm import Fast_RMS_Layernorm
    from unsloth.kernels.swiglu import swiglu_fg_kernel

    logits = torch.randn(2, 64, 4096, device="cuda", dtype=torch.float16, requires_grad=True)
    fast_cross_entropy_loss(logits, torch.zeros(2, 64, dtype=torch.int64, device="cuda")).backward()
    x = torch.randn(2, 64, 1024, device="cuda", dtype=torch.float16, requires_grad=True)
    Fast_RMS_Layernorm.apply(x, torch.ones(1024, device="cuda", dtype=torch.float16), 1e-6, False).sum().backward()
    swiglu_fg_kernel(x.detach(), x.detach())
except Exception as error:  # noqa: BLE001  # is a line of the page
    print(f"failed unsloth: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
