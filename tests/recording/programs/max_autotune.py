"""torch.compile with max-autotune: Inductor tries templates and fusions before it decides."""

import torch


def step(x, weight, bias):
    return torch.relu(x @ weight + bias).sum(-1)


if __name__ == "__main__":
    compiled = torch.compile(step, mode="max-autotune-no-cudagraphs")
    args = [torch.randn(*shape, device="cuda", dtype=torch.float16) for shape in ((256, 256), (256, 256), (256,))]
    assert compiled(*args).shape == (256,)
    print("all fine")
