"""Options of commands that run programs and kernels."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar

from kprof.options.groups import (
    BudgetOptions,
    ByOptions,
    ConditionOptions,
    CureOptions,
    GpuOptions,
    KnobOptions,
    OutputOptions,
    ProgramOptions,
    RowOptions,
    SeedOptions,
    StrictOptions,
    TableOptions,
    TimeoutOptions,
    WorkerOptions,
)
from kprof.options.kinds import ASSIGNMENTS, NAMES, PATH
from kprof.options.option import Option, group


@group(frozen=True, kw_only=True)
class CaptureOptions(GpuOptions, OutputOptions, StrictOptions, TimeoutOptions, WorkerOptions):
    """Options of ``kprof.capture``."""

    force: Annotated[bool, Option("Replace an existing capture.")] = False
    execute: Annotated[bool, Option("Run the kernels if there is a ROCm GPU.")] = True
    cache: Annotated[bool, Option("Use the cache of compiled kernels.")] = True
    arithmetic: Annotated[bool, Option("Compute torch's matrix products; else their results are zeros.")] = True
    argv: Annotated[bool, Option("Store command lines without their secrets; else omit them.")] = True
    full_values: Annotated[bool, Option("Compute large GPU tensors too, in host memory.")] = False
    keep_values: Annotated[
        int,
        Option(
            "Maximum number of integers stored for a tensor that loops depend on.", metavar="N", least=0, most=1 << 20
        ),
    ] = 4096
    operators: Annotated[bool, Option("Record each call of torch operators, for kprof profile.")] = False


@group(frozen=True, kw_only=True)
class ProfileOptions(
    GpuOptions,
    ConditionOptions,
    OutputOptions,
    RowOptions,
    BudgetOptions,
    ByOptions,
    CureOptions,
    ProgramOptions,
    WorkerOptions,
):
    """Options of ``kprof.profile``."""

    within: Annotated[str, Option("Count only calls inside torch.profiler.record_function(NAME).", metavar="NAME")] = ""
    html: Annotated[
        str | None,
        Option("Write one page with all results, for a browser. - is standard output.", metavar="PATH",
               kind=PATH),
    ] = None  # fmt: skip
    layers: Annotated[
        str,
        Option("Predict a model with N layers from runs with 1 and 2 as {layers}; 4,8,N: from 4 and 8.", metavar="N"),
    ] = ""

    @property
    def rows_by(self) -> str:
        """Fields that the rows are grouped by; ``name`` by default."""
        return self.by or "name"


@group(frozen=True, kw_only=True)
class MeasureOptions(KnobOptions, SeedOptions, TableOptions, TimeoutOptions):
    """Options of ``kprof.measure``."""

    without: ClassVar[frozenset[str]] = frozenset({"arch", "signature", "constexpr"})

    provider: Annotated[
        Sequence[str],
        Option(
            "Implementations to run, comma-separated: triton, tuned, torch, sdpa, aiter, ck, alternatives. "
            "By default triton, and torch if it supports the case.",
            "-p",
            "NAME[,NAME]",
            NAMES,
        ),
    ] = ()
    limit: Annotated[
        Mapping[str, Any],
        Option("Limits of the machine that override kprof's: gbs=4800,fp16=990.", metavar="K=V,...", kind=ASSIGNMENTS),
    ] = field(default_factory=dict)
    measure_limits: Annotated[bool, Option("Measure unknown limits with a copy and a matrix product.")] = True
    check_only: Annotated[bool, Option("Only compare with the reference, without timing.")] = False
    graph: Annotated[bool | None, Option("Always or never launch through a device graph.")] = None
    warmup_ms: Annotated[float, Option("Milliseconds to run before measuring.", metavar="MS", least=0)] = 25.0
    rep_ms: Annotated[float, Option("Milliseconds to measure.", metavar="MS", least=1)] = 100.0
    inputs: Annotated[
        str,
        Option(
            "Values of the inputs: own, zeros, same, integers or normal. They affect clocks, not correctness: zeros "
            "can be a fifth faster.",
            metavar="KIND",
        ),
    ] = "own"
    profile: Annotated[str | None, Option("Write PyTorch profiler traces to a folder.", metavar="DIR", kind=PATH)] = (
        None
    )
    keep: Annotated[
        str | None,
        Option(
            "Keep the instructions, MLIR, metadata, launches and kprof's report of each Triton kernel that ran, and "
            "the times, in a new folder for kprof validate.",
            metavar="DIR",
            kind=PATH,
        ),
    ] = None
    write_table: Annotated[
        str | None,
        Option("Add the fastest configurations to a dispatch table for kprof select.", metavar="FILE", kind=PATH),
    ] = None
    gpus: Annotated[
        int, Option("Number of GPUs that run the kernel at once: 2 for both GCDs of an MI250X.", metavar="N", least=1)
    ] = 1


@group(frozen=True, kw_only=True)
class BenchOptions(MeasureOptions, OutputOptions):
    """Options of ``kprof bench``."""


@group(frozen=True, kw_only=True)
class SelectOptions(KnobOptions, ConditionOptions, TableOptions):
    """Options of ``kprof select``."""

    without: ClassVar[frozenset[str]] = frozenset({"config", "case", "signature", "constexpr"})

    predict: Annotated[
        bool | None,
        Option("Compile what was not measured and predict its time; by default if Triton is installed."),
    ] = None


@group(frozen=True, kw_only=True)
class OracleOptions(GpuOptions, SeedOptions, TimeoutOptions, WorkerOptions):
    """Options of ``kprof.oracle`` and ``kprof oracle``."""

    memory: Annotated[
        int,
        Option("Memory limit of a candidate and its files in MiB, without Python, Triton and torch.", metavar="MIB",
               least=1),
    ] = 4096  # fmt: skip
    any_python: Annotated[
        bool,
        Option("Run candidates that contain other Python in a sandbox, and judge their Triton functions."),
    ] = False
    allow_network: Annotated[bool, Option("Allow candidates to use the network.")] = False


@group(frozen=True, kw_only=True)
class OracleCommandOptions(OracleOptions):
    """Options of ``kprof oracle``."""

    reference: Annotated[
        str | None,
        Option(
            "The kernel to compare with: a bundled kernel, or a file with a KERNEL, which is imported; @CASE selects "
            "one of its shapes.",
            metavar="KERNEL[@CASE]",
        ),
    ] = None
