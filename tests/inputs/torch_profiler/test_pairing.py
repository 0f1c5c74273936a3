"""Begin and end events give what complete events give."""

import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kprof.inputs.torch_profiler.events import SlimEvent
from kprof.inputs.torch_profiler.load import load
from kprof.inputs.torch_profiler.reader import TraceReader
from kprof_analyzers.profiles.timeline.streaming import summarise

Tree = list["Tree"]
_TREE = st.recursive(st.just([]), lambda inner: st.lists(inner, max_size=4), max_leaves=12)


def events_of(path: Path, events: list[dict], block: int = 1 << 18):
    """What the reader gives, and what it says was lost."""
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    reader = TraceReader(path, SlimEvent, block)
    found = [event for part in reader.events() for event in part]
    return found, [(issue.kind, issue.lost) for issue in reader.issues]


def event(phase: str, name: str, ts: float, tid: int = 1, **more) -> dict:
    """One event of an operator's category."""
    return {"ph": phase, "cat": "cpu_op", "name": name, "pid": 9, "tid": tid, "ts": ts, **more}


def walked(tree: Tree, tid: int, clock: list[int], named: bool) -> tuple[list[dict], list[tuple[str, int, int]]]:
    """Begin and end events of a tree, and (name, start, duration) of each node in the order of their ends."""
    written, expected = [], []
    for number, child in enumerate(tree):
        name = f"op{number}"
        start = clock[0] = clock[0] + 3
        inner, found = walked(child, tid, clock, named)
        end = clock[0] = clock[0] + 2
        written += [event("B", name, start, tid), *inner, event("E", name if named else "", end, tid)]
        expected += [*found, (name, start, end - start)]
    return written, expected


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=_TREE, named=st.booleans(), block=st.integers(1, 300))
def test_nested_pairs_are_complete_events(tmp_path, tree, named, block):
    """Any nesting, ends with and without names, blocks that cut pairs apart."""
    written, expected = walked(tree, 1, [100], named)
    found, lost = events_of(tmp_path / "t.json", written, block)
    assert [(e.ph, e.name, e.ts, e.dur) for e in found] == [("X", *row) for row in expected]
    assert lost == []


def test_threads_are_kept_apart(tmp_path):
    """Pairs of two threads that overlap without nesting."""
    written = [event("B", "a", 1, 1), event("B", "b", 2, 2), event("E", "", 5, 1), event("E", "", 9, 2)]
    found, lost = events_of(tmp_path / "t.json", written)
    assert [(e.name, e.dur) for e in found] == [("a", 4), ("b", 7)]
    assert lost == []


def test_what_does_not_nest_is_lost_and_counted(tmp_path):
    """An end alone, a begin alone, one left open inside another, and an end before its begin."""
    written = [
        event("E", "a", 1),
        event("B", "outer", 2),
        event("B", "left open", 3),
        event("E", "outer", 5),
        event("B", "backwards", 9),
        event("E", "backwards", 8),
        event("B", "never ends", 10),
        event("X", "whole", 11, dur=1),
    ]
    found, lost = events_of(tmp_path / "t.json", written)
    assert [(e.name, e.dur) for e in found] == [("outer", 3), ("whole", 1)]
    assert lost == [("unpaired-phase", 4)]


def test_sums_and_tables_equal_those_of_complete_events(tmp_path, kineto):
    """A whole trace with every operator and kernel written as a pair gives the same summary and tables."""
    builder = kineto.Builder()
    kineto.small_model(builder)
    plain = tmp_path / "plain.json"
    builder.write(plain)
    document = json.loads(plain.read_text())
    pairs = []
    for one in document["traceEvents"]:
        if one["ph"] != "X":
            pairs.append(one)
            continue
        thread = {**one, "tid": f"{one['tid']} {len(pairs)}"}
        begin = {key: value for key, value in one.items() if key != "dur"} | {"ph": "B"}
        pairs += [begin, {"ph": "E", "pid": one["pid"], "tid": thread["tid"], "ts": one["ts"] + one["dur"]}]
        pairs[-2]["tid"] = thread["tid"]
    paired = tmp_path / "paired.json"
    paired.write_text(json.dumps({**document, "traceEvents": pairs}))
    before, after = summarise(plain), summarise(paired)
    assert before.kernels
    assert (after.kernels, after.operators, after.devices) == (before.kernels, before.operators, before.devices)
    assert [(a.name, a.start_ns, a.duration_ns) for a in load(paired).activities] == [
        (a.name, a.start_ns, a.duration_ns) for a in load(plain).activities
    ]
