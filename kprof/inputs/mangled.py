"""Demangle C++ names (Itanium C++ ABI, section 5.1).

Only the parts that occur in kernels' names are supported: namespaces, templates, literals, function types, lambdas and
operators. For a name with anything else (expressions, member pointers), :func:`demangled` returns ``None``.

No library is suitable. Names come from untrusted files, and ``__cxa_demangle`` aborts the process on some of them.
The Python package for demangling supports neither lambdas nor local names, which most of PyTorch's kernels contain.
"""

import re
from collections.abc import Callable
from functools import lru_cache

_BUILTIN = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double",
    "e": "long double", "g": "__float128", "z": "...",
    "Dh": "_Float16", "DF16_": "_Float16", "DF16b": "std::bfloat16_t", "Di": "char32_t", "Ds": "char16_t",
    "Du": "char8_t", "Da": "auto", "Dn": "std::nullptr_t",
}  # fmt: skip
_STANDARD = {
    "Sa": "std::allocator", "Sb": "std::basic_string", "Ss": "std::string", "Si": "std::istream",
    "So": "std::ostream", "Sd": "std::iostream",
}  # fmt: skip
_OPERATOR = {
    "cl": "()", "ix": "[]", "pl": "+", "mi": "-", "ml": "*", "dv": "/", "rm": "%", "eq": "==", "ne": "!=", "lt": "<",
    "gt": ">", "le": "<=", "ge": ">=", "aS": "=", "pL": "+=", "mI": "-=", "mL": "*=", "dV": "/=", "pp": "++",
    "mm": "--", "ls": "<<", "rs": ">>", "aa": "&&", "oo": "||", "an": "&", "or": "|", "eo": "^", "co": "~", "nt": "!",
    "pt": "->", "de": "*", "ad": "&", "ng": "-",
}  # fmt: skip
_SUFFIX = {"b": "", "i": "", "j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}
_QUALIFIERS = {"r": " restrict", "V": " volatile", "K": " const"}
_REFERENCES = {"P": "*", "R": "&", "O": "&&"}
_NUMBER = re.compile(r"n?[0-9]+")
_LONGEST, _DEEPEST = 16_000, 100
# Substitutions can make a short name expand to an exponentially long text.
_LONGEST_TEXT = 1 << 18


class _UnknownError(Exception):
    """The name uses an unsupported part of the grammar."""


@lru_cache(maxsize=1 << 14)
def demangled(name: str) -> str | None:
    """Return the demangled ``name`` without the function's return type, or ``None`` if it cannot be parsed.

    >>> demangled("_Z6kernelILi4EfEvPT0_i"), demangled("_ZN2ck4gemmEv"), demangled("kernel")
    ('kernel<4, float>(float*, int)', 'ck::gemm()', None)
    """
    if not name.startswith("_Z") or len(name) > _LONGEST:
        return None
    reading = _Reading(name)
    try:
        text = reading.encoding()
    except (_UnknownError, IndexError, ValueError, RecursionError):
        return None
    # The compiler appends suffixes such as ".kd" or ".llvm.123" to clones.
    return text if reading.at == len(name) or name[reading.at] == "." else None


class _Reading:
    """Parser of one mangled name; each method parses one production of the grammar."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 2
        # A template parameter is stored as its number, because a substitution of it may refer to another argument.
        self._seen: list[str | int] = []
        self._arguments: list[str] = []
        self._depth = 0

    def _next(self, *options: str) -> bool:
        """Consume one of the given prefixes if the remaining text starts with it, and return whether it did."""
        for one in options:
            if self.text.startswith(one, self.at):
                self.at += len(one)
                return True
        return False

    def _expect(self, one: str) -> None:
        if not self._next(one):
            raise _UnknownError(self.at)

    def _list_until_e(self, of: Callable[[], str]) -> list[str]:
        found = []
        while not self._next("E"):
            found.append(of())
        return found

    def _remember(self, text: str) -> str:
        if len(text) > _LONGEST_TEXT:
            raise _UnknownError(self.at)
        self._seen.append(text)
        return text

    def encoding(self, *, result: bool = False) -> str:
        """Parse a function with its parameters and, if requested, its return type, or any other named entity."""
        name, template, qualifiers = self._name()
        if self.at >= len(self.text) or self.text[self.at] in "E.":
            return name
        returned = f"{self._type()} " if template else ""
        parameters = []
        while self.at < len(self.text) and self.text[self.at] not in "E.":
            parameters.append(self._type())
        listed = "" if parameters == ["void"] else ", ".join(one for one in parameters if one)
        return f"{returned if result else ''}{name}({listed}){qualifiers}"

    def _name(self) -> tuple[str, bool, str]:
        """Return a name, whether it ends with template arguments, and the qualifiers that follow the parameters."""
        if self._next("N"):
            return self._nested()
        if self._next("Z"):
            return self._local()
        if self.text.startswith("S", self.at) and not self.text.startswith("St", self.at):
            name = self._substitution()
        else:
            std = self._next("St")
            name = ("std::" if std else "") + self._unqualified("")
            if self.text.startswith("I", self.at):
                self._remember(name)
        if self.text.startswith("I", self.at):
            return name + self._template_arguments(), True, ""
        return name, False, ""

    def _nested(self) -> tuple[str, bool, str]:
        qualifiers = ""
        while self.text[self.at] in _QUALIFIERS:
            qualifiers = _QUALIFIERS[self.text[self.at]] + qualifiers
            self.at += 1
        if self._next("R"):
            qualifiers += " &"
        elif self._next("O"):
            qualifiers += " &&"
        name, last, template = "", "", False
        while not self._next("E"):
            template = False
            if self.text[self.at] == "S" and not self.text.startswith("St", self.at):
                name = last = self._substitution()
                continue
            if self.text[self.at] == "T":
                name = last = self._parameter(remember=True)
                continue
            if self.text[self.at] == "I":
                name, template = name + self._template_arguments(), True
            elif self._next("St"):
                name = "std"
                continue
            else:
                last = self._unqualified(last)
                name = f"{name}::{last}" if name else last
            if not self.text.startswith("E", self.at):
                self._remember(name)
        return name, template, qualifiers

    def _local(self) -> tuple[str, bool, str]:
        """Parse an entity inside a function; template arguments of that function's name do not apply outside it."""
        outside = self._arguments
        function = self.encoding()
        self._expect("E")
        self._arguments = outside
        if self._next("s"):
            self._discriminator()
            return f"{function}::string literal", False, ""
        inside, template, qualifiers = self._name()
        self._discriminator()
        return f"{function}::{inside}", template, qualifiers

    def _discriminator(self) -> None:
        if match := re.compile(r"__[0-9]+_|_[0-9]").match(self.text, self.at):
            self.at = match.end()

    def _unqualified(self, scope: str) -> str:
        char = self.text[self.at]
        if self._next("L"):
            return self._unqualified(scope)
        if char.isdigit():
            return self._source_name()
        if self._next("Ul"):
            parameters = [one for one in self._list_until_e(self._type) if one != "void"]
            return f"{{lambda({', '.join(parameters)})#{self._sequence() + 2}}}"
        if self._next("Ut"):
            return f"{{unnamed type#{self._sequence() + 2}}}"
        if self._next("C1", "C2", "C3"):
            return scope
        if self._next("D0", "D1", "D2"):
            return f"~{scope}"
        if self._next("cv"):
            return f"operator {self._type()}"
        symbol = _OPERATOR.get(self.text[self.at : self.at + 2])
        if symbol is None:
            raise _UnknownError(self.at)
        self.at += 2
        return f"operator{symbol}"

    def _source_name(self) -> str:
        length = int(self._number())
        name = self.text[self.at : self.at + length]
        if not 0 < length <= len(name):
            raise _UnknownError(self.at)
        self.at += length
        return "(anonymous namespace)" if name.startswith("_GLOBAL__N") else name

    def _number(self) -> str:
        match = _NUMBER.match(self.text, self.at)
        if match is None:
            raise _UnknownError(self.at)
        self.at = match.end()
        return match[0].replace("n", "-")

    def _sequence(self) -> int:
        """Parse a sequence number: ``_`` is -1, ``0_`` is 0."""
        number = -1 if self.text[self.at] == "_" else int(self._number())
        self._expect("_")
        return number

    def _substitution(self) -> str:
        for short, name in _STANDARD.items():
            if self._next(short):
                return name
        self._expect("S")
        digits = re.compile(r"[0-9A-Z]*").match(self.text, self.at)
        self.at = digits.end() if digits else self.at
        self._expect("_")
        seen = self._seen[int(digits[0], 36) + 1 if digits and digits[0] else 0]
        return self._arguments[seen] if isinstance(seen, int) else seen

    def _parameter(self, *, remember: bool = False) -> str:
        """Return the template argument that a template parameter refers to."""
        self._expect("T")
        place = self._number_of_parameter()
        if remember:
            self._seen.append(place)
        return self._arguments[place]

    def _number_of_parameter(self) -> int:
        match = re.compile(r"([0-9A-Z]*)_").match(self.text, self.at)
        if match is None:
            raise _UnknownError(self.at)
        self.at = match.end()
        return int(match[1], 36) + 1 if match[1] else 0

    def _template_arguments(self) -> str:
        self._expect("I")
        found = self._list_until_e(self._argument)
        self._arguments = found
        listed = ", ".join(one for one in found if one)
        return f"<{listed}>"

    def _argument(self) -> str:
        if self._next("J"):
            return ", ".join(one for one in self._list_until_e(self._argument) if one)
        if self._next("L"):
            return self._literal()
        if self._next("X"):
            found = self._parameter() if self.text.startswith("T", self.at) else self._address()
            self._expect("E")
            return found
        return self._type()

    def _address(self) -> str:
        self._expect("adL")
        return self._literal()

    def _literal(self) -> str:
        if self._next("_Z"):
            outside = self._arguments
            name = self.encoding(result=True)
            self._arguments = outside
            self._expect("E")
            return f"&({name})" if name.endswith(")") else f"&{name}"
        of = self._type()
        value = self._number()
        self._expect("E")
        if of == "bool":
            return "true" if value == "1" else "false"
        letter = next((letter for letter, name in _BUILTIN.items() if name == of), "")
        return value + _SUFFIX[letter] if letter in _SUFFIX else f"({of}){value}"

    def _type(self) -> str:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _UnknownError(self.at)
        found = self._any_type()
        self._depth -= 1
        return found

    def _any_type(self) -> str:
        for length in (1, 2, 5):
            if (name := _BUILTIN.get(self.text[self.at : self.at + length])) is not None:
                self.at += length
                return name
        char = self.text[self.at]
        if char in _QUALIFIERS:
            return self._qualified()
        if char in _REFERENCES:
            self.at += 1
            return self._remember(_add_mark(self._type(), _REFERENCES[char]))
        if self._next("F"):
            result, *parameters = self._list_until_e(self._type)
            return self._remember(f"{result} ({', '.join(one for one in parameters if one != 'void')})")
        if self._next("Dp"):
            return self._type()
        if self._next("Dv"):
            length_of = self._number()
            self._expect("_")
            return self._remember(f"{self._type()} vector[{length_of}]")
        if self._next("A"):
            count = self._number()
            self._expect("_")
            return self._remember(f"{self._type()} [{count}]")
        if char == "T":
            name = self._parameter(remember=True)
        elif char == "S" and not self.text.startswith("St", self.at):
            name = self._substitution()
            if not self.text.startswith("I", self.at):
                return name
        else:
            outside, name = self._arguments, self._name()[0]
            self._arguments = outside
            return self._remember(name)
        if self.text.startswith("I", self.at):
            outside = self._arguments
            name = self._remember(name + self._template_arguments())
            self._arguments = outside
        return name

    def _qualified(self) -> str:
        words = ""
        while self.text[self.at] in _QUALIFIERS:
            words = _QUALIFIERS[self.text[self.at]] + words
            self.at += 1
        return self._remember(self._type() + words)


def _add_mark(of: str, mark: str) -> str:
    """Add a pointer or reference mark to a type; in a function or array type it goes inside, as in ``int (*)()``."""
    if of.endswith("&") and mark.startswith("&"):
        return of if mark == "&&" or not of.endswith("&&") else of[:-1]
    match = re.match(r"(.* )(\(.*\)|\[[0-9]+\])$", of)
    if match and not of.endswith("*") and _balanced(match[2]):
        return f"{match[1]}({mark}){match[2] if match[2].startswith('(') else ' ' + match[2]}"
    return of + mark


def _balanced(text: str) -> bool:
    depth = 0
    for place, char in enumerate(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0)
        if depth == 0:
            return place == len(text) - 1
    return False
