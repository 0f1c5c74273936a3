"""A kernel made ready for simulations, and what one of them gave."""

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
"""Rows of the instructions that ``matrix_large`` is about."""


@dataclass(frozen=True)
class KernelModel:
    """Everything about a kernel that its simulations share.

    Attributes:
        facts, machine, effects: as given.
        where: the launch's workgroups on the GPU.
        nodes, trips: what the program runs, in order, and its loops' iterations.
        sharing, accesses: what is loaded from where.
        code, paths: the program and its memory accesses, as the simulator takes them.
        l2_paths: ``paths`` without the CU's share of what lies beyond L2; ``None`` where that limits nothing.
        followed: position of a load that mostly finds its line in L2 to the share that does not.
        simds: SIMDs that do the same as the simulated one.
        waves: wavefronts of a workgroup that are simulated.
        passing: shares of what is loaded and stored that take no line of the last-level cache.
        apart: workgroups have too few wavefronts for all SIMDs; all of these are simulated, not one for all.
        write_backs: write-backs of L2 that a workgroup executes, and those of its busiest wavefront.
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
    """One simulation and what it means for the whole loops.

    Attributes:
        result: of the simulation.
        cycles: of one round of workgroups, all iterations of all loops counted; the mean where workgroups differ.
        longest: the same for the workgroup with most iterations.
        iterations: simulated iterations of each loop.
        length: loop to the cycles of one iteration in the steady state, as simulated.
        powered: the same with memory that is shared by CUs out of step, at the clock that matrix units' power allows.
        waves: wavefronts on a SIMD, the mean of all of them.
        simulated: wavefronts that were simulated.
        steady: loops whose iterations had become equally long.
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
    """Cycles that one wavefront keeps the matrix unit in the whole kernel: at its peak, and at what power allows."""
    return matrix_cycles_of(model, model.nodes, 1.0)


def _power(machine: Machine, instruction: MatrixInstruction | None) -> float:
    """Of the sustained share, that of one kind of instruction; the hardware file says which draw more power."""
    if instruction is None:
        return 1.0
    large = machine.matrix_large if instruction.m >= _LARGE else 1.0
    return large * (machine.matrix_fp16 if instruction.type == "fp16" else 1.0)


def matrix_cycles_of(model: KernelModel, nodes: Sequence[Node], times: float) -> tuple[float, float]:
    """The same for a part of the program that is gone through ``times`` times."""
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
