"""Look for the change of knobs that undoes a regression, by recompiling."""

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from kprof.captures.staleness import root_of
from kprof.deadline import Deadline
from kprof.document import KernelReport, Report
from kprof.errors import KprofError
from kprof.gate.anchors import relocated
from kprof.gate.cure import cured, cures, failing, incurable
from kprof.gate.subject import CheckSubject
from kprof.gate.tries import tries


def with_cures(report: Report, subjects: Sequence[CheckSubject], config: Path, seconds: float, jobs: int = 0) -> Report:
    """The document with advice on each kernel that fails, as far as the time allows.

    Args:
        report: the judged document; its kernels are in the order of ``subjects``.
        subjects: the kernels before they were judged.
        config: the configuration; relative targets start in its folder.
        seconds: for all kernels together; no compile is begun afterwards.
        jobs: worker processes, 0 for one a core.
    """
    deadline = Deadline(seconds)
    kernels = [
        _advised(kernel, subject, config, deadline, jobs) if failing(kernel) else kernel
        for kernel, subject in zip(report.kernels, subjects, strict=True)
    ]
    return msgspec.structs.replace(report, kernels=kernels)


def _advised(kernel: KernelReport, subject: CheckSubject, config: Path, deadline: Deadline, jobs: int) -> KernelReport:
    if deadline.over():
        return incurable(kernel, "the time for trials was spent before other knobs could be tried")
    harm = failing(kernel)
    try:
        with closing(tries(subject, config.parent, deadline, jobs)) as made:
            for change, report in made.found:
                after = replace(subject, report=report)
                if cures(harm, subject, after):
                    return _cured(
                        kernel, change, subject, after, [*made.files, config], times=(made.last_us, made.start_us())
                    )
    except KprofError as error:
        return incurable(kernel, f"other knobs were not tried: {error.message}")
    unfinished = f", {made.left} were not tried for lack of time" if made.left else ""
    limited = f" ({made.how})" if made.how.startswith("compiler options only") else ""
    return incurable(kernel, f"none of {made.tried} changes of knobs fixes it{unfinished}{limited}")


def _cured(
    kernel: KernelReport,
    change: Mapping[str, Any],
    before: CheckSubject,
    after: CheckSubject,
    files: Sequence[Path],
    *,
    times: tuple[float | None, float | None],
) -> KernelReport:
    *_, config = files
    source = before.report.source
    # One file under two names would set each knob twice.
    named = [*([] if source is UNSET else [source.file]), *files]
    places = [Path(os.path.abspath(str(path))) for path in named]  # noqa: PTH100 - links stay links
    found: KernelReport = relocated(cured(kernel, change, before, after, places, times=times), root_of(config.parent))
    return found
