"""What kprof says of a configuration that was compiled."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from kprof.compiler.request import CompileOutcome
from kprof.document import KernelReport
from kprof.errors import KprofError
from kprof.targets.jobs import TargetJob, loaded
from kprof.targets.loaded import LoadedKernel
from kprof.tuning.trials.measure import measure
from kprof.tuning.trials.trial import Trial
from kprof_analyzers.memory.replication import replication
from kprof_analyzers.model import predict
from kprof_analyzers.model.occupancy_gain import without_guesses
from kprof_analyzers.pipeline import analyze, facts_of


def analysed(
    change: Mapping[str, Any],
    config: Mapping[str, Any],
    job: TargetJob,
    outcome: CompileOutcome,
    *,
    timed: bool = False,
) -> Trial:
    """A trial with its report and figures, or the reason why there are none; ``timed``: with its predicted time."""
    if outcome.compiled is None:
        return Trial(change, config, error=outcome.error or outcome.status)
    kernel = loaded(job, outcome.compiled)
    report = with_time(analyze(kernel), kernel) if timed else analyze(kernel)
    copies = replication(kernel.ttgir) if kernel.ttgir is not None else 1.0
    return Trial(change, config, report, measure(report, job.machine, copies))


def with_time(report: KernelReport, kernel: LoadedKernel) -> KernelReport:
    """The report with the predicted time of the kernel's launch, where the model has one."""
    gpu = kernel.product or next(iter(kernel.arch.products.values()), None)
    try:
        prediction = predict(facts_of(replace(kernel, product=gpu))[0])
    except KprofError:
        return report
    found: KernelReport = msgspec.structs.replace(report, model=without_guesses(prediction))
    return found
