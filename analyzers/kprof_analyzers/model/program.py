"""Translate instructions to the simulator's operations, which are small tuples of numbers.

An operation is ``(kind, a, b, c, d, e)``. The meaning of ``a`` to ``d`` depends on the kind; ``e`` is 1 for a matrix
instruction with scales and 0 otherwise:

=========  ==============  ====================  ===================  =====================
kind       a               b                     c                    d
=========  ==============  ====================  ===================  =====================
VALU       cycles of pipe  registers waited for
MATRIX     cycles of pipe  registers waited for  cycles to result     number of its result
SCALAR     cycles
LDS        cycles of pipe  counters              cycles to result     cycles of the SIMD's own port
VMEM       cycles of L1    counters              bytes x SIMDs        path (see below)
SMEM       cycles          counters
WAIT       (counter, count) pairs
BARRIER
IDLE       cycles
BRANCH     cycles
=========  ==============  ====================  ===================  =====================
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kprof.hardware.model import MatrixInstruction
from kprof.inputs.amdgcn import Instruction, InstructionClass, InstructionKind
from kprof.inputs.amdgcn.operands import registers
from kprof_analyzers.matrix_instructions import operand_format
from kprof_analyzers.memory.cache_policy import streams
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.machine import Machine

VALU, MATRIX, SCALAR, LDS, VMEM, SMEM, WAIT, BARRIER, IDLE, BRANCH = range(10)
LOAD, STORE, SCRATCH, FOLLOWED = range(4)
PARTS: Final = 8
"""Resolution of the memory paths for loads that mostly hit in L2: on path FOLLOWED + n, n / PARTS of the loads miss."""
STREAMED: Final = FOLLOWED + PARTS // 2 + 1
"""Path of streaming loads: their cache modifier says that the loaded lines are not used again."""


Op = tuple[int, float, Any, float, int, int]
"""An operation of a wavefront. It is a plain tuple for speed, since simulations step through millions. Its fields:

- kind of the operation;
- cycles that its unit is busy (BEGIN and END: number of the loop; SPLIT: the half);
- dependencies: matrix results, wait counters, or pairs of counter and allowed count (END: position of the BEGIN);
- cycles until its result is available (memory access: bytes moved; END: iterations);
- number of the matrix result it produces, path of a memory access, or cycles of the LDS port;
- 1 for a matrix instruction with scales.
"""

KIND: Final = 0
BUSY: Final = 1
WAITS: Final = 2
DELAY: Final = 3
WHICH: Final = 4
"""``KIND`` to ``WHICH`` are the indices of the fields of an :data:`Op`."""

# Number of instructions after which every matrix result is assumed to be available.
_FAR = 32
# Minimum bytes per lane of a wide LDS access.
_WIDE = 8
_DENSE = re.compile(r"v_mfma_\w+" + ",".join([r" ([va]\[[0-9]+:[0-9]+\])"] * 4))
_VECTOR_REGISTER = re.compile(r"\b[va](?:[0-9]+\b|\[[0-9]+(?::[0-9]+)?\])")


@dataclass(frozen=True)
class Code:
    """A program in the form that the simulator runs.

    Attributes:
        ops: an operation for each instruction, in order.
        counters: names of the wait counters; operations refer to them by index.
        results: number of matrix results that are tracked.
    """

    ops: Sequence[Op]
    counters: Sequence[str]
    results: int


class Translator:
    """Translates instructions into simulator operations for one machine."""

    def __init__(
        self,
        machine: Machine,
        effects: Effects,
        simds: int,
        conflicts: Mapping[int, float],
        fetched: Mapping[int, float] | None = None,
        *,
        followed: Mapping[int, float] | None = None,
        addressed: Mapping[int, float] | None = None,
    ) -> None:
        """Store the machine and the properties of the kernel's memory accesses.

        Args:
            machine: the hardware.
            effects: effects that the model takes into account.
            simds: number of SIMDs that execute the same code; it multiplies the time of units shared by the whole CU.
            conflicts: bank-conflict cycles of an LDS instruction per conflict-free cycle, by position.
            fetched: bytes that a load or store moves to or from L2 per byte of its lanes, by position; 1 if missing.
            followed: share of misses, by position, of loads that mostly find their line in L2.
            addressed: address cycles of a load or store relative to an access of consecutive elements, by position.
        """
        self.fetched, self.followed, self.addressed = fetched or {}, followed or {}, addressed or {}
        self.machine, self.effects, self.simds, self.conflicts = machine, effects, simds, conflicts
        self.counters: list[str] = []
        self._results: dict[str, int] = {}
        self._plain: dict[str, Op] = {}
        # Cache: equal instructions share one operation. See _key() for the keys.
        self._alike: dict[object, Op] = {}
        self._shapes: dict[tuple[str, str | None], MatrixInstruction | None] = {}
        self._count = 0
        self._last = -_FAR

    def translate(self, instructions: Sequence[Instruction]) -> Code:
        """Translate all instructions of a program."""
        ops = []
        plain, results = self._plain, self._results
        for i in instructions:
            op = plain.get(i.opcode.mnemonic)
            if op is None:
                op = self._op(i)
            elif results and (waits := self._waits(i)):
                op = VALU, op[1], waits, 0.0, 0, 0
            ops.append(op)
        return Code(ops, tuple(self.counters), self._count)

    def _counter(self, name: str) -> int:
        if name not in self.counters:
            self.counters.append(name)
        return self.counters.index(name)

    def _op(self, i: Instruction) -> Op:
        cls = i.opcode.cls
        if cls is InstructionClass.VALU:
            return self._vector(i)
        if cls is InstructionClass.MATRIX:
            return self._matrix(i)
        key = self._key(i)
        if key is None:
            return self._other(i)
        known = self._alike.get(key)
        if known is None:
            known = self._alike[key] = self._other(i)
        return known

    def _key(self, i: Instruction) -> object:
        """Return the properties that determine an instruction's operation, or ``None`` if it cannot be shared."""
        cls = i.opcode.cls
        if cls is InstructionClass.LDS:
            return (i.opcode.mnemonic, self.conflicts.get(i.index)) if _plain_counters(i) else None
        if cls is InstructionClass.VMEM or cls is InstructionClass.SCRATCH:
            known = self.fetched, self.followed, self.addressed
            alike = i.opcode.mnemonic, streams(i), *(each.get(i.index) for each in known)
            return alike if _plain_counters(i) else None
        if cls is InstructionClass.SMEM:
            return i.opcode.mnemonic if _plain_counters(i) else None
        kind = i.opcode.kind
        operand = cls is InstructionClass.WAIT or kind is InstructionKind.NOP or kind is InstructionKind.SLEEP
        return i.text if operand else i.opcode.mnemonic

    def _other(self, i: Instruction) -> Op:
        opcode = i.opcode
        cls = opcode.cls
        machine = self.machine
        if cls is InstructionClass.LDS:
            return self.lds_of(i)
        if cls in {InstructionClass.VMEM, InstructionClass.SCRATCH}:
            return self.memory_of(i)
        if cls is InstructionClass.SMEM:
            return SMEM, machine.issue, self._counters(i), self._scalar_latency(), 0, 0
        if cls is InstructionClass.WAIT:
            pairs = tuple((self._counter(c), n) for c, n in i.waits.items() if not c.startswith(("exp", "va_", "sa_")))
            return WAIT, 0.0, pairs, 0.0, 0, 0
        if cls is InstructionClass.BARRIER:
            signal = opcode.name.startswith("s_barrier_signal")
            return (SCALAR, machine.issue, (), 0.0, 0, 0) if signal else (BARRIER, 0.0, (), 0.0, 0, 0)
        if cls is InstructionClass.BRANCH:
            return BRANCH, machine.issue, (), 0.0, 0, 0
        if opcode.kind is InstructionKind.NOP:
            return IDLE, machine.issue * (1 + _number(i)), (), 0.0, 0, 0
        if opcode.kind is InstructionKind.SLEEP:
            return IDLE, machine.issue + 64.0 * _number(i), (), 0.0, 0, 0
        return SCALAR, machine.issue, (), 0.0, 0, 0

    def _counters(self, i: Instruction) -> tuple[int, ...]:
        return tuple(self._counter(c) for c in (i.opcode.counters if _plain_counters(i) else i.counters))

    def _vector(self, i: Instruction) -> Op:
        plain = self._plain.get(i.opcode.mnemonic)
        if plain is None:
            plain = self._plain[i.opcode.mnemonic] = VALU, self._valu(i), (), 0.0, 0, 0
        waits = self._waits(i)
        return (VALU, plain[1], waits, 0.0, 0, 0) if waits else plain

    def _valu(self, i: Instruction) -> float:
        machine, rates = self.machine, self.machine.arch.rates
        name = i.opcode.name
        work = machine.lanes * machine.simds
        if i.opcode.kind is InstructionKind.TRANSCENDENTAL:
            scale = machine.simds / machine.arch.occupancy.simds_per_cu
            return max(machine.valu, work / (scale * rates.get("transcendental", 16)))
        if i.opcode.kind is InstructionKind.LANE:
            # The next instruction has to wait until the result is in the scalar registers.
            return 2.0 * machine.valu
        if "f64" in name:
            scale = machine.simds / machine.arch.occupancy.simds_per_cu
            return max(machine.valu, 2 * work / (scale * (rates.get("valu_fp64") or 128)))
        return machine.valu

    def _waits(self, i: Instruction) -> tuple[int, ...]:
        """Return the matrix results whose registers an instruction reads or overwrites."""
        if i.index - self._last > _FAR:
            self._results.clear()
        results = self._results
        if not results:
            return ()
        operands = i.text[len(i.opcode.mnemonic) :]
        if _is_unusual(i.opcode.name, operands):
            return self._decoded_waits(i)
        # Fast path: most instructions do not name any register with a pending matrix result.
        named = _named(operands)
        if results.keys().isdisjoint(named):
            return ()
        found = {results[r] for r in named if r in results}
        if i.opcode.kind is not InstructionKind.COMPARE:
            for register in registers(operands.partition(",")[0].strip()):
                results.pop(register, None)
        return tuple(sorted(found))

    def _decoded_waits(self, i: Instruction) -> tuple[int, ...]:
        """Return the result of :meth:`_waits` for an instruction without a fast path, by decoding each operand."""
        results = self._results
        if all(r not in results for operand in i.operands for r in registers(operand)):
            return ()
        effects = i.effects
        found = {results[r] for r in effects.reads if r in results}
        for register in effects.writes:
            if register in results:
                found.add(results.pop(register))
        return tuple(sorted(found))

    def _matrix(self, i: Instruction) -> Op:
        kind = i.opcode.name, operand_format(i)
        if kind not in self._shapes:
            self._shapes[kind] = self.machine.arch.matrix_instruction(*kind)
        known = self._shapes[kind]
        cycles = known.cycles if known is not None else 32
        reads, writes = _touched(i)
        results = self._results
        waits = {results[r] for r in reads if r in results}
        number = self._count
        self._count += 1
        results.update(dict.fromkeys(writes, number))
        self._last = i.index
        latency = cycles + 4.0 * self.machine.arch.hazards.get("xdl_read", 3)
        return MATRIX, float(cycles), tuple(sorted(waits)), latency, number, int("_scale_" in i.opcode.name)

    def lds_of(self, i: Instruction, width: int | None = None) -> Op:
        """Translate an LDS access; ``width`` replaces its bytes per lane."""
        machine, opcode = self.machine, i.opcode
        counters = self._counters(i)
        if not self.effects.lds:
            return LDS, 0.0, counters, machine.issue, 0, 0
        size = width or opcode.bytes_per_lane or 4
        cycles = max(size, 4) * machine.lanes / machine.lds_bytes
        if self.effects.lds_conflicts:
            cycles *= 1 + self.conflicts.get(i.index, 0.0)
        # Two SIMDs share a port that is half as wide as the LDS.
        port = max(size, 4) * machine.lanes / (machine.lds_bytes / 2)
        if opcode.is_store:
            port /= machine.figures["lds_store" if size >= _WIDE else "lds_store_narrow"]
        pairs = -(-self.simds // 2)
        busy = max(self.simds * max(cycles, machine.lds_access), pairs * port if machine.matrix_unit else 0.0)
        single = machine.arch.lds.read64_cycles.get(8 * size)
        own = port if machine.matrix_unit else cycles
        if single is not None and not opcode.is_store:
            own = max(own, single / 64)
        if self.simds > 1:
            return LDS, max(busy, own), counters, machine.lds_latency, 0, 0
        return LDS, max(cycles, machine.lds_access), counters, machine.lds_latency, round(own), 0

    def memory_of(self, i: Instruction, width: int | None = None) -> Op:
        """Translate a memory or LDS access; ``width`` replaces its bytes per lane and removes repeated fetches."""
        if i.opcode.cls is InstructionClass.LDS:
            return self.lds_of(i, width)
        machine, opcode = self.machine, i.opcode
        counters = self._counters(i)
        scratch = opcode.cls is InstructionClass.SCRATCH
        if scratch and not self.effects.scratch:
            return SCALAR, machine.issue, (), 0.0, 0, 0
        size = (width or opcode.bytes_per_lane or 4) * machine.lanes
        way = SCRATCH if scratch else STORE if opcode.is_store else self._load_path(i)
        addresses = machine.lanes / machine.figures["lane_addresses"] * self.addressed.get(i.index, 1.0)
        cycles = self.simds * max(size / machine.l1_bytes, addresses)
        share = 1.0 if scratch else self.fetched.get(i.index, 1.0)
        moved = size * self.simds * (share if width is None else min(1.0, share))
        return VMEM, cycles, counters, float(moved), way, 0

    def _load_path(self, i: Instruction) -> int:
        missing = self.followed.get(i.index)
        if missing is not None:
            return FOLLOWED + round(missing * PARTS)
        return STREAMED if self.effects.cache_modifiers and streams(i) else LOAD

    def _scalar_latency(self) -> float:
        return self.machine.latency_of("l1") if self.effects.memory_latency else 0.0


def _is_unusual(name: str, operands: str) -> bool:
    """Return whether an instruction may not follow the usual form: write the first operand, read all others."""
    return name.startswith(("v_pk_", "v_dual_")) or "swap" in name or "acc" in operands or "/*" in operands


def _named(operands: str) -> list[str]:
    """Return the vector registers that an instruction's operand text names."""
    found: list[str] = _VECTOR_REGISTER.findall(operands)
    return found if "[" not in operands else [r for name in found for r in registers(name)]


def _number(i: Instruction) -> int:
    try:
        return min(int(i.operands[0], 0), 127)
    except (IndexError, ValueError):
        return 0


def _plain_counters(i: Instruction) -> bool:
    """Return whether an instruction's mnemonic alone, without its modifiers, determines its wait counters."""
    return not i.opcode.is_atomic and "gds" not in i.text


def _touched(i: Instruction) -> tuple[Iterable[str], Iterable[str]]:
    """Return the registers that a matrix instruction reads (without its accumulator), and its result registers.

    Instructions for dense matrices write their first operand only.
    """
    operands = _operands(i)
    accumulator = registers(operands[3]) if len(operands) > 3 else ()
    if not i.opcode.name.startswith("v_mfma_") or not operands:
        own = set(accumulator)
        return [r for r in i.effects.reads if r not in own], i.effects.writes
    read = [r for operand in (*operands[1:3], *operands[4:]) for r in registers(operand)]
    own = set(accumulator).intersection(read)
    return [r for r in read if r not in own] if own else read, registers(operands[0])


def _operands(i: Instruction) -> Sequence[str]:
    """Return the operands of a matrix instruction; a fast path avoids decoding the most common form."""
    usual = _DENSE.fullmatch(i.text)
    return i.operands if usual is None else usual.groups()
