"""Recognise scratch accesses that use buffer instructions, as on GPUs before gfx940 and gfx11.

Newer GPUs have ``scratch_load_dword``. Older GPUs read and write scratch with ``buffer_load_dword`` through a
descriptor passed in ``s[0:3]``. The kernel adds its wavefront's offset at the entry and keeps the descriptor in four
SGPRs that nothing else uses.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from kprof.inputs.amdgcn.instruction import Instruction
from kprof.inputs.amdgcn.isa import InstructionClass, MemorySpace, Opcode

_COPY = re.compile(r"s_mov_b64 s\[(\d{1,4}):\d+\], s\[0:1\]$")
_ADD = re.compile(r"s_add_u32 s(\d{1,4}), s(\d{1,4}), s\d+$")
_QUAD = re.compile(r"\bs\[(\d{1,4}):(\d{1,4})\]")
# Number of instructions to search for the addition of the wavefront's offset. It is near the kernel's entry, which is
# longer with preloaded kernel arguments.
_ENTRY = 200


def mark_scratch(instructions: Sequence[Instruction]) -> None:
    """Reclassify buffer instructions that use the scratch descriptor as scratch accesses.

    Args:
        instructions: instructions of a kernel with scratch memory, in program order; changed in place.
    """
    buffers = [i for i in instructions if i.opcode.space is MemorySpace.BUFFER]
    if not buffers:
        return
    # Spill comments written by the compiler identify the descriptor reliably, so they take precedence.
    descriptors = {_descriptor(i) for i in buffers if i.spill} - {None} or {_at_entry(instructions)} - {None}
    for instruction in buffers:
        if _descriptor(instruction) in descriptors:
            instruction.opcode = _as_scratch(instruction.opcode)


@cache
def _as_scratch(opcode: Opcode) -> Opcode:
    return replace(opcode, cls=InstructionClass.SCRATCH, space=MemorySpace.SCRATCH, likely=InstructionClass.SCRATCH)


def _descriptor(instruction: Instruction) -> str | None:
    """Return the four registers of a buffer instruction's descriptor, such as ``s[92:95]``."""
    found = (m for m in _QUAD.finditer(instruction.text) if int(m[2]) - int(m[1]) == 3)
    return next((m[0] for m in found), None)


def _at_entry(instructions: Sequence[Instruction]) -> str | None:
    """Return the registers to which the kernel adds its wavefront's offset at the entry; ``None`` if there are none."""
    holders = {"0"}
    for instruction in instructions[:_ENTRY]:
        if copied := _COPY.match(instruction.text):
            holders.add(copied[1])
        elif (added := _ADD.match(instruction.text)) and added[1] == added[2] and added[1] in holders:
            first = int(added[1])
            return f"s[{first}:{first + 3}]"
    return None
