"""Facts of a loop, against what LLVM's own counts of the same text would give: plain searches in the assembly."""

import re

import pytest

from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.pipeline import facts_of


@pytest.mark.triton
@pytest.mark.parametrize(
    ("target", "arch", "shape"),
    [("flash_attention", "gfx942", {}), ("gemm", "gfx950", {}), ("flash_decoding_int4", "gfx90a", {})],
)
def test_counts_agree_with_the_text(target, arch, shape):
    """Widths, kinds and bytes of the hot loop are those that the mnemonics spell."""
    kernel = next(iter(load(target, CompileOptions(arch=(arch,), shape=shape))))
    facts, _ = facts_of(kernel)
    hot = next(loop for loop in facts.loops if loop.hot)
    members = next(loop for loop in kernel.program.loops if loop.header == hot.header).instructions
    text = "\n".join(kernel.program.instructions[i].text for i in members)

    def count(pattern):
        return len(re.findall(pattern, text, re.MULTILINE))

    to_lds = r"^buffer_load_dwordx4 .*\blds$"
    wide = count(r"^buffer_load_dwordx4") - count(to_lds)
    assert hot.widths.get("global_load", {}).get("16", 0) == wide
    assert hot.widths.get("global_to_lds", {}).get("16", 0) == count(to_lds)
    assert hot.widths["lds_load"].get("8", 0) == count(r"^ds_read_b64") + 2 * count(r"^ds_read2(st64)?_b64")
    assert hot.widths["lds_load"].get("16", 0) == count(r"^ds_read_b128")
    assert hot.kinds.get("conversion", 0) == count(r"^v_cvt")
    assert hot.kinds.get("acc_copy", 0) == count(r"^v_accvgpr")
    assert hot.classes.get("barrier", 0) == count(r"^s_barrier")
    moved = {
        path: 64 * sum(int(n) * times for n, times in widths.items())
        for path, widths in hot.widths.items()
        if not path.startswith("scalar")
    }
    assert moved == {path: n for path, n in hot.bytes_per_wave.items() if not path.startswith("scalar")}
