"""Perfetto traces, written here byte by byte after Perfetto's published numbers of fields."""

import gzip
import struct
import sys
import zlib

import pytest

from kprof import trace_breakdown, trace_top
from kprof.errors import KprofError
from kprof.inputs import rocprof
from kprof.inputs.perfetto import load_perfetto
from kprof_analyzers.profiles.timeline.files import open_trace, trace_files
from tests.inputs.messages import field, message, varint

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


def counter(iid, value):
    """A fraction, which is a counter."""
    return (4, varint(1 << 3) + varint(iid) + varint(5 << 3 | 1) + struct.pack("<d", value))


def text_note(iid, value):
    """An annotation of text."""
    return (4, message((1, iid), (6, value)))


def counted(count=4):
    """Dispatches of rocprofv3 with their sizes and a counter."""
    keys = ("corr_id", "agent", "workgroup_size", "grid_size", "LDS_Block_Size", "SQ_WAVES", "stream_ID")
    names = message((2, message((1, 1), (2, "gemm(float*) [clone .kd]"))),
                    *[(3, message((1, i), (2, key))) for i, key in enumerate(keys, 1)])  # fmt: skip
    data = packet((13, 1), (12, names)) + track(10, 'STREAM [" 3 "] ')
    for i in range(1, count + 1):
        notes = [
            note(1, i),
            text_note(2, "GPU-0"),
            note(3, 256),
            note(4, 4096),
            note(5, 512),
            counter(6, 16.0),
            note(7, 3),
        ]
        data += begin(10, 1000 * i, 1, (22, "kernel_dispatch"), *notes) + end(10, 1000 * i + 400)
    return data


def test_a_slice_of_rocprofv3_carries_counters(tmp_path, protobuf):
    """One file is trace and counters; in a folder it says nothing that the other files do not."""
    path = tmp_path / "x_results.pftrace"
    path.write_bytes(counted())
    data = rocprof.read(path)
    assert (
        data.counters[["counter", "value", "kernel_name"]].values.tolist() == [["SQ_WAVES", 16.0, "gemm(float*)"]] * 4
    )
    assert (
        data.dispatches[["grid_work_items", "workgroup_work_items", "workgroups", "lds_bytes"]].values.tolist()
        == [[4096, 256, 16, 512]] * 4
    )
    assert data.kernels["total_ns"].tolist() == [1600]
    trace = load_perfetto(path)
    assert {(one.name, one.stream, one.workgroup_size, one.workgroups) for one in trace.activities} == {
        ("gemm(float*)", 3, (256, 1, 1), None)
    }
    with pytest.raises(KprofError, match="no measurement of a known format"):
        rocprof.read(tmp_path)


def test_categories_of_rocprof_sys(tmp_path, protobuf):
    """Streams hold dispatches and copies; host functions are no API calls."""
    path = tmp_path / "perfetto-trace-77.proto"
    keys = message(*[(3, message((1, i), (2, key))) for i, key in enumerate(("corr_id", "dst_agent", "grid_size",
                   "workgroup_size"), 1)])  # fmt: skip
    rows = [
        ("gemm", "rocm_hip_stream", [note(1, 1), text_note(3, "(64,8,1)"), text_note(4, "(16,4,1)")]),
        ("MEMORY_COPY_HOST_TO_DEVICE", "rocm_hip_stream", [note(1, 2), note(2, 1)]),
        ("hipLaunchKernel", "rocm_hip_api", [note(1, 1)]),
        ("main", "host", []),
        ("my region", "rocm_marker_api", []),
        ("pthread_create", "pthread", []),
    ]
    data = packet((13, 1), (12, keys))
    for at, (name, category, notes) in enumerate(rows):
        number = 20 + at
        data += track(number, f"track {at}")
        data += packet((8, 1000 * at + 1), (11, message((9, 1), (11, number), (22, category), (23, name), *notes)))
        data += end(number, 1000 * at + 500)
    path.write_bytes(data)
    (file,) = trace_files([path])
    trace = open_trace(file)
    assert [(one.name, one.kind, one.workgroups) for one in trace.activities] == [
        ("gemm", "kernel", (4, 2, 1)),
        ("MEMORY_COPY_HOST_TO_DEVICE", "copy", None),
    ]
    assert [one.name for one in trace.launches] == ["hipLaunchKernel"]
    assert [(one.name, one.kind) for one in trace.operators] == [
        ("main", "operator"),
        ("my region", "annotation"),
        ("pthread_create", "operator"),
    ]


@pytest.mark.parametrize("name", ["x.pftrace", "x.xplane.pb", "p.hatchet_msgpack"])
def test_hints_do_not_go_round_in_a_circle(tmp_path, kprof, name, protobuf):
    """Each command names one that reads the file, or says that it is none."""
    path = tmp_path / name
    path.write_bytes(b"\x00\x01 nothing of the kind")
    counters = kprof("ingest", "counters", path)
    assert counters.code == 2
    assert f"kprof ingest trace {path}" in counters.err
    trace = kprof("ingest", "trace", path)
    assert trace.code == 2
    assert "ingest counters" not in trace.err


def test_a_packed_database_is_named(tmp_path, kprof):
    """Databases are read where they lie."""
    path = tmp_path / "run.db.gz"
    path.write_bytes(gzip.compress(b"SQLite format 3\0" + bytes(200)))
    for command in (("trace", "breakdown"), ("ingest", "counters")):
        done = kprof(*command, path)
        assert done.code == 2
        assert f"gunzip -k {path}" in done.err


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


@pytest.mark.parametrize("marked", [(), ((87, 1),)])
def test_the_first_packet_of_a_sequence_has_lost_nothing(tmp_path, marked, protobuf):
    """Perfetto sets "previous packet dropped" there; two files that are put together have two first packets."""
    path = tmp_path / "x.pftrace"
    begun = packet((42, 1), *marked) + run()
    path.write_bytes(begun * 2 if marked else begun)
    assert "dropped" not in {issue.kind for issue in load_perfetto(path).issues}
    path.write_bytes(begun + packet((42, 1)))
    assert "dropped" in {issue.kind for issue in load_perfetto(path).issues}


def test_a_copy_to_the_host_is_on_the_timeline_of_its_gpu(tmp_path, protobuf):
    """Agents of the host are numbered with the GPUs; rocprofv3 puts the copy on a track of the host."""
    path = tmp_path / "x.pftrace"
    keys = message(*[(3, message((1, i), (2, key))) for i, key in ((1, "src_agent"), (2, "dst_agent"), (3, "agent"))])
    data = packet((13, 1), (12, keys)) + track(10, "COPY to AGENT [1] THREAD [0] (CPU)")
    rows = [
        ("MEMORY_COPY_DEVICE_TO_HOST", "memory_copy", (4, 1)),
        ("MEMORY_COPY_HOST_TO_DEVICE", "memory_copy", (1, 4)),
    ]
    for at, (name, category, (source, destination)) in enumerate(rows):
        notes = (note(1, source), note(2, destination))
        data += packet((8, 1000 * at + 1), (11, message((9, 1), (11, 10), (22, category), (23, name), *notes)))
        data += end(10, 1000 * at + 500)
    path.write_bytes(data)
    assert [one.device for one in load_perfetto(path).activities] == [4, 4]


def test_what_is_no_trace_is_a_message(tmp_path, protobuf):
    """Whatever it is called."""
    path = tmp_path / "x.pftrace"
    for content in (b"{}", b"\x0a\x02\x10\x07"):
        path.write_bytes(content)
        with pytest.raises(KprofError, match=r"not a Perfetto trace|contains no slices"):
            load_perfetto(path)


def test_without_protobuf_the_extra_is_named(tmp_path, monkeypatch):
    """It is optional."""
    path = tmp_path / "x.pftrace"
    path.write_bytes(run())
    monkeypatch.setitem(sys.modules, "google.protobuf.descriptor_pb2", None)
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    with pytest.raises(KprofError, match="needs protobuf") as caught:
        load_perfetto(path)
    assert "pip install 'protobuf>=" in str(caught.value)
