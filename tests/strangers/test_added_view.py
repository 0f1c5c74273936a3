"""A view of timelines is one file: command, function, data frame, text, JSON, pages and the report follow from it."""

import json
import re

import pytest

VIEW = '''
"""``kprof trace streams``: GPU time by stream."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from kprof.api.views import TraceAdvice, TraceView, function_of
from kprof.options.measurements import TraceOptions
from kprof.output.quantities import milliseconds
from kprof.reporters.grids import Column, ViewTable


class Streams(NamedTuple):
    """What one trace gives."""

    info: object
    issues: tuple
    times: list


@dataclass(frozen=True, eq=False, repr=False)
class TraceStreams(TraceView):
    """GPU time by stream, the busiest first.

    Example:  kprof trace streams trace.json
    """

    help = "GPU time by stream."
    options = TraceOptions
    place = 15

    @classmethod
    def of_trace(cls, trace, options, **_further):
        """Sum the durations of each stream."""
        sums = Counter()
        for activity in trace.activities:
            sums[activity.stream] += activity.duration_ns
        return Streams(trace.info, trace.issues, sums.most_common())

    @classmethod
    def tables(cls):
        """Return the only table."""
        columns = (Column("stream", lambda row: str(row[0])), Column("ms", lambda row: milliseconds(row[1])))
        return (ViewTable("streams", columns, lambda one: one.times, ("stream", "total_ns"),
                      record=lambda row: {"stream": row[0], "total_ns": row[1]}),)

    @property
    def conclusion(self):
        """The number of streams."""
        return f"{sum(len(one.times) for one in self.traces)} streams"

    @classmethod
    def advice(cls, part):
        """Say that work is on one stream alone."""
        if len(part.times) < 3:
            yield TraceAdvice(7_000_000.0, "use a third stream")


trace_streams = function_of(TraceStreams)
'''
EVENTS = [
    {"ph": "X", "cat": "kernel", "name": f"k{stream}", "pid": 0, "tid": stream, "ts": 1000 + 50 * turn,
     "dur": 10 * stream, "args": {"device": 0, "stream": stream}}
    for turn in range(3) for stream in (1, 2)
]  # fmt: skip
ASK = """
import inspect, json, kprof
found = kprof.trace_streams("trace.json", jobs=1)
print(json.dumps({
    "names": "trace_streams" in dir(kprof),
    "frame": found.to_frame()[["stream", "total_ns"]].values.tolist(),
    "columns": list(found.to_frame().columns),
    "options": sorted(inspect.signature(kprof.trace_streams).parameters),
    "doc": "jobs: Worker processes" in kprof.trace_streams.__doc__ and "busiest first" in kprof.trace_streams.__doc__,
    "html": "<table" in found.to_html(),
    "summary": found.summary,
}))
"""
STUB = """
import sys; sys.path.insert(0, 'validation'); import generate_docs as g
print(g.generated()[g.ROOT / 'kprof/__init__.pyi'].count('def trace_streams('))
"""


@pytest.fixture
def view(copy):
    """The view's file, and a trace with two streams: 30 and 60 us."""
    path = copy.root / "kprof/api/trace/streams.py"
    path.write_text(VIEW.lstrip("\n"))
    (copy.folder / "trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": EVENTS}))
    yield copy
    path.unlink()


def test_a_view_is_one_file(view):
    """The list of commands, its help, text, documents, files and the exit code of a mistake."""
    assert "GPU time by stream." in view.kprof("trace", "--help")
    shown = " ".join(view.kprof("trace", "streams", "--help").split())
    assert "GPU time by stream, the busiest first." in shown
    assert all(flag in shown for flag in ("--jobs", "--exclude-warm-up", "--top", "--show", "--json", "--quiet"))
    out = view.kprof("trace", "streams", "trace.json", "-n", "1", "-o", "page.html", "--json", "out.json")
    assert re.search(r"^ *2 +0\.060$", out, re.MULTILINE)
    assert "and 1 more; -n 0 shows all" in out
    assert out.splitlines()[-1].endswith("2 streams") or "2 streams" in out
    assert json.loads((view.folder / "out.json").read_text())["schema"] == "kprof.trace.streams/1"
    assert "0.060" in (view.folder / "page.html").read_text()
    view.kprof("trace", "streams", "trace.json", "-o", "rows.csv")
    assert "60000" in (view.folder / "rows.csv").read_text()
    assert "there is no table 'stream'" in view.kprof("trace", "streams", "trace.json", "--show", "stream", code=2)


def test_its_function_and_its_place_in_the_report(view):
    """What Python and editors know of it, and its part of the terminal's report, the page and what to do next."""
    found = json.loads(view.python("-c", ASK).stdout)
    summary = found.pop("summary")
    assert found == {
        "names": True,
        "frame": [[2, 60_000], [1, 30_000]],
        "columns": ["path", "stream", "total_ns"],
        "options": ["cap_durations", "exclude_warm_up", "jobs", "paths", "scheduler"],
        "doc": True,
        "html": True,
    }
    assert summary == "2 streams; next: use a third stream (gain not known, at most 7.000 ms)"
    assert view.python("-c", STUB, cwd=view.root).stdout.strip() == "1"
    report = view.kprof("trace", "report", "trace.json")
    parts = re.findall(r"^== (\w+)", report, re.MULTILINE)
    assert parts[:3] == ["completeness", "breakdown", "streams"]
    assert "up to 7.00 ms: use a third stream" in report or "up to 7.000 ms: use a third stream" in report
    view.kprof("trace", "report", "trace.json", "-o", "report.html")
    page = (view.folder / "report.html").read_text()
    assert 'id="t1-streams"' in page
    assert "use a third stream" in page
