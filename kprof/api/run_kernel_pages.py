"""Write the pages of kernels that the page of a run links to."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET

from kprof.options.kernels import KernelOptions
from kprof.targets.target import TargetLike

if TYPE_CHECKING:
    from kprof.api.trace_runs import TracedRun

_NOT_IN_A_FILE_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def write_kernel_pages(
    targets: Sequence[TargetLike],
    traces: "Sequence[TracedRun]",
    output: "str | os.PathLike[str]",
    options: KernelOptions,
) -> tuple[dict[str, str], list[str]]:
    """Write a page for each measured kernel of the targets, as :func:`kprof.report` does.

    All targets are analysed together, so that the traces are read only once.

    Args:
        targets: as for :func:`kprof.analyze`.
        traces: traces of the run.
        output: path of the run's page; pages are written next to it: ``run.softmax_kernel.html`` for ``run.html``.
        options: how the targets are compiled, and the measurements.

    Returns:
        The page's file name for each kernel of the traces, and notes on kernels without a page.

    Raises:
        KprofError: a target cannot be analysed, or none was measured.
    """
    from kprof.api.analyze import Analysis, analyzed
    from kprof.output.writing import write_output
    from kprof_analyzers.profiles.measured.join import is_called
    from kprof_analyzers.verdict import report

    found = analyzed(targets, options)
    of_name: dict[str, list[int]] = {}
    for place, kernel in enumerate(found.document.kernels):
        of_name.setdefault(kernel.name, []).append(place)
    # run.kernels may lack Triton kernels with a short time, because it lists only the slowest kernels.
    traced = {one.name for run in traces for one in run.kernels} | {one.name for run in traces for one in run.triton}
    pages: dict[str, str] = {}
    notes: list[str] = []
    written: set[str] = set()
    for name, places in of_name.items():
        kernels = [found.document.kernels[place] for place in places]
        if all(kernel.measured is UNSET for kernel in kernels):
            notes.append(f"{name} has no page: no trace contains this kernel")
            continue
        one = Analysis(report(kernels), programs=[found.programs[place] for place in places])
        page = beside(Path(output), name, written)
        write_output(os.fspath(page), one.to_html())
        pages |= {each: page.name for each in sorted(traced) if is_called(each, name)}
    return pages, notes


def beside(page: Path, kernel: str, written: set[str]) -> Path:
    """Return a new path next to a page, named after a kernel and unique among the written pages."""
    stem = name = f"{page.stem}.{_NOT_IN_A_FILE_NAME.sub('_', kernel)[:80]}"
    number = 1
    while f"{name}.html" in written:
        number += 1
        name = f"{stem}-{number}"
    written.add(f"{name}.html")
    return page.with_name(f"{name}.html")
