"""Read ``--value NAME=N`` and ``--value NAME=FILE.json``: argument values that a launch's description lacks."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kprof.errors import InputError, KprofError
from kprof.inputs.assignments import assignments

MOST = 1 << 22
"""Maximum number of integers in a tensor."""

_BYTES = 64 << 20


def supplied_values(items: Iterable[str]) -> dict[str, int | tuple[int, ...]]:
    """Return the values by argument name: a number, or a tuple of a tensor's integers in memory order.

    Raises:
        KprofError: if an item is neither a number nor a file, or if the file is not JSON or contains values other than
            integers.
    """
    return {name: _value(name, value) for name, value in assignments(items, "--value").items()}


def _value(name: str, value: Any) -> int | tuple[int, ...]:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str) or not value.endswith(".json"):
        raise KprofError(f"--value takes NAME=N or NAME=FILE.json, got {name}={value}")
    return _read(value)


def _read(value: str) -> tuple[int, ...]:
    """Return the integers in a JSON file."""
    import msgspec

    from kprof.inputs import plain_files
    from kprof.inputs.boundary import JSON_ERRORS

    try:
        found = msgspec.json.decode(plain_files.read_bytes(Path(value), _BYTES))
    except FileNotFoundError:
        raise InputError("no such file", path=value) from None
    except JSON_ERRORS as error:
        raise InputError(f"is not JSON: {error}", path=value) from None
    numbers = tuple(_flatten(found, value))
    if not numbers or len(numbers) > MOST:
        raise InputError(f"has {len(numbers):,} numbers; a tensor has 1 to {MOST:,}", path=value)
    return numbers


def _flatten(found: Any, path: str) -> Sequence[int]:
    """Return the integers of nested lists in row-major order."""
    numbers: list[int] = []
    pending = [found]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending += reversed(item)
        elif isinstance(item, int) and not isinstance(item, bool):
            numbers.append(item)
        else:
            raise InputError(f"contains a {type(item).__name__}; values are integers or lists of integers", path=path)
    return numbers
