"""``kprof.report``: one page of everything that is known about a kernel."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from kprof.api.analyze import Analysis, analyze
from kprof.api.measurements import Paths
from kprof.api.options import Names, Values
from kprof.errors import KprofError
from kprof.targets.target import TargetLike

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AnalyzeOptions(TypedDict, total=False):
    """Options of :func:`kprof.analyze`."""

    arch: Names
    config: Values | None
    shape: Values | None
    case: str | None
    all_configs: bool
    signature: str | None
    constexprs: Values | None
    grid: Sequence[int] | None
    env: Mapping[str, Any] | None
    values: Mapping[str, int | Sequence[int]] | None
    passes: bool
    kernel: str | None
    sources: "Sequence[str | os.PathLike[str]]"
    jobs: int
    keep_going: bool
    counters: Paths
    trace: Paths
    program: Sequence[str] | None
    time_limit: float | None
    thread_trace: "str | os.PathLike[str] | None"


def report(
    *targets: TargetLike,
    output: "str | os.PathLike[str] | None" = None,
    max_size: float | None = None,
    **options: "Unpack[AnalyzeOptions]",
) -> Analysis:
    """Write one HTML page of everything that is known about a kernel. It needs nothing but a browser.

    Args:
        targets: as for :func:`kprof.analyze`, a report that ``--json`` wrote among them.
        output: the page, ``page.html``; nothing is written where no kernel could be analysed, or when ``None``.
        max_size: megabytes that the page should stay below, 1 by default, 0 for no limit.
        options: as for :func:`kprof.analyze`.

    Raises:
        KprofError: as :func:`kprof.analyze`, the size is no size, or the page cannot be written.
    """
    if max_size is not None and not 0 <= max_size < 1e6:
        raise KprofError(f"a page of {max_size:g} MB: the size is 0, for no limit, or up to 1,000,000")
    from kprof.output.writing import write_output

    found = analyze(*targets, **options)
    if output is not None and found.kernels:
        write_output(os.fspath(output), found.to_html(max_size))
    return found
