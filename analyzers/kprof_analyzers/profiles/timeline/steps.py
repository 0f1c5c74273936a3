"""Functions that are applied to each trace file, possibly in worker processes; their small results are combined."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from kprof.errors import InputError
from kprof.inputs.torch_profiler.columns import Records
from kprof.inputs.torch_profiler.issues import TraceIssue
from kprof.inputs.torch_profiler.load import MODULES_ONLY
from kprof.inputs.torch_profiler.model import LinkedTrace, TraceInfo
from kprof.inputs.torch_profiler.proton import ProtonProfile, load_proton
from kprof.inputs.torch_profiler.tables import write_tables
from kprof_analyzers.profiles.timeline.breakdown import Breakdown, breakdown, category_rows, device_times, occupations
from kprof_analyzers.profiles.timeline.categories import MEMORY, Categories, load_categories
from kprof_analyzers.profiles.timeline.files import TraceFile, open_trace
from kprof_analyzers.profiles.timeline.gaps import GapReport
from kprof_analyzers.profiles.timeline.launch_bound import Stretch
from kprof_analyzers.profiles.timeline.names import Names, NameTime
from kprof_analyzers.profiles.timeline.occupation import DeviceTime
from kprof_analyzers.profiles.timeline.pictures.utilisation import Utilisation, utilisation
from kprof_analyzers.profiles.timeline.profiler_steps import launched_in
from kprof_analyzers.profiles.timeline.streaming import FileSummary, summarise
from kprof_analyzers.profiles.timeline.top import KernelTime, OperatorTime, top_kernels, top_operators
from kprof_analyzers.profiles.timeline.tree import By, TimeTree, time_tree
from kprof_analyzers.profiles.timeline.triton_kernels import TritonKernel, triton_kernels


class Kernels(msgspec.Struct, frozen=True):
    """Kernels and operators of one file, which ``kprof trace top`` shows."""

    info: TraceInfo
    kernels: list[KernelTime]
    operators: list[OperatorTime]
    triton: list[TritonKernel]
    issues: tuple[TraceIssue, ...]


class SteppedKernels(msgspec.Struct, frozen=True):
    """Kernels and steps of one file, which ``kprof trace diff`` compares.

    Attributes:
        kernels: kernels launched in a complete step if steps are marked, otherwise all kernels.
        steps: number of complete steps that are marked.
        outside_ns: time of kernels launched outside of complete steps, if steps are marked.
        tree: tree of modules and operators for ``kernels``, if requested.
    """

    info: TraceInfo
    kernels: list[KernelTime]
    steps: int
    outside_ns: int
    issues: tuple[TraceIssue, ...]
    tree: TimeTree | None = None


class Shares(msgspec.Struct, frozen=True):
    """GPU time by category and utilisation of one file, which ``kprof trace breakdown`` shows."""

    breakdown: Breakdown
    utilisation: list[Utilisation]
    issues: tuple[TraceIssue, ...]
    by_name_only: bool = False


class Idle(msgspec.Struct, frozen=True):
    """Idle times of one file, which ``kprof trace gaps`` shows.

    Attributes:
        graph_launches: number of calls that replayed a graph.
    """

    report: GapReport
    stretches: list[Stretch]
    issues: tuple[TraceIssue, ...]
    graph_launches: int = 0


class WrittenTables(msgspec.Struct, frozen=True):
    """Result of writing the tables of one file."""

    info: TraceInfo
    directory: str
    files: int
    issues: tuple[TraceIssue, ...]


def summary_step(file: TraceFile, categories: str | None = None) -> FileSummary:
    """Summarise a Kineto trace with bounded memory; other formats are read completely."""
    rules = load_categories(categories)
    if file.kind == "kineto" and not file.repairs:
        return summarise(file.path, rules)
    if file.kind == "proton":
        found = kernels_step(file, categories)
        return _summary(found, [], [], [], [])
    trace = open_trace(file, details=False)
    activities, operators = trace.activities, trace.operators
    kernel, operator = activities.words("kind").code("kernel"), operators.words("kind").code("operator")
    transfers = [row for row, kind in enumerate(activities.words("kind").data) if kind != kernel]
    called = [row for row, kind in enumerate(operators.words("kind").data) if kind == operator]
    return _summary(
        kernels_of(trace, rules),
        _by_name(activities, transfers).table(MEMORY),
        _by_name(operators, called).table("operator"),
        _by_name(trace.launches, range(len(trace.launches))).table("launch"),
        device_times(trace, rules),
    )


def _summary(
    found: "Kernels",
    transfers: list[NameTime],
    operators: list[NameTime],
    launches: list[NameTime],
    devices: list[DeviceTime],
) -> FileSummary:
    kernels = [NameTime(k.name, k.category, k.count, k.total_ns, k.min_ns, k.max_ns) for k in found.kernels]
    totals: Counter[str] = Counter()
    for row in (*kernels, *transfers):
        totals[row.category] += row.total_ns
    by_category = dict(totals.most_common())
    return FileSummary(found.info, kernels, transfers, operators, launches, devices, by_category, found.issues)


def _by_name(records: Records[Any], rows: Iterable[int]) -> Names:
    words, codes = records.words("name").words, records.words("name").readable
    durations = records.numbers("duration_ns").readable
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for row in rows:
        groups[codes[row]].append(durations[row])
    names = Names()
    for code, found in groups.items():
        names.add(words[code], found)
    return names


def kernels_step(file: TraceFile, categories: str | None = None) -> Kernels:
    """Return the kernels and operators of a file, longest time first."""
    rules = load_categories(categories)
    if file.kind == "proton":
        profile = load_proton(file.path)
        return Kernels(
            TraceInfo(file.path, events=len(profile.rows)), _proton_kernels(profile, rules), [], [], profile.issues
        )
    return kernels_of(open_trace(file, details=False), rules)


def kernels_of(trace: LinkedTrace, rules: Categories) -> Kernels:
    """Return the kernels and operators of a trace, longest time first."""
    return Kernels(
        trace.info,
        top_kernels(trace, rules),
        top_operators(trace),
        triton_kernels(trace, _wavefront_size(trace.info)),
        trace.issues,
    )


def _wavefront_size(info: TraceInfo) -> int | None:
    """Return the number of lanes of a wavefront; ``None`` if unknown.

    It is taken from the trace, or else from the products that the trace names.
    """
    sizes = set(info.wavefront_sizes)
    if not sizes:
        from kprof.hardware import machine

        gpus = [machine.product_in(name) for name in info.devices]
        if None in gpus:
            return None
        sizes = {machine.load(gpu).wavefront_size for gpu in gpus if gpu is not None}
    return sizes.pop() if len(sizes) == 1 else None


def stepped_kernels_step(file: TraceFile, categories: str | None = None, tree: By | None = None) -> SteppedKernels:
    """Return the kernels of all steps, and the number of steps.

    If the levels of a tree are given, also return the tree of the kernels.

    Raises:
        InputError: if a tree of a Proton profile is requested, which has no operators.
    """
    if file.kind == "proton":
        if tree is not None:
            raise InputError("a Proton profile has neither modules nor operators", path=file.path)
        found = kernels_step(file, categories)
        return SteppedKernels(found.info, found.kernels, 0, 0, found.issues)
    trace = open_trace(file, details=False)
    steps, places = launched_in(trace)
    inside: set[int] | None = None
    outside = 0
    if steps:
        durations = trace.activities.numbers("duration_ns").data
        inside = set()
        for row, place in places:
            if place >= 0 and steps[place].whole:
                inside.add(row)
            else:
                outside += durations[row]
    kernels = top_kernels(trace, load_categories(categories), rows=inside)
    levels = None if tree is None else time_tree(trace, tree, rows=inside)
    return SteppedKernels(trace.info, kernels, sum(step.whole for step in steps), outside, trace.issues, levels)


def shares_step(file: TraceFile, categories: str | None = None, *, by_name: bool = False, bins: int = 120) -> Shares:
    """Return the GPU time of a file by category and device.

    With ``by_name``, memory is bounded, but categories depend on kernel names only and there is no utilisation.
    """
    rules = load_categories(categories)
    if file.kind == "proton" or (by_name and file.kind == "kineto" and not file.repairs):
        return _shares_by_name(summary_step(file, categories))
    return shares_of(open_trace(file, details=False), rules, bins)


def shares_of(trace: LinkedTrace, rules: Categories, bins: int = 120) -> Shares:
    """Return the GPU time of a trace by category and device, and each device's utilisation in ``bins`` equal bins."""
    occupied = occupations(trace, rules)
    return Shares(breakdown(trace, rules, occupied), utilisation(occupied, bins), trace.issues)


def _shares_by_name(summary: FileSummary) -> Shares:
    totals: Counter[str] = Counter(summary.categories)
    counts: Counter[str] = Counter()
    largest: dict[str, str] = {}
    for row in (*summary.kernels, *summary.transfers):
        counts[row.category] += row.count
        largest.setdefault(row.category, row.name)
    rows = category_rows(totals, counts, largest)
    found = Breakdown(summary.info.path, rows, summary.devices, {}, sum(totals.values()))
    return Shares(found, [], summary.issues, by_name_only=True)


def tables_step(file: TraceFile, folders: dict[str, str], file_format: str, *, stacks: bool = False) -> WrittenTables:
    """Write the linked tables of a trace into the folder in ``folders`` for its path."""
    trace = open_trace(file, shortest_frame_us=0 if stacks else MODULES_ONLY)
    directory = folders[file.path]
    target = Path(directory)
    if target.resolve() == Path(file.path).resolve():
        raise InputError("the output would overwrite the input", path=directory)
    return WrittenTables(trace.info, str(target), len(write_tables(trace, target, file_format)), trace.issues)


def _proton_kernels(profile: ProtonProfile, rules: Categories) -> list[KernelTime]:
    sums: dict[str, list[int]] = {}
    for row in profile.rows:
        if row.time_ns:
            entry = sums.setdefault(row.name, [0, 0])
            entry[0] += row.count or 1
            entry[1] += row.time_ns
    whole = sum(total for _, total in sums.values())
    rows = [
        # A profile has only sums. The mean replaces the minimum and maximum of a kernel's runs, which are unknown.
        KernelTime(n, rules.of_name(n), c, t, t // c, t // c, t / whole if whole else 0.0, {}, None, None, None)
        for n, (c, t) in sums.items()
    ]
    return sorted(rows, key=lambda r: (-r.total_ns, r.name))
