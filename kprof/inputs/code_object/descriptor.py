"""Decoding the 64-byte kernel descriptor.

Layout and granules: LLVM's AMDGPU usage guide, "Kernel Descriptor". The test-suite compares with descriptors that
an assembler made from ``.amdhsa_*`` directives.
"""

import struct

from kprof.inputs.amdgcn import Generation, generation_of
from kprof.inputs.amdgcn.isa import has_unified_registers
from kprof.inputs.code_object.model import Descriptor

SIZE = 64
_LAYOUT = struct.Struct("<IIIIq20xIIIHH4x")
_WAVE32 = 1 << 10
_DYNAMIC_STACK = 1 << 11
_WGP_MODE = 1 << 29
_TG_SPLIT = 1 << 16


def vgpr_encoding_granule(arch: str, wavefront_size: int) -> int:
    """VGPRs that one step of the descriptor's VGPR field stands for."""
    generation = generation_of(arch)
    if generation in {Generation.GFX8, Generation.GFX9}:
        return 8 if has_unified_registers(arch) else 4
    if generation is Generation.GFX1250:
        return 16
    return 8 if wavefront_size == 32 else 4


def decode(raw: bytes, arch: str) -> Descriptor:
    """Decode a descriptor of exactly 64 bytes for an architecture."""
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
