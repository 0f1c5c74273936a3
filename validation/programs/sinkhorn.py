"""flash-sinkhorn: the Sinkhorn loss of two clouds of 4,096 and 3,000 points, in each of its ways, with its gradient."""

import torch
from flash_sinkhorn import SamplesLoss

for backend in ("symmetric", "alternating"):
    x, y = (torch.rand(n, 64, device="cuda", requires_grad=True) for n in (4096, 3000))
    try:
        loss = SamplesLoss(
            "sinkhorn", blur=0.1, backend=backend, use_epsilon_scaling=False, eps=0.1, n_iters=5, autotune=False
        )(x, y)
        loss.backward()
        assert x.grad is not None
    except Exception as error:  # noqa: BLE001  # one way's failure is a line of the page
        print(f"failed {backend}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
