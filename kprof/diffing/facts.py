"""Figures of a kernel for a comparison, derived from its report."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from math import isfinite

from msgspec import UNSET

from kprof.document import KernelReport, LoopFacts, Occupancy, Prediction, Resources
from kprof.findings import Finding
from kprof.inputs.amdgcn.memory_names import classify

_MEMORY = ("global_", "buffer_", "flat_", "ds_")
_DRAIN = re.compile(r"(vm|load|store|vs)cnt\(0\)")

Number = int | float | None


def resource(kernel: KernelReport, name: str) -> Number:
    """Return the amount of a resource by name; ``None`` if it is not known or does not apply."""
    if not isinstance(kernel.resources, Resources):
        return None
    value = getattr(kernel.resources, name)
    return value if isinstance(value, int | float) else None


def waves(kernel: KernelReport) -> Number:
    """Return the number of wavefronts per SIMD; ``None`` if not known."""
    return finite(kernel.occupancy.waves_per_simd) if isinstance(kernel.occupancy, Occupancy) else None


def finite(value: object) -> Number:
    """Return a value if it is a finite number, else ``None``; documents from elsewhere may contain infinities."""
    return value if isinstance(value, int | float) and isfinite(value) else None


def over_limit(kernel: KernelReport) -> Number:
    """Return the number of LDS bytes by which a workgroup exceeds the limit. If it is not 0, the launch fails."""
    used, limit = resource(kernel, "lds_bytes"), resource(kernel, "lds_limit_bytes")
    return None if used is None or limit is None else max(0, used - limit)


def innermost(kernel: KernelReport) -> list[LoopFacts]:
    """Return the loops that contain no other loop."""
    return [loop for loop in kernel.loops if loop.innermost]


def hot(kernel: KernelReport) -> LoopFacts | None:
    """Return the hot loop, or ``None`` if there is none."""
    return next((loop for loop in kernel.loops if loop.hot), None)


def hot_cycles(kernel: KernelReport) -> Number:
    """Return the predicted number of cycles of an iteration of the hot loop; ``None`` if the model has none."""
    loop = hot(kernel)
    if loop is None or not isinstance(kernel.model, Prediction):
        return None
    predicted = (each.cycles_per_iteration for each in kernel.model.loops if each.header == loop.header)
    return finite(next(predicted, None))


def hot_work_ratio(old: KernelReport, new: KernelReport) -> float:
    """Return the work of a new iteration of the hot loop divided by that of an old one; 1 if a work is not known."""
    before, after = (0 if loop is None else work(loop) for loop in (hot(old), hot(new)))
    return after / before if before and after else 1.0


def has_code(kernel: KernelReport) -> bool:
    """Return whether the instructions are known; those of a code object are not if there was no disassembler."""
    return bool(kernel.instructions)


def loop_spills(kernel: KernelReport) -> Number:
    """Return the number of scratch instructions in loops; ``None`` if the instructions are not known."""
    if not has_code(kernel):
        return None
    return sum(loop.spill_accesses for loop in kernel.loops if loop.depth == 1)


def drains(loop: LoopFacts) -> int:
    """Return the number of waits in a loop that wait for all loads or all stores in flight."""
    return sum(count for wait, count in loop.waits.items() if _DRAIN.fullmatch(wait))


def work(loop: LoopFacts) -> int:
    """Return the work of one iteration: its matrix operations; if it has none, its loaded bytes; else 0."""
    paths = ("global_load", "flat_load", "global_to_lds")
    return max(0, loop.flops or sum(loop.bytes_per_wave.get(path, 0) for path in paths))


def widths(instructions: Mapping[str, int]) -> dict[str, dict[int, int]]:
    """Return the counts of memory instructions by kind (``global load``, ``LDS store``, ...) and bytes per lane."""
    found: dict[str, Counter[int]] = {}
    for name, count in instructions.items():
        if count <= 0 or not name.startswith(_MEMORY):
            continue
        _cls, kind, space, _lds, size, _parts = classify(name)
        if kind.value not in {"load", "store"} or not size or space is None:
            continue
        place = "LDS" if space.value == "lds" else "global"
        found.setdefault(f"{place} {kind.value}", Counter())[size] += count
    return {kind: dict(sorted(sizes.items(), reverse=True)) for kind, sizes in found.items()}


def mean_width(sizes: Mapping[int, int]) -> float:
    """Return the mean number of bytes per lane that one instruction moves."""
    return round(sum(size * count for size, count in sizes.items()) / sum(sizes.values()), 2)


def rules(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Return findings grouped by rule."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.rule, []).append(finding)
    return found


def unchecked(kernel: KernelReport) -> dict[str, str]:
    """Return the rules that could not be checked, each with the reason."""
    return {} if kernel.rules is UNSET else {each.rule: each.reason for each in kernel.rules.not_checked}


def unjudged(kernel: KernelReport) -> set[str]:
    """Return the rules without a result: not checked, or about hardware features that the architecture lacks."""
    return set() if kernel.rules is UNSET else {*unchecked(kernel), *(r.rule for r in kernel.rules.does_not_apply)}


def figures(kernel: KernelReport) -> dict[str, Number]:
    """Return the figures of a kernel that tables always show."""
    loop = hot(kernel)
    return {
        "vgpr_spills": resource(kernel, "vgpr_spills"),
        "loop_spills": loop_spills(kernel),
        "scratch_bytes": resource(kernel, "scratch_bytes"),
        "lds_bytes": resource(kernel, "lds_bytes"),
        "waves_per_simd": waves(kernel),
        "vgpr_allocated": resource(kernel, "vgpr_allocated"),
        "agpr": resource(kernel, "agpr"),
        "sgpr": resource(kernel, "sgpr"),
        "loop_instructions": sum(loop.instructions.values()) if loop else None,
        "instructions": sum(kernel.instructions.values()) if has_code(kernel) else None,
        "hot_cycles": hot_cycles(kernel),
        "model_us": finite(getattr(kernel.model, "time_us", None)),
        "model_low_us": finite(getattr(kernel.model, "low_us", None)),
        "model_high_us": finite(getattr(kernel.model, "high_us", None)),
    }


def location_of(kernel: KernelReport) -> str:
    """Return the kernel's source location such as ``gemm.py:47``, or ""."""
    return "" if kernel.source is UNSET else str(kernel.source)


def problem(kernel: KernelReport) -> dict[str, object]:
    """Return the problem sizes of the launch by name; empty if not known."""
    return {} if kernel.launch is UNSET else dict(kernel.launch.get("problem") or {})


def grid(kernel: KernelReport) -> tuple[int, ...] | None:
    """Return the workgroups of the launch along each axis; ``None`` if not known."""
    known = None if kernel.launch is UNSET else kernel.launch.get("grid")
    return tuple(known) if isinstance(known, list | tuple) else None


def unrecorded(kernels: Iterable[KernelReport]) -> list[str]:
    """Return the sentences on operators of recorded programs that did not run, without duplicates."""
    return list(dict.fromkeys(kernel.unrecorded for kernel in kernels if isinstance(kernel.unrecorded, str)))
