"""Pause Python's cyclic garbage collector while readers and analyzers run."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Disable garbage collection inside the ``with`` block, because scanning many small objects would take long."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
