"""Read AMD code objects (.hsaco, .co and object files, offload bundles, fat binaries) without external programs."""

from kprof.inputs.code_object.disassembly import disassemble, disassemble_text, find_objdump
from kprof.inputs.code_object.model import CodeObject, CodeObjectFile, Descriptor, KernelObject
from kprof.inputs.code_object.reader import read, read_file

__all__ = [
    "CodeObject",
    "CodeObjectFile",
    "Descriptor",
    "KernelObject",
    "disassemble",
    "disassemble_text",
    "find_objdump",
    "read",
    "read_file",
]
