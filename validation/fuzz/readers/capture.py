"""A capture: its journal, its head, or a kernel's result. The first byte says which of them it is."""

from functools import cache
from pathlib import Path

from kprof.captures import reader
from validation.fuzz.target import ARTEFACTS, Target, put

_PLACES = ("journal/1.jsonl", "journal/1.jsonl", "capture.json", "kernels/00000000000000000000000000000000/result.json")


@cache
def _sound() -> dict[str, bytes]:
    return {name: (ARTEFACTS / "capture" / name).read_bytes() for name in _PLACES}


def read(data: bytes, folder: Path) -> None:
    """The capture, and all its launches."""
    (folder / "journal").mkdir(exist_ok=True)
    (folder / _PLACES[-1]).parent.mkdir(parents=True, exist_ok=True)
    for name, content in _sound().items():
        put(folder, name, content)
    put(folder, _PLACES[data[0] % 4 if data else 0], data[1:])
    reader.read(folder)
    for launch in reader.launches(folder):
        assert launch.kernel


TARGET = Target(
    read,
    words=(
        '{"t":"',
        '"kernel":',
        '"launch"',
        '"request":{',
        '"grid":[',
        '"frames":[',
        '"args":{',
        '"dtype":"',
        '"signature":{',
    ),
    runs=300,
)
