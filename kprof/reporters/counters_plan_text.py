"""Text of ``kprof counters plan``, and input files for the profilers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kprof.hardware.machine import load
from kprof.inputs.completeness import ZERO_CURE
from kprof.output.headline import wrapped
from kprof.output.quantities import plural
from kprof.output.tables import rows_table

if TYPE_CHECKING:
    from kprof_analyzers.profiles.counters.planning import CollectionPlan

_PROGRAM = "your_program"


def verdict(plan: "CollectionPlan", product: str) -> str:
    """Return the number of passes, counters and questions, and the counters that cannot be collected."""
    counters = {counter for each in plan.passes for counter in each.counters}
    asked = plural(len(plan.questions), "question")
    uncounted = sorted({number for each in plan.questions for number in each.uncounted})
    lacking = f"; not counted on {plan.arch}: {', '.join(uncounted)}" if uncounted else ""
    if not plan.questions:
        return f"nothing to collect: no finding is decided by counters ({product})"
    if not counters:
        return f"no counters needed for {asked}: a kernel trace decides ({product}){lacking}"
    runs = f"{len(plan.passes)} pass{'' if len(plan.passes) == 1 else 'es'}"
    return f"{runs}, {plural(len(counters), 'counter')} for {asked} ({product}){lacking}"


def page(plan: "CollectionPlan") -> Iterator[str]:
    """Yield the questions, and the command line of each pass."""
    rows = [[each.name, each.about, ", ".join(each.numbers), str(len(each.counters))] for each in plan.questions]
    if rows:
        yield rows_table(["asks", "", "decided by", "counters"], rows)
    if not plan.passes:
        yield f"rocprofv3 --kernel-trace -f csv -d counters -- {_PROGRAM}"
        return
    yield ""
    for each in plan.passes:
        yield wrapped(f"rocprofv3 {each.option} --kernel-trace -f csv -d counters -- {_PROGRAM}", "    ")
    yield ""
    yield wrapped(f"rocprof-compute profile -n counters --block {' '.join(plan.blocks)} -- {_PROGRAM}", "    ")
    yield "rocprof-compute collects whole blocks: more passes than the lines above."
    if load(plan.arch).counter_formulas == "rdna":
        yield wrapped(f"If counters read 0: {ZERO_CURE}")


def input_files(plan: "CollectionPlan") -> dict[str, str]:
    """Return input files by name: passes for ``rocprofv3 -i``, and a command for rocprof-compute."""
    if not plan.passes:
        return {}
    jobs = "".join(
        f"  - pmc: [{', '.join(each.counters)}]\n    kernel_trace: true\n    output_format: [csv]\n"
        for each in plan.passes
    )
    blocks = " ".join(plan.blocks)
    return {
        "rocprofv3.txt": "".join(f"{each.line}\n" for each in plan.passes),
        "rocprofv3.yaml": f"jobs:\n{jobs}",
        "rocprof-compute.sh": f'#!/bin/sh\nexec rocprof-compute profile -n counters --block {blocks} -- "$@"\n',
    }
