"""Determine class, kind, space and width of vector memory and LDS mnemonics, in their old and new spellings."""

import re

from kprof.inputs.amdgcn.isa import InstructionClass, InstructionKind, MemorySpace

Answer = tuple[InstructionClass, InstructionKind, MemorySpace | None, bool, int | None, int]

_SPACES = {
    "buffer": MemorySpace.BUFFER,
    "tbuffer": MemorySpace.BUFFER,
    "global": MemorySpace.GLOBAL,
    "cluster": MemorySpace.GLOBAL,
    "tensor": MemorySpace.GLOBAL,
    "flat": MemorySpace.FLAT,
    "image": MemorySpace.IMAGE,
    "scratch": MemorySpace.SCRATCH,
    "lds": MemorySpace.LDS,
    "ds": MemorySpace.LDS,
}
_WIDTH = re.compile(
    r"_(?:(?P<bits>b|u|i|f)(?P<n>8|16|32|64|96|128)|dword(?:x(?P<x>[2348]))?|(?P<byte>[us]?byte)|(?P<short>[us]?short))"
    r"(?=_|$)"
)
_GDS = ("ds_gws_", "ds_ordered_count", "ds_add_gs_reg", "ds_sub_gs_reg")
_PERMUTES = ("ds_swizzle", "ds_permute", "ds_bpermute")


def _width(name: str) -> int | None:
    """Return the bytes of one access: the first width in the mnemonic. A second width is the size of an element."""
    match = _WIDTH.search(name)
    if match is None:
        return None
    if match["bits"]:
        return int(match["n"]) // 8
    if match["byte"]:
        return 1
    return 2 if match["short"] else 4 * int(match["x"] or 1)


def _lds(name: str) -> Answer:
    if name.startswith(_GDS):
        return (
            InstructionClass.GDS,
            InstructionKind.MESSAGE if "gws" in name else InstructionKind.ATOMIC,
            MemorySpace.GDS,
            False,
            None,
            1,
        )
    if name.startswith(_PERMUTES):
        return InstructionClass.LDS, InstructionKind.PERMUTE, None, False, None, 1
    if name == "ds_nop":
        return InstructionClass.LDS, InstructionKind.NOP, None, False, None, 1
    two = re.search(r"(read|write|wrxchg)2|_2addr", name) is not None
    parts = 2 if two else 1
    if name in {"lds_direct_load", "lds_param_load", "ds_direct_load", "ds_param_load"}:
        return InstructionClass.LDS, InstructionKind.LOAD, MemorySpace.LDS, False, 4, 1
    width = _width(name)
    size = width * parts if width is not None else None
    if name.startswith("ds_bvh_stack"):
        return InstructionClass.LDS, InstructionKind.RAY, MemorySpace.LDS, False, None, 1
    if name.startswith(("ds_read", "ds_load")):
        return InstructionClass.LDS, InstructionKind.LOAD, MemorySpace.LDS, False, size, parts
    if name.startswith(("ds_write", "ds_store")) and "xchg" not in name:
        return InstructionClass.LDS, InstructionKind.STORE, MemorySpace.LDS, False, size, parts
    if name in {"ds_append", "ds_consume"}:
        size = 4
    return InstructionClass.LDS, InstructionKind.ATOMIC, MemorySpace.LDS, False, size, parts


def _atomic_width(name: str) -> int | None:
    width = _width(name)
    if "_pk_" in name:
        return 4
    if width is not None:
        return width
    return 8 if name.endswith("_x2") else 4


def _image(name: str) -> Answer:
    kind = InstructionKind.SAMPLE
    if name.startswith("image_atomic"):
        kind = InstructionKind.ATOMIC
    elif name.startswith("image_store"):
        kind = InstructionKind.STORE
    elif name.startswith("image_load"):
        kind = InstructionKind.LOAD
    elif name.startswith("image_bvh"):
        kind = InstructionKind.RAY
    return InstructionClass.VMEM, kind, MemorySpace.IMAGE, False, None, 1


def classify(name: str) -> Answer:
    """Return class, kind, space, direct-to-LDS flag, bytes per lane and addresses per lane of a memory mnemonic."""
    prefix, _, rest = name.partition("_")
    space = _SPACES[prefix]
    if space is MemorySpace.LDS:
        return _lds(name)
    if space is MemorySpace.IMAGE:
        return _image(name)
    cls = InstructionClass.SCRATCH if space is MemorySpace.SCRATCH else InstructionClass.VMEM
    if prefix == "tensor":
        lds = rest.endswith("lds")
        return cls, InstructionKind.TENSOR, space, lds, None, 1
    if rest.startswith(("inv", "wb", "gl0_inv", "gl1_inv")):
        return cls, InstructionKind.CACHE, None, False, None, 1
    to_lds = "_lds" in name
    if rest.startswith("atomic_"):
        return cls, InstructionKind.ATOMIC, space, False, _atomic_width(name), 1
    if rest.startswith("prefetch_"):
        return cls, InstructionKind.PREFETCH, space, False, None, 1
    kind = InstructionKind.LOAD if rest.startswith("load_") else InstructionKind.STORE
    # The number of bytes of a typed access depends on its format, which the mnemonic does not contain.
    size = None if "format" in rest or "block" in rest else _width(name)
    return cls, kind, space, to_lds, size, 1
