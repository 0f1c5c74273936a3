"""Evaluate integer expressions of the assembler, such as ``max(totalnumvgprs(.Lk.num_agpr, .Lk.num_vgpr), 1)``.

If a kernel calls functions, newer LLVM writes its resources as symbols and expressions. This module supports the
operations that LLVM uses: arithmetic, comparison, logic, ``max``, ``or``, ``alignto``, ``totalnumvgprs``,
``extrasgprs``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kprof.inputs.amdgcn.isa import Generation, generation_of, has_architected_flat_scratch, has_unified_registers

_WORD = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]{1,16}|\d{1,19})|([\w.$@\"]+)|(<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>(),]))"
)
_MAX_DEPTH = 40
_MAX_LENGTH = 20_000
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("==", "!=", "<", "<=", ">", ">="),
    ("|", "^", "&"),
    ("+", "-"),
    ("*", "/", "%", "<<", ">>"),
)
_BINARY: Mapping[str, Callable[[int, int], int]] = {
    "||": lambda a, b: int(bool(a) or bool(b)),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "<<": lambda a, b: a << b if 0 <= b < 64 else 0,
    ">>": lambda a, b: a >> b if 0 <= b < 64 else 0,
}


class UnknownValueError(Exception):
    """The text uses an undefined name or is not an expression."""


def _align(value: int, granule: int) -> int:
    return -(-value // granule) * granule if granule > 0 else value


def extra_sgprs(vcc: int, flat_scratch: int, xnack: int, arch: str) -> int:
    """Return the number of SGPRs that an architecture reserves beyond the numbered ones.

    On gfx9, the total is 2 with VCC, 4 with XNACK and 6 with flat scratch. With architected flat scratch (gfx940 and
    later) it is always 6. From gfx10 on, it is 0. Source: LLVM's AMDGPU usage guide, ``.amdhsa_reserve_*``.
    """
    extra = 2 if vcc else 0
    generation = generation_of(arch)
    if generation not in {Generation.GFX8, Generation.GFX9}:
        return extra
    if xnack:
        extra = 4
    return 6 if flat_scratch or has_architected_flat_scratch(arch) else extra


@dataclass
class _Reader:
    words: list[str]
    symbols: Mapping[str, str]
    arch: str
    depth: int
    memo: dict[str, int | None]
    position: int = 0

    def peek(self) -> str:
        return self.words[self.position] if self.position < len(self.words) else ""

    def take(self) -> str:
        word = self.peek()
        self.position += 1
        return word

    def level(self, number: int = 0) -> int:
        if number == len(_LEVELS):
            return self.unary()
        value = self.level(number + 1)
        while self.peek() in _LEVELS[number]:
            operator = self.take()
            value = _BINARY[operator](value, self.level(number + 1))
            if abs(value) >= 1 << 64:
                raise UnknownValueError
        return value

    def unary(self) -> int:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise UnknownValueError
        word = self.take()
        if word == "-":
            value = -self.unary()
        elif word == "~":
            value = ~self.unary()
        elif word == "!":
            value = int(not self.unary())
        elif word == "(":
            value = self.level()
            self.expect(")")
        elif word[:1].isdecimal():
            value = int(word, 16) if word[:2] in {"0x", "0X"} else int(word)
        elif word and self.peek() == "(":
            value = self.call(word)
        else:
            value = self.symbol(word)
        self.depth -= 1
        return value

    def expect(self, word: str) -> None:
        if self.take() != word:
            raise UnknownValueError

    def call(self, name: str) -> int:
        self.expect("(")
        arguments = [self.level()]
        while self.peek() == ",":
            self.take()
            arguments.append(self.level())
        self.expect(")")
        if name == "max":
            return max(arguments)
        if name == "min":
            return min(arguments)
        if name == "or":
            value = 0
            for argument in arguments:
                value |= argument
            return value
        if name == "alignto" and len(arguments) == 2:
            return _align(*arguments)
        if name == "totalnumvgprs" and len(arguments) == 2:
            agpr, vgpr = arguments
            return _align(vgpr, 4) + agpr if has_unified_registers(self.arch) and agpr else max(vgpr, agpr)
        if name == "extrasgprs" and len(arguments) == 3:
            vcc, flat_scratch, xnack = arguments
            return extra_sgprs(vcc, flat_scratch, xnack, self.arch)
        raise UnknownValueError

    def symbol(self, name: str) -> int:
        text = self.symbols.get(name)
        if text is None or self.depth > _MAX_DEPTH:
            raise UnknownValueError
        if name not in self.memo:
            self.memo[name] = None  # a symbol that depends on itself has no value
            self.memo[name] = _evaluate(text, self.symbols, self.arch, self.depth + 1, self.memo)
        value = self.memo[name]
        if value is None:
            raise UnknownValueError
        return value


def _evaluate(text: str, symbols: Mapping[str, str], arch: str, depth: int, memo: dict[str, int | None]) -> int:
    words: list[str] = []
    position = 0
    text = text.strip()
    if len(text) > _MAX_LENGTH:
        raise UnknownValueError
    while position < len(text):
        match = _WORD.match(text, position)
        if match is None:
            raise UnknownValueError
        words.append(match[1] or match[2] or match[3])
        position = match.end()
    reader = _Reader(words, symbols, arch, depth, memo)
    value = reader.level()
    if reader.position != len(words):
        raise UnknownValueError
    return value


def evaluate(text: str, symbols: Mapping[str, str], arch: str) -> int | None:
    """Return the value of an expression, or ``None`` if it cannot be determined.

    Args:
        text: the expression.
        symbols: expression of each symbol, as in ``.set name, expression``.
        arch: architecture; it decides how VGPRs and AGPRs add up and which SGPRs are reserved.
    """
    try:
        return _evaluate(text, symbols, arch, 0, {})
    except UnknownValueError:
        return None
