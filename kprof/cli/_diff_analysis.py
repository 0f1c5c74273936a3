"""Analysing a target for a comparison. What was analysed before is served from kprof's cache."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kprof.harness.targets import Options
    from kprof.report import KernelReport


def analysed(target: str, options: "Options") -> "tuple[list[KernelReport], list[str]]":
    """Every kernel of a target, and what of it could not be read.

    Raises:
        KprofError: nothing can be read.
    """
    from kprof.errors import KprofError
    from kprof.harness.targets import load
    from kprof_analyzers.pipeline import analyze

    kernels: list[KernelReport] = []
    try:
        # One by one: what was read before something cannot be counts.
        kernels.extend(map(analyze, load(target, options)))
    except KprofError as error:
        if not kernels:
            raise
        # A directory reports what it could not read after all that it could.
        return kernels, [str(error)]
    return kernels, []
