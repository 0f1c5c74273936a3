"""Traces that were recorded on a real GPU can be read back, whole."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from kprof.inputs import torch_profiler

TRACES = Path(__file__).with_name("traces")
FILES = sorted(p.name for p in TRACES.glob("*.json*"))


def raw_events(path: Path) -> list[dict[str, Any]]:
    """The events as the JSON has them."""
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    events: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    return events


@pytest.mark.parametrize("name", FILES)
def test_every_activity_is_read_and_linked(name: str) -> None:
    """As many kernels, copies and memsets as the JSON has, each with the call that launched it, and their time."""
    raw = raw_events(TRACES / name)
    count = {c: sum(e.get("cat") == c for e in raw) for c in ("kernel", "gpu_memcpy", "gpu_memset", "cpu_op")}

    trace = torch_profiler.load(TRACES / name)
    kernels = [a for a in trace.activities if a.kind == "kernel"]

    assert len(kernels) == count["kernel"] > 0
    assert sum(a.kind == "copy" for a in trace.activities) == count["gpu_memcpy"]
    assert sum(a.kind == "memset" for a in trace.activities) == count["gpu_memset"]
    assert all(a.launch >= 0 for a in kernels)
    expected = sum(e["dur"] for e in raw if e.get("cat") == "kernel")
    # Kineto writes microseconds with three digits.
    assert sum(a.duration_ns for a in kernels) == pytest.approx(1e3 * expected, abs=len(kernels))


@pytest.mark.parametrize(("name", "kernel"), [("triton", "flash_attention_kernel"), ("sdpa", "cudnn_generated")])
def test_benchmark_traces_hold_ten_calls(name: str, kernel: str) -> None:
    """Of the kernel that was timed."""
    trace = torch_profiler.load(TRACES / f"h200_attention_{name}.json")

    assert [kernel in a.name for a in trace.activities if a.kind == "kernel"] == [True] * 10


def test_backward_kernels_know_their_operator() -> None:
    """Every kernel of a training step was launched by a CPU operator."""
    trace = torch_profiler.load(TRACES / "h200_training_stacks.json.gz", shortest_frame_us=0)
    kernels = [a for a in trace.activities if a.kind == "kernel"]
    operators = {trace.operators[a.operator].name for a in kernels if a.operator >= 0}

    assert sum(a.operator >= 0 for a in kernels) > 0.9 * len(kernels)
    assert any("Backward" in name or "backward" in name for name in operators)
    assert trace.frames


@pytest.mark.parametrize("rank", [0, 1])
def test_ranks_are_told_apart(rank: int) -> None:
    """Each file is one rank's, and has the all-reduces of two steps."""
    trace = torch_profiler.load(TRACES / f"h200_training.rank{rank}of2.json.gz")
    reduces = [a for a in trace.activities if "nccl" in a.name.lower()]

    assert {a.rank for a in trace.activities} == {rank}
    assert len(reduces) >= 2
    assert all(a.group_size == 2 for a in reduces)
