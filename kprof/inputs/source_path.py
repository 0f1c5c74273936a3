"""Normalise source paths, so that paths read from assembly, MLIR and LLVM IR can be compared.

LLVM writes the non-ASCII bytes of UTF-8 paths as octal escapes in assembly, and as hexadecimal escapes in MLIR and LLVM
IR. :func:`same` and :func:`below` compare paths of different origin.
"""

import ntpath
import os
import posixpath
import re
import unicodedata
from functools import lru_cache

_OCTAL = re.compile(rb"\\(?:([0-7]{1,3})|(.))", re.DOTALL)
_HEXADECIMAL = re.compile(rb"\\([0-9A-Fa-f]{2})")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_LETTERS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_SAME_FOLDER = re.compile(r"/(?:\.?/)+")


def from_assembly(text: str) -> str:
    """Decode a string of an assembler directive, in which bytes may be octal escapes."""
    if "\\" not in text:
        return text
    raw = text.encode("utf-8", "surrogateescape")
    return _decoded(_OCTAL.sub(lambda m: bytes([int(m[1], 8) & 0xFF]) if m[1] else _LETTERS.get(m[2], m[2]), raw))


def from_mlir(text: str) -> str:
    """Decode a string of MLIR, in which bytes may be escapes of two hexadecimal digits."""
    if "\\" not in text:
        return text
    raw = text.encode("utf-8", "surrogateescape").replace(b"\\\\", b"\\5C").replace(b'\\"', b'"')
    return _decoded(_HEXADECIMAL.sub(lambda m: bytes([int(m[1], 16)]), raw))


def normalised(path: str) -> str:
    """Return a path without repeated separators and without ``/./``; symbolic links and ``..`` stay as they are."""
    if "//" not in path and "/." not in path and not path.startswith("./"):
        return path
    return _SAME_FOLDER.sub("/", path).removeprefix("./")


def joined(folder: str, name: str) -> str:
    """Return the path of a file that debug information describes by folder and name."""
    if not folder or name.startswith("/") or _WINDOWS.match(name):
        return normalised(name)
    between = "" if folder.endswith(("/", "\\")) else "/"
    return normalised(f"{folder}{between}{name}")


@lru_cache(maxsize=4096)
def spelled(path: str) -> str:
    """Return a canonical spelling of a path for comparisons, not for opening the file.

    Accented letters become single characters (NFC), and a Windows path is converted to ``/`` and lower case.
    """
    text = unicodedata.normalize("NFC", path)
    if _WINDOWS.match(text):
        return ntpath.normpath(text).replace("\\", "/").lower()
    return posixpath.normpath(text) if text else text


def _real(path: str, here: str) -> str:
    """Return the canonical spelling of a path relative to a folder after resolving links."""
    try:
        return spelled(os.path.realpath(os.path.join(here, path)))  # noqa: PTH118
    except (OSError, ValueError):
        return spelled(path)


def same(one: str, other: str) -> bool:
    """Return whether two paths name the same file, as written or after resolving links."""
    if one == other or spelled(one) == spelled(other):
        return True
    here = os.getcwd()  # noqa: PTH109 - a string is needed
    return _real(one, here) == _real(other, here)


def below(path: str, folder: str) -> str | None:
    """Return a path relative to a folder that contains it, as written or after resolving links; else ``None``."""
    for make in (spelled, lambda each: _real(each, os.getcwd())):  # noqa: PTH109 - a string is needed
        text, start = make(path), make(folder).rstrip("/") + "/"
        if text.startswith(start) and len(text) > len(start):
            return text[len(start) :]
    return None


def in_moved(text: str, before: str, now: str) -> str:
    """Replace one folder by another in the text of assembly, MLIR or LLVM IR, with or without escaped bytes."""
    # The folder occurs in quotes, either alone in .file or as the beginning of a path in loc(...).
    for escaped in (str, _to_octal, _to_hexadecimal):
        old, new = escaped(before), escaped(now)
        text = text.replace(f'"{old}/', f'"{new}/').replace(f'"{old}"', f'"{new}"')
    return text


def _to_octal(text: str) -> str:
    named = {value[0]: f"\\{key.decode()}" for key, value in _LETTERS.items()} | {34: '\\"', 92: "\\\\"}
    return _escaped(text, named, "o")


def _to_hexadecimal(text: str) -> str:
    return _escaped(text, {92: "\\\\"}, "X")


def _escaped(text: str, named: dict[int, str], base: str) -> str:
    width = 3 if base == "o" else 2
    plain = set(range(32, 127)) - {34, 92}
    return "".join(
        chr(byte) if byte in plain else named.get(byte, f"\\{byte:0{width}{base}}")
        for byte in text.encode(errors="replace")
    )


def _decoded(raw: bytes) -> str:
    """Decode UTF-8, replacing invalid bytes by replacement characters in the same way for every reader."""
    return raw.decode("utf-8", "replace")
