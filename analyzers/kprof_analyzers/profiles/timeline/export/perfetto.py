"""A reduced trace for Perfetto or chrome://tracing: the GPU's streams, and operators by category."""

import json
from collections.abc import Iterable, Iterator

from kprof.inputs.torch_profiler.model import LinkedTrace
from kprof_analyzers.profiles.timeline.categories import Categories
from kprof_analyzers.profiles.timeline.pictures.colours import shortened

_RANK = 1000
_CPU = 500


def perfetto(traces: Iterable[LinkedTrace], categories: Categories) -> Iterator[str]:
    """The JSON text in pieces: every GPU activity with its category, and the operators and annotations.

    Python frames, flow events and arguments other than ids are left out, names end at 120 characters.
    """
    yield '{"displayTimeUnit": "ms", "traceEvents": [\n'
    first = True
    for trace in traces:
        for event in _events(trace, categories):
            yield ("" if first else ",\n") + json.dumps(event)
            first = False
    yield "\n]}\n"


def _events(trace: LinkedTrace, categories: Categories) -> Iterator[dict[str, object]]:
    named: set[tuple[int, int | None]] = set()
    for activity in trace.activities:
        pid = activity.rank * _RANK + (activity.device or 0)
        if (pid, None) not in named:
            named.add((pid, None))
            yield _process(pid, f"rank {activity.rank} GPU {activity.device}")
        yield {
            "ph": "X",
            "cat": categories.of(trace, activity),
            "name": shortened(activity.name, 120),
            "pid": pid,
            "tid": activity.stream or 0,
            "ts": activity.start_ns / 1000,
            "dur": activity.duration_ns / 1000,
            "args": {"correlation": activity.correlation},
        }
    for operator in trace.operators:
        pid = operator.rank * _RANK + _CPU
        if (pid, None) not in named:
            named.add((pid, None))
            yield _process(pid, f"rank {operator.rank} CPU")
        yield {
            "ph": "X",
            "cat": operator.kind,
            "name": shortened(operator.name, 120),
            "pid": pid,
            "tid": operator.thread or 0,
            "ts": operator.start_ns / 1000,
            "dur": operator.duration_ns / 1000,
        }


def _process(pid: int, name: str) -> dict[str, object]:
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
