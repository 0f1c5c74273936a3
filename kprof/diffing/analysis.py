"""Analyse a target for a comparison. Reports of directories that were analysed before are read from kprof's cache."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kprof.errors import KprofError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kprof.document import KernelReport
    from kprof.options.groups import CompileOptions
    from kprof.targets.loaded import LoadedKernel
    from kprof_analyzers.directories import Directory


def analysed(target: str, options: "CompileOptions", tell: "Callable[[str], None]") -> "Directory":
    """Analyse every kernel of a target; the result also lists what could not be read.

    Raises:
        KprofError: nothing can be read.
    """
    from kprof.targets.resolver import load
    from kprof.targets.usable_options import usable
    from kprof_analyzers.directories import Directory

    if Path(target).is_dir():
        return _directory(target, options, tell)
    # Drop options that this target does not use, because they may be meant for the other side.
    options = usable(target, options)
    kernels: list[KernelReport] = []
    # Read kernels one by one, so that the kernels before an unreadable one are kept.
    try:
        kernels.extend(map(with_costs, load(target, options)))
    except KprofError as error:
        if not kernels:
            raise
        return Directory(kernels, [str(error)], {})
    return Directory(kernels, [], {})


def with_costs(kernel: "LoadedKernel") -> "KernelReport":
    """Return a kernel's report with costs of findings if a GPU was named, else with the predicted time.

    If no GPU was named, the time is predicted for the first product of the kernel's architecture.
    """
    from kprof_analyzers.model.timed import with_time
    from kprof_analyzers.pipeline import analyze

    return analyze(kernel, model=True) if kernel.product is not None else with_time(analyze(kernel), kernel)


def _directory(target: str, options: "CompileOptions", tell: "Callable[[str], None]") -> "Directory":
    from kprof.hardware.machine import load_gpu
    from kprof_analyzers.directories import analyse_directory

    wanted = [load_gpu(name)[0].name for name in options.arch]
    found = analyse_directory(
        Path(target),
        arch=wanted[0] if len(wanted) == 1 else None,
        all_configs=options.all_configs,
        jobs=options.jobs,
        tell=lambda done, of: tell(f"{target}: {done} of {of} analysed"),
    )
    kept = [kernel for kernel in found.kernels if not wanted or kernel.arch in wanted]
    if not kept:
        has = ", ".join(sorted({kernel.arch for kernel in found.kernels}))
        raise KprofError(f"this was compiled for {has}, not for {', '.join(wanted)}", path=target)
    return replace(found, kernels=kept)
