"""Disassemble code with LLVM's C interface in a separate program, because LLVM can abort its process.

Run as ``python llvm_child.py LIBRARY CPU FEATURES MARK STUB...`` with the code on standard input. It prints one line
per instruction: offset, length in bytes, and text, which is empty if LLVM does not recognise the instruction. If MARK
is ``mark``, each line is flushed at once so that none is lost if LLVM aborts; this is slower. The program imports
nothing from kprof, so it starts quickly.
"""

import ctypes
import sys
from typing import Any

TRIPLE = b"amdgcn-amd-amdhsa"
_TEXT = 1024
_WORD = 4
_RTLD_LAZY = 1


def load(path: str, stubs: list[str]) -> Any:
    """Load LLVM and set up its AMDGPU disassembler. Stubs replace compression libraries, which it never calls here."""
    for stub in stubs:
        ctypes.CDLL(stub, mode=ctypes.RTLD_GLOBAL)
    # ctypes resolves all symbols at load time. With lazy binding, symbols that are never called may be missing.
    dlopen = ctypes.CDLL(None).dlopen
    dlopen.restype, dlopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_int]
    handle = dlopen(path.encode(), _RTLD_LAZY)
    if not handle:
        raise OSError(f"cannot load {path}")
    library = ctypes.CDLL(path, handle=handle)
    for part in ("TargetInfo", "TargetMC", "Disassembler"):
        getattr(library, f"LLVMInitializeAMDGPU{part}")()
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    library.LLVMCreateDisasmCPUFeatures.restype = pointer
    library.LLVMCreateDisasmCPUFeatures.argtypes = [text, text, text, pointer, ctypes.c_int, pointer, pointer]
    library.LLVMDisasmInstruction.restype = ctypes.c_size_t
    library.LLVMDisasmInstruction.argtypes = [
        pointer, pointer, ctypes.c_uint64, ctypes.c_uint64, text, ctypes.c_size_t,
    ]  # fmt: skip
    return library


def main() -> int:
    """Read code and write its instructions; return 3 if LLVM does not know the processor."""
    path, cpu, features, mark, *stubs = sys.argv[1:]
    marked = mark == "mark"
    code = sys.stdin.buffer.read()
    library = load(path, stubs)
    context = library.LLVMCreateDisasmCPUFeatures(TRIPLE, cpu.encode(), features.encode(), None, 0, None, None)
    if not context:
        return 3
    # The disassembler may read some bytes past the end.
    data = ctypes.create_string_buffer(code + bytes(64))
    start, size = ctypes.addressof(data), len(code)
    text = ctypes.create_string_buffer(_TEXT)
    out = sys.stdout
    # This marker comes first on standard error: any crash after it is caused by the code being disassembled.
    sys.stderr.write("loaded\n")
    sys.stderr.flush()
    offset = 0
    while offset + _WORD <= size:
        if marked:
            out.flush()
        length = library.LLVMDisasmInstruction(context, start + offset, size - offset, offset, text, _TEXT)
        said = text.value.decode("utf-8", "replace").strip() if length else ""
        out.write(f"{offset} {length or _WORD} {said}\n")
        offset += length or _WORD
    out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
