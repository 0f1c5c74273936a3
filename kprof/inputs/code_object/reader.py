"""Read kernels and descriptors from the bytes of a code object file."""

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kprof.errors import InputError, KprofError
from kprof.hardware.machine import elf_machines
from kprof.inputs import boundary
from kprof.inputs.amdgcn import Generation, generation_of, split_target
from kprof.inputs.amdgcn import metadata as yaml_metadata
from kprof.inputs.amdgcn.isa import has_unified_registers
from kprof.inputs.amdgcn.resources import registers
from kprof.inputs.code_object import bundle
from kprof.inputs.code_object.elf import EM_AMDGPU, Elf, Symbol
from kprof.inputs.code_object.model import CodeObject, CodeObjectFile, Descriptor, KernelObject

# Source: LLVM's AMDGPU usage guide, "ELF Code Object", ``EF_AMDGPU_*``. Architectures with a file in kprof/hardware
# define their number there; this table lists architectures that kprof can name but not model.
_OTHERS: Mapping[int, str] = {
    0x20: "gfx600",
    0x21: "gfx601",
    0x22: "gfx700",
    0x23: "gfx701",
    0x24: "gfx702",
    0x25: "gfx703",
    0x26: "gfx704",
    0x28: "gfx801",
    0x29: "gfx802",
    0x2A: "gfx803",
    0x2B: "gfx810",
    0x2C: "gfx900",
    0x2D: "gfx902",
    0x2E: "gfx904",
    0x2F: "gfx906",
    0x31: "gfx909",
    0x32: "gfx90c",
    0x33: "gfx1010",
    0x34: "gfx1011",
    0x35: "gfx1012",
    0x37: "gfx1031",
    0x38: "gfx1032",
    0x39: "gfx1033",
    0x3A: "gfx602",
    0x3B: "gfx705",
    0x3C: "gfx805",
    0x3D: "gfx1035",
    0x3E: "gfx1034",
    0x40: "gfx940",
    0x42: "gfx1013",
    0x45: "gfx1036",
    0x4B: "gfx941",
    0x51: "gfx9-generic",
    0x52: "gfx10-1-generic",
    0x53: "gfx10-3-generic",
    0x54: "gfx11-generic",
    0x55: "gfx1152",
    0x58: "gfx1153",
    0x59: "gfx12-generic",
    0x5A: "gfx1251",
    0x5F: "gfx9-4-generic",
}
_MACHINE_MASK = 0xFF
_OLD_XNACK, _OLD_SRAMECC = 0x100, 0x200
_XNACK_SHIFT, _SRAMECC_SHIFT = 8, 10
_FIRST_VERSION_WITH_FOUR_STATES = 2
_STATES = {2: False, 3: True}


def architecture(flags: int) -> str:
    """Return the architecture, such as ``gfx942``, encoded in ``e_flags``; "" for an unknown machine."""
    number = flags & _MACHINE_MASK
    return elf_machines().get(number) or _OTHERS.get(number, "")


def features(flags: int, abi_version: int) -> dict[str, bool]:
    """Return the target features in ``e_flags``; features set to "any" or unsupported are absent."""
    if abi_version < _FIRST_VERSION_WITH_FOUR_STATES:
        return {"xnack": bool(flags & _OLD_XNACK), "sramecc": bool(flags & _OLD_SRAMECC)}
    found = {"xnack": flags >> _XNACK_SHIFT & 3, "sramecc": flags >> _SRAMECC_SHIFT & 3}
    return {name: _STATES[state] for name, state in found.items() if state in _STATES}


# Layout and granules: LLVM's AMDGPU usage guide, "Kernel Descriptor". The test suite compares the results with
# descriptors that an assembler generates from ``.amdhsa_*`` directives.
SIZE = 64
_LAYOUT = struct.Struct("<IIIIq20xIIIHH4x")
_WAVE32 = 1 << 10
_DYNAMIC_STACK = 1 << 11
_WGP_MODE = 1 << 29
_TG_SPLIT = 1 << 16


def vgpr_encoding_granule(arch: str, wavefront_size: int) -> int:
    """Return the number of VGPRs that one unit of the descriptor's VGPR field stands for."""
    generation = generation_of(arch)
    if generation in {Generation.GFX8, Generation.GFX9}:
        return 8 if has_unified_registers(arch) else 4
    if generation is Generation.GFX1250:
        return 16
    return 8 if wavefront_size == 32 else 4


def decode(raw: bytes, arch: str) -> Descriptor:
    """Decode a 64-byte kernel descriptor for an architecture."""
    lds, scratch, kernarg, _, entry, rsrc3, rsrc1, rsrc2, properties, preload = _LAYOUT.unpack(raw)
    generation = generation_of(arch)
    old = generation in {Generation.GFX8, Generation.GFX9}
    wavefront = 32 if generation is Generation.GFX1250 or (not old and properties & _WAVE32) else 64
    steps = rsrc1 >> 6 & 15
    sgpr = None
    if old:
        sgpr = (steps // 2 + 1) * 16 if generation is Generation.GFX9 else (steps + 1) * 8
    unified = has_unified_registers(arch)
    has_wgp_mode = generation in {Generation.GFX10, Generation.GFX11, Generation.GFX12}
    return Descriptor(
        lds_bytes=lds,
        scratch_bytes=scratch,
        kernarg_bytes=kernarg,
        entry_offset=entry,
        vgpr=((rsrc1 & 63) + 1) * vgpr_encoding_granule(arch, wavefront),
        sgpr=sgpr,
        accum_offset=((rsrc3 & 63) + 1) * 4 if unified else None,
        wavefront_size=wavefront,
        wgp_mode=bool(rsrc1 & _WGP_MODE) if has_wgp_mode else None,
        tg_split=bool(rsrc3 & _TG_SPLIT) if unified else None,
        dynamic_stack=bool(properties & _DYNAMIC_STACK),
        user_sgprs=rsrc2 >> 1 & 31,
        kernarg_preload=preload & 127,
        raw=raw,
    )


_MESSAGEPACK_NOTE, _YAML_NOTE = 32, 10
_FUNCTION = 2
_FAT_BINARY_SECTION = ".hip_fatbin"
_MAX_BYTES = 1 << 30
_PATH_LIKE = re.compile(rb"\s*[\w./~+@:=\\ -]{1,4096}\s*$")


def _metadata(elf: Elf) -> tuple[dict[str, Any], list[str]]:
    """Return the content of the metadata note and a list of problems with it."""
    import msgspec

    for owner, kind, content in elf.notes():
        if owner == "AMDGPU" and kind == _MESSAGEPACK_NOTE:
            try:
                value = msgspec.msgpack.decode(content)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
                return {}, [f"the metadata note is damaged: {error}"]
            return (value, []) if isinstance(value, dict) else ({}, ["the metadata note is not a mapping"])
        if owner == "AMD" and kind == _YAML_NOTE:
            value = yaml_metadata.read(content.rstrip(b"\0").decode("utf-8", "replace").split("\n"))
            return (value, []) if value is not None else ({}, ["the metadata note is damaged"])
    return {}, ["there is no metadata note"]


def _old_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a kernel entry of code object version 2 to the key names of later versions."""
    properties = entry.get("CodeProps")
    properties = properties if isinstance(properties, dict) else {}
    names = {
        "KernargSegmentSize": ".kernarg_segment_size",
        "GroupSegmentFixedSize": ".group_segment_fixed_size",
        "PrivateSegmentFixedSize": ".private_segment_fixed_size",
        "WavefrontSize": ".wavefront_size",
        "NumSGPRs": ".sgpr_count",
        "NumVGPRs": ".vgpr_count",
        "MaxFlatWorkGroupSize": ".max_flat_workgroup_size",
        "NumSpilledSGPRs": ".sgpr_spill_count",
        "NumSpilledVGPRs": ".vgpr_spill_count",
    }
    new = {names[key]: value for key, value in properties.items() if key in names}
    return new | {".name": entry.get("Name"), ".symbol": entry.get("SymbolName")}


def _entries(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = document.get("amdhsa.kernels")
    if isinstance(found, list):
        return [entry for entry in found if isinstance(entry, dict)]
    old = document.get("Kernels")
    return [_old_entry(entry) for entry in old if isinstance(entry, dict)] if isinstance(old, list) else []


def _kernel(elf: Elf, arch: str, entry: Mapping[str, Any], symbols: Mapping[str, Symbol]) -> KernelObject:
    symbol = str(entry.get(".symbol") or f"{entry.get('.name')}.kd").removesuffix("@kd")
    symbol = symbol if symbol.endswith(".kd") else f"{symbol}.kd"
    code = symbols.get(symbol.removesuffix(".kd"))
    raw = elf.at_address(symbols[symbol], SIZE) if symbol in symbols else b""
    decoded = decode(raw, arch) if len(raw) == SIZE and arch else None
    directives: dict[str, int | str] = {}
    if decoded is not None:
        directives = {
            "next_free_vgpr": decoded.vgpr,
            "private_segment_fixed_size": decoded.scratch_bytes,
            "group_segment_fixed_size": decoded.lds_bytes,
            "uses_dynamic_stack": int(decoded.dynamic_stack),
            "wavefront_size32": int(decoded.wavefront_size == 32),
        }
        if decoded.accum_offset is not None:
            directives["accum_offset"] = decoded.accum_offset
        if decoded.wgp_mode is not None:
            directives["workgroup_processor_mode"] = int(decoded.wgp_mode)
    found = registers(arch, directives, entry, {})
    code_bytes = code.size if code is not None and code.kind == _FUNCTION and code.size else None
    return KernelObject(
        name=str(entry.get(".name") or symbol.removesuffix(".kd")),
        arch=arch,
        descriptor=decoded,
        metadata=entry,
        registers=replace(found, code_bytes=code_bytes),
        code_bytes=code_bytes,
        address=code.value if code is not None else None,
    )


def _object(data: bytes, path: str | None, bundle_id: str | None) -> CodeObject:
    elf = Elf(data, path)
    if elf.machine != EM_AMDGPU:
        raise InputError(f"this ELF file is for machine {elf.machine}, not for AMD GPUs", path=path, place="byte 18")
    document, notes = _metadata(elf)
    target = str(document.get("amdhsa.target") or "")
    arch = architecture(elf.flags) or split_target(target)[0] or split_target(bundle_id or "")[0]
    if not arch:
        notes.append(f"the architecture is not known (e_flags {elf.flags:#x})")
    symbols = {symbol.name: symbol for symbol in elf.symbols() if symbol.name}
    entries = _entries(document)
    if not entries:
        names = sorted(name for name, symbol in symbols.items() if name.endswith(".kd") and symbol.size == SIZE)
        entries = [{".name": name.removesuffix(".kd"), ".symbol": name} for name in names]
    kernels = tuple(_kernel(elf, arch, entry, symbols) for entry in entries)
    notes += [
        f"the descriptor of {kernel.name} lies outside the file" for kernel in kernels if kernel.descriptor is None
    ]
    return CodeObject(
        arch=arch,
        features=features(elf.flags, elf.abi_version),
        target=target or f"amdgcn-amd-amdhsa--{arch}",
        version=elf.abi_version + 2,
        kernels=kernels,
        metadata=document,
        bundle_id=bundle_id,
        notes=tuple(notes),
        data=data,
    )


def _bundled(data: bytes, path: str | None) -> Iterator[CodeObject]:
    for entry in bundle.entries(data, path):
        if entry.data.startswith(b"\x7fELF") and not entry.identifier.startswith("host"):
            yield _object(entry.data, path, entry.identifier)


def _unpack(data: bytes, path: str | None) -> tuple[str, list[CodeObject], list[str]]:
    """Return the container type, the objects and the notes of a file's bytes."""
    if data.startswith(bundle.COMPRESSED_MAGIC):
        return "compressed bundle", list(_bundled(bundle.expand(data, path), path)), []
    if data.startswith(bundle.MAGIC):
        return "bundle", list(_bundled(data, path)), []
    elf = Elf(data, path)
    if elf.machine == EM_AMDGPU:
        return "elf", [_object(data, path, None)], []
    section = elf.section(_FAT_BINARY_SECTION)
    if section is None:
        message = "this is a program for the host without GPU code"
        raise InputError(message, path=path, hint=f"It has no {_FAT_BINARY_SECTION} section.")
    return "fat binary", *_fat_binary(elf.content(section), path)


def _fat_binary(content: bytes, path: str | None) -> tuple[list[CodeObject], list[str]]:
    """Read the bundles of a fat binary, which follow each other at page boundaries."""
    objects: list[CodeObject] = []
    notes: list[str] = []
    at = 0
    while at < len(content):
        starts = [s for s in (content.find(bundle.MAGIC, at), content.find(bundle.COMPRESSED_MAGIC, at)) if s >= 0]
        if not starts:
            break
        at = min(starts)
        part = content[at:]
        try:
            if part.startswith(bundle.MAGIC):
                objects += _bundled(part, path)
                at += max(bundle.total_size(part), len(bundle.MAGIC))
            else:
                objects += _bundled(bundle.expand(part, path), path)
                at += len(bundle.COMPRESSED_MAGIC)
        except KprofError as error:
            notes.append(f"{_FAT_BINARY_SECTION} byte {at}: {error.message}")
            at += len(bundle.COMPRESSED_MAGIC)
    return objects, notes


def read(data: bytes, path: str | None = None) -> CodeObjectFile:
    """Read a code object, an offload bundle (plain or compressed) or a host program with embedded GPU code.

    Args:
        data: bytes of the complete file.
        path: path of the file, for messages.

    Raises:
        KprofError: if the data is empty, cut off, damaged or of another format; the message names the problem.
    """
    if not data:
        raise InputError("the file is empty", path=path)
    if len(data) < 4 or not data.startswith((b"\x7fELF", bundle.MAGIC, bundle.COMPRESSED_MAGIC)):
        if len(data) <= 4096 and _PATH_LIKE.match(data) and (b"/" in data or data.strip().endswith(b".hsaco")):
            inner = data.decode("utf-8", "replace").strip()
            raise InputError(
                "this file contains a path, not a code object", path=path, hint=f"Pass the file that it names: {inner}"
            )
        raise InputError("this is neither an ELF file nor an offload bundle", path=path, place="byte 0")
    container, objects, notes = _unpack(data, path)
    if not objects:
        notes.append("the file contains no code for AMD GPUs")
    return CodeObjectFile(path, container, tuple(objects), tuple(notes))


def read_file(path: str | Path) -> CodeObjectFile:
    """Read a code object file; see :func:`read`.

    Raises:
        KprofError: if the file is missing, a directory, unreadable or over 1 GiB, or if :func:`read` rejects its
            content.
    """
    name = str(path)
    data = boundary.read_bytes(path)
    return read(data, name)
