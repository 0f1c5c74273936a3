"""The gate's baseline."""

from pathlib import Path

import msgspec

from kprof.gate import baseline
from validation.fuzz.target import Target, check, put


def read(data: bytes, folder: Path) -> None:
    """A baseline that was read is the same when it is written and read again."""
    found = baseline.read(put(folder, "b.json", data))
    again = msgspec.json.decode(baseline.encode(found).encode(), type=baseline.Baseline)
    check(same=again == found, what="a baseline changes when it is written")


TARGET = Target(read, words=('"kernels": {', '"metrics": {', '"findings": {', '"schema": "', '"types": ', '"knobs": {'))
