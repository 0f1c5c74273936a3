"""Options of commands that compile or read kernels and analyse them."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from kprof.options.groups import (
    ChosenKernelOptions,
    ClusterOptions,
    CompileOptions,
    FailOptions,
    LinkedTargetOptions,
    OutputOptions,
    ProgramOptions,
    ThreadTraceOptions,
    TimeoutOptions,
    WorkgroupOptions,
)
from kprof.options.kinds import PATH, PATHS
from kprof.options.option import Option, group


@group(frozen=True, kw_only=True)
class KernelOptions(CompileOptions, WorkgroupOptions, ThreadTraceOptions, ChosenKernelOptions, ProgramOptions):
    """Options for kernels that are compiled or read, and compared with measurements."""

    try_cures: Annotated[
        bool,
        Option(
            "Compile cheap fixes for findings that cost more than 5 % of the time: up to a dozen compiler options; "
            "after two seconds only the first is still started. KPROF_TRY=0 disables them everywhere.",
            flag="--try",
        ),
    ] = True

    source: Annotated[
        Sequence[str],
        Option(
            "A folder with the sources of precompiled targets; the current folder is always searched too.",
            metavar="FOLDER",
            kind=PATHS,
        ),
    ] = ()


@group(frozen=True, kw_only=True)
class AnalyzeOptions(KernelOptions, FailOptions):
    """Options of ``kprof.analyze``."""

    dump: Annotated[
        str | None,
        Option("Write each stage of the compiler, and with --passes each pass, to this folder.", metavar="FOLDER",
               kind=PATH),
    ] = None  # fmt: skip


@group(frozen=True, kw_only=True)
class AnalyzeCommandOptions(AnalyzeOptions):
    """Options of ``kprof analyze kernel``."""

    timeline: Annotated[
        str | None,
        Option("Write the modelled wavefronts of a SIMD for ui.perfetto.dev.", metavar="PATH", kind=PATH),
    ] = None
    watch: Annotated[bool, Option("Analyse again at each save of the target's files, and show what changed.")] = False


@group(frozen=True, kw_only=True)
class ReportOptions(KernelOptions, OutputOptions):
    """Options of ``kprof.report``."""

    max_size: Annotated[
        float | None,
        Option(
            "Maximum size of the page of kernels in megabytes, 1 by default; 0: no limit.",
            metavar="MB",
        ),
    ] = None


@group(frozen=True, kw_only=True)
class RunReportOptions(KernelOptions, LinkedTargetOptions, OutputOptions, ClusterOptions):
    """Options of ``kprof.run_report``: traces and counters, and how the kernels in them are compiled."""

    without: ClassVar[frozenset[str]] = frozenset({"thread_trace", "time_limit"})


@group(frozen=True, kw_only=True)
class ReportPageOptions(ReportOptions, RunReportOptions):
    """Options of ``kprof report``, for the page of kernels and for the page of a run."""

    without: ClassVar[frozenset[str]] = frozenset({"scheduler"})


@group(frozen=True, kw_only=True)
class ValidateOptions(KernelOptions):
    """Options of ``kprof.validate`` and ``kprof validate``."""

    without: ClassVar[frozenset[str]] = frozenset({"passes"})


@group(frozen=True, kw_only=True)
class WatchOptions(CompileOptions):
    """Options of ``kprof analyze kernel --watch``."""

    without: ClassVar[frozenset[str]] = frozenset({"all_configs", "passes"})


@group(frozen=True, kw_only=True)
class ViewOptions(CompileOptions, ThreadTraceOptions, TimeoutOptions):
    """Options of ``kprof view``."""

    without: ClassVar[frozenset[str]] = frozenset({"all_configs", "passes"})

    port: Annotated[int, Option("Port on the loopback address; 0: any free port.", metavar="N", least=0)] = 0
    browser: Annotated[bool, Option("Open the page in a browser.")] = True


@group(frozen=True, kw_only=True)
class ControlFlowOptions(CompileOptions, ChosenKernelOptions, OutputOptions):
    """Options of ``kprof.draw_control_flow`` and ``kprof draw flow``."""

    without: ClassVar[frozenset[str]] = frozenset({"all_configs", "value", "passes", "jobs"})


@group(frozen=True, kw_only=True)
class CounterPlanOptions(CompileOptions, OutputOptions):
    """Options of ``kprof.counter_plan`` and ``kprof counters plan``."""

    without: ClassVar[frozenset[str]] = frozenset({"all_configs", "passes", "jobs"})


@group(frozen=True, kw_only=True)
class OccupancyOptions(CompileOptions, WorkgroupOptions):
    """Options of ``kprof.occupancy`` and ``kprof occupancy``."""

    without: ClassVar[frozenset[str]] = frozenset({"all_configs", "grid", "env", "value", "passes", "jobs"})

    vgpr: Annotated[int | None, Option("VGPRs of a wavefront, per lane.", metavar="N")] = None
    agpr: Annotated[int | None, Option("AGPRs of a wavefront, per lane.", metavar="N")] = None
    sgpr: Annotated[int | None, Option("SGPRs of a wavefront, as in .sgpr_count.", metavar="N")] = None
    wavefront_size: Annotated[int | None, Option("32 or 64 lanes.", metavar="N")] = None
    mode: Annotated[str | None, Option("wgp or cu, on RDNA.", metavar="MODE")] = None
    method: Annotated[
        str, Option("hardware, llvm (what the compiler prints) or guide (AMD's formula).", metavar="NAME")
    ] = "hardware"
    llvm: Annotated[int | None, Option("LLVM's major version, for --method llvm.", metavar="N")] = None
    curve: Annotated[
        str | None,
        Option("Draw occupancy over vgpr, lds or num-warps.", metavar="RESOURCE",
               choices=("vgpr", "lds", "num-warps")),
    ] = None  # fmt: skip
