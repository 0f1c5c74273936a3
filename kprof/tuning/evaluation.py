"""One configuration with what is known of it: what every search gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.document import KernelReport
    from kprof.tuning.trials.measure import Measure


@dataclass(frozen=True)
class Evaluation:
    """A configuration that was compiled and judged, or that could not be.

    Times are predicted, of all that a call launches, in microseconds.

    Attributes:
        config: every knob and environment switch.
        change: the knobs that differ from the start of the search, with their new values; empty for the start.
        error: why it did not compile; ``None`` where it did.
        time_us, low_us, high_us: the time with its bounds; ``None`` where a loop's bound is not known or nothing was
            predicted.
        cycles_per_element: where a loop's bound is not known: cycles for each element of ``axis``, of all launches with
            such a loop.
        axis: what that bound depends on; empty where there is a time.
        bound: what limits the longest of its launches.
        resources: of the kernel itself.
        codes: hashes of the programs it launches; configurations with the same ones are one program.
        shares: of the time, by cause; empty where they are not known.
        parts: launches besides the kernel itself, with their times; they are inside ``time_us``.
        assumptions: what was assumed.
        alike: further configurations that lead to the same program and launch.
        measured_ms: median time on a GPU in milliseconds, when it was measured.
        note: what else there is to say, such as a wrong result on the GPU.
        given: ``time_us`` is a measurement that the user gave.
        report: the kernel's report; ``None`` where it was not analysed whole.
        measure: the figures of its resources; ``None`` likewise.
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
        """Microseconds, or cycles an element where no time is known; ``None`` without either."""
        return self.cycles_per_element if self.time_us is None else self.time_us

    @property
    def rank(self) -> float:
        """The cost to sort by: those without one come last."""
        return inf if self.cost is None else self.cost
