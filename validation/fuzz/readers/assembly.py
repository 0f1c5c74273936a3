"""Assembly of compilers: parsed, its facts taken, judged by every rule, and modelled."""

from pathlib import Path

from kprof.targets.artefacts import from_assembly
from validation.fuzz.readers._kernels import judge
from validation.fuzz.target import Target, sometimes

# The model takes ten times as long as reading.
_MODELLED = 8


def read(data: bytes, folder: Path) -> None:
    """Every kernel of the text; gfx942 where it does not say. Some inputs are modelled, too."""
    judge(from_assembly(folder / "k.s", data.decode(errors="replace"), "gfx942"), model=sometimes(data, _MODELLED))


TARGET = Target(
    read,
    ("gfx*/*.amdgcn", "gfx*/*.s"),
    words=(
        ".amdgcn_target", ".amdhsa_kernel", ".end_amdhsa_kernel", ".amdhsa_next_free_vgpr", ".amdgpu_metadata", "s_endpgm",
        "s_cbranch_scc1", "s_waitcnt", "vmcnt(0)", "lgkmcnt(0)", "s_barrier", "v_mfma_f32_16x16x16_f16", "buffer_load_dwordx4",
        "ds_read_b128", "global_load_dwordx4", "scratch_store_dword", "offset:", "v[0:3]", "a[0:3]", "s[0:3]", "exec", "vcc",
        ".set", ".if", ".endif", ".macro", ".rept", ".loc", "amdgcn-amd-amdhsa--gfx950",
    ), runs=60)  # fmt: skip
