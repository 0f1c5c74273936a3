"""Read a trace file, plain or gzip, in blocks; damage is reported and the data before it is kept."""

import os
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import BinaryIO

from kprof.errors import InputError
from kprof.inputs.opening import opened
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.output.progress import Step, step

# Maximum number of finished pieces in the queue. In addition, the thread makes one piece and the caller uses one.
DEPTH = 2
_PATIENCE_S = 0.2
_Item = tuple[bytes | None, BaseException | None]


def read_ahead(make: Callable[[], Iterator[bytes]], depth: int = DEPTH) -> Generator[bytes, None, None]:
    """Yield the pieces of ``make()``, which runs in a thread and is at most ``depth`` + 1 pieces ahead of the caller.

    An exception in ``make()`` is raised to the caller after the pieces before it. If the caller stops early, the thread
    stops too.
    """
    queue: Queue[_Item] = Queue(depth)
    stop = Event()
    thread = Thread(target=_fill, args=(make, queue, stop), name="unpack", daemon=True)
    thread.start()
    try:
        while True:
            piece, error = queue.get()
            if error is not None:
                raise error
            if piece is None:
                return
            yield piece
    finally:
        stop.set()
        # Empty the queue, because the thread may be waiting to add a piece. The thread then notices the stop event.
        while thread.is_alive():
            try:
                queue.get_nowait()
            except Empty:
                thread.join(0.01)


def _fill(make: Callable[[], Iterator[bytes]], queue: "Queue[_Item]", stop: Event) -> None:
    last: _Item = (None, None)
    try:
        for piece in make():
            if not _put_unless_stopped(queue, (piece, None), stop):
                return
    except BaseException as error:  # noqa: BLE001 - raised again where the pieces are read
        last = (None, error)
    _put_unless_stopped(queue, last, stop)


def _put_unless_stopped(queue: "Queue[_Item]", item: _Item, stop: Event) -> bool:
    while not stop.is_set():
        try:
            queue.put(item, timeout=_PATIENCE_S)
        except Full:
            continue
        return True
    return False


# Larger blocks do not fit the second-level cache: 256 KiB is 10 % faster than 1 MiB.
BLOCK = 1 << 18
GZIP_MAGIC = b"\x1f\x8b"
_COMPRESSED_READ = 1 << 18
# Bytes unpacked per piece in the thread: large enough that waiting for Python's lock (5 ms) is negligible.
_PIECE = 1 << 21
# Minimum file size in bytes for a thread. Unpacking a smaller file takes less time than starting a thread.
_WORTH_A_THREAD = 1 << 20
# Real traces compress by a factor of 12 to 40. Deflate's maximum is 1032, which only data that repeats one byte
# approaches.
BOMB_RATIO = 400
BOMB_FREE_BYTES = 256 << 20

_OTHER_PACKING = {
    b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "zstd-compressed",
    b"BZh": "bzip2-compressed",
    b"\xfd7zXZ": "xz-compressed",
    b"SQLite format 3": "an SQLite database",
    b"PAR1": "a Parquet file",
}


def blocks(path: Path, issues: IssueLog, size: int = BLOCK) -> Iterator[bytes]:
    """Yield the file's content, unpacked if its first bytes (not its name) are those of gzip.

    Raises:
        KprofError: if the file is missing or unreadable, compressed in another format, or gzip of which nothing can be
            unpacked.
    """
    try:
        with opened(path) as file, step(f"reading {path.name}", os.fstat(file.fileno()).st_size, "bytes") as read:
            start = file.read(16)
            file.seek(0)
            for magic, what in _OTHER_PACKING.items():
                if start.startswith(magic):
                    database = magic.startswith(b"SQLite")
                    hint = f"kprof ingest counters {path}" if database else "unpack it; .json and .json.gz are read"
                    raise InputError(f"this is {what}, not a trace", path=str(path), hint=hint)
            if not start.startswith(GZIP_MAGIC):
                yield from _plain_blocks(file, size, read)
            elif os.fstat(file.fileno()).st_size < _WORTH_A_THREAD:
                yield from _unpacked(file, path, issues, size, read)
            else:
                yield from _unpacked_in_thread(file, path, issues, size, read)
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path=str(path)) from error


def _plain_blocks(file: BinaryIO, size: int, read: Step) -> Iterator[bytes]:
    while block := file.read(size):
        read.done += len(block)
        yield block


def _unpacked_in_thread(file: BinaryIO, path: Path, issues: IssueLog, size: int, read: Step) -> Iterator[bytes]:
    """Unpack as :func:`_unpacked` does, but in a thread. An issue is reported after the data before it was read."""
    met = IssueLog(str(path))
    with closing(read_ahead(lambda: _unpacked(file, path, met, _PIECE, read))) as pieces:
        for piece in pieces:
            for at in range(0, len(piece), size):
                yield piece[at : at + size]
    issues.extend(met.all())


def _unpacked(file: BinaryIO, path: Path, issues: IssueLog, size: int, read: Step) -> Iterator[bytes]:
    total = packed = 0
    unpacker = zlib.decompressobj(wbits=31)
    pending = b""
    while True:
        data = pending or file.read(_COMPRESSED_READ)
        if not pending:
            packed += len(data)
            read.done = packed
        if not data:
            if not unpacker.eof:
                issues.add("cut-off", "the gzip stream ends before its end mark", place=f"compressed byte {packed}")
            return
        if unpacker.eof:
            # Another gzip member may follow. Zero padding and other bytes after the end do not belong to the content.
            if not data.startswith(GZIP_MAGIC):
                if data.strip(b"\0"):
                    issues.add("trailing-garbage", "bytes after the end of the gzip stream were left out")
                return
            unpacker = zlib.decompressobj(wbits=31)
        before = unpacker.copy()
        try:
            out = unpacker.decompress(data, size)
        except zlib.error as error:
            out = _output_before_damage(before, data)
            if total == 0 and not out:
                raise InputError(f"not readable as gzip: {error}", path=str(path), place=f"byte {packed}") from error
            issues.add("cut-off", f"the gzip stream is damaged: {error}", place=f"compressed byte {packed}")
            if out:
                yield out
            return
        pending = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
        total += len(out)
        if total > BOMB_FREE_BYTES and total > BOMB_RATIO * packed:
            issues.add(
                "gzip-bomb",
                f"reading stopped: the file unpacks to more than {BOMB_RATIO} times its size",
                place=f"byte {total}",
            )
            return
        if out:
            yield out


def _output_before_damage(unpacker: "zlib._Decompress", data: bytes) -> bytes:
    """Return the output before the damage. The input is fed in small pieces, so only the damaged piece is lost."""
    parts: list[bytes] = []
    for at in range(0, len(data), 32):
        try:
            parts.append(unpacker.decompress(data[at : at + 32]))
        except zlib.error:
            break
    return b"".join(parts)
