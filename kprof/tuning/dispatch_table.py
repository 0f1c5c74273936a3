"""The table of implementations and configurations by shape that ``kprof bench`` and ``kprof tune`` write.

The table is JSON, schema ``kprof.dispatch/1``, with one entry per kernel, architecture and shape. An entry holds the
fastest measured implementation with correct results, its configuration, and the times of all compared implementations.

:mod:`kprof.tuning.choice.choose` describes how an entry is chosen for a shape.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from kprof.bench.document import BenchReport, Measurement
from kprof.inputs import boundary

SCHEMA = "kprof.dispatch/1"
TABLE_VARIABLE = "KPROF_DISPATCH_TABLE"
"""Environment variable with the path of the table to use by default."""

MOST_BYTES = 64 << 20
"""Maximum size of a dispatch table file in bytes."""


class DispatchEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """The best implementation for one shape.

    Attributes:
        kernel: name of the bundled kernel that defines the problem.
        arch: the architecture, for example ``gfx942``.
        shape: problem parameters, dtypes resolved.
        implementation: name of a bundled kernel, or of another provider (``torch``, ``sdpa``, ``aiter``, ``ck``).
        config: knobs, if the implementation is a bundled kernel.
        ms: median time of the implementation in milliseconds.
        compared: median milliseconds of every implementation that was measured and returned the right result.
        device: the product that it was measured on.
        versions: versions of Triton and torch.
        basis: whether ``ms`` was measured, or predicted by ``kprof tune`` without a GPU.
    """

    kernel: str
    arch: str
    shape: dict[str, Any]
    implementation: str
    config: dict[str, Any] = {}
    ms: float | None = None
    compared: dict[str, float] = {}
    device: str = ""
    versions: dict[str, str] = {}
    basis: Literal["measured", "predicted"] = "measured"


class Table(msgspec.Struct, frozen=True):
    """The table file. ``schema`` is checked when the file is read."""

    entries: list[DispatchEntry]
    schema: Literal["kprof.dispatch/1"] = "kprof.dispatch/1"


def read(path: Path | str) -> Table:
    """Read a table from a file.

    Raises:
        KprofError: if the file is missing, too large, not JSON, or not a table of a known version.
    """
    hint = "kprof bench KERNEL --write-table FILE writes one"
    data = boundary.read_bytes(path, most=MOST_BYTES)
    return boundary.json_of(data, Table, str(path), f"not a dispatch table ({SCHEMA})", hint=hint, unique=True)


def merge(table: Table | None, entries: Iterable[DispatchEntry]) -> Table:
    """Return a table with entries added. An entry replaces an earlier one for the same kernel, architecture and shape.

    A prediction never replaces a measurement.
    """
    found: dict[str, DispatchEntry] = {}
    for entry in [*(table.entries if table else []), *entries]:
        before = found.get(_key(entry))
        if before is None or before.basis == "predicted" or entry.basis == "measured":
            found[_key(entry)] = entry
    return Table(list(found.values()))


def entries_of(report: BenchReport) -> list[DispatchEntry]:
    """Return the fastest correct implementation of each problem in a benchmark; skip problems without one."""
    groups: dict[str, list[Measurement]] = {}
    for found in report.measurements:
        if found.timing is not None and found.status == "ok":
            groups.setdefault(f"{found.kernel} {sorted(found.shape.items(), key=str)}", []).append(found)
    entries = []
    for group in groups.values():
        best = min(group, key=lambda m: m.timing.median if m.timing else float("inf"))
        own = best.provider in {"triton", "tuned"}
        entries.append(
            DispatchEntry(
                kernel=best.kernel,
                arch=report.device.arch,
                shape=best.shape,
                implementation=best.kernel if own else best.provider,
                config=best.config,
                ms=best.timing.median if best.timing else None,
                compared={m.provider: m.timing.median for m in group if m.timing},
                device=report.device.name,
                versions=report.device.versions,
            )
        )
    return entries


def _key(entry: DispatchEntry) -> str:
    return f"{entry.kernel} {entry.arch} {sorted(entry.shape.items(), key=str)}"
