"""KP501 dot-without-matrix-unit."""

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Finding, Severity
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import Instruction, InstructionClass
from kprof.inputs.mlir import Operation, TensorType
from kprof.inputs.mlir.layouts import Mfma, Wmma
from kprof_analyzers.rules.about import VALU_INSTRUCTIONS, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import Answer, Numbers, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Need, Rule, known, without_matrix
from kprof_analyzers.source_lines import location_of, on_line_of

# Map from operand type to its name in the hardware files, for types that Triton never converts before a product. It may
# convert fp8 to fp16.
_WIDE = {"f32": "fp32", "f64": "fp64"}
# Minimum number of rows and columns of a matrix instruction's result.
_LEAST_TILE = 16
# Types of 8-bit floats. Both formats, E4M3 and E5M2, have the same rate; the hardware files list both as fp8.
_EIGHT_BITS = ("f8E4M3FNUZ", "f8E4M3FN", "f8E5M2", "f8E5M2FNUZ")
_TYPES = {"f16": "fp16", **dict.fromkeys(_EIGHT_BITS, "fp8")}
_MULTIPLY_ADDS = ("v_fma", "v_mac", "v_mad_f", "v_pk_fma", "v_pk_mad", "v_dot2", "v_dot4")


def _no_matrix(numbers: Numbers) -> Answer:
    count = numbers["mfma_per_wave"]
    return count == 0, f"{count:,.0f} matrix instructions a wavefront were counted"


def _too_small(axis: slice, facts: KernelFacts) -> bool:
    """Return whether a dot's result has fewer rows or columns than a matrix instruction needs."""
    dots = facts.ttgir.named("tt.dot", "tt.dot_scaled") if facts.ttgir is not None else ()
    shapes = [t.shape for dot in dots for t in dot.result_types if isinstance(t, TensorType)]
    return any(size < _LEAST_TILE for shape in shapes for size in shape[axis])


_ROWS, _COLUMNS = slice(-2, -1), slice(-1, None)


class DotWithoutMatrixUnit(Rule):
    """A dot is computed on the vector unit.

    ## What it does
    Looks at the result layout of each `tt.dot` in the TTGIR. If the layout is neither MFMA nor WMMA, the dot consists
    of multiply-adds on the vector unit. Architectures without matrix instructions (gfx10) are skipped. If the
    architecture has no matrix instruction for the type, such as fp32 on RDNA, the finding is a note.

    ## Why it matters
    The matrix units of an MI300X do 8 times as many fp16 operations per cycle as its vector units.

    ## Evidence
    `shape`: M x N x K of the dot. `type`: operand type.

    ## What to try
    Use operand types that the architecture's matrix instructions support (not fp64 and, on RDNA, not fp32). For fp32 on
    gfx942, use `input_precision="tf32"`.
    """

    id: ClassVar[str] = "KP501"
    name: ClassVar[str] = "dot-without-matrix-unit"
    severity: ClassVar[Severity] = Severity.WARNING
    about: ClassVar[About] = VALU_INSTRUCTIONS
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            "BLOCK_M", _LEAST_TILE, "a smaller tile is multiplied on the vector unit", when=partial(_too_small, _ROWS)
        ),
        Lever(
            "BLOCK_N",
            _LEAST_TILE,
            "a smaller tile is multiplied on the vector unit",
            when=partial(_too_small, _COLUMNS),
        ),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = RuleQuestion(("mfma_per_wave",), _no_matrix)

    def absent_from(self, arch: Architecture) -> str | None:
        """See :meth:`Rule.absent_from`."""
        return without_matrix(arch)

    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        types = {instruction.type for instruction in facts.arch.matrix_instructions.values()}
        seen: set[str] = set()
        for dot in module.named("tt.dot", "tt.dot_scaled"):
            result = next((t for t in dot.result_types if isinstance(t, TensorType)), None)
            left = next((t for t in dot.operand_types if isinstance(t, TensorType)), None)
            if result is None or left is None or not left.shape or isinstance(result.layout, Mfma | Wmma):
                continue
            place = str(location_of(dot)[0])
            if place in seen:
                continue
            seen.add(place)
            shape = (*result.shape[-2:], left.shape[-1])
            kind = getattr(left.element, "name", "?")
            possible = _WIDE.get(kind, kind) in types or kind not in _WIDE
            finding = self.finding(
                f"the {'x'.join(map(str, shape))} dot of {kind} runs on the vector unit"
                + ("" if possible else f": {facts.arch.name} has no matrix instruction for the type"),
                at=dot,
                severity=Severity.WARNING if possible else Severity.NOTE,
                evidence={"shape": list(shape), "type": kind},
            )
            yield _on_matrix_unit(facts, dot, _WIDE.get(kind, kind), finding) if possible else finding


def _on_matrix_unit(facts: KernelFacts, dot: Operation, kind: str, finding: Finding) -> Finding | Costed:
    """Add the gain of doing the dot's multiply-adds at the rate of the matrix units. Costs of padding are ignored."""
    rates = [
        i.flops_per_cycle
        for i in facts.arch.matrix_instructions.values()
        if not i.sparse and i.type == _TYPES.get(kind, kind)
    ]
    vector = facts.arch.rates.get("valu_fp32")
    if not rates or vector is None:
        return finding
    found = filter(_multiplies, on_line_of(facts.program.instructions, dot))
    cycles = {i.index: min(1.0, vector * _products(i) / max(rates)) for i in found}
    return Costed(finding, ModelChange(cycles=cycles, at_most=True)) if cycles else finding


def _multiplies(instruction: Instruction) -> bool:
    return instruction.opcode.cls is InstructionClass.VALU and instruction.opcode.name.startswith(_MULTIPLY_ADDS)


def _products(instruction: Instruction) -> int:
    """Return the number of multiply-adds per lane: 4 for ``v_dot4``, 2 for ``v_dot2`` and ``v_pk``, else 1."""
    name = instruction.opcode.name
    return 4 if name.startswith("v_dot4") else 2 if name.startswith(("v_dot2", "v_pk")) else 1
