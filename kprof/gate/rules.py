"""Rules that the gate itself checks, in addition to the analyzers' rules."""

from dataclasses import dataclass
from typing import Literal

from kprof.findings import Finding, Severity
from kprof.output.quantities import duration, three_digits

MARK = "gate"
"""Key in a finding's evidence under which the gate stores its decision: one of the values below."""

BLOCK = "block"
"""Key in a finding's evidence for configuration lines that the user can add to make the check possible."""

FAILS = "fails"
ALLOWED = "allowance"
KNOWN = "baseline"
UNKNOWN = "cannot tell"


@dataclass(frozen=True)
class GateRule:
    """Identity and explanation of one of the gate's own rules."""

    id: str
    name: str
    severity: Severity
    help: str


OVER_BUDGET = GateRule(
    "KP011",
    "over-budget",
    Severity.ERROR,
    "A kernel exceeds a budget of the configuration.\n\n"
    "The most specific budget applies: for the kernel on this architecture, for the kernel, for the "
    "architecture, for all kernels. Lower the use of the resource, raise the budget, or allow the excess until a date.",
)
WORSE = GateRule(
    "KP012",
    "worse-than-baseline",
    Severity.ERROR,
    "A watched metric of a kernel is worse than in the baseline.\n\n"
    "The baseline entry has the same kernel, specialisation, architecture and Triton. If the change "
    "is intended, run `kprof check --update-baseline` and commit the file, or allow it until a date.",
)
CANNOT_TELL = GateRule(
    "KP013",
    "cannot-tell",
    Severity.WARNING,
    "Something could not be compiled, read, measured or compared.\n\n"
    "The message contains the reason. Whether the kernel is good or bad in this respect is unknown.",
)
CANNOT_LAUNCH = GateRule(
    "KP014",
    "cannot-launch",
    Severity.ERROR,
    "A kernel compiles, but every launch of it fails, because its workgroup exceeds a limit of the architecture.\n\n"
    "The finding fails even if the baseline or an ignore comment accepts it. Configurations that an "
    "autotuner may skip are not reported by this rule. Make the tile smaller, or allow the finding until a date.",
)
DOES_NOT_COMPILE = GateRule(
    "KP015",
    "does-not-compile",
    Severity.ERROR,
    "The compiler rejects a kernel.\n\n"
    "The message contains the compiler's message and the line. If the compiler crashes or takes too "
    "long, the result is *cannot tell*, because it may succeed on another machine.",
)
STALE = GateRule(
    "KP016",
    "stale-capture",
    Severity.WARNING,
    "The sources of a capture have changed since it was recorded.\n\n"
    "The program may now launch other kernels than those in the capture. The message contains the "
    "command that records it again; with `[[tool.kprof.program]]` the check records the program itself.",
)
GATE_RULES = (OVER_BUDGET, WORSE, CANNOT_TELL, CANNOT_LAUNCH, DOES_NOT_COMPILE, STALE)
FATAL = frozenset({CANNOT_LAUNCH.id, DOES_NOT_COMPILE.id})
"""Rules whose findings fail regardless of the baseline. They are shown first."""

Metric = Literal[
    "vgpr_spills", "sgpr_spills", "scratch_bytes", "lds_bytes", "vgpr_allocated", "sgpr", "waves_per_simd",
    "time_us", "cycles_per_element", "executed_instructions", "executed_bytes", "executed_matrix", "code_instructions",
]  # fmt: skip
COSTS: tuple[Metric, ...] = ("time_us", "cycles_per_element", "executed_instructions")
"""Metrics for the cost of a launch, the best one first. The first metric that both sides have is compared."""
WORK: tuple[Metric, ...] = ("executed_instructions", "executed_bytes", "executed_matrix")
"""Metrics for the work of a wavefront. If no time is known, all of them are compared."""

METRIC_WORDS = {
    "time_us": "predicted",
    "cycles_per_element": "cycles per element predicted",
    "executed_instructions": "instructions executed by a wavefront",
    "executed_bytes": "bytes of global memory moved by a lane",
    "executed_matrix": "matrix instructions executed by a wavefront",
    "vgpr_spills": "VGPRs spilled",
    "sgpr_spills": "SGPRs spilled",
    "scratch_bytes": "bytes of scratch per lane",
    "lds_bytes": "bytes of LDS per workgroup",
    "vgpr_allocated": "vector registers allocated",
    "sgpr": "SGPRs",
    "waves_per_simd": "waves per SIMD",
    "code_instructions": "instructions of code",
}
"""Words that follow the number of a metric in messages; the most important metric first."""


def number_of(metric: str, value: float) -> str:
    """Return the value of a metric as text, with a unit for times."""
    if metric == "time_us":
        return duration(value)
    return three_digits(value) if metric in (*COSTS, *WORK) else f"{value:,g}"


def in_words(metric: str, value: float) -> str:
    """Return a metric's value in words: ``49 VGPRs spilled``, ``1.81 ms predicted``."""
    return f"{number_of(metric, value)} {METRIC_WORDS[metric]}"


def step_of(finding: Finding) -> str:
    """Return the change of a metric that is worse than the baseline or over budget, else "".

    For example ``VGPRs spilled 0 → 49``.
    """
    metric = finding.evidence.get("metric")
    if metric not in METRIC_WORDS or "value" not in finding.evidence:
        return ""
    words = "predicted time" if metric == "time_us" else METRIC_WORDS[metric]
    value = finding.evidence["value"]
    now = number_of(metric, value)
    if "baseline" in finding.evidence:
        before = finding.evidence["baseline"]
        factor = f" ({value / before:.3g}x)" if metric in (*COSTS, *WORK) else ""
        return f"{words} {number_of(metric, before)} → {now}{factor}"
    return f"{words} {now} (budget {number_of(metric, finding.evidence['budget'])})"
