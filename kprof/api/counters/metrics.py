"""``kprof counters metrics``: bandwidths, hit rates and utilisation from hardware counters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.counter_views import CounterView
from kprof.api.views import function_of
from kprof.options.measurements import MetricsAnswerOptions
from kprof.output.tables import number
from kprof.reporters._trace_format import kernel_label
from kprof.reporters.grids import Column, ViewTable

if TYPE_CHECKING:
    from kprof_analyzers.profiles.counters.chosen import Chosen, Derived
    from kprof_analyzers.profiles.counters.metrics import Metric


@dataclass(frozen=True, eq=False, repr=False)
class CounterMetrics(CounterView):
    """Compute derived metrics of each kernel from files of any ROCm profiler. Several paths are several runs.

    Metrics with missing counters are omitted, and the counters are listed. Launches that differ in grid, workgroup,
    LDS, VGPRs or agent count as different kernels. Several runs are shown side by side.

    Example:  kprof counters metrics results/ --arch MI300X --kernel attention

    Attributes:
        kernels: pairs of a kernel and its metrics by name; the ``value`` of an unknown metric is ``None``.
    """

    help = "Bandwidth, hit rates and utilisation of each kernel."
    kind = "metrics"
    display = MetricsAnswerOptions
    kernels: "Sequence[Derived]"

    @classmethod
    def of_chosen(cls, chosen: "Chosen") -> "CounterMetrics":
        """Compute the metrics of the selected kernels."""
        from kprof_analyzers.profiles.counters.metrics import all_metrics

        return cls(chosen, list(zip(chosen.kernels, all_metrics(chosen.kernels, chosen.gpu), strict=True)))

    @property
    def missing(self) -> list[str]:
        """Counters that must be collected to compute the metrics without a value."""
        return [counter for _, found in self.kernels for metric in found.values() for counter in metric.missing]

    def is_bare(self, display: Any) -> bool:
        """Return whether the output consists only of the commands that collect missing counters (``--pmc``)."""
        return bool(display.pmc)

    def lines(self, display: Any) -> list[str]:
        """Return the text report, or with ``--pmc`` only the commands that collect missing counters."""
        from kprof.reporters import metrics_text

        if display.pmc:
            return metrics_text.collecting(self.missing)
        if display.show:
            return super().lines(display)
        return metrics_text.page(self.chosen, self.kernels, self.missing, display.top)

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that ``kprof counters metrics --json`` writes."""
        from kprof_analyzers.profiles.counters.planning import passes

        chosen = self.chosen
        gpus = {one.gpu for one, _ in self.kernels}
        return {
            "schema": "kprof.metrics/1",
            # Each kernel also names its GPU; this field is set only if all kernels ran on the same GPU.
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
    def conclusion(self) -> str:
        """The number of kernels and metrics, and the number of impossible values, in one line."""
        from kprof.reporters import metrics_text

        return metrics_text.verdict(self.chosen, self.kernels)

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the only table, with one row per kernel, run and metric."""
        fields = ("kernel", "run", "metric", "title", "value", "unit", "flag")
        columns = (
            Column("kernel", lambda row: kernel_label(row["kernel"]), wide=True),
            Column("run", lambda row: row["run"], wide=True, spare=True),
            Column("metric", lambda row: row["title"]),
            Column("value", lambda row: number(row["value"])),
            Column("unit", lambda row: row["unit"]),
            Column("", lambda row: row["flag"] or "", wide=True),
        )
        return (ViewTable("metrics", columns, lambda found: list(found.rows()), fields, record=lambda row: row),)

    def rows(self) -> Sequence[dict[str, Any]]:
        """Return one row per kernel, run and metric; ``flag`` says what is wrong with a value."""
        return [
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
        ]


def _entry(metric: "Metric") -> dict[str, Any]:
    entry: dict[str, Any] = {"value": metric.value, "unit": metric.formula.unit, "title": metric.formula.title}
    extra = {"formula": metric.used, "source": metric.formula.source, "confidence": metric.confidence,
             "flag": metric.flag, "note": metric.note, "missing": list(metric.missing),
             "unknown": list(metric.unknown)}  # fmt: skip
    return entry | {name: value for name, value in extra.items() if value}


counter_metrics = function_of(CounterMetrics)
