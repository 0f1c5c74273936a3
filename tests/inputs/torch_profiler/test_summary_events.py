"""Decoding by category, and decompression in a thread, give the events that general decoding gives."""

import gzip
import json
import threading
import time
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs.torch_profiler import opening
from kprof.inputs.torch_profiler.events import SlimEvent
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.normalise import kind_of
from kprof.inputs.torch_profiler.opening import read_ahead
from kprof.inputs.torch_profiler.reader import TraceReader
from kprof.inputs.torch_profiler.summary_events import CountedEvent

_NUMBER = st.integers(-5, 10**15) | st.floats(0, 1e12) | st.none()
_EVENT = st.fixed_dictionaries(
    {
        "ph": st.sampled_from("XXXXXisfBEM"),
        "name": st.sampled_from(["a", "b", "}, {", 'q"\\']),
        "pid": st.sampled_from([1, 2, "3"]),
        "ts": _NUMBER,
        "dur": _NUMBER,
    },
    optional={
        "cat": st.sampled_from(["kernel", "Kernel", "gpu_memcpy", "cpu_op", "cuda_runtime", "python_function", "x"]),
        "args": st.fixed_dictionaries({}, optional={"device": st.integers(0, 3), "stream": st.integers(0, 9)}),
    },
)


def kept_of(events) -> tuple[Counter[str], list[tuple[object, ...]]]:
    """Events by category, and those that are more than counted."""
    categories: Counter[str] = Counter()
    kept = []
    for event in events:
        category = event.cat
        categories[category] += 1
        if isinstance(event, CountedEvent) or kind_of(category) in {"other", "python", "unknown"}:
            continue
        on_gpu = kind_of(category) in {"kernel", "copy"}
        device = (event.pid, event.ts, event.args and event.args.device) if on_gpu else None
        kept.append((event.ph, category, event.name, event.dur, device))
    return categories, kept


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(_EVENT, max_size=30), block=st.integers(40, 900))
def test_batches_hold_what_general_events_hold(tmp_path, events, block):
    """Known and unknown categories, phases that are paired, missing numbers, metadata: in any mixture."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    batched, general = TraceReader(path, SlimEvent, block), TraceReader(path, SlimEvent, block)

    found = kept_of(e for batch in batched.batches() for e in batch)

    assert found == kept_of(e for batch in general.events() for e in batch)
    assert batched.issues == general.issues
    assert batched.events_read == general.events_read


def test_most_blocks_of_a_plain_trace_are_decoded_by_category(tmp_path):
    """Metadata at the beginning costs its own block only."""
    path = tmp_path / "t.json"
    kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 7, "ts": 1.5, "dur": 2.25, "args": {}}
    path.write_text(json.dumps([{"ph": "M", "name": "process_name", "pid": 1, "args": {}}, *[kernel] * 2000]))
    batches = list(TraceReader(path, SlimEvent, 4096).batches())
    slow = sum(isinstance(batch[0], SlimEvent) for batch in batches)
    assert sum(map(len, batches)) == 2001
    # The first and the last block are always general.
    assert slow <= 3 < len(batches)


def test_unpacking_beside_the_reader_gives_the_same(tmp_path, monkeypatch):
    """Blocks, and the issue of a stream that is cut off."""
    content = json.dumps([{"ph": "X", "name": f"n{i}", "ts": i} for i in range(20_000)]).encode()
    packed = gzip.compress(content)
    for cut in (len(packed), len(packed) // 2):
        path = tmp_path / "t.json.gz"
        path.write_bytes(packed[:cut])
        results = []
        for limit in (1 << 40, 0):
            monkeypatch.setattr(opening, "_WORTH_A_THREAD", limit)
            log = IssueLog(str(path))
            results.append((b"".join(opening.blocks(path, log, 1 << 14)), log.all()))
        assert results[0] == results[1]
        assert content.startswith(results[1][0])
        assert bool(results[1][1]) == (cut < len(packed))


def test_garbage_is_told_from_the_thread(tmp_path, monkeypatch):
    """An error of the thread is the reader's."""
    monkeypatch.setattr(opening, "_WORTH_A_THREAD", 0)
    path = tmp_path / "t.json.gz"
    path.write_bytes(b"\x1f\x8b" + bytes(range(200)))
    with pytest.raises(KprofError, match="not readable as gzip"):
        list(opening.blocks(path, IssueLog(str(path))))


def test_the_thread_is_never_far_ahead_and_ends_with_its_reader():
    """Bounded memory: depth and two more pieces; nothing is left running."""
    made = []

    def pieces():
        for number in range(1000):
            made.append(number)
            yield bytes([number % 256])

    before = threading.active_count()
    source = read_ahead(pieces, depth=2)
    assert next(source) == b"\0"
    time.sleep(0.05)
    assert 1 <= len(made) <= 5
    source.close()
    assert threading.active_count() == before
    assert len(made) <= 8
