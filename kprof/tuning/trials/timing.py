"""What the trials that are worth having are predicted to take: resources alone do not tell a slower program."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError
from kprof.hardware.machine import Architecture, Product
from kprof.tuning.trials.changes import SWITCHES
from kprof.tuning.trials.search import Trial, Trials

if TYPE_CHECKING:
    from kprof.kernel_spec import Kernel
    from kprof.targets.options import Options

# Predictions that are this near are not told apart (docs/model.md).
TIE = 1.03
_LOOKED_AT = 8


def timed(
    kernel: "Kernel", machine: Architecture, options: "Options", trials: Trials, product: Product | None = None
) -> Trials:
    """Trials with predicted times, and without those among the best that are predicted to take longer than the start.

    Args:
        kernel: the kernel that was tried.
        machine: architecture.
        options: as for :func:`kprof.tuning.trials.search.advise`.
        trials: its result.
        product: the GPU; the architecture's first product when ``None``.
    """
    product = product or next(iter(machine.products.values()), None)
    if product is None or product.compute_units is None:
        return trials

    def with_time(trial: Trial) -> Trial:
        return replace(trial, time_us=_predicted(kernel, machine, options, trial.config, product))

    start = with_time(trials.start)
    if start.time_us is None:
        return trials
    best = [with_time(trial) for trial in trials.best[:_LOOKED_AT]]
    kept, slower = sorted_out(start, best)
    return replace(trials, start=start, best=(*kept, *trials.best[_LOOKED_AT:]), slower=slower)


def sorted_out(start: Trial, best: Collection[Trial]) -> tuple[tuple[Trial, ...], tuple[Trial, ...]]:
    """Those worth having, the fastest first, and those predicted to be slower than the start."""
    now = start.time_us
    assert now is not None
    slower = tuple(trial for trial in best if trial.time_us is not None and trial.time_us > TIE * now)
    kept = [trial for trial in best if trial not in slower]
    return tuple(sorted(kept, key=lambda trial: now if trial.time_us is None else trial.time_us)), slower


def _predicted(
    kernel: "Kernel", machine: Architecture, options: "Options", config: Mapping[str, Any], product: Product
) -> float | None:
    """Microseconds of one launch; ``None`` where the model has no answer. What was compiled is in the cache."""
    from kprof.compiler.compile import compile_kernel
    from kprof.targets.jobs import jobs_of
    from kprof.tuning.trials.predicted import judge, version

    knobs = {name: value for name, value in config.items() if name not in SWITCHES}
    switches = {name: str(value) for name, value in config.items() if name in SWITCHES}
    own = replace(options, config=knobs, environment={**options.environment, **switches}, all_configs=False)
    try:
        (job,) = jobs_of(kernel, machine, own)
        asked = {
            "name": job.name,
            "arch": product.name,
            "grid": None if job.grid is None else list(job.grid),
            "arguments": dict(job.arguments),
            "problem": {n: v for n, v in job.problem.items() if isinstance(v, bool | int | float | str) or v is None},
            "version": version(),
            "flops": _flops(kernel, job.problem),
        }
        time = judge(compile_kernel(job.request, cache=options.use_cache), asked).get("time_us")
    except KprofError:
        return None
    return float(time) if isinstance(time, int | float) else None


def _flops(kernel: "Kernel", problem: Mapping[str, Any]) -> int | None:
    """Operations of the launch, where the kernel's file tells and no other part does some of them."""
    if kernel.flops is None or any(part.when is None for part in kernel.parts.values()):
        return None
    try:
        return int(kernel.flops(problem))
    except Exception:  # noqa: BLE001 - the user's code may raise anything, and predictions do without
        return None
