"""A generator run ahead of its reader in a thread: decompression overlaps with parsing, as zlib releases the GIL."""

from collections.abc import Callable, Generator, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread

# Pieces that wait to be read; one more is being made and one is being read.
DEPTH = 2
_PATIENCE_S = 0.2
_Item = tuple[bytes | None, BaseException | None]


def read_ahead(make: Callable[[], Iterator[bytes]], depth: int = DEPTH) -> Generator[bytes, None, None]:
    """The pieces of ``make()``, made in a thread that is never more than ``depth`` + 1 of them ahead.

    What it raises is raised here, in its place. A reader that stops early stops the thread too.
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
        # A thread that waits for room finds it, sees that reading has ended, and ends.
        while thread.is_alive():
            try:
                queue.get_nowait()
            except Empty:
                thread.join(0.01)


def _fill(make: Callable[[], Iterator[bytes]], queue: "Queue[_Item]", stop: Event) -> None:
    last: _Item = (None, None)
    try:
        for piece in make():
            if not _put(queue, (piece, None), stop):
                return
    except BaseException as error:  # noqa: BLE001 - raised again where the pieces are read
        last = (None, error)
    _put(queue, last, stop)


def _put(queue: "Queue[_Item]", item: _Item, stop: Event) -> bool:
    while not stop.is_set():
        try:
            queue.put(item, timeout=_PATIENCE_S)
        except Full:
            continue
        return True
    return False
