"""What servers call a GPU: the name decides which file is looked up."""

import re
from dataclasses import dataclass

from kprof.hardware.machine import find_product, load, products
from kprof.simulation.gpu import gpu_of

UNSPECIFIC = "AMD_Radeon_Graphics"
"""What drivers without an entry for the GPU call it, whichever it is."""


@dataclass(frozen=True)
class ServedGpu:
    """The GPU that a server would run on.

    Attributes:
        product: its name here: ``MI300X``; the architecture's where it is none.
        arch: ``gfx942``.
        market: as the driver and PyTorch call it, with underscores for blanks.
        compute_units: of the device.
        pci: its PCI device id, by which vLLM names a GPU; ``None`` where it is not known.
    """

    product: str
    arch: str
    market: str
    compute_units: int
    pci: str | None = None

    def is_named(self, device: str) -> bool:
        """Whether a device's name in a file's name can be this product: ``AMD_Instinct_MI355_OAM`` for MI355X."""
        if device == UNSPECIFIC:
            return True
        plain = re.sub(r"[ _]", "", device.upper())
        stem = re.sub(r"[ _]", "", self.product.upper()).removesuffix("X")
        return re.search(rf"{re.escape(stem)}(?![0-9])", plain) is not None


def served_gpu(name: str) -> ServedGpu:
    """The GPU of a product or an architecture; for an architecture its first product stands in.

    Raises:
        HardwareError: neither is known.
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
