"""Unpack compressed files and archives of code objects: xz, zstd, gzip, zip, and AOTriton's AKS2.

The AKS2 format is defined by ROCm/aotriton ``python/aks2.py``. The header is a magic number and three 32-bit
little-endian integers: total size after decompression, number of kernels and size of the directory. One xz stream with
the directory and the images follows. A directory entry contains the image's LDS in bytes, work-items per workgroup,
offset, size and name length, then the name with a terminating zero byte.
"""

import lzma
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from kprof.errors import InputError
from kprof.inputs.code_object.bundle import MAX_EXPANDED, unzstd

AKS2_MAGIC = b"AKS2"
_XZ, _ZSTD, _GZIP, _ZIP = b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"PK\x03\x04"
_MAX_ENTRIES = 65_536
_MAX_NAME = 4096
# Errors that Python's zipfile module raises for damaged headers, in addition to the module's own error classes.
_DAMAGED = (
    zlib.error, lzma.LZMAError, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError,
    OverflowError, LookupError,
)  # fmt: skip


@dataclass(frozen=True)
class Packed:
    """One image of an archive.

    Attributes:
        name: name of the image in the archive.
        data: bytes of the code object; empty for a configuration that did not compile.
        lds_bytes: LDS per workgroup in bytes, if the archive records it.
        threads: work-items per workgroup, if the archive records them.
    """

    name: str
    data: bytes
    lds_bytes: int | None = None
    threads: int | None = None


def is_packed(data: bytes) -> bool:
    """Return whether the data is in one of the supported compressed or archive formats."""
    return data.startswith((_XZ, _ZSTD, _GZIP, _ZIP, AKS2_MAGIC))


def unpack(data: bytes, path: str | None = None, *, depth: int = 0) -> Iterator[Packed]:
    """Yield every image of an archive, including nested archives, without writing files.

    Args:
        data: bytes of the complete file.
        path: path of the file, for messages.
        depth: number of archives around this one.

    Raises:
        KprofError: if the data is damaged, cut off, larger than 1 GiB when unpacked, nested too deep, or zstd without
            an installed decompressor.
    """
    if depth > 3:
        raise InputError("archives nested more than three deep are not read", path=path)
    if data.startswith(AKS2_MAGIC):
        yield from _aks2(data, path)
    elif data.startswith(_ZIP):
        for name, inner in _zip(data, path):
            yield from unpack(inner, path, depth=depth + 1) if is_packed(inner) else iter((Packed(name, inner),))
    elif is_packed(data):
        inner = _decompressed(data, path)
        yield from unpack(inner, path, depth=depth + 1) if is_packed(inner) else iter((Packed("", inner),))
    else:
        yield Packed("", data)


def _decompressed(data: bytes, path: str | None) -> bytes:
    if data.startswith(_ZSTD):
        return unzstd(data, MAX_EXPANDED, path)
    try:
        if data.startswith(_XZ):
            return _xz(data, MAX_EXPANDED, path)
        engine = zlib.decompressobj(wbits=31)
        out = engine.decompress(data, MAX_EXPANDED)
    except (zlib.error, lzma.LZMAError) as error:
        raise InputError(f"the compressed file is damaged: {error}", path=path) from None
    if not engine.eof:
        reason = "expands to more than 1 GiB" if engine.unconsumed_tail else "is cut off"
        raise InputError(f"the compressed file {reason}", path=path)
    return out


def _xz(data: bytes, limit: int, path: str | None) -> bytes:
    engine = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=MAX_EXPANDED)
    out = engine.decompress(data, limit + 1)
    if len(out) > limit:
        raise InputError(f"the compressed file expands to more than its {limit:,} bytes", path=path)
    if not engine.eof:
        raise InputError("the compressed file is cut off", path=path)
    return out


def _zip(data: bytes, path: str | None) -> Iterator[tuple[str, bytes]]:
    import io
    import zipfile

    left = MAX_EXPANDED
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) > _MAX_ENTRIES:
                raise InputError(f"{len(members):,} files are too many for an archive of kernels", path=path)
            for member in members:
                with archive.open(member) as file:
                    inner = file.read(left + 1)
                left -= len(inner)
                if left < 0:
                    raise InputError("the archive expands to more than 1 GiB", path=path)
                yield member.filename, inner
    except (*_DAMAGED, zipfile.BadZipFile) as error:
        raise InputError(f"the archive is damaged or in a form that cannot be read: {error}", path=path) from None


def _aks2(data: bytes, path: str | None) -> Iterator[Packed]:
    if len(data) < 16:
        raise InputError("the AKS2 archive is cut off in its header", path=path, place=f"byte {len(data)}")
    total, count, directory = struct.unpack_from("<III", data, 4)
    if total > MAX_EXPANDED or count > _MAX_ENTRIES or directory > total:
        raise InputError(f"the AKS2 archive claims {count:,} kernels in {total:,} bytes", path=path, place="byte 4")
    try:
        content = _xz(data[16:], total, path) if total else b""
    except lzma.LZMAError as error:
        raise InputError(f"the AKS2 archive is damaged: {error}", path=path) from None
    if len(content) < total:
        raise InputError(f"the AKS2 archive is cut off: {len(content):,} of {total:,} bytes", path=path)
    at = 0
    for _ in range(count):
        if at + 20 > directory:
            raise InputError("the AKS2 archive's directory ends too early", path=path)
        lds, threads, offset, size, length = struct.unpack_from("<IIIII", content, at)
        name = content[at + 20 : at + 20 + min(length, _MAX_NAME)].rstrip(b"\0").decode("utf-8", "replace")
        at += 20 + length
        start = directory + offset
        if at > directory or start + size > total:
            raise InputError(f"the AKS2 archive's entry {name[:80]!r} reaches beyond its end", path=path)
        yield Packed(name, content[start : start + size], lds, threads)
