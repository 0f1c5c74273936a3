"""Describe measured kernels: GPUs, runs, and how launches of the same name differ."""

from typing import Any

from kprof_analyzers.profiles.counters.chosen import Chosen
from kprof_analyzers.profiles.counters.kernels import KernelCounters
from kprof_analyzers.profiles.counters.machine import MeasuredGpu

_WORDS = {"lds": "LDS", "vgprs": "VGPRs"}


def heading(loaded: Chosen) -> list[str]:
    """Return one line per GPU and, if there are several runs, one line per run."""
    lines = [_gpu_line(loaded.gpu_at(index)) for index in sorted({one.gpu for one in loaded.kernels})]
    if len(loaded.used) > 1:
        lines += [f"run {run + 1}  {loaded.runs.labels[run]}" for run in loaded.used]
    return lines


def remark(loaded: Chosen, kernel: KernelCounters, *, run: bool = True) -> str:
    """Return what distinguishes a kernel from others of its name: ``(grid 4096, run 2)``; empty if it is unique."""
    same = [one for one in loaded.kernels if one.name == kernel.name and (run or one.run == kernel.run)]
    mine = kernel.identities[0]
    words = []
    for field in ("grid", "workgroup", "lds", "vgprs", "agent"):
        value = getattr(mine, field)
        others = {getattr(one.identities[0], field) for one in same}
        if field in loaded.fields and len(others) > 1 and value is not None:
            words.append(f"{_WORDS.get(field, field)} {_size(value)}")
    if run and len({one.run for one in same}) > 1:
        words.append(f"run {kernel.run + 1}")
    return f"({', '.join(words)})" if words else ""


def _size(value: Any) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else f"{value:,}"


def _gpu_line(gpu: MeasuredGpu) -> str:
    name = gpu.product.name if gpu.product else "product not known: no peaks"
    cus = f" · {gpu.cus} CUs" if gpu.cus else ""
    xcds = f" on {gpu.xcds} XCDs" if gpu.xcds and gpu.xcds > 1 else ""
    return f"{gpu.arch.name} · {name}{cus}{xcds} ({gpu.origin})"
