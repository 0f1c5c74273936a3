"""Record collectives of several sizes on all GPUs of a machine: traces of PyTorch's profiler, and times by GPU events.

Usage, with torch and NCCL or RCCL: ``python record_collectives.py FOLDER``. Each rank writes ``rankN.json`` and
``eventsN.json``. The latter has the mean ns of one collective in a sequence of twenty, by its name and the input
bytes of a rank.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.profiler import ProfilerActivity, profile

SIZES = (1 << 20, 16 << 20, 128 << 20)
IN_A_ROW = 20


def collectives(size: int, world: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Return one call of each kind with ``size`` bytes per rank on one side, and times the ranks on the other."""
    one = torch.ones(size // 2, device="cuda", dtype=torch.bfloat16)
    all_of_them = torch.ones(size // 2 * world, device="cuda", dtype=torch.bfloat16)
    yield "allreduce", lambda: dist.all_reduce(one)
    yield "allgather", lambda: dist.all_gather_into_tensor(all_of_them, one)
    yield "reduce_scatter", lambda: dist.reduce_scatter_tensor(one, all_of_them)
    yield "broadcast", lambda: dist.broadcast(one, 0)
    yield "alltoall", lambda: dist.all_to_all_single(torch.empty_like(one), one)


def timed(call: Callable[[], Any]) -> float:
    """Return the mean ns of a call in a sequence of calls, by GPU events."""
    before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    before.record()
    for _ in range(IN_A_ROW):
        call()
    after.record()
    after.synchronize()
    return float(before.elapsed_time(after)) / IN_A_ROW * 1e6


def rank_main(rank: int, world: int, folder: Path) -> None:
    """Run the collectives on one rank."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", RANK=str(rank), WORLD_SIZE=str(world))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    todo = [(f"{name} {size}", call) for size in SIZES for name, call in collectives(size, world)]
    for _, call in todo:
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    dist.barrier()
    (folder / f"events{rank}.json").write_text(json.dumps({name: timed(call) for name, call in todo}))
    dist.barrier()
    torch.cuda.synchronize()
    factor = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
        for _, call in todo:
            for _ in range(5):
                call()
        for _ in range(5):
            # Later ranks compute longer, and the first rank waits for them in the all-gather.
            for _ in range(1 + 4 * rank):
                factor @ factor
            todo[1][1]()
        if world > 1 and rank < 2:
            sent = torch.ones(4 << 20, device="cuda")
            for _ in range(3):
                (dist.send if rank == 0 else dist.recv)(sent, 1 - rank)
        torch.cuda.synchronize()
    profiled.export_chrome_trace(str(folder / f"rank{rank}.json"))
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(rank_main, args=(torch.cuda.device_count(), Path(sys.argv[1])), nprocs=torch.cuda.device_count())
