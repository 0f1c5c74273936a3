"""Which measured numbers decide a rule's findings.

The limits are kprof's own: they say from where on a cost is worth an engineer's time, not what the hardware can do.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Answer = tuple[bool, str]
"""Whether the finding is confirmed, and the reason, with the numbers."""

Numbers = Mapping[str, float]

CONFLICTS = 0.1
"""Clocks of bank conflicts for each clock of access from which conflicts are said to be there."""
HELD = 0.75
"""Share of the computed occupancy that has to be reached for the limit to be what holds it."""
BUSY = 80.0
"""Percent of its peak from which a unit is what limits the kernel."""
SOME = 40.0
"""Percent of a unit's time from which saving some of its work can show."""
WAITING = 25.0
"""Percent of the wavefronts' time from which waiting is worth looking at."""


@dataclass(frozen=True)
class Question:
    """How a rule is decided.

    Attributes:
        needs: numbers that must be known.
        answer: from the numbers that are known, all of ``needs`` among them.
        may: numbers that the answer uses when they are known.
    """

    needs: tuple[str, ...]
    answer: Callable[[Numbers], Answer]
    may: tuple[str, ...] = ()


def _conflicts(numbers: Numbers) -> Answer:
    ratio = numbers["lds_conflicts_per_access"]
    return ratio >= CONFLICTS, f"{ratio:.2f} conflict clocks were counted for each clock of LDS access"


def _occupancy(numbers: Numbers) -> Answer:
    achieved, computed = numbers["waves_per_simd"], numbers["computed_waves_per_simd"]
    text = f"{achieved:.2f} of {computed:g} computed waves per SIMD were achieved"
    if achieved > 1.05 * computed:
        return False, f"{text}: more than the compiled kernel allows, so another program was measured"
    if achieved >= HELD * computed:
        return True, f"{text}: the limit is what holds it"
    return False, f"{text}: something else, such as the grid or its tail, holds it lower"


def _tail(numbers: Numbers) -> Answer:
    achieved, computed = numbers["waves_per_simd"], numbers["computed_waves_per_simd"]
    text = f"{achieved:.2f} of {computed:g} computed waves per SIMD were achieved"
    return achieved < 0.9 * computed, text


def _scratch(numbers: Numbers) -> Answer:
    size = numbers["scratch_bytes"]
    if size:
        return True, f"the launch was given {size:g} B of scratch a work-item; its accesses are not counted apart"
    return False, "the launch was given no scratch: what was measured does not spill"


def _latency(numbers: Numbers) -> Answer:
    wait = numbers["wait_share"]
    text = f"wavefronts waited {wait:.0f} % of their time (waits of every kind)"
    if unit := _busy_unit(numbers):
        return False, f"{text}, but {unit}: other wavefronts hide it"
    return wait >= WAITING, text


def _memory(numbers: Numbers) -> Answer:
    hbm, wait = numbers["hbm_percent_of_peak"], numbers["wait_share"]
    text = f"HBM at {hbm:.0f} % of its peak, wavefronts waited {wait:.0f} % of their time"
    if hbm >= BUSY:
        return False, f"{text}: the bandwidth is reached all the same"
    if unit := _busy_unit(numbers):
        return False, f"{text}, but {unit}"
    return wait >= WAITING, text


def _busy_unit(numbers: Numbers) -> str:
    for name, unit in (("mfma_utilization", "the matrix unit was"), ("valu_utilization", "the VALU was")):
        if numbers.get(name, 0.0) >= BUSY:
            return f"{unit} busy {numbers[name]:.0f} % of the time"
    return ""


def _matrix(numbers: Numbers) -> Answer:
    busy = numbers["mfma_utilization"]
    return busy >= SOME, f"the matrix unit was busy {busy:.0f} % of the time"


def _vector(numbers: Numbers) -> Answer:
    busy = numbers["valu_utilization"]
    return busy >= SOME, f"the VALU was busy {busy:.0f} % of the time"


def _lds(numbers: Numbers) -> Answer:
    busy = numbers["lds_percent_of_peak"] + numbers["lds_conflict_share"]
    return busy >= SOME, f"the LDS was busy {busy:.0f} % of the time, conflicts included"


def _no_matrix(numbers: Numbers) -> Answer:
    count = numbers["mfma_per_wave"]
    return count == 0, f"{count:,.0f} matrix instructions a wavefront were counted"


def _grid(numbers: Numbers) -> Answer:
    workgroups, units = numbers["workgroups"], numbers["cus"]
    return workgroups < units, f"{workgroups:,.0f} workgroups were launched on {units:g} CUs"


def _ran(numbers: Numbers) -> Answer:
    count = numbers["dispatches"]
    return False, f"it ran {count:,.0f} times: what was measured can be launched"


_UNITS = ("mfma_utilization", "valu_utilization")
_LATENCY = Question(("wait_share",), _latency, _UNITS)
_OCCUPANCY = Question(("waves_per_simd", "computed_waves_per_simd"), _occupancy)
_SCRATCH = Question(("scratch_bytes",), _scratch)
_LDS = Question(("lds_percent_of_peak", "lds_conflict_share"), _lds)
_MATRIX = Question(("mfma_utilization",), _matrix)

QUESTIONS: Mapping[str, Question] = {
    "KP101": Question(("hbm_percent_of_peak", "wait_share"), _memory, _UNITS),
    "KP111": _LDS,
    "KP112": Question(("lds_conflicts_per_access",), _conflicts),
    "KP204": _LATENCY,
    "KP205": _LATENCY,
    "KP206": _LATENCY,
    "KP301": _SCRATCH,
    "KP302": _SCRATCH,
    "KP303": _OCCUPANCY,
    "KP305": _SCRATCH,
    "KP401": Question(("dispatches",), _ran),
    "KP402": Question(("dispatches",), _ran),
    "KP403": _OCCUPANCY,
    "KP404": Question(("workgroups", "cus"), _grid),
    "KP405": Question(("waves_per_simd", "computed_waves_per_simd"), _tail),
    "KP501": Question(("mfma_per_wave",), _no_matrix),
    "KP503": _LDS,
    "KP504": _MATRIX,
    "KP505": _MATRIX,
    "KP506": Question(("valu_utilization",), _vector),
    "KP507": Question(("valu_utilization",), _vector),
    "KP508": _MATRIX,
    "KP604": _LATENCY,
}
"""Rule to what decides it. Of a rule that is not here, no number that profilers give decides."""
