"""The modelled wavefronts of a SIMD over time: issued instructions, waits with their causes, and busy units."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.live.listings import kernel_of

if TYPE_CHECKING:
    from kprof.analysis import KernelFacts

Step = tuple[int, float, float, int, int]
"""Row of ``issue`` or ``wait``: wavefront, start and end in cycles, instruction, cause.

The wavefront, the instruction and the cause are indices.
"""


@dataclass(frozen=True)
class Wavefronts:
    """Result of simulating the wavefronts for a few iterations of each loop.

    All times are modelled, in cycles of the CU.

    Attributes:
        kernel: name of the kernel.
        cycles: cycles until the last wavefront ended.
        clock_mhz: modelled clock in MHz, which converts cycles to time.
        waves: names of the wavefronts of one SIMD, or of all SIMDs if workgroups are smaller than a CU.
        units: names of the hardware units.
        causes: causes that time is attributed to.
        instructions: ``[assembly line, text]``; steps refer to them by index.
        issue, wait: ``[wave, start, end, instruction, cause]``, with indices of instructions and causes.
        busy: ``[unit, start, end, instruction]``.
        loops: ``[wave, start, end, iteration, assembly line of the loop's first instruction]``.
        notes: assumptions of the model.
    """

    kernel: str
    cycles: float
    clock_mhz: float
    waves: list[str]
    units: list[str]
    causes: list[str]
    instructions: list[tuple[int, str]]
    issue: list[Step]
    wait: list[Step]
    busy: list[tuple[int, float, float, int]]
    loops: list[tuple[int, float, float, int, int]]
    notes: list[str]


def wavefronts(target: str, kernel: int = 0, **options: Any) -> Wavefronts:
    """Simulate the wavefronts of one kernel of a target.

    Args:
        target: as for :func:`kprof.analyze`.
        kernel: position among the target's kernels.
        options: compile options, as for :func:`kprof.analyze`.

    Raises:
        TargetError: the kernel does not exist, or its instructions are not known.
        KprofError: as :func:`kprof.analyze`.
    """
    from kprof.errors import TargetError
    from kprof_analyzers.pipeline import facts_of

    found = kernel_of(target, kernel, **options)
    if not found.program.instructions:
        raise TargetError("the instructions are not known, so no wavefront can be simulated", path=target)
    return simulated(facts_of(found)[0])


def simulated(facts: "KernelFacts") -> Wavefronts:
    """Simulate the wavefronts of a kernel from its facts."""
    from kprof_analyzers.model.kernel import build
    from kprof_analyzers.model.simulate import CAUSES
    from kprof_analyzers.model.wave_timeline import PIPES, is_wait, record

    model = build(facts)
    recorder = record(model)
    places: dict[int, int] = {}
    names = [divmod(wave, recorder.waves) for wave in range(len(recorder.at))]
    issue: list[Step] = []
    wait: list[Step] = []
    for step in recorder.steps:
        at = places.setdefault(step.position, len(places))
        one = (step.wave, round(step.start, 1), round(step.end, 1), at, CAUSES.index(step.cause))
        (wait if is_wait(step) else issue).append(one)
    busy = [
        (one.pipe, round(one.start, 1), round(one.end, 1), places.setdefault(one.position, len(places)))
        for one in recorder.busy
    ]
    instructions = facts.program.instructions
    loops = {loop.index: instructions[min(loop.instructions)].line for loop in facts.program.loops}
    which = "all SIMDs of the CU" if model.apart else f"one SIMD; the CU's {model.simds} do the same"
    return Wavefronts(
        facts.name,
        round(max((step.end for step in recorder.steps), default=0.0), 1),
        model.machine.clock_mhz,
        [f"workgroup {group} wavefront {member}" for group, member in names],
        list(PIPES),
        list(CAUSES),
        [(instructions[position].line, instructions[position].text.strip()) for position in places],
        issue,
        wait,
        busy,
        [(one.wave, round(one.start, 1), round(one.end, 1), one.number, loops[one.loop]) for one in recorder.passes],
        [f"modelled: wavefronts of {which}, a few iterations of each loop", *model.where.assumptions],
    )
