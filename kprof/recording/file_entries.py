"""Find the entry of a file of tuned configurations that a launch used, even if several entries have equal values.

Imports only the standard library.
"""

import gc
from collections.abc import Iterable, Iterator, Sequence
from types import FrameType
from typing import Any

_MIN_COMMON_NAMES = 3
_MOST_NAMES = 64
_MAX_NESTING = 4
_ROWS = ("M", "num_tokens")


def keys_in_use(frame: FrameType | None, names: Iterable[str]) -> list[list[str]]:
    """Return the keys that lead through nested dictionaries to a configuration in a caller's local variable.

    Each result is a list of keys, the innermost last. A server keeps a file's entries in a dictionary by batch size and
    passes one of the entries on, so the local variable and the dictionary's value are the same object.

    Args:
        frame: frame of the launch; its callers are searched, too.
        names: names of the launch's compile-time arguments and options; a configuration has at least three of them.
    """
    wanted = set(names)
    held = {id(found): found for found in _configurations(frame, wanted)}
    chains: dict[tuple[str, ...], None] = {}
    inner: dict[int, tuple[Any, list[tuple[str, ...]]]] = {number: (found, [()]) for number, found in held.items()}
    for _ in range(_MAX_NESTING):
        inner = _holders(inner)
        chains.update(dict.fromkeys(chain for _, found in inner.values() for chain in found))
    return [list(chain) for chain in chains]


def batch_of(frame: FrameType | None) -> int | None:
    """Return the number of rows of the activations, from the innermost caller that has a variable for it, or ``None``.

    The variables' names are those of vLLM 0.33.0 and SGLang 0.5.23, which use the entry whose key is nearest to this
    number (``fused_moe.py``, ``fp8_utils.py``, ``fused_moe_triton_config.py``, ``fp8_kernel.py``).
    """
    while frame is not None:
        for name in _ROWS:
            if type(rows := frame.f_locals.get(name)) is int:
                return rows
        frame = frame.f_back
    return None


def _configurations(frame: FrameType | None, names: set[str]) -> Iterator[dict[str, Any]]:
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if type(value) is dict and len(value) <= _MOST_NAMES and len(names & value.keys()) >= _MIN_COMMON_NAMES:
                yield value
        frame = frame.f_back


def _holders(inner: "dict[int, tuple[Any, list[tuple[str, ...]]]]") -> "dict[int, tuple[Any, list[tuple[str, ...]]]]":
    """Return the dictionaries that hold the given objects, with the keys from each dictionary to a configuration."""
    found: dict[int, tuple[Any, list[tuple[str, ...]]]] = {}
    for holder in gc.get_referrers(*(value for value, _ in inner.values())) if inner else ():
        # A module's variables are a dictionary, too, but no entry of a file. A file's keys are names and batch sizes.
        if type(holder) is not dict or "__name__" in holder:
            continue
        chains: Sequence[tuple[str, ...]] = [
            (str(key), *chain)
            for key, value in list(holder.items())
            if isinstance(key, str | int) and id(value) in inner
            for chain in inner[id(value)][1]
        ]
        if chains:
            found[id(holder)] = holder, list(chains)
    return found
