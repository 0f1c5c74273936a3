"""Perfetto traces, written here byte by byte after Perfetto's published numbers of fields."""

import gzip
import sys
import zlib

import pytest

from kprof import trace_breakdown, trace_top
from kprof.errors import KprofError
from kprof.inputs.perfetto import load_perfetto
from tests.inputs.messages import field, message

SEQUENCE = 7


def packet(*fields):
    """A packet of the trace's one sequence."""
    return field(1, message((10, SEQUENCE), *fields))


def track(uuid, name):
    """The description of a track."""
    return packet((60, message((1, uuid), (2, name))))


def begin(uuid, time, name_iid, *more, interned=b""):
    """The begin of a slice with an interned name."""
    event = message((9, 1), (11, uuid), (10, name_iid), *more)
    return packet((8, time), *([(12, interned)] if interned else []), (11, event))


def end(uuid, time):
    """The end of the last slice of a track."""
    return packet((8, time), (11, message((9, 2), (11, uuid))))


def note(iid, value):
    """A numeric annotation with an interned name."""
    return (4, message((1, iid), (3, value)))


def run(count=20):
    """Launches on a thread and their dispatches on a queue, as rocprofv3 writes them."""
    names = message(*[(2, message((1, i), (2, name))) for i, name in ((1, "gemm"), (2, "hipLaunchKernel"))])
    keys = message(*[(3, message((1, i), (2, key))) for i, key in ((1, "corr_id"), (2, "VGPR_Count"), (3, "agent"))])
    kinds = message(*[(1, message((1, i), (2, kind))) for i, kind in ((1, "kernel_dispatch"), (2, "hip_api"))])
    data = packet((13, 1), (12, names + keys + kinds)) + track(10, "COMPUTE AGENT [2] QUEUE [0] (GPU)")
    data += track(11, "THREAD 5 (CPU)")
    for i in range(1, count + 1):
        at = i * 1000
        data += begin(11, at, 2, (3, 2), note(1, i)) + end(11, at + 50)
        data += begin(10, at + 100, 1, (3, 1), note(1, i), note(2, 128), note(3, 2)) + end(10, at + 400)
    return data


@pytest.fixture
def protobuf():
    """The package that reads messages; an extra."""
    return pytest.importorskip("google.protobuf")


@pytest.mark.parametrize("packed", [False, True])
def test_slices_become_linked_tables(tmp_path, packed, protobuf):
    """Dispatches are joined to the calls with their correlation id, and carry registers."""
    path = tmp_path / ("x.pftrace.gz" if packed else "x.pftrace")
    path.write_bytes(gzip.compress(run()) if packed else run())
    trace = load_perfetto(path)
    assert len(trace.activities) == len(trace.launches) == 20
    assert {(one.name, one.duration_ns, one.registers, one.device) for one in trace.activities} == {
        ("gemm", 300, 128, 2)
    }
    assert [trace.launches[one.launch].correlation for one in trace.activities] == list(range(1, 21))
    assert trace.issues == ()
    assert trace_top(path).traces[0].kernels[0].total_ns == 6000
    assert trace_breakdown(path).traces[0].breakdown.devices[0].busy_ns == 6000


def test_a_damaged_end_is_said_and_the_rest_is_kept(tmp_path, protobuf):
    """Files end where the profiled program did."""
    path = tmp_path / "x.pftrace"
    path.write_bytes(run()[:-7])
    trace = load_perfetto(path)
    assert len(trace.activities) == 19
    assert {issue.kind: issue.lost for issue in trace.issues} == {
        "cut-off": 1,
        "unpaired-phase": 1,
        "launch-without-kernel": 0,
    }


def test_compressed_packets_and_dropped_ones(tmp_path, protobuf):
    """Packets may hold compressed packets; what the profiler dropped makes everything unknown."""
    path = tmp_path / "x.pftrace"
    path.write_bytes(field(1, message((50, zlib.compress(run())))) + packet((42, 1)))
    trace = load_perfetto(path)
    assert len(trace.activities) == 20
    assert "busy" in next(issue for issue in trace.issues if issue.kind == "dropped").unknown


def test_what_is_no_trace_is_a_message(tmp_path, protobuf):
    """Whatever it is called."""
    path = tmp_path / "x.pftrace"
    for content in (b"{}", b"\x0a\x02\x10\x07"):
        path.write_bytes(content)
        with pytest.raises(KprofError, match=r"not a Perfetto trace|holds no slices"):
            load_perfetto(path)


def test_without_protobuf_the_extra_is_named(tmp_path, monkeypatch):
    """It is optional."""
    path = tmp_path / "x.pftrace"
    path.write_bytes(run())
    monkeypatch.setitem(sys.modules, "google.protobuf.descriptor_pb2", None)
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    with pytest.raises(KprofError, match="needs protobuf") as caught:
        load_perfetto(path)
    assert "kprof[perfetto]" in str(caught.value)
