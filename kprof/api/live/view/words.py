"""What the page says of a kernel: the words of the terminal, loops by their lines and no names of instructions."""

from collections.abc import Mapping
from typing import Any, TypedDict

import msgspec


class SaidOfKernel(TypedDict):
    """The words for one kernel: its verdict, what a search has found, a message for each of its findings in order."""

    verdict: str
    better: str
    findings: list[str]


def words(document: Mapping[str, Any]) -> list[SaidOfKernel]:
    """The words for each kernel of a document of ``kprof analyze --json``."""
    from kprof.document import KernelReport
    from kprof.reporters._known_advice import better
    from kprof.reporters._plain_words import said
    from kprof.reporters._verdict_sentence import verdict

    found: list[SaidOfKernel] = []
    for entry in document["kernels"]:
        kernel = msgspec.convert(entry, KernelReport)
        messages = [said(finding.message, kernel) for finding in kernel.findings]
        known = "" if kernel.advised is msgspec.UNSET else better(kernel.advised)
        found.append({"verdict": verdict(kernel), "better": known, "findings": messages})
    return found
