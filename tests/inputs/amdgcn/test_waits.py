"""Wait instructions, symbolic and numeric."""

import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.amdgcn import Generation, generation_of
from kprof.inputs.amdgcn.instruction import decode

GFX9, GFX10, GFX11, GFX12 = Generation.GFX9, Generation.GFX10, Generation.GFX11, Generation.GFX12

CASES = [
    ("s_waitcnt", "vmcnt(0)", GFX9, {"vmcnt": 0}),
    ("s_waitcnt", "vmcnt(3) lgkmcnt(0)", GFX9, {"vmcnt": 3, "lgkmcnt": 0}),
    ("s_waitcnt", "vmcnt(0) & expcnt(0) & lgkmcnt(0x1)", GFX9, {"vmcnt": 0, "expcnt": 0, "lgkmcnt": 1}),
    ("s_waitcnt", "0", GFX9, {"vmcnt": 0, "expcnt": 0, "lgkmcnt": 0}),
    ("s_waitcnt", "0xc07f", GFX9, {"lgkmcnt": 0}),
    ("s_waitcnt", "0x3f70", GFX10, {"vmcnt": 0}),
    ("s_waitcnt", "0x3f7", GFX11, {"vmcnt": 0}),
    ("s_waitcnt_vscnt", "null, 0x0", GFX10, {"vscnt": 0}),
    ("s_wait_loadcnt", "0x3", GFX12, {"loadcnt": 3}),
    ("s_wait_loadcnt_dscnt", "0x201", GFX12, {"loadcnt": 2, "dscnt": 1}),
    ("s_wait_storecnt_dscnt", "0x3f00", GFX12, {"dscnt": 0}),
    ("s_wait_kmcnt", "0x0", GFX12, {"kmcnt": 0}),
    ("s_wait_alu", "depctr_sa_sdst(0)", GFX12, {"sa_sdst": 0}),
    ("s_wait_alu", "0xfffe", GFX12, {"sa_sdst": 0}),
    ("s_waitcnt_depctr", "depctr_va_vdst(1) depctr_va_vcc(0)", GFX11, {"va_vdst": 1, "va_vcc": 0}),
    ("s_wait_asynccnt", "2", Generation.GFX1250, {"asynccnt": 2}),
    ("s_wait_idle", "", GFX12, {}),
    ("s_waitcnt", "symbol+1", GFX9, {}),
    ("s_waitcnt_vscnt", "null, symbol", GFX10, {}),
]


@pytest.mark.parametrize(("name", "text", "generation", "expected"), CASES)
def test_waits(name: str, text: str, generation: Generation, expected: dict[str, int]) -> None:
    """Counters and what may remain outstanding."""
    assert decode(name, text, generation) == expected


@pytest.mark.llvm
@pytest.mark.parametrize("arch", ["gfx803", "gfx906", "gfx942", "gfx1030", "gfx1100"])
def test_numeric_waits_against_the_assembler(llvm_mc: str, arch: str) -> None:
    """The immediate that llvm-mc encodes for a symbolic wait decodes to the same counts."""
    vm, lgkm = (15, 15) if arch == "gfx803" else (63, 15 if arch.startswith("gfx9") else 63)
    wanted = [
        {"vmcnt": v, "expcnt": e, "lgkmcnt": n} for v in range(0, vm, 7) for e in (0, 3, 6) for n in range(0, lgkm, 4)
    ]
    lines = ["s_waitcnt " + " ".join(f"{name}({count})" for name, count in wait.items()) for wait in wanted]
    command = [llvm_mc, "-triple=amdgcn", f"-mcpu={arch}", "-show-encoding"]
    out = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True).stdout
    codes = [int(b, 16) << 8 | int(a, 16) for a, b in re.findall(r"encoding: \[0x(..),0x(..),0x8[9c],0xbf\]", out)]
    assert len(codes) == len(wanted)
    for code, wait in zip(codes, wanted, strict=True):
        assert decode("s_waitcnt", str(code), generation_of(arch)) == wait


@given(st.text(max_size=60), st.sampled_from(sorted(Generation)))
def test_any_text_is_survived(text: str, generation: Generation) -> None:
    """Whatever stands behind a wait, the answer is a mapping of small numbers."""
    for name in ("s_waitcnt", "s_wait_alu", "s_wait_loadcnt_dscnt", "s_waitcnt_vscnt"):
        assert all(isinstance(count, int) for count in decode(name, text, generation).values())
