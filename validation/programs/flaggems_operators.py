"""flag-gems: operators of torch that it replaces on the device, each called once."""

import flag_gems
import torch
from torch.nn import functional

x, y = (torch.randn(1024, 1024, device="cuda", dtype=torch.float16) for _ in range(2))
index = torch.zeros(1024, dtype=torch.int64, device="cuda")
calls = {
    "add": lambda: x + y,
    "mul": lambda: x * y,
    "softmax": lambda: torch.softmax(x, -1),
    "layer_norm": lambda: functional.layer_norm(x, (1024,), x[0], x[1]),
    "sum": lambda: x.sum(1),
    "mean": lambda: x.mean(-1),
    "amax": lambda: x.amax(1),
    "argmax": lambda: x.argmax(1),
    "cumsum": lambda: x.cumsum(1),
    "gelu": lambda: functional.gelu(x),
    "silu": lambda: functional.silu(x),
    "embedding": lambda: functional.embedding(index[:64], x),
    "var_mean": lambda: torch.var_mean(x, 1),
    "log_softmax": lambda: torch.log_softmax(x, -1),
    "where": lambda: torch.where(x > 0, x, y),
    "index_select": lambda: torch.index_select(x, 0, index[:16]),
    "cat": lambda: torch.cat([x, y]),
    "cross_entropy": lambda: functional.cross_entropy(x, index),
    "vector_norm": lambda: torch.linalg.vector_norm(x),
    "randn": lambda: torch.randn(1024, 1024, device="cuda"),
    "rand_like": lambda: torch.rand_like(x),
    "dropout": lambda: functional.dropout(x, 0.1),
    "exponential": lambda: torch.empty_like(x).exponential_(),
}
with flag_gems.use_gems():
    for name, call in calls.items():
        try:
            call()
        except Exception as error:  # noqa: BLE001  # one operator's failure is a line of the page
            print(f"failed {name}: {type(error).__name__}: {str(error).splitlines()[0][:160]}")
