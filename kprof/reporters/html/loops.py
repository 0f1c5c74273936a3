"""The table of loops: what an iteration does, from the document's facts, and how long it takes, from its model."""

from typing import Any

from msgspec import UNSET

from kprof.document import KernelReport, LoopFacts, LoopPrediction
from kprof.reporters._loop_names import lines_of, summary
from kprof.reporters.html.charts import cause_name, segments

_MOST_WAITS, _MOST_CAUSES = 24, 12


def loop_rows(kernel: KernelReport) -> list[dict[str, Any]]:
    """A row for each loop, outer before inner."""
    modelled = {} if kernel.model is UNSET else {loop.header: loop for loop in kernel.model.loops}
    return [_row(loop, modelled.get(loop.header), kernel) for loop in kernel.loops]


def _row(loop: LoopFacts, model: LoopPrediction | None, kernel: KernelReport) -> dict[str, Any]:
    where = lines_of(loop, kernel)
    what = summary(loop, kernel).removeprefix(where).strip()
    row: dict[str, Any] = {
        "header": loop.header,
        "depth": loop.depth,
        "hot": loop.hot,
        "where": where,
        "what": what,
        "instructions": sum(loop.instructions.values()),
        "spills": loop.spill_accesses,
        "iterations": "",
        "assumed": False,
        "cycles": "",
        "causes": [],
        "words": "",
        "matrix": "",
    }
    if model is not None:
        whole = sum(model.causes.values()) or 1.0
        row |= {
            "iterations": f"{model.trips:,.4g}",
            "assumed": not model.trips_known,
            "cycles": f"{model.cycles_per_iteration:,.0f}",
            "causes": segments(model.causes, whole, 0.005 * whole)[:_MOST_CAUSES],
            "words": ", ".join(
                f"{cause_name(cause)} {100 * value / whole:.0f} %"
                for cause, value in list(model.causes.items())[:_MOST_CAUSES]
            ),
            "matrix": f"{100 * model.matrix_share:.0f} %",
        }
    return row


def hot_waits(kernel: KernelReport) -> list[dict[str, Any]]:
    """The hot loop's waits with what hides the latency, the least hidden first."""
    hot = next((loop for loop in kernel.loops if loop.hot), None)
    if hot is None:
        return []
    waits = [wait for wait in hot.wait_distances if wait.waits_for is not None]
    return [
        {
            "wait": wait.wait,
            "for": wait.waits_for,
            "instructions": wait.instructions,
            "cycles": wait.cycles,
            "matrix": wait.matrix,
            "line": wait.line,
        }
        for wait in sorted(waits, key=lambda wait: (wait.cycles is None, wait.cycles or 0))[:_MOST_WAITS]
    ]
