"""The result of evaluating one configuration, which every search returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.document import KernelReport
    from kprof.tuning.trials.measure import Measure


@dataclass(frozen=True)
class Evaluation:
    """The result of compiling and analysing a configuration, or the reason why that failed.

    Times are predicted microseconds of everything that a call launches.

    Attributes:
        config: every knob and environment switch.
        change: the knobs that differ from the start of the search, with their new values; empty for the start.
        error: why it did not compile; ``None`` if it compiled.
        time_us, low_us, high_us: the time with its lower and upper bound; ``None`` if a loop's number of iterations is
            not known or nothing was predicted.
        cycles_per_element: cycles per element of ``axis``, of all launches with a loop whose number of iterations is
            not known; ``None`` if there is no such loop.
        axis: the size that the number of iterations depends on; empty if there is a time.
        bound: bottleneck of the longest launch.
        resources: resources of the kernel itself.
        codes: hashes of the launched programs; configurations with equal hashes run the same programs.
        shares: shares of the time by cause; empty if not known.
        parts: launches besides the kernel itself, with their times, which ``time_us`` includes.
        assumptions: assumptions of the prediction, in words.
        alike: further configurations that lead to the same program and launch.
        measured_ms: median time on a GPU in milliseconds; ``None`` if it was not measured.
        note: a remark for the reader, such as a wrong result on the GPU.
        given: whether ``time_us`` is a measurement that the user gave with ``--measured``.
        report: the kernel's report; ``None`` without a complete analysis.
        measure: figures by which trials are compared; ``None`` without a complete analysis.
    """

    config: Mapping[str, Any]
    change: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    time_us: float | None = None
    low_us: float | None = None
    high_us: float | None = None
    cycles_per_element: float | None = None
    axis: str = ""
    bound: str = ""
    resources: Mapping[str, Any] = field(default_factory=dict)
    codes: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    alike: tuple[Mapping[str, Any], ...] = ()
    measured_ms: float | None = None
    note: str = ""
    given: bool = False
    report: "KernelReport | None" = None
    measure: "Measure | None" = None

    @property
    def cost(self) -> float | None:
        """Microseconds, or cycles per element if no time is known; ``None`` if neither is known."""
        return self.cycles_per_element if self.time_us is None else self.time_us

    @property
    def rank(self) -> float:
        """The cost as a sort key; evaluations without a cost sort last."""
        return inf if self.cost is None else self.cost
