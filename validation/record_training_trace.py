"""Record PyTorch profiler traces of a small transformer's training steps on the GPUs of this machine.

With torchrun, each rank trains with DistributedDataParallel and writes its own trace:

    python validation/record_training_trace.py traces/
    torchrun --nproc-per-node 2 validation/record_training_trace.py traces/
"""

import argparse
import os
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule


class Block(nn.Module):
    """A transformer block with SDPA."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply attention and MLP, each with its residual; ``x`` has the shape [batch, steps, width]."""
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norms[0](x)).chunk(3, -1))
        attention = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(attention.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.norms[1](x))))


def train(model: nn.Module, optimizer: torch.optim.Optimizer, batch: torch.Tensor) -> None:
    """Run one training step: forward, backward, update."""
    with record_function("forward"):
        loss = model(batch).float().square().mean()
    with record_function("backward"):
        loss.backward()
    with record_function("optimizer"):
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def main() -> None:
    """Run two warm-up steps, and record two steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--stacks", action="store_true", help="record Python frames too")
    arguments = parser.parse_args()
    rank, ranks = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    torch.manual_seed(rank)
    model: nn.Module = nn.Sequential(*(Block(512, 8) for _ in range(2))).to("cuda", torch.bfloat16)
    if ranks > 1:
        torch.distributed.init_process_group("nccl")
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    batch = torch.randn(8, 512, 512, device="cuda", dtype=torch.bfloat16)
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    options = {"record_shapes": True, "profile_memory": True, "with_stack": arguments.stacks}
    arguments.folder.mkdir(parents=True, exist_ok=True)
    target = str(arguments.folder / f"training.rank{rank}of{ranks}.json.gz")
    with profile(
        activities=activities,
        schedule=schedule(wait=0, warmup=2, active=2, repeat=1),
        on_trace_ready=lambda finished: finished.export_chrome_trace(target),
        **options,
    ) as profiler:
        for _ in range(4):
            train(model, optimizer, batch)
            torch.cuda.synchronize()
            profiler.step()
    if ranks > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
