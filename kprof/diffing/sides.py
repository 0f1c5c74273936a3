"""What is compared when two things are named: reports are read, everything else is analysed as usual."""

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
    """A side with the label that tables show."""

    target: str
    label: str


def labels(first: str, second: str) -> tuple[Named, Named]:
    """Both sides under names as short as they can be and still differ."""
    one, two = Path(first), Path(second)
    if one.name != two.name and one.name and two.name:
        return Named(first, one.name), Named(second, two.name)
    return Named(first, first), Named(second, second)


def side(named: Named, options: "CompileOptions", tell: "Callable[[str], None]") -> "Input":
    """Everything on one side.

    Raises:
        KprofError: it does not exist, is of no known kind, or nothing in it can be read.
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
    """A side that is a document already.

    Raises:
        KprofError: it has no kernel of the architectures asked for.
    """
    from kprof.diffing.comparing import Input

    return Input(named.label, _chosen(document, options, named.target), _problems(document))


def _chosen(document: "Report", options: "CompileOptions", target: str) -> "list[KernelReport]":
    """The entries of the architectures asked for; all when none was named."""
    from kprof.hardware.machine import load_gpu

    wanted = {load_gpu(name)[0].name for name in options.arch}
    found = [kernel for kernel in document.kernels if not wanted or kernel.arch in wanted]
    if document.kernels and not found:
        has = ", ".join(sorted({kernel.arch for kernel in document.kernels}))
        raise KprofError(f"this has kernels of {has}, not of {', '.join(sorted(wanted))}", path=target)
    return found


def _problems(document: "Report") -> list[str]:
    """What the run that wrote it could not analyse."""
    return list(document.notes) if document.verdict.status == "cannot_tell" else []
