"""torch.compile: a graph without a backward pass, and one with."""

import torch


@torch.compile
def activation(x):
    return torch.nn.functional.gelu(2 * x + 1).sum(-1)


if __name__ == "__main__":
    for _ in range(2):
        out = activation(torch.randn(64, 512, device="cuda"))
        assert out.is_cuda
    layer = torch.nn.Linear(16, 16).cuda()
    torch.compile(layer)(torch.randn(4, 16, device="cuda")).sum().backward()
    assert layer.weight.grad.is_cuda
    print("all fine")
