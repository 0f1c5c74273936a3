"""One spelling for each source path, so that the readers of assembly and of MLIR agree on it.

LLVM writes bytes beyond ASCII as octal numbers and MLIR writes them as hexadecimal ones; both mean UTF-8.
"""

import re

_OCTAL = re.compile(rb"\\(?:([0-7]{1,3})|(.))", re.DOTALL)
_HEXADECIMAL = re.compile(rb"\\([0-9A-Fa-f]{2})")
_SAME_FOLDER = re.compile(r"/(?:\.?/)+")


def from_assembly(text: str) -> str:
    """Return a string of an assembler directive, whose bytes may be octal numbers behind a backslash."""
    if "\\" not in text:
        return text
    raw = text.encode("utf-8", "surrogateescape")
    return _decoded(_OCTAL.sub(lambda m: bytes([int(m[1], 8) & 0xFF]) if m[1] else m[2], raw))


def from_mlir(text: str) -> str:
    """Return a string of MLIR, whose bytes may be two hexadecimal digits behind a backslash."""
    if "\\" not in text:
        return text
    raw = text.encode("utf-8", "surrogateescape").replace(b"\\\\", b"\\5C").replace(b'\\"', b'"')
    return _decoded(_HEXADECIMAL.sub(lambda m: bytes([int(m[1], 16)]), raw))


def normalised(path: str) -> str:
    """Return a path without repeated separators and without ``/./``; symbolic links and ``..`` stay as they are."""
    if "//" not in path and "/." not in path and not path.startswith("./"):
        return path
    return _SAME_FOLDER.sub("/", path).removeprefix("./")


def _decoded(raw: bytes) -> str:
    """Decode UTF-8; bytes that are none become replacement characters, the same ones for every reader."""
    return raw.decode("utf-8", "replace")
