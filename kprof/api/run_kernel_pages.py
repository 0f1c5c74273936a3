"""Pages of kernels beside the page of a run, which links to them."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.targets.target import TargetLike

if TYPE_CHECKING:
    from kprof_analyzers.profiles.timeline.whole_run import TracedRun

_NOT_IN_A_FILE_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def write_kernel_pages(
    targets: Sequence[TargetLike],
    traces: "Sequence[TracedRun]",
    output: "str | os.PathLike[str]",
    options: Mapping[str, Any],
) -> dict[str, str]:
    """Write a page for each target, as :func:`kprof.report` does; each kernel of the traces to its page's file name.

    Args:
        targets: as :func:`kprof.analyze` takes them.
        traces: of the run.
        output: the run's page: ``run.html`` has ``run.softmax_kernel.html`` beside it.
        options: arguments of :func:`kprof.analyze`, the measurements among them.

    Raises:
        KprofError: a target cannot be analysed, or was not measured.
    """
    from kprof.api.report import report
    from kprof.output.writing import write_output
    from kprof_analyzers.profiles.measured.join import is_called

    page = Path(output)
    pages: dict[str, str] = {}
    written: set[str] = set()
    for target in targets:
        found = report(target, **options)
        names = dict.fromkeys(one.name for one in found.kernels)
        stem = f"{page.stem}.{_NOT_IN_A_FILE_NAME.sub('_', next(iter(names)))[:80]}"
        number = sum(name == stem or name.startswith(f"{stem}-") for name in written)
        written.add(name := f"{stem}-{number + 1}" if number else stem)
        write_output(os.fspath(page.with_name(f"{name}.html")), found.to_html())
        for run in traces:
            # Kernels are the largest ones; a Triton kernel may not be among them.
            for traced in (*(one.name for one in run.kernels), *(one.name for one in run.triton)):
                if any(is_called(traced, each) for each in names):
                    pages.setdefault(traced, f"{name}.html")
    return pages
