"""Prune the configurations of ``@triton.autotune`` by prediction, inside the user's program.

::

    @triton.autotune(
        configs, key=["M", "N", "K"], prune_configs_by={"early_config_prune": kprof.prune_configs(top_k=8)}
    )

or, with Triton's own top-k, ``{"perf_model": kprof.perf_model(), "top_k": 8}``. Configurations are compiled in worker
processes, never in the user's process. Errors are not raised: a configuration without a prediction is kept. If no
configuration has a prediction, all of them are kept and one warning is issued.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from kprof.errors import KprofError
from kprof.tuning.prior_notes import PriorReport, label
from kprof.tuning.ranking import CandidateLaunch, CandidateRanker, compiling, described, warn

Configs = list[Any]


def prune_configs(
    top_k: int | None = None,
    arch: str | None = None,
    *,
    top: int | None = None,
    budget: float = 60.0,
    jobs: int | None = None,
) -> "Pruner":
    """Return a function for ``prune_configs_by={"early_config_prune": ...}``.

    The function keeps the ``top_k`` configurations with the shortest predicted times, fastest first, followed by the
    configurations that cannot be judged. Configurations that need more LDS than the GPU has, or that crash the
    compiler, are dropped.

    Args:
        top_k: number of configurations to keep; 8 by default.
        arch: architecture or product, ``gfx942`` or ``MI300X``; by default the GPU of this process.
        top: another name for ``top_k``.
        budget: seconds after which no further compile starts; configurations not compiled by then are kept.
        jobs: number of compiling processes; one per CPU by default.
    """
    return Pruner(top_k if top_k is not None else top if top is not None else 8, arch, budget, jobs)


def perf_model(arch: str | None = None, *, budget: float = 60.0, jobs: int | None = None) -> "PerfModel":
    """Return a function for ``prune_configs_by={"perf_model": ..., "top_k": 8}`` that predicts milliseconds.

    The predicted time is infinite for a configuration that cannot be launched, and 0 for a configuration that cannot be
    judged, so Triton keeps it.

    Args:
        arch: as for :func:`prune_configs`.
        budget: as for :func:`prune_configs`.
        jobs: as for :func:`prune_configs`.
    """
    return PerfModel(arch, budget, jobs)


def _launches(
    tuner: Any, configs: Sequence[Any], named: Mapping[str, Any], rest: Mapping[str, Any]
) -> list[CandidateLaunch | KprofError]:
    """Return the launches of an autotuner's configurations for one set of arguments."""
    args = {**named, **rest}
    return [CandidateLaunch(tuner.fn, config.all_kwargs(), args, args.get("grid")) for config in configs]


class Pruner:
    """The function that :func:`prune_configs` returns."""

    def __init__(self, top_k: int, arch: str | None, budget: float, jobs: int | None) -> None:
        if top_k < 1:
            raise KprofError(f"prune_configs keeps at least one configuration, got top_k={top_k}")
        self._top_k = top_k
        self._ranker = CandidateRanker(arch, budget, jobs)

    def __call__(self, configs: Configs, named_args: Mapping[str, Any], **kwargs: Any) -> Configs:
        """Return the configurations to try. Triton's autotuner calls this with the launch's arguments."""
        everything = list(configs)
        if len(everything) <= 1 or compiling():
            return everything
        try:
            tuner = _tuner()
            ranking = self._ranker.rank(_launches(tuner, everything, named_args, kwargs))
        except Exception as error:  # noqa: BLE001 - the user's program must continue after any error
            warn("prune_configs", error, "every configuration is kept")
            return everything
        if not ranking.order:
            warn("prune_configs", ranking.problem, "no configuration has a prediction, so all are kept")
            return everything
        kept = [*ranking.order[: self._top_k], *ranking.unknown]
        labels = [label(config.all_kwargs()) for config in everything]
        name = str(getattr(getattr(tuner, "base_fn", tuner.fn), "__name__", "a kernel"))
        PriorReport(name, self._ranker.target, ranking, labels, kept).publish()
        return [everything[i] for i in kept]


class PerfModel:
    """The function that :func:`perf_model` returns."""

    def __init__(self, arch: str | None, budget: float, jobs: int | None) -> None:
        self._ranker = CandidateRanker(arch, budget, jobs)
        self._times: dict[str, list[tuple[dict[str, Any], float]]] = {}

    def __call__(self, **kwargs: Any) -> float:
        """Return the predicted milliseconds of one configuration.

        Triton's autotuner passes all launch arguments and knobs.
        """
        if compiling():
            return 0.0
        try:
            tuner = _tuner()
            knobs = {name for config in tuner.configs for name in config.all_kwargs()}
            rest = {name: value for name, value in kwargs.items() if name not in knobs}
            key = repr(sorted((name, described(value)) for name, value in rest.items()))
            if key not in self._times:
                self._times[key] = self._predicted(tuner, rest)
            found = (t for own, t in self._times[key] if all(kwargs.get(n) == v for n, v in own.items()))
            return next(found, 0.0)
        except Exception as error:  # noqa: BLE001 - the user's program must continue after any error
            warn("perf_model", error, "all configurations are treated as equal")
            return 0.0

    def _predicted(self, tuner: Any, rest: Mapping[str, Any]) -> list[tuple[dict[str, Any], float]]:
        """Return each configuration with its predicted milliseconds."""
        ranking = self._ranker.rank(_launches(tuner, tuner.configs, rest, {}))
        if not ranking.order:
            warn("perf_model", ranking.problem, "no configuration has a prediction, so all are treated as equal")
        share = 1000 if ranking.unit == "us" else 1
        times = dict.fromkeys(ranking.unknown, 0.0) | dict.fromkeys(ranking.unlaunchable, float("inf"))
        times |= {place: cost / share for place, cost in ranking.costs.items()}
        return [(dict(config.all_kwargs()), times[place]) for place, config in enumerate(tuner.configs)]


def _tuner() -> Any:
    """Find the calling autotuner on the stack, because Triton passes neither the autotuner nor its kernel.

    Raises:
        KprofError: if no calling frame belongs to an autotuner.
    """
    frame = sys._getframe(1)  # noqa: SLF001 - there is no other way to the calling frame
    for _ in range(8):
        if frame.f_back is None:
            break
        frame = frame.f_back
        owner = frame.f_locals.get("self")
        if all(hasattr(owner, name) for name in ("configs", "arg_names", "fn", "prune_configs")):
            return owner
    raise KprofError("must be called by a Triton autotuner")
