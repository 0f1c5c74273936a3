"""KP107 atomic-writes-back-l2."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Finding, Severity
from kprof.inputs.mlir import Operation, TensorType
from kprof_analyzers.memory.dataflow import flow_of
from kprof_analyzers.model.write_backs import is_write_back, wavefronts_of
from kprof_analyzers.rules.about import GLOBAL_ACCESSES, About
from kprof_analyzers.rules.rule import Costed, NotCheckedError, Rule
from kprof_analyzers.source_lines import line_of

_FUNCTIONS = {
    "add": "add",
    "fadd": "add",
    "max": "max",
    "umax": "max",
    "min": "min",
    "umin": "min",
    "and": "and",
    "or": "or",
    "xor": "xor",
}
"""Map from the operation's name in the TTGIR to the suffix in the name of Triton's function `tl.atomic_...`."""
_RELEASES = ("acq_rel", "release")
_RMW = ("tt.atomic_rmw", "amdg.buffer_atomic_rmw")


class AtomicWritesBackL2(Rule):
    """An atomic that only adds to memory writes back the L2 cache first, because it has acquire and release semantics.

    ## What it does
    Looks for atomic additions, maxima, minima and bit operations with `acq_rel` or `release` semantics whose result is
    not used, and for `buffer_wbl2` on their source line. Atomics that may signal other workgroups are ignored:
    exchanges, atomics with a used result, and scalar atomics with a constant operand (a counter or a flag).

    ## Why it matters
    `tl.atomic_add` has `sem="acq_rel"` by default. MI300 and MI350 have one L2 per XCD, so the compiler emits
    `buffer_wbl2 sc1`, a write-back, before the atomic and `buffer_inv sc1` after it. Each wavefront executes both. The
    L2 of an XCD does one write-back at a time. On an MI350X each takes 170 ns, even if there is nothing to write. A sum
    needs neither instruction, because the end of the kernel makes its stores visible anyway.

    ## Evidence
    `operation`: name of the atomic in the TTGIR. `sem`: its semantics. `wavefronts`: number of wavefronts in a
    workgroup that hold elements of the atomic. The gain is an upper bound: it contains the write-backs and also the
    time that atomics on one address wait for each other, because all published times contain both. On GPUs other than
    the MI350 series the time of a write-back is unknown, so no gain is given.

    ## What to try
    Keep the default if another workgroup of the same launch reads data that was stored before the atomic.
    """

    id: ClassVar[str] = "KP107"
    name: ClassVar[str] = "atomic-writes-back-l2"
    severity: ClassVar[Severity] = Severity.NOTE
    about: ClassVar[About] = GLOBAL_ACCESSES

    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """See :meth:`Rule.check`."""
        places = {line_of(i) for i in facts.program.instructions if is_write_back(i)} - {None}
        if not places:
            return
        if facts.ttgir is None:
            raise NotCheckedError("the purpose of an atomic is unknown without TTGIR")
        module = facts.ttgir
        flow = flow_of(module)
        used = {value for op in module.operations for value in flow.inputs(op)}
        # If the compiler unrolled a loop around an atomic, the line has several equal atomics. They are reported once.
        atomics = {(line_of(op), *_kind(op)): op for op in reversed([*module.named(*_RMW)]) if line_of(op) in places}
        for (_, operation, sem), op in reversed(atomics.items()):
            if (
                operation in _FUNCTIONS
                and sem in _RELEASES
                and used.isdisjoint(flow.results(op))
                and not _is_signal(op)
            ):
                function = f"tl.atomic_{_FUNCTIONS[operation]}"
                waves = wavefronts_of(op, module.num_warps or 4)
                finding = self.finding(
                    f'{function} with sem="{sem}" writes back L2 first, in {waves} wavefronts of a workgroup',
                    at=op,
                    evidence={"operation": operation, "sem": sem, "wavefronts": waves},
                    fix=f'pass sem="relaxed" to {function}',
                )
                change = ModelChange(leave_out=("write_backs",), at_most=True)
                yield Costed(finding, change) if facts.arch.model["write_back_ns"] else finding


def _kind(atomic: Operation) -> tuple[str, str]:
    """Return the operation and the semantics of an atomic, such as ``("fadd", "acq_rel")``."""
    operation, sem, *_ = (*atomic.text.split(","), "")
    return operation.strip(), sem.strip()


def _is_signal(atomic: Operation) -> bool:
    """Return whether an atomic is scalar and has a constant operand, as for a counter or a flag."""
    if isinstance(next(iter(atomic.result_types), None), TensorType):
        return False
    flow = flow_of(atomic.module)
    source = flow.producer(flow.input(atomic, 1))
    return source is not None and source.name == "arith.constant"
