"""A step that leaves something on the table: a kernel with small tiles, products of one input, many short launches."""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, m, n, k, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for at in range(0, k, BLOCK):
        inner = at + tl.arange(0, BLOCK)
        left = tl.load(a + rows[:, None] * k + inner[None, :])
        right = tl.load(b + inner[:, None] * n + columns[None, :])
        total += tl.dot(left, right)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.bfloat16))


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q = torch.nn.Linear(1024, 1024, bias=False)
        self.k = torch.nn.Linear(1024, 256, bias=False)
        self.v = torch.nn.Linear(1024, 256, bias=False)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        for _ in range(30):
            q = q[:1] + 1
        y = torch.empty(2048, 1024, device="cuda", dtype=torch.bfloat16)
        w = torch.empty(1024, 1024, device="cuda", dtype=torch.bfloat16)
        matmul[lambda meta: (2048 // meta["BLOCK"], 1024 // meta["BLOCK"])](x, w, y, 2048, 1024, 1024, BLOCK=32)
        return q, k, v, y


model = Attention().to("cuda", torch.bfloat16)
with torch.no_grad(), torch.profiler.record_function("step"):
    model(torch.empty(2048, 1024, device="cuda", dtype=torch.bfloat16))
    torch.bmm(
        torch.empty(20000, 8, 64, device="cuda", dtype=torch.bfloat16),
        torch.empty(20000, 64, 8, device="cuda", dtype=torch.bfloat16),
    )
