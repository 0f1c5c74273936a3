"""Questions that measured numbers answer, to confirm or refute a rule's findings.

The thresholds were chosen for kprof and are no limits of the hardware. A cost above its threshold justifies an
engineer's time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Answer = tuple[bool, str]
"""Whether the finding is confirmed, and the reason including the numbers."""

Numbers = Mapping[str, float]

HELD = 0.75
"""A computed occupancy limit counts as the cause if measured occupancy is at least this share of the computed one."""
BUSY = 80.0
"""A unit that reaches at least this percentage of its peak counts as the kernel's bottleneck."""
SOME = 40.0
"""If a unit is busy for at least this percentage of the time, saving some of its work can have a visible effect."""
WAITING = 25.0
"""Waiting is significant if it takes at least this percentage of the wavefronts' time."""
CONFLICTS = 0.1
"""Bank conflicts are significant if the ratio of conflict cycles to access cycles is at least this number."""


@dataclass(frozen=True)
class RuleQuestion:
    """The question whose answer from measured numbers confirms or refutes a rule's findings.

    Attributes:
        needs: names of the numbers that must be known.
        answer: function that decides, given the known numbers; these include all of ``needs``.
        may: names of further numbers that ``answer`` uses if they are known.
    """

    needs: tuple[str, ...]
    answer: Callable[[Numbers], Answer]
    may: tuple[str, ...] = ()


def achieved(numbers: Numbers) -> tuple[float, float, str]:
    """Return the measured and the computed wavefronts per SIMD, and a text that states both."""
    measured, computed = numbers["waves_per_simd"], numbers["computed_waves_per_simd"]
    return measured, computed, f"{measured:.2f} of {computed:g} computed waves per SIMD were achieved"


def busy_unit(numbers: Numbers) -> str:
    """Describe the unit that is the bottleneck (see :data:`BUSY`); return "" if there is none."""
    for name, unit in (("mfma_utilization", "the matrix unit was"), ("valu_utilization", "the VALU was")):
        if name in numbers and numbers[name] >= BUSY:
            return f"{unit} busy {numbers[name]:.0f} % of the time"
    return ""


def _occupancy(numbers: Numbers) -> Answer:
    measured, computed, text = achieved(numbers)
    if measured > 1.05 * computed:
        return False, f"{text}: more than the compiled kernel allows, so another program was measured"
    if measured >= HELD * computed:
        return True, f"{text}: the limit is the cause"
    return False, f"{text}: the cause is something else, such as the grid or its tail"


def _scratch(numbers: Numbers) -> Answer:
    size = numbers["scratch_bytes"]
    if size:
        return True, f"the launch was given {size:g} B of scratch a work-item; its accesses are not counted separately"
    return False, "the launch was given no scratch: the measured kernel does not spill"


def _latency(numbers: Numbers) -> Answer:
    wait = numbers["wait_share"]
    text = f"wavefronts waited {wait:.0f} % of their time (waits of every kind)"
    if unit := busy_unit(numbers):
        return False, f"{text}, but {unit}: other wavefronts hide it"
    return wait >= WAITING, text


def _matrix(numbers: Numbers) -> Answer:
    busy = numbers["mfma_utilization"]
    return busy >= SOME, f"the matrix unit was busy {busy:.0f} % of the time"


def _vector(numbers: Numbers) -> Answer:
    busy = numbers["valu_utilization"]
    return busy >= SOME, f"the VALU was busy {busy:.0f} % of the time"


def _lds(numbers: Numbers) -> Answer:
    busy = numbers["lds_percent_of_peak"] + numbers["lds_conflict_share"]
    return busy >= SOME, f"the LDS was busy {busy:.0f} % of the time, conflicts included"


def _ran(numbers: Numbers) -> Answer:
    count = numbers["dispatches"]
    return False, f"it ran {count:,.0f} times: the measured kernel can be launched"


UNITS = ("mfma_utilization", "valu_utilization")
LATENCY = RuleQuestion(("wait_share",), _latency, UNITS)
OCCUPANCY = RuleQuestion(("waves_per_simd", "computed_waves_per_simd"), _occupancy)
SCRATCH = RuleQuestion(("scratch_bytes",), _scratch)
LDS = RuleQuestion(("lds_percent_of_peak", "lds_conflict_share"), _lds)
MATRIX = RuleQuestion(("mfma_utilization",), _matrix)
VECTOR = RuleQuestion(("valu_utilization",), _vector)
RAN = RuleQuestion(("dispatches",), _ran)
