"""What a format is, and how the right one is found by looking at the content."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from kprof.inputs.results.model import ToolResults

HEAD = 1 << 17
"""Bytes by which a file is recognised: logs begin with what the program says of itself."""


@dataclass(frozen=True)
class ResultFormat:
    """A kind of file.

    Attributes:
        name: what it is, for people.
        recognise: whether the first bytes of a file are of this format.
        read: the whole file; the second argument is what messages call it.
    """

    name: str
    recognise: Callable[[bytes], bool]
    read: Callable[[Path, str], ToolResults]


@cache
def formats() -> tuple[ResultFormat, ...]:
    """All formats, in the order of their files' names."""
    from kprof.inputs.results import formats as folder

    names = sorted(module.name for module in iter_modules(folder.__path__) if not module.name.startswith("_"))
    return tuple(import_module(f"{folder.__name__}.{name}").FORMAT for name in names)
