"""Identify measured kernels by run, GPU, agent, name, grid, workgroup, LDS and VGPRs.

The name alone is not sufficient: specialisations of a Triton kernel and launches of different sizes share a name.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from kprof.errors import InputError
from kprof_analyzers.profiles.counters.machine import whole

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.rocprof import Data
    from kprof_analyzers.profiles.counters.machine import Gpus
    from kprof_analyzers.profiles.counters.runs import Runs

_SIZES = ("grid_x", "grid_y", "grid_z", "grid_work_items", "workgroup_x", "workgroup_y", "workgroup_z",
          "workgroup_work_items")  # fmt: skip
KEY = ("run", "gpu", "agent", "kernel_name", *_SIZES, "lds_bytes", "vgprs")
"""Columns of a dispatch that distinguish measured kernels."""


@dataclass(frozen=True)
class Identity:
    """Identity of a measured kernel. A value is ``None`` if it is unknown, or if merged kernels differ in it.

    Attributes:
        run: index of the run.
        gpu: index of the GPU in :class:`~kprof_analyzers.profiles.counters.machine.Gpus`; -1 if unknown.
        agent: number that the profiler gives to the GPU.
        name: normalised kernel name.
        grid: work-items of the grid, by dimension if known.
        workgroup: work-items of a workgroup, by dimension if known.
        lds: allocated LDS of a workgroup in bytes.
        vgprs: architectural VGPRs.
    """

    run: int = 0
    gpu: int = -1
    agent: int | None = None
    name: str = ""
    grid: tuple[int, ...] | None = None
    workgroup: tuple[int, ...] | None = None
    lds: int | None = None
    vgprs: int | None = None


FIELDS = tuple(field.name for field in fields(Identity) if field.name not in {"run", "gpu"})
"""Valid fields of ``--by``. Kernels of different runs or different kinds of GPU are never merged."""


def parse_fields(text: str) -> tuple[str, ...]:
    """Parse a list of fields such as ``name,grid``.

    Raises:
        InputError: if a field is unknown.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in FIELDS]
    if unknown or not names:
        raise InputError(f"--by takes {', '.join(FIELDS)}, got {text!r}")
    return names if "name" in names else ("name", *names)


def identified(
    data: "Data", runs: "Runs", gpus: "Gpus", chosen: Collection[int] | None = None
) -> "tuple[pd.Series[Any], list[Identity]]":
    """Number the kernels that differ in a field of :class:`Identity`.

    Returns the number of the kernel of each row of ``data.dispatches``, and the identities by number.

    Args:
        data: the files' contents.
        runs: runs of the data; dispatches that belong to no run are left out.
        gpus: GPUs of the data.
        chosen: dispatch ids to keep; ``None`` keeps all.
    """
    from kprof_analyzers.profiles.counters.runs import run_column

    dispatches = data.dispatches
    table = dispatches.reindex(columns=["source", "dispatch_id", *KEY[2:]])
    table["kernel_name"] = table["kernel_name"].astype(object)
    table["run"] = run_column(data, runs)
    table = table[table["run"] >= 0]
    if chosen is not None:
        table = table[table["dispatch_id"].isin(list(chosen))]
    pairs = table[["source", "agent"]].drop_duplicates()
    places = {(int(s), whole(a)): gpus.index_of(int(s), whole(a)) for s, a in pairs.itertuples(index=False)}
    columns = zip(table["source"].tolist(), table["agent"].tolist(), strict=True)
    table["gpu"] = [places[int(source), whole(agent)] for source, agent in columns]
    numbers = table.groupby(list(KEY), dropna=False, sort=False, observed=True).ngroup()
    firsts = table[~numbers.duplicated()].set_axis(numbers[~numbers.duplicated()].tolist()).sort_index()
    known = {name: _integers(firsts[name]) for name in KEY if name != "kernel_name"}
    grids, workgroups = (
        map(_size, *(known[f"{of}_{axis}"] for axis in "xyz"), known[f"{of}_work_items"])
        for of in ("grid", "workgroup")
    )
    names = (name if isinstance(name, str) else "?" for name in firsts["kernel_name"].tolist())
    fields_of_all = (known["run"], known["gpu"], known["agent"], names, grids, workgroups, known["lds_bytes"],
                     known["vgprs"])  # fmt: skip
    return numbers, [Identity(*values) for values in zip(*fields_of_all, strict=True)]


def _integers(column: "pd.Series[Any]") -> list[Any]:
    """Return the values of a column as integers, with None for missing values; see :func:`whole`."""
    values = column.tolist()
    return values if column.dtype.kind in "iu" and not column.hasnans else [whole(value) for value in values]


def _size(x: int | None, y: int | None, z: int | None, total: int | None) -> tuple[int, ...] | None:
    if x is not None and y is not None and z is not None:
        return x, y, z
    return None if total is None else (total,)


def described(members: Sequence[Identity], shown: Collection[str]) -> str:
    """Describe identities, for example ``grid 4096x1x1, workgroup 256, LDS 512 B, 16 VGPRs, agent 1``.

    For a field in which the identities differ, the text has the number of distinct values, such as ``3 grids``.

    Args:
        members: the merged identities.
        shown: fields to include.
    """
    words = []
    for field in ("grid", "workgroup", "lds", "vgprs", "agent"):
        values = {getattr(one, field) for one in members}
        if len(values) > 1:
            plurals = {"lds": "sizes of LDS", "vgprs": "counts of VGPRs"}
            words.append(f"{len(values)} {plurals.get(field, field + 's')}")
        elif field in shown and (value := values.pop()) is not None:
            text = "x".join(map(str, value)) if isinstance(value, tuple) else f"{value:,}"
            forms = {"lds": f"LDS {text} B", "vgprs": f"{text} VGPRs"}
            words.append(forms.get(field, f"{field} {text}"))
    return ", ".join(words)
