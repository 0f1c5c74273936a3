"""A rule as a stranger would write it."""

RULE = '''
"""KP499 sleeping-wavefront."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.rule import Rule


class SleepingWavefront(Rule):
    """A wavefront goes to sleep.

    ## What it does
    Looks for `s_sleep`.

    ## Why it matters
    Nothing is done meanwhile.

    ## Evidence
    `count`: how often.
    """

    id: ClassVar[str] = "KP499"
    name: ClassVar[str] = "sleeping-wavefront"
    severity: ClassVar[Severity] = Severity.WARNING
    levers: ClassVar[tuple[Lever, ...]] = (Lever("num_warps", "lower", "fewer to put to sleep"),)
    explains: ClassVar[tuple[str, ...]] = ("sgpr_spills",)

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        found = [i for i in facts.program.instructions if i.opcode.name == "s_sleep"]
        for instruction in found:
            yield self.finding("a wavefront sleeps", at=instruction, evidence={"count": len(found)})
'''
