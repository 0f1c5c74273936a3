"""Traces that the benchmark wrote on a real GPU can be read back."""

import json
from pathlib import Path

import pytest

from kprof.inputs import torch_profiler

TRACES = Path(__file__).with_name("traces")


@pytest.mark.parametrize(("name", "kernel"), [("triton", "flash_attention_kernel"), ("sdpa", "cudnn_generated")])
def test_every_kernel_of_the_trace_is_read_and_linked(name: str, kernel: str) -> None:
    """Ten calls, ten kernels, each with the API call that launched it; times as the raw JSON has them."""
    path = TRACES / f"h200_attention_{name}.json"
    raw = [e for e in json.loads(path.read_text())["traceEvents"] if e.get("cat") == "kernel"]

    trace = torch_profiler.load(path)
    kernels = [a for a in trace.activities if a.kind == "kernel"]

    assert len(kernels) == len(raw) == 10
    assert all(kernel in a.name for a in kernels)
    assert all(a.launch >= 0 for a in kernels)
    # Kineto rounds to a nanosecond.
    assert sum(a.duration_ns for a in kernels) == pytest.approx(1e3 * sum(e["dur"] for e in raw), abs=20)
