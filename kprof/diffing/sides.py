"""Load the two sides of a comparison: read reports, and analyse all other targets."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kprof.errors import KprofError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kprof.diffing.comparing import Input
    from kprof.document import KernelReport, Report
    from kprof.options.groups import CompileOptions


@dataclass(frozen=True)
class Named:
    """A target, and the label that tables show for it."""

    target: str
    label: str


def labels(first: str, second: str) -> tuple[Named, Named]:
    """Return both targets with labels that are as short as possible but differ from each other."""
    one, two = Path(first), Path(second)
    if one.name != two.name and one.name and two.name:
        return Named(first, one.name), Named(second, two.name)
    return Named(first, first), Named(second, second)


def side(named: Named, options: "CompileOptions", tell: "Callable[[str], None]") -> "Input":
    """Load the target of one side of a comparison.

    Raises:
        KprofError: the target does not exist, is of an unknown kind, or nothing in it can be read.
    """
    from kprof.diffing.comparing import Input
    from kprof.diffing.reading import read_report
    from kprof.targets.target import is_report

    path = Path(named.target)
    if is_report(path):
        return of_report(named, read_report(path), options)
    from kprof.diffing.analysis import analysed

    found = analysed(named.target, options, tell)
    return Input(named.label, found.kernels, found.problems, found.lost)


def of_report(named: Named, document: "Report", options: "CompileOptions") -> "Input":
    """Return a side that consists of the kernels of an existing report.

    Raises:
        KprofError: the document has no kernel of the requested architectures.
    """
    from kprof.diffing.comparing import Input

    return Input(named.label, _chosen(document, options, named.target), _problems(document))


def _chosen(document: "Report", options: "CompileOptions", target: str) -> "list[KernelReport]":
    """Return the kernels of the requested architectures; all if none was requested."""
    from kprof.hardware.machine import load_gpu

    wanted = {load_gpu(name)[0].name for name in options.arch}
    found = [kernel for kernel in document.kernels if not wanted or kernel.arch in wanted]
    if document.kernels and not found:
        has = ", ".join(sorted({kernel.arch for kernel in document.kernels}))
        raise KprofError(f"the kernels of this side are for {has}, not for {', '.join(sorted(wanted))}", path=target)
    return found


def _problems(document: "Report") -> list[str]:
    """Return the problems that a report contains."""
    return list(document.notes) if document.verdict.status == "cannot_tell" else []
