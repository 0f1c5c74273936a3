"""Export traces for other viewers: flame graphs for speedscope, and tracks for Perfetto."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kprof.inputs.torch_profiler.link import stack_of
from kprof.inputs.torch_profiler.model import LinkedTrace
from kprof.inputs.torch_profiler.proton import ProtonProfile
from kprof_analyzers.profiles.timeline.categories import Categories
from kprof_analyzers.profiles.timeline.pictures.colours import shortened

_RANK = 1000
_CPU = 500
_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(traces: Sequence[LinkedTrace]) -> dict[str, Any]:
    """Return a speedscope document with one profile per rank.

    Its stacks consist of modules, operators and the kernel, and are weighted by GPU time in ns.
    """
    stacks: dict[str, Counter[tuple[str, ...]]] = {}
    for trace in traces:
        chains: dict[tuple[int, int], tuple[str, ...]] = {}
        for activity in trace.activities:
            key = (activity.launch, activity.operator)
            if key not in chains:
                chains[key] = tuple(r.name for r in reversed(stack_of(trace, activity)))
            rank = stacks.setdefault(f"rank {activity.rank}", Counter())
            stack = (*chains[key], activity.name)
            rank[stack] += activity.duration_ns
    return _document(stacks)


def proton_speedscope(profile: ProtonProfile) -> dict[str, Any]:
    """Return a speedscope document of a Proton profile, whose scopes form the stack."""
    stacks: Counter[tuple[str, ...]] = Counter()
    for row in profile.rows:
        if row.time_ns:
            stack = (*row.scope, row.name)
            stacks[stack] += row.time_ns
    return _document({"proton": stacks})


def _document(profiles: dict[str, Counter[tuple[str, ...]]]) -> dict[str, Any]:
    names: dict[str, int] = {}
    written = []
    for title, stacks in profiles.items():
        samples = [[names.setdefault(n, len(names)) for n in stack] for stack in stacks]
        weights = list(stacks.values())
        written.append(
            {
                "type": "sampled",
                "name": title,
                "unit": "nanoseconds",
                "startValue": 0,
                "endValue": sum(weights),
                "samples": samples,
                "weights": weights,
            }
        )
    return {"$schema": _SCHEMA, "shared": {"frames": [{"name": n} for n in names]}, "profiles": written}


def perfetto(traces: Iterable[LinkedTrace], categories: Categories) -> Iterator[str]:
    """Yield the JSON text in pieces: every GPU activity with its category, and the operators and annotations.

    Python frames, flow events and arguments other than ids are left out. Names are cut to 120 characters.
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
