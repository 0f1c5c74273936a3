"""Code objects, bundles and archives of them: resources and metadata. What disassembles them is another process."""

from pathlib import Path

from kprof.inputs import code_object
from kprof.inputs.code_object.packing import is_packed, unpack
from validation.fuzz.target import Target


def read(data: bytes, folder: Path) -> None:
    """Every object in it, each kernel's registers and metadata."""
    del folder
    images = [one.data for one in unpack(data, "k")] if is_packed(data) else [data]
    for image in images:
        found = code_object.read(image, "k")
        for one in found.objects:
            assert all(kernel.registers is not None for kernel in one.kernels)


TARGET = Target(
    read,
    ("gfx*/*.hsaco", "*.co", "*.o"),
    words=("\x7fELF", "__CLANG_OFFLOAD_BUNDLE__", "CCOB", "AKS2", "amdhsa.kernels", ".symbol", ".vgpr_count", ".name"),
)
