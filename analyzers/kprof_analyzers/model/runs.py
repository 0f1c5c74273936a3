"""Types for the input and the result of a kernel's simulations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kprof.analysis import KernelFacts
from kprof.hardware.model import MatrixInstruction
from kprof_analyzers.matrix_instructions import matrix_instruction
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.launch import Spread
from kprof_analyzers.model.machine import Machine
from kprof_analyzers.model.outline import LoopNode, Node
from kprof_analyzers.model.passing import NOTHING, Passing
from kprof_analyzers.model.program import MATRIX, Code
from kprof_analyzers.model.setting import MemoryPath
from kprof_analyzers.model.simulate import SimulationResult
from kprof_analyzers.model.traffic import Access, Sharing
from kprof_analyzers.model.trips import Trips

_LARGE = 32
"""``Machine.matrix_large`` applies to matrix instructions with at least this number of rows."""


@dataclass(frozen=True)
class KernelModel:
    """Input that all simulations of a kernel share.

    Attributes:
        facts, machine, effects: arguments of the prediction, and the hardware.
        where: the launch's workgroups on the GPU.
        nodes, trips: path through the program, and the iterations of its loops.
        sharing, accesses: shares of loaded bytes that each memory level serves, and the global loads and stores.
        code, paths: the program and its memory paths in the simulator's form.
        l2_paths: ``paths`` without the limit by the CU's share of the bandwidth beyond L2; ``None`` if this share does
            not limit them.
        followed: share of misses, by position, of loads that mostly find their line in L2.
        simds: number of SIMDs that execute the same code, including the simulated one.
        waves: number of wavefronts of a workgroup that are simulated.
        passing: shares of loads and stores that allocate no line of the last-level cache.
        apart: whether a workgroup has fewer wavefronts than a CU has SIMDs; all SIMDs are then simulated instead of
            one.
        write_backs: number of L2 write-backs that a workgroup executes, and number that its busiest wavefront executes.
    """

    facts: KernelFacts
    machine: Machine
    effects: Effects
    where: Spread
    nodes: Sequence[Node]
    trips: Mapping[int, Trips]
    sharing: Sharing
    accesses: Sequence[Access]
    code: Code
    paths: Sequence[MemoryPath]
    simds: int
    waves: int
    apart: bool
    l2_paths: Sequence[MemoryPath] | None = None
    followed: Mapping[int, float] = field(default_factory=dict)
    passing: Passing = NOTHING
    write_backs: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Run:
    """Result of one simulation, scaled to all iterations of the loops.

    Attributes:
        result: result of the simulation.
        cycles: cycles of one round of workgroups with all iterations, averaged over workgroups that differ in them.
        longest: cycles of the longest workgroup, with all its iterations.
        iterations: number of simulated iterations of each loop.
        length: simulated steady-state cycles per iteration of each loop.
        powered: cycles per iteration of each loop after the effects of CUs out of step and of the power limit.
        waves: mean number of wavefronts on a SIMD.
        simulated: number of simulated wavefronts.
        steady: loops whose last simulated iterations were equally long.
    """

    result: SimulationResult
    cycles: float
    longest: float
    iterations: Mapping[int, int]
    length: Mapping[int, float]
    powered: Mapping[int, float]
    waves: float
    simulated: int
    steady: frozenset[int]


def matrix_cycles(model: KernelModel) -> tuple[float, float]:
    """Return the cycles that one wavefront occupies the matrix unit, at the unit's peak and within the power limit."""
    return matrix_cycles_of(model, model.nodes, 1.0)


def _power(machine: Machine, instruction: MatrixInstruction | None) -> float:
    """Return the factor by which an instruction's power draw changes the sustained share of the matrix units' peak."""
    if instruction is None:
        return 1.0
    large = machine.matrix_large if instruction.m >= _LARGE else 1.0
    return large * (machine.matrix_fp16 if instruction.type == "fp16" else 1.0)


def matrix_cycles_of(model: KernelModel, nodes: Sequence[Node], times: float) -> tuple[float, float]:
    """Return the cycles of :func:`matrix_cycles` for a part of the program that is executed ``times`` times."""
    peak = sustained = 0.0
    machine = model.machine
    for node in nodes:
        if isinstance(node, LoopNode):
            inner = matrix_cycles_of(model, node.body, times * model.trips[node.loop.index].mean)
            peak, sustained = peak + inner[0], sustained + inner[1]
            continue
        ops = model.code.ops
        for i in [i for i in node if ops[i][0] == MATRIX]:
            cycles = times * ops[i][1]
            shape = matrix_instruction(model.facts.arch, model.facts.program.instructions[i])
            peak += cycles
            sustained += cycles / (machine.matrix_sustained * _power(machine, shape))
    return peak, sustained
