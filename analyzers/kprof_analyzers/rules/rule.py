"""Base class of rules. A rule is one class in one file; its docstring is the rule's documentation page."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, ClassVar, NamedTuple, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from kprof.analysis import AnalyzerResult, KernelFacts, ModelChange
from kprof.findings import Advice, Finding, Location, Severity, Unjudged
from kprof.hardware.machine import Architecture, Product
from kprof_analyzers.rules.about import LINE, About
from kprof_analyzers.rules.levers import Lever, proposed
from kprof_analyzers.rules.questions import RuleQuestion
from kprof_analyzers.source_lines import Located, location_of

T = TypeVar("T")


class Costed(NamedTuple):
    """A finding, and the change to the performance model that removes the finding's effect."""

    finding: Finding
    change: ModelChange


class NotCheckedError(Exception):
    """Raised if a rule lacks required facts. The message is the reason why the rule was not checked."""


class Need(Enum):
    """A fact about a kernel that a rule requires; the enum's value is the fact's name in messages."""

    TTGIR = "the TTGIR"
    GRID = "the launch's grid"
    SIZES = "the launch's sizes"
    PRODUCT = "the GPU, such as MI300X"
    OCCUPANCY = "the occupancy"
    NUM_STAGES = "`num_stages`"
    NUM_WARPS = "the wavefronts of a workgroup"
    WAVEFRONT_SIZE = "the wavefront size"
    LDS = "the LDS of a workgroup"
    PASSES = "the compiler's passes"
    PREDICTION = "the predicted time"

    def lacking(self, facts: KernelFacts) -> str | None:
        """Return the reason why a kernel's facts do not include this fact; ``None`` if they do."""
        if _HAS[self](facts):
            return None
        if self is Need.PRODUCT:
            return f"no product was named, such as --arch {next(iter(facts.arch.products), 'MI300X')}"
        return _LACKING[self]


_HAS: dict[Need, Callable[[KernelFacts], bool]] = {
    Need.TTGIR: lambda facts: facts.ttgir is not None,
    Need.GRID: lambda facts: facts.grid is not None,
    Need.SIZES: lambda facts: bool(facts.arguments),
    Need.PRODUCT: lambda facts: facts.product is not None,
    Need.OCCUPANCY: lambda facts: facts.occupancy is not None,
    Need.NUM_STAGES: lambda facts: isinstance(facts.metadata.get("num_stages"), int),
    Need.NUM_WARPS: lambda facts: isinstance(facts.resources.num_warps, int),
    Need.WAVEFRONT_SIZE: lambda facts: isinstance(facts.resources.wavefront_size, int),
    Need.LDS: lambda facts: isinstance(facts.resources.lds_bytes, int),
    Need.PASSES: lambda facts: facts.history is not None,
    Need.PREDICTION: lambda facts: facts.prediction is not None and facts.prediction.time_us is not None,
}
_LACKING = {
    Need.TTGIR: "there is no TTGIR",
    Need.GRID: "the launch's grid is not known",
    Need.SIZES: "the launch's sizes are not known",
    Need.OCCUPANCY: "the occupancy is not known",
    Need.NUM_STAGES: "num_stages is not known",
    Need.NUM_WARPS: "num_warps is not known",
    Need.WAVEFRONT_SIZE: "the wavefront size is not known",
    Need.LDS: "the LDS of a workgroup is not known",
    Need.PASSES: "the passes were not recorded",
    Need.PREDICTION: "the time is not predicted",
}


def known(value: T | None) -> T:
    """Return a fact that is not None because :attr:`~Rule.needs` lists it; this narrows the type for type checkers."""
    assert value is not None
    return value


def units_of(product: Product) -> int:
    """Return the number of compute units of a GPU.

    Raises:
        NotCheckedError: the number is unknown.
    """
    if product.compute_units is None:
        raise NotCheckedError(f"the CUs of an {product.name} are not known")
    return product.compute_units


def without_matrix(arch: Architecture) -> str | None:
    """Return a sentence that says that an architecture has no matrix instructions; ``None`` if it has some.

    Raises:
        NotCheckedError: the hardware file does not specify it.
    """
    if arch.has_matrix_instructions is None:
        raise NotCheckedError(f"the matrix instructions of {arch.name} are not known")
    return None if arch.has_matrix_instructions else f"{arch.name} has no matrix instructions"


class Rule(ABC):
    """Base class of all rules.

    The docstring of a subclass has the headings *What it does*, *Why it matters*, *Evidence* and, for changes that no
    lever describes, *What to try*.

    Attributes:
        id: ``KP`` and three digits; the first digit identifies the family.
        name: the bad pattern in kebab-case. It must read well after "allow", as in "allow narrow-global-load".
        severity: default severity of the findings.
        fix: what to change in the kernel's code, as an instruction that names functions and values; "" if the levers
            describe the change.
        about: what the findings are about: a kind of instruction, a line, or the whole kernel.
        families: architecture families that the rule was validated on (``CDNA3``, ``RDNA4``), if it depends on more
            than the architecture's hardware file. The rule is not checked on other families. Empty if it is valid for
            all families.
        needs: facts that the rule requires.
        wants: optional facts that make the findings' evidence more complete.
        levers: knobs to change; those that still apply to a kernel become a finding's advice.
        confirmed_by: question whose measured numbers confirm or refute a finding; ``None`` if no profiler counter can.
        explains: names of metrics in a gate's budget; if one is exceeded, the findings show where the cause is.
        restates: names of metrics in a comparison that the findings merely repeat.
        launch_fails: True if a kernel with a finding cannot be launched.
        spills: True if the findings are about register spills; kprof then tries other instruction orders.
        lacks_room: True if the findings mean that registers or LDS do not suffice; changes that use less of them are
            then tried first.
        last_resort: True if the rule is checked after all others, with the prediction; its findings are only kept if
            the findings of other rules do not account for the time.
    """

    id: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    fix: ClassVar[str] = ""
    about: ClassVar[About] = LINE
    families: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[Need, ...]] = ()
    wants: ClassVar[tuple[Need, ...]] = ()
    levers: ClassVar[tuple[Lever, ...]] = ()
    confirmed_by: ClassVar[RuleQuestion | None] = None
    explains: ClassVar[tuple[str, ...]] = ()
    restates: ClassVar[tuple[str, ...]] = ()
    launch_fails: ClassVar[bool] = False
    spills: ClassVar[bool] = False
    lacks_room: ClassVar[bool] = False
    last_resort: ClassVar[bool] = False

    @abstractmethod
    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """Yield the findings for a kernel that has all required facts, with a model change if there is one.

        Raises:
            NotCheckedError: a fact that the rule depends on is unknown. Findings that were yielded before are kept.
        """

    def absent_from(self, arch: Architecture) -> str | None:  # noqa: ARG002 - for subclasses
        """Return the reason why the rule's pattern cannot occur on an architecture; ``None`` if it can.

        Raises:
            NotCheckedError: the architecture's hardware file does not specify it.
        """
        return None

    def analyze(self, facts: KernelFacts) -> AnalyzerResult:
        """See :class:`kprof.analysis.Analyzer`."""
        findings: list[Finding] = []
        changes: list[ModelChange | None] = []
        try:
            absent = self.absent_from(facts.arch)
            if absent is not None:
                return AnalyzerResult(does_not_apply=(self._unjudged(absent),))
            self._require(facts)
            for found in self.check(facts):
                # Findings are appended one by one, so that those yielded before a NotCheckedError are kept.
                finding, change = found if isinstance(found, Costed) else (found, None)
                findings.append(finding if finding.advice else self._advised(finding, facts))
                changes.append(change)
        except NotCheckedError as reason:
            return AnalyzerResult(findings=findings, not_checked=(self._unjudged(str(reason)),), changes=changes)
        return AnalyzerResult(findings=findings, checked=(self.id,), changes=changes)

    def _require(self, facts: KernelFacts) -> None:
        if self.families and facts.arch.family not in self.families:
            looked = " and ".join(filter(None, (", ".join(self.families[:-1]), self.families[-1])))
            raise NotCheckedError(f"its limits are those of {looked}, not of {facts.arch.family}")
        for need in self.needs:
            reason = need.lacking(facts)
            if reason is not None:
                raise NotCheckedError(reason)

    def _unjudged(self, reason: str) -> Unjudged:
        return Unjudged(rule=self.id, name=self.name, reason=reason)

    def _advised(self, finding: Finding, facts: KernelFacts) -> Finding:
        return replace(finding, advice=proposed(self.levers, facts))

    def finding(
        self,
        message: str,
        *,
        at: Located | None = None,
        evidence: dict[str, Any] | None = None,
        advice: Sequence[Advice] = (),
        severity: Severity | None = None,
        related: Sequence[Location] = (),
        fix: str = "",
    ) -> Finding:
        """Create a finding of this rule; ``at`` is the instruction or operation whose source line it belongs to.

        Without ``advice``, the rule's levers that still apply are used; without ``fix``, the rule's own fix.
        """
        location, library = location_of(at) if at is not None else (None, [])
        return Finding(
            rule=self.id,
            name=self.name,
            severity=severity or self.severity,
            message=message,
            location=location or UNSET,
            related=[*library, *related],
            evidence=evidence or {},
            advice=list(advice),
            fix=fix or self.fix or UNSET,
        )
