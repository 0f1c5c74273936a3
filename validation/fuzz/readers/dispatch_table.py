"""Tables for ``kprof select``."""

from pathlib import Path

from kprof.tuning import dispatch_table
from kprof.tuning.choice.choose import select
from validation.fuzz.target import Target, put


def read(data: bytes, folder: Path) -> None:
    """The table, merged with itself, and asked."""
    table = dispatch_table.read(put(folder, "d.json", data))
    assert len(dispatch_table.merge(table, table.entries).entries) <= len(table.entries)
    select("softmax", {"M": 512, "N": 1024}, "gfx942", table, predict=False)


TARGET = Target(
    read, words=('"schema": "kprof.dispatch/1"', '"entries": [', '"kernel": "', '"shape": {', '"config": {', '"ms": ')
)
