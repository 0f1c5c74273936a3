"""Decoding wait instructions into counter names and the counts that may remain outstanding.

Field positions are those of the AMD ISA guides (``S_WAITCNT`` in the chapter on SOPP instructions) for each generation;
the test-suite compares them with an assembler. A field at its largest value waits for nothing and is left out.
"""

import re
from collections.abc import Mapping

from kprof.inputs.amdgcn.isa import Generation

Field = tuple[str, tuple[tuple[int, int], ...]]
"""Counter name and its bit ranges as (lowest bit, width), least significant part first."""

_S_WAITCNT: Mapping[Generation, tuple[Field, ...]] = {
    Generation.GFX8: (("vmcnt", ((0, 4),)), ("expcnt", ((4, 3),)), ("lgkmcnt", ((8, 4),))),
    Generation.GFX9: (("vmcnt", ((0, 4), (14, 2))), ("expcnt", ((4, 3),)), ("lgkmcnt", ((8, 4),))),
    Generation.GFX10: (("vmcnt", ((0, 4), (14, 2))), ("expcnt", ((4, 3),)), ("lgkmcnt", ((8, 6),))),
    Generation.GFX11: (("vmcnt", ((10, 6),)), ("expcnt", ((0, 3),)), ("lgkmcnt", ((4, 6),))),
}
_DEPCTR: tuple[Field, ...] = (
    ("va_vdst", ((12, 4),)),
    ("va_sdst", ((9, 3),)),
    ("va_ssrc", ((8, 1),)),
    ("hold_cnt", ((7, 1),)),
    ("vm_vsrc", ((2, 3),)),
    ("va_vcc", ((1, 1),)),
    ("sa_sdst", ((0, 1),)),
)
_COMBINED: Mapping[str, tuple[Field, ...]] = {
    "s_wait_loadcnt_dscnt": (("loadcnt", ((8, 6),)), ("dscnt", ((0, 6),))),
    "s_wait_storecnt_dscnt": (("storecnt", ((8, 6),)), ("dscnt", ((0, 6),))),
}
_SINGLE: Mapping[str, str] = {
    "s_waitcnt_vscnt": "vscnt",
    "s_waitcnt_vmcnt": "vmcnt",
    "s_waitcnt_expcnt": "expcnt",
    "s_waitcnt_lgkmcnt": "lgkmcnt",
    **{f"s_wait_{c}": c for c in ("loadcnt", "storecnt", "samplecnt", "bvhcnt", "dscnt", "kmcnt", "expcnt")},
    **{f"s_wait_{c}": c for c in ("xcnt", "asynccnt", "tensorcnt")},
}
_CALL = re.compile(r"(\w+)\(\s*(0x[0-9a-fA-F]{1,8}|\d{1,9})\s*\)")


def number(text: str) -> int | None:
    """Value of a decimal or hexadecimal literal, ``None`` for anything else."""
    text = text.strip()
    negative = text.startswith("-")
    digits = text[1:] if negative else text
    try:
        value = int(digits, 16) if digits[:2] in {"0x", "0X"} else int(digits)
    except ValueError:
        return None
    return -value if negative else value


def _fields(value: int, fields: tuple[Field, ...]) -> dict[str, int]:
    waits = {}
    for name, ranges in fields:
        count, width = 0, 0
        for low, bits in ranges:
            count |= (value >> low & (1 << bits) - 1) << width
            width += bits
        if count != (1 << width) - 1:
            waits[name] = count
    return waits


def decode(name: str, text: str, generation: Generation) -> dict[str, int]:
    """Counter to the count that may remain outstanding.

    Args:
        name: mnemonic of a wait instruction.
        text: what follows the mnemonic, without comment.
        generation: decides the fields of a numeric ``s_waitcnt``.

    Returns:
        Empty when nothing is waited for, or when the operand is an expression that cannot be evaluated here.
    """
    if name in _SINGLE:
        value = number(text.rpartition(",")[2])
        return {} if value is None else {_SINGLE[name]: value}
    symbolic = {
        match[1].removesuffix("_sat").removeprefix("depctr_"): int(match[2], 16 if match[2][:2] == "0x" else 10)
        for match in _CALL.finditer(text)
    }
    if symbolic:
        return symbolic
    value = number(text)
    if value is None:
        return {}
    if name == "s_waitcnt":
        return _fields(value, _S_WAITCNT.get(generation, _S_WAITCNT[Generation.GFX11]))
    if name in _COMBINED:
        return _fields(value, _COMBINED[name])
    if name in {"s_waitcnt_depctr", "s_wait_alu"}:
        return _fields(value, _DEPCTR)
    return {}
