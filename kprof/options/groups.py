"""Options that several commands share, in groups of related options."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any

from kprof.condition import CONDITIONS, WARM
from kprof.errors import KprofError
from kprof.options.kinds import (
    ASSIGNMENTS,
    BYTES,
    GRID,
    LISTED,
    NAMES,
    PATH,
    PATHS,
    PROBLEMS,
    SUPPLIED,
    SWITCHES,
    WORDS,
)
from kprof.options.option import Option, Options, group


@group(frozen=True, kw_only=True)
class DisplayOptions(Options):
    """Options of every command: how its result is shown."""

    quiet: Annotated[bool, Option("Print only the verdict.", "-q")] = False
    verbose: Annotated[int, Option("More detail; -vv for all of it.", "-v", counted=True)] = 0
    no_color: Annotated[bool, Option("No colours, whatever the terminal can do.")] = False


@group(frozen=True, kw_only=True)
class GpuOptions(Options):
    """The GPUs to analyse for."""

    arch: Annotated[
        Sequence[str],
        Option(
            "GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else MI300X.",
            "-a",
            "GPU[,GPU]",
            NAMES,
            completes="architectures",
        ),
    ] = ()

    def one_gpu(self, command: str) -> str:
        """Return the GPU that ``arch`` names, or "" if it names none.

        Raises:
            KprofError: ``arch`` names several GPUs.
        """
        if len(self.arch) > 1:
            raise KprofError(f"{command} accepts one --arch", hint=f"--arch {self.arch[0]}")
        return self.arch[0] if self.arch else ""


@group(frozen=True, kw_only=True)
class ConditionOptions(Options):
    """The timing condition, such as warm caches, for which times are predicted."""

    condition: Annotated[
        str,
        Option(
            "State of the caches before a timed launch: warm (left by the previous launch), flushed (by reads), "
            "flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed conditions "
            "include the time of events.",
            metavar="NAME",
            choices=tuple(CONDITIONS),
        ),
    ] = WARM.name


@group(frozen=True, kw_only=True)
class OutputOptions(Options):
    """The file or folder that the result is written to."""

    output: Annotated[
        str | None, Option("File or folder to write; for a file, - is standard output.", "-o", "PATH", PATH)
    ] = None


@group(frozen=True, kw_only=True)
class RowOptions(Options):
    """The number of table rows to show."""

    top: Annotated[int, Option("Rows to show; 0: all.", "-n", "N", least=0)] = 20

    @property
    def rows(self) -> int:
        """Maximum number of rows."""
        return self.top or sys.maxsize


@group(frozen=True, kw_only=True)
class WorkerOptions(Options):
    """The number of worker processes."""

    jobs: Annotated[int, Option("Worker processes; 0: one for each core.", "-j", "N", least=0)] = 0


@group(frozen=True, kw_only=True)
class ClusterOptions(Options):
    """A Dask cluster that does the work instead of local processes."""

    scheduler: Annotated[
        str | None, Option("Dask scheduler whose workers do the work: tcp://host:8786.", metavar="URL")
    ] = None


@group(frozen=True, kw_only=True)
class TimeoutOptions(Options):
    """The time limit of one compile, measurement or query."""

    timeout: Annotated[
        float, Option("Time limit in seconds of one compile, measurement or query.", metavar="SECONDS", least=0.1)
    ] = 300.0


@group(frozen=True, kw_only=True)
class ProgramOptions(Options):
    """The time limit of the program that a command runs."""

    time_limit: Annotated[
        float | None,
        Option("Time limit in seconds of the program after --; 3600 by default.", metavar="SECONDS", least=1),
    ] = None


@group(frozen=True, kw_only=True)
class TritonOptions(Options):
    """The Triton release to compile with."""

    triton: Annotated[
        Sequence[str],
        Option(
            "The Triton to compile with: a release (downloaded once), 'installed' (the default), a .whl file, or a "
            "Python interpreter that has Triton. For a comparison, repeat the option, old to new.",
            "-t",
            "VERSION|WHEEL|PYTHON",
            LISTED,
        ),
    ] = ()

    def one_triton(self, command: str) -> str:
        """Return the Triton that ``triton`` names, or "" if it names none.

        Raises:
            KprofError: ``triton`` names several Tritons.
        """
        if len(self.triton) > 1:
            raise KprofError(f"{command} accepts one --triton", hint="kprof diff compares several.")
        return self.triton[0] if self.triton else ""


@group(frozen=True, kw_only=True)
class FailOptions(Options):
    """The severity that makes the exit code 1."""

    fail_on: Annotated[
        str | None,
        Option(
            "Exit with 1 for a finding of at least this severity: note, warning, error or never. The default is "
            "warning for comparisons and checks, and never for analyses.",
            metavar="SEVERITY",
            choices=("note", "warning", "error", "never"),
        ),
    ] = None


@group(frozen=True, kw_only=True)
class GrowthOptions(Options):
    """The growth of time that makes the exit code of a comparison 1."""

    fail_over: Annotated[
        float | None, Option("Exit with 1 if the GPU's time grew by more than this percentage.", metavar="PERCENT")
    ] = None


@group(frozen=True, kw_only=True)
class KnobOptions(GpuOptions):
    """The GPU, knobs, shape and launch that select one compile of a kernel."""

    config: Annotated[
        Mapping[str, Any],
        Option("Knobs: BLOCK_M=64,num_warps=4.", "-c", "K=V,...", ASSIGNMENTS),
    ] = field(default_factory=dict)
    shape: Annotated[
        Sequence[Mapping[str, Any]],
        Option(
            "Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.",
            "-s",
            "K=V,...",
            PROBLEMS,
        ),
    ] = ()
    case: Annotated[
        str | None,
        Option("Named shape of the kernel; some commands accept several, comma-separated.", metavar="NAME", kind=WORDS,
               completes="cases"),
    ] = None  # fmt: skip
    signature: Annotated[
        str | None,
        Option("Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.", metavar="TYPES"),
    ] = None
    constexpr: Annotated[
        Mapping[str, Any],
        Option("Compile-time arguments of a kernel without cases: BLOCK=1024.", metavar="K=V,...", kind=ASSIGNMENTS),
    ] = field(default_factory=dict)

    @property
    def sizes(self) -> Mapping[str, Any]:
        """Sizes of the problem; empty if ``shape`` is not given.

        Raises:
            KprofError: ``shape`` names several problems.
        """
        if len(self.shape) > 1:
            raise KprofError("--shape names several problems, but one is required", hint="--shape M=4096,N=4096")
        return self.shape[0] if self.shape else {}


@group(frozen=True, kw_only=True)
class CompileOptions(KnobOptions, WorkerOptions, ConditionOptions):
    """Compile options of source targets. For precompiled targets only ``arch`` applies.

    Attributes:
        use_cache: whether repeated compiles are served from kprof's cache.
    """

    all_configs: Annotated[
        bool, Option("Analyse each configuration that the kernel lists; for a capture, also kernels without a launch.")
    ] = False
    grid: Annotated[
        Sequence[int | str],
        Option(
            "Workgroups of the launch, for a kernel without cases or compiled code; axes separated by ;: 64;32 or "
            "'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.",
            metavar="X[;Y[;Z]]",
            kind=GRID,
        ),
    ] = ()
    env: Annotated[
        Mapping[str, str],
        Option("Triton's environment switches for the compile.", metavar="K=V,...", kind=SWITCHES),
    ] = field(default_factory=dict)
    value: Annotated[
        Mapping[str, int | Sequence[int]],
        Option(
            "Value of an argument that the launch does not define, or a tensor's contents as one number or FILE.json.",
            metavar="NAME=N|FILE",
            kind=SUPPLIED,
        ),
    ] = field(default_factory=dict)
    passes: Annotated[bool, Option("Also show what each compiler pass changed.")] = False
    use_cache: bool = True


@group(frozen=True, kw_only=True)
class WorkgroupOptions(Options):
    """LDS and wavefronts per workgroup, which the launch sets and compiled code may not contain."""

    lds: Annotated[int | None, Option("LDS per workgroup in bytes: 32768 or 32K.", metavar="BYTES", kind=BYTES)] = None
    num_warps: Annotated[
        int | None, Option("Wavefronts per workgroup; by default 4 for kprof occupancy without a target.", metavar="N")
    ] = None
    launch: Annotated[
        str | None,
        Option(
            "Launches of compiled kernels: a JSON object from kernel name to grid, num_warps, lds and values.",
            metavar="FILE",
            kind=PATH,
        ),
    ] = None


@group(frozen=True, kw_only=True)
class MeasuredOptions(Options):
    """Files with measurements of a kernel or a run."""

    counters: Annotated[
        Sequence[str],
        Option("Files or folders of a ROCm profiler that measured the kernel or run.", metavar="PATH", kind=PATHS),
    ] = ()
    trace: Annotated[
        Sequence[str],
        Option("PyTorch traces of the kernel or run, or folders of traces.", metavar="PATH", kind=PATHS),
    ] = ()


@group(frozen=True, kw_only=True)
class ThreadTraceOptions(MeasuredOptions):
    """Files with measurements, including a thread trace."""

    thread_trace: Annotated[
        str | None, Option("A decoded thread trace (ATT) of the kernel.", metavar="FOLDER", kind=PATH)
    ] = None


@group(frozen=True, kw_only=True)
class ChosenKernelOptions(Options):
    """The kernel to select in a target that contains several kernels."""

    kernel: Annotated[
        str | None,
        Option("Only this kernel of a target with several; for counters, all kernels whose names contain the text.",
               "-k", "NAME"),
    ] = None  # fmt: skip


@group(frozen=True, kw_only=True)
class ByOptions(Options):
    """The grouping of rows, or of nodes in a tree."""

    by: Annotated[
        str,
        Option(
            "Grouping of the rows. For a profile: name, shapes, module, phase, range, place, or module,name. For a "
            "tree: modules, operators or both. For counters: properties that identify a kernel, such as name,grid.",
            metavar="FIELD[,FIELD]",
        ),
    ] = ""


@group(frozen=True, kw_only=True)
class LinkedTargetOptions(Options):
    """Targets whose kernels occur in measurements."""

    target: Annotated[
        Sequence[str],
        Option(
            "A target, as for kprof analyze kernel, whose kernel is in the traces or files; repeatable.",
            metavar="TARGET",
            kind=PATHS,
            completes="targets",
        ),
    ] = ()


@group(frozen=True, kw_only=True)
class BudgetOptions(Options):
    """The time limit of a search."""

    budget: Annotated[
        float, Option("Seconds after which no further compile is started; 0: no limit.", metavar="SECONDS", least=0)
    ] = 60.0

    @property
    def seconds(self) -> float:
        """Time limit in seconds; infinite without a limit."""
        return self.budget or math.inf


@group(frozen=True, kw_only=True)
class RunOptions(Options):
    """Whether a search may run a recorded program again."""

    run: Annotated[
        bool,
        Option("Run a capture's program again up to the launch, to try other tiles; else try only compiler options."),
    ] = True


@group(frozen=True, kw_only=True)
class SearchOptions(BudgetOptions, RunOptions):
    """Limits of a search for configurations."""


@group(frozen=True, kw_only=True)
class SpaceOptions(Options):
    """The search space."""

    space: Annotated[
        str | None,
        Option("Knobs and their values (TOML, YAML, JSON) instead of the kernel's own.", metavar="FILE", kind=PATH),
    ] = None


@group(frozen=True, kw_only=True)
class VerifyOptions(Options):
    """Whether predictions are verified on a GPU."""

    verify: Annotated[bool, Option("Also measure the short list on this machine's GPU.")] = False


@group(frozen=True, kw_only=True)
class DeviceNameOptions(Options):
    """The GPU's name in file names."""

    device_name: Annotated[
        str | None, Option("Device name in file names, if it is not the product's usual one.", metavar="NAME")
    ] = None


@group(frozen=True, kw_only=True)
class TableOptions(Options):
    """The dispatch table to look up configurations in."""

    table: Annotated[
        str | None,
        Option("Dispatch table; by default $KPROF_DISPATCH_TABLE, if set.", metavar="FILE", kind=PATH),
    ] = None


@group(frozen=True, kw_only=True)
class SeedOptions(Options):
    """The random seed of inputs."""

    seed: Annotated[int, Option("Seed of the inputs.", metavar="N", least=0)] = 0


@group(frozen=True, kw_only=True)
class CureOptions(Options):
    """The time limit of an optional search for better knobs."""

    advise: Annotated[
        float, Option("Seconds to search for better knobs by recompiling; 0: no search.", metavar="SECONDS", least=0)
    ] = 0.0


@group(frozen=True, kw_only=True)
class StrictOptions(Options):
    """Whether incomplete input is an error."""

    strict: Annotated[bool, Option("Fail when anything is missing, unreadable or only assumed.")] = False
