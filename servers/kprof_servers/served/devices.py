"""Names that servers use for GPUs. They are part of the names of tuned files."""

import re
from dataclasses import dataclass

from kprof.hardware.machine import find_product, load, products
from kprof.simulation.gpu import gpu_of

UNSPECIFIC = "AMD_Radeon_Graphics"
"""Name that a driver reports for a GPU that is not in the driver's table of names."""


@dataclass(frozen=True)
class ServedGpu:
    """The GPU that a server would run on.

    Attributes:
        product: name of the product, ``MI300X``, or of the architecture if no product is known.
        arch: name of the architecture, ``gfx942``.
        market: name in the driver and PyTorch, with underscores for blanks.
        compute_units: number of compute units of the device.
        pci: PCI device id, which vLLM uses to name a GPU; ``None`` if unknown.
    """

    product: str
    arch: str
    market: str
    compute_units: int
    pci: str | None = None

    def is_named(self, device: str) -> bool:
        """Return whether a device name can mean this GPU; for example, ``AMD_Instinct_MI355_OAM`` means MI355X."""
        if device == UNSPECIFIC:
            return True
        plain = re.sub(r"[ _]", "", device.upper())
        stem = re.sub(r"[ _]", "", self.product.upper()).removesuffix("X")
        return re.search(rf"{re.escape(stem)}(?![0-9])", plain) is not None


def served_gpu(name: str) -> ServedGpu:
    """Return the GPU of a product or an architecture; an architecture is represented by its first product.

    Raises:
        HardwareError: the name is neither a known product nor a known architecture.
    """
    machine = load(name)
    product = find_product(name)
    first = next((known for known, arch in products().items() if arch == machine.name), None)
    if product is None and first is not None:
        product = find_product(first)
    label = product.name if product is not None else machine.name
    gpu = gpu_of(label)
    market = re.sub(r"RX(\d+)(XTX|XT)?$", r"RX \1 \2", gpu.name).strip()
    pci = product.pci_device if product is not None else None
    return ServedGpu(label, machine.name, market.replace(" ", "_"), gpu.compute_units, pci)
