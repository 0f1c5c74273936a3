"""Which architecture a configuration file is for."""

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
    """What is known of the GPU that a file is for.

    Attributes:
        arch: its hardware model; ``None`` when it is not known or not AMD's.
        label: for people: ``gfx942``, ``NVIDIA_H200``, ``unknown``.
        foreign: another maker's device.
        problem: why the architecture is not known, when the file names one.
    """

    arch: "Architecture | None"
    label: str
    foreign: bool = False
    problem: str | None = None


def machine_of(file: ConfigFile, assumed: "Architecture | None" = None) -> FileDevice:
    """The GPU that a file's name, or its folder, says; else the one that the user names."""
    if file.arch is not None:
        if file.arch in architectures():
            return FileDevice(load(file.arch), file.arch)
        hint = near(file.arch, architectures())
        return FileDevice(None, file.arch, problem=f"kprof does not know the architecture {file.arch!r}{hint}")
    if file.device is not None:
        return _device(file.device)
    return FileDevice(assumed, assumed.name if assumed is not None else "unknown")


def _device(name: str) -> FileDevice:
    """A device as PyTorch calls it, with underscores for blanks."""
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
        return FileDevice(None, name, problem=f"the device name {name!r} stands for many GPUs")
    return FileDevice(None, name, problem=f"kprof does not know the device {name!r}{_slip(compact, known)}")


def _slip(compact: str, known: Iterable[str]) -> str:
    """The product that a name is a letter away from: other names are of GPUs that kprof has no table of."""
    from difflib import get_close_matches

    matches = get_close_matches(compact, list(known), n=3, cutoff=0.8)
    return f"; did you mean {' or '.join(repr(match) for match in matches)}?" if matches else ""


def architecture(name: str) -> "Architecture":
    """An architecture or product that the user names.

    Raises:
        KprofError: neither is known.
    """
    try:
        return load(name)
    except KprofError as error:
        raise KprofError(f"--arch: {error.message}", hint=error.hint) from None
