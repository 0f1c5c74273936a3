"""Convert documents to pandas frames with one row per kernel, finding or configuration. Unknown values are ``NA``."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from kprof.diffing.document import Diff, KernelDiff
from kprof.document import KernelReport
from kprof.findings import Location, Severity
from kprof.output.assignments import assigned

if TYPE_CHECKING:
    import pandas as pd

    from kprof.tuning.document import TuneReport
    from kprof.tuning.evaluation import Evaluation
    from kprof.tuning.trials import Trials

KERNEL_COLUMNS = {
    "name": "string",
    "arch": "string",
    "product": "string",
    "job": "string",
    "triton": "string",
    "vgpr": "Int64",
    "agpr": "Int64",
    "sgpr": "Int64",
    "vgpr_allocated": "Int64",
    "vgpr_spills": "Int64",
    "sgpr_spills": "Int64",
    "scratch_bytes": "Int64",
    "lds_bytes": "Int64",
    "num_warps": "Int64",
    "wavefront_size": "Int64",
    "waves_per_simd": "Float64",
    "max_waves_per_simd": "Int64",
    "workgroups_per_cu": "Int64",
    "limiter": "string",
    "time_us": "Float64",
    "low_us": "Float64",
    "high_us": "Float64",
    "bound": "string",
    "errors": "Int64",
    "warnings": "Int64",
    "notes": "Int64",
}
"""Columns of :func:`kernels_frame`, named as in ``kprof.report/1``; the last three are counts of findings."""

FINDING_COLUMNS = {
    "kernel": "string",
    "arch": "string",
    "rule": "string",
    "name": "string",
    "severity": "string",
    "message": "string",
    "file": "string",
    "line": "Int64",
    "gain_us": "Float64",
}


def frame(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> "pd.DataFrame":
    """Return a frame with these columns and types; ``None``, ``UNSET`` and missing values become ``NA``."""
    import pandas as pd

    listed = list(rows)
    cells = {name: [None if row.get(name) is UNSET else row.get(name) for row in listed] for name in columns}
    made: pd.DataFrame = pd.DataFrame(cells, dtype="object").astype(dict(columns))
    return made


def plain_frame(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> "pd.DataFrame":
    """Return a frame with these columns; pandas infers their types, and lists and mappings stay Python objects."""
    made: pd.DataFrame = frame(rows, dict.fromkeys(columns, "object")).convert_dtypes()
    return made


def struct_frame(
    kind: type, rows: Iterable[tuple[Mapping[str, Any], Any]], leading: Sequence[str] = ()
) -> "pd.DataFrame":
    """Return a frame of structs or dataclasses with one column per field.

    Args:
        kind: class of the rows.
        rows: pairs of the values of the leading columns and the struct.
        leading: names of the leading columns.
    """
    fields = tuple(getattr(kind, "__struct_fields__", ())) or tuple(getattr(kind, "__dataclass_fields__", ()))
    return plain_frame(
        ({**first, **{name: getattr(row, name) for name in fields}} for first, row in rows), [*leading, *fields]
    )


def kernels_frame(kernels: Sequence[KernelReport]) -> "pd.DataFrame":
    """Return one row per launch and architecture, in the order of the document, with a column for each knob."""
    knobs = dict.fromkeys(name for kernel in kernels for name in _knobs(kernel))
    columns = {**KERNEL_COLUMNS, **dict.fromkeys((name for name in knobs if name not in KERNEL_COLUMNS), "object")}
    return frame(({**_knobs(kernel), **_kernel(kernel)} for kernel in kernels), columns)


def _knobs(kernel: KernelReport) -> dict[str, Any]:
    """Return the values of a kernel's constexprs, compiler options and environment switches."""
    if kernel.specialization is UNSET:
        return {}
    chosen = {**kernel.specialization.constexprs, **kernel.specialization.options, **kernel.specialization.environment}
    return {name: value for name, value in chosen.items() if value is not None}


def findings_frame(kernels: Sequence[KernelReport]) -> "pd.DataFrame":
    """Return one row per finding, in the order of the document."""
    return frame((row for kernel in kernels for row in _findings(kernel)), FINDING_COLUMNS)


def changes_frame(document: Diff) -> "pd.DataFrame":
    """Return one row per change of a kernel between adjacent sides."""
    columns = dict.fromkeys(("kernel", "arch", "old_side", "new_side", "metric"), "string")
    columns |= {"old": "Float64", "new": "Float64"} | dict.fromkeys(("effect", "severity", "loop"), "string")
    return frame((row for kernel in document.kernels for row in _changes(kernel, document)), columns)


_RANKING = {
    "problem": "string",
    "rank": "Int64",
    **{name: KERNEL_COLUMNS[name] for name in ("time_us", "low_us", "high_us", "bound")},
    **{name: KERNEL_COLUMNS[name] for name in ("vgpr_allocated", "vgpr_spills", "lds_bytes", "waves_per_simd")},
    "measured_ms": "Float64",
}


def ranking_frame(document: "TuneReport") -> "pd.DataFrame":
    """Return one row per problem and configuration, in the order of the ranking, with a column for each knob."""
    ranked = [(p.name, rank, one) for p in document.problems for rank, one in enumerate(p.ranking, 1)]
    knobs = dict.fromkeys(name for _, _, one in ranked for name in one.config)
    rows = (
        {name: getattr(one.resources, name, None) for name in _RANKING}
        | {name: getattr(one, name) for name in ("time_us", "low_us", "high_us", "bound", "measured_ms")}
        | {"problem": problem, "rank": rank}
        | one.config
        for problem, rank, one in ranked
    )
    made: pd.DataFrame = frame(rows, _RANKING | dict.fromkeys(knobs, "object")).convert_dtypes()
    return made


def trials_frame(trials: "Trials | None") -> "pd.DataFrame":
    """Return one row per trial, the start first; no rows if ``trials`` is None."""
    columns = {"kind": "string", "change": "string"} | dict.fromkeys(("time_us", "low_us", "high_us"), "Float64")
    columns |= dict.fromkeys(("vgpr_spills", "scratch", "vgprs", "lds_bytes"), "Int64") | {"waves": "Float64"}
    kinds = (
        () if trials is None else (("start", [trials.start]), ("best", trials.best), ("dominated", trials.dominated))
    )
    return frame((_trial(kind, trial, columns) for kind, found in kinds for trial in found), columns)


def _trial(kind: str, trial: "Evaluation", columns: Mapping[str, str]) -> dict[str, Any]:
    times = {"time_us": trial.time_us, "low_us": trial.low_us, "high_us": trial.high_us}
    figures = {name: getattr(trial.measure, name) for name in columns if hasattr(trial.measure, name)}
    change = assigned(trial.change)
    return figures | times | {"kind": kind, "change": change}


def _changes(kernel: KernelDiff, document: Diff) -> Iterable[dict[str, Any]]:
    for step in kernel.steps:
        for change in step.changes:
            yield {
                "kernel": kernel.name,
                "arch": kernel.arch,
                "old_side": document.sides[step.old].label,
                "new_side": document.sides[step.new].label,
                "metric": change.metric,
                "old": change.old,
                "new": change.new,
                "effect": change.effect,
                "severity": change.severity.value,
                "loop": change.where or None,
            }


def _kernel(kernel: KernelReport) -> dict[str, Any]:
    counts = {f"{one.value}s": sum(f.severity is one for f in kernel.findings) for one in Severity}
    row: dict[str, Any] = {"name": kernel.name, "arch": kernel.arch, "product": kernel.product}
    row |= {"job": kernel.job, "triton": kernel.triton}
    for part in (kernel.resources, kernel.occupancy, kernel.model):
        if part is not None and part is not UNSET:
            row |= {name: getattr(part, name) for name in part.__struct_fields__ if name in KERNEL_COLUMNS}
    return row | counts


def _findings(kernel: KernelReport) -> Iterable[dict[str, Any]]:
    for finding in kernel.findings:
        place = finding.location if isinstance(finding.location, Location) else None
        yield {
            "kernel": kernel.name,
            "arch": kernel.arch,
            "rule": finding.rule,
            "name": finding.name,
            "severity": finding.severity.value,
            "message": finding.message,
            "file": place.file if place else None,
            "line": place.line if place else None,
            "gain_us": finding.gain.us if finding.gain is not None else None,
        }
