"""Sums in one pass equal those of the linked tables and of json, on made and on published traces."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.timeline import names, streaming
from kprof_analyzers.profiles.timeline.breakdown import device_times
from kprof_analyzers.profiles.timeline.categories import load_categories
from kprof_analyzers.profiles.timeline.streaming import summarise

SAMPLES = Path(__file__).resolve().parents[5] / "shared" / "samples" / "kineto"
FILES = sorted(p.relative_to(SAMPLES).as_posix() for p in SAMPLES.rglob("*.json.gz")) if SAMPLES.is_dir() else []


def naive_union(pairs: list[tuple[int, int]]) -> int:
    """Length of a union by a sweep over sorted intervals, written for this test."""
    total = 0
    end = None
    for start, stop in sorted(pairs):
        if end is None or start > end:
            total += stop - start
            end = stop
        elif stop > end:
            total += stop - end
            end = stop
    return total


@pytest.mark.parametrize("name", FILES)
def test_published_traces_equal_an_independent_sum(name):
    """Kernel time by name, counts, busy time and span, by json and a sweep."""
    document = json.loads(gzip.decompress((SAMPLES / name).read_bytes()))
    kinds = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"}
    gpu = [e for e in document["traceEvents"] if e.get("cat", "").lower() in kinds and e["ph"] == "X"]
    by_name: Counter[str] = Counter()
    pairs: dict[object, list[tuple[int, int]]] = {}
    for event in gpu:
        start, length = round(event["ts"] * 1000), round(event["dur"] * 1000)
        pairs.setdefault(event["args"]["device"], []).append((start, start + length))
        if event["cat"].lower() == "kernel":
            by_name[event["name"]] += length

    found = summarise(SAMPLES / name)

    assert {k.name: k.total_ns for k in found.kernels} == dict(by_name)
    assert sum(k.count for k in (*found.kernels, *found.transfers)) == len(gpu)
    assert {d.device: d.busy_ns for d in found.devices} == {k: naive_union(v) for k, v in pairs.items()}
    assert {d.device: d.span_ns for d in found.devices} == {
        k: max(e for _, e in v) - min(s for s, _ in v) for k, v in pairs.items()
    }


@pytest.mark.parametrize("name", FILES)
def test_streaming_and_linked_tables_agree(name):
    """All device times, exposed communication and copies included."""
    assert summarise(SAMPLES / name).devices == device_times(load(SAMPLES / name), load_categories())


def test_exposed_communication_by_hand(tmp_path, kineto):
    """Computing 0-10 and 20-30, communicating 5-25, copying 28-40: exposed 10 and 10, idle 0."""
    builder = kineto.Builder()
    builder.kernel("Cijk", 100.0, 10.0, 1)
    builder.kernel("Cijk", 120.0, 10.0, 2)
    builder.kernel("ncclDevKernel", 105.0, 20.0, 3, stream=1)
    builder.kernel("Memcpy DtoH", 128.0, 12.0, 4, stream=2, cat="gpu_memcpy")
    (device,) = summarise(builder.write(tmp_path / "t.json")).devices

    assert (device.compute_ns, device.communication_ns, device.memory_ns) == (20_000, 20_000, 12_000)
    assert (device.exposed_communication_ns, device.exposed_memory_ns) == (10_000, 10_000)
    assert (device.span_ns, device.busy_ns, device.idle_ns, device.kernel_ns) == (40_000, 40_000, 0, 40_000)


def test_a_million_kernels_under_one_name(tmp_path):
    """Counted exactly, quickly, in little memory: 2,000,000 ns of work in 10,000,000."""
    path = tmp_path / "t.json"
    with path.open("w") as file:
        file.write('{"traceEvents": [')
        for n in range(200):
            event = '{"ph":"X","cat":"kernel","name":"k","pid":2,"tid":0,"ts":%d,"dur":0.002,"args":{"device":2}}'
            file.write(("," if n else "") + ",".join(event % (n * 5000 + i) for i in range(5000)))
        file.write("]}")
    found = summarise(path)

    assert [(k.name, k.count, k.total_ns) for k in found.kernels] == [("k", 1_000_000, 2_000_000)]
    assert found.devices[0].busy_ns == 2_000_000
    assert found.issues == ()


def test_more_names_than_any_program_has(tmp_path, kineto, monkeypatch):
    """Past the bound they are summed together, none is dropped, and that is said."""
    monkeypatch.setattr(names, "MAX_NAMES", 10)
    builder = kineto.Builder()
    for n in range(50):
        builder.kernel(f"k{n}", n * 10.0, 1.0, n)
    found = summarise(builder.write(tmp_path / "t.json"))

    assert len(found.kernels) == 11
    assert sum(k.count for k in found.kernels) == 50
    assert found.kernel_ns == 50_000
    assert "many-names" in {i.kind for i in found.issues}


def test_odd_times_are_counted_as_the_tables_count_them(tmp_path, kineto):
    """Negative, missing, absurd: flagged alike in both ways of reading."""
    builder = kineto.Builder()
    builder.kernel("sound", 1000.0, 5.0, 1)
    builder.kernel("negative", 1020.0, -5.0, 2)
    del builder.kernel("missing", 1040.0, 0.0, 3)["dur"]
    builder.kernel("beyond", 1e300, 5.0, 4)
    builder.op("endless", 10.0, 1e300, 1)
    path = builder.write(tmp_path / "t.json")
    found, trace = summarise(path), load(path)

    assert {k.name: k.total_ns for k in found.kernels} == {"sound": 5000, "negative": 0, "missing": 0}
    assert {a.name: a.duration_ns for a in trace.activities} == {"sound": 5000, "negative": 0, "missing": 0}
    wanted = {"negative-duration": 0, "no-duration": 0, "absurd-time": 2}
    assert {i.kind: i.lost for i in found.issues if i.kind in wanted} == wanted
    assert {i.kind: i.lost for i in trace.issues if i.kind in wanted} == wanted


def test_one_event_a_day_away_does_not_make_the_rest_idle(tmp_path, kineto):
    """It is left out of all sums, and told."""
    builder = kineto.Builder()
    for n in range(5):
        builder.kernel("k", 1000.0 + n * 10, 10.0, n)
    builder.kernel("k", 9e14, 10.0, 9)
    found = summarise(builder.write(tmp_path / "t.json"))

    assert found.devices[0].span_ns == 50_000
    assert found.kernels[0].count == 5
    assert "absurd-time" in {i.kind for i in found.issues}


def test_an_nvidia_trace_is_read_like_any_other(tmp_path, kineto):
    """Cuda calls, device 0, no HIP anywhere."""
    builder = kineto.Builder()
    builder.run("volta_sgemm_128x32_nt", 10.0, 5.0, api="cudaLaunchKernel", device=0)
    path = tmp_path / "t.json"
    path.write_bytes(b'{"traceEvents": ' + builder.text("list") + b"}")
    found = summarise(path)

    assert found.info.vendor == "nvidia"
    assert found.categories == {"GEMM": 5000}


def test_traces_without_gpu_and_lists_of_other_things(tmp_path, kineto):
    """The first is flagged, the second refused."""
    builder = kineto.Builder()
    builder.op("aten::add", 0.0, 1.0, 1)
    assert [i.kind for i in summarise(builder.write(tmp_path / "t.json")).issues] == ["no-gpu"]
    (tmp_path / "l.json").write_text('[{"file": "x"}]')
    with pytest.raises(KprofError, match="no profiler events"):
        summarise(tmp_path / "l.json")


def test_categories_without_end_are_counted_together(tmp_path, monkeypatch):
    """A hostile trace with a category an event: memory stays bounded, and every event is counted."""
    monkeypatch.setattr(streaming, "MAX_CATEGORIES", 5)
    events = [{"ph": "X", "cat": f"odd{n}", "name": "x", "ts": n, "dur": 1} for n in range(40)]
    events.append({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2, "args": {"device": 0}})
    path = tmp_path / "t.json"
    path.write_text(json.dumps(events))
    found = summarise(path)
    assert len(found.info.categories) <= 6
    assert sum(found.info.categories.values()) == 41
    assert found.kernel_ns == 2000
    assert "unknown-category" in {issue.kind for issue in found.issues}
