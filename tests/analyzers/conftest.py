"""Kernels of a few instructions, as facts for the performance model."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from kprof.analysis import KernelFacts
from kprof.document import Resources
from kprof.hardware.machine import find_product, load
from kprof.inputs import amdgcn
from kprof_analyzers.kernel_facts import loop_facts
from kprof_analyzers.model.machine import Machine, machine_of
from kprof_analyzers.occupancy import OccupancyInput, occupancy

_TEXT = """\t.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
\t.text
\t.globl\tk
\t.type\tk,@function
k:
{body}
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 128
\t\t.amdhsa_next_free_sgpr 16
\t.end_amdhsa_kernel
\t.text
.Lfunc_end0:
\t.size\tk, .Lfunc_end0-k
"""


@pytest.fixture
def kernel() -> Callable[..., KernelFacts]:
    """``kernel(lines, warps=4)``: facts of a kernel made of these instructions."""

    def make(
        body: list[str], *, warps: int = 4, product: str = "MI300X", grid: tuple[int, ...] | None = (304,), lds: int = 0
    ) -> KernelFacts:
        machine = find_product(product)
        assert machine is not None
        arch = load(machine.arch)
        text = "\n".join(line if line.endswith(":") else f"\t{line}" for line in body)
        program = amdgcn.parse(_TEXT.format(arch=arch.name, body=text)).kernels[0]
        lanes = arch.wavefront_size
        return KernelFacts(
            name="k",
            arch=arch,
            program=program,
            resources=Resources(lds_bytes=lds, num_warps=warps, vgpr_allocated=128, wavefront_size=lanes),
            occupancy=occupancy(OccupancyInput(arch, vgpr=128, lds_bytes=lds, num_warps=warps)),
            product=machine,
            grid=grid,
            loops=loop_facts(program, lanes, arch),
        )

    return make


@pytest.fixture
def gpu() -> Callable[..., Machine]:
    """A GPU with caches of given sizes in place of the MI300X's: an XCD's L2, the Infinity Cache, XCDs."""

    def made(*, l2: float, mall: float, xcds: int = 8) -> Machine:
        arch = load("gfx942")
        product = arch.products["MI300X"]
        sizes = {"l2": l2, "mall": mall}
        memory = {name: replace(level, size_bytes=sizes.get(name)) for name, level in product.memory.items()}
        return machine_of(arch, replace(product, memory=memory, xcds=xcds), 64)

    return made
