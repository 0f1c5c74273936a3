"""Find the architecture that a configuration file is for."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kprof.errors import KprofError, near
from kprof.hardware.machine import architectures, load, products
from kprof_servers.configs.model import ConfigFile

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture

_OTHERS = ("NVIDIA", "INTEL", "TESLA", "GEFORCE", "QUADRO", "ASCEND", "APPLE", "CPU")


@dataclass(frozen=True)
class FileDevice:
    """The GPU that a file is for, as far as it is known.

    Attributes:
        arch: hardware model of the GPU; ``None`` if the GPU is unknown or not AMD's.
        label: name to display: ``gfx942``, ``NVIDIA_H200``, ``unknown``.
        foreign: True for a device of another vendor.
        problem: reason why the architecture is unknown although the file names a GPU; else "".
    """

    arch: "Architecture | None"
    label: str
    foreign: bool = False
    problem: str | None = None


def machine_of(file: ConfigFile, assumed: "Architecture | None" = None) -> FileDevice:
    """Return the GPU named by the file or its folder, or else the GPU that the user names."""
    if file.arch is not None:
        if file.arch in architectures():
            return FileDevice(load(file.arch), file.arch)
        hint = near(file.arch, architectures())
        return FileDevice(None, file.arch, problem=f"kprof does not know the architecture {file.arch!r}{hint}")
    if file.device is not None:
        return _device(file.device)
    return FileDevice(assumed, assumed.name if assumed is not None else "unknown")


def _device(name: str) -> FileDevice:
    """Return the GPU for a device name as PyTorch reports it, with underscores for blanks."""
    words = name.upper().replace("(R)", "").replace("(TM)", "")
    if words.startswith(_OTHERS):
        return FileDevice(None, name, foreign=True)
    known = products()
    compact = re.sub(r"[^0-9A-Z]", "", re.sub(r"^(AMD[_ ])?(INSTINCT[_ ]|RADEON[_ ])?", "", words))
    for product in sorted(known, key=len, reverse=True):
        for spelt in (product, product.removesuffix("X")):
            if compact.startswith(spelt) and not compact[len(spelt) :][:1].isdigit():
                return FileDevice(load(known[product]), known[product])
    if compact == "GRAPHICS":
        return FileDevice(None, name, problem=f"the device name {name!r} is used by many GPUs")
    return FileDevice(None, name, problem=f"kprof does not know the device {name!r}{_slip(compact, known)}")


def _slip(compact: str, known: Iterable[str]) -> str:
    """Return a clause that suggests products whose names differ by about a letter; "" if there are none."""
    from difflib import get_close_matches

    matches = get_close_matches(compact, list(known), n=3, cutoff=0.8)
    return f"; did you mean {' or '.join(repr(match) for match in matches)}?" if matches else ""


def architecture(name: str) -> "Architecture":
    """Return the hardware data of the architecture or product that the user names.

    Raises:
        KprofError: the name is neither a known architecture nor a known product.
    """
    try:
        return load(name)
    except KprofError as error:
        raise KprofError(f"--arch: {error.message}", hint=error.hint) from None
