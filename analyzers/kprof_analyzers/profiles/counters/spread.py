"""How much metrics differ among the dispatches of one kernel."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof_analyzers.profiles.counters.identity import identified
from kprof_analyzers.profiles.counters.kernels import KernelCounters, counted
from kprof_analyzers.profiles.counters.metrics import Metric, all_metrics

if TYPE_CHECKING:
    from kprof_analyzers.profiles.counters.chosen import Chosen

TIME = "nanoseconds"
"""Stands among the names of metrics for the duration."""

# Means are of the same rows when they agree to this.
_SAME = 1e-9


@dataclass(frozen=True)
class CounterSpread:
    """Values of several dispatches of one kernel, in the metric's unit.

    Attributes:
        count: dispatches, at least two.
        deviation: standard deviation of the sample.
        least: smallest value.
        most: largest value.
    """

    count: int
    deviation: float
    least: float
    most: float


def spread_of(values: Sequence[float]) -> CounterSpread | None:
    """The spread of values; ``None`` of fewer than two."""
    from statistics import stdev

    return CounterSpread(len(values), stdev(values), min(values), max(values)) if len(values) > 1 else None


def spreads(
    chosen: "Chosen", derived: Sequence[Mapping[str, Metric]], wanted: Sequence[int]
) -> dict[int, dict[str, CounterSpread]]:
    """By kernel and metric the spread over its dispatches, and that of its duration as :data:`TIME`.

    A metric has none where its counters are of several passes, or where it needs a time that is of a trace: then no
    dispatch has all that the metric is made of.

    Args:
        chosen: what was read.
        derived: the metrics of ``chosen.kernels``.
        wanted: positions of the kernels.
    """
    times, own_times = _durations(chosen, wanted)
    found: dict[int, dict[str, CounterSpread]] = {place: {} for place in wanted}
    for place, durations in times.items():
        if (spread := spread_of(durations)) is not None:
            found[place][TIME] = spread
    samples = _samples(chosen, set(wanted), own_times)
    keys = [key for key, members in samples.items() if len(members) > 1]
    flat = [one for key in keys for one in samples[key]]
    metrics = iter(all_metrics(flat, lambda one: chosen.gpu_at(one.gpu)))
    for key in keys:
        place = key[0]
        rows = [next(metrics) for _ in samples[key]]
        for name, metric in derived[place].items():
            values = [
                value
                for row in rows
                if row[name].used == metric.used and metric.used and (value := row[name].value) is not None
            ]
            spread = spread_of(values)
            before = found[place].get(name)
            if spread is not None and (before is None or before.count < spread.count):
                found[place][name] = spread
    return found


def _durations(chosen: "Chosen", wanted: Sequence[int]) -> tuple[dict[int, list[float]], dict[int, dict[int, float]]]:
    """Durations in ns that a kernel's mean is of, and by dispatch those of dispatches that were counted themselves.

    Both are empty where the mean is that of a launch which tells less of itself.
    """
    numbers, places = _numbered(chosen, wanted)
    dispatches = chosen.data.dispatches
    if "duration_ns" not in dispatches:
        return {}, {}
    traces = {index for index, source in enumerate(chosen.data.sources) if source.role == "trace"}
    rows: dict[int, list[tuple[int, bool, float]]] = defaultdict(list)
    durations = dispatches["duration_ns"].reindex(numbers.index).dropna()
    known = durations.index
    columns = (known, numbers[known], dispatches["source"][known], durations)
    for row, number, source, duration in zip(*(column.tolist() for column in columns), strict=True):
        place = places.get(int(number))
        if place is not None:
            rows[place].append((int(row), int(source) in traces, float(duration)))
    times: dict[int, list[float]] = {}
    own: dict[int, dict[int, float]] = {}
    for place, found in rows.items():
        traced = any(of_trace for _, of_trace, _ in found)
        kept = [entry for entry in found if entry[1] == traced]
        mean = chosen.kernels[place].nanoseconds
        if mean is None or abs(sum(entry[2] for entry in kept) / len(kept) - mean) > _SAME * mean:
            continue
        times[place] = [entry[2] for entry in kept]
        own[place] = {} if traced else {row: duration for row, _, duration in kept}
    return times, own


def _samples(
    chosen: "Chosen", wanted: set[int], times: Mapping[int, Mapping[int, float]]
) -> dict[tuple[int, int, int], list[KernelCounters]]:
    """By kernel, source and pass each dispatch as if it were a kernel of its own."""
    numbers, places = _numbered(chosen, sorted(wanted))
    values = counted(chosen.data, numbers[numbers.isin(list(places))])
    one_by_one: dict[tuple[int, int, int, int], dict[str, float]] = defaultdict(dict)
    columns = [values[name].tolist() for name in ("kernel", "source", "pass", "dispatch", "counter", "value")]
    for number, source, one_pass, dispatch, counter, value in zip(*columns, strict=True):
        place = places[int(number)]
        if counter not in chosen.kernels[place].untrusted:
            one_by_one[place, int(source), int(one_pass), int(dispatch)][str(counter)] = float(value)
    found: dict[tuple[int, int, int], list[KernelCounters]] = defaultdict(list)
    for (place, source, one_pass, dispatch), counters in one_by_one.items():
        kernel = chosen.kernels[place]
        ns = times.get(place, {}).get(dispatch)
        found[place, source, one_pass].append(
            KernelCounters(kernel.name, 1, ns, (counters,), kernel.identities, kernel.untrusted)
        )
    return found


def _numbered(chosen: "Chosen", wanted: Sequence[int]) -> tuple[Any, dict[int, int]]:
    """The number of each dispatch's identity, and by that number the position of the kernel that it is of."""
    numbers, identities = identified(chosen.data, chosen.runs, chosen.gpus, chosen.dispatches)
    of_identity = {one: place for place in wanted for one in chosen.kernels[place].identities}
    places = {number: of_identity[one] for number, one in enumerate(identities) if one in of_identity}
    return numbers, places
