"""The smallest shared library that there can be: a name, and nothing in it.

LLVM's library in ``rocm-bindings-compiler`` asks for ROCm's builds of zlib and zstd when it is loaded, and calls
neither when it disassembles. Where ROCm is not installed, empty libraries of these names let it load. Layout: ELF-64
System V ABI, chapters 4 and 5.
"""

import struct

_ALIGN = 0x1000
_ET_DYN, _EM_X86_64, _PT_LOAD, _PT_DYNAMIC, _PT_GNU_STACK = 3, 62, 1, 2, 0x6474E551
_DT_NULL, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT, _DT_SONAME = 0, 4, 5, 6, 10, 11, 14
_READ, _WRITE = 4, 2


def stub_library(name: str) -> bytes:
    """An x86-64 shared library with a ``DT_SONAME`` and no symbols."""
    strings = b"\0" + name.encode("ascii") + b"\0"
    headers = 64 + 3 * 56
    symbols_at = headers
    hash_at = symbols_at + 24
    strings_at = hash_at + 16
    dynamic_at = -(-(strings_at + len(strings)) // 8) * 8
    entries = [
        (_DT_SONAME, 1), (_DT_HASH, hash_at), (_DT_STRTAB, strings_at), (_DT_SYMTAB, symbols_at),
        (_DT_STRSZ, len(strings)), (_DT_SYMENT, 24), (_DT_NULL, 0),
    ]  # fmt: skip
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    size = dynamic_at + len(dynamic)
    magic = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = struct.pack("<16sHHIQQQIHHHHHH", magic, _ET_DYN, _EM_X86_64, 1, 0, 64, 0, 0, 64, 56, 3, 0, 0, 0)
    rows = [
        (_PT_LOAD, 0, size, _ALIGN), (_PT_DYNAMIC, dynamic_at, len(dynamic), 8), (_PT_GNU_STACK, 0, 0, 16),
    ]  # fmt: skip
    segments = b"".join(
        struct.pack("<IIQQQQQQ", kind, _READ | _WRITE, at, at, at, length, length, align)
        for kind, at, length, align in rows
    )
    # One bucket, one symbol, and no chain: the symbol table has only its empty first entry.
    table = struct.pack("<IIII", 1, 1, 0, 0)
    body = header + segments + bytes(24) + table + strings
    return body.ljust(dynamic_at, b"\0") + dynamic
