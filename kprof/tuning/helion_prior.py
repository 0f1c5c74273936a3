"""Rank configurations for Helion's autotuner by prediction, inside the user's program.

::

    @helion.kernel(autotuner_fn=kprof.helion_prior())

Helion's searches time hundreds of configurations on the GPU. The prior draws configurations in the same way and lets
Helion write the Triton kernel of each. It ranks the launches by predicted time and passes only the first few to
Helion for timing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kprof.errors import KprofError
from kprof.tuning.prior_notes import PriorReport
from kprof.tuning.ranking import CandidateLaunch, CandidateRanker, warn


def helion_prior(
    top_k: int = 4,
    arch: str | None = None,
    *,
    candidates: int = 64,
    certainty: float = 0.95,
    budget: float = 60.0,
    jobs: int | None = None,
) -> "HelionPrior":
    """Return a function for ``@helion.kernel(autotuner_fn=...)`` that times only the most promising configurations.

    The default configuration and those of ``autotune_seed_configs`` are always among the candidates. A configuration
    that cannot be launched is never timed. No error is raised into the program: if no candidate can be ranked, one
    warning is issued and Helion's own search runs.

    Args:
        top_k: maximum number of configurations to time.
        arch: architecture or product, ``gfx942`` or ``MI300X``; by default the GPU of this process.
        candidates: number of configurations to rank.
        certainty: a configuration is dropped before ``top_k`` if it is slower than the first one with at least this
            probability.
        budget: seconds for each ranking after which no further compile starts.
        jobs: number of compiling processes; one per CPU by default.
    """
    if top_k < 1 or candidates < 1:
        raise KprofError(f"helion_prior needs top_k and candidates of at least 1, got {top_k} and {candidates}")
    return HelionPrior(top_k, candidates, CandidateRanker(arch, budget, jobs, certainty))


@dataclass(frozen=True)
class HelionPrior:
    """The function that :func:`helion_prior` returns.

    Attributes:
        top_k: see :func:`helion_prior`.
        candidates: see :func:`helion_prior`.
        ranker: the engine.
    """

    top_k: int
    candidates: int
    ranker: CandidateRanker

    def __call__(self, bound: Any, args: Sequence[Any], **options: Any) -> Any:
        """Return Helion's search for one kernel and its arguments. Helion calls this.

        Args:
            bound: Helion's ``BoundKernel``.
            args: the kernel's arguments.
            options: options of Helion's own search, for the case that no candidate can be ranked.
        """
        from helion.runtime.settings import default_autotuner_fn

        try:
            configs = self.configs(bound, args)
        except Exception as error:  # noqa: BLE001 - the user's program must continue after any error
            warn("helion_prior", error, "Helion's own search runs")
            return default_autotuner_fn(bound, args, **options)
        return _search(bound, args, configs)

    def configs(self, bound: Any, args: Sequence[Any]) -> list[Any]:
        """Return the configurations to time, fastest first by prediction.

        Raises:
            KprofError: if no candidate has a prediction.
        """
        drawn = _candidate_configs(bound, self.candidates)
        ranking = self.ranker.rank([_launch(bound, config, args) for config in drawn])
        if not ranking.order:
            raise KprofError(f"no configuration has a prediction: {ranking.problem}")
        # A configuration that a person listed is kept without a prediction; a randomly drawn one is not worth timing.
        kept = list(ranking.order[: min(self.top_k, max(2, ranking.enough))])
        name = str(getattr(bound.kernel, "name", "a kernel"))
        labels = [_label(config, drawn[0]) for config in drawn]
        PriorReport(name, self.ranker.target, ranking, labels, kept).publish()
        return [drawn[place] for place in kept]


def _search(bound: Any, args: Sequence[Any], configs: Sequence[Any]) -> Any:
    """Return Helion's search over a list of configurations, with Helion's cache of best configurations around it."""
    from helion.autotuner import FiniteSearch, cache_classes
    from helion.autotuner.base_search import BaseAutotuner

    class OnlyConfig(BaseAutotuner):  # type: ignore[misc]
        """A search with a single configuration, which Helion's own search refuses."""

        def autotune(self, *, skip_cache: bool = False) -> Any:
            del skip_cache
            return configs[0]

    def make() -> Any:
        return FiniteSearch(bound, args, list(configs))

    if len(configs) == 1:
        return OnlyConfig()
    return cache_classes[bound.settings.autotune_cache](make(), autotuner_factory=make)


def _candidate_configs(bound: Any, count: int) -> list[Any]:
    """Return Helion's default configuration, the user's own ones, and random ones."""
    from helion.autotuner.base_search import normalize_autotune_seed_configs

    settings = bound.settings
    generation = bound.config_spec.create_config_generation(overrides=settings.autotune_config_overrides or None)
    seeds = list(normalize_autotune_seed_configs(settings))
    drawn = generation.random_population(count, user_seed_configs=seeds)
    keep = settings.autotune_config_filter
    filtered = [config if keep is None else keep(config) for config in drawn]
    return [config for config in filtered if config is not None]


def _launch(bound: Any, config: Any, args: Sequence[Any]) -> CandidateLaunch | KprofError:
    """Return the launch of one configuration, or the reason why it is unknown."""
    made: list[CandidateLaunch] = []

    def launcher(kernel: Any, grid: Any, *values: Any, **options: Any) -> None:
        names = [parameter.name for parameter in kernel.params]
        knobs = {name: value for name, value in options.items() if not name.startswith("_")}
        made.append(CandidateLaunch(kernel, knobs, dict(zip(names, values, strict=False)), tuple(grid)))

    try:
        bound.compile_config(config, allow_print=False)(*args, _launcher=launcher)
    except Exception as error:  # noqa: BLE001 - Helion's own functions, whose form differs between versions
        return KprofError(f"{type(error).__name__}: {error}".splitlines()[0])
    if len(made) != 1:
        return KprofError(f"{len(made)} launches; kprof ranks kernels with one launch")
    return made[0]


def _label(config: Any, default: Any) -> str:
    """Return the values in which a configuration differs from the default one, and its block sizes."""
    own, usual = dict(config.config), dict(default.config)
    shown = {name: value for name, value in own.items() if name == "block_sizes" or usual.get(name) != value}
    return " ".join(f"{name}={value}".replace(" ", "") for name, value in shown.items())
