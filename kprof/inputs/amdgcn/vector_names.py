"""Class and kind of ``v_...`` mnemonics."""

from kprof.inputs.amdgcn.isa import InstructionClass, InstructionKind

_TRANSCENDENTAL = ("exp", "log", "rcp", "rsq", "sqrt", "sin", "cos", "tanh")
_LANE = ("v_readlane", "v_readfirstlane", "v_writelane", "v_permlane", "v_screen_partition")
_NOPS = {"v_nop", "v_pipeflush", "v_clrexcp", "v_illegal"}


def classify(name: str) -> tuple[InstructionClass, InstructionKind]:
    """Class and kind of one vector mnemonic, without its encoding suffix."""
    stem = name[2:].removeprefix("s_")
    if stem.startswith(("smfmac_", "swmmac_")):
        return InstructionClass.MATRIX, InstructionKind.SPARSE
    if stem.startswith(("mfma_", "wmma_")):
        return InstructionClass.MATRIX, InstructionKind.SCALE if "_ld_scale" in stem else InstructionKind.DENSE
    return InstructionClass.VALU, _kind(name, stem)


def _kind(name: str, stem: str) -> InstructionKind:
    if name in _NOPS:
        return InstructionKind.NOP
    if name.startswith("v_dual_"):
        return InstructionKind.DUAL
    if name.startswith("v_accvgpr_"):
        return InstructionKind.ACC_COPY
    if name.startswith(_LANE):
        return InstructionKind.LANE
    if stem.partition("_")[0] in _TRANSCENDENTAL:
        return InstructionKind.TRANSCENDENTAL
    if stem.startswith(("cvt_", "sat_pk")):
        return InstructionKind.CONVERSION
    if stem.startswith("cmp"):
        return InstructionKind.COMPARE
    if stem.startswith("dot"):
        return InstructionKind.DOT
    if stem.startswith(("mov_", "swap", "movrel")):
        return InstructionKind.MOVE
    if stem.startswith("pk_"):
        return InstructionKind.MOVE if stem == "pk_mov_b32" else InstructionKind.PACKED
    return InstructionKind.INTERPOLATION if stem.startswith("interp_") else InstructionKind.PLAIN
