"""Access to a machine for checks: its files, environment and programs. Nothing is written or executed."""

import os
import shutil
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from kprof.inputs.gpu_report import ReportedGpu

_MOST_BYTES = 1 << 16
_MOST_ENTRIES = 4096
_AMD = "0x1002"
_NVIDIA = "0x10de"
_UNNAMED = "NVIDIA GPU"
# PCI classes of displays and of processing accelerators.
_GPU_CLASSES = ("0x03", "0x12")


@dataclass(frozen=True)
class HostGpu:
    """A GPU, or a partition of a GPU, that the compute driver lists.

    Attributes:
        node: number of its node in the driver's topology.
        arch: architecture such as ``gfx942``; empty when the driver's number is invalid.
        device: its PCI device's folder in sysfs, if known.
        render: name of its device file in ``/dev/dri``: ``renderD128``; empty if not known.
        product: product name from the driver, or "".
    """

    node: int
    arch: str
    device: Path | None
    render: str
    product: str


def _usable(path: Path) -> bool:
    return os.access(path, os.R_OK | os.W_OK)


def _free(path: Path) -> int:
    return shutil.disk_usage(path).free


@dataclass(frozen=True)
class Host:
    """A machine to examine.

    Attributes:
        root: folder that contains ``/proc``, ``/sys``, ``/dev`` and ``/opt``.
        environment: environment variables.
        packages: folders that Python searches for packages.
        which: function that finds a program on the path.
        usable: function that returns whether this user may read and write a path.
        free: function that returns the free bytes on a folder's disk.
        reported: GPUs in the output of rocminfo or amd-smi, from this machine or another one.
    """

    root: Path = Path("/")
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    packages: Sequence[Path] = field(default_factory=lambda: [Path(entry or ".") for entry in sys.path])
    which: Callable[[str], str | None] = shutil.which
    usable: Callable[[Path], bool] = _usable
    free: Callable[[Path], int] = _free
    reported: Sequence[ReportedGpu] = ()

    def at(self, path: str) -> Path:
        """Return the location of a machine's absolute path below :attr:`root`."""
        return self.root / path.lstrip("/")

    def text(self, path: str | Path) -> str | None:
        """Return a small file's text, stripped; ``None`` when it cannot be read or is not a regular file."""
        data = self.data(path)
        return None if data is None else data.decode("utf-8", errors="replace").strip()

    def data(self, path: str | Path) -> bytes | None:
        """Return the first 64 KiB of a file; ``None`` when it cannot be read or is not a regular file."""
        full = self.at(path) if isinstance(path, str) else path
        try:
            # Reading a pipe or a device could block.
            if not stat.S_ISREG(full.stat().st_mode):
                return None
            with full.open("rb") as file:
                return file.read(_MOST_BYTES)
        except (OSError, ValueError):
            return None

    def number(self, path: str | Path) -> int | None:
        """Return a file's text as an integer; ``None`` if it is not an integer."""
        text = self.text(path)
        return int(text) if text is not None and len(text) < 20 and text.removeprefix("-").isdecimal() else None

    def entries(self, folder: str | Path, start: str = "") -> list[Path]:
        """Return a folder's entries whose names begin with ``start``, in natural order; empty if it cannot be read."""
        full = self.at(folder) if isinstance(folder, str) else folder
        try:
            with os.scandir(full) as found:
                names = [entry.name for entry, _ in zip(found, range(_MOST_ENTRIES), strict=False)]
        except (OSError, ValueError):
            return []
        chosen = [name for name in names if name.startswith(start)]
        return [full / name for name in sorted(chosen, key=lambda name: (len(name), name))]

    @cached_property
    def gpus(self) -> tuple[HostGpu, ...]:
        """GPUs that the compute driver lists, sorted by node."""
        found = []
        for node in self.entries("/sys/class/kfd/kfd/topology/nodes"):
            properties = dict(
                line.split(maxsplit=1) for line in (self.text(node / "properties") or "").splitlines() if " " in line
            )
            if not node.name.isdecimal() or properties.get("simd_count", "0") in {"", "0"}:
                continue
            minor = properties.get("drm_render_minor", "")
            render = f"renderD{minor}" if minor.isdecimal() and minor != "0" and len(minor) < 6 else ""
            device = self.at(f"/sys/class/drm/{render}/device") if render else None
            if device is not None and not device.is_dir():
                device = None
            product = (self.text(device / "product_name") or "") if device is not None else ""
            arch = arch_of(properties.get("gfx_target_version", ""))
            found.append(HostGpu(int(node.name), arch, device, render, product[:80]))
        return tuple(found)

    @cached_property
    def on_the_bus(self) -> int:
        """Number of AMD GPUs among the PCI devices, with or without a driver."""
        return self._displays(_AMD)

    def _displays(self, vendor: str) -> int:
        """Return the number of a vendor's GPUs on the PCI bus."""
        devices = self.entries("/sys/bus/pci/devices")
        return sum(
            self.text(device / "vendor") == vendor and (self.text(device / "class") or "").startswith(_GPU_CLASSES)
            for device in devices
        )

    @cached_property
    def cuda_gpus(self) -> tuple[str, ...]:
        """Names of the NVIDIA GPUs from the driver, or ``NVIDIA GPU`` if only ``/dev`` or the PCI bus shows them."""
        models = []
        for folder in self.entries("/proc/driver/nvidia/gpus"):
            text = self.text(folder / "information") or ""
            named = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("Model:")]
            models.append((named or [""])[0][:80] or _UNNAMED)
        files = sum(path.name[len("nvidia") :].isdecimal() for path in self.entries("/dev", "nvidia"))
        return tuple(models) or (_UNNAMED,) * (files or self._displays(_NVIDIA))

    @property
    def has_gpu(self) -> bool:
        """Whether there is an AMD GPU, even if it is not usable yet."""
        return bool(self.gpus) or self.on_the_bus > 0

    @property
    def devices(self) -> list[tuple[str, Path]]:
        """PCI devices of the GPUs, each with a name; partitions of one GPU share a device."""
        found: dict[Path, str] = {}
        for gpu in self.gpus:
            if gpu.device is not None:
                found.setdefault(gpu.device.resolve(), gpu.render)
        return [(name, path) for path, name in found.items()]


def arch_of(version: str) -> str:
    """Convert the driver's version number to an architecture: ``gfx942`` for ``90402``; "" if it is invalid."""
    if not version.isdecimal() or not 4 < len(version) < 8:
        return ""
    number = int(version)
    return f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}"
