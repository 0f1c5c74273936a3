"""A flame graph for speedscope: GPU time by the stack that launched it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from kprof.inputs.torch_profiler.link import stack_of
from kprof.inputs.torch_profiler.model import LinkedTrace
from kprof.inputs.torch_profiler.proton import ProtonProfile

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(traces: Sequence[LinkedTrace]) -> dict[str, Any]:
    """A document with one profile a rank: modules, operators, then the kernel, weighted by GPU ns."""
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
    """The same from a Proton profile: its scopes are the stack."""
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
