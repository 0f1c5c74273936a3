"""Registers of a wavefront at its first instruction, and the kernel's arguments in memory.

Source: LLVM, User Guide for AMDGPU Backend, "Initial Kernel Execution State" and "Kernel Dispatch Packet".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kprof.analysis import KernelFacts
from kprof.inputs.amdgcn.arguments import KernelArgument, kernel_arguments, word_offset
from kprof_analyzers.lane_execution.arithmetic import LANE, MEMORY, NOTHING, Number, State, write
from kprof_analyzers.memory.dataflow import arguments as written_arguments

_ARGUMENTS, _PACKET = 1 << 40, 1 << 41
"""Assumed addresses of the argument segment and the dispatch packet, further apart than any instruction's offset."""
_BUFFER, _MOST_BUFFERS = 1 << 36, 512
_FIRST_BUFFER = 1 << 42
"""Address of the first invented buffer; pointer arguments get consecutive buffers of ``_BUFFER`` bytes from here on."""
_USER_SGPRS = {
    "private_segment_buffer": 4,
    "dispatch_ptr": 2,
    "queue_ptr": 2,
    "kernarg_segment_ptr": 2,
    "dispatch_id": 2,
    "flat_scratch_init": 2,
    "private_segment_size": 1,
}
"""Values that may be preloaded into the first SGPRs, in this order, each with its number of SGPRs."""
_ADDRESSES = {"dispatch_ptr": _PACKET, "kernarg_segment_ptr": _ARGUMENTS}
_AXES = "xyz"
GRID = "the grid"
"""Name for the number of workgroups, which is an unknown input if the grid is unknown."""
_OF_GRID = frozenset({GRID})


@dataclass(frozen=True)
class LaunchMemory:
    """Memory whose contents a launch determines: the argument segment and the dispatch packet.

    Attributes:
        known: bytes by address.
        names: name of the argument that contains a byte of unknown value, by the byte's address.
        buffers: number of invented buffers that pointers refer to. Element ``n`` of such a buffer has the value ``n``.
    """

    known: Mapping[int, int]
    names: Mapping[int, str]
    buffers: int = 0

    def load(self, address: int, size: int) -> Number:
        """Return ``size`` bytes as an unsigned number, or the names of the unknown inputs."""
        if 0 <= address - _FIRST_BUFFER < self.buffers * _BUFFER:
            return address % _BUFFER // size
        places = range(address, address + size)
        if all(place in self.known for place in places):
            return sum(self.known[place] << 8 * n for n, place in enumerate(places))
        return frozenset(self.names.get(place, MEMORY) for place in places if place not in self.known)


def launch_memory(facts: KernelFacts, grid: Sequence[int] | None, lanes: int, *, buffers: bool = False) -> LaunchMemory:
    """Return the memory that a launch determines.

    Args:
        facts: the kernel with the values of its arguments.
        grid: workgroups in x, y, z; ``None`` if unknown.
        lanes: lanes of a workgroup; without ``.reqd_workgroup_size`` they are assumed to be one row.
        buffers: whether pointers refer to invented buffers; otherwise their values are unknown.
    """
    required = facts.program.metadata.get(".reqd_workgroup_size")
    sizes = [*required] if isinstance(required, list) and len(required) == 3 else [lanes, 1, 1]
    known: dict[int, int] = {}
    names: dict[int, str] = {}

    def put(address: int, size: int, value: int) -> None:
        known.update({address + n: value >> 8 * n & 255 for n in range(size)})

    for argument, name in zip(
        arguments := kernel_arguments(facts.program.metadata), _names(facts, arguments), strict=True
    ):
        value = _hidden(argument, grid, sizes) if argument.is_hidden else facts.arguments.get(name)
        if buffers and argument.is_pointer:
            value = _FIRST_BUFFER + argument.offset // 8 * _BUFFER
        if isinstance(value, int):
            put(_ARGUMENTS + argument.offset, argument.size, value)
        missing = GRID if argument.is_hidden else name
        names.update({_ARGUMENTS + argument.offset + n: missing for n in range(argument.size)})
    for name, value in facts.arguments.items():
        if (offset := word_offset(name)) is not None and isinstance(value, int):
            put(_ARGUMENTS + offset, 4, value)
    for axis in range(3):
        put(_PACKET + 4 + 2 * axis, 2, sizes[axis])
        if grid is not None:
            put(_PACKET + 12 + 4 * axis, 4, sizes[axis] * grid[axis])
    return LaunchMemory(known, names, _MOST_BUFFERS if buffers else 0)


def _names(facts: KernelFacts, arguments: Sequence[KernelArgument]) -> list[str]:
    """Return the arguments' names, from the TTGIR if there is one, because Triton's metadata has no names."""
    written = [name.removeprefix("%") for name in written_arguments(facts.ttgir)] if facts.ttgir is not None else []
    return [written[n] if n < len(written) else one.name for n, one in enumerate(arguments)]


def _hidden(argument: KernelArgument, grid: Sequence[int] | None, sizes: Sequence[int]) -> int | None:
    """Return the value of a hidden argument, which the runtime passes; ``None`` unless it is a size of the launch."""
    kind, _, axis = argument.kind.removeprefix("hidden_").rpartition("_")
    if axis not in _AXES or not axis:
        return None
    position = _AXES.index(axis)
    values = {"group_size": sizes[position], "remainder": 0, "global_offset": 0}
    return grid[position] if kind == "block_count" and grid is not None else values.get(kind)


def first_registers(facts: KernelFacts, program: Sequence[int] | None, memory: LaunchMemory, lane: int = 0) -> State:
    """Return a lane's registers at the kernel's first instruction; the lanes of a workgroup must form one row.

    Args:
        facts: the kernel.
        program: the workgroup's number in x, y, z; ``None`` if the grid is unknown.
        memory: memory of the launch, for arguments that are preloaded into SGPRs.
        lane: number of the lane in its workgroup.
    """
    directives = facts.program.directives
    state: State = {"exec_lo": 0xFFFFFFFF, "exec_hi": 0xFFFFFFFF, "v0": lane, "v1": 0, "v2": 0}
    state[LANE] = lane % facts.arch.wavefront_size
    at = 0
    for name, count in _USER_SGPRS.items():
        if directives.get(f"user_sgpr_{name}"):
            address = _ADDRESSES.get(name)
            places = tuple(f"s{n}" for n in range(at, at + count))
            write(state, places, NOTHING if address is None else address)
            at += count
    offset = directives.get("user_sgpr_kernarg_preload_offset")
    for n in range(_number(directives.get("user_sgpr_kernarg_preload_length"))):
        state[f"s{at + n}"] = memory.load(_ARGUMENTS + 4 * (_number(offset) + n), 4)
    at = _number(directives.get("user_sgpr_count")) or at
    for axis, letter in enumerate(_AXES):
        if directives.get(f"system_sgpr_workgroup_id_{letter}", 0):
            state[f"s{at}"] = _OF_GRID if program is None else program[axis]
            at += 1
    # gfx12 passes the workgroup's number in trap temporaries.
    state["ttmp9"] = _OF_GRID if program is None else program[0]
    state["ttmp7"] = _OF_GRID if program is None else program[1] | program[2] << 16
    return state


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
