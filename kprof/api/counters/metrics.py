"""``kprof.counter_metrics``: bandwidths, hit rates and utilisation from hardware counters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from kprof.api.counters.answer import FIELDS, CounterAnswer, Path_, choose
from kprof.api.options import Names

if TYPE_CHECKING:
    import pandas as pd

    from kprof_analyzers.profiles.counters.chosen import Derived
    from kprof_analyzers.profiles.counters.metrics import Metric


@dataclass(frozen=True, eq=False, repr=False)
class CounterMetrics(CounterAnswer):
    """Derived metrics of each kernel and run.

    Attributes:
        kernels: pairs of a kernel and its metrics by name; ``value`` is ``None`` where it is not known.
    """

    kernels: "Sequence[Derived]"
    kind: ClassVar[str] = "metrics"

    @property
    def missing(self) -> list[str]:
        """Counters that would have to be collected for the metrics without a value."""
        return [counter for _, found in self.kernels for metric in found.values() for counter in metric.missing]

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as ``kprof counters metrics --json`` writes it."""
        from kprof_analyzers.profiles.counters.collecting import passes

        chosen = self.chosen
        gpus = {one.gpu for one, _ in self.kernels}
        return {
            "schema": "kprof.metrics/1",
            # Each kernel has its own; this is the one of all, when there is but one.
            "gpu": chosen.identity(self.kernels[0][0])["gpu"] if len(gpus) == 1 else None,
            "runs": [chosen.runs.labels[run] for run in chosen.used],
            "kernels": [
                {
                    "kernel": one.name,
                    "dispatches": one.calls,
                    "nanoseconds": one.nanoseconds,
                    **chosen.identity(one),
                    "metrics": {name: _entry(metric) for name, metric in found.items()},
                }
                for one, found in self.kernels
            ],
            "collect": [one.option for one in passes(self.missing)],
        }

    @property
    def summary(self) -> str:
        """How many kernels and metrics, and how many of them cannot be."""
        from kprof.inputs.completeness import with_headline
        from kprof.reporters.metrics_text import verdict

        return with_headline(verdict(self.chosen, self.kernels), self.issues)

    def to_frame(self) -> "pd.DataFrame":
        """A row a kernel, run and metric: ``kernel``, ``run``, ``metric``, ``title``, ``value`` with its ``unit``,
        and as ``flag`` what is wrong with it.
        """  # noqa: D205 - one sentence
        from kprof.reporters._frames import plain_frame

        rows = (
            {
                "kernel": one.name,
                "run": self.chosen.runs.labels[one.run],
                "metric": name,
                "title": metric.formula.title,
                "value": metric.value,
                "unit": metric.formula.unit,
                "flag": metric.flag or None,
            }
            for one, found in self.kernels
            for name, metric in found.items()
        )
        return plain_frame(rows, ("kernel", "run", "metric", "title", "value", "unit", "flag"))


def counter_metrics(
    *paths: Path_,
    arch: str | None = None,
    kernel: str = "",
    run: Sequence[str] = (),
    dispatch: Sequence[int] = (),
    by: Names = FIELDS,
) -> CounterMetrics:
    """Derived metrics of each kernel, from the files of any ROCm profiler. Several paths are several runs.

    Args:
        paths: files and folders, as for :func:`kprof.read_counters`.
        arch: the GPU when the files do not say: ``MI300X`` or ``gfx942``. A product gives peaks.
        kernel: only kernels with this in their names.
        run: only these runs: their numbers from 1, or parts of their paths.
        dispatch: only these dispatches.
        by: launches that agree in these are put together: ``name,grid``.

    Raises:
        InputError: a file cannot be read.
        KprofError: there are no counters, a choice fits nothing, or no file says which GPU it was.
    """
    from kprof_analyzers.profiles.counters.metrics import all_metrics

    chosen = choose(paths, arch=arch, kernel=kernel, run=run, dispatch=dispatch, by=by)
    return CounterMetrics(chosen, list(zip(chosen.kernels, all_metrics(chosen.kernels, chosen.gpu), strict=True)))


def _entry(metric: "Metric") -> dict[str, Any]:
    entry: dict[str, Any] = {"value": metric.value, "unit": metric.formula.unit, "title": metric.formula.title}
    extra = {"formula": metric.used, "source": metric.formula.source, "confidence": metric.confidence,
             "flag": metric.flag, "note": metric.note, "missing": list(metric.missing),
             "unknown": list(metric.unknown)}  # fmt: skip
    return entry | {name: value for name, value in extra.items() if value}
