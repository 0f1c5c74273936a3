"""Look for the change of knobs that undoes a regression, by recompiling."""

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kprof.document import KernelReport, Report
from kprof.errors import KprofError
from kprof.gate.cure import cured, cures, failing, incurable
from kprof.gate.subject import Subject
from kprof.gate.subjects import located


def with_cures(report: Report, subjects: Sequence[Subject], folder: Path, seconds: float, jobs: int = 0) -> Report:
    """The document with advice on each kernel that fails, as far as the time allows.

    Args:
        report: the judged document; its kernels are in the order of ``subjects``.
        subjects: the kernels before they were judged.
        folder: where relative targets start.
        seconds: for all kernels together; no compile is begun afterwards.
        jobs: worker processes, 0 for one a core.
    """
    deadline = time.monotonic() + seconds
    kernels = [
        _advised(kernel, subject, folder, deadline, jobs) if failing(kernel) else kernel
        for kernel, subject in zip(report.kernels, subjects, strict=True)
    ]
    return msgspec.structs.replace(report, kernels=kernels)


def _advised(kernel: KernelReport, subject: Subject, folder: Path, deadline: float, jobs: int) -> KernelReport:
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
        spec = kernel_of(located(entry.target, folder), machine.name)
        trials = advise(spec, machine, options, product=product, budget=left)
        (job,) = jobs_of(spec, machine, options)
        harm = failing(kernel)
        # The fastest by prediction that cures.
        for trial in reported(spec, machine, options, job.problem, trials):
            if trial.report is not None:
                after = Subject(entry, trial.report, subject.case)
                if cures(harm, subject, after):
                    return cured(kernel, trial.change, subject, after)
    except KprofError as error:
        return incurable(kernel, f"other knobs were not tried: {error.message}")
    unfinished = f", {trials.left} were not tried for lack of time" if trials.left else ""
    return incurable(kernel, f"none of {trials.tried} changes of knobs cures it{unfinished}")
