"""Collect counter values by measured kernel and pass."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kprof_analyzers.profiles.counters.identity import FIELDS, Identity, identified
from kprof_analyzers.profiles.counters.machine import Gpus
from kprof_analyzers.profiles.counters.runs import Runs, runs_of

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.rocprof import Data


@dataclass(frozen=True)
class KernelCounters:
    """Counters and mean duration of one measured kernel.

    Attributes:
        name: normalised kernel name.
        calls: number of dispatches with counters.
        nanoseconds: mean duration of a dispatch in ns; ``None`` if no reliable time is known.
        passes: map from counter to its mean over the dispatches, for each file and pass.
        identities: name, workgroup size and GPU of the kernel; several only if the user merged kernels.
        untrusted: counters that are not valid measurements, with the reasons; ``passes`` does not contain them.
    """

    name: str
    calls: int
    nanoseconds: float | None
    passes: tuple[dict[str, float], ...]
    identities: tuple[Identity, ...] = (Identity(),)
    untrusted: Mapping[str, str] = field(default_factory=dict)

    @property
    def run(self) -> int:
        """Index of the run that the kernel was measured in."""
        return self.identities[0].run

    @property
    def gpu(self) -> int:
        """Index of the GPU that the kernel ran on; -1 if unknown."""
        return self.identities[0].gpu

    @property
    def pattern(self) -> tuple[Any, ...]:
        """Key of the available counters: kernels with equal keys use the same formulas with the same passes."""
        counted = tuple(frozenset(one) for one in self.passes)
        return self.nanoseconds is None, counted, tuple(sorted(self.untrusted.items()))

    def place(self, counter: str, others: frozenset[str] = frozenset()) -> tuple[int, str] | None:
        """Return the pass to read a counter from, and the counter's name in that pass; ``None`` if no pass has it.

        A formula's counters should come from the same run of the kernel. Therefore the pass that contains most of
        ``others``, the formula's other counters, is used. Among equal passes the first one is used. ``NAME_sum`` and
        ``NAME`` are interchangeable, since tools use both names for the sum over all instances.
        """
        found = [
            (sum(other in one for other in others), -place, name)
            for place, one in enumerate(self.passes)
            for name in _names(counter)
            if name in one
        ]
        if not found:
            return None
        most = max(entry[:2] for entry in found)
        return next((-place, name) for fitting, place, name in found if (fitting, place) == most)

    def doubt(self, counter: str) -> str | None:
        """Return the reason why the values of a counter are not a valid measurement; ``None`` if they are valid."""
        return next((self.untrusted[name] for name in _names(counter) if name in self.untrusted), None)


def _names(counter: str) -> tuple[str, str]:
    return counter, counter.removesuffix("_sum") if counter.endswith("_sum") else f"{counter}_sum"


# Map from (source, pass) to the mean value of each counter.
_Passes = dict[tuple[int, int], dict[str, float]]


def kernels(
    data: "Data",
    *,
    by: Sequence[str] = FIELDS,
    runs: Runs | None = None,
    gpus: Gpus | None = None,
    dispatches: Collection[int] | None = None,
) -> list[KernelCounters]:
    """Return the measured kernels with counters, longest total time first.

    Args:
        data: the files' contents.
        by: fields of an identity that distinguish kernels. Kernels of different runs or kinds of GPU are never merged.
        runs: runs of the data, if already known.
        gpus: GPUs of the data, if already known.
        dispatches: ids of the dispatches to use; ``None`` uses all.
    """
    if not len(data.counters):
        return []
    runs = runs or runs_of(data)
    numbers, identities = identified(data, runs, gpus or Gpus(data), dispatches)
    values = counted(data, numbers)
    doubts = _doubts(data, numbers)
    calls = values.groupby("kernel", observed=True)["dispatch"].nunique()
    times = _times(data, numbers, identities)
    passes: dict[int, _Passes] = defaultdict(dict)
    means = values.groupby(["kernel", "source", "pass", "counter"], sort=False, observed=True)["value"].mean()
    order = _order(data)
    for (kernel, source, one_pass), found in _runs_of_equal(means):
        doubted = doubts[kernel]
        sure = {name: value for name, value in found if name not in doubted} if doubted else found
        if sure:
            passes[kernel].setdefault((order.get(source, 0), one_pass), {}).update(sure)
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for kernel in dict.fromkeys(values["kernel"].tolist()):
        one = identities[kernel]
        key = (one.run, one.gpu, *(getattr(one, name) for name in by))
        groups[key].append(kernel)
    result = [_merged([identities[k] for k in members], [int(calls[k]) for k in members],
                      [times.get(k) for k in members], [passes[k] for k in members], [doubts[k] for k in members])
              for members in groups.values()]  # fmt: skip
    return sorted(result, key=lambda one: (-(one.nanoseconds or 0.0) * one.calls, one.run))


def _runs_of_equal(means: "pd.Series[Any]") -> Iterator[tuple[tuple[int, int, int], list[tuple[str, float]]]]:
    """Yield each (kernel, source, pass) with its counters and values. Rows with an equal key must be adjacent."""
    import numpy as np

    index: Any = means.index
    if not len(index):
        return
    labels = [level.to_numpy()[codes] for level, codes in zip(index.levels, index.codes, strict=True)]
    counters, values = labels[-1].tolist(), means.tolist()
    changes = np.any([column[1:] != column[:-1] for column in index.codes[:-1]], axis=0)
    begins = [0, *(np.flatnonzero(changes) + 1).tolist(), len(values)]
    for begin, end in pairwise(begins):
        kernel, source, one_pass = (int(column[begin]) for column in labels[:-1])
        yield (kernel, source, one_pass), list(zip(counters[begin:end], values[begin:end], strict=True))


def _merged(
    identities: list[Identity],
    calls: list[int],
    times: list[float | None],
    passes: list[_Passes],
    doubts: list[dict[str, str]],
) -> KernelCounters:
    """Merge kernels: average their values over all dispatches. A value that any of the kernels lacks is dropped."""
    whole = sum(calls)

    def mean(values: list[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(v * n for v, n in zip(known, calls, strict=True)) / whole if len(known) == len(values) else None

    joined: _Passes = {}
    if len(passes) == 1:
        # Fast path for a single kernel, the usual case. It repeats the general case's arithmetic to round equally.
        (one,) = passes
        joined = {place: one[place] for place in sorted(one)}
        if whole > 1:
            joined = {place: {name: value * whole / whole for name, value in found.items()}
                      for place, found in joined.items()}  # fmt: skip
    for place in sorted({place for one in passes for place in one} - joined.keys()):
        for counter in next(one[place] for one in passes if place in one):
            value = mean([one.get(place, {}).get(counter) for one in passes])
            if value is not None:
                joined.setdefault(place, {})[counter] = value
    untrusted = {counter: why for one in doubts for counter, why in one.items()}
    return KernelCounters(identities[0].name, whole, mean(times), tuple(joined.values()), tuple(identities), untrusted)


def counted(data: "Data", numbers: "pd.Series[Any]") -> "pd.DataFrame":
    """Return one row per kernel, source, pass, dispatch and counter, with the sum over the counter's channels.

    Args:
        data: the files' contents.
        numbers: number of each dispatch's kernel, from :func:`identified`.
    """
    import pandas as pd

    counters = data.counters
    table: pd.DataFrame = counters[["source", "pass", "dispatch", "counter", "instance", "value"]].copy()
    table["kernel"] = numbers.reindex(table["dispatch"]).to_numpy()
    table = table[table["kernel"].notna()]
    table["kernel"] = table["kernel"].astype("int64")
    table = table.drop_duplicates(["source", "pass", "dispatch", "counter", "instance"])
    channels = table["instance"] >= 0
    keys = ["kernel", "source", "pass", "dispatch", "counter"]
    pieces = [table[~channels][[*keys, "value"]]]
    if channels.any():
        table["counter"] = table["counter"].astype(object)
        extra = table[channels].groupby(keys, sort=False, observed=True)["value"].sum().reset_index()
        extra["counter"] += "_sum"
        # A total that the tool reported takes precedence over a sum of channels.
        pieces = [pieces[0].astype({"counter": object}), extra]
    values: pd.DataFrame = pd.concat(pieces).drop_duplicates(["source", "pass", "dispatch", "counter"])
    return values


def _doubts(data: "Data", numbers: "pd.Series[Any]") -> dict[int, dict[str, str]]:
    """Return for each kernel the counters that are not valid measurements in one of its dispatches."""
    from kprof.inputs.rocprof.trust import untrusted

    found: dict[int, dict[str, str]] = defaultdict(dict)
    for counter, reason, dispatches in untrusted(data.counters):
        for kernel in numbers.reindex(dispatches).dropna().unique():
            found[int(kernel)].setdefault(counter, reason)
    return found


def _order(data: "Data") -> dict[int, int]:
    """Return a sort key for each source: the merged file of a workload comes before the files of single passes."""
    sources = enumerate(data.sources)
    ranked = sorted(sources, key=lambda entry: (not entry[1].path.endswith("pmc_perf.csv"), entry[1].path))
    return {index: rank for rank, (index, _) in enumerate(ranked)}


def _times(data: "Data", numbers: "pd.Series[Any]", identities: list[Identity]) -> dict[int, float]:
    """Return the mean duration in ns of each kernel, by identity number.

    Traces of the same run are preferred, because collecting counters slows kernels down.
    """
    import pandas as pd

    dispatches = data.dispatches
    if "duration_ns" not in dispatches:
        return {}
    table = pd.DataFrame({
        "kernel": numbers,
        "traced": dispatches["source"].reindex(numbers.index).isin(
            [index for index, source in enumerate(data.sources) if source.role == "trace"]
        ),
        "ns": dispatches["duration_ns"].reindex(numbers.index),
    }).dropna(subset=["ns"])  # fmt: skip
    sums = {traced: rows.groupby("kernel")["ns"].agg(["sum", "count"]) for traced, rows in table.groupby("traced")}
    result = {k: spent / count for k, spent, count in _rows(sums[False])} if False in sums else {}
    if True in sums:
        traces = {k: (spent, count) for k, spent, count in _rows(sums[True])}
        result |= _of_traces(traces, identities)
    return result


def _rows(sums: "pd.DataFrame") -> Iterator[tuple[int, float, int]]:
    """Yield kernel number, sum and count of each row."""
    columns = (sums[name].tolist() for name in ("sum", "count"))
    for kernel, spent, count in zip(sums.index.tolist(), *columns, strict=True):
        yield int(kernel), float(spent), int(count)


def _of_traces(traces: dict[int, tuple[float, int]], identities: list[Identity]) -> dict[int, float]:
    """Return the mean durations in ns from traces, by identity number of the matching kernel with counters.

    A trace may come from another process on another agent, and may record fewer properties of a launch. Kernels match
    if the properties that both record are equal and identify only one kernel.
    """
    result: dict[int, float] = {}
    levels = (_exactly, _launch, _shape, _name)
    for level in levels:
        mine: dict[Any, list[int]] = defaultdict(list)
        for number, one in enumerate(identities):
            mine[level(one)].append(number)
        for members in mine.values():
            traced = [number for number in members if number in traces]
            if not traced or len({_launch(identities[number]) for number in traced}) > 1:
                continue
            counted = [number for number in members if number not in traces]
            if len({_launch(identities[number]) for number in counted}) > 1:
                continue
            spent, runs = (sum(traces[number][place] for number in traced) for place in (0, 1))
            for number in members:
                own = traces.get(number)
                result.setdefault(number, own[0] / own[1] if own else spent / runs)
    return result


def _exactly(one: Identity) -> Any:
    return one


def _launch(one: Identity) -> Any:
    return (*_shape(one), one.lds, one.vgprs)


def _shape(one: Identity) -> Any:
    return (*_name(one), _items(one.grid), _items(one.workgroup))


def _name(one: Identity) -> Any:
    return one.run, one.gpu, one.name


def _items(size: tuple[int, ...] | None) -> int | None:
    from math import prod

    return None if size is None else prod(size)
