"""Profiles of Triton's Proton."""

from pathlib import Path

from kprof.inputs.torch_profiler.proton import is_proton, load_proton
from validation.fuzz.target import Target, put


def read(data: bytes, folder: Path) -> None:
    """The tree of scopes."""
    path = put(folder, "p.hatchet", data)
    is_proton(path)
    load_proton(path)


TARGET = Target(
    read, words=('"children": [', '"frame": {', '"metrics": {', '"time (ns)": ', '"count": ', '"device_id": "0"')
)
