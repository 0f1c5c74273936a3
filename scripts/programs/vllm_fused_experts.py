"""vllm: fused_experts through torch's dispatcher, with rows and with one row for each expert."""

import absent

absent.without("llguidance", "vllm._C")

import torch  # noqa: E402
from vllm.model_executor.layers.fused_moe.fused_moe import fused_experts  # noqa: E402

E, K, N = 8, 2048, 1024
w1 = torch.randn(E, 2 * N, K, device="cuda", dtype=torch.bfloat16)
w2 = torch.randn(E, K, N, device="cuda", dtype=torch.bfloat16)
for rows in (512, 8):
    x = torch.randn(rows, K, device="cuda", dtype=torch.bfloat16)
    weights = torch.rand(rows, 2, device="cuda")
    ids = torch.randint(0, E, (rows, 2), device="cuda", dtype=torch.int32)
    try:
        print(tuple(fused_experts(x, w1, w2, weights, ids).shape))
    except Exception as error:  # noqa: BLE001  # is a line of the page
        print(f"failed fused_experts: {type(error).__name__}: {str(error).splitlines()[0][:160]}")
