"""Messages between kprof and its workers: a JSON head and raw blobs.

Pickle would be unsafe: a worker runs foreign code.

A frame is ``<u4 size of head> <u8 size of blobs> head blobs``; the head lists its blobs under ``blobs`` as
``[name, bytes, is_text]``.
"""

import json
import os
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.children import PythonWorker

_SIZES = struct.Struct("<IQ")

Blobs = Mapping[str, str | bytes]


def pack(head: Mapping[str, Any], blobs: Blobs | None = None) -> list[bytes]:
    """Return a frame as parts to be written one after the other."""
    parts, listed = [], []
    for name, value in (blobs or {}).items():
        data = value.encode() if isinstance(value, str) else value
        parts.append(data)
        listed.append([name, len(data), isinstance(value, str)])
    text = json.dumps({**head, "blobs": listed}).encode()
    return [_SIZES.pack(len(text), sum(map(len, parts))), text, *parts]


def unpack(buffer: bytearray) -> tuple[dict[str, Any], dict[str, str | bytes]] | None:
    """Remove one complete frame from the front of a buffer and return it; ``None`` while it is incomplete.

    Raises:
        ValueError: if the buffer does not start with a frame.
    """
    if len(buffer) < _SIZES.size:
        return None
    head_size, blob_size = _SIZES.unpack_from(buffer)
    end = _SIZES.size + head_size + blob_size
    if len(buffer) < end:
        return None
    at = _SIZES.size + head_size
    head = json.loads(bytes(buffer[_SIZES.size : at]))
    blobs: dict[str, str | bytes] = {}
    for name, size, is_text in head.pop("blobs"):
        data = bytes(buffer[at : at + size])
        blobs[name] = data.decode(errors="replace") if is_text else data
        at += size
    del buffer[:end]
    return head, blobs


def exchange(worker: "PythonWorker", message: Mapping[str, Any]) -> dict[str, Any] | None:
    """Send a message to a worker and return the head of its reply; ``None`` if the worker has ended.

    Raises:
        ValueError: if the reply is not a frame.
    """
    try:
        for part in pack(message):
            worker.stdin.write(part)
        buffer = bytearray()
        while (frame := unpack(buffer)) is None:
            data = os.read(worker.stdout.fileno(), 1 << 20)
            if not data:
                return None
            buffer += data
    except OSError:
        return None
    return frame[0]
