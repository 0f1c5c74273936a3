"""Read reports of the ROCr Debug Agent: wavefronts that stopped on an error, their registers and surrounding code.

A line such as ``wave_1: pc=0x7f00 (kernel_code_entry=0x7e00 <add>) (stopped, reason: ASSERT_TRAP)`` begins a wavefront,
and its registers follow. ``Disassembly for function add:`` begins the code, in which ``=>`` marks the instruction at
which a wavefront stopped. Lines of the program itself may occur in between.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kprof.errors import InputError
from kprof.inputs.results.model import ResultFormat, RowCollector, ToolResults, lines_of
from kprof.output.quantities import plural

_WAVE = re.compile(r"wave_(\d{1,9}): pc=0x([0-9a-f]{1,16})(?=[ (]|$)(.*)", re.ASCII)
_ENTRY = re.compile(r"\(kernel_code_entry=0x([0-9a-f]{1,16})(?: <(.*)>)?(?:, kernargs=0x[0-9a-f]{1,16})?\)", re.ASCII)
_REASON = re.compile(r"\(stopped, reason: ([A-Z_|, ]{1,200})\)")
_FUNCTION = re.compile(r"Disassembly for function (.{1,4000}):")
_OBJECT = re.compile(r"code object: (\S.*)")
_LOADED = re.compile(r"loaded at: \[0x([0-9a-f]{1,16})\s*[-,]\s*0x([0-9a-f]{1,16})\]", re.ASCII)
_INSTRUCTION = re.compile(r"(=>)?\s*0x([0-9a-f]{1,16})(?: <\+(\d{1,9})>)?:\s+(\S.*)", re.ASCII)
_FILE = re.compile(r"(\S.{0,1000}\.\w{1,8}):")
_SOURCE = re.compile(r"(\d{1,7})(?: {2,}\S.*)?")
_REGISTER = re.compile(r"([a-z]\w{0,15}): ([0-9a-f]{8,16})(?=\s|$)", re.ASCII)
_VECTOR = re.compile(r"(v\d{1,3}|a\d{1,3}): \[0\] ", re.ASCII)
_LANE = re.compile(r"\[(\d{1,2})\] ([0-9a-f]{8})(?=\s|$)", re.ASCII)
_OPERAND = re.compile(r"\b([sva])(?:\[(\d{1,3}):(\d{1,3})\]|(\d{1,3})\b)|\b(exec|vcc|m0)\b")
_ERROR = re.compile(r"(?:Queue error|System event|Memory access fault|OFFLOAD ERROR).{1,400}", re.IGNORECASE)
_FAULT = re.compile(r"address 0x([0-9a-f]{1,16})", re.ASCII)
_END = "End of disassembly"
_MOST_SHOWN = 24


@dataclass
class _Wave:
    line: int
    number: int
    pc: int
    kernel: str | None
    entry: int | None
    reason: str | None
    registers: dict[str, str] = field(default_factory=dict)


@dataclass
class _Code:
    """A disassembled part of a function. The source of each instruction is "" without debug information."""

    line: int
    function: str
    code_object: str | None = None
    loaded: tuple[int, int] | None = None
    file: str = ""
    source: str = ""
    instructions: dict[int, tuple[str, str, int | None]] = field(default_factory=dict)
    marked: bool = False

    @property
    def start(self) -> int | None:
        """Address of the function; ``None`` if no line contains an offset."""
        offsets = (address - offset for address, (_, _, offset) in self.instructions.items() if offset is not None)
        return next(offsets, None)

    def contains(self, pc: int) -> bool:
        """Return whether an address lies in the function, according to the disassembled lines."""
        return self.start is not None and self.start <= pc <= max(self.instructions)


def recognise(head: bytes) -> bool:
    """Return whether the file contains a line that begins a wavefront."""
    return re.search(rb"(?m)^[ \t]*wave_\d{1,9}: pc=0x[0-9a-f]", head) is not None


def read(path: Path, shown: str) -> ToolResults:
    """Return one row per wavefront.

    Raises:
        InputError: if the report is cut off, or two reports are mixed in one file.
    """
    found = RowCollector()
    reader = _Reader(shown)
    for at, line in enumerate(lines_of(path, shown, found), 1):
        reader.line(at, line.strip())
    reader.finish()
    _rows(reader, found)
    return found.results(shown, "the ROCr Debug Agent", "wavefront")


class _Reader:
    """Collects the wavefronts and code of a report.

    Args:
        shown: name of the file in messages.
    """

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self.waves: dict[int, _Wave] = {}
        self.codes: list[_Code] = []
        self.error = ""
        self._fault: tuple[str, int] | None = None
        self._wave: _Wave | None = None
        self._code: _Code | None = None
        self._lanes = 0

    def line(self, at: int, text: str) -> None:
        """Read one line; lines that belong to no report are the program's own output and are ignored."""
        if text.startswith("wave_"):
            self._begin_wave(at, text)
        elif (function := _FUNCTION.fullmatch(text)) is not None:
            self._end_code()
            self._code = _Code(at, function[1])
            self.codes.append(self._code)
        elif text.startswith(_END):
            self._end_code()
        elif self._code is not None:
            self._code_line(at, text, self._code)
        elif self._wave is not None:
            self._register_line(at, text, self._wave)
        if (error := _ERROR.match(text)) is not None:
            self._error_line(at, error[0])

    def _error_line(self, at: int, error: str) -> None:
        """Store the report's first error, and raise an error for a fault at another address (of another report)."""
        self.error = self.error or error
        match = _FAULT.search(error)
        if match is None:
            return
        address, line = self._fault or (match[1], at)
        if address != match[1]:
            fault = f"the fault is at address 0x{address} in line {line}, and here at 0x{match[1]}"
            raise self._refusal(f"two reports in one file: {fault}", at)
        self._fault = address, line

    def finish(self) -> None:
        """Raise an error if the disassembly at the end of the file is incomplete."""
        self._end_code()

    def _refusal(self, message: str, line: int) -> InputError:
        return InputError(message, path=self._shown, place=f"line {line}")

    def _begin_wave(self, at: int, text: str) -> None:
        self._end_code()
        match = _WAVE.fullmatch(text)
        if match is None or text.count("(") != text.count(")"):
            raise self._refusal("the report is cut or damaged: the line of a wavefront is not complete", at)
        entry, reason = _ENTRY.search(match[3]), _REASON.search(match[3])
        number, pc = int(match[1]), int(match[2], 16)
        other = self.waves.get(number)
        kernel = entry[2] if entry is not None else None
        if other is not None and other.pc != pc:
            raise self._refusal(
                f"two reports in one file: wave_{number} stopped at 0x{other.pc:x} in line {other.line}, and here at "
                f"0x{pc:x}",
                at,
            )
        if other is not None and other.kernel != kernel:
            kernels = f"wave_{number} runs {other.kernel} in line {other.line}, and here {kernel}"
            raise self._refusal(f"two reports in one file: {kernels}", at)
        self._wave = self.waves.setdefault(
            number,
            _Wave(at, number, pc, kernel, int(entry[1], 16) if entry else None, reason[1] if reason else None),
        )
        self._lanes = 0

    def _register_line(self, at: int, text: str, wave: _Wave) -> None:
        vector = _VECTOR.match(text)
        if vector is None:
            wave.registers |= dict(_REGISTER.findall(text))
            return
        lanes = _LANE.findall(text)
        if self._lanes and len(lanes) < self._lanes:
            raise self._refusal(f"the report is cut: {vector[1]} has {len(lanes)} of {self._lanes} lanes", at)
        self._lanes = self._lanes or len(lanes)
        wave.registers[vector[1]] = " ".join(value for _, value in lanes)

    def _code_line(self, at: int, text: str, code: _Code) -> None:
        if (instruction := _INSTRUCTION.fullmatch(text)) is not None:
            address = int(instruction[2], 16)
            if code.loaded is not None and not code.loaded[0] <= address < code.loaded[1]:
                raise self._refusal(
                    f"two reports are mixed: 0x{address:x} is not in the code object that line {code.line} names", at
                )
            offset = int(instruction[3]) if instruction[3] else None
            code.instructions[address] = (instruction[4], code.source, offset)
            code.marked = code.marked or instruction[1] is not None
        elif (code_object := _OBJECT.fullmatch(text)) is not None:
            code.code_object = code_object[1]
        elif (loaded := _LOADED.fullmatch(text)) is not None:
            code.loaded = int(loaded[1], 16), int(loaded[2], 16)
        elif (file := _FILE.fullmatch(text)) is not None:
            code.file = file[1]
        elif code.file and (source := _SOURCE.fullmatch(text)) is not None:
            code.source = f"{code.file}:{source[1]}"

    def _end_code(self) -> None:
        code, self._code = self._code, None
        if code is not None and not code.marked:
            raise self._refusal(
                f"the report is cut: the disassembly of {code.function[:80]} has no line with =>", code.line
            )


def _rows(reader: _Reader, found: RowCollector) -> None:
    """Add one row per wavefront, and facts about the first wavefront whose instruction is known."""
    for wave in reader.waves.values():
        code = next((each for each in reader.codes if wave.pc in each.instructions), None)
        instruction, source, offset = code.instructions[wave.pc] if code is not None else (None, "", None)
        code = code or next((each for each in reader.codes if each.contains(wave.pc)), None)
        if offset is None and code is not None and code.start is not None:
            offset = wave.pc - code.start
        kernel = wave.kernel or (code.function if code is not None else None)
        if offset is None and wave.entry is not None and wave.pc >= wave.entry:
            offset = wave.pc - wave.entry
        row: dict[str, Any] = {
            "label": f"wave_{wave.number}",
            "kernel": kernel,
            "reason": wave.reason,
            "pc": f"0x{wave.pc:x}",
            "offset": offset,
            "instruction": instruction,
            "source": source or None,
            "code_object": code.code_object if code is not None else None,
            "registers": wave.registers,
        }
        if instruction is None:
            found.complain(wave.line, f"no disassembly of 0x{wave.pc:x}, where wave_{wave.number} stopped")
        found.rows.append(row)
    if found.rows:
        _facts(reader, found, next((row for row in found.rows if row["instruction"]), found.rows[0]))


def _facts(reader: _Reader, found: RowCollector, row: dict[str, Any]) -> None:
    facts = {
        "error": reader.error,
        "kernel": row["kernel"] or "not named in the report",
        "stopped at": f"{row['instruction'] or 'an instruction that the report does not contain'} ({row['pc']})",
        "also stopped at": _other_places(row, found.rows),
        "line": row["source"] or "not in the report: name the kernel's code object with --code-object",
        "code object": row["code_object"] or "not named in the report",
        "registers": _used_registers(row["instruction"] or "", row["registers"]),
    }
    found.facts |= {name: value for name, value in facts.items() if value}
    if row["reason"] == "MEMORY_VIOLATION":
        found.facts["note"] = (
            "a wavefront stops some instructions after the access that failed: look at the loads and stores before"
        )


def _other_places(described: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """Return the other instructions at which wavefronts stopped, the most frequent first, with their counts."""
    counts = Counter((row["pc"], row["instruction"]) for row in rows if row["pc"] != described["pc"]).most_common()
    places = [f"{text or 'not in the report'} ({pc}): {plural(n, 'wavefront')}" for (pc, text), n in counts[:3]]
    return ", ".join([*places, *([f"{len(counts) - 3} more places"] if len(counts) > 3 else [])])


def _used_registers(instruction: str, registers: dict[str, str]) -> str:
    """Return exec and the registers that an instruction names; for vector registers, the value of lane 0."""
    names = ["exec"]
    for kind, first, last, single, special in _OPERAND.findall(instruction):
        low, high = (int(first), int(last)) if first else (int(single or 0),) * 2
        names += [special] if special else [f"{kind}{number}" for number in range(low, min(high, low + 31) + 1)]
    words = []
    for name in dict.fromkeys(names):
        if name in registers:
            value, *others = registers[name].split(" ")
            words.append(f"{name} {value}" + (" (lane 0)" if others else ""))
    return ", ".join(words[:_MOST_SHOWN])


FORMAT = ResultFormat("report of the ROCr Debug Agent", recognise, read)
