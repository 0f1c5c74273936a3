"""torch.compile: a graph without a backward pass, one with, and one that leaves the GPU on the way."""

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
    weight = torch.randn(16, device="cuda", requires_grad=True)
    for rows in (4, 8):
        scaled = torch.compile(lambda x: (x * weight + torch.arange(16, device="cuda")).softmax(-1), dynamic=True)
        scaled(torch.randn(rows, 16, device="cuda")).pow(2).sum().backward()
    assert weight.grad.is_cuda
    away = torch.compile(lambda x: (x * weight).cpu().sin().sum())
    away(torch.randn(4, 16, device="cuda")).backward()
    print("all fine")
