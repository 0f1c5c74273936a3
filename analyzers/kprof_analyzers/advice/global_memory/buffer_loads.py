"""KP102 missing-buffer-loads."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof.inputs.mlir import Operation, Tensor
from kprof_analyzers.advice.rule import NotCheckedError, Rule
from kprof_analyzers.memory.dataflow import argument, arguments, flow_of
from kprof_analyzers.source_lines import location_of

_SWITCH = "AMDGCN_USE_BUFFER_OPS"


class MissingBufferLoads(Rule):
    """A loop loads through 64-bit pointers where buffer loads could do.

    ## What it does
    Looks for `tt.load` of a tensor inside a loop of the finished TTGIR, whose base pointer the launch declares to span
    less than 2 GiB (`tt.pointer_range=32`). Such a load would have become a buffer load if the compiler could prove
    that its 32-bit offset is not negative.

    ## Why it matters
    A buffer load takes a 32-bit offset from a scalar descriptor: half of the address registers, no 64-bit additions,
    and a mask that costs no branch, since lanes outside the buffer read zero.

    ## Evidence
    `pointer`: the argument. `offset_bits`: 64 where the offset itself is too wide. `switch`: the environment switch,
    where it was turned off. `loop_depth`.

    ## What to try
    `tl.assume(stride > 0)` and `tl.assume(pid >= 0)` for what enters the offset; 32-bit index arithmetic; scalar base
    plus offset instead of a pointer that is moved on in each iteration; `AMDGCN_USE_BUFFER_OPS=1`.
    """

    id: ClassVar[str] = "KP102"
    name: ClassVar[str] = "missing-buffer-loads"
    severity: ClassVar[Severity] = Severity.NOTE
    families: ClassVar[tuple[str, ...]] = ("CDNA2", "CDNA3", "CDNA4")

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        if facts.ttgir is None:
            raise NotCheckedError("there is no TTGIR")
        loads = [op for op in facts.ttgir.named("tt.load") if op.loop is not None and _is_tile(op)]
        seen: set[str] = set()
        unknown: set[str] = set()
        for load in loads:
            pointer = _base(load, facts)
            place = str(location_of(load)[0])
            if pointer is None or place in seen:
                continue
            seen.add(place)
            hints = facts.specialization.attributes.get(pointer, {})
            if hints.get("pointer_range") == 32:
                yield self._report(facts, load, pointer)
            elif not facts.grid:
                unknown.add(pointer)
        if unknown:
            raise NotCheckedError(f"whether {', '.join(sorted(unknown))} spans less than 2 GiB is not known")

    def _report(self, facts: KernelFacts, load: Operation, pointer: str) -> Finding:
        off = facts.specialization.environment.get(_SWITCH) in {"0", "false", "off"}
        bits = _offset_bits(load)
        if off:
            why = f"{_SWITCH} is off"
        elif bits == 64:
            why = "its offset is 64 bits wide"
        else:
            why = "nothing proves that its offset is not negative"
        return self.finding(
            f"a load through {pointer} keeps 64-bit pointers though the tensor is below 2 GiB: {why}",
            at=load,
            evidence={"pointer": pointer, "offset_bits": bits, "switch": off, "loop_depth": load.loop_depth},
        )


def _is_tile(load: Operation) -> bool:
    return any(isinstance(kind, Tensor) for kind in load.result_types)


def _base(load: Operation, facts: KernelFacts) -> str | None:
    """The argument that a load's pointers begin at."""
    assert facts.ttgir is not None
    flow = flow_of(facts.ttgir)
    value = flow.inputs(load)[0]
    known = set(arguments(facts.ttgir))
    for _ in range(100):
        op = flow.producer(value)
        if op is None and argument(value) in known:
            return argument(value)
        following = flow.initial(value) if op is None else next(iter(flow.inputs(op)), None)
        if following is None:
            return None
        value = following
    return None


def _offset_bits(load: Operation) -> int | None:
    flow = flow_of(load.module)
    for op in flow.back(flow.inputs(load)[0], stop=lambda o: o.name == "tt.addptr"):
        if op.name == "tt.addptr" and len(op.operand_types) > 1:
            kind = op.operand_types[1]
            element = kind.element if isinstance(kind, Tensor) else kind
            return getattr(element, "bits", None)
    return None
