"""The machine as checks see it: files below a root, environment, programs. Nothing of it is written or run."""

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
    """A GPU, or a partition of one, that the compute driver lists.

    Attributes:
        node: number of its node in the topology.
        arch: ``gfx942``; empty when the driver's number makes no sense.
        device: its PCI device's folder in sysfs, where it is known.
        render: name of its device file in ``/dev/dri``: ``renderD128``; empty when it is not known.
        product: the name that the driver gives it, if any.
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
    """What there is to be looked at.

    Attributes:
        root: below which ``/proc``, ``/sys``, ``/dev`` and ``/opt`` are.
        environment: environment variables.
        packages: folders that Python searches for packages.
        which: finds a program on the path.
        usable: whether this user may read and write a path.
        free: bytes that may still be written to a folder's disk.
        reported: GPUs that the output of rocminfo or amd-smi lists, of this machine or another one.
    """

    root: Path = Path("/")
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    packages: Sequence[Path] = field(default_factory=lambda: [Path(entry or ".") for entry in sys.path])
    which: Callable[[str], str | None] = shutil.which
    usable: Callable[[Path], bool] = _usable
    free: Callable[[Path], int] = _free
    reported: Sequence[ReportedGpu] = ()

    def at(self, path: str) -> Path:
        """An absolute path of the machine below the root."""
        return self.root / path.lstrip("/")

    def text(self, path: str | Path) -> str | None:
        """A small file's text without blanks around it; ``None`` when it cannot be read or is no file."""
        data = self.data(path)
        return None if data is None else data.decode("utf-8", errors="replace").strip()

    def data(self, path: str | Path) -> bytes | None:
        """The first 64 KiB of a file; ``None`` when it cannot be read or is no file."""
        full = self.at(path) if isinstance(path, str) else path
        try:
            # Anything but a plain file might keep a reader waiting.
            if not stat.S_ISREG(full.stat().st_mode):
                return None
            with full.open("rb") as file:
                return file.read(_MOST_BYTES)
        except (OSError, ValueError):
            return None

    def number(self, path: str | Path) -> int | None:
        """A file's text as a whole number; ``None`` when it is none."""
        text = self.text(path)
        return int(text) if text is not None and len(text) < 20 and text.removeprefix("-").isdecimal() else None

    def entries(self, folder: str | Path, start: str = "") -> list[Path]:
        """What is in a folder and begins with some letters, in natural order; nothing when it cannot be read."""
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
        """GPUs that the compute driver lists, by node."""
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
        """AMD GPUs among the PCI devices, whether a driver has them or not."""
        return self._displays(_AMD)

    def _displays(self, vendor: str) -> int:
        """GPUs of a vendor on the bus."""
        devices = self.entries("/sys/bus/pci/devices")
        return sum(
            self.text(device / "vendor") == vendor and (self.text(device / "class") or "").startswith(_GPU_CLASSES)
            for device in devices
        )

    @cached_property
    def cuda_gpus(self) -> tuple[str, ...]:
        """NVIDIA GPUs: their names from the driver, or ``NVIDIA GPU`` where only ``/dev`` or the bus tells of it."""
        models = []
        for folder in self.entries("/proc/driver/nvidia/gpus"):
            text = self.text(folder / "information") or ""
            named = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("Model:")]
            models.append((named or [""])[0][:80] or _UNNAMED)
        files = sum(path.name[len("nvidia") :].isdecimal() for path in self.entries("/dev", "nvidia"))
        return tuple(models) or (_UNNAMED,) * (files or self._displays(_NVIDIA))

    @property
    def has_gpu(self) -> bool:
        """Whether there is an AMD GPU to be used or to be made usable."""
        return bool(self.gpus) or self.on_the_bus > 0

    @property
    def devices(self) -> list[tuple[str, Path]]:
        """PCI devices of the GPUs with a name for each; partitions of one GPU share theirs."""
        found: dict[Path, str] = {}
        for gpu in self.gpus:
            if gpu.device is not None:
                found.setdefault(gpu.device.resolve(), gpu.render)
        return [(name, path) for path, name in found.items()]


def arch_of(version: str) -> str:
    """``gfx942`` for the driver's ``90402``; empty for what is no such number."""
    if not version.isdecimal() or not 4 < len(version) < 8:
        return ""
    number = int(version)
    return f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}"
