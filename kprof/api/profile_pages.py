"""Pages of a predicted step's Triton kernels, beside the page of the step."""

import os
from pathlib import Path

from kprof.api.run_kernel_pages import beside


def write_pages_of_kernels(capture: Path, gpu: str, output: "str | os.PathLike[str]", condition: str) -> dict[str, str]:
    """Write a page for each kernel of a capture, as ``kprof report`` does.

    Args:
        capture: a recording.
        gpu: the product.
        condition: that times are predicted for.
        output: the step's page: ``step.html`` has ``step.softmax_kernel.html`` beside it.

    Returns:
        Names of kernels to the file names of their pages.

    Raises:
        KprofError: a page cannot be written.
    """
    from kprof.api.analyze import Analysis, analyze
    from kprof.errors import TargetError
    from kprof.options.kernels import AnalyzeOptions
    from kprof.output.writing import write_output
    from kprof_analyzers.verdict import report

    try:
        found = analyze(capture, options=AnalyzeOptions(arch=[gpu], condition=condition), keep_going=True)
    except TargetError:
        # It launched no kernel of Triton's.
        return {}
    of_name: dict[str, list[int]] = {}
    for place, kernel in enumerate(found.document.kernels):
        of_name.setdefault(kernel.name, []).append(place)
    pages: dict[str, str] = {}
    for name, places in of_name.items():
        kernels = [found.document.kernels[place] for place in places]
        one = Analysis(report(kernels), programs=[found.programs[place] for place in places])
        page = beside(Path(output), name, set(pages.values()))
        write_output(os.fspath(page), one.to_html())
        pages[name] = page.name
    return pages
