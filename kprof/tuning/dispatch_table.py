"""Which implementation and configuration to use for a shape: a table that ``kprof bench`` or ``kprof tune`` writes.

The table is JSON, schema ``kprof.dispatch/1``: one entry a kernel, architecture and shape, with the fastest right
implementation that was measured, its configuration, and the times of all that were compared.

How an entry is chosen for a shape (:func:`choose`):

1. Only entries of the same kernel and architecture count, and only those whose parameters that are not numbers
   (dtype, layout, flags) are the same.
2. An entry with the same numbers is taken as it is ("exact").
3. Otherwise each number is compared by its logarithm. An entry is near when no number differs by more than a factor
   of two (zero and negative numbers have to be equal); the nearest is the one with the least sum of
   ``|log2(a / b)|``, the first in the table when two are equally near ("nearest").
4. The entry's implementation has to support the shape and its configuration has to be legal for it; else the next
   nearest is tried.
5. Without an entry: the first of the kernel's ``alternatives`` that supports the shape, else the kernel itself,
   with its own defaults ("default").
"""

import os
from collections.abc import Iterable, Mapping
from math import log2
from pathlib import Path
from typing import Any, Literal

import msgspec

from kprof.bench.document import BenchReport, Measurement
from kprof.errors import KprofError
from kprof.inputs import boundary
from kprof.kernel_spec import Kernel, Shape

SCHEMA = "kprof.dispatch/1"
TABLE_VARIABLE = "KPROF_DISPATCH_TABLE"
"""Environment variable with the table's path, for when none is named."""

MOST_BYTES = 64 << 20
"""Size beyond which a file is not taken for a dispatch table."""


class DispatchEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """The best implementation for one shape.

    Attributes:
        kernel: whose problem it is.
        arch: ``gfx942``.
        shape: problem parameters, dtypes resolved.
        implementation: name of a kernel of kprof, or of another provider (``torch``, ``sdpa``, ``aiter``, ``ck``).
        config: knobs of a kernel of kprof.
        ms: its median time.
        compared: implementation to median milliseconds, of all that were measured and right.
        device: product that was measured.
        versions: of Triton and torch.
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
    """The file. ``schema`` is checked when it is read."""

    entries: list[DispatchEntry]
    schema: Literal["kprof.dispatch/1"] = "kprof.dispatch/1"


class Selection(msgspec.Struct, frozen=True):
    """What to use.

    Attributes:
        kernel, arch, shape: what was asked.
        implementation: kernel of kprof, or another provider.
        config: every knob of that kernel; empty for another provider.
        rule: ``exact``, ``nearest`` or ``default``, see the module.
        distance: sum of ``|log2|`` ratios to the entry's numbers; 0 when exact, ``None`` for a default.
        measured: shape that the entry was measured with.
        ms: median time of that measurement, on ``device``; or what was predicted.
        device: see :class:`DispatchEntry`.
        reason: the choice in words.
        basis: see :class:`DispatchEntry`.
    """

    kernel: str
    arch: str
    shape: dict[str, Any]
    implementation: str
    config: dict[str, Any]
    rule: Literal["exact", "nearest", "default"]
    reason: str
    distance: float | None = None
    measured: dict[str, Any] | None = None
    ms: float | None = None
    device: str = ""
    basis: Literal["measured", "predicted"] = "measured"


def read(path: Path | str) -> Table:
    """A table from a file.

    Raises:
        KprofError: the file is missing, too large, not JSON, or not a table of a version that is known.
    """
    hint = "kprof bench KERNEL --write-table FILE writes one"
    data = boundary.read_bytes(path, most=MOST_BYTES)
    return boundary.json_of(data, Table, str(path), f"not a dispatch table ({SCHEMA})", hint=hint)


def merge(table: Table | None, entries: Iterable[DispatchEntry]) -> Table:
    """A table with entries added; one for the same kernel, architecture and shape is replaced.

    What was measured is never replaced by a prediction.
    """
    found: dict[str, DispatchEntry] = {}
    for entry in [*(table.entries if table else []), *entries]:
        before = found.get(_key(entry))
        if before is None or before.basis == "predicted" or entry.basis == "measured":
            found[_key(entry)] = entry
    return Table(list(found.values()))


def entries_of(report: BenchReport) -> list[DispatchEntry]:
    """The fastest right implementation of each problem in a benchmark; nothing for one where none was right."""
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


def distance(wanted: Shape, measured: Shape) -> float | None:
    """Sum of ``|log2(a / b)|`` over the numbers of two shapes; ``None`` when they are not near (see the module)."""
    if wanted.keys() != measured.keys():
        return None
    total = 0.0
    for name, value in wanted.items():
        other = measured[name]
        if _is_number(value) and _is_number(other) and value > 0 and other > 0:
            step = abs(log2(value) - log2(other))
            if step > 1:
                return None
            total += step
        elif value != other or type(value) is not type(other):
            return None
    return total


def choose(kernel: Kernel, shape: Shape, arch: str, table: Table | None) -> Selection:
    """The implementation and configuration for a shape; the rule is in the module's description.

    Args:
        kernel: whose problem it is.
        shape: problem parameters, dtypes resolved.
        arch: architecture.
        table: measured entries; ``None``: the kernels' own defaults decide.
    """
    same = [e for e in (table.entries if table else ()) if e.kernel == kernel.name and e.arch == arch]
    near = [(gap, entry) for entry in same if (gap := distance(shape, entry.shape)) is not None]
    rejected = []
    for gap, entry in sorted(near, key=lambda pair: pair[0]):
        config, problem = _fits(kernel, entry, shape, arch)
        if problem is None:
            return _from_entry(entry, gap, config, kernel, shape)
        rejected.append(problem)
    return _default(kernel, shape, arch, rejected)


def select(kernel: str, shape: Shape, arch: str, table: "Table | Path | str | None" = None) -> Selection:
    """Which implementation and configuration to use for a shape on an architecture.

    Args:
        kernel: bundled kernel or file.
        shape: problem parameters; those left out are the default case's.
        arch: architecture, ``gfx942``, or product, ``MI300X``; any other name is compared as it is.
        table: a table or its path; by default the file that ``KPROF_DISPATCH_TABLE`` names, if any.

    Raises:
        KprofError: no such kernel or parameter, or the table cannot be read.
    """
    from kprof.hardware.machine import load
    from kprof.targets import library as kernel_library

    loaded = kernel_library.load(kernel)
    name = arch if arch.startswith("sm_") else load(arch).name
    if table is None and (place := os.environ.get(TABLE_VARIABLE)):
        table = place
    known = read(table) if isinstance(table, Path | str) else table
    return choose(loaded, loaded.problem(name, None, shape), name, known)


def _from_entry(entry: DispatchEntry, gap: float, config: dict[str, Any], kernel: Kernel, shape: Shape) -> Selection:
    numbers = {n: v for n, v in entry.shape.items() if _is_number(v)}
    reason = f"{entry.basis} {'on' if entry.basis == 'measured' else 'for'} {entry.device or entry.arch}"
    if gap:
        reason = f"nearest entry, {entry.basis} with {', '.join(f'{n}={v}' for n, v in numbers.items())}"
    return Selection(
        kernel=kernel.name,
        arch=entry.arch,
        shape=dict(shape),
        implementation=entry.implementation,
        config=config,
        rule="nearest" if gap else "exact",
        reason=reason,
        distance=gap,
        measured=entry.shape,
        ms=entry.ms,
        device=entry.device,
        basis=entry.basis,
    )


def _default(kernel: Kernel, shape: Shape, arch: str, rejected: list[str]) -> Selection:
    from kprof.targets import library as kernel_library

    reasons = list(rejected)
    for name in kernel.alternatives:
        other = kernel_library.load(name)
        problem = _unsupported(other, shape, arch) or _illegal(other, other.configure(arch, None, shape), shape, arch)
        if problem is None:
            words = "; ".join([*reasons, f"no entry for this shape; {name} is the form made for it"])
            return Selection(kernel.name, arch, dict(shape), name, other.configure(arch, None, shape), "default", words)
        reasons.append(f"not {name}: {problem}")
    problem = _unsupported(kernel, shape, arch)
    if problem is not None:
        raise KprofError(f"nothing can do this on {arch}: {problem}")
    words = "; ".join([*reasons, f"no entry for this shape; {kernel.name}'s own defaults"])
    return Selection(kernel.name, arch, dict(shape), kernel.name, kernel.configure(arch, None, shape), "default", words)


def _fits(kernel: Kernel, entry: DispatchEntry, shape: Shape, arch: str) -> tuple[dict[str, Any], str | None]:
    """An entry's complete configuration for a shape, and why it cannot be used."""
    from kprof.targets import library as kernel_library

    if entry.implementation not in {kernel.name, *kernel.alternatives}:
        return {}, None
    other = kernel if entry.implementation == kernel.name else kernel_library.load(entry.implementation)
    try:
        config = other.configure(arch, entry.config, shape)
    except KprofError as error:
        return {}, f"an entry does not fit {other.name} any more: {error.message}"
    return config, _unsupported(other, shape, arch) or _illegal(other, config, shape, arch)


def _unsupported(kernel: Kernel, shape: Shape, arch: str) -> str | None:
    return kernel.unsupported(arch, shape) if kernel.unsupported else None


def _illegal(kernel: Kernel, config: Mapping[str, Any], shape: Shape, arch: str) -> str | None:
    return kernel.legal(shape, config, arch) if kernel.legal else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _key(entry: DispatchEntry) -> str:
    return f"{entry.kernel} {entry.arch} {sorted(entry.shape.items(), key=str)}"
