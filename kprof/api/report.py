"""``kprof.report``: one page of everything that is known about a kernel."""

from collections.abc import Sequence

from kprof.api.analyze import Analysis, analyzed
from kprof.api.other_triton import takes_triton
from kprof.errors import KprofError
from kprof.options.kernels import ReportOptions
from kprof.options.keywords import keywords
from kprof.targets.target import TargetLike


@keywords
@takes_triton
def report(
    *targets: TargetLike,
    options: ReportOptions,
    keep_going: bool = False,
    program: Sequence[str] | None = None,
) -> Analysis:
    """Write one HTML page of everything that is known about a kernel. It needs nothing but a browser.

    The page is ``output``; nothing is written where no kernel could be analysed, or without ``output``.

    Args:
        targets: as for :func:`kprof.analyze`, a report that ``--json`` wrote among them.
        options: as for :func:`kprof.analyze`, and the page.
        keep_going: a target that cannot be analysed makes the verdict ``cannot_tell`` instead of raising.
        program: arguments of the one Python file in ``targets``, as for :func:`kprof.analyze`.

    Raises:
        KprofError: as :func:`kprof.analyze`, the size is no size, or the page cannot be written.
    """
    size = options.max_size
    if size is not None and not 0 <= size < 1e6:
        raise KprofError(f"a page of {size:g} MB: the size is 0, for no limit, or up to 1,000,000")
    from kprof.output.writing import write_output

    found = analyzed(targets, options, keep_going=keep_going, program=program)
    if options.output is not None and found.kernels:
        write_output(options.output, found.to_html(size))
    return found
