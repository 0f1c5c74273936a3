"""Disassembling with LLVM's C interface, as a program of its own: LLVM can end the process that it runs in.

Run as ``python llvm_child.py LIBRARY CPU FEATURES MARK STUB...``; the code comes on standard input. With ``mark`` each
line is written at once, so that none is lost when LLVM ends the process; that is slower. A line is written for each
instruction: its offset, its length in bytes and its text, which is empty where LLVM knows no instruction. Nothing of
kprof is imported, so that it starts at once.
"""

import ctypes
import sys
from typing import Any

TRIPLE = b"amdgcn-amd-amdhsa"
_TEXT = 1024
_WORD = 4
_RTLD_LAZY = 1


def load(path: str, stubs: list[str]) -> Any:
    """LLVM with its AMDGPU disassembler set up. Stubs take the place of compression libraries, which it never calls."""
    for stub in stubs:
        ctypes.CDLL(stub, mode=ctypes.RTLD_GLOBAL)
    # ctypes binds everything at once; bound when called, what is never called may be missing.
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
    """Read code, write its instructions; 3 when the processor is not known."""
    path, cpu, features, mark, *stubs = sys.argv[1:]
    marked = mark == "mark"
    code = sys.stdin.buffer.read()
    library = load(path, stubs)
    context = library.LLVMCreateDisasmCPUFeatures(TRIPLE, cpu.encode(), features.encode(), None, 0, None, None)
    if not context:
        return 3
    # Instructions may be read some bytes past the end.
    data = ctypes.create_string_buffer(code + bytes(64))
    start, size = ctypes.addressof(data), len(code)
    text = ctypes.create_string_buffer(_TEXT)
    out = sys.stdout
    # On standard error, first: whatever ends the process from here on is the code's doing.
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
