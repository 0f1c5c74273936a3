"""Read ``code.json`` of a ``ui_output_agent_*_dispatch_*`` folder.

A record is ``[text, _, number, source, code object, address, hits, latency]``; newer versions append stall and idle.
"""

from typing import Any

import msgspec

from kprof.errors import InputError
from kprof.inputs import boundary
from kprof.inputs.thread_trace.model import DecodedThreadTrace, TracedInstruction, kernel_in

_SHORTEST = 8


class _Code(msgspec.Struct):
    code: list[list[Any]]
    version: str | None = None


def read(data: bytes, path: str) -> DecodedThreadTrace:
    """Read the content of a ``code.json``.

    Raises:
        KprofError: if the data does not have the structure of a ``code.json``, is cut off, or has no instruction.
    """
    document = boundary.json_of(data, _Code, path, "not readable as code.json")
    kernel: str | None = None
    instructions: list[TracedInstruction] = []
    bad = 0
    for record in document.code:
        if record and isinstance(record[0], str) and record[0].startswith(";"):
            kernel = kernel or kernel_in(record[0])
            continue
        one = _instruction(record, len(instructions))
        if one is None:
            bad += 1
        else:
            instructions.append(one)
    if not instructions:
        raise InputError("a thread trace without instructions", path=path)
    issues = (f"{bad} records have a wrong shape and are not used",) if bad else ()
    return DecodedThreadTrace(path, "code.json", kernel, tuple(instructions), document.version, issues)


def _instruction(record: list[Any], index: int) -> TracedInstruction | None:
    numbers = record[4:10]
    shape = len(record) >= _SHORTEST and isinstance(record[0], str) and isinstance(record[3], str)
    if not shape or not all(isinstance(number, int) and number >= 0 for number in numbers):
        return None
    code_object, address, hits, latency, *more = numbers
    stall, idle = [*more, None, None][:2]
    line = record[2] if type(record[2]) is int else None
    return TracedInstruction(
        index, record[0], code_object, address, hits, latency, stall, idle, record[3] or None, line
    )
