"""Measured kernels as ``kprof counters`` chooses and shows them: what each is, and runs side by side."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError

if TYPE_CHECKING:
    from kprof.inputs.rocprof import Data
    from kprof_analyzers.profiles.counters.kernels import KernelCounters
    from kprof_analyzers.profiles.counters.machine import Gpu, Gpus
    from kprof_analyzers.profiles.counters.metrics import Metric
    from kprof_analyzers.profiles.counters.runs import Runs

    Derived = tuple[KernelCounters, dict[str, Metric]]


@dataclass(frozen=True)
class Loaded:
    """What was read, and the kernels chosen.

    Attributes:
        fields: of an identity, those that keep kernels apart.
        left_out: what is not shown, and why, in words.
    """

    data: "Data"
    runs: "Runs"
    gpus: "Gpus"
    kernels: "list[KernelCounters]"
    fields: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def used(self) -> list[int]:
        """Indexes of the runs that the chosen kernels are of."""
        return sorted({one.run for one in self.kernels})

    def gpu_at(self, index: int) -> "Gpu":
        """A GPU by index."""
        found = self.gpus[index]
        assert found is not None
        return found

    def gpu(self, kernel: "KernelCounters") -> "Gpu":
        """The GPU that a kernel ran on."""
        return self.gpu_at(kernel.gpu)

    def heading(self) -> list[str]:
        """A line for each GPU, and one for each run when there are several."""
        lines = [_gpu_line(self.gpu_at(index)) for index in sorted({one.gpu for one in self.kernels})]
        if len(self.used) > 1:
            lines += [f"run {run + 1}  {self.runs.labels[run]}" for run in self.used]
        return lines

    def remark(self, kernel: "KernelCounters", *, run: bool = True) -> str:
        """Where the kernels of one name differ: ``(grid 4096, run 2)``; empty when no other has the name."""
        same = [one for one in self.kernels if one.name == kernel.name and (run or one.run == kernel.run)]
        mine = kernel.identities[0]
        words = []
        for field in ("grid", "workgroup", "lds", "vgprs", "agent"):
            value = getattr(mine, field)
            others = {getattr(one.identities[0], field) for one in same}
            if field in self.fields and len(others) > 1 and value is not None:
                words.append(f"{_WORDS.get(field, field)} {_size(value)}")
        if run and len({one.run for one in same}) > 1:
            words.append(f"run {kernel.run + 1}")
        return f"({', '.join(words)})" if words else ""

    def identity(self, kernel: "KernelCounters") -> dict[str, Any]:
        """What a kernel is, for JSON; ``null`` is not told, or put together of several values."""
        gpu = self.gpu(kernel)
        values = {
            field: found.pop() if len(found) == 1 else None
            for field in ("agent", "grid", "workgroup", "lds", "vgprs")
            for found in [{getattr(one, field) for one in kernel.identities}]
        }
        return {
            "run": self.runs.labels[kernel.run],
            "gpu": {"arch": gpu.arch.name, "product": gpu.product.name if gpu.product else None, "cus": gpu.cus},
            **values,
        }


_WORDS = {"lds": "LDS", "vgprs": "VGPRs"}


def _size(value: Any) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else f"{value:,}"


def _gpu_line(gpu: "Gpu") -> str:
    name = gpu.product.name if gpu.product else "product not known: no peaks"
    cus = f" · {gpu.cus} CUs" if gpu.cus else ""
    xcds = f" on {gpu.xcds} XCDs" if gpu.xcds and gpu.xcds > 1 else ""
    return f"{gpu.arch.name} · {name}{cus}{xcds} ({gpu.origin})"


def load(paths: list[str], arch: str | None, kernel: str, run: list[str], dispatch: list[int], by: str) -> Loaded:
    """Read files and choose kernels.

    Raises:
        KprofError: nothing can be read, there are no counters, a choice fits nothing, or no file says which GPU it was.
    """
    from kprof.inputs import rocprof
    from kprof_analyzers.profiles.counters.identity import parse_fields
    from kprof_analyzers.profiles.counters.kernels import kernels
    from kprof_analyzers.profiles.counters.machine import Gpus, unknown_gpu
    from kprof_analyzers.profiles.counters.runs import runs_of

    fields = parse_fields(by)
    data = rocprof.read(paths)
    if not len(data.counters):
        raise KprofError(
            "no counters in these files", path=paths[0], hint="they may be a trace: kprof ingest counters tells"
        )
    runs, gpus = runs_of(data), Gpus(data, arch)
    wanted = _runs(runs, run)
    found = kernels(data, by=fields, runs=runs, gpus=gpus, dispatches=dispatch or None)
    if not found:
        raise KprofError(f"no dispatch {' or '.join(map(str, dispatch))} has counters")
    found = [one for one in found if one.run in wanted]
    chosen = [one for one in found if kernel.lower() in one.name.lower()]
    if not chosen:
        raise KprofError(f"no kernel has {kernel!r} in its name" if kernel else "nothing is left of these runs")
    known = [one for one in chosen if one.gpu >= 0]
    if not known:
        raise unknown_gpu()
    lost = len(chosen) - len(known)
    words = f"left out: {lost:,} kernels of files that do not say which GPU was measured; name it with --arch"
    return Loaded(data, runs, gpus, known, fields, (words,) if lost else ())


def _runs(runs: "Runs", asked: list[str]) -> set[int]:
    if not asked:
        return set(range(len(runs.labels)))
    found = set()
    for text in asked:
        number = int(text) - 1 if text.isdecimal() else -1
        fitting = [place for place, label in enumerate(runs.labels) if text in label]
        if 0 <= number < len(runs.labels):
            fitting = [number]
        if not fitting:
            raise KprofError(f"no run {text!r}", hint=f"there are {', '.join(runs.labels)}")
        found.update(fitting)
    return found


def side_by_side(derived: "list[Derived]") -> "list[list[Derived]]":
    """The same launch of several runs together, in the order of the runs; else each kernel alone."""
    groups: dict[Any, list[Derived]] = {}
    for pair in derived:
        one = pair[0]
        shapes = frozenset((i.grid, i.workgroup, i.lds, i.vgprs) for i in one.identities)
        agents = frozenset(i.agent for i in one.identities)
        groups.setdefault((one.name, shapes, agents), []).append(pair)
    return [sorted(members, key=lambda pair: pair[0].run) for members in groups.values()]


def show(members: "list[Derived]", loaded: Loaded) -> None:
    """One kernel: what it is, and its metrics, a column a run, with their ratios to the first run."""
    from kprof.inputs.rocprof import short
    from kprof.output.headline import wrapped
    from kprof_analyzers.profiles.counters.identity import described

    first = members[0][0]
    title = described(first.identities, loaded.fields)
    print(f"\n{short(first.name)}   {_launched(first) if len(members) == 1 else ''}".rstrip())
    if title:
        print(title)
    if len(members) == 1 and len(loaded.used) > 1:
        print(f"only in run {first.run + 1}, {loaded.runs.labels[first.run]}")
    if len(members) > 1:
        for one, _ in members:
            print(f"run {one.run + 1}: {_launched(one)}")
    rows, remarks = _rows(members)
    print(_table(rows, [f"run {one.run + 1}" for one, _ in members]))
    print("\n".join(remarks), end="\n" if remarks else "")
    unknown = sorted({name for _, found in members for metric in found.values() for name in metric.unknown})
    if unknown:
        print(wrapped(f"not known for this GPU or run: {', '.join(unknown)}"))


def _launched(kernel: "KernelCounters") -> str:
    time = f"{kernel.nanoseconds / 1e3:,.2f} us" if kernel.nanoseconds else "time not known"
    return f"{kernel.calls:,} dispatch{'es' if kernel.calls != 1 else ''}, {time} each"


def _rows(members: "list[Derived]") -> tuple[list[list[Any]], list[str]]:
    """Group, metric, a value a run, ratios and unit; and remarks. What was counted in no run has no row."""
    from kprof.output.tables import number

    several = len(members) > 1
    groups: dict[str, list[list[Any]]] = {}
    remarks: list[str] = []
    for name, first in members[0][1].items():
        metrics = [found.get(name) for _, found in members]
        values = [metric.value if metric else None for metric in metrics]
        for (one, _), metric in zip(members, metrics, strict=True):
            place = f" in run {one.run + 1}" if several else ""
            if metric is None or (metric.value is None and metric.used):
                continue
            if remark := metric.flag or metric.note:
                told = remark if metric.value is not None else f"not told: {remark}"
                remarks.append(f"{metric.formula.title}{place}: {told}")
        if any(value is not None for value in values):
            ratios = [_ratio(values[0], value) for value in values[1:]]
            cells = [first.formula.title, *map(number, values), *ratios, first.formula.unit]
            groups.setdefault(first.formula.group, []).append(cells)
    rows = [[title if not place else "", *cells] for title, kept in groups.items() for place, cells in enumerate(kept)]
    return rows, list(dict.fromkeys(remarks))


def _ratio(first: float | None, other: float | None) -> str:
    return "" if not first or other is None else f"{other / first:.3f}"


def _table(rows: list[list[Any]], runs: list[str]) -> str:
    """Group, metric, values and unit; where the names of the metrics would be cut, groups get lines of their own."""
    from kprof.output.tables import rows_table, table_width

    values = ["value"] if len(runs) == 1 else [*runs, *(f"{other.removeprefix('run ')}/{runs[0].removeprefix('run ')}"
                                                        for other in runs[1:])]  # fmt: skip
    headings = ["", "metric", *values, "unit"]
    wide = [max([len(headings[place]), *(len(row[place]) for row in rows)]) + 2 for place in range(len(headings))]
    if sum(wide) - 2 <= table_width():
        return rows_table(headings, rows, wide=1)
    lines: list[list[Any]] = []
    for title, *cells in rows:
        if title:
            lines.append([title, *[""] * len(cells[1:])])
        lines.append([f"  {cells[0]}", *cells[1:]])
    return rows_table(headings[1:], lines)
