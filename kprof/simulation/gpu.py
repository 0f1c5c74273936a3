"""The properties of the simulated GPU. Imports only the standard library, except for a lookup by name."""

from dataclasses import dataclass
from types import SimpleNamespace

HIP_VERSION = "7.0.51831"
"""Value of ``torch.version.hip``: a release of ROCm that supports every architecture that kprof knows."""

MEMORY_BYTES = 64 << 30
"""Memory size that programs see. kprof has no table of capacities, and programs choose batch sizes by this value."""


@dataclass(frozen=True)
class SimulatedGpu:
    """The simulated GPU that the program sees.

    Attributes:
        arch: architecture, for example ``gfx942``.
        name: name for ``torch.cuda.get_device_name``.
        compute_units: number of CUs.
        wavefront_size: lanes per wavefront.
        lds_bytes: maximum LDS per workgroup.
        memory_bytes: size of the memory.
        threads_per_workgroup: maximum work-items per workgroup.
        threads_per_cu: maximum work-items per CU.
        registers_per_cu: 32-bit vector registers per CU.
        clock_mhz: engine clock; 0 if unknown.
        l2_bytes: size of the L2 cache; 0 if unknown.
    """

    arch: str
    name: str
    compute_units: int
    wavefront_size: int
    lds_bytes: int
    memory_bytes: int
    threads_per_workgroup: int
    threads_per_cu: int
    registers_per_cu: int
    clock_mhz: int = 0
    l2_bytes: int = 0

    @property
    def capability(self) -> tuple[int, int]:
        """Compute capability that ROCm reports: (9, 4) for gfx942."""
        digits = self.arch.removeprefix("gfx")
        return int(digits[:-2]), int(digits[-2], 16)

    @property
    def full_arch(self) -> str:
        """The architecture with its features, as in ``gcnArchName``."""
        from kprof.hardware.machine import load

        known = load(self.arch).llvm
        return f"{self.arch}{':sramecc+' if known.sramecc else ''}{':xnack-' if known.xnack else ''}"


def gpu_of(name: str) -> SimulatedGpu:
    """Return the simulated GPU that a program sees.

    Args:
        name: a product, or an architecture, which is represented by its first product.

    Raises:
        KprofError: if the name is neither.
    """
    from kprof.hardware.machine import find_product, products
    from kprof.hardware.machine import load as load_architecture

    machine = load_architecture(name)
    product = find_product(name)
    if product is None:
        first = next((known for known, arch in products().items() if arch == machine.name), None)
        product = find_product(first) if first is not None else None
    rules = machine.occupancy
    size = machine.wavefront_size
    l2 = machine.memory.get("l2")
    label = product.name if product is not None else machine.name
    series = "AMD Instinct" if label.startswith("MI") else "AMD Radeon"
    return SimulatedGpu(
        arch=machine.name,
        name=f"{series} {label}",
        compute_units=(product.compute_units if product is not None else None) or 1,
        wavefront_size=size,
        lds_bytes=machine.lds.bytes_per_workgroup,
        memory_bytes=MEMORY_BYTES,
        clock_mhz=(product.clock_mhz if product is not None else None) or 0,
        threads_per_workgroup=rules.max_workgroup_size,
        threads_per_cu=rules.max_waves_per_simd * rules.simds_per_cu * size,
        registers_per_cu=rules.vgprs[size].total * size * rules.simds_per_cu,
        l2_bytes=(l2.size_bytes if l2 is not None else None) or 0,
    )


def torch_properties(gpu: SimulatedGpu) -> SimpleNamespace:
    """Return the replacement for ``torch.cuda.get_device_properties``."""
    return SimpleNamespace(
        name=gpu.name,
        major=gpu.capability[0],
        minor=gpu.capability[1],
        gcnArchName=gpu.full_arch,
        multi_processor_count=gpu.compute_units,
        total_memory=gpu.memory_bytes,
        warp_size=gpu.wavefront_size,
        max_threads_per_multi_processor=gpu.threads_per_cu,
        max_threads_per_block=gpu.threads_per_workgroup,
        regs_per_multiprocessor=gpu.registers_per_cu,
        shared_memory_per_block=gpu.lds_bytes,
        shared_memory_per_block_optin=gpu.lds_bytes,
        shared_memory_per_multiprocessor=gpu.lds_bytes,
        L2_cache_size=gpu.l2_bytes,
        clock_rate=gpu.clock_mhz * 1000,
        is_integrated=0,
        is_multi_gpu_board=0,
        pci_bus_id=0,
        pci_device_id=0,
        pci_domain_id=0,
        uuid="00000000-0000-0000-0000-000000000000",
    )
