"""XLA's profiles, written here byte by byte after XLA's published numbers of fields."""

import gzip
import sys

import pytest

from kprof import trace_breakdown, trace_diff, trace_gaps, trace_ops, trace_path, trace_steps, trace_top, trace_tree
from kprof.errors import KprofError
from kprof.inputs.xplane import load_xplane
from tests.inputs.messages import field, message

pytestmark = pytest.mark.usefixtures("protobuf")
NAMES = {1: "loop_fusion.kd", 2: "hipModuleLaunchKernel", 3: "MemcpyD2D", 4: "train", 5: "$f.py:3 g", 6: "XLA op"}
STATS = {1: "correlation_id", 2: "kernel_details", 3: "hlo_op", 4: "hlo_module", 5: "memcpy_details", 6: "step_num",
         7: "device_vendor", 8: "fusion.1", 9: "jit_step"}  # fmt: skip


@pytest.fixture
def protobuf():
    """The package that reads messages; an extra."""
    return pytest.importorskip("google.protobuf")


def entry(number, key, name):
    """A name by its id."""
    return number, message((1, key), (2, message((1, key), (2, name))))


def plane(number, name, *lines, stats=()):
    """A plane with all names; they stand behind the lines that use them."""
    named = [entry(4, key, text) for key, text in NAMES.items()]
    named += [entry(5, key, text) for key, text in STATS.items()]
    return field(1, message((1, number), (2, name), *((3, line) for line in lines), *named, *((6, s) for s in stats)))


def line(number, name, start_ns, *events):
    """A line with its events."""
    return message((1, number), (2, name), (3, start_ns), *((4, event) for event in events))


def event(name, start_us, duration_us, *stats, occurrences=0):
    """An event after the line's start."""
    aggregate = [(5, occurrences)] if occurrences else [(2, start_us * 10**6)]
    return message((1, name), *aggregate, (3, duration_us * 10**6), *((4, stat) for stat in stats))


def stat(name, value, *, reference=False):
    """A stat: text, a number, or the name of another stat."""
    return message((1, name), (7 if reference else 5 if isinstance(value, str) else 4, value))


def profile(count=6):
    """Steps of one launch and one copy each, of an AMD GPU."""
    details = stat(2, " grid:16,1,1 block:512,1,1 private_mem:0 group_mem:2112 occ_pct:0")
    kernels = [event(1, 100 * i + 20, 30, stat(1, i), details) for i in range(1, count + 1)]
    copies = [event(3, 100 * i + 60, 5, stat(1, 50 + i), stat(5, "kind:D2D size:4096 dest:0")) for i in (1, 2)]
    calls = [
        event(2, 100 * i, 5, stat(1, i), stat(3, 8, reference=True), stat(4, 9, reference=True))
        for i in range(1, count + 1)
    ]
    calls += [event(2, 100 * i + 50, 2, stat(1, 50 + i)) for i in (1, 2)]
    steps = [event(4, 100 * i - 5, 90, stat(6, i)) for i in range(1, count + 1)]
    sums = event(4, 0, 9000, occurrences=12)
    derived = line(9, "XLA Ops", 1000, *(event(6, 100 * i + 20, 30) for i in range(1, count + 1)))
    return (
        plane(1, "/device:GPU:3", line(7, "Stream #7(Kernel,Memcpy)", 1000, *kernels, *copies), derived,
              stats=[stat(7, "AMD")])
        + plane(2, "/host:CPU", line(583, "Host Threads/583", 1000, *calls, *steps, sums, event(5, 10, 5)))
        + plane(3, "/host:metadata")
        + field(4, "host")
    )  # fmt: skip


def written(tmp_path, content, name="host.xplane.pb"):
    """A file."""
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_streams_launches_and_operations_become_linked_tables(tmp_path, packed):
    """The lines that XLA derives from streams do not count again."""
    path = written(tmp_path, gzip.compress(profile()) if packed else profile())
    trace = load_xplane(path)
    kernels = [each for each in trace.activities if each.kind == "kernel"]
    assert len(kernels) == 6
    assert {
        (k.name, k.device, k.stream, k.duration_ns, k.workgroups, k.workgroup_size, k.lds_bytes) for k in kernels
    } == {("loop_fusion", 3, 7, 30_000, (16, 1, 1), (512, 1, 1), 2112)}
    assert [each.bytes for each in trace.activities if each.kind == "copy"] == [4096, 4096]
    chain = [each.name for each in trace.operator_chain(kernels[0].operator)]
    assert chain == ["fusion.1", "jit_step", "ProfilerStep#1"]
    assert kernels[0].start_ns == 1000 + 120_000
    assert trace.info.vendor == "amd"
    assert trace.issues == ()


def test_every_question_is_answered(tmp_path):
    """As of any other timeline."""
    path = written(tmp_path, profile())
    assert trace_breakdown(path).traces[0].breakdown.devices[0].busy_ns == 6 * 30_000 + 2 * 5_000
    assert trace_top(path).traces[0].kernels[0].total_ns == 180_000
    assert sum(step.whole for step in trace_steps(path).traces[0].steps) >= 5
    assert trace_tree(path, by="operators").traces[0].root.total_ns == 180_000
    assert "fusion.1" in trace_ops(path).to_frame()["name"].to_list()
    for question in (trace_gaps, trace_path):
        assert question(path).document
    assert trace_diff(path, path).grown_percent == 0


def test_a_cut_end_is_said_and_the_planes_before_it_are_kept(tmp_path):
    """A host plane that is cut has its launches missing, so that nothing is certain."""
    whole = profile()
    trace = load_xplane(written(tmp_path, whole[: len(whole) - 300]))
    assert len(trace.activities) == 8
    assert {issue.kind: issue.lost for issue in trace.issues}["cut-off"] == 1


def test_a_damaged_plane_is_left_out(tmp_path):
    """It counts as lost, as a damaged line does."""
    for damaged in (message((2, "/device:GPU:0"), (3, b"\xff\xff\xff")), b"\x12\x02\xff\xff\xff"):
        trace = load_xplane(written(tmp_path, profile() + field(1, damaged)))
        assert len(trace.activities) == 8
        assert any(issue.kind == "malformed" and issue.lost for issue in trace.issues)


def test_what_is_no_profile_is_a_message(tmp_path):
    """Text, other messages, nothing."""
    for content in (b"{}", b"\xef\xbf\xbd" * 40, b"", field(4, "host"), b"\x0a\xff\xff\xff\xff\xff\xff\x7f"):
        with pytest.raises(KprofError):
            load_xplane(written(tmp_path, content))


def test_without_protobuf_the_extra_is_named(tmp_path, monkeypatch):
    """It is optional."""
    monkeypatch.setitem(sys.modules, "google.protobuf.descriptor_pb2", None)
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    with pytest.raises(KprofError, match="needs protobuf"):
        load_xplane(written(tmp_path, profile()))
