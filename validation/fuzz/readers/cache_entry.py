"""Entries of the cache. The oracle: what is read is what was written, or nothing."""

from pathlib import Path

from kprof.cache.entries import CacheSection
from kprof.cache.keys import key
from validation.fuzz.target import Target, check, put

_SECTION = CacheSection("fuzz")
_KEY = key("fuzz")
_WRITTEN = b'{"answer": 42, "files": {}}'


def read(data: bytes, folder: Path) -> None:
    """An entry that lies at its place."""
    _SECTION.write(_KEY, [_WRITTEN], folder)
    (place,) = folder.rglob(_KEY)
    put(place.parent, place.name, data)
    found = _SECTION.read(_KEY, folder)
    check(same=found in {None, _WRITTEN}, what=f"the cache answers {found!r:.100}")


TARGET = Target(read, words=("kprof entry 2\n", "kprof entry z\n", '{"answer": 42, "files": {}}'), runs=300)
