"""Class and kind of ``v_...`` mnemonics."""

from kprof.inputs.amdgcn.isa import InstructionClass, Kind

_TRANSCENDENTAL = ("exp", "log", "rcp", "rsq", "sqrt", "sin", "cos", "tanh")
_LANE = ("v_readlane", "v_readfirstlane", "v_writelane", "v_permlane", "v_screen_partition")
_NOPS = {"v_nop", "v_pipeflush", "v_clrexcp", "v_illegal"}


def classify(name: str) -> tuple[InstructionClass, Kind]:
    """Class and kind of one vector mnemonic, without its encoding suffix."""
    stem = name[2:].removeprefix("s_")
    if stem.startswith(("smfmac_", "swmmac_")):
        return InstructionClass.MATRIX, Kind.SPARSE
    if stem.startswith(("mfma_", "wmma_")):
        return InstructionClass.MATRIX, Kind.SCALE if "_ld_scale" in stem else Kind.DENSE
    return InstructionClass.VALU, _kind(name, stem)


def _kind(name: str, stem: str) -> Kind:
    if name in _NOPS:
        return Kind.NOP
    if name.startswith("v_dual_"):
        return Kind.DUAL
    if name.startswith("v_accvgpr_"):
        return Kind.ACC_COPY
    if name.startswith(_LANE):
        return Kind.LANE
    if stem.partition("_")[0] in _TRANSCENDENTAL:
        return Kind.TRANSCENDENTAL
    if stem.startswith(("cvt_", "sat_pk")):
        return Kind.CONVERSION
    if stem.startswith("cmp"):
        return Kind.COMPARE
    if stem.startswith("dot"):
        return Kind.DOT
    if stem.startswith(("mov_", "swap", "movrel")):
        return Kind.MOVE
    if stem.startswith("pk_"):
        return Kind.MOVE if stem == "pk_mov_b32" else Kind.PACKED
    return Kind.INTERPOLATION if stem.startswith("interp_") else Kind.PLAIN
