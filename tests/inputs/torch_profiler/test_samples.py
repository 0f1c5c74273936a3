"""Every published trace is read, and what is read equals what json alone gives."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from kprof.inputs.torch_profiler import load
from kprof.inputs.torch_profiler.events import SlimEvent
from kprof.inputs.torch_profiler.reader import TraceReader

SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "samples" / "kineto"
FILES = sorted(p.relative_to(SAMPLES).as_posix() for p in SAMPLES.rglob("*.json.gz")) if SAMPLES.is_dir() else []
GPU = {
    "kernel": "kernel",
    "Kernel": "kernel",
    "gpu_memcpy": "copy",
    "Memcpy": "copy",
    "gpu_memset": "memset",
    "Memset": "memset",
}


def plain(path: Path) -> list[dict]:
    """The events by json alone."""
    document = json.loads(gzip.decompress(path.read_bytes()))
    return document if isinstance(document, list) else document["traceEvents"]


def test_there_are_samples(samples):
    """Thirteen files; the parametrised tests below take their list from the folder."""
    assert len(FILES) == 13


@pytest.mark.parametrize("name", FILES)
def test_events_equal_json(name):
    """Number, order, names, times and durations of all events, and nothing to report."""
    events = plain(SAMPLES / name)
    reader = TraceReader(SAMPLES / name, SlimEvent)
    found = [e for block in reader.events() for e in block]

    assert len(found) == len(events)
    assert all(
        (f.name, f.ts, f.dur, f.cat) == (e.get("name", ""), e.get("ts"), e.get("dur"), e.get("cat", ""))
        for f, e in zip(found, events, strict=True)
    )
    assert reader.issues == ()


@pytest.mark.parametrize("name", FILES)
def test_tables_equal_json(name):
    """Counts and nanoseconds by kind and by kernel name; every launch found that a dictionary finds."""
    events = plain(SAMPLES / name)
    trace = load(SAMPLES / name)

    gpu = [e for e in events if e.get("cat") in GPU and e["ph"] == "X"]
    assert Counter(a.kind for a in trace.activities) == Counter(GPU[e["cat"]] for e in gpu)
    by_name: Counter[str] = Counter()
    for event in gpu:
        by_name[event["name"]] += round(event["dur"] * 1000)
    ours: Counter[str] = Counter()
    for activity in trace.activities:
        ours[activity.name] += activity.duration_ns
    assert ours == by_name
    calls = {e["args"]["correlation"] for e in events if e.get("cat") in {"cuda_runtime", "Runtime"}}
    assert sum(a.launch >= 0 for a in trace.activities) == sum(e["args"]["correlation"] in calls for e in gpu)
    assert len(trace.operators) == sum(e.get("cat") in {"cpu_op", "Operator", "user_annotation"} for e in events)


def test_graph_kernels_of_the_published_decode(samples):
    """421 kernels of one graph launch."""
    trace = load(samples / "kineto/vllm_decode_full_hipgraph/graph_execution.json.gz")

    assert max(launch.activities for launch in trace.launches) == 421
    assert sum(a.graph for a in trace.activities) == 421


def test_grids_of_the_published_traces_are_divisible_where_the_rule_says_so(samples):
    """Every grid after hipExtModuleLaunchKernel is a multiple of its workgroup."""
    checked = 0
    for name in FILES:
        trace = load(SAMPLES / name)
        assert "grid-not-divisible" not in {i.kind for i in trace.issues}
        checked += sum(a.grid_unit == "work-items" for a in trace.activities)
    assert checked > 7000


def test_ranks_of_the_published_traces(samples):
    """Four ranks in the merged file; one in each worker's."""
    assert load(samples / "kineto/merged_4rank_amd/merged_all_events.json.gz").info.ranks == [0, 1, 2, 3]
    found = [load(p).info.ranks for p in sorted((samples / "kineto/dlrm_v100_ranks").iterdir())]
    assert found == [[0], [1], [2], [3]]
