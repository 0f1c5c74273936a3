"""Kernel arguments as the metadata of a compiled kernel lists them: name, position in the argument segment, kind.

Source: LLVM, User Guide for AMDGPU Backend, "Code Object V3 Metadata": ``.args``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_HIDDEN = "hidden_"
_WORD = re.compile(r"kernarg\[(\d{1,4})\]")
_POINTERS = frozenset({"global_buffer", "dynamic_shared_pointer"})
_MAX_ARGUMENTS = 4096
"""Maximum number of arguments, and maximum offset of an argument in bytes. The hardware limits the segment to 4 KiB."""


@dataclass(frozen=True)
class KernelArgument:
    """One argument of a compiled kernel.

    Attributes:
        name: name in the metadata, else ``arg0``, ``arg1``, ... by position. Triton writes no names.
        offset: position in the argument segment, in bytes.
        size: size in bytes.
        kind: ``.value_kind``: ``by_value``, ``global_buffer``, ``hidden_group_size_x``, ...
    """

    name: str
    offset: int
    size: int
    kind: str

    @property
    def is_pointer(self) -> bool:
        """Whether the argument is a pointer to memory."""
        return self.kind in _POINTERS

    @property
    def is_hidden(self) -> bool:
        """Whether the runtime and not the program passes the argument."""
        return self.kind.startswith(_HIDDEN)


def kernel_arguments(metadata: Mapping[str, Any]) -> tuple[KernelArgument, ...]:
    """Return the arguments of a kernel's metadata entry in order; malformed entries are left out."""
    entries = metadata.get(".args")
    found = []
    for number, entry in enumerate(entries[:_MAX_ARGUMENTS] if isinstance(entries, list) else ()):
        if not isinstance(entry, Mapping):
            continue
        name, kind = entry.get(".name"), entry.get(".value_kind")
        offset, size = entry.get(".offset"), entry.get(".size")
        if (
            isinstance(offset, int)
            and isinstance(size, int)
            and 0 <= offset < _MAX_ARGUMENTS
            and 0 < size <= _MAX_ARGUMENTS
        ):
            # If a parameter x of a HIP kernel contains a pointer to global memory, clang names the argument x.coerce.
            called = name.removesuffix(".coerce") if isinstance(name, str) and name else f"arg{number}"
            found.append(KernelArgument(called, offset, size, kind if isinstance(kind, str) else ""))
    return tuple(found)


def word_name(offset: int) -> str:
    """Return kprof's name for the 32-bit word at a byte offset of the argument segment, such as ``kernarg[8]``.

    Words are named by offset because some arguments have no name.
    """
    return f"kernarg[{offset}]"


def word_offset(name: str) -> int | None:
    """Return the offset in a name that :func:`word_name` returned; ``None`` for other names."""
    found = _WORD.fullmatch(name)
    return None if found is None else int(found[1])
