"""Integer arithmetic of scalar and vector instructions, executed for one lane.

A register holds an integer, or a set with the names of the unknown inputs that its value depends on. A mask of lanes
(``exec``, ``vcc``, the result of a vector comparison) is all ones or zero: one lane stands for all lanes.

Source of the operations: AMD's instruction set architecture guides of CDNA 3 and RDNA 4.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from struct import pack, unpack
from typing import TypeAlias

from kprof.inputs.amdgcn import Instruction, InstructionClass
from kprof.inputs.amdgcn.instruction import number
from kprof.inputs.amdgcn.operands import registers

Unknown: TypeAlias = frozenset[str]
"""Names of the unknown inputs (arguments, memory, grid) that a register's value depends on."""
Number: TypeAlias = int | Unknown
State: TypeAlias = dict[str, Number]
"""Values of a lane's registers by name; a register that is missing has an unknown value."""
Step: TypeAlias = Callable[[State], None]
Source: TypeAlias = Callable[[State], Number]

NOTHING: Unknown = frozenset()
MEMORY = "values in memory"
"""Name for data loaded from memory outside the argument segment, which is an unknown input."""
EXEC = ("exec_lo", "exec_hi")
"""Names of the registers that hold the mask of active lanes."""
LANE = "lane"
"""Key of a state for the lane's number in its wavefront; a state without this key belongs to lane 0."""
_32 = 0xFFFFFFFF


def signed(value: int, bits: int) -> int:
    """Return the signed value of an unsigned ``bits``-bit number in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def float_of(bits: int) -> float:
    """Return the single-precision number with the given bit pattern."""
    return float(unpack("<f", pack("<I", bits & _32))[0])


def _bits(value: float) -> int:
    try:
        return int(unpack("<I", pack("<f", value))[0])
    except OverflowError:
        return 0x7F800000


def _lowest_bit(value: int) -> int:
    return (value & -value).bit_length() - 1 if value else _32


def _field(value: int, control: int, bits: int, *, sign: bool) -> int:
    """Extract a bit field; bits 0-5 of ``control`` are its offset and bits 16-22 its width."""
    offset, width = control & (bits - 1), control >> 16 & 0x7F
    part = value >> offset & ((1 << width) - 1)
    return signed(part, width) if sign and width else part


Operation: TypeAlias = Callable[..., int]


def _shift(operation: Operation, bits: int, *, amount: int, sign: bool) -> Operation:
    """Return a shift of ``bits``-bit numbers; ``amount`` is the index of the source operand that is the distance."""

    def shifted(a: int, b: int) -> int:
        value, distance = (b, a) if amount == 0 else (a, b)
        return operation(signed(value, bits) if sign else value, distance & (bits - 1))

    return shifted


def _on_signed(operation: Operation, bits: int) -> Operation:
    return lambda *values: operation(*(signed(value, bits) for value in values))


_PLAIN: Mapping[str, Operation] = {
    "mov": lambda a: a,
    "accvgpr_read": lambda a: a,
    "accvgpr_write": lambda a: a,
    "not": lambda a: ~a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "subrev": lambda a, b: b - a,
    "mul": lambda a, b: a * b,
    "mul_lo": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
    "andn2": lambda a, b: a & ~b,
    "and_not1": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b,
    "or_not1": lambda a, b: a | ~b,
    "min": min,
    "max": max,
    "abs": abs,
    "add_lshl": lambda a, b, c: a + b << (c & 31),
    "lshl_or": lambda a, b, c: a << (b & 31) | c,
    "lshl_add": lambda a, b, c: (a << (b & 31)) + c,
    "and_or": lambda a, b, c: a & b | c,
    "or3": lambda a, b, c: a | b | c,
    "xad": lambda a, b, c: (a ^ b) + c,
    "add3": lambda a, b, c: a + b + c,
    "bfi": lambda a, b, c: a & b | ~a & c,
    "lshl1_add": lambda a, b: (a << 1) + b,
    "lshl2_add": lambda a, b: (a << 2) + b,
    "lshl3_add": lambda a, b: (a << 3) + b,
    "lshl4_add": lambda a, b: (a << 4) + b,
    "ff1": _lowest_bit,
    "ctz": _lowest_bit,
    "ffbl": _lowest_bit,
}
"""Operations by mnemonic without prefix and type. Results are truncated to the instruction's width."""
_SHIFTS: Mapping[str, tuple[Operation, int]] = {
    "lshl": (lambda a, b: a << b, 1),
    "lshr": (lambda a, b: a >> b, 1),
    "ashr": (lambda a, b: a >> b, 1),
    "lshlrev": (lambda a, b: a << b, 0),
    "lshrrev": (lambda a, b: a >> b, 0),
    "ashrrev": (lambda a, b: a >> b, 0),
}
"""Shift operations by mnemonic, each with the index of the source operand that is the shift distance."""
_SPECIAL: Mapping[str, tuple[Operation, tuple[int, ...], int]] = {
    "mul_hi_u32": (lambda a, b: a * b >> 32, (32, 32), 32),
    "mul_hi_i32": (lambda a, b: signed(a, 32) * signed(b, 32) >> 32, (32, 32), 32),
    "mul_u32_u24": (lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF), (32, 32), 32),
    "mul_i32_i24": (lambda a, b: signed(a, 24) * signed(b, 24), (32, 32), 32),
    "mad_u32_u24": (lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c, (32, 32, 32), 32),
    "mad_i32_i24": (lambda a, b, c: signed(a, 24) * signed(b, 24) + c, (32, 32, 32), 32),
    "lshl_add_u64": (lambda a, b, c: (a << (b & 7)) + c, (64, 32, 64), 64),
    "bfe_u32": (lambda a, b, c: a >> (b & 31) & ((1 << (c & 31)) - 1), (32, 32, 32), 32),
    "bfe_i32": (lambda a, b, c: signed(a >> (b & 31), c & 31) if c & 31 else 0, (32, 32, 32), 32),
    "sext_i32_i8": (lambda a: signed(a, 8), (32,), 32),
    "sext_i32_i16": (lambda a: signed(a, 16), (32,), 32),
    "cvt_f32_u32": (lambda a: _bits(float(a)), (32,), 32),
    "cvt_u32_f32": (lambda a: min(_32, max(0, int(float_of(a)))) if abs(float_of(a)) < 2.0**33 else _32, (32,), 32),
    "rcp_iflag_f32": (lambda a: _bits(1 / float_of(a)) if float_of(a) else 0x7F800000, (32,), 32),
    "rcp_f32": (lambda a: _bits(1 / float_of(a)) if float_of(a) else 0x7F800000, (32,), 32),
    "mul_f32": (lambda a, b: _bits(float_of(a) * float_of(b)), (32, 32), 32),
    "readfirstlane_b32": (lambda a: a, (32,), 32),
}
"""Other operations by mnemonic without prefix: function, bits of each source operand, bits of the result."""
_SCALAR_FIELDS: Mapping[str, tuple[Operation, tuple[int, ...], int]] = {
    f"bfe_{sign}{bits}": (lambda a, b, n=bits, s=sign == "i": _field(a, b, n, sign=s), (bits, 32), bits)
    for sign in "iu"
    for bits in (32, 64)
}
_COMPARISONS: Mapping[str, Operation] = {
    "eq": lambda a, b: a == b,
    "lg": lambda a, b: a != b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_MBCNT_FIRST_LANE = {"v_mbcnt_lo_u32_b32": 0, "v_mbcnt_hi_u32_b32": 32}
"""Instructions that count mask bits of lower-numbered lanes, each with the lane number of the mask's bit 0."""
_TYPED = re.compile(r"[sv]_(\w+?)(?:_nc|_co)?_([biu])(32|64)$")
_COMPARISON = re.compile(r"(?:s_cmpk?|v_cmpx?)_(eq|lg|ne|lt|le|gt|ge)_([iu])(32|64)$")
_CARRY = re.compile(r"[sv]_(add|sub|subrev)(c|b|brev)?(_co)?(_ci)?_u32$")
_SAVE = re.compile(r"s_(\w+)_(?:saveexec|wrexec)_b(32|64)$")
_SCC_IS_NONZERO = frozenset(
    {"and", "or", "xor", "not", "nand", "nor", "xnor", "andn2", "orn2", "and_not1", "or_not1", "abs"}
    | {"lshl", "lshr", "ashr", "bfe_u32", "bfe_i32", "bfe_u64", "bfe_i64"}
)
"""Scalar operations that set SCC if their result is not zero."""
_KEEPS_SCC = frozenset(["mov", "mul", "ff1", "ctz", "mul_hi_u32", "mul_hi_i32", "sext_i32_i8", "sext_i32_i16"])


def step_of(instruction: Instruction, wave: int) -> Step:
    """Return a function that executes an instruction on registers.

    Args:
        instruction: any instruction but a branch. If its arithmetic is not known here, the registers that it writes
            become unknown.
        wave: lanes of a wavefront, 32 or 64.
    """
    cls, name = instruction.opcode.cls, instruction.opcode.name
    known: Step | None = None
    if len(instruction.halves) == 1 and instruction.opcode.encoding in {"", "e32", "e64"}:
        if cls is InstructionClass.SALU:
            known = _scalar(name, instruction.operands, wave)
        elif cls is InstructionClass.VALU and not instruction.modifiers:
            known = _vector(instruction, wave)
    return _forget(instruction) if known is None else known


def source_of(operand: str, bits: int) -> Source | None:
    """Return a function that reads an operand as an unsigned integer; ``None`` if the operand is not an integer."""
    names = registers(operand)
    if not names:
        value = _literal(operand)
        if value is None:
            return None
        constant = value & ((1 << bits) - 1)
        return lambda _state: constant
    if operand.startswith(("-", "|")) or "(" in operand or len(names) < bits // 32:
        return None
    return lambda state: read(state, names[: bits // 32])


def _literal(operand: str) -> int | None:
    value = number(operand)
    if value is None and re.fullmatch(r"-?\d+\.\d+", operand):
        return _bits(float(operand))
    return value


def read(state: State, names: tuple[str, ...]) -> Number:
    """Return the number in one register or a pair of registers, whose first register holds the lower half."""
    total, missing, known = 0, NOTHING, True
    for position, name in enumerate(names):
        value = state.get(name, NOTHING)
        if isinstance(value, int):
            total |= value << 32 * position
        else:
            missing |= value
            known = False
    return total if known else missing


def write(state: State, names: tuple[str, ...], value: Number) -> None:
    """Write a number into registers, the lowest part first."""
    for position, name in enumerate(names):
        state[name] = value >> 32 * position & _32 if isinstance(value, int) else value


def unknown_of(values: Iterable[Number]) -> Unknown | None:
    """Return the names that unknown values depend on, or ``None`` if all values are known."""
    found = [value for value in values if not isinstance(value, int)]
    return NOTHING.union(*found) if found else None


def _forget(instruction: Instruction) -> Step:
    reads, writes = tuple(instruction.effects.reads), tuple(instruction.effects.writes)
    calculated = {InstructionClass.SALU, InstructionClass.VALU, InstructionClass.MATRIX}
    origin = NOTHING if instruction.opcode.cls in calculated else frozenset({MEMORY})

    def step(state: State) -> None:
        names = origin | (unknown_of(state.get(name, NOTHING) for name in reads) or NOTHING)
        for name in writes:
            state[name] = names

    return step


def _sources(operands: Sequence[str], widths: Sequence[int]) -> list[Source] | None:
    if len(operands) != len(widths):
        return None
    found = [source_of(text, width) for text, width in zip(operands, widths, strict=True)]
    return None if None in found else [one for one in found if one is not None]


def _operation(name: str, *, scalar: bool) -> tuple[str, Operation, tuple[int, ...], int] | None:
    """Return an instruction's short name, operation, source widths and result width in bits; ``None`` if unknown."""
    short = name[2:]
    special = (_SCALAR_FIELDS.get(short) if scalar else None) or _SPECIAL.get(short)
    if special is not None and not (scalar and short.startswith("bfe") and short not in _SCALAR_FIELDS):
        return (short, *special)
    match = _TYPED.match(name)
    if match is None:
        return None
    short, bits, sign = match[1], int(match[3]), match[2] == "i"
    if short in _SHIFTS:
        operation, amount = _SHIFTS[short]
        widths = (32, bits) if amount == 0 else (bits, 32)
        return short, _shift(operation, bits, amount=amount, sign=short.startswith("ashr")), widths, bits
    plain = _PLAIN.get(short)
    if plain is None:
        return None
    if sign and short in {"min", "max", "abs"}:
        plain = _on_signed(plain, bits)
    return short, plain, (bits,) * _plain_sources(short), bits


def _plain_sources(name: str) -> int:
    """Return the number of source operands of an operation."""
    if name in {"mov", "not", "abs", "ff1", "ctz", "ffbl"} or name.startswith("accvgpr"):
        return 1
    return 3 if name in {"add_lshl", "lshl_or", "lshl_add", "and_or", "or3", "xad", "add3", "bfi"} else 2


def _bitwise(name: str, values: Sequence[Number], bits: int) -> Number | None:
    """Return the result of a bitwise operation if one known operand determines it, such as ``0 & x``; else ``None``."""
    full = (1 << bits) - 1
    if name == "and" and 0 in values:
        return 0
    if name == "or" and full in values:
        return full
    return 0 if name in {"andn2", "and_not1"} and (values[0] == 0 or values[1] == full) else None


def _scalar(name: str, operands: tuple[str, ...], wave: int) -> Step | None:
    if (match := _COMPARISON.match(name)) is not None:
        return _scalar_comparison(match, operands)
    if name.startswith(("s_cselect_", "s_cmov")):
        return _select(name, operands)
    if _CARRY.match(name) is not None:
        return _carry(name, operands[0], ("scc",), operands[1:], "scc")
    if (match := _SAVE.match(name)) is not None:
        return _save_exec(match[1], operands, wave)
    if name in {"s_movk_i32", "s_addk_i32", "s_mulk_i32", "s_addk_co_i32"}:
        short = name[2:5].rstrip("k")
        value = _short(operands[-1], sign=True)
        sources = None if value is None else [lambda state: read(state, registers(operands[0])), value]
        keeps = "keep" if short != "add" else "lost"
        if sources is None:
            return None
        return _calculated(short, _PLAIN[short], sources[1:] if short == "mov" else sources, operands[0], 32, keeps)
    if (match := re.match(r"s_bitcmp([01])_b(32|64)$", name)) is not None:
        sources = _sources(operands, (int(match[2]), 32))
        wanted, mask = int(match[1]), int(match[2]) - 1
        return None if sources is None else _condition(lambda a, b: (a >> (b & mask) & 1) == wanted, sources)
    known = _operation(name, scalar=True)
    if known is None:
        return None
    short, operation, widths, bits = known
    sources = _sources(operands[1:], widths)
    scc = "nonzero" if short in _SCC_IS_NONZERO else "keep" if short in _KEEPS_SCC or "_nc_" in name else "lost"
    return None if sources is None else _calculated(short, operation, sources, operands[0], bits, scc)


def _calculated(  # noqa: PLR0917 - an operation, its sources, and its results
    name: str, operation: Operation, sources: Sequence[Source], target: str, bits: int, scc: str
) -> Step | None:
    """Return a step that executes a scalar instruction and updates SCC.

    ``scc`` is ``nonzero`` (SCC is set if the result is not 0), ``lost`` (SCC becomes unknown) or ``keep``.
    """
    names, full = registers(target)[: bits // 32], (1 << bits) - 1
    if len(names) != bits // 32:
        return None

    def step(state: State) -> None:
        values = [source(state) for source in sources]
        missing = unknown_of(values)
        result: Number = operation(*values) & full if missing is None else missing
        if missing is not None and len(values) == 2 and (decided := _bitwise(name, values, bits)) is not None:
            result = decided
        write(state, names, result)
        if scc == "nonzero":
            state["scc"] = int(result != 0) if isinstance(result, int) else result
        elif scc == "lost":
            state["scc"] = NOTHING

    return step


def _condition(test: Operation, sources: Sequence[Source]) -> Step:
    def step(state: State) -> None:
        values = [source(state) for source in sources]
        missing = unknown_of(values)
        state["scc"] = int(test(*values)) if missing is None else missing

    return step


def _scalar_comparison(match: re.Match[str], operands: tuple[str, ...]) -> Step | None:
    bits = int(match[3])
    sources = _sources(operands, (bits, bits))
    if match[0].startswith("s_cmpk"):
        value = _short(operands[-1], sign=match[2] == "i")
        sources = None if value is None or sources is None else [sources[0], value]
    return None if sources is None else _condition(_comparison(match), sources)


def _short(operand: str, *, sign: bool) -> Source | None:
    """Return a function that reads a 16-bit constant and extends it to 32 bits, with its sign if ``sign`` is true."""
    value = _literal(operand)
    if value is None:
        return None
    constant = signed(value & 0xFFFF, 16) & _32 if sign else value & 0xFFFF
    return lambda _state: constant


def _comparison(match: re.Match[str]) -> Operation:
    test, bits = _COMPARISONS[match[1]], int(match[3])
    return _on_signed(test, bits) if match[2] == "i" else test


def _select(name: str, operands: tuple[str, ...]) -> Step | None:
    bits = 64 if name.endswith("64") else 32
    names = registers(operands[0])[: bits // 32]
    choices = operands[1:] if name.startswith("s_cselect") else (operands[-1], operands[0])
    sources = _sources(choices, (bits, bits))
    constant = _short(operands[-1], sign=True) if name == "s_cmovk_i32" else None
    if sources is None or len(names) != bits // 32:
        return None
    chosen, other = sources if constant is None else (constant, sources[1])

    def step(state: State) -> None:
        condition = state.get("scc", NOTHING)
        if isinstance(condition, int):
            write(state, names, chosen(state) if condition else other(state))
            return
        first, second = chosen(state), other(state)
        same = first == second and isinstance(first, int)
        write(state, names, first if same else condition | (unknown_of((first, second)) or NOTHING))

    return step


def _carry(  # noqa: PLR0917 - an addition with its carries
    name: str, target: str, carry: tuple[str, ...], operands: Sequence[str], carry_in: str, full: int = 1
) -> Step | None:
    """Return a step for an addition or subtraction with a carry output, and a carry input if the mnemonic has one.

    Args:
        name: the mnemonic without suffix.
        target: register of the result.
        carry: registers that receive the carry output, which is 0 or ``full``.
        operands: the two sources.
        carry_in: register of the carry input, if any.
        full: value that represents a set carry.
    """
    match = _CARRY.match(name)
    sources = _sources(operands[:2], (32, 32))
    if match is None or sources is None:
        return None
    adds = match[1] == "add"
    chained = match[2] is not None or match[4] is not None
    reverse = match[1] == "subrev" or match[2] == "brev"
    names = registers(target)[:1]

    def step(state: State) -> None:
        values = [source(state) for source in sources]
        values += [state.get(carry_in, NOTHING)] if chained else [0]
        missing = unknown_of(values)
        if missing is not None:
            write(state, names, missing)
            write(state, carry, missing)
            return
        a, b, c = (value for value in values if isinstance(value, int))
        a, b, one = (b, a, int(c != 0)) if reverse else (a, b, int(c != 0))
        total = a + b + one if adds else a - b - one
        write(state, names, total & _32)
        write(state, carry, full if not 0 <= total <= _32 else 0)

    return step


def _save_exec(operation: str, operands: tuple[str, ...], wave: int) -> Step | None:
    """Return a step for ``s_and_saveexec_b64`` and similar instructions.

    The step saves ``exec`` in the destination, then combines ``exec`` with the source operand.
    """
    inverted = {
        "andn1": ("andn2", True),
        "orn1": ("orn2", True),
        "and_not0": ("andn2", True),
        "or_not0": ("orn2", True),
    }
    name, swapped = inverted.get(operation, (operation, False))
    combine = _PLAIN.get(name)
    sources = _sources(operands[1:], (wave,))
    if combine is None or sources is None:
        return None
    (source,), names, mask, full = sources, registers(operands[0]), EXEC[: wave // 32], (1 << wave) - 1

    def step(state: State) -> None:
        before, value = read(state, mask), source(state)
        pair = (before, value) if swapped else (value, before)
        missing = unknown_of(pair)
        decided = _bitwise(name, pair, wave) if missing is not None else None
        result = combine(*pair) & full if missing is None else missing if decided is None else decided
        write(state, names, before)
        write(state, mask, result)
        state["scc"] = int(result != 0) if isinstance(result, int) else result

    return step


def _vector(instruction: Instruction, wave: int) -> Step | None:
    name, operands = instruction.opcode.name, instruction.operands
    mask, full = EXEC[: wave // 32], (1 << wave) - 1
    if (match := _COMPARISON.match(name)) is not None:
        bits = int(match[3])
        sources = _sources(operands[-2:], (bits, bits))
        written = tuple(name for group in instruction.effects.write_groups for name in group)
        return None if sources is None else _mask(_comparison(match), sources, written, mask, full)
    if name == "v_cndmask_b32":
        return _lane_select(operands, mask, wave)
    if _CARRY.match(name) is not None and "_nc_" not in name and len(operands) > 3:
        step = _carry(name, operands[0], registers(operands[1]), operands[2:4], _first(operands[4:] or ("vcc",)), full)
        return None if step is None else _where_active(step, mask, instruction)
    if name in {"v_mad_u64_u32", "v_mad_co_u64_u32"}:
        sources = _sources(operands[2:], (32, 32, 64))
        return None if sources is None else _lane(lambda a, b, c: a * b + c, sources, registers(operands[0]), mask)
    if name in _MBCNT_FIRST_LANE:
        return _lanes_before(name, operands, mask)
    known = _operation(name, scalar=False)
    if known is None:
        return None
    _short, operation, widths, bits = known
    sources = _sources(operands[1:], widths)
    names = registers(operands[0])[: bits // 32]
    if sources is None or len(names) != bits // 32:
        return None
    return _lane(operation, sources, names, () if name == "v_readfirstlane_b32" else mask)


def _lanes_before(name: str, operands: Sequence[str], mask: tuple[str, ...]) -> Step | None:
    """Return a step for ``v_mbcnt``: count the set mask bits of lower-numbered lanes, and add the second source."""
    sources, names, start = _sources(operands[1:], (32, 32)), registers(operands[0])[:1], _MBCNT_FIRST_LANE[name]
    if sources is None:
        return None

    def step(state: State) -> None:
        lane = state.get(LANE, 0)
        before = (1 << max(0, lane - start)) - 1 if isinstance(lane, int) else 0
        _lane(lambda bits, count: (bits & before).bit_count() + count, sources, names, mask)(state)

    return step


def _first(operands: Sequence[str]) -> str:
    names = registers(operands[0])
    return names[0] if names else ""


def _where_active(step: Step, mask: tuple[str, ...], instruction: Instruction) -> Step:
    """Return a step that does nothing in an inactive lane; its results are unknown if the lane mask is unknown."""
    forget = _forget(instruction)

    def active(state: State) -> None:
        lanes = read(state, mask)
        if lanes == 0:
            return
        (step if isinstance(lanes, int) else forget)(state)

    return active


def _lane(operation: Operation, sources: Sequence[Source], names: tuple[str, ...], mask: tuple[str, ...]) -> Step:
    """Return a step that writes a result to VGPRs if the lane is active; if ``mask`` is empty, it always writes."""
    full = (1 << 32 * len(names)) - 1

    def step(state: State) -> None:
        lanes = read(state, mask) if mask else 1
        if lanes == 0:
            return
        values = [source(state) for source in sources]
        missing = unknown_of([*values, lanes])
        write(state, names, operation(*values) & full if missing is None else missing)

    return step


def _mask(
    test: Operation, sources: Sequence[Source], written: tuple[str, ...], mask: tuple[str, ...], full: int
) -> Step:
    """Return a step for a vector comparison, whose result is a mask with all lanes set or none."""

    def step(state: State) -> None:
        lanes = read(state, mask)
        values = [source(state) for source in sources]
        missing = unknown_of(values)
        result: Number = (full if test(*values) else 0) if missing is None else missing
        if 0 in {lanes, result}:
            result = 0
        elif not isinstance(lanes, int):
            result = lanes | (result if not isinstance(result, int) else NOTHING)
        for start in range(0, len(written), len(mask)):
            write(state, written[start : start + len(mask)], result)

    return step


def _lane_select(operands: tuple[str, ...], mask: tuple[str, ...], wave: int) -> Step | None:
    condition = source_of(operands[3] if len(operands) > 3 else "vcc" if wave == 64 else "vcc_lo", wave)
    sources, names = _sources(operands[1:3], (32, 32)), registers(operands[0])
    if condition is None or sources is None:
        return None
    unset, is_set = sources

    def step(state: State) -> None:
        lanes, chosen = read(state, mask), condition(state)
        if lanes == 0:
            return
        if isinstance(chosen, int) and isinstance(lanes, int):
            write(state, names, (is_set if chosen else unset)(state))
            return
        values = (lanes, chosen, unset(state), is_set(state))
        write(state, names, unknown_of(values) or NOTHING)

    return step
