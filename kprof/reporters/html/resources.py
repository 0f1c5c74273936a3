"""Resource use of a kernel, and the limits of a compute unit, for the page."""

from typing import Any

from msgspec import UNSET

from kprof.document import KernelReport, Resources
from kprof.errors import KprofError
from kprof.output.quantities import kib
from kprof.reporters._console_text import limiter, needs, option_in_the_way, waves
from kprof.reporters.html.parts import Cutter
from kprof.reporters.measured_text import fact_words, loop_rows, loop_words, match_words, quantity, standings

_ROWS = 200
_MOST_LIMITS = 10


def occupancy_view(kernel: KernelReport) -> dict[str, Any] | None:
    """Return the occupancy, and the occupancy that each resource alone would allow; ``None`` if it is not known."""
    occupancy = kernel.occupancy
    if occupancy is None or occupancy is UNSET:
        return None
    most = max(1, occupancy.max_waves_per_simd)
    step = occupancy.next_step
    lds = None if kernel.resources is UNSET else kernel.resources.lds_bytes
    limits = sorted(occupancy.limits.items(), key=lambda item: (item[1], item[0] != occupancy.limiter, item[0]))
    return {
        "waves": waves(occupancy.waves_per_simd),
        "most": most,
        "workgroups": occupancy.workgroups_per_cu,
        "limiter": limiter(occupancy.limiter, occupancy.waves_per_simd) if occupancy.waves_per_simd < most else "",
        "step": "" if step is UNSET else needs(step, lds, option_in_the_way(kernel, step.waves_per_simd)),
        "limits": [
            {
                "name": limiter(name, allowed),
                "waves": waves(allowed),
                "percent": _percent(allowed, most),
                "limits": name == occupancy.limiter and occupancy.waves_per_simd < most,
            }
            for name, allowed in limits[:_MOST_LIMITS]
        ],
    }


def resource_rows(kernel: KernelReport) -> list[dict[str, Any]]:
    """Return one row per resource: its name, the used amount in words, and the share of the limit if known."""
    resources = kernel.resources
    if resources is UNSET:
        return []
    vgprs, sgprs = _register_files(kernel.arch)
    rows = [
        _row("VGPRs", _registers(resources), resources.vgpr_allocated, vgprs),
        _row("SGPRs", _amount_text(resources.sgpr), resources.sgpr, sgprs),
        _row("LDS", _lds(resources), resources.lds_bytes, resources.lds_limit_bytes),
        _row("Scratch", _in_bytes(resources.scratch_bytes)),
        _row("Spilled", f"{_amount_text(resources.vgpr_spills)} VGPRs", resources.vgpr_spills),
        _row("Workgroup", _workgroup(resources)),
    ]
    return [row for row in rows if row["words"]]


def _row(name: str, words: str, amount: Any = None, most: Any = None) -> dict[str, Any]:
    known = isinstance(amount, int) and isinstance(most, int) and most > 0
    return {
        "name": name,
        "words": words,
        "percent": _percent(amount, most) if known else None,
        "bad": bool(known and amount > most) or (name == "Spilled" and isinstance(amount, int) and amount > 0),
    }


def _workgroup(resources: Resources) -> str:
    return f"{_amount_text(resources.num_warps)} wavefronts of {_amount_text(resources.wavefront_size)} lanes"


def _percent(amount: float, most: float) -> float:
    return round(100 * min(1.0, max(0.0, amount / most)), 1)


def _registers(resources: Resources) -> str:
    parts = [f"{_amount_text(resources.vgpr)} used"]
    if resources.agpr not in {UNSET, None, 0}:
        parts.append(f"{_amount_text(resources.agpr)} AGPRs")
    parts.append(f"{_amount_text(resources.vgpr_allocated)} allocated")
    return ", ".join(parts)


def _lds(resources: Resources) -> str:
    used = kib(resources.lds_bytes) if isinstance(resources.lds_bytes, int) else "?"
    return used if resources.lds_limit_bytes is UNSET else f"{used} of {kib(resources.lds_limit_bytes)}"


def _in_bytes(amount: Any) -> str:
    return "" if amount is UNSET else "?" if amount is None else f"{amount:,} B a lane"


def _amount_text(amount: Any) -> str:
    return "?" if amount is None or amount is UNSET else f"{amount:,}"


def _register_files(arch: str) -> tuple[int | None, int | None]:
    """Return the maximum vector and scalar registers of a wavefront; ``None`` without data on the architecture."""
    from kprof.hardware.machine import load

    try:
        rules = load(arch).occupancy
    except KprofError:
        return None, None
    return rules.max_vgprs_total, rules.max_sgprs


def measured_view(kernel: KernelReport, cut: Cutter) -> dict[str, Any] | None:
    """Return a kernel's measurements as text; ``None`` if there are none."""
    measured = kernel.measured
    if measured is UNSET:
        return None
    return {
        "gpu": measured.gpu,
        "standings": standings(measured),
        "matches": [match_words(match) for match in measured.matches],
        "comparisons": [
            {
                "title": one.title,
                "measured": quantity(one.measured, one.unit),
                "modelled": quantity(one.modelled, one.unit),
                "ratio": "" if one.ratio is None else f"{one.ratio:.2f}",
                "words": f"{one.standing}: {one.words}",
            }
            for one in measured.comparisons
        ],
        "loops": [
            {"words": loop_words(loop), "rows": loop_rows(loop)} for loop in cut("traced loops", measured.loops, _ROWS)
        ],
        "judgements": cut("judged findings", measured.judgements, _ROWS),
        "facts": [{"title": fact.title, "words": fact_words(fact)} for fact in cut("facts", measured.facts, _ROWS)],
        "notes": cut("notes of the measurement", measured.notes, _ROWS),
    }
