"""Options of commands that read measurements: timelines, hardware counters, results of other tools."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from kprof.options.groups import (
    BudgetOptions,
    ByOptions,
    ChosenKernelOptions,
    ClusterOptions,
    CompileOptions,
    GpuOptions,
    GrowthOptions,
    LinkedTargetOptions,
    OutputOptions,
    RowOptions,
    SpaceOptions,
    StrictOptions,
    WorkerOptions,
)
from kprof.options.kinds import NAMES, NUMBERS, PATH, TEXTS
from kprof.options.option import Option, group

LEVELS = ("modules", "operators", "both")


@group(frozen=True, kw_only=True)
class TraceOptions(WorkerOptions, ClusterOptions):
    """Options for reading timelines."""

    exclude_warm_up: Annotated[
        bool, Option("Exclude kernels launched before the recording began; by default they count.")
    ] = False
    cap_durations: Annotated[bool, Option("Cut impossible durations at the next start on their stream.")] = False

    @property
    def repairs(self) -> tuple[str, ...]:
        """Names of the requested repairs, from :data:`kprof.inputs.completeness.REPAIRS`."""
        names = ("exclude_warm_up", "cap_durations")
        return tuple(name.replace("_", "-") for name in names if getattr(self, name))


@group(frozen=True, kw_only=True)
class CategoryOptions(TraceOptions):
    """Options of views that put kernels into categories."""

    categories: Annotated[
        str | None,
        Option("A TOML file with your own category rules, which take precedence over kprof's.", metavar="FILE",
               kind=PATH),
    ] = None  # fmt: skip


@group(frozen=True, kw_only=True)
class BreakdownOptions(CategoryOptions):
    """Options of ``kprof.trace_breakdown``."""

    by_name: Annotated[bool, Option("Use only kernel names, which needs little memory for traces of any size.")] = False


@group(frozen=True, kw_only=True)
class GapOptions(CategoryOptions):
    """Options of ``kprof.trace_gaps``."""

    at_least: Annotated[float, Option("Omit gaps shorter than this.", metavar="MICROSECONDS", least=0)] = 0.0


@group(frozen=True, kw_only=True)
class TreeOptions(TraceOptions, ByOptions):
    """Options of ``kprof.trace_tree``."""

    each: Annotated[bool, Option("Show modules of the same class separately instead of merging them.")] = False


@group(frozen=True, kw_only=True)
class TraceDiffOptions(CategoryOptions):
    """Options of ``kprof.trace_diff``."""

    tree: Annotated[
        str | None,
        Option("Also match the two sides' trees of calls by the names of modules, operators or both.", metavar="LEVELS",
               choices=LEVELS),
    ] = None  # fmt: skip


@group(frozen=True, kw_only=True)
class OperatorOptions(TraceOptions, CompileOptions, SpaceOptions, BudgetOptions):
    """Options of ``kprof.trace_ops``: the GPU, and how targets are compiled and searched."""

    without: ClassVar[frozenset[str]] = frozenset({"all_configs", "env", "passes"})

    tune: Annotated[
        bool, Option("Search the targets' configurations, and predict the time that the best one saves.")
    ] = False


@group(frozen=True, kw_only=True)
class TraceReportOptions(CategoryOptions, GpuOptions):
    """Options of ``kprof.trace_report``."""


@group(frozen=True, kw_only=True)
class CounterOptions(GpuOptions, ChosenKernelOptions, ByOptions):
    """Options of ``kprof.counter_diff``: kernels of recorded counters."""

    dispatch: Annotated[
        Sequence[int], Option("Only this dispatch; repeatable.", metavar="ID", kind=NUMBERS)
    ] = ()  # fmt: skip


@group(frozen=True, kw_only=True)
class CounterRunOptions(CounterOptions):
    """Options of ``kprof.counter_metrics`` and ``kprof.counter_roofline``: kernels of several runs."""

    only_run: Annotated[
        Sequence[str], Option("Only this run: its number or a part of its path; repeatable.", metavar="N|TEXT",
                              kind=TEXTS)
    ] = ()  # fmt: skip


@group(frozen=True, kw_only=True)
class AnswerOptions(RowOptions, OutputOptions):
    """Options for how the command of a view shows its result."""

    show: Annotated[
        Sequence[str],
        Option("Tables or parts of the answer to show, by their names.", metavar="NAME[,NAME]", kind=NAMES),
    ] = ()


@group(frozen=True, kw_only=True)
class BreakdownAnswerOptions(AnswerOptions):
    """Options for how ``kprof trace breakdown`` shows its result."""

    bars: Annotated[bool, Option("Draw bars in the picture, for one trace too.")] = False
    over_time: Annotated[bool, Option("Draw utilisation over time in the picture.")] = False


@group(frozen=True, kw_only=True)
class TreeAnswerOptions(AnswerOptions):
    """Options for how ``kprof trace tree`` shows its result."""

    without: ClassVar[frozenset[str]] = frozenset({"top"})

    depth: Annotated[int, Option("Levels to show; 0: all.", metavar="N", least=0)] = 4
    min_share: Annotated[
        float, Option("Omit nodes that take less than this percentage of the time.", metavar="PERCENT", least=0)
    ] = 1.0


@group(frozen=True, kw_only=True)
class OperatorAnswerOptions(AnswerOptions, LinkedTargetOptions):
    """Options for how ``kprof trace ops`` shows its result, and the kernels to predict."""


@group(frozen=True, kw_only=True)
class DiffAnswerOptions(AnswerOptions, GrowthOptions):
    """Options for how a comparison of two recordings is shown and judged."""


@group(frozen=True, kw_only=True)
class MetricsAnswerOptions(AnswerOptions):
    """Options for how ``kprof counters metrics`` shows its result."""

    pmc: Annotated[bool, Option("Print only the commands that collect missing counters.")] = False


@group(frozen=True, kw_only=True)
class TableFileOptions(OutputOptions):
    """Options for writing tables of measurements."""

    table_format: Annotated[
        str, Option("Format of the tables in -o.", metavar="FORMAT", choices=("parquet", "csv", "json"))
    ] = "parquet"


@group(frozen=True, kw_only=True)
class IngestCountersOptions(TableFileOptions, RowOptions, StrictOptions):
    """Options of ``kprof ingest counters``."""


@group(frozen=True, kw_only=True)
class IngestResultsOptions(RowOptions, StrictOptions):
    """Options of ``kprof ingest results``."""

    code_object: Annotated[
        str | None,
        Option(
            "The code object of a debug agent's report: its line table names the source line of each wavefront.",
            metavar="FILE",
            kind=PATH,
        ),
    ] = None


@group(frozen=True, kw_only=True)
class IngestTunableOpOptions(RowOptions):
    """Options of ``kprof ingest tunableop``."""

    untuned: Annotated[
        str | None,
        Option("A result file with the Default times of the same problems.", metavar="FILE", kind=PATH),
    ] = None


@group(frozen=True, kw_only=True)
class IngestTraceOptions(TableFileOptions):
    """Options for the files that ``kprof ingest trace`` writes."""

    stacks: Annotated[bool, Option("Keep every Python frame in the tables.")] = False
    perfetto: Annotated[
        str | None, Option("Write one reduced trace for ui.perfetto.dev.", metavar="PATH", kind=PATH)
    ] = None
    speedscope: Annotated[str | None, Option("Write GPU time by stack for speedscope.", metavar="PATH", kind=PATH)] = (
        None
    )
