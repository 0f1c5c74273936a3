"""Proton's hatchet profiles."""

import json

import pytest

from kprof.errors import KprofError
from kprof.inputs.torch_profiler.proton import is_proton, load_proton


def node(name, metrics=None, children=()):
    """A node as Proton writes it."""
    return {"children": list(children), "frame": {"name": name, "type": "function"}, "metrics": metrics or {}}


KERNEL = {"count": 2, "time (ns)": 500, "device_id": "0", "device_type": "HIP", "flops16": 1e9}


def write(path, *roots):
    """The file's form: trees, then the devices."""
    path.write_text(json.dumps([*roots, {"HIP": {"0": {"arch": "gfx942", "num_sms": 304}}}]))
    return path


def test_scopes_kernels_and_devices(tmp_path):
    """Kernels with the scopes around them, the root left out."""
    path = write(
        tmp_path / "p.hatchet", node("ROOT", {"count": 0, "time (ns)": 0}, [node("step", {}, [node("gemm", KERNEL)])])
    )
    profile = load_proton(path)

    (row,) = profile.rows
    assert is_proton(path)
    assert (row.name, row.scope, row.time_ns, row.count) == ("gemm", ("step",), 500, 2)
    assert (row.device_type, row.metrics) == ("HIP", {"flops16": 1e9})
    assert profile.devices["HIP"]["0"]["arch"] == "gfx942"


def test_a_tree_of_any_depth(tmp_path):
    """Depth is no recursion."""
    deep = node("leaf", KERNEL)
    for n in range(150):
        deep = node(f"s{n}", {}, [deep])
    (row,) = load_proton(write(tmp_path / "p.hatchet", deep)).rows

    assert len(row.scope) == 150


@pytest.mark.parametrize("content", ["", "[", "{}", "[1, 2]", '[{"a": 1}]', "[" * 200_000])
def test_what_is_no_profile_is_a_message(tmp_path, content):
    """Cut, empty or another kind of JSON."""
    path = tmp_path / "p.hatchet"
    path.write_text(content)

    with pytest.raises(KprofError):
        load_proton(path)


def test_odd_metrics_are_flagged(tmp_path):
    """A negative time, a NaN and a child that is no node are told; the rest is kept."""
    bad = node("bad", {"time (ns)": -5, "count": 1})
    nan = node("nan", {"time (ns)": float("nan"), "count": 1})
    root = node("ROOT", {}, [bad, nan, node("good", KERNEL)])
    root["children"].append(7)
    profile = load_proton(write(tmp_path / "p.hatchet", root))

    assert [r.name for r in profile.rows] == ["good"]
    assert {i.kind for i in profile.issues} == {"negative-duration", "not-finite", "malformed"}


def test_the_published_profile(samples):
    """Eighteen kernel rows, and the time that an independent walk sums."""
    path = samples / "proton" / "proton.hatchet"
    profile = load_proton(path)

    def walk(n):
        own = n.get("metrics", {}).get("time (ns)", 0)
        return own + sum(walk(c) for c in n["children"])

    expected = sum(walk(n) for n in json.loads(path.read_text()) if "frame" in n)
    assert sum(r.time_ns or 0 for r in profile.rows) == expected
    assert len(profile.rows) == 18


def stream(number, name, duration, count):
    """One line of a Chrome trace as Proton writes it: the kernels of one stream."""
    events = [{"args": {"call_stack": ["ROOT", "layer", name]}, "cat": "kernel", "dur": duration, "name": name,
               "ph": "X", "tid": number, "ts": 1000.0 * i} for i in range(count)]  # fmt: skip
    return json.dumps({"displayTimeUnit": "us", "traceEvents": events}, separators=(",", ":")) + "\n"


@pytest.mark.parametrize("block", [1 << 18, 700])
def test_every_stream_of_a_chrome_trace_is_read(tmp_path, block):
    """Each stream is a document of its own on its own line; some have no kernel."""
    from kprof.inputs.torch_profiler.events import FullEvent
    from kprof.inputs.torch_profiler.reader import TraceReader

    path = tmp_path / "p.chrome_trace"
    path.write_text(stream(0, "gemm", 80.0, 20) + stream(1, "none", 1.0, 0) + stream(2, "softmax", 300.0, 5))
    reader = TraceReader(path, FullEvent, block)
    events = [event for batch in reader.events() for event in batch]
    assert [(event.name, event.tid) for event in events] == [("gemm", 0)] * 20 + [("softmax", 2)] * 5
    assert sum(event.dur for event in events) == 3100.0
    assert reader.issues == ()


def test_a_packed_tree_is_the_tree(tmp_path):
    """Proton writes the same nodes as MessagePack."""
    import msgspec

    tree = [{"children": [{"children": [], "frame": {"name": "gemm", "type": "function"},
                           "metrics": {"count": 10, "time (ns)": 800000, "device_id": "0", "device_type": "HIP"}}],
             "frame": {"name": "ROOT", "type": "function"}, "metrics": {"count": 0, "time (ns)": 0}},
            {"HIP": {"0": {"arch": "gfx942"}}}]  # fmt: skip
    path = tmp_path / "p.hatchet_msgpack"
    path.write_bytes(msgspec.msgpack.encode(tree))
    assert is_proton(path)
    profile = load_proton(path)
    assert [(row.name, row.time_ns, row.count) for row in profile.rows] == [("gemm", 800000, 10)]
    path.write_bytes(msgspec.msgpack.encode(tree)[:-9])
    with pytest.raises(KprofError, match="not valid MessagePack"):
        load_proton(path)
