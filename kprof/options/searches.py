"""Options of commands that search configurations or compare compiles."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar

from kprof.options.groups import (
    BudgetOptions,
    ClusterOptions,
    CompileOptions,
    CureOptions,
    DeviceNameOptions,
    FailOptions,
    GpuOptions,
    MeasuredOptions,
    OutputOptions,
    SearchOptions,
    SpaceOptions,
    TritonOptions,
    VerifyOptions,
    WorkerOptions,
)
from kprof.options.kinds import ASSIGNMENTS, NAMES, PATH, TEXTS
from kprof.options.option import Option, group


@group(frozen=True, kw_only=True)
class AdviseOptions(CompileOptions, SearchOptions, MeasuredOptions):
    """Options of ``kprof.advise``."""

    without: ClassVar[frozenset[str]] = frozenset({"all_configs", "passes"})

    search: Annotated[bool, Option("Try other knobs; else only compare findings with --counters and --trace.")] = True


@group(frozen=True, kw_only=True)
class TuneOptions(
    CompileOptions, SearchOptions, ClusterOptions, SpaceOptions, VerifyOptions, DeviceNameOptions, OutputOptions
):
    """Options of ``kprof.tune`` and ``kprof tune``."""

    without: ClassVar[frozenset[str]] = frozenset({"all_configs", "env", "passes"})

    shape_file: Annotated[
        str | None,
        Option("Further problems from a YAML, JSON or TOML file: - {M: 4096, N: 4096, K: 4096}", metavar="FILE",
               kind=PATH),
    ] = None  # fmt: skip
    short_list: Annotated[int, Option("Length of the short list.", metavar="N", least=1, most=1000)] = 8
    write: Annotated[
        Sequence[str],
        Option("Also write, to -o: triton, aiter, vllm, sglang, tune_gemm, dispatch.", metavar="NAME,...", kind=NAMES),
    ] = ()
    measured: Annotated[
        str | None,
        Option("CSV of measured times (knobs, sizes, time_us) that correct the model.", metavar="FILE", kind=PATH),
    ] = None
    resume: Annotated[bool, Option("Continue an earlier search; else start over.")] = True
    key: Annotated[
        Mapping[str, Any],
        Option("A key of the written format, with the knob or value for it: GROUP_SIZE_M=1.", metavar="K=V,...",
               kind=ASSIGNMENTS),
    ] = field(default_factory=dict)  # fmt: skip


@group(frozen=True, kw_only=True)
class DiffOptions(CompileOptions, BudgetOptions, FailOptions, TritonOptions):
    """Options of ``kprof.diff`` and ``kprof diff``."""

    without: ClassVar[frozenset[str]] = frozenset({"passes"})

    package: Annotated[
        Sequence[str],
        Option("A further package that the program after -- needs.", metavar="REQUIREMENT", kind=TEXTS),
    ] = ()
    explain: Annotated[
        bool | None,
        Option("Search for the cause and fixes by recompiling; the default with --triton, possible with two captures."),
    ] = None
    since: Annotated[
        str,
        Option("Compare the work tree with this git revision: kernels whose machine code changed, and tests of them.",
               metavar="REVISION"),
    ] = ""  # fmt: skip
    tolerance: Annotated[
        Mapping[str, Any],
        Option("Tolerated growth: vgpr_spills=4,loop_instructions=20%.", metavar="K=V,...", kind=ASSIGNMENTS),
    ] = field(default_factory=dict)


@group(frozen=True, kw_only=True)
class BisectOptions(DiffOptions):
    """Options of ``kprof.bisect`` and ``kprof bisect``."""

    without: ClassVar[frozenset[str]] = frozenset({*DiffOptions.without, "triton", "explain", "since"})

    good: Annotated[str, Option("Triton release with which the kernel was good.", metavar="VERSION")] = ""
    bad: Annotated[
        str, Option("Triton release with which the kernel is bad; by default the installed one.", metavar="VERSION")
    ] = "installed"


@group(frozen=True, kw_only=True)
class CheckOptions(GpuOptions, CureOptions, WorkerOptions):
    """Options of ``kprof.check`` and ``kprof check``."""

    baseline: Annotated[
        str | None, Option("Baseline file instead of the configuration's.", metavar="PATH", kind=PATH)
    ] = None
    update_baseline: Annotated[bool, Option("Write the current state to the baseline file, without a check.")] = False
    init: Annotated[
        bool,
        Option("Write kprof.toml, its baseline and a GitHub workflow for the kernels and programs of this folder."),
    ] = False
