"""Count the executions of each region of a program, so that rules can also judge code outside loops by its cost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kprof.analysis import KernelFacts
from kprof.inputs.amdgcn import AssemblyKernel, Instruction, InstructionClass, Loop
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import element_bytes, tile
from kprof_analyzers.memory.dataflow import global_loads
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.launch import samples, spread
from kprof_analyzers.model.machine import machine_of
from kprof_analyzers.model.outline import outline
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.trips import ASSUMED, Trips, loop_trips
from kprof_analyzers.scheduling.loops import own_instructions

_WORTH = 0.125
"""Code outside innermost loops is only judged if it has at least this share of the executed instructions of a kind."""


@dataclass(frozen=True)
class Region:
    """Instructions that are executed the same number of times.

    Attributes:
        loop: innermost loop of the instructions; ``None`` for code outside loops.
        instructions: the instructions, in order.
        times: mean number of executions by a wavefront; a guess if the launch does not determine it.
        innermost: whether the loop contains no other loop.
        alone: whether the kernel has no other region.
    """

    loop: Loop | None
    instructions: Sequence[Instruction]
    times: float
    innermost: bool
    alone: bool = False

    @cached_property
    def mix(self) -> Counter[InstructionClass]:
        """Number of instructions of each class, cached because many rules use it."""
        return Counter(i.opcode.cls for i in self.instructions)

    @property
    def header(self) -> str | None:
        """Label of the loop for the evidence of findings, or None outside loops."""
        return None if self.loop is None else self.loop.header

    @property
    def words(self) -> str:
        """Location of the region as a phrase that can follow "8 loads", such as "in loop .LBB0_1"."""
        if self.loop is not None:
            return f"in loop {self.loop.header}"
        return "in straight-line code" if self.alone else "outside loops"


@dataclass(frozen=True)
class _Program:
    """Regions and loop iterations of one kernel."""

    facts: KernelFacts
    trips: dict[int, Trips]
    regions: tuple[Region, ...]


# Cache of the last kernel: all rules run on one kernel before the next.
_last: list[_Program] = []


def _program(facts: KernelFacts) -> _Program:
    for known in _last:
        if known.facts is facts:
            return known
    trips = _iterations(facts) if facts.program.loops else {}
    found = _Program(facts, trips, tuple(_regions(facts.program, trips)))
    _last[:] = [found]
    return found


def regions(facts: KernelFacts) -> tuple[Region, ...]:
    """Return all regions of a program, loops first, in program order."""
    return _program(facts).regions


def significant_regions(facts: KernelFacts, *kinds: InstructionClass) -> list[Region]:
    """Return the innermost loops, and other regions with at least an eighth of the kernel's executed instructions.

    Only instructions of the given kinds count.
    """
    found = regions(facts)
    counts = [r.times * sum(r.mix[kind] for kind in kinds) for r in found]
    total = sum(counts)
    return [
        region
        for region, count in zip(found, counts, strict=True)
        if region.innermost or region.alone or (total and count >= _WORTH * total)
    ]


def executions(facts: KernelFacts, operation: Operation) -> float:
    """Return how often a workgroup executes a TTGIR operation, from the iterations of the loops around it."""
    times, around = 1.0, operation.loop
    if around is None:
        return times
    known = {t.operation.index: t.written for t in _program(facts).trips.values() if t.operation is not None}
    while around is not None:
        times *= known.get(around, ASSUMED)
        around = operation.module.operations[around].loop
    return times


def is_significant(facts: KernelFacts, load: Operation) -> bool:
    """Return whether a TTGIR load moves at least an eighth of the bytes that its kernel loads, over all iterations."""
    moved = {load.index: 0.0} | {
        op.index: executions(facts, op) * held.elements * size
        for op in global_loads(load.module)
        if (held := tile(op)) is not None and (size := element_bytes(op))
    }
    return moved[load.index] >= _WORTH * sum(moved.values())


def _iterations(facts: KernelFacts) -> dict[int, Trips]:
    """Return the iterations per entry of each loop of the assembly, by loop number."""
    nodes = outline(facts.program)
    evaluator = None
    lanes = facts.resources.wavefront_size
    size = lanes if isinstance(lanes, int) else facts.arch.wavefront_size
    machine = machine_of(facts.arch, facts.product, size, wgp=facts.program.registers.wgp_mode)
    where = spread(facts, machine, Effects())
    if facts.ttgir is not None:
        evaluator = Evaluator(facts.ttgir, facts.arguments, samples(where), where.grid, facts.contents)
    return loop_trips(facts, nodes, evaluator, where)


def _regions(program: AssemblyKernel, trips: Mapping[int, Trips]) -> list[Region]:
    if not program.loops:
        return [Region(None, program.instructions, 1.0, innermost=False, alone=True)]
    parents = {loop.parent for loop in program.loops}
    found = []
    for loop in program.loops:
        times, around = 1.0, loop
        while True:
            times *= trips[around.index].mean if around.index in trips else ASSUMED
            if around.parent is None:
                break
            around = program.loops[around.parent]
        found.append(Region(loop, own_instructions(program, loop), times, innermost=loop.index not in parents))
    inside = {i for loop in program.loops for i in loop.instructions}
    rest = [i for i in program.instructions if i.index not in inside]
    return [*found, Region(None, rest, 1.0, innermost=False)]
