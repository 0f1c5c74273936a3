"""KP102 missing-buffer-loads."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Finding, Severity
from kprof.hardware.machine import Architecture
from kprof.inputs.mlir import Operation, TensorType
from kprof_analyzers.compiler_passes import pass_effect, passes_suffix
from kprof_analyzers.memory.dataflow import argument, arguments, flow_of
from kprof_analyzers.model.executions import regions
from kprof_analyzers.rules.about import GLOBAL_ACCESSES, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.rule import Costed, Need, NotCheckedError, Rule, known
from kprof_analyzers.source_lines import location_of

_SWITCH = "AMDGCN_USE_BUFFER_OPS"
_PASS = ("tritonamdgpu-convert-buffer-ops",)
# Instructions that compute 64-bit addresses. Buffer loads with 32-bit offsets do not need them.
_WIDE_ARITHMETIC = (
    "v_lshl_add_u64",
    "v_add_co_u32",
    "v_addc_co_u32",
    "v_mad_u64_u32",
    "v_mad_i64_i32",
    "v_lshlrev_b64",
)
_OFF = {"0", "false", "off", "no", "n", ""}
# The first Triton release that makes buffer operations by default.
_BY_DEFAULT = (3, 6)


class MissingBufferLoads(Rule):
    """A loop loads through 64-bit pointers although buffer loads with 32-bit offsets could be used.

    ## What it does
    Looks for `tt.load` of a tensor inside a loop of the final TTGIR, if the launch declares that the memory behind the
    base pointer is smaller than 2 GiB (`tt.pointer_range=32`). Triton would have made such a load a buffer load if it
    could prove that the 32-bit offset is not negative. If the environment turns buffer operations off, Triton does not
    compute pointer ranges; this is reported once for the kernel.

    ## Why it matters
    A buffer load adds a 32-bit offset to a scalar descriptor. It needs half of the address registers, no 64-bit
    additions, and no branch for its mask, because lanes outside the buffer read zero.

    ## Evidence
    `pointer`: name of the pointer argument. `offset_bits`: 64 if the offset itself has 64 bits. `switch`: whether the
    environment switch turned buffer operations off. `loop_depth`. `pass`: with `--passes`, what the pass that makes
    buffer operations did in this kernel and on this line.

    ## What to try
    Add `tl.assume(stride > 0)` and `tl.assume(pid >= 0)` for the values that the offset is computed from. Use 32-bit
    index arithmetic. Add an offset to a scalar base instead of advancing a pointer in each iteration.
    """

    id: ClassVar[str] = "KP102"
    name: ClassVar[str] = "missing-buffer-loads"
    severity: ClassVar[Severity] = Severity.NOTE
    about: ClassVar[About] = GLOBAL_ACCESSES
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)
    wants: ClassVar[tuple[Need, ...]] = (Need.PASSES,)
    levers: ClassVar[tuple[Lever, ...]] = (Lever(_SWITCH, "1", "buffer operations of tensors below 2 GiB"),)

    def absent_from(self, arch: Architecture) -> str | None:
        """See :meth:`Rule.absent_from`."""
        if arch.triton.switches is None:
            raise NotCheckedError(f"whether Triton makes buffer operations for {arch.name} is not known")
        return None if _SWITCH in arch.triton.switches else f"Triton makes no buffer operations for {arch.name}"

    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        loads = [op for op in module.named("tt.load") if op.loop is not None and _is_tile(op)]
        ranges = any("pointer_range" in hints for hints in facts.specialization.attributes.values())
        if loads and not ranges and _is_off(facts):
            yield _costed(facts, self._switched_off(facts, loads))
            return
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
                yield _costed(facts, self._report(facts, load, pointer))
            elif not facts.grid:
                unknown.add(pointer)
        if unknown:
            verb = "spans" if len(unknown) == 1 else "span"
            raise NotCheckedError(f"whether {', '.join(sorted(unknown))} {verb} less than 2 GiB is not known")

    def _switched_off(self, facts: KernelFacts, loads: list[Operation]) -> Finding:
        if _SWITCH not in facts.specialization.environment:
            raise NotCheckedError(f"Triton {facts.triton} makes buffer operations only with {_SWITCH}=1")
        said = pass_effect(facts, _PASS, ("amdg.buffer_load",))
        return self.finding(
            f"{_SWITCH} is off: {len(loads)} loads in loops keep 64-bit pointers, also of tensors below 2 GiB"
            + passes_suffix(said),
            at=loads[0],
            evidence={
                "pointer": _base(loads[0], facts),
                "offset_bits": _offset_bits(loads[0]),
                "switch": True,
                "loop_depth": loads[0].loop_depth,
                "pass": said,
            },
        )

    def _report(self, facts: KernelFacts, load: Operation, pointer: str) -> Finding:
        off = _is_off(facts)
        bits = _offset_bits(load)
        if off:
            why = f"{_SWITCH} is off"
        elif bits == 64:
            why = "its offset is 64 bits wide"
        else:
            why = "nothing proves that its offset is not negative"
        said = pass_effect(facts, _PASS, ("amdg.buffer_load",), load.user_frame.line if load.user_frame else None)
        return self.finding(
            f"a load through {pointer} keeps 64-bit pointers though the tensor is below 2 GiB: "
            f"{why}{passes_suffix(said)}",
            at=load,
            evidence={
                "pointer": pointer,
                "offset_bits": bits,
                "switch": off,
                "loop_depth": load.loop_depth,
                "pass": said,
            },
        )


def _costed(facts: KernelFacts, finding: Finding) -> Finding | Costed:
    """Add the gain of removing the 64-bit arithmetic in loops, because nearly all of it computes pointers."""
    gone = tuple(
        i.index
        for region in regions(facts)
        if region.loop is not None
        for i in region.instructions
        if i.opcode.name.startswith(_WIDE_ARITHMETIC)
    )
    return Costed(finding, ModelChange(gone=gone, at_most=True)) if gone else finding


def _is_off(facts: KernelFacts) -> bool:
    """Return whether Triton makes no buffer operations, because of the switch or of its version's default."""
    value = facts.specialization.environment.get(_SWITCH)
    if value is not None:
        return value.lower() in _OFF
    numbers = [int(part) for part in (facts.triton or "").split(".")[:2] if part.isdecimal()]
    return len(numbers) == 2 and tuple(numbers) < _BY_DEFAULT


def _is_tile(load: Operation) -> bool:
    return any(isinstance(kind, TensorType) for kind in load.result_types)


def _base(load: Operation, facts: KernelFacts) -> str | None:
    """Return the pointer argument that a load's addresses are computed from."""
    assert facts.ttgir is not None
    flow = flow_of(facts.ttgir)
    value = flow.input(load, 0)
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
    for op in flow.back(flow.input(load, 0), stop=lambda o: o.name == "tt.addptr"):
        if op.name == "tt.addptr" and len(op.operand_types) > 1:
            kind = op.operand_types[1]
            element = kind.element if isinstance(kind, TensorType) else kind
            return getattr(element, "bits", None)
    return None
