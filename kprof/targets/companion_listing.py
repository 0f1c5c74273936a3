"""The compiler's assembly beside a code object, where no disassembler can read the object."""

from pathlib import Path

from kprof.errors import KprofError
from kprof.inputs import amdgcn, boundary
from kprof.inputs.code_object.model import CodeObject

_SUFFIXES = (".amdgcn", ".s")


def listing_of(code: CodeObject, path: Path, *, most: int) -> tuple[amdgcn.Assembly, Path] | None:
    """The assembly that a code object was made from, and its file; ``None`` where none lies beside it.

    It is taken only if it is of the same kernels: for the same architecture, with the same metadata, and as many bytes
    long. What is left from an earlier compile differs in one of them.

    Args:
        code: the object.
        path: its file.
        most: bytes that are read of the other one.
    """
    for suffix in _SUFFIXES:
        other = path.with_suffix(suffix)
        try:
            text = boundary.read_bytes(other, most=most).decode(errors="replace")
            assembly = amdgcn.parse(text, str(other), arch=code.arch)
        except KprofError:
            continue
        if not assembly.truncated and _same(code, assembly):
            return assembly, other
    return None


def _same(code: CodeObject, assembly: amdgcn.Assembly) -> bool:
    if assembly.arch != code.arch or {k.name for k in assembly.kernels} != {k.name for k in code.kernels}:
        return False
    for kernel in code.kernels:
        text = assembly.kernel(kernel.name)
        size = text.comments.get("codeLenInByte")
        if not kernel.metadata or dict(text.metadata) != dict(kernel.metadata) or size != kernel.code_bytes:
            return False
    return True
