"""How many instructions a wavefront executes, from a report: what can be compared where no time is known."""

from collections.abc import Sequence

from msgspec import UNSET

from kprof.document import KernelReport, LoopFacts


def executed_instructions(report: KernelReport) -> float | None:
    """Return the instructions that a wavefront executes, with the iterations that the model knows or assumes.

    ``None`` where the kernel was not modelled or its instructions were not seen.
    """
    if report.model is UNSET or not report.instructions:
        return None
    times = {loop.header: loop.trips * loop.entries for loop in report.model.loops}
    if any(loop.header not in times for loop in report.loops):
        return None
    executed = float(sum(report.instructions.values()))
    for loop, outer in zip(report.loops, _outer(report.loops), strict=True):
        around = 1.0 if outer is None else times[outer.header]
        # The loop's code counts once for each time that the code around it is executed already.
        executed += sum(loop.instructions.values()) * (times[loop.header] - around)
    return executed


def _outer(loops: Sequence[LoopFacts]) -> list[LoopFacts | None]:
    """Return for each loop the loop around it; loops are listed outer before inner."""
    around: list[LoopFacts] = []
    found: list[LoopFacts | None] = []
    for loop in loops:
        del around[loop.depth - 1 :]
        found.append(around[-1] if around else None)
        around.append(loop)
    return found
