"""Private folders of the cache for data other than entries."""

import atexit
import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from kprof.cache import location


def private_folder(name: str) -> Path:
    """Return a folder in the cache that only this user can write to; without a usable cache, a temporary folder.

    Args:
        name: name of the folder; see :data:`kprof.cache.inventory.QUICK`.

    Raises:
        OSError: not even a temporary folder can be made.
    """
    base = location.root()
    if base is not None and location.trouble(base) is None:
        folder = base / name
        with suppress(OSError):
            location.make_folder(folder)
            if location.trusted(folder.stat()) and os.access(folder, os.W_OK):
                return folder
    return _temporary(name)


@cache
def _temporary(name: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"kprof-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
