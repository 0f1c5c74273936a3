"""``kprof.report``: write one HTML page with all results for a kernel."""

from collections.abc import Sequence

from kprof.api.analyze import Analysis, analyzed
from kprof.errors import KprofError
from kprof.options.kernels import ReportOptions
from kprof.options.keywords import keywords
from kprof.targets.target import TargetLike


@keywords
def report(
    *targets: TargetLike,
    options: ReportOptions,
    keep_going: bool = False,
    program: Sequence[str] | None = None,
) -> Analysis:
    """Write one self-contained HTML page with all results for a kernel.

    The page is written to ``output``; nothing is written without ``output`` or if no kernel could be analysed.

    Args:
        targets: as for :func:`kprof.analyze`, including reports that ``--json`` wrote.
        options: as for :func:`kprof.analyze`, with the page's file and maximum size.
        keep_going: set the verdict to ``cannot_tell`` instead of raising if a target cannot be analysed.
        program: arguments of the one Python file in ``targets``, as for :func:`kprof.analyze`.

    Raises:
        KprofError: as :func:`kprof.analyze`, or the size is invalid, or the page cannot be written.
    """
    size = options.max_size
    if size is not None and not 0 <= size < 1e6:
        raise KprofError(f"invalid --max-size {size:g}: expected 0 (no limit) to 1,000,000 MB")
    from kprof.output.writing import write_output

    found = analyzed(targets, options, keep_going=keep_going, program=program)
    if options.output is not None and found.kernels:
        write_output(options.output, found.to_html(size))
    return found
