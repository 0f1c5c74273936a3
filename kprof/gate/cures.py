"""Look for the change of knobs that undoes a regression, by recompiling."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from kprof.captures.sources import root_of
from kprof.document import KernelReport, Report
from kprof.errors import KprofError
from kprof.gate.cure import cured, cures, failing, incurable
from kprof.gate.source_text import relocated
from kprof.gate.subject import Subject
from kprof.gate.subjects import located


def with_cures(report: Report, subjects: Sequence[Subject], config: Path, seconds: float, jobs: int = 0) -> Report:
    """The document with advice on each kernel that fails, as far as the time allows.

    Args:
        report: the judged document; its kernels are in the order of ``subjects``.
        subjects: the kernels before they were judged.
        config: the configuration; relative targets start in its folder.
        seconds: for all kernels together; no compile is begun afterwards.
        jobs: worker processes, 0 for one a core.
    """
    deadline = time.monotonic() + seconds
    kernels = [
        _advised(kernel, subject, config, deadline, jobs) if failing(kernel) else kernel
        for kernel, subject in zip(report.kernels, subjects, strict=True)
    ]
    return msgspec.structs.replace(report, kernels=kernels)


def _advised(kernel: KernelReport, subject: Subject, config: Path, deadline: float, jobs: int) -> KernelReport:
    from kprof.hardware.machine import load_gpu
    from kprof.targets.jobs import jobs_of
    from kprof.targets.options import Options
    from kprof.targets.target import kernel_of
    from kprof.tuning.trials import advise, reported

    entry = subject.entry
    left = deadline - time.monotonic()
    if left <= 0:
        return incurable(kernel, "the time for trials was spent before other knobs could be tried")
    if entry.signature is not None or entry.all_configs:
        return incurable(kernel, "other knobs were not tried: only kernels with cases and one configuration can be")
    machine, product = load_gpu(subject.report.arch)
    options = Options(
        config=entry.config, shape=entry.shape, case=subject.case, environment=entry.environment, jobs=jobs
    )
    try:
        spec = kernel_of(located(entry.target, config.parent), machine.name)
        trials = advise(spec, machine, options, product=product, budget=left)
        (job,) = jobs_of(spec, machine, options)
        harm = failing(kernel)
        # The fastest by prediction that cures.
        for trial in reported(spec, machine, options, job.problem, trials):
            if trial.report is not None:
                after = Subject(entry, trial.report, subject.case)
                if cures(harm, subject, after):
                    return _cured(kernel, trial.change, subject, after, config)
    except KprofError as error:
        return incurable(kernel, f"other knobs were not tried: {error.message}")
    unfinished = f", {trials.left} were not tried for lack of time" if trials.left else ""
    return incurable(kernel, f"none of {trials.tried} changes of knobs cures it{unfinished}")


def _cured(
    kernel: KernelReport, change: Mapping[str, Any], before: Subject, after: Subject, config: Path
) -> KernelReport:
    source = before.report.source
    files = [config] if source is UNSET else [Path(source.file), config]
    found: KernelReport = relocated(cured(kernel, change, before, after, files), root_of(config.parent))
    return found
