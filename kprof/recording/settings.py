"""What a recording process is told, through one environment variable. Standard library only."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

VARIABLE = "KPROF_CAPTURE"
"""Holds the settings as JSON; a process that finds it records itself."""

BOOTSTRAP = Path(__file__).parent / "bootstrap"
"""The folder that goes to the front of PYTHONPATH: its ``sitecustomize`` starts the recording."""


@dataclass(frozen=True)
class Device:
    """The GPU that the program is told it has.

    Attributes:
        arch: ``gfx942``.
        name: as ``torch.cuda.get_device_name`` gives it.
        compute_units: of the device.
        wavefront_size: lanes.
        lds_bytes: that one workgroup may have.
        memory_bytes: of the device.
        clock_mhz: engine clock; 0 when not known.
        threads_per_cu: work-items that a compute unit holds.
        registers_per_cu: 32-bit vector registers of a compute unit.
        l2_bytes: of the second-level cache; 0 when not known.
    """

    arch: str
    name: str
    compute_units: int
    wavefront_size: int
    lds_bytes: int
    memory_bytes: int
    clock_mhz: int = 0
    threads_per_cu: int = 2048
    registers_per_cu: int = 65536
    l2_bytes: int = 0

    @property
    def capability(self) -> tuple[int, int]:
        """What ROCm reports as compute capability: (9, 4) for gfx942."""
        digits = self.arch.removeprefix("gfx")
        return int(digits[:-2]), int(digits[-2], 16)

    @property
    def full_arch(self) -> str:
        """The architecture with its features, as ``gcnArchName`` has it."""
        from kprof.hardware.machine import load

        known = load(self.arch).llvm
        return f"{self.arch}{':sramecc+' if known.sramecc else ''}{':xnack-' if known.xnack else ''}"


@dataclass(frozen=True)
class Settings:
    """How to record.

    Attributes:
        folder: the capture directory, absolute.
        device: the GPU to stand in for.
        jobs: compiles at a time, over all processes of the capture.
        cache: kprof's cache of compiled kernels, ``None`` to do without.
        timeout: seconds that one compile may take.
        execute: on a machine with a ROCm device, let kernels run and record them (``True``), or only record.
        version: kprof's.
        arithmetic: whether torch's matrix products, convolutions and attention are computed; else they give zeros.
        root: the work tree that sources are named from.
    """

    folder: str
    device: Device
    jobs: int = 1
    cache: str | None = None
    timeout: float = 600.0
    execute: bool = False
    version: str = ""
    arithmetic: bool = True
    root: str = ""

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self))


def from_json(text: str) -> Settings:
    """The settings that :meth:`Settings.to_json` wrote.

    Raises:
        ValueError, TypeError, KeyError: the text is something else.
    """
    data = json.loads(text)
    return Settings(**{**data, "device": Device(**data["device"])})


def environment(settings: Settings, base: Mapping[str, str]) -> dict[str, str]:
    """An environment in which Python programs record themselves."""
    path = [str(BOOTSTRAP), *filter(None, base.get("PYTHONPATH", "").split(os.pathsep))]
    unique = list(dict.fromkeys(path))
    return {**base, VARIABLE: settings.to_json(), "PYTHONPATH": os.pathsep.join(unique)}
