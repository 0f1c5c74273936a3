"""What kprof says of a configuration that was compiled."""

from collections.abc import Mapping
from typing import Any

from kprof.compiler.request import CompileOutcome
from kprof.targets.jobs import TargetJob, loaded
from kprof.tuning.trials.measure import measure
from kprof.tuning.trials.trial import Trial
from kprof_analyzers.memory.replication import replication
from kprof_analyzers.model.timed import with_time
from kprof_analyzers.pipeline import analyze


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
