"""What a rule is: one class in one file, whose docstring is its page in the documentation."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from msgspec import UNSET

from kprof.analysis import Analysis, KernelFacts
from kprof.findings import Advice, Finding, Location, Severity
from kprof.hardware.machine import Product
from kprof_analyzers.source_lines import Located, location_of


class NotCheckedError(Exception):
    """Raised by a rule that lacks what it needs; the reason goes into the document's notes."""


def named_product(facts: KernelFacts) -> Product:
    """The GPU that was named.

    Raises:
        NotCheckedError: only an architecture was named.
    """
    if facts.product is None:
        example = next(iter(facts.arch.products), "MI300X")
        raise NotCheckedError(f"no product was named, such as --arch {example}")
    return facts.product


class Rule(ABC):
    """Base of all rules.

    The docstring of a subclass has the headings *What it does*, *Why it matters*, *Evidence* and *What to try*.

    Attributes:
        id: ``KP`` and three digits; the first digit is the family's.
        name: the bad pattern in kebab-case: "allow narrow-global-load" must read well.
        severity: unless a finding says otherwise.
        families: architecture families it applies to (``CDNA3``, ``RDNA4``); empty means all.
    """

    id: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    families: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """Findings for one kernel.

        Raises:
            NotCheckedError: a fact that the rule rests on is not known.
        """

    def analyze(self, facts: KernelFacts) -> Analysis:
        """See :class:`kprof.analysis.Analyzer`."""
        if self.families and facts.arch.family not in self.families:
            return Analysis()
        try:
            return Analysis(findings=tuple(self.check(facts)))
        except NotCheckedError as reason:
            return Analysis(notes=(f"{self.id} {self.name} not checked: {reason}",))

    def finding(
        self,
        message: str,
        *,
        at: Located | None = None,
        evidence: dict[str, Any] | None = None,
        advice: Sequence[Advice] = (),
        severity: Severity | None = None,
        related: Sequence[Location] = (),
    ) -> Finding:
        """A finding of this rule; ``at`` is the instruction or operation whose line it belongs to."""
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
        )
