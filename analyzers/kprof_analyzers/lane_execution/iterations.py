"""Count the iterations of a compiled kernel's loops without a TTGIR, by executing its code for one lane."""

from collections.abc import Sequence

from kprof.analysis import KernelFacts
from kprof_analyzers.lane_execution.arithmetic import Unknown
from kprof_analyzers.lane_execution.entry import first_registers, launch_memory
from kprof_analyzers.lane_execution.run import LaneProgram, LaneRun
from kprof_analyzers.lane_execution.slicing import slice_of

_MOST_STEPS = 60_000
"""Maximum number of executed instructions of all sampled workgroups together: some tenths of a second."""
_WORKGROUPS = 64
"""Number of sampled workgroups if the iterations may depend on the workgroup."""
_EQUAL_COUNTS = 8
"""Number of workgroups with equal iteration counts after which no further workgroups are executed."""
_GOLDEN = 0.6180339887498949
"""The golden ratio minus 1. Its multiples vary the position of the sample within equal parts of the launch."""


def counted_iterations(
    facts: KernelFacts, programs: Sequence[Sequence[int]], grid: Sequence[int] | None
) -> dict[int, tuple[float, ...] | Unknown]:
    """Return the iterations of each loop per iteration of the loop around it, by number of the loop.

    Args:
        facts: the kernel with the values of its arguments.
        programs: workgroups to sample, in x, y, z.
        grid: workgroups of the launch in x, y, z; ``None`` if unknown.

    Returns:
        Iterations for each sampled workgroup, or the names of the unknown inputs that they depend on; empty if the
        program is too large.
    """
    lanes, warps = facts.resources.wavefront_size, facts.resources.num_warps
    wave = lanes if isinstance(lanes, int) else facts.arch.wavefront_size
    memory = launch_memory(facts, grid, wave * (warps if isinstance(warps, int) else 4))
    part = slice_of(facts.program)
    if part is None:
        return {}
    prepared = LaneProgram(facts.program, part, wave, memory)
    own = first_registers(facts, (0, 0, 0) if grid else None, memory)
    other = first_registers(facts, (1, 1, 1) if grid else None, memory)
    same = all(own.get(name) == other.get(name) for name in prepared.inputs)
    runs = [prepared.run(first_registers(facts, programs[0] if grid else None, memory), _MOST_STEPS)]
    if not same and grid:
        count = max(1, min(_WORKGROUPS, _MOST_STEPS // runs[0].steps, len(programs)))
        chosen = [programs[int((n + n * _GOLDEN % 1) * len(programs) / count)] for n in range(count)]
        # A few workgroups from all over the launch come first: if their counts are equal, no others are executed.
        apart = max(1, count // _EQUAL_COUNTS)
        chosen = [program for first in range(apart) for program in chosen[first::apart]]
        runs = []
        for program in chosen:
            runs.append(prepared.run(first_registers(facts, program, memory), _MOST_STEPS))
            if len(runs) == _EQUAL_COUNTS and all(run.visits == runs[0].visits for run in runs):
                break
    return {loop.index: _iterations(facts, loop.index, runs) for loop in facts.program.loops}


def _iterations(facts: KernelFacts, number: int, runs: Sequence[LaneRun]) -> tuple[float, ...] | Unknown:
    missing = [run.unknown[number] for run in runs if number in run.unknown]
    if missing:
        return frozenset[str]().union(*missing)
    loop = facts.program.loops[number]
    around = facts.program.loops[loop.parent] if loop.parent is not None else None

    def done(run: LaneRun, latches: Sequence[int]) -> int:
        return sum(run.visits.get(block, 0) for block in latches)

    return tuple(done(run, loop.latches) / max(1, done(run, around.latches) if around else 1) for run in runs)
