"""KP506 natural-exponential."""

from collections import Counter
from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.inputs.amdgcn import Instruction, InstructionClass
from kprof.inputs.mlir import Operation, TensorType
from kprof_analyzers.memory.replication import lanes_of
from kprof_analyzers.model.executions import significant_regions
from kprof_analyzers.rules.about import TRANSCENDENTALS, About
from kprof_analyzers.rules.questions import VECTOR, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Rule
from kprof_analyzers.source_lines import location_of

_NATURAL = {"math.exp": "exp2", "math.log": "log2"}
_OF_LOGARITHMS = "write 0.69314718 * tl.log2(x) for tl.log(x), and merge the factor with what is multiplied next"
_INSTRUCTIONS = ("v_exp_f32", "v_log_f32")
# log2(e) and ln(2), as written in the multiplications around v_exp_f32 and v_log_f32.
_CONSTANTS = ("0x3fb8aa3b", "0x3f317218", "0x3f317217")
_ENOUGH = 4


class NaturalExponential(Rule):
    """Natural exponentials or logarithms of a tile are computed.

    ## What it does
    Looks for `math.exp` and `math.log` of tensors in the TTGIR. In loops, it reports tiles with two axes and tiles with
    at least four elements per lane. Outside of loops, it reports only tiles with at least four elements per lane, and
    only if the code outside of loops executes at least an eighth of the kernel's vector instructions. Without TTGIR, it
    looks for `v_exp_f32` and `v_log_f32` together with multiplications by log2(e) or ln(2) in the same loop or other
    region of code.

    ## Why it matters
    The hardware computes powers of two: `v_exp_f32` is 2**x. A natural exponential needs another multiplication for
    each element and, in full precision, a correction for tiny results.

    ## Evidence
    `function`; `elements`: number of elements of the tile. For findings in the assembly instead: `instructions`,
    `multiplications`, and `loop`, which is null outside of loops.

    ## What to try
    Use `tl.exp2`, and multiply log2(e) into a scale that is applied anyway. In attention, multiply it into the scale of
    the scores, which costs no additional multiplication.
    """

    id: ClassVar[str] = "KP506"
    name: ClassVar[str] = "natural-exponential"
    severity: ClassVar[Severity] = Severity.NOTE
    fix: ClassVar[str] = (
        "write tl.exp2(1.44269504 * x) for tl.exp(x), and merge the factor with a scale that is applied to x anyway"
    )
    about: ClassVar[About] = TRANSCENDENTALS
    confirmed_by: ClassVar[RuleQuestion | None] = VECTOR

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        if facts.ttgir is None:
            yield from self._in_assembly(facts)
            return
        outside = any(region.loop is None for region in significant_regions(facts, InstructionClass.VALU))
        seen: set[str] = set()
        for op in facts.ttgir.named(*_NATURAL):
            tile = next((t for t in op.result_types if isinstance(t, TensorType)), None)
            place = str(location_of(op)[0])
            if tile is None or place in seen or not (_is_large(op, tile) or (op.loop is not None and _is_wide(tile))):
                continue
            if op.loop is not None or outside:
                seen.add(place)
                yield self._report(facts, op, tile)

    def _report(self, facts: KernelFacts, op: Operation, tile: TensorType) -> Costed:
        name = op.name.removeprefix("math.")
        shape = "x".join(map(str, tile.shape))
        where = "in straight-line code" if op.loop is None else "in the loop"
        return Costed(
            self.finding(
                f"{name} of a {shape} tile {where}: {_NATURAL[op.name]} saves a multiplication for each element",
                at=op,
                evidence={"function": name, "elements": tile.elements},
                fix=_OF_LOGARITHMS if name == "log" else "",
            ),
            ModelChange(gone=_around(facts, op)),
        )

    def _in_assembly(self, facts: KernelFacts) -> Iterable[Costed]:
        for region in significant_regions(facts, InstructionClass.VALU):
            lines = Counter(str(location_of(i)[0]) for i in region.instructions if _is_scaling(i))
            found = [i for i in region.instructions if i.opcode.name in _INSTRUCTIONS and lines[str(location_of(i)[0])]]
            scalings = sum(lines.values())
            if min(len(found), scalings) >= _ENOUGH:
                yield Costed(
                    self.finding(
                        f"{len(found)} {found[0].opcode.name} with a multiplication each {region.words}",
                        at=found[0],
                        evidence={"loop": region.header, "instructions": len(found), "multiplications": scalings},
                    ),
                    ModelChange(gone=tuple(i.index for i in region.instructions if _is_scaling(i))),
                )


def _is_wide(tile: TensorType) -> bool:
    return len(tile.shape) > 1


def _is_large(op: Operation, tile: TensorType) -> bool:
    """Return whether each lane holds at least four elements of the tile."""
    return tile.elements >= _ENOUGH * lanes_of(op.module)


def _is_scaling(instruction: Instruction) -> bool:
    return instruction.opcode.name.startswith(("v_mul_", "v_pk_mul_", "v_fma_")) and any(
        constant in instruction.text for constant in _CONSTANTS
    )


# Instructions around v_exp_f32 and v_log_f32 that scale the argument or result, and correct tiny values.
_STEPS = (
    "v_mul_",
    "v_pk_mul_",
    "v_fma_",
    "v_pk_fma_",
    "v_cmp_",
    "v_cndmask_",
    "v_ldexp_",
    "v_add_f32",
    "v_pk_add_",
    "v_sub_",
)


def _around(facts: KernelFacts, op: Operation) -> tuple[int, ...]:
    """Return the positions of the scaling and correcting instructions of an operation's exponentials or logarithms.

    These instructions have the operation's line and column.
    """
    frame = next(iter(op.location), None)
    if frame is None:
        return ()
    place = frame.file, frame.line, frame.column
    return tuple(
        i.index
        for i in facts.program.instructions
        if i.opcode.name.startswith(_STEPS)
        and (own := next(iter(i.location), None)) is not None
        and (own.file, own.line, own.column) == place
    )
