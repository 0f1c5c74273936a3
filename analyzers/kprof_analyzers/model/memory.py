"""Compute bandwidth and latency of loads, stores and register spills from the memory level of their data."""

from collections.abc import Sequence
from functools import lru_cache

from kprof.analysis import KernelFacts
from kprof.inputs.amdgcn import AssemblyKernel, Instruction, InstructionClass
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.launch import Spread
from kprof_analyzers.model.machine import Machine
from kprof_analyzers.model.program import PARTS
from kprof_analyzers.model.setting import MemoryPath
from kprof_analyzers.model.traffic import Sharing
from kprof_analyzers.scheduling.loops import beside_arithmetic, hot_loop


def memory_paths(
    facts: KernelFacts,
    machine: Machine,
    effects: Effects,
    where: Spread,
    shared: Sharing,
    *,
    last: bool = False,
    near_only: bool = False,
) -> tuple[MemoryPath, ...]:
    """Return the memory paths of a CU, in a fixed order.

    The order is: loads, stores, scratch accesses, loads that mostly hit in L2 by increasing share of misses, streaming
    loads. Workgroups share the bandwidth equally, so the busiest CU, which has one workgroup more than others, gets a
    larger share.

    Args:
        facts: the kernel.
        machine: the hardware.
        effects: effects that the model takes into account.
        where: the launch's workgroups on the GPU.
        shared: shares of the loads that miss each cache.
        last: whether to model the last round, in which even the busiest CU is not full.
        near_only: whether to count only the path between a CU and L2, and not its share of the bandwidth beyond L2.
    """
    units = machine.units or 1
    spare = max(1.0, units * (where.last if last else where.resident) / where.running(units, last=last))
    rate = min(machine.vector_bytes * spare, machine.figures["l1_sustained"] * machine.l1_bytes)
    near = shared.beyond_l2 if effects.l2_traffic else 1.0
    far = shared.beyond_mall if effects.l2_traffic else 1.0
    # A short run fills only part of an L2 line between L2 and the CU, and part of a channel's interleave behind L2.
    effort, distant = (shared.effort, shared.effort_beyond) if effects.short_runs else (1.0, 1.0)
    load = near_load = effort / rate
    streamed = load / machine.streaming
    if "mall" in machine.level_bytes and not near_only:
        load = max(load, distant * near / (machine.level_bytes["mall"] * spare))
    if "hbm" in machine.level_bytes and not near_only:
        beyond = far if "mall" in machine.level_bytes else near
        load = max(load, distant * beyond / (machine.level_bytes["hbm"] * spare))
    # Streaming loads find nothing in the vector cache; beyond L2 they behave like other loads.
    streamed = max(streamed, load)
    busy = where.active / (machine.units or where.active)
    latency = _latency(machine, near, far, busy) if effects.memory_latency else 0.0
    store = 1 / rate
    if not effects.vector_memory:
        load = near_load = store = streamed = 0.0
    scratch = _scratch(facts, machine, where, rate)
    answer = machine.latency_of("l2") if effects.memory_latency else 0.0
    near_latency = _latency(machine, 0.0, 0.0, busy) if effects.memory_latency else 0.0
    missing = [part / PARTS for part in range(PARTS // 2 + 1)]
    followed = [MemoryPath(load * m + near_load * (1 - m), latency * m + near_latency * (1 - m)) for m in missing]
    first = MemoryPath(load, latency), MemoryPath(store, answer), scratch
    return *first, *followed, MemoryPath(streamed, latency)


def _latency(machine: Machine, near: float, far: float, busy: float = 1.0) -> float:
    """Return the mean latency of waiting for two loaded tiles, each of which may come from beyond L2.

    Args:
        machine: the hardware.
        near: share of loads that miss L2.
        far: share of loads that also miss the Infinity Cache.
        busy: share of the CUs that load.
    """
    l2, mall, hbm = machine.latency_of("l2"), machine.latency_of("mall", "hbm"), machine.latency_of("hbm")
    missing = 1 - (1 - near) ** 2
    distant = 1 - (1 - min(far, near)) ** 2 if "mall" in machine.latency else missing
    loaded = 1 + (machine.loaded - 1) * busy
    return loaded * (l2 + (missing - distant) * (mall - l2) + distant * (hbm - l2))


def _scratch(facts: KernelFacts, machine: Machine, where: Spread, rate: float) -> MemoryPath:
    """Return the path of scratch accesses. It leads to the first cache level that can hold all wavefronts' spills."""
    spilled = spilled_bytes(facts.program)
    lanes = machine.lanes
    warps = facts.resources.num_warps
    on_unit = spilled * lanes * (warps if isinstance(warps, int) else machine.simds) * where.resident
    levels = machine.product.memory if machine.product is not None else machine.arch.memory
    l1 = levels["l1"].size_bytes if "l1" in levels else None
    if not on_unit or (l1 is not None and on_unit <= l1):
        # The vector cache writes through and allocates no line for a store, so reloads of recent spills go to L2.
        written = respilled_share(facts.program)
        near = _latency(machine, 0.0, 0.0, where.active / (machine.units or where.active))
        cycles = (1 - written) / machine.l1_bytes + written / rate
        return MemoryPath(cycles, (1 - written) * machine.latency_of("l1") + written * near)
    units = max(1, (machine.units or 1) // machine.xcds)
    l2 = levels["l2"].size_bytes if "l2" in levels else None
    missing = 0.0 if not l2 else max(0.0, 1 - l2 / (on_unit * units))
    if not missing:
        return MemoryPath(1 / rate, machine.latency_of("l2"))
    mall = levels["mall"].size_bytes if "mall" in levels else None
    beyond = 1.0 if not mall else max(0.0, 1 - mall / (on_unit * (machine.units or 1)))
    cycles = 1 / rate
    if "mall" in machine.level_bytes:
        cycles = max(cycles, missing / machine.level_bytes["mall"])
    if "hbm" in machine.level_bytes:
        cycles = max(cycles, missing * beyond / machine.level_bytes["hbm"])
    return MemoryPath(cycles, _latency(machine, missing, missing * beyond))


def spilled_bytes(program: AssemblyKernel) -> int:
    """Return the distinct scratch bytes that a lane accesses in the hot loop, or in the kernel if it has no loop."""
    places: dict[str, int] = {}
    for place, instruction in _spills(program):
        places[place] = max(places.get(place, 0), instruction.opcode.bytes_per_lane or 4)
    return sum(places.values())


def respilled_share(program: AssemblyKernel) -> float:
    """Return the share of the hot loop's scratch reloads whose location the loop also writes.

    In a kernel without loops, the whole kernel counts.
    """
    spills = _spills(program)
    written = {place for place, instruction in spills if instruction.opcode.is_store}
    read = [place for place, instruction in spills if not instruction.opcode.is_store]
    return sum(place in written for place in read) / len(read) if read else 0.0


@lru_cache(maxsize=2)
def _spills(program: AssemblyKernel) -> Sequence[tuple[str, Instruction]]:
    """Return the location and instruction of each scratch access in the hot loop, or in a kernel without loops."""
    if all(i.opcode.cls is not InstructionClass.SCRATCH for i in beside_arithmetic(program)):
        return ()
    members: Sequence[int] = range(len(program.instructions))
    if program.loops:
        members = hot_loop(program).instructions
    found = []
    for i in members:
        instruction = program.instructions[i]
        if instruction.opcode.cls is InstructionClass.SCRATCH:
            offset = instruction.modifiers.get("offset", "0")
            # The data register is the first operand, except in scratch_store, where it is the second.
            moved = int(instruction.opcode.name.startswith("scratch_store"))
            address = [operand for n, operand in enumerate(instruction.operands) if n != moved]
            place = offset if "off" in address else " ".join((*address, offset))
            found.append((place, instruction))
    return found
