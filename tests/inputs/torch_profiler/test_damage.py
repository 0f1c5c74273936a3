"""Damaged traces: what is readable is read, what is not is counted, nothing is lost in silence."""

import gzip
import json
import random
import time

import pytest

from kprof.errors import KprofError
from kprof.inputs.torch_profiler import load, opening
from kprof.inputs.torch_profiler.events import SlimEvent
from kprof.inputs.torch_profiler.reader import TraceReader


def read(path, block=1 << 18):
    """Names of all events, and the issues by kind."""
    reader = TraceReader(path, SlimEvent, block)
    names = [e.name for events in reader.events() for e in events]
    return names, {i.kind: i for i in reader.issues}


def test_cut_anywhere_keeps_every_whole_event(tmp_path, kineto):
    """At every 97th byte: the events before the cut are there, and the cut is reported."""
    builder = kineto.small_model(kineto.Builder())
    data = builder.text()
    first = data.index(b'"traceEvents"') + 16
    ends = [i for i in range(len(data)) if data.startswith(b"\n  }", i)]
    last = data.rindex(b"\n  ],")
    path = tmp_path / "t.json"
    for cut in range(first, len(data), 97):
        path.write_bytes(data[:cut])

        names, issues = read(path, 512)

        whole = sum(1 for e in ends if first < e + 4 <= cut and e < last)
        assert len(names) == whole, cut
        assert ("cut-off" in issues) is (cut <= last + 4), cut


def test_cut_in_the_header_is_a_message(tmp_path, kineto):
    """Without the beginning of the events there is nothing to read."""
    data = kineto.small_model(kineto.Builder()).text()
    path = tmp_path / "t.json"
    for cut in range(1, data.index(b'"traceEvents"'), 37):
        path.write_bytes(data[:cut])
        with pytest.raises(KprofError, match=r"no list of traceEvents|empty"):
            read(path)


def test_cut_gzip_keeps_what_unpacks(tmp_path, kineto):
    """At every 41st byte of the packed file: a message or events with the cut reported, never a traceback."""
    builder = kineto.Builder()
    rng = random.Random(1)
    for n in range(300):
        builder.kernel(f"kernel_{rng.random()}", n * 10.0, 5.0, n)
    packed = gzip.compress(builder.text())
    path = tmp_path / "t.json.gz"
    counts = []
    for cut in range(1, len(packed) - 8, 41):
        path.write_bytes(packed[:cut])
        try:
            names, issues = read(path)
        except KprofError:
            continue
        assert "cut-off" in issues
        assert names == [e["name"] for e in builder.events[: len(names)]]
        counts.append(len(names))
    assert counts == sorted(counts)
    assert counts[-1] > 250


def test_flipped_bytes_never_end_in_a_traceback(tmp_path, kineto):
    """One byte at a time replaced: a message, or at least all but the few events it stands in."""
    builder = kineto.small_model(kineto.Builder())
    data = bytearray(builder.text())
    path = tmp_path / "t.json"
    rng = random.Random(7)
    first = data.index(b'"traceEvents"') + 20
    for _ in range(250):
        at = rng.randrange(first, len(data) - 120)
        damaged = bytearray(data)
        damaged[at] = rng.choice(b'{}[]",:\\\x00\xff9e')
        path.write_bytes(bytes(damaged))
        names, issues = read(path, 2048)
        assert len(names) >= len(builder.events) - 3 or issues, (at, damaged[at])


def test_a_block_of_random_bytes_costs_its_events_only(tmp_path, kineto):
    """The reader finds its way back to the next event."""
    builder = kineto.small_model(kineto.Builder(), layers=40)
    data = builder.text()
    middle = len(data) // 2
    path = tmp_path / "t.json"
    path.write_bytes(data[:middle] + random.Random(3).randbytes(400) + data[middle + 400 :])

    names, issues = read(path, 4096)

    assert len(names) >= len(builder.events) - 8
    assert issues["malformed"].lost >= 1
    assert issues["malformed"].place.startswith("byte ")


def _trace(events: bytes) -> bytes:
    return b'{"traceEvents": [' + events + b"]}"


GOOD = b'{"ph": "X", "cat": "kernel", "name": "good", "ts": 1, "dur": 2}'


@pytest.mark.parametrize(
    ("event", "kind", "name"),
    [
        (b'{"ph": "X", "cat": "kernel", "name": "bad \xff\xfe", "ts": 1, "dur": 1}', "bad-utf8", "bad \ufffd\ufffd"),
        (b'{"ph": "X", "cat": "kernel", "name": "tab\there", "ts": 1, "dur": 1}', "control-character", "tab\there"),
        (b'{"ph": "X", "cat": "kernel", "name": "nan", "ts": NaN, "dur": 1}', "not-finite", "nan"),
        (b'{"ph": "X", "cat": "kernel", "name": "text", "ts": 1, "dur": "abc"}', "odd-number", "text"),
        (b'{"ph": "X", "cat": "kernel", "name": "args", "ts": 1, "dur": 1, "args": 7}', "odd-arguments", "args"),
        (
            b'{"ph": "X", "cat": "kernel", "name": "huge", "ts": 1, "dur": 1, "args": {"device": '
            + b"9" * 40 + b', "stream": [1]}, "pid": {"a": 1}}',
            "huge-integer",
            "huge",
        ),
    ],
)  # fmt: skip
def test_one_bad_event_is_mended_and_reported(tmp_path, event, kind, name):
    """Its neighbours are untouched, its place is told."""
    path = tmp_path / "t.json"
    path.write_bytes(_trace(GOOD + b", " + event + b", " + GOOD))

    names, issues = read(path)

    assert names == ["good", name, "good"]
    assert issues[kind].place == f"byte {17 + len(GOOD) + 2}"
    assert not any(i.lost for i in issues.values())


@pytest.mark.parametrize("entry", [b"17", b"null", b'"text"', b"[1, 2]", b'{"ph": }', b"{" * 3000])
def test_what_is_no_event_is_counted_as_lost(tmp_path, entry):
    """An entry that cannot be an event takes nothing else with it."""
    path = tmp_path / "t.json"
    path.write_bytes(_trace(GOOD + b", " + entry + b", " + GOOD))

    names, issues = read(path)

    assert names[0] == "good"
    assert sum(i.lost for i in issues.values()) >= 1


def test_a_trailing_comma_is_forgiven(tmp_path):
    """Hand-edited traces have one."""
    path = tmp_path / "t.json"
    path.write_bytes(_trace(GOOD + b", " + GOOD + b", "))

    names, _ = read(path)

    assert names == ["good", "good"]


def test_deep_nesting_is_no_crash(tmp_path):
    """A hundred thousand brackets in one event."""
    deep = b'{"ph": "X", "name": "deep", "ts": 1, "dur": 1, "args": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    path = tmp_path / "t.json"
    path.write_bytes(_trace(GOOD + b", " + deep + b", " + GOOD))

    names, issues = read(path)

    assert names == ["good", "good"]
    assert issues["malformed"].lost == 1


def test_a_gzip_bomb_is_stopped(tmp_path, monkeypatch):
    """A thousandfold of blanks: reading ends at the bound, here a sixteenth of what it is, and says so."""
    monkeypatch.setattr(opening, "BOMB_FREE_BYTES", opening.BOMB_FREE_BYTES // 16)
    path = tmp_path / "t.json.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b'{"traceEvents": [' + GOOD + b",")
        for _ in range(opening.BOMB_FREE_BYTES // (1 << 24) + 1):
            file.write(b" " * (1 << 24))
        file.write(GOOD + b"]}")

    names, issues = read(path)

    assert names == ["good"]
    assert "gzip-bomb" in issues


def test_damaged_gzip_checksum_is_reported(tmp_path, kineto):
    """The content is kept, the doubt is told."""
    packed = bytearray(gzip.compress(kineto.small_model(kineto.Builder()).text()))
    packed[-6] ^= 0xFF
    path = tmp_path / "t.json.gz"
    path.write_bytes(bytes(packed))

    names, issues = read(path)

    assert len(names) in {0, 40} or "cut-off" in issues
    assert "cut-off" in issues


def test_absurd_and_negative_times_are_flagged(tmp_path, kineto):
    """They take no part in sums of time, and each is reported."""
    builder = kineto.Builder()
    builder.kernel("sound", 1000.0, 5.0, 1)
    builder.kernel("sound", 1010.0, 5.0, 2)
    builder.kernel("negative", 1020.0, -5.0, 3)
    builder.kernel("far", 1e15, 5.0, 4)
    builder.kernel("beyond", 1e300, 5.0, 5)
    builder.kernel("endless", 1030.0, 1e300, 6)
    trace = load(builder.write(tmp_path / "t.json"))

    kinds = {i.kind: i for i in trace.issues}
    assert [a.name for a in trace.activities] == ["sound", "sound", "negative"]
    assert [a.duration_ns for a in trace.activities] == [5000, 5000, 0]
    assert kinds["absurd-time"].lost == 3
    assert kinds["negative-duration"].count == 1


def test_an_empty_trace_is_said_to_be_empty(tmp_path):
    """No events is an answer, and a flagged one."""
    path = tmp_path / "t.json"
    path.write_text('{"schemaVersion": 1, "traceEvents": []}')

    trace = load(path)

    assert trace.activities == []
    assert [i.kind for i in trace.issues] == ["no-events"]


def test_a_list_of_other_objects_is_refused(tmp_path):
    """A JSON list is not a trace because it is a list."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"file": "x", "batch_size": 32}]))

    with pytest.raises(KprofError, match="no profiler events"):
        load(path)


def test_duplicate_ids_and_repeated_events_are_flagged(tmp_path, kineto):
    """Two calls with one correlation id: the later one before the kernel is taken; a doubled kernel is told."""
    builder = kineto.Builder()
    builder.add("cuda_runtime", "hipLaunchKernel", 10.0, 1.0, correlation=7)
    builder.add("cuda_runtime", "hipExtModuleLaunchKernel", 20.0, 1.0, correlation=7)
    for _ in range(2):
        builder.kernel("k", 30.0, 5.0, 7)
    trace = load(builder.write(tmp_path / "t.json"))

    kinds = {i.kind for i in trace.issues}
    assert {"duplicate-correlation", "repeated-activity"} <= kinds
    assert trace.launches[trace.activities[0].launch].name == "hipExtModuleLaunchKernel"


def test_damage_in_every_event_takes_no_longer_than_the_file(tmp_path):
    """An object that is never closed in each of many events, as a flipped bit of packed data leaves them."""
    event = b'{"ph":"X","cat":"kernel","name":"k","ts":%d,"dur":1,"args":{"device":{,"stream":7}}'
    sound = b'{"ph":"X","cat":"kernel","name":"k","ts":%d,"dur":1,"args":{"device":0,"stream":7}}'
    path = tmp_path / "t.json"
    count = 6000
    rows = (sound % n if n % 100 == 0 else event % n for n in range(count))
    path.write_bytes(b'{"traceEvents":[' + b",".join(rows) + b"]}")
    began = time.process_time()
    trace = load(path)
    assert time.process_time() - began < 8
    kinds = {issue.kind: issue for issue in trace.issues}
    assert len(trace.activities) == count // 100
    assert kinds["malformed"].lost >= count - count // 100 - 1
