"""Report documents in JSON, read back."""

from pathlib import Path

import msgspec

from kprof.diffing.reading import read_report
from kprof.document import Report
from validation.fuzz.target import Target, check, put


def read(data: bytes, folder: Path) -> None:
    """A document that was read is the same when it is written and read again."""
    report = read_report(put(folder, "r.json", data))
    again = msgspec.json.decode(msgspec.json.encode(report), type=Report)
    check(same=again == report, what="a document changes when it is written")


TARGET = Target(
    read,
    words=('"schema":"kprof.report/1"', '"kernels":[', '"resources":{', '"findings":[', '"rule":"KP', '"severity":"error"',
           '"occupancy":null', '"loops":[', '"verdict":{', '"location":{'),
)  # fmt: skip
