"""Read Clang offload bundles, plain and compressed: one file with code for several targets.

The layout follows the documentation of clang-offload-bundler: a magic string, the number of entries, then the offset,
size and identifier (``hipv4-amdgcn-amd-amdhsa--gfx942:xnack-``) of each entry. A ``CCOB`` file contains a compressed
bundle.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from kprof.errors import InputError

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC = b"CCOB"
_MAX_ENTRIES = 4096
_MAX_NAME = 4096
MAX_EXPANDED = 1 << 30
"""Maximum number of bytes that a compressed bundle may expand to."""


@dataclass(frozen=True)
class BundledObject:
    """One object of a bundle: its identifier and its bytes."""

    identifier: str
    data: bytes


def entries(data: bytes, path: str | None = None) -> Iterator[BundledObject]:
    """Yield the entries of a plain bundle, including host entries.

    Raises:
        KprofError: if the table is cut off or points outside the file.
    """
    at = len(MAGIC)
    if len(data) < at + 8:
        raise InputError("the offload bundle is cut off in its header", path=path, place=f"byte {len(data)}")
    (count,) = struct.unpack_from("<Q", data, at)
    if count > _MAX_ENTRIES:
        raise InputError(
            f"the offload bundle claims {count} entries; the limit is {_MAX_ENTRIES}",
            path=path,
            place=f"byte {at}",
        )
    at += 8
    for _ in range(count):
        if at + 24 > len(data):
            raise InputError("the offload bundle is cut off in its table", path=path, place=f"byte {len(data)}")
        offset, size, name_size = struct.unpack_from("<QQQ", data, at)
        at += 24
        if name_size > _MAX_NAME or at + name_size > len(data):
            raise InputError("an entry of the offload bundle has an invalid name", path=path, place=f"byte {at}")
        name = data[at : at + name_size].decode("utf-8", "replace")
        at += name_size
        if offset + size > len(data):
            raise InputError(
                f"the offload bundle is cut off inside {name}: it should reach byte {offset + size}",
                path=path,
                place=f"byte {len(data)}",
            )
        yield BundledObject(name, data[offset : offset + size])


def total_size(data: bytes) -> int:
    """Return the size of a plain bundle up to the end of its last entry, or the whole length if that is unknown."""
    try:
        ends = [len(MAGIC)]
        (count,) = struct.unpack_from("<Q", data, len(MAGIC))
        at = len(MAGIC) + 8
        for _ in range(min(count, _MAX_ENTRIES)):
            offset, size, name_size = struct.unpack_from("<QQQ", data, at)
            ends.append(offset + size)
            at += 24 + name_size
        return min(max(*ends, at), len(data))
    except struct.error:
        return len(data)


def _inflate(data: bytes, limit: int, path: str | None) -> bytes:
    engine = zlib.decompressobj()
    try:
        out = engine.decompress(data, limit + 1)
    except zlib.error as error:
        raise InputError(f"the compressed bundle is damaged: {error}", path=path) from error
    if len(out) > limit or engine.unconsumed_tail:
        raise InputError(
            f"the compressed bundle expands to more than the {limit:,} bytes that its header states", path=path
        )
    return out


def unzstd(data: bytes, limit: int, path: str | None) -> bytes:
    """Decompress a zstd frame of at most ``limit`` bytes.

    Raises:
        KprofError: if the frame is damaged or larger, or if neither Python nor the package zstandard can decompress it.
    """
    hint = "Unpack it with clang-offload-bundler --unbundle, or install the package zstandard."
    try:
        from compression import zstd as standard  # type: ignore[import-not-found, unused-ignore]  # Python 3.14
    except ImportError:
        standard = None
    if standard is not None:
        engine = standard.ZstdDecompressor()
        try:
            out = bytes(engine.decompress(data, limit + 1))
        except standard.ZstdError as error:
            raise InputError(f"the compressed bundle is damaged: {error}", path=path) from error
    else:
        try:
            import zstandard  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            raise InputError(
                "the bundle is compressed with zstd, and no zstd decompressor is installed", path=path, hint=hint
            ) from None
        try:
            with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(data) as reader:
                out = reader.read(limit + 1)
        except zstandard.ZstdError as error:
            raise InputError(f"the compressed bundle is damaged: {error}", path=path) from error
    if len(out) > limit:
        raise InputError(f"the compressed data expands to more than {limit:,} bytes", path=path)
    return out


def expand(data: bytes, path: str | None = None) -> bytes:
    """Decompress a compressed bundle (``CCOB``, versions 1 to 3; zlib or zstd) and return the plain bundle.

    Raises:
        KprofError: if the bundle is cut off, damaged, larger than it claims or than 1 GiB, or in an unsupported form.
    """
    if len(data) < 8:
        raise InputError("the compressed bundle is cut off in its header", path=path, place=f"byte {len(data)}")
    version, method = struct.unpack_from("<HH", data, 4)
    layouts = {1: ("<IQ", 0), 2: ("<IIQ", 1), 3: ("<QQQ", 1)}
    if version not in layouts:
        raise InputError(f"version {version} of the compressed bundle is not supported", path=path, place="byte 4")
    layout, position = layouts[version]
    start = 8 + struct.calcsize(layout)
    if len(data) < start:
        raise InputError("the compressed bundle is cut off in its header", path=path, place=f"byte {len(data)}")
    size = struct.unpack_from(layout, data, 8)[position]
    if size > MAX_EXPANDED:
        raise InputError(
            f"the compressed bundle claims to expand to {size:,} bytes", path=path, hint="The limit is 1 GiB."
        )
    if method not in {0, 1}:
        raise InputError(f"compression method {method} is not supported", path=path, place="byte 6")
    out = (_inflate if method == 0 else unzstd)(data[start:], size, path)
    if len(out) < size:
        raise InputError(f"the compressed bundle is cut off: {len(out):,} of {size:,} bytes", path=path)
    return out
