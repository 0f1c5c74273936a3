"""From a mnemonic to its :class:`Opcode`.

The class follows from the shape of the name; whether the name exists at all is looked up in ``mnemonics.txt``, the
mnemonics that the assemblers of LLVM 19 to 24 accept for any AMD GPU (written by ``scripts/list_mnemonics.py``). An
invented ``v_foo_bar`` is therefore ``UNKNOWN`` although it looks like vector arithmetic.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kprof.inputs.amdgcn import memory_names, scalar_names
from kprof.inputs.amdgcn.counters import counters_of
from kprof.inputs.amdgcn.isa import Generation, InstructionClass, InstructionKind, MemorySpace, Opcode, generation_of

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


_SUFFIXES = ("_e64_dpp", "_e32", "_e64", "_dpp", "_sdwa", "_dpp8", "_e64_dpp8")
_MEMORY_PREFIXES = (
    "buffer_",
    "tbuffer_",
    "global_",
    "flat_",
    "scratch_",
    "image_",
    "ds_",
    "cluster_",
    "tensor_",
    "lds_",
)


@dataclass(frozen=True)
class Shape:
    """What the shape of a name says, before generation and existence are considered."""

    cls: InstructionClass
    kind: InstructionKind = InstructionKind.PLAIN
    space: MemorySpace | None = None
    to_lds: bool = False
    bytes_per_lane: int | None = None
    parts: int = 1


@cache
def known_mnemonics() -> frozenset[str]:
    """All mnemonics that known assemblers accept, without encoding suffixes."""
    text = Path(__file__).with_name("mnemonics.txt").read_text("ascii")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def split_encoding(mnemonic: str) -> tuple[str, str]:
    """``("v_add_f32", "e32")`` of ``v_add_f32_e32``; the second part is empty without a suffix."""
    if mnemonic.startswith("v_"):
        for suffix in _SUFFIXES:
            if mnemonic.endswith(suffix):
                return mnemonic[: -len(suffix)], suffix[1:]
    return mnemonic, ""


def shape_of(name: str) -> Shape:
    """Class and kind that the shape of a name suggests; class ``UNKNOWN`` when it has no AMD shape at all."""
    if name.startswith("v_"):
        return Shape(*classify(name))
    if name.startswith("s_"):
        cls, kind, space, size = scalar_names.classify(name)
        return Shape(cls, kind, space, bytes_per_lane=size)
    if name.startswith(_MEMORY_PREFIXES):
        return Shape(*memory_names.classify(name))
    if name in {"exp", "export"}:
        return Shape(InstructionClass.EXPORT)
    return Shape(InstructionClass.UNKNOWN)


@cache
def lookup_for(mnemonic: str, generation: Generation) -> Opcode:
    """Opcode of a mnemonic on a generation. Never fails: see :attr:`Opcode.known`."""
    name, encoding = split_encoding(mnemonic)
    known = name in known_mnemonics()
    shape = shape_of(name)
    memory = shape.space is not None
    atomic = memory and shape.kind is InstructionKind.ATOMIC
    load = memory and shape.kind in {InstructionKind.LOAD, InstructionKind.SAMPLE, InstructionKind.RAY}
    load = load or (shape.kind is InstructionKind.TENSOR and "load" in name)
    store = memory and (
        shape.kind is InstructionKind.STORE or (shape.kind is InstructionKind.TENSOR and "store" in name)
    )
    return Opcode(
        mnemonic=mnemonic,
        name=name,
        encoding=encoding,
        cls=shape.cls if known else InstructionClass.UNKNOWN,
        kind=shape.kind if known else InstructionKind.PLAIN,
        space=shape.space if known else None,
        is_load=load and known,
        is_store=store and known,
        is_atomic=atomic and known,
        to_lds=shape.to_lds and known,
        bytes_per_lane=shape.bytes_per_lane if known else None,
        parts=shape.parts,
        counters=counters_of(shape.cls, shape.kind, shape.space, name, generation) if known else (),
        known=known,
        likely=shape.cls,
        generation=generation,
    )


def lookup(mnemonic: str, arch: str) -> Opcode:
    """Opcode of a mnemonic on an architecture such as ``gfx942``. Never fails: see :attr:`Opcode.known`."""
    return lookup_for(mnemonic, generation_of(arch))
