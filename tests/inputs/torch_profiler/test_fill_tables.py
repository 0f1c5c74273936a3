"""Tables filled column by column are what one record at a time gives, and what json.load and plain sums give."""

import importlib
import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kprof.inputs.torch_profiler.reader import TraceReader
from kprof.inputs.torch_profiler.tables import columns

# The package gives the function under the module's name.
loading = importlib.import_module("kprof.inputs.torch_profiler.load")

_LOOSE = st.none() | st.integers(-3, 9) | st.sampled_from(["7", "stream 7", "0x10", 2.0, 1 << 70, -(1 << 63)])
_TIME = st.integers(0, 10**9) | st.floats(0, 1e9)
_ODD_TIME = _TIME | st.sampled_from([None, -1, -2.5, 1e300, 10**18, 86_400 * 10**6])
_SIZE = st.lists(st.integers(0, 4), min_size=3, max_size=3) | st.sampled_from([[1, 2], "x", [64, 1, 1]])
_ARGS = st.fixed_dictionaries(
    {},
    optional={
        "device": _LOOSE, "stream": _LOOSE, "rank": _LOOSE, "correlation": _LOOSE, "External id": _LOOSE,
        "external id": _LOOSE, "grid": _SIZE, "block": _SIZE, "bytes": _LOOSE, "shared memory": _LOOSE,
        "Sequence number": _LOOSE, "Fwd thread id": _LOOSE, "Collective name": _LOOSE, "dtype": _LOOSE,
        "Input Dims": st.sampled_from([[[2, 3], []], [], "é"]), "Input dims": st.just([[9]]),
        "Concrete Inputs": st.just(["", "[1]"]), "kernel_hash": _LOOSE, "num_warps": _LOOSE,
    },
)  # fmt: skip
_CATEGORIES = (
    "kernel", "Kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cpu_op", "user_annotation", "python_function",
    "cpu_instant_event", "ac2g",
)  # fmt: skip
_NAMES = ("aten::mm", "aten::conv2d", "nn.Module: Block_0", "f.py(3): g", "hipGraphLaunch", 'q"\\')


def _events(times):
    return st.fixed_dictionaries(
        {
            "ph": st.sampled_from("X" * 12 + "iBEM"),
            "cat": st.sampled_from(_CATEGORIES * 5 + ("of no version",)),
            "name": st.sampled_from(_NAMES),
            "pid": st.sampled_from([1, 2, 2, 300_000_001, "5"]),
            "tid": st.sampled_from([1, 7, "stream 7", None]),
            "ts": times,
            "dur": times,
        },
        optional={"args": _ARGS},
    )


def both(path, monkeypatch, *, shortest_frame_us=loading.MODULES_ONLY, rank=None, block=1 << 18):
    """The tables filled batch by batch, and record by record."""
    monkeypatch.setattr(loading, "TraceReader", lambda *args: TraceReader(*args, block))
    batched = loading.load(path, shortest_frame_us=shortest_frame_us, rank=rank)
    with monkeypatch.context() as patch:
        patch.setattr(TraceReader, "decoded_by", lambda reader, _: reader.events())
        return batched, loading.load(path, shortest_frame_us=shortest_frame_us, rank=rank)


@settings(
    max_examples=100,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    events=st.lists(_events(_TIME), max_size=40) | st.lists(_events(_ODD_TIME), max_size=20),
    shortest_frame_us=st.sampled_from([0, 5, loading.MODULES_ONLY]),
    block=st.integers(300, 5000),
    together=st.sampled_from([1, 5, 1 << 10]),
)
def test_columns_hold_what_records_hold(tmp_path, monkeypatch, events, shortest_frame_us, block, together):
    """Text for numbers, numbers for text, missing and absurd values, mixed ranks: tables and remarks are the same."""
    path = tmp_path / "t.json"
    path.write_text(
        json.dumps({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2}, *events]})
    )
    monkeypatch.setattr(loading, "_TOGETHER", together)

    batched, general = both(path, monkeypatch, shortest_frame_us=shortest_frame_us, block=block)

    assert columns(batched) == columns(general)
    assert batched.info == general.info
    assert batched.issues == general.issues


def test_published_traces_are_read_alike(samples, monkeypatch):
    """Every sample, by both ways."""
    paths = sorted((samples / "kineto").glob("**/*.json.gz"))
    small = [path for path in paths if path.stat().st_size < 1 << 18]
    assert len(small) > 5
    for path in small:
        batched, general = both(path, monkeypatch)
        assert columns(batched) == columns(general), path
        assert (batched.info, batched.issues) == (general.info, general.issues), path


@pytest.mark.parametrize("mark", ["nn.Module: Block_0", "nn\\u002eModule: Block_0"])
def test_modules_are_found_however_their_name_is_written(tmp_path, mark):
    """A block without a module is read without its frames; one with an escaped name is not taken for such."""
    names = ["f.py(1): g"] * 30_000
    names[20_000] = mark
    texts = [
        f'{{"ph": "X", "cat": "python_function", "name": "{name}", "pid": 1, "tid": 1, "ts": {at}, "dur": 1}}'
        for at, name in enumerate(names)
    ]
    path = tmp_path / "t.json"
    path.write_text('{"traceEvents": [' + ",\n".join(texts) + "]}")
    trace = loading.load(path)
    assert [(one.name, one.start_ns) for one in trace.frames] == [("nn.Module: Block_0", 20_000_000)]
    assert trace.info.categories == {"python_function": 30_000}


def test_sums_are_those_of_json(tmp_path, kineto):
    """Kernel time by name and busy time, against json.load and a loop."""
    builder = kineto.Builder()
    kineto.small_model(builder)
    path = builder.write(tmp_path / "t.json")
    times: Counter[str] = Counter()
    spans = []
    for event in json.loads(path.read_text())["traceEvents"]:
        if event.get("cat") in {"kernel", "gpu_memcpy", "gpu_memset"}:
            start, duration = round(event["ts"] * 1000), round(event["dur"] * 1000)
            times[event["name"]] += duration
            spans.append((start, start + duration))
    trace = loading.load(path)
    found: Counter[str] = Counter()
    for name, duration in zip(trace.activities.values("name"), trace.activities.values("duration_ns"), strict=True):
        found[name] += duration
    assert found == times
    starts = trace.activities.values("start_ns")
    assert sorted(zip(starts, [a.start_ns + a.duration_ns for a in trace.activities], strict=True)) == sorted(spans)
