"""KP510 transcendental-rate."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import Instruction, InstructionClass
from kprof.inputs.amdgcn.isa import InstructionKind
from kprof_analyzers.matrix_instructions import matrix_instruction
from kprof_analyzers.model.executions import significant_regions
from kprof_analyzers.rules.about import TRANSCENDENTALS, About
from kprof_analyzers.rules.questions import VECTOR, RuleQuestion
from kprof_analyzers.rules.rule import Costed, NotCheckedError, Rule
from kprof_analyzers.source_lines import busiest, other_lines

_SHARE = 1 / 3
_ENOUGH = 8


class TranscendentalRate(Rule):
    """Exponentials, logarithms, roots and reciprocals take at least a third of the vector units' time.

    ## What it does
    Adds up the cycles of the vector instructions in each innermost loop, and in other code that executes at least an
    eighth of the kernel's vector instructions. Transcendental instructions (`v_exp_f32`, `v_log_f32`, `v_rcp_f32`,
    `v_rsq_f32`, `v_sqrt_f32`, `v_sin_f32`) count with the cycles of their slower unit. Reports code in which at least
    eight of them take at least a third of the cycles. Code whose matrix instructions take longer than its vector
    instructions is ignored.

    ## Why it matters
    On CDNA the transcendental unit has a quarter of the lanes of the other units: an exponential occupies the SIMD as
    long as four multiplications. If the unit is the bottleneck, only fewer of these functions help; other arithmetic is
    nearly free.

    ## Evidence
    `instructions`: number of transcendental instructions in one execution. `cycles`: their cycles. `others`: cycles of
    all other vector instructions. `loop`: null outside of loops.

    ## What to try
    Use one reciprocal per row instead of a division per element, and `rsqrt` instead of a root and a reciprocal.
    Compute values that many lanes share (such as angles and decay factors) once, and load them from memory. Replace
    some of the exponentials of a softmax by a polynomial.
    """

    id: ClassVar[str] = "KP510"
    name: ClassVar[str] = "transcendental-rate"
    severity: ClassVar[Severity] = Severity.NOTE
    fix: ClassVar[str] = "compute one reciprocal per row, and use tl.rsqrt instead of a root and a reciprocal"
    about: ClassVar[About] = TRANSCENDENTALS
    confirmed_by: ClassVar[RuleQuestion | None] = VECTOR

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        slower = _times_slower(facts.arch)
        if slower is None or slower <= 1:
            return
        assert facts.arch.issue is not None
        cycles = facts.arch.issue.valu_cycles(facts.arch.wavefront_size)
        for region in significant_regions(facts, InstructionClass.VALU):
            vector = [i for i in region.instructions if i.opcode.cls is InstructionClass.VALU]
            found = [i for i in vector if _is_transcendental(i)]
            theirs, others = slower * cycles * len(found), cycles * (len(vector) - len(found))
            matrix = sum(_matrix_cycles(facts.arch, i) for i in region.instructions)
            if len(found) < _ENOUGH or theirs < _SHARE * (theirs + others) or matrix > theirs:
                continue
            place = busiest(found)[0]
            yield Costed(
                self.finding(
                    f"{len(found)} transcendental instructions {region.words} take {theirs:.0f} cycles of the vector "
                    f"units, all others {others:.0f}",
                    at=place,
                    evidence={
                        "loop": region.header,
                        "instructions": len(found),
                        "cycles": round(theirs),
                        "others": round(others),
                    },
                    related=other_lines(found, place),
                ),
                ModelChange(cycles={i.index: 1 / slower for i in found}, at_most=True),
            )


def _times_slower(arch: Architecture) -> float | None:
    """Return how many times as long a transcendental instruction takes as another vector instruction.

    Raises:
        NotCheckedError: the architecture's hardware file does not specify the rate.
    """
    rate = arch.rates.get("transcendental")
    if arch.issue is None or not rate:
        raise NotCheckedError(f"the rate of transcendental instructions on {arch.name} is not known")
    lanes = arch.issue.valu_lanes * arch.occupancy.simds_per_cu
    return lanes / rate


def _is_transcendental(instruction: Instruction) -> bool:
    return instruction.opcode.kind is InstructionKind.TRANSCENDENTAL


def _matrix_cycles(arch: Architecture, instruction: Instruction) -> float:
    known = matrix_instruction(arch, instruction)
    return 0.0 if known is None else known.cycles
