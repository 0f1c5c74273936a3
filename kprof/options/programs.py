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

    force: Annotated[bool, Option("Replace a capture that is there.")] = False
    execute: Annotated[bool, Option("Let kernels run where there is a ROCm GPU.")] = True
    cache: Annotated[bool, Option("Use the cache of compiled kernels.")] = True
    arithmetic: Annotated[bool, Option("Compute torch's matrix products, or give zeros.")] = True
    argv: Annotated[bool, Option("Keep command lines, without their secrets, or leave them out.")] = True
    full_values: Annotated[bool, Option("Compute large tensors of the GPU too, in the machine's memory.")] = False
    keep_values: Annotated[
        int,
        Option("Integers of a tensor that are kept, where loops depend on them.", metavar="N", least=0, most=1 << 20),
    ] = 4096
    operators: Annotated[bool, Option("Keep each call of torch's own operators, for kprof profile.")] = False


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

    within: Annotated[str, Option("Only what runs in torch.profiler.record_function(NAME).", metavar="NAME")] = ""
    html: Annotated[
        str | None,
        Option("Write one page of everything that is known, for a browser. - is standard output.", metavar="PATH",
               kind=PATH),
    ] = None  # fmt: skip
    layers: Annotated[
        str,
        Option("The model's layers, from runs with 1 and 2 in place of {layers}; 4,8,N: with 4 and 8.", metavar="N"),
    ] = ""

    @property
    def rows_by(self) -> str:
        """Grouping of the rows; by default by name."""
        return self.by or "name"


@group(frozen=True, kw_only=True)
class MeasureOptions(KnobOptions, SeedOptions, TableOptions, TimeoutOptions):
    """Options of ``kprof.measure``."""

    without: ClassVar[frozenset[str]] = frozenset({"arch", "signature", "constexpr"})

    provider: Annotated[
        Sequence[str],
        Option(
            "Who computes it, comma separated: triton, tuned, torch, sdpa, aiter, ck, alternatives. "
            "By default triton, and torch where it can.",
            "-p",
            "NAME[,NAME]",
            NAMES,
        ),
    ] = ()
    limit: Annotated[
        Mapping[str, Any],
        Option("The machine's limits, where known better: gbs=4800,fp16=990.", metavar="K=V,...", kind=ASSIGNMENTS),
    ] = field(default_factory=dict)
    measure_limits: Annotated[bool, Option("Measure limits that are not known with a copy and a matrix product.")] = (
        True
    )
    check_only: Annotated[bool, Option("Compare with the reference, do not time.")] = False
    graph: Annotated[bool | None, Option("Always or never launch through a device graph.")] = None
    warmup_ms: Annotated[float, Option("Milliseconds to run before measuring.", metavar="MS", least=0)] = 25.0
    rep_ms: Annotated[float, Option("Milliseconds to measure.", metavar="MS", least=1)] = 100.0
    inputs: Annotated[
        str,
        Option(
            "Numbers in the inputs: own, zeros, same, integers or normal. They change clocks, not results: zeros can "
            "be a fifth faster.",
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
        str | None, Option("Add the fastest to a dispatch table for kprof select.", metavar="FILE", kind=PATH)
    ] = None
    gpus: Annotated[
        int, Option("GPUs that run it at the same time: 2 for both GCDs of an MI250X.", metavar="N", least=1)
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
        Option("Compile what was not measured and predict its time; by default where there is a Triton."),
    ] = None


@group(frozen=True, kw_only=True)
class OracleOptions(GpuOptions, SeedOptions, TimeoutOptions, WorkerOptions):
    """Options of ``kprof.oracle`` and ``kprof oracle``."""

    memory: Annotated[
        int,
        Option("MiB that a candidate and its files may take, besides Python, Triton and torch.", metavar="MIB",
               least=1),
    ] = 4096  # fmt: skip
    any_python: Annotated[
        bool,
        Option("Run candidates with other Python, contained, and judge the Triton functions that they define."),
    ] = False
    allow_network: Annotated[bool, Option("Leave the network to candidates.")] = False


@group(frozen=True, kw_only=True)
class OracleCommandOptions(OracleOptions):
    """Options of ``kprof oracle``."""

    reference: Annotated[
        str | None,
        Option(
            "What candidates are compared with: a bundled kernel, or a file with a KERNEL, which is imported; @CASE "
            "for one of its shapes.",
            metavar="KERNEL[@CASE]",
        ),
    ] = None
