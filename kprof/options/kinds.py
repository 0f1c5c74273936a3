"""Kinds of option values, such as knobs, sizes and paths.

Each kind has one function that converts values from the command line, Python, ``kprof.toml`` and agents.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from kprof.errors import KprofError
from kprof.inputs.assignments import assignments, listed, value_of
from kprof.options.option import Kind


def _texts(given: Any) -> list[str]:
    """Convert a value or a sequence of values to a list of strings; ``None`` becomes an empty list."""
    if given is None:
        return []
    return [os.fspath(each) for each in ([given] if isinstance(given, str | os.PathLike) else given)]


def _names(given: Any, _flag: str) -> tuple[str, ...]:
    return tuple(listed(",".join(map(str, _texts(given)))))


def _comma_separated(given: Any, _flag: str) -> str | None:
    return given if given is None or isinstance(given, str) else ",".join(map(str, given)) or None


def _paths(given: Any, _flag: str) -> tuple[str, ...]:
    return tuple(_texts(given))


def _path(given: Any, _flag: str) -> str | None:
    return None if given is None else os.fspath(given)


def _assigned(given: Any, flag: str) -> dict[str, Any]:
    return dict(given or {}) if isinstance(given, Mapping) else assignments(_texts(given), flag)


def _switches(given: Any, flag: str) -> dict[str, str]:
    return {name: str(value) for name, value in _assigned(given, flag).items()}


def _problems(given: Any, flag: str) -> tuple[Mapping[str, Any], ...]:
    """Return the problems in a mapping, a text or a list of these; semicolons separate the problems in a text."""
    if given is None or isinstance(given, Mapping):
        return (dict(given),) if given else ()
    problems: list[Mapping[str, Any]] = []
    for one in [given] if isinstance(given, str) else given:
        problems += [one] if isinstance(one, Mapping) else [assignments([part], flag) for part in one.split(";")]
    return tuple(problem for problem in problems if problem)


def _supplied(given: Any, _flag: str) -> dict[str, int | Sequence[int]]:
    from kprof.inputs.supplied_values import supplied_values

    return dict(given or {}) if isinstance(given, Mapping) else dict(supplied_values(_texts(given)))


def _renamed(given: Any, flag: str) -> dict[str, str | None]:
    """Parse ``KNOB=NAME,...``; an empty NAME becomes ``None``, which omits the knob."""
    if isinstance(given, Mapping):
        return dict(given)
    result: dict[str, str | None] = {}
    for part in (piece.strip() for item in _texts(given) for piece in item.split(",")):
        name, equals, to = part.partition("=")
        if not equals or not name.strip():
            raise KprofError(f"{flag} takes KNOB=NAME, got {part!r}")
        result[name.strip()] = to.strip() or None
    return result


def _fields(given: Any, flag: str) -> dict[str, str]:
    if isinstance(given, Mapping):
        return {name: str(value) for name, value in given.items()}
    found = {}
    for setting in _texts(given):
        name, equals, value = setting.partition("=")
        if not equals or not value:
            raise KprofError(f"{flag} takes NAME=VALUE, got {setting!r}")
        found[name] = value
    return found


def _size(given: Any, flag: str) -> tuple[int, ...]:
    if not isinstance(given, str):
        return tuple(given)
    parts = given.lower().split("x")
    if not all(part.isdecimal() and len(part) < 7 for part in parts):
        raise KprofError(f"{flag} takes sizes such as 64x64, got {given!r}")
    return tuple(int(part) for part in parts)


def _numbers(given: Any, flag: str) -> tuple[int, ...]:
    texts = [given] if isinstance(given, str | int) else list(given or ())
    if not all(str(one).isascii() and str(one).isdecimal() for one in texts):
        raise KprofError(f"{flag} takes a whole number, got {given!r}")
    return tuple(int(one) for one in texts)


def _rows(given: Any, flag: str) -> tuple[int, ...]:
    if given is None or not isinstance(given, str):
        return tuple(given or ())
    parts = [part.strip() for part in given.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise KprofError(f"{flag} takes numbers of rows, got {given[:80]!r}")
    return tuple(int(part) for part in parts)


_UNITS = {"": 1, "B": 1, "K": 1 << 10, "KB": 1 << 10, "KIB": 1 << 10, "M": 1 << 20, "MB": 1 << 20, "MIB": 1 << 20}


def _bytes(given: Any, flag: str) -> int | None:
    """Parse a number of bytes: ``32768``, ``32K`` or ``32KiB``."""
    if given is None or isinstance(given, int):
        return given
    plain = given.strip().upper().replace(",", "").replace("_", "")
    digits = plain.rstrip("BKMI")
    unit = _UNITS.get(plain[len(digits) :].strip())
    if not (digits.strip().isdecimal() and digits.isascii()) or unit is None or len(digits) > 20:
        raise KprofError(f"{flag} takes bytes such as 32768 or 32K, got {given!r}")
    return int(digits) * unit


def _grid(given: Any, flag: str) -> tuple[int | str, ...]:
    """Parse the axes of a grid: numbers, or formulas of sizes and knobs, whose names are checked later."""
    if given is None:
        return ()
    axes = _axes(given) if isinstance(given, str) else [given] if isinstance(given, int) else list(given)
    if not axes and not isinstance(given, str):
        return ()
    found = tuple(_axis(each, flag) for each in axes)
    if not 1 <= len(found) <= 3:
        hint = "64;32 or 'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'"
        raise KprofError(f"{flag} takes one to three numbers or formulas of workgroups, got {given!r}", hint=hint)
    return found


def _axes(text: str) -> list[str]:
    """Split a grid into axes at semicolons, and at commas outside brackets: ``64,32`` has two axes."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == ";" or (letter == "," and depth == 0):
            found.append("")
        else:
            found[-1] += letter
    return found if text.strip() else []


def _axis(given: Any, flag: str) -> int | str:
    from kprof.expressions import SCALARS, parse

    value = value_of(given) if isinstance(given, str) else given
    if isinstance(value, str) and value:
        parse(value, flag, SCALARS)
        return value
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise KprofError(
            f"{flag} takes one to three numbers or formulas of workgroups, got {given!r}",
            hint="64;32 or 'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'",
        )
    return value


Scalar = int | float | bool | str
_VALUES = "Mapping[str, Any] | str | None"
_PATHS = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"

WORDS = Kind("str | Sequence[str] | None", _comma_separated, str, several=True)
NAMES = Kind("str | Sequence[str]", _names, str | list[str], several=False)
LISTED = Kind("str | Sequence[str]", _names, list[str])
TEXTS = Kind("str | Sequence[str]", _paths, list[str])
PATHS = Kind(_PATHS, _paths, list[str])
PATH = Kind("str | os.PathLike[str] | None", _path, str, several=False)
ASSIGNMENTS = Kind(_VALUES, _assigned, dict[str, Scalar])
SWITCHES = Kind(_VALUES, _switches, dict[str, Scalar])
PROBLEMS = Kind("Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None", _problems, dict[str, Scalar])
SUPPLIED = Kind("Mapping[str, int | Sequence[int]] | str | None", _supplied, dict[str, int | list[int]])
RENAMED = Kind("Mapping[str, str | None] | str | None", _renamed, dict[str, str | None])
FIELDS = Kind("Mapping[str, str] | str | None", _fields, dict[str, str])
GRID = Kind("str | int | Sequence[int | str] | None", _grid, str | int | list[int | str], several=False)
SIZE = Kind("str | Sequence[int]", _size, list[int], several=False)
NUMBERS = Kind("int | Sequence[int]", _numbers, list[int])
ROWS = Kind("str | Sequence[int] | None", _rows, list[int], several=False)
BYTES = Kind("int | str | None", _bytes, int | str, several=False)
