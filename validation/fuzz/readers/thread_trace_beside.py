"""What lies beside a thread trace's listing: wavefronts, states, occupancy, names. The first byte says which file it is."""

from pathlib import Path

from kprof.inputs.thread_trace import read as read_folder
from validation.fuzz.target import Target, put

_NAMES = ("se0_sm0_sl0_wv0.json", "wstates1.json", "occupancy.json", "filenames.json")
_LISTING = b'{"code": [["s_endpgm", 0, 1, "a.py:1", 4, 0, 1, 1]]}'


def read(data: bytes, folder: Path) -> None:
    """The folder with this one file."""
    for name in _NAMES:
        (folder / name).unlink(missing_ok=True)
    put(folder, "code.json", _LISTING)
    put(folder, _NAMES[data[0] % 4 if data else 0], data[1:])
    read_folder(folder).timeline.totals()


TARGET = Target(read, words=('"wave": {', '"begin": ', '"end": ', '"instructions": [[', '"timeline": [[', '"time": [', '"state": [',
                             '"wave_filenames": {', '"0": [', '"dispatches": {'))  # fmt: skip
