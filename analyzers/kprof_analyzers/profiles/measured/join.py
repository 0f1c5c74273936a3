"""Find a compiled kernel in a measurement.

Triton gives every specialisation of a kernel the same name, so the name is not sufficient. ``num_warps`` is computed
from the workgroup size. LDS and registers distinguish specialisations with the same ``num_warps``.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kprof.errors import InputError, near
from kprof.measured import Confidence, Key, Match

if TYPE_CHECKING:
    from kprof.document import KernelReport
    from kprof.hardware.machine import Architecture
    from kprof.inputs.rocprof import Data
    from kprof.inputs.torch_profiler import LinkedTrace
    from kprof.targets.loaded import LoadedKernel

# Old Triton versions append the specialisation of each argument to the kernel's name: the argument's number, followed
# by d (divisible by 16), c (constant) or e (divisible by 8).
_SPECIALISED = re.compile(r"_(?:\d+[cde]*)+$")
# rocprof reports LDS in blocks of 128 dwords, regardless of the hardware's granule.
_LDS_BLOCK = 512
_VGPR_BLOCK = 8


@dataclass(frozen=True)
class CompiledIdentity:
    """Properties of a compiled kernel that a measurement may also contain.

    Attributes:
        name: symbol that is launched.
        wavefront_size: lanes of a wavefront.
        num_warps: wavefronts of a workgroup.
        lds_bytes: LDS of a workgroup, including LDS that the launch requests.
        vgprs: allocated vector registers including AGPRs.
        granule: LDS granule in bytes.
        source: source file of the kernel.
    """

    name: str
    wavefront_size: int
    num_warps: int | None
    lds_bytes: int | None
    vgprs: int | None
    granule: int = _LDS_BLOCK
    source: str | None = None


@dataclass(frozen=True)
class Variant:
    """Measured dispatches of one kernel name with the same launch properties.

    Attributes:
        rows: row numbers of the dispatches or activities.
        workgroup_size: work-items of a workgroup.
        vgprs: vector registers including AGPRs.
    """

    name: str
    rows: tuple[int, ...]
    workgroup_size: int | None
    lds_bytes: int | None
    vgprs: int | None = None


def subject_of(kernel: "LoadedKernel", report: "KernelReport", arch: "Architecture") -> CompiledIdentity:
    """Return the properties of a compiled kernel that identify it in a measurement."""
    from kprof.document import Resources

    resources = report.resources if isinstance(report.resources, Resources) else Resources()

    def known(value: Any) -> int | None:
        return value if isinstance(value, int) else None

    return CompiledIdentity(
        kernel.program.name,
        known(resources.wavefront_size) or arch.wavefront_size,
        known(resources.num_warps),
        known(resources.lds_bytes),
        known(resources.vgpr_allocated),
        max(_LDS_BLOCK, arch.lds.granule),
        kernel.source.file if kernel.source is not None else None,
    )


def in_counters(subject: CompiledIdentity, data: "Data") -> tuple[Match, tuple[int, ...]]:
    """Return the match of a kernel among profiled dispatches, and the matching rows of ``data.dispatches``.

    Raises:
        KprofError: if there is no kernel of this name, or only with other workgroup sizes.
    """
    dispatches = data.dispatches
    names = dispatches["kernel_name"].astype(str) if len(dispatches) else dispatches["kernel_name"]
    wanted = {name for name in names.unique() if is_called(str(name), subject.name)}
    keys = ["workgroup_work_items", "lds_bytes", "vgprs", "agprs"]
    groups: dict[tuple[str, int | None, int | None, int | None], list[int]] = {}
    chosen = dispatches[names.isin(wanted)]
    columns = [chosen[key].tolist() if key in chosen else [None] * len(chosen) for key in keys]
    for row, name, size, lds, vgprs, agprs in zip(chosen.index, names[chosen.index], *columns, strict=True):
        registers = _integer(vgprs)
        total = None if registers is None else registers + (_integer(agprs) or 0)
        groups.setdefault((str(name), _integer(size), _integer(lds), total), []).append(int(row))
    variants = [Variant(key[0], tuple(rows), *key[1:]) for key, rows in groups.items()]
    match, variant = _best(subject, variants, "counters", map(str, names.unique()))
    return match, variant.rows


def in_traces(subject: CompiledIdentity, traces: "Iterable[LinkedTrace]") -> tuple[Match, dict[int, tuple[int, ...]]]:
    """Return the match of a kernel among traced kernels, and for each trace the indexes of the matching activities.

    Raises:
        KprofError: if there is no kernel of this name, or only with other workgroup sizes.
    """
    groups: dict[tuple[str, int | None, int | None], list[tuple[int, int]]] = {}
    names: dict[str, None] = {}
    for number, trace in enumerate(traces):
        for index, activity in enumerate(trace.activities):
            if activity.kind != "kernel":
                continue
            names.setdefault(activity.name)
            if is_called(activity.name, subject.name):
                size = activity.workgroup_size
                work_items = size[0] * size[1] * size[2] if size is not None else None
                # For a launch in a graph, 0 B of LDS may mean that the value was not recorded. Triton's LDS is dynamic,
                # so its static LDS is 0, too.
                lds = activity.lds_bytes if activity.lds_bytes or not subject.lds_bytes else None
                groups.setdefault((activity.name, work_items, lds), []).append((number, index))
    places = [place for found in groups.values() for place in found]
    at = {place: row for row, place in enumerate(places)}
    variants = [Variant(key[0], tuple(at[p] for p in found), *key[1:]) for key, found in groups.items()]
    match, variant = _best(subject, variants, "trace", names)
    rows: dict[int, list[int]] = {}
    for row in variant.rows:
        rows.setdefault(places[row][0], []).append(places[row][1])
    return match, {number: tuple(indexes) for number, indexes in rows.items()}


def is_called(measured: str, name: str) -> bool:
    """Return whether a profiler's kernel name refers to ``name``, ignoring suffixes of tools and old Triton versions.

    >>> is_called("softmax_kernel.kd", "softmax_kernel"), is_called("softmax_kernel_0d1d2c", "softmax_kernel")
    (True, True)
    """
    from kprof.inputs.rocprof import normalise

    plain = normalise(measured)
    return plain == name or (plain.startswith(name) and _SPECIALISED.fullmatch(plain[len(name) :]) is not None)


def compare(subject: CompiledIdentity, variant: Variant) -> list[Key]:
    """Compare each property that is known of both the compiled kernel and the measured launch."""
    keys = [Key("name", subject.name, variant.name, agrees=True)]
    size = variant.workgroup_size
    if subject.num_warps is not None and size:
        warps = -(-size // subject.wavefront_size)
        keys.append(Key("num_warps", subject.num_warps, warps, warps == subject.num_warps))
    if subject.lds_bytes is not None and variant.lds_bytes is not None:
        rounded = -(-subject.lds_bytes // subject.granule) * subject.granule
        agrees = subject.lds_bytes <= variant.lds_bytes <= rounded
        keys.append(Key("lds_bytes", subject.lds_bytes, variant.lds_bytes, agrees))
    if subject.vgprs is not None and variant.vgprs:
        agrees = abs(variant.vgprs - subject.vgprs) < _VGPR_BLOCK
        keys.append(Key("vgprs", subject.vgprs, variant.vgprs, agrees))
    return keys


def confidence(keys: list[Key]) -> Confidence:
    """Return the confidence of a match; see :class:`Match`."""
    agrees = {key.name: key.agrees for key in keys}
    if len(agrees) == 1 or agrees.get("lds_bytes") is False:
        return "doubtful"
    if agrees.get("num_warps") and agrees.get("lds_bytes") and agrees.get("vgprs", True) and agrees.get("source", True):
        return "sure"
    return "likely"


def _best(
    subject: CompiledIdentity, variants: list[Variant], source: Any, known: Iterable[str]
) -> tuple[Match, Variant]:
    if not variants:
        raise InputError(
            f"no kernel {subject.name} in the {source}{near(subject.name, known)}",
            hint=f"kprof {'trace top' if source == 'trace' else 'ingest counters'} lists what was measured.",
        )
    compared = [(compare(subject, variant), variant) for variant in variants]
    possible = [(keys, v) for keys, v in compared if all(k.agrees for k in keys if k.name == "num_warps")]
    if not possible:
        seen = sorted({str(k.measured) for keys, _ in compared for k in keys if k.name == "num_warps"})
        raise InputError(
            f"{subject.name} was measured with num_warps={' and '.join(seen)}, "
            f"but is compiled with num_warps={subject.num_warps}",
            hint=f"Compile what was measured: --config num_warps={seen[0]}, and the tile sizes that go with it.",
        )
    keys, variant = max(possible, key=lambda pair: (sum(k.agrees for k in pair[0]), len(pair[1].rows)))
    # Other files may record fewer properties of the same launch. Their rows belong to the match as well.
    rows = tuple(sorted(row for v in variants if _fits(v, variant) for row in v.rows))
    others = sum(len(v.rows) for v in variants) - len(rows)
    return Match(source, variant.name, keys, confidence(keys), len(rows), others), replace(variant, rows=rows)


def _fits(one: Variant, other: Variant) -> bool:
    def near_enough(mine: int | None, theirs: int | None, slack: int) -> bool:
        return mine is None or theirs is None or abs(mine - theirs) < slack

    return (
        near_enough(one.workgroup_size, other.workgroup_size, 1)
        and near_enough(one.lds_bytes, other.lds_bytes, _LDS_BLOCK)
        and near_enough(one.vgprs or None, other.vgprs or None, 1)
    )


def _integer(value: Any) -> int | None:
    """Return a value from a table as an integer; ``None`` if it is missing."""
    import pandas as pd

    return None if value is None or pd.isna(value) else int(value)
