"""Find the addresses that a compiled kernel without a TTGIR accesses, by executing its code for single lanes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from kprof.analysis import KernelFacts
from kprof.inputs.amdgcn import AssemblyKernel, Instruction, InstructionClass
from kprof.inputs.amdgcn.operands import registers
from kprof_analyzers.lane_execution.addresses import address_of, address_operands
from kprof_analyzers.lane_execution.arithmetic import EXEC, NOTHING, Number, Source, State, Step, read
from kprof_analyzers.lane_execution.entry import first_registers, launch_memory
from kprof_analyzers.lane_execution.run import LaneProgram
from kprof_analyzers.lane_execution.slicing import LoopSlice, slice_of

_MOST_STEPS = 20_000
"""Maximum number of steps (blocks and instructions) of one lane. If a lane needs more, its addresses are unknown."""
Addresses: TypeAlias = Mapping[int, Number | None]
"""Address by position of the load or store instruction; ``None`` if the lane does not execute the instruction."""


@dataclass(frozen=True)
class ExecutedAccess:
    """Addresses of one load or store instruction, from its first execution if it is in a loop.

    Attributes:
        position: position of the instruction in the program.
        lanes: address of each lane in the launch's first workgroup; ``None`` for a lane that does not execute the
            access.
        firsts: address of lane 0 in each sampled workgroup; ``None`` for a workgroup that does not execute the access.
            Empty if unknown.
    """

    position: int
    lanes: Sequence[int | None]
    firsts: Sequence[int | None]


def executed_accesses(
    facts: KernelFacts, programs: Sequence[Sequence[int]], grid: Sequence[int]
) -> list[ExecutedAccess]:
    """Return the loads and stores whose addresses follow from the launch alone.

    Accesses that no lane executes are included. Each pointer is assumed to point to a buffer of its own, whose element
    ``n`` has the value ``n``.

    Args:
        facts: the kernel with the values of its arguments.
        programs: workgroups to sample, in x, y, z.
        grid: workgroups of the launch in x, y, z.
    """
    warps, wave = facts.resources.num_warps, facts.resources.wavefront_size
    required = facts.program.metadata.get(".reqd_workgroup_size")
    one_row = required[1:] == [1, 1] if isinstance(required, list) else not _uses_other_axes(facts.program)
    if not isinstance(warps, int) or not isinstance(wave, int) or not one_row:
        return []
    memory = launch_memory(facts, grid, wave * warps, buffers=True)
    part, places = _slice(facts.program)
    if part is None:
        return []
    prepared = LaneProgram(facts.program, part, wave, memory, {at: _record(at, a, wave) for at, a in places.items()})

    def run(program: Sequence[int], lane: int) -> Addresses:
        done = prepared.run(first_registers(facts, program, memory, lane), _MOST_STEPS)
        return {} if done.steps > _MOST_STEPS else {at: done.state.get(_address_key(at)) for at in places}

    lanes = _addresses_by_number(range(wave * warps), lambda lane: run((0, 0, 0), lane))
    wide, high, _ = grid
    numbers = [x + wide * (y + high * z) for x, y, z in programs]
    groups = _addresses_by_number(numbers, lambda n: run((n % wide, n // wide % high, n // wide // high), 0))
    found = [ExecutedAccess(at, lanes[at], groups.get(at, [])) for at in places if at in lanes]
    # If only other workgroups execute an access, its addresses in the first workgroup's lanes are unknown, so drop it.
    return [one for one in found if any(a is not None for a in one.lanes) or _never(one.firsts)]


def _never(firsts: Sequence[int | None]) -> bool:
    return bool(firsts) and all(address is None for address in firsts)


def _addresses_by_number(numbers: Sequence[int], run: Callable[[int], Addresses]) -> dict[int, list[int | None]]:
    """Return the addresses of each access for all lane or workgroup numbers, by position of the access.

    Accesses with unknown addresses are left out. Most addresses are a constant plus one term for each set bit of the
    number. Therefore only 0, the powers of two, and a few numbers as a check are executed.
    """
    first, most = run(0), max(numbers)
    if not first:
        return {}
    bits = [run(1 << n) for n in range(most.bit_length())]
    checks = [(n, run(n)) for n in {most, most * 2 // 3, most // 2, most // 3 | 1} if n & (n - 1) and n <= most]
    found: dict[int, list[int | None]] = {}
    for at, start in first.items():
        if all(each.get(at) is None for each in (first, *bits, *(each for _, each in checks))):
            found[at] = [None] * len(numbers)
            continue
        terms = [_difference(start, each.get(at)) for each in bits]
        if not isinstance(start, int) or any(isinstance(term, frozenset) for term in terms):
            continue
        known = [term for term in terms if not isinstance(term, frozenset)]
        if all(_sum(start, known, n) == each.get(at) for n, each in checks):
            found[at] = [_sum(start, known, n) for n in numbers]
    return found


def _difference(start: Number | None, other: Number | None) -> Number | None:
    """Return the difference of two addresses; ``None`` if the second access is not executed."""
    if isinstance(other, int) and isinstance(start, int):
        return other - start
    return None if other is None else NOTHING


def _sum(start: int, terms: Sequence[int | None], number: int) -> int | None:
    """Return an address plus the term of each bit of a number; ``None`` if one of these terms is ``None``."""
    chosen = [term for n, term in enumerate(terms) if number >> n & 1]
    return None if None in chosen else start + sum(term for term in chosen if term is not None)


def _uses_other_axes(program: AssemblyKernel) -> bool:
    return bool(program.directives.get("system_vgpr_workitem_id"))


def is_access(instruction: Instruction) -> bool:
    """Return whether an instruction loads or stores global memory, other than atomically."""
    opcode = instruction.opcode
    return opcode.cls is InstructionClass.VMEM and not opcode.is_atomic and (opcode.is_load or opcode.is_store)


@lru_cache(maxsize=2)
def _slice(program: AssemblyKernel) -> tuple[LoopSlice | None, Mapping[int, Source]]:
    """Return the instructions that addresses depend on, and a function for the address of each load and store.

    The first result is ``None`` if the program is too large, or if no access has a supported form of address.
    """
    places: dict[int, Source] = {}
    used: dict[int, frozenset[str]] = {}
    for instruction in program.instructions:
        if is_access(instruction):
            address = address_of(instruction)
            if address is not None:
                places[instruction.index] = address
                names = (registers(operand) for operand in address_operands(instruction))
                used[instruction.index] = frozenset(name for group in names for name in group)
    return slice_of(program, used) if places else None, places


def _address_key(position: int) -> str:
    """Return the key under which a lane's state holds the address of an access."""
    return f"address {position}"


def _record(position: int, address: Callable[[State], Number], wave: int) -> Step:
    """Return a step that stores the address of an access in the lane's state, only in the first execution."""
    name, mask = _address_key(position), EXEC[: wave // 32]

    def step(state: State) -> None:
        if name not in state and read(state, mask) != 0:
            state[name] = address(state)

    return step
