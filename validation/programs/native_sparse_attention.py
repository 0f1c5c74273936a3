"""native-sparse-attention-pytorch, fla-core: native sparse attention of both, forward and backward."""

import torch


def heads(count: int, *shape: int) -> torch.Tensor:
    """Return a float16 tensor on the device that requires a gradient."""
    return torch.randn(1, count, *shape, device="cuda", dtype=torch.float16, requires_grad=True)


def of_pytorch() -> torch.Tensor:
    """Run the PyTorch package: blocks of 32 queries use two selected blocks of keys; eight query heads per two."""
    from native_sparse_attention_pytorch.triton_native_sparse_attention import native_sparse_attend

    chosen = torch.randint(0, 8, (1, 2, 512, 2), device="cuda")
    return native_sparse_attend(
        heads(8, 512, 64), heads(2, 512, 64), heads(2, 512, 64), 32, chosen, torch.ones_like(chosen, dtype=torch.bool)
    )


def of_fla() -> torch.Tensor:
    """Run fla-core's version: 16 query heads per key head, blocks of 64, gates for two parts.

    The gates are for the compressed and the selected part.
    """
    from fla.ops.nsa.parallel import parallel_nsa

    q, k, v = heads(512, 16, 64), heads(512, 1, 64), heads(512, 1, 64)
    gates = heads(512, 16), heads(512, 16)
    return parallel_nsa(q, k, v, *gates, block_counts=4, block_size=64)


for call in (of_pytorch, of_fla):
    try:
        made = call()
        (made[0] if isinstance(made, tuple) else made).float().sum().backward()
    except Exception as error:  # noqa: BLE001  # one package's failure is a line of the page
        print(f"failed {call.__name__}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
