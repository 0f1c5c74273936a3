"""The reader that streams and the one that links give the same sums, also of damaged traces."""

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.timeline import epochs
from kprof_analyzers.profiles.timeline.breakdown import device_times
from kprof_analyzers.profiles.timeline.categories import load_categories
from kprof_analyzers.profiles.timeline.streaming import summarise

DAY = 86_400 * 10**6
_TIME = st.one_of(
    st.integers(0, 10**6),
    st.floats(0, 1e6, allow_nan=False),
    st.sampled_from([-1, 1e11, DAY, DAY - 1, 2 * DAY, 5e14, 9e15, 1e300, -1e300, 2**63, 2**64 - 1, 10**30]),
    st.sampled_from([None, "12.5", "x", True, [1], float("nan"), float("inf")]),
)
_LOOSE = st.sampled_from([0, 1, "2", "stream 7", None, 3.5, True, 2**70, "9" * 5000, [1], 10**9, -(2**63)])
_EVENT = st.fixed_dictionaries(
    {
        "ph": st.sampled_from("XXXXXXXXiBEM"),
        "name": st.sampled_from(["gemm", "ncclDevKernel", "Memcpy", "a\u00e9", 'q"\\']),
        "ts": _TIME,
        "dur": _TIME,
    },
    optional={
        "cat": st.sampled_from(
            ["kernel", "kernel", "kernel", "gpu_memcpy", "cpu_op", "hip_runtime", "python_function"]
        ),
        "pid": _LOOSE,
        "tid": _LOOSE,
        "args": st.one_of(
            st.fixed_dictionaries({}, optional={"device": _LOOSE, "rank": _LOOSE, "stream": _LOOSE, "grid": _LOOSE}),
            _LOOSE,
        ),
    },
)
_DAMAGE = st.lists(st.tuples(st.floats(0, 1), st.sampled_from([b"\xff", b'"', b"\\", b"}", b"{", b"9", b"", b"\n"])))


def sums(read, path):
    """What a reader answers: kernels, copies and operators by name, and times by device; or its refusal."""
    try:
        return read(path)
    except KprofError as error:
        return error.message


def streamed(path):
    """By one pass."""
    found = summarise(path, load_categories())
    names = {
        kind: {r.name: (r.count, r.total_ns, r.min_ns, r.max_ns) for r in rows}
        for kind, rows in (("kernel", found.kernels), ("transfer", found.transfers), ("operator", found.operators))
    }
    return names, found.devices


def linked(path):
    """By the tables."""
    trace = load(path)
    names = {"kernel": {}, "transfer": {}, "operator": {}}
    for row in (*trace.activities, *(o for o in trace.operators if o.kind == "operator")):
        kind = row.kind if row.kind in names else "transfer"
        names[kind].setdefault(row.name, []).append(row.duration_ns)
    return {
        kind: {name: (len(d), sum(d), min(d), max(d)) for name, d in found.items()} for kind, found in names.items()
    }, device_times(trace, load_categories())


def damaged(text: bytes, damage) -> bytes:
    """Bytes replaced or, with nothing to replace them by, taken out."""
    data = bytearray(text)
    for share, by in damage:
        at = int(share * (len(data) - 1))
        data[at : at + 1] = by
    return bytes(data)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(_EVENT, max_size=12), damage=_DAMAGE)
@example(
    events=[
        {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1, "dur": 2},
        {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 5, "dur": 1e11},
    ],
    damage=[],
)
@example(
    events=[
        {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1, "dur": 2},
        {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 5e14, "dur": 2},
        {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 9, "dur": 0.0004},
    ],
    damage=[],
)
def test_damaged_traces_have_the_same_sums(tmp_path, events, damage):
    """Absurd numbers, wrong types, broken text: counted or left out by both."""
    path = tmp_path / "t.json"
    path.write_bytes(damaged(json.dumps({"schemaVersion": 1, "traceEvents": events}).encode(), damage))
    assert sums(streamed, path) == sums(linked, path)


@pytest.mark.parametrize(
    ("broken", "kept"),
    [
        (b'"stream": "\xff\xfe"', 2),
        (b'"Input Dims": "a\x01b"', 2),
        (b'"stream": ' + b"9" * 5000, 2),
        (b'"stream": 1e999', 2),
        (b'"grid": "\\ud800"', 2),
        (b'"grid": "\\q"', 1),
        (b'"stream": ' + b"[" * 20000 + b"]" * 20000, 1),
    ],
    ids=lambda value: str(value)[:24],
)
def test_arguments_that_one_reader_does_not_look_at(tmp_path, broken, kept):
    """Damage in them loses the event to both or to neither, and is told where it is lost."""
    path = tmp_path / "t.json"
    event = b'{"ph":"X","cat":"kernel","name":"gemm","ts":%d,"dur":7,"args":{"device":1, %b}}'
    path.write_bytes(b'{"traceEvents":[' + event % (1, b'"grid":[1,1,1]') + b"," + event % (20, broken) + b"]}")
    assert streamed(path) == linked(path)
    assert streamed(path)[0]["kernel"] == {"gemm": (kept, kept * 7000, 7000, 7000)}
    for found in (summarise(path), load(path)):
        assert sum(issue.lost for issue in found.issues) == 2 - kept


def test_a_kernel_that_lasts_a_day_is_in_no_sum(tmp_path, kprof):
    """Every command leaves it out, says so, and exits with 2 since a kernel is missing from the times."""
    path = tmp_path / "t.json"
    events = [
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 1, "ts": 1, "dur": 2, "args": {"device": 1}},
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 1, "ts": 5, "dur": 1e11, "args": {"device": 1}},
    ]
    path.write_text(json.dumps({"traceEvents": events}))
    for command in ("trace breakdown", "trace breakdown --by-name", "trace top", "ingest trace"):
        ran = kprof(*command.split(), path)
        assert ran.code == 2
        assert "0.002 ms" in ran.out, (command, ran.out)
        assert "100,000" not in ran.out
        assert "left out" in ran.out + ran.err


@given(
    starts=st.lists(st.tuples(st.integers(0, 12), st.integers(0, epochs.DAY_NS - 1)), min_size=1, max_size=40),
    together=st.integers(1, 5),
)
def test_epochs_are_the_groups_without_a_days_gap(starts, together):
    """In whatever order they come, and however many at a time: the largest group of the sorted starts."""
    times = [days * epochs.DAY_NS + ns for days, ns in starts]
    groups = [[]]
    for before, time in zip([None, *sorted(times)], sorted(times), strict=False):
        if before is not None and time - before >= epochs.DAY_NS:
            groups.append([])
        groups[-1].append(time)
    best = max(groups, key=len)
    found = epochs.Epochs()
    for at in range(0, len(times), together):
        part = times[at : at + together]
        found.add(epochs.ActivityGroup("kernel", "k", "compute", (0, 0)), part, [1] * len(part))
    epoch, lost = found.settle()
    assert (epoch.low, epoch.high, epoch.count, lost) == (best[0], best[-1], len(best), len(times) - len(best))
    assert epoch.kernels.by_name == {"k": [len(best), len(best), 1, 1]}
    assert epoch.devices[0, 0].activities == len(best)
    assert epoch.devices[0, 0].lane("compute").length() == len(set(best))
