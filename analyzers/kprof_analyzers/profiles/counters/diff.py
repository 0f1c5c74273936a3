"""Compare the counter metrics of two runs by kernel, and compute the spread of metrics within a run."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from kprof_analyzers.profiles.counters.catalogue import Formula
from kprof_analyzers.profiles.counters.chosen import Chosen
from kprof_analyzers.profiles.counters.identity import Identity, identified
from kprof_analyzers.profiles.counters.kernels import KernelCounters, counted
from kprof_analyzers.profiles.counters.metrics import Metric, all_metrics

TIME = "nanoseconds"
"""Key of the duration in results that are keyed by metric name."""
# Maximum relative difference, due to rounding, between two means of the same durations.
_SAME = 1e-9


@dataclass(frozen=True)
class CounterSpread:
    """Spread of a metric's values over several dispatches of one kernel, in the metric's unit.

    Attributes:
        count: number of dispatches, at least two.
        deviation: standard deviation of the sample.
        least: smallest value.
        most: largest value.
    """

    count: int
    deviation: float
    least: float
    most: float


def spread_of(values: Sequence[float]) -> CounterSpread | None:
    """Return the spread of values; ``None`` for fewer than two values."""
    from statistics import stdev

    return CounterSpread(len(values), stdev(values), min(values), max(values)) if len(values) > 1 else None


def spreads(
    chosen: "Chosen", derived: Sequence[Mapping[str, Metric]], wanted: Sequence[int]
) -> dict[int, dict[str, CounterSpread]]:
    """Return the spread of each kernel's metrics over its dispatches, by kernel position and metric name.

    The spread of the duration has the key :data:`TIME`. A metric has no spread if its counters come from several
    passes, or if it needs a duration from a trace. In these cases no single dispatch has all inputs of the metric.

    Args:
        chosen: the selected kernels.
        derived: the metrics of ``chosen.kernels``.
        wanted: positions in ``chosen.kernels`` of the kernels to compute.
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
    """Return the durations in ns from which each kernel's mean was computed: as a list, and by row of the dispatch.

    The second result is empty for durations from a trace, because traced dispatches have no counters. A kernel is
    missing in both results if its mean duration comes from a trace that records fewer properties of the launch.
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
    """Return the counters of each single dispatch, grouped by position of the kernel, source and pass."""
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
    """Return the identity number of each dispatch, and a map from identity number to position in ``chosen.kernels``."""
    numbers, identities = identified(chosen.data, chosen.runs, chosen.gpus, chosen.dispatches)
    of_identity = {one: place for place in wanted for one in chosen.kernels[place].identities}
    places = {number: of_identity[one] for number, one in enumerate(identities) if one in of_identity}
    return numbers, places


_LAUNCH = ("name", "grid", "workgroup", "agent")
_BUILD = ("lds", "vgprs")
# A difference of means is significant if it is larger than this number of standard errors. At least _LEAST dispatches
# are required.
_ERRORS = 3.0
_LEAST = 3


@dataclass(frozen=True)
class Value:
    """A number that is compared between two runs.

    Attributes:
        before: value in the first run; ``None`` if unknown.
        after: value in the second run; ``None`` if unknown.
        spread: spread over the dispatches of each run; ``None`` if fewer than two dispatches have all inputs.
    """

    before: float | None
    after: float | None
    spread: tuple[CounterSpread | None, CounterSpread | None] = (None, None)

    @property
    def ratio(self) -> float | None:
        """``after`` divided by ``before``; ``None`` if unknown."""
        return self.after / self.before if self.before and self.after is not None else None

    @property
    def beyond_spread(self) -> bool | None:
        """Whether the means differ by more than three standard errors; ``None`` below three dispatches per run."""
        one, other = self.spread
        if self.before is None or self.after is None or one is None or other is None:
            return None
        if min(one.count, other.count) < _LEAST:
            return None
        error = sqrt(one.deviation**2 / one.count + other.deviation**2 / other.count)
        return abs(self.after - self.before) > _ERRORS * error


@dataclass(frozen=True)
class MetricChange:
    """One metric of one kernel in both runs.

    Attributes:
        formula: formula of the metric.
        value: values in the formula's unit.
        flag: problem of one of the values, or reason why one is unknown; "" if there is none.
    """

    formula: Formula
    value: Value
    flag: str = ""


@dataclass(frozen=True)
class Pair:
    """A kernel in both runs.

    Attributes:
        before: the kernel in the first run.
        after: the kernel in the second run.
        differs: fields (``lds``, ``vgprs``) whose values differ between the two builds of the kernel.
        time: mean duration in ns.
        metrics: metrics known in at least one run, by name.
    """

    before: KernelCounters
    after: KernelCounters
    differs: tuple[str, ...]
    time: Value
    metrics: Mapping[str, MetricChange]

    @property
    def delta_ns(self) -> float | None:
        """Change of the mean duration times the first run's number of dispatches, in ns; ``None`` if unknown."""
        if self.time.before is None or self.time.after is None:
            return None
        return (self.time.after - self.time.before) * self.before.calls


@dataclass(frozen=True)
class CounterComparison:
    """Comparison of two runs.

    Attributes:
        pairs: kernels in both runs, the largest change of time first.
        only_before: kernels of the first run that no kernel of the second run matches.
        only_after: kernels of the second run that no kernel of the first run matches.
    """

    pairs: Sequence[Pair]
    only_before: Sequence[KernelCounters]
    only_after: Sequence[KernelCounters]

    @property
    def timed(self) -> list[Pair]:
        """Pairs with a time in both runs."""
        return [pair for pair in self.pairs if pair.delta_ns is not None]

    @property
    def times(self) -> tuple[float, float] | None:
        """Total time of the timed pairs before and after in ns, both for the first run's number of dispatches."""
        if not self.timed:
            return None
        before = sum((pair.time.before or 0.0) * pair.before.calls for pair in self.timed)
        return before, before + sum(pair.delta_ns or 0.0 for pair in self.timed)

    @property
    def grown_percent(self) -> float | None:
        """Growth of the total time of the timed pairs in percent; ``None`` if no pair has times."""
        times = self.times
        return 100 * (times[1] / times[0] - 1) if times is not None and times[0] else None

    @property
    def cannot_tell(self) -> str:
        """Reason why ``grown_percent`` does not cover all kernels; "" if it does."""
        lost = len(self.only_before) + len(self.only_after)
        untimed = len(self.pairs) - len(self.timed)
        if not self.pairs:
            return "no kernel is in both runs"
        if lost:
            return f"{lost:,} kernel{'s have' if lost > 1 else ' has'} no partner"
        return f"{untimed:,} of {len(self.pairs):,} kernels have no times" if untimed else ""


def compare(before: Chosen, after: Chosen) -> CounterComparison:
    """Pair the kernels of two runs and compare their metrics.

    Kernels match if all distinguishing fields are equal. If each run then has exactly one unmatched kernel of the same
    name, grid, workgroup and agent, these two match as well: they are the same launch of two builds. Agents are
    compared only if a run has several.
    """
    pairs, left, right = _paired(before, after)
    sides = [(before, [old for old, _, _ in pairs]), (after, [new for _, new, _ in pairs])]
    derived_sides = []
    for chosen, places in sides:
        derived = all_metrics(chosen.kernels, chosen.gpu)
        derived_sides.append((derived, spreads(chosen, derived, places)))
    (old_metrics, old_spreads), (new_metrics, new_spreads) = derived_sides
    found = []
    for old, new, differs in pairs:
        mine, theirs = before.kernels[old], after.kernels[new]
        near, far = old_spreads[old], new_spreads[new]
        time = Value(mine.nanoseconds, theirs.nanoseconds, (near.get(TIME), far.get(TIME)))
        changes = {
            name: change
            for name in {**old_metrics[old], **new_metrics[new]}
            if (change := _change(old_metrics[old].get(name), new_metrics[new].get(name),
                                  (near.get(name), far.get(name)))) is not None
        }  # fmt: skip
        found.append(Pair(mine, theirs, differs, time, changes))
    found.sort(key=lambda pair: -abs(pair.delta_ns or 0.0))
    return CounterComparison(found, [before.kernels[each] for each in left], [after.kernels[each] for each in right])


def _change(
    old: Metric | None, new: Metric | None, spread: tuple[CounterSpread | None, CounterSpread | None]
) -> MetricChange | None:
    values = [metric.value if metric is not None else None for metric in (old, new)]
    if values == [None, None]:
        return None
    formula = (old or new).formula  # type: ignore[union-attr]  # one of them has a value
    flags = [
        f"{side}: {metric.flag}"
        for side, metric in (("before", old), ("after", new))
        if metric is not None and metric.flag
    ]
    if old is not None and new is not None and old.used != new.used and None not in values:
        flags.append("computed from different counters before and after")
    return MetricChange(formula, Value(values[0], values[1], spread), "; ".join(flags))


def _paired(before: Chosen, after: Chosen) -> tuple[list[tuple[int, int, tuple[str, ...]]], list[int], list[int]]:
    """Return the positions of matching kernels with their differing fields, and the unmatched positions of each run."""
    agents = any(len({i.agent for one in side.kernels for i in one.identities}) > 1 for side in (before, after))
    launch = [field for field in _LAUNCH if field in before.fields and (field != "agent" or agents)]
    build = [field for field in _BUILD if field in before.fields]
    left, right = list(range(len(before.kernels))), list(range(len(after.kernels)))
    pairs: list[tuple[int, int, tuple[str, ...]]] = []
    for fields in (launch + build, launch):
        mine, theirs = _grouped_by(before, left, fields), _grouped_by(after, right, fields)
        for key, old in mine.items():
            new = theirs.get(key, [])
            if len(old) == len(new) == 1:
                one, other = before.kernels[old[0]].identities, after.kernels[new[0]].identities
                differs = tuple(field for field in build if _values(one, field) != _values(other, field))
                pairs.append((old[0], new[0], differs))
        left = [place for place in left if place not in {old for old, _, _ in pairs}]
        right = [place for place in right if place not in {new for _, new, _ in pairs}]
    return pairs, left, right


def _grouped_by(chosen: Chosen, places: Sequence[int], fields: Sequence[str]) -> dict[Any, list[int]]:
    groups: dict[Any, list[int]] = defaultdict(list)
    for place in places:
        groups[tuple(_values(chosen.kernels[place].identities, field) for field in fields)].append(place)
    return groups


def _values(identities: Sequence[Identity], field: str) -> frozenset[Any]:
    return frozenset(getattr(one, field) for one in identities)
