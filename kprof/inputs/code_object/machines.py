"""Architecture and features in ``e_flags``. Source: LLVM's AMDGPU usage guide, "ELF Code Object", ``EF_AMDGPU_*``.

An architecture with a file in kprof/hardware has its number there; those that kprof can only name are here.
"""

from collections.abc import Mapping

from kprof.hardware.machine import elf_machines

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
    """``gfx942`` from ``e_flags``; empty for an unknown machine."""
    number = flags & _MACHINE_MASK
    return elf_machines().get(number) or _OTHERS.get(number, "")


def features(flags: int, abi_version: int) -> dict[str, bool]:
    """Target features from ``e_flags``; a feature that may be either way, or is not supported, is left out."""
    if abi_version < _FIRST_VERSION_WITH_FOUR_STATES:
        return {"xnack": bool(flags & _OLD_XNACK), "sramecc": bool(flags & _OLD_SRAMECC)}
    found = {"xnack": flags >> _XNACK_SHIFT & 3, "sramecc": flags >> _SRAMECC_SHIFT & 3}
    return {name: _STATES[state] for name, state in found.items() if state in _STATES}
