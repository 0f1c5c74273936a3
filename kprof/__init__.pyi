"""What type checkers and editors know of ``kprof``; made by ``make docs`` from ``kprof.options``."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from kprof.api.advise import Advised
from kprof.api.analyze import Analysis
from kprof.api.budget import budget as budget
from kprof.api.check import CheckResult
from kprof.api.counter_plan import CounterPlan
from kprof.api.counters.diff import CounterDiff
from kprof.api.counters.metrics import CounterMetrics
from kprof.api.counters.roofline import CounterRoofline
from kprof.api.diagnose import Diagnosed
from kprof.api.diff import Comparison, Side, Tell
from kprof.api.draw_control_flow import ControlFlow
from kprof.api.draw_layout import LayoutDrawing
from kprof.api.live.answers import OracleAnswer
from kprof.api.live.session import Session as Session
from kprof.api.measure import Measurements
from kprof.api.occupancy import Occupancies
from kprof.api.options import Path_
from kprof.api.oracle import Source
from kprof.api.profile import Profile
from kprof.api.read_counters import read_counters as read_counters
from kprof.api.read_mlir import read_mlir as read_mlir
from kprof.api.read_results import read_results as read_results
from kprof.api.read_thread_trace import read_thread_trace as read_thread_trace
from kprof.api.read_trace import read_trace as read_trace
from kprof.api.read_tunableop import read_tunableop as read_tunableop
from kprof.api.run_report import RunReport
from kprof.api.trace.breakdown import TraceBreakdown
from kprof.api.trace.diff import TraceDiff
from kprof.api.trace.gaps import TraceGaps
from kprof.api.trace.ops import TraceOps
from kprof.api.trace.path import TracePath
from kprof.api.trace.ranks import TraceRanks
from kprof.api.trace.report import TraceReport
from kprof.api.trace.steps import TraceSteps
from kprof.api.trace.top import TraceTop
from kprof.api.trace.tree import TraceTree
from kprof.api.trace_summary import TraceSummary
from kprof.api.tune import Tuned
from kprof.api.validate import Validation
from kprof.bench.document import Measurement
from kprof.errors import CompileError as CompileError
from kprof.errors import HardwareError as HardwareError
from kprof.errors import InputError as InputError
from kprof.errors import KprofError as KprofError
from kprof.errors import TargetError as TargetError
from kprof.kernel_spec import Kernel as Kernel
from kprof.kernel_spec import Launch as Launch
from kprof.kernel_spec import Tensor as Tensor
from kprof.recording.scope import capture as capture
from kprof.targets.target import TargetLike
from kprof.tuning.autotune import perf_model as perf_model
from kprof.tuning.autotune import prune_configs as prune_configs
from kprof.tuning.choice import select as select
from kprof.tuning.helion_prior import helion_prior as helion_prior
from kprof.tuning.inductor_prior import inductor_prior as inductor_prior
from kprof.tuning.ranking import rank_configs as rank_configs
from kprof.tuning.search_result import Progress
from kprof.version import __version__ as __version__
from kprof_servers.lint_configs import LintedConfigs
from kprof_servers.server_configs import NeededConfigs

__all__ = [
    "CompileError",
    "HardwareError",
    "InputError",
    "Kernel",
    "KprofError",
    "Launch",
    "Session",
    "TargetError",
    "Tensor",
    "__version__",
    "advise",
    "analyze",
    "bisect",
    "budget",
    "capture",
    "check",
    "counter_diff",
    "counter_metrics",
    "counter_plan",
    "counter_roofline",
    "diagnose",
    "diff",
    "draw_control_flow",
    "draw_layout",
    "helion_prior",
    "inductor_prior",
    "lint_configs",
    "measure",
    "occupancy",
    "oracle",
    "perf_model",
    "profile",
    "prune_configs",
    "rank_configs",
    "read_counters",
    "read_mlir",
    "read_results",
    "read_thread_trace",
    "read_trace",
    "read_tunableop",
    "report",
    "run_report",
    "select",
    "server_configs",
    "trace_breakdown",
    "trace_diff",
    "trace_gaps",
    "trace_ops",
    "trace_path",
    "trace_ranks",
    "trace_report",
    "trace_steps",
    "trace_summary",
    "trace_top",
    "trace_tree",
    "tune",
    "validate",
]

def advise(
    target: TargetLike | None = ...,
    *,
    arch: str | Sequence[str] = ...,
    config: Mapping[str, Any] | str | None = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    signature: str | None = None,
    constexpr: Mapping[str, Any] | str | None = ...,
    jobs: int = 0,
    condition: str = "warm",
    grid: str | int | Sequence[int | str] | None = ...,
    env: Mapping[str, Any] | str | None = ...,
    value: Mapping[str, int | Sequence[int]] | str | None = ...,
    budget: float = 60.0,
    run: bool = True,
    counters: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    trace: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    search: bool = True,
    program: Sequence[str] | None = ...,
    progress: Callable[[int, str], None] | None = ...,
    tell: Callable[[str], None] | None = ...,
) -> Advised:
    """Recompile a kernel with other knob values, and report what they change. No GPU is used.

    With ``counters`` or ``trace``, the findings are first compared with the measurements. Spills, registers, occupancy
    and instructions are read from the compiled code; time is predicted.

    For a kernel of a capture, other compiler options are tried on the recorded TTIR. Other tiles need the recorded
    program to run again up to the launch, which is done only if the program's files exist and are unchanged.

    Args:
        target: a bundled kernel, a file with a ``KERNEL``, a :class:`kprof.Kernel`, or a capture; ``CAPTURE::NAME`` is
            one kernel of a capture. With ``program``, a Python file to run, or ``None``.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: State of the caches before a timed launch: warm (left by the previous launch), flushed (by
            reads), flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed
            conditions include the time of events.
        grid: Workgroups of the launch, for a kernel without cases or compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: Value of an argument that the launch does not define, or a tensor's contents as one number or
            FILE.json.
        budget: Seconds after which no further compile is started; 0: no limit.
        run: Run a capture's program again up to the launch, to try other tiles; else try only compiler options.
        counters: Files or folders of a ROCm profiler that measured the kernel or run.
        trace: PyTorch traces of the kernel or run, or folders of traces.
        search: Try other knobs; else only compare findings with --counters and --trace.
        program: a program to record and advise on: its command, or only its arguments if ``target`` is its file.
        progress: called with the number of finished compiles and a short text.
        tell: called with a description of each program that is run.

    Raises:
        TargetError: the kernel does not exist or has no cases, or the target holds several kernels.
        CompileError: the unchanged kernel does not compile.
        InputError: a measurement cannot be read, or does not contain the kernel.
        KprofError: more than one architecture is named, or neither a search nor a comparison is requested.
    """

def analyze(
    *targets: TargetLike,
    arch: str | Sequence[str] = ...,
    config: Mapping[str, Any] | str | None = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    signature: str | None = None,
    constexpr: Mapping[str, Any] | str | None = ...,
    jobs: int = 0,
    condition: str = "warm",
    all_configs: bool = False,
    grid: str | int | Sequence[int | str] | None = ...,
    env: Mapping[str, Any] | str | None = ...,
    value: Mapping[str, int | Sequence[int]] | str | None = ...,
    passes: bool = False,
    lds: int | str | None = None,
    num_warps: int | None = None,
    launch: str | os.PathLike[str] | None = None,
    counters: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    trace: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    thread_trace: str | os.PathLike[str] | None = None,
    kernel: str | None = None,
    time_limit: float | None = None,
    try_cures: bool = True,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    fail_on: str | None = None,
    dump: str | os.PathLike[str] | None = None,
    keep_going: bool = ...,
    keep_programs: bool = ...,
    program: Sequence[str] | None = ...,
) -> Analysis:
    """Compile or read kernels, and analyse how they will run on an AMD GPU. No GPU is used.

    If ``arch`` is empty, sources are compiled for the GPU of the measurements. ``kernels[0].measured`` compares the
    model with ``counters``, ``trace`` and ``thread_trace``.

    Args:
        targets: a bundled kernel's name, ``"file.py::function"``, a ``@triton.jit`` function, a :class:`kprof.Kernel`,
            an assembly file, a code object, HIP source, a Triton cache directory, a capture, or a report that
            ``--json`` wrote. Only Python files are run, as ``import`` runs them.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: State of the caches before a timed launch: warm (left by the previous launch), flushed (by
            reads), flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed
            conditions include the time of events.
        all_configs: Analyse each configuration that the kernel lists; for a capture, also kernels without a launch.
        grid: Workgroups of the launch, for a kernel without cases or compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: Value of an argument that the launch does not define, or a tensor's contents as one number or
            FILE.json.
        passes: Also show what each compiler pass changed.
        lds: LDS per workgroup in bytes: 32768 or 32K.
        num_warps: Wavefronts per workgroup; by default 4 for kprof occupancy without a target.
        launch: Launches of compiled kernels: a JSON object from kernel name to grid, num_warps, lds and values.
        counters: Files or folders of a ROCm profiler that measured the kernel or run.
        trace: PyTorch traces of the kernel or run, or folders of traces.
        thread_trace: A decoded thread trace (ATT) of the kernel.
        kernel: Only this kernel of a target with several; for counters, all kernels whose names contain the text.
        time_limit: Time limit in seconds of the program after --; 3600 by default.
        try_cures: Compile cheap fixes for findings that cost more than 5 % of the time: up to a dozen compiler
            options; after two seconds only the first is still started. KPROF_TRY=0 disables them everywhere.
        source: A folder with the sources of precompiled targets; the current folder is always searched too.
        fail_on: Exit with 1 for a finding of at least this severity: note, warning, error or never. The default is
            warning for comparisons and checks, and never for analyses.
        dump: Write each stage of the compiler, and with --passes each pass, to this folder.
        keep_going: set the verdict to ``cannot_tell`` instead of raising if a target cannot be analysed.
        keep_programs: keep the instructions, a few megabytes per kernel; pages and timelines need them.
        program: arguments of the one Python file in ``targets``, which is run as ``__main__`` in its own process
            on the simulated GPU; the kernels it launches are analysed. ``None`` runs nothing.

    Raises:
        TargetError: a target does not exist, is incomplete, or cannot use one of the options.
        CompileError: a kernel does not compile, or Triton is missing.
        InputError: a file cannot be read.
        HardwareError: an architecture is not known.
    """

def bisect(
    target: str | os.PathLike[str] | None = ...,
    *,
    arch: str | Sequence[str] = ...,
    config: Mapping[str, Any] | str | None = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    signature: str | None = None,
    constexpr: Mapping[str, Any] | str | None = ...,
    jobs: int = 0,
    condition: str = "warm",
    all_configs: bool = False,
    grid: str | int | Sequence[int | str] | None = ...,
    env: Mapping[str, Any] | str | None = ...,
    value: Mapping[str, int | Sequence[int]] | str | None = ...,
    budget: float = 60.0,
    fail_on: str | None = None,
    package: str | Sequence[str] = ...,
    tolerance: Mapping[str, Any] | str | None = ...,
    good: str = "",
    bad: str = "installed",
    program: Sequence[str] | None = ...,
    progress: Tell | None = ...,
    waiting: Tell | None = ...,
) -> Comparison:
    """Find the Triton release in which a kernel got worse, explain why, and search for a fix. No GPU is used.

    Equivalent to :func:`kprof.diff` of the two releases and the minor releases between them, with an explanation of
    the step with the largest regression.

    Args:
        target: a kernel, or a capture.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: State of the caches before a timed launch: warm (left by the previous launch), flushed (by
            reads), flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed
            conditions include the time of events.
        all_configs: Analyse each configuration that the kernel lists; for a capture, also kernels without a launch.
        grid: Workgroups of the launch, for a kernel without cases or compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: Value of an argument that the launch does not define, or a tensor's contents as one number or
            FILE.json.
        budget: Seconds after which no further compile is started; 0: no limit.
        fail_on: Exit with 1 for a finding of at least this severity: note, warning, error or never. The default is
            warning for comparisons and checks, and never for analyses.
        package: A further package that the program after -- needs.
        tolerance: Tolerated growth: vgpr_spills=4,loop_instructions=20%.
        good: Triton release with which the kernel was good.
        bad: Triton release with which the kernel is bad; by default the installed one.
        program: command to record under each release. If ``target`` is a Python file, only the arguments of that file.
        progress: called with a description of each step.
        waiting: called with a description of each download or wait.

    Raises:
        TargetError: the target does not exist or cannot be compiled again.
        CompileError: a kernel does not compile, or a Triton release cannot be installed.
    """

def check(
    config_file: Path_ | None = ...,
    *,
    arch: str | Sequence[str] = ...,
    advise: float = 0.0,
    jobs: int = 0,
    baseline: str | os.PathLike[str] | None = None,
    update_baseline: bool = False,
    init: bool = False,
) -> CheckResult:
    """Compile the kernels that ``[tool.kprof]`` names and compare them with budgets and a baseline. No GPU is used.

    Args:
        config_file: ``kprof.toml`` or ``pyproject.toml``; ``None`` searches the current folder and its parents.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        advise: Seconds to search for better knobs by recompiling; 0: no search.
        jobs: Worker processes; 0: one for each core.
        baseline: Baseline file instead of the configuration's.
        update_baseline: Write the current state to the baseline file, without a check.
        init: Write kprof.toml, its baseline and a GitHub workflow for the kernels and programs of this folder.

    Returns:
        The verdict. A kernel that does not compile raises no error: it makes the verdict ``cannot_tell``.

    Raises:
        KprofError: the configuration or the baseline cannot be read, or there is no baseline file to update.
        HardwareError: an architecture is not known.
    """

def counter_diff(
    before: str | os.PathLike[str],
    after: str | os.PathLike[str],
    *,
    arch: str | Sequence[str] = ...,
    kernel: str | None = None,
    by: str = "",
    dispatch: int | Sequence[int] = ...,
) -> CounterDiff:
    """Compare two profiled runs kernel by kernel and metric by metric, with the spread over dispatches.

    Kernels are the same if name, grid, workgroup, LDS and VGPRs are equal, and the agent if a run has several. A launch
    of two builds with different LDS or VGPRs is compared too if the match is unambiguous, and is marked.

    Times are scaled to the first run's number of dispatches. With --fail-over, the exit code is 2 (cannot tell) for an
    incomplete run, or for a kernel without a partner or times. If the runs are complete and the compared kernels are
    already too slow, the exit code is 1.

    Args:
        before: The run to compare with: files of any ROCm profiler.
        after: The run to check.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        kernel: Only this kernel of a target with several; for counters, all kernels whose names contain the text.
        by: Grouping of the rows. For a profile: name, shapes, module, phase, range, place, or module,name. For a
            tree: modules, operators or both. For counters: properties that identify a kernel, such as name,grid.
        dispatch: Only this dispatch; repeatable.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def counter_metrics(
    *paths: str | os.PathLike[str],
    arch: str | Sequence[str] = ...,
    kernel: str | None = None,
    by: str = "",
    dispatch: int | Sequence[int] = ...,
    only_run: str | Sequence[str] = ...,
) -> CounterMetrics:
    """Compute derived metrics of each kernel from files of any ROCm profiler. Several paths are several runs.

    Metrics with missing counters are omitted, and the counters are listed. Launches that differ in grid, workgroup,
    LDS, VGPRs or agent count as different kernels. Several runs are shown side by side.

    Args:
        paths: Files or folders of any ROCm profiler; each is a run.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        kernel: Only this kernel of a target with several; for counters, all kernels whose names contain the text.
        by: Grouping of the rows. For a profile: name, shapes, module, phase, range, place, or module,name. For a
            tree: modules, operators or both. For counters: properties that identify a kernel, such as name,grid.
        dispatch: Only this dispatch; repeatable.
        only_run: Only this run: its number or a part of its path; repeatable.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def counter_plan(
    target: TargetLike,
    *,
    arch: str | Sequence[str] = ...,
    config: Mapping[str, Any] | str | None = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    signature: str | None = None,
    constexpr: Mapping[str, Any] | str | None = ...,
    condition: str = "warm",
    grid: str | int | Sequence[int | str] | None = ...,
    env: Mapping[str, Any] | str | None = ...,
    value: Mapping[str, int | Sequence[int]] | str | None = ...,
    output: str | os.PathLike[str] | None = None,
) -> CounterPlan:
    """Plan the counters and profiler passes for a finding, a metric or all findings of a kernel.

    Args:
        target: a rule (``KP301`` or ``lds-bank-conflicts``), a metric of ``kprof counters metrics``, or a kernel as for
            :func:`kprof.analyze`; findings of a kernel that counters cannot confirm are skipped.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        condition: State of the caches before a timed launch: warm (left by the previous launch), flushed (by
            reads), flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed
            conditions include the time of events.
        grid: Workgroups of the launch, for a kernel without cases or compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: Value of an argument that the launch does not define, or a tensor's contents as one number or
            FILE.json.
        output: File or folder to write; for a file, - is standard output.

    Raises:
        KprofError: the target is unknown, the kernel cannot be compiled, or kprof has no formulas for the GPU.
    """

def counter_roofline(
    *paths: str | os.PathLike[str],
    arch: str | Sequence[str] = ...,
    kernel: str | None = None,
    by: str = "",
    dispatch: int | Sequence[int] = ...,
    only_run: str | Sequence[str] = ...,
) -> CounterRoofline:
    """Place kernels on the GPU's roofline: the limit of each kernel, and the share of it that the kernel reaches.

    Args:
        paths: Files or folders of any ROCm profiler; each is a run.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        kernel: Only this kernel of a target with several; for counters, all kernels whose names contain the text.
        by: Grouping of the rows. For a profile: name, shapes, module, phase, range, place, or module,name. For a
            tree: modules, operators or both. For counters: properties that identify a kernel, such as name,grid.
        dispatch: Only this dispatch; repeatable.
        only_run: Only this run: its number or a part of its path; repeatable.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def diagnose(
    command: Sequence[str] = ...,
    *,
    root: str | os.PathLike[str] | None = "/",
    workload: str | None = None,
    gpu_report: str | os.PathLike[str] | None = None,
) -> Diagnosed:
    """Check whether a machine is set up for kernel work as AMD's guides recommend. Nothing is changed or run.

    Args:
        command: words of a command line, whose variables and arguments are also checked: ``["vllm", "serve", ...]``.
        root: Folder with the machine's /proc, /sys, /dev and /opt: /host in a container.
        workload: Workload to check for: inference, training, tuning, multi-gpu, vllm or sglang.
        gpu_report: Output of rocminfo or of amd-smi static, with the GPUs to check the settings for.

    Raises:
        KprofError: the folder does not exist, the workload is unknown, the report cannot be read, or the command line
            has no known program.
    """

def diff(
    old: Side | None = ...,
    new: Side | None = ...,
    *,
    arch: str | Sequence[str] = ...,
    config: Mapping[str, Any] | str | None = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    signature: str | None = None,
    constexpr: Mapping[str, Any] | str | None = ...,
    jobs: int = 0,
    condition: str = "warm",
    all_configs: bool = False,
    grid: str | int | Sequence[int | str] | None = ...,
    env: Mapping[str, Any] | str | None = ...,
    value: Mapping[str, int | Sequence[int]] | str | None = ...,
    budget: float = 60.0,
    fail_on: str | None = None,
    triton: str | Sequence[str] = ...,
    package: str | Sequence[str] = ...,
    explain: bool | None = None,
    since: str = "",
    tolerance: Mapping[str, Any] | str | None = ...,
    program: Sequence[str] | None = ...,
    targets: Sequence[str] = ...,
    progress: Tell | None = ...,
    waiting: Tell | None = ...,
) -> Comparison:
    """Compare two compiles, or one kernel under several Triton releases, and explain regressions. No GPU is used.

    Args:
        old: a result of :func:`kprof.analyze`, or a target: a ``--json`` report, a capture or Triton cache directory,
            an ``.amdgcn``, ``.hsaco`` or ``.co`` file, a kernel.
        new: result or target to compare with ``old``; omitted with ``triton``, where ``old`` is a kernel or a capture.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: State of the caches before a timed launch: warm (left by the previous launch), flushed (by
            reads), flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed
            conditions include the time of events.
        all_configs: Analyse each configuration that the kernel lists; for a capture, also kernels without a launch.
        grid: Workgroups of the launch, for a kernel without cases or compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: Value of an argument that the launch does not define, or a tensor's contents as one number or
            FILE.json.
        budget: Seconds after which no further compile is started; 0: no limit.
        fail_on: Exit with 1 for a finding of at least this severity: note, warning, error or never. The default is
            warning for comparisons and checks, and never for analyses.
        triton: The Triton to compile with: a release (downloaded once), 'installed' (the default), a .whl file, or
            a Python interpreter that has Triton. For a comparison, repeat the option, old to new.
        package: A further package that the program after -- needs.
        explain: Search for the cause and fixes by recompiling; the default with --triton, possible with two
            captures.
        since: Compare the work tree with this git revision: kernels whose machine code changed, and tests of them.
        tolerance: Tolerated growth: vgpr_spills=4,loop_instructions=20%.
        program: command to record under each release in ``triton``. If ``old`` is a Python file (``FILE.py`` or
            ``FILE.py::FUNCTION``), only the arguments of that file.
        targets: with ``since``, the Python files, folders and ``FILE.py::FUNCTION`` to compare; empty compares the
            whole work tree.
        progress: called with a description of each step.
        waiting: called with a description of each download or wait.

    Raises:
        TargetError: a side does not exist, its kind is unknown, or the options do not apply to the sides.
        InputError: a file cannot be read.
        CompileError: a kernel does not compile, or a Triton release cannot be installed.
    """

def draw_control_flow(
    target: TargetLike,
    *,
    arch: str | Sequence[str] = ...,
    config: Mapping[str, Any] | str | None = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    signature: str | None = None,
    constexpr: Mapping[str, Any] | str | None = ...,
    condition: str = "warm",
    grid: str | int | Sequence[int | str] | None = ...,
    env: Mapping[str, Any] | str | None = ...,
    kernel: str | None = None,
    output: str | os.PathLike[str] | None = None,
) -> ControlFlow:
    """Draw the control flow of a kernel: blocks, loops, hot spots. No GPU is used.

    Args:
        target: as for :func:`kprof.analyze`.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        condition: State of the caches before a timed launch: warm (left by the previous launch), flushed (by
            reads), flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed
            conditions include the time of events.
        grid: Workgroups of the launch, for a kernel without cases or compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        kernel: Only this kernel of a target with several; for counters, all kernels whose names contain the text.
        output: File or folder to write; for a file, - is standard output.

    Raises:
        TargetError: the target or the kernel does not exist, or the target holds several kernels.
        CompileError: the kernel does not compile, or Triton is missing.
        InputError: a file cannot be read.
    """

def draw_layout(
    layout: str,
    *,
    arch: str | Sequence[str] = ...,
    size: str | Sequence[int] = ...,
    setting: Mapping[str, str] | str | None = ...,
    operand: int | None = None,
    k_width: int = 4,
    bits: int = 16,
    module: str | os.PathLike[str] | None = None,
) -> LayoutDrawing:
    """Draw a layout: the lane that holds each element, or the LDS address and bank of each element.

    Args:
        layout: an attribute (``#ttg.blocked<{...}>``), an alias of ``module`` (``#mma``), or a kind that ``setting``
            describes: ``blocked``, ``mfma``, ``wmma``, ``linear``, ``swizzled``, ``rotating``, ``padded``.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        size: Elements along each axis: 64x64.
        setting: A field of the kind: sizePerThread=1x8, version=3; others keep defaults.
        operand: Draw operand 0 or 1 of the product with this result.
        k_width: Adjacent elements along K per lane, for an operand.
        bits: Size of an element in bits, for the banks of LDS.
        module: A TTGIR file whose aliases may be used.

    Raises:
        InputError: the module cannot be read.
        HardwareError: the architecture is not known.
        KprofError: the text is not a layout, or the layout is invalid.
    """

def lint_configs(
    *paths: Path_,
    target: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    arch: str | Sequence[str] = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    signature: str | None = None,
    constexpr: Mapping[str, Any] | str | None = ...,
    fail_on: str | None = None,
    jobs: int = 0,
    compile: bool = False,
    rename: Mapping[str, str | None] | str | None = ...,
    ignore: str | Sequence[str] = ...,
) -> LintedConfigs:
    """Check the text, keys and values of tuned-configuration files, and find unused buckets. Files are only read.

    Args:
        paths: files, or folders that are searched for such files.
        target: A target, as for kprof analyze kernel, whose kernel is in the traces or files; repeatable.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        fail_on: Exit with 1 for a finding of at least this severity: note, warning, error or never. The default is
            warning for comparisons and checks, and never for analyses.
        jobs: Worker processes; 0: one for each core.
        compile: Compile each bucket whose kernel is known.
        rename: Rename knobs for the kernel: BLOCK_SIZE_M=BLOCK_M. Empty: leave the knob out.
        ignore: Rules to ignore, by identifier or name.

    Raises:
        HardwareError: the architecture is unknown.
        KprofError: a rule is unknown, or the named kernel cannot be loaded.
    """

def measure(
    kernel: Path_,
    *,
    config: Mapping[str, Any] | str | None = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    seed: int = 0,
    table: str | os.PathLike[str] | None = None,
    timeout: float = 300.0,
    provider: str | Sequence[str] = ...,
    limit: Mapping[str, Any] | str | None = ...,
    measure_limits: bool = True,
    check_only: bool = False,
    graph: bool | None = None,
    warmup_ms: float = 25.0,
    rep_ms: float = 100.0,
    inputs: str = "own",
    profile: str | os.PathLike[str] | None = None,
    keep: str | os.PathLike[str] | None = None,
    write_table: str | os.PathLike[str] | None = None,
    gpus: int = 1,
    progress: Callable[[Measurement], None] | None = ...,
) -> Measurements:
    """Check and time a kernel on a real GPU, ROCm or CUDA.

    Results are first compared with the kernel's reference; a case with a wrong result is reported but not timed.

    Args:
        kernel: a bundled kernel, or a file with a ``KERNEL``.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        seed: Seed of the inputs.
        table: Dispatch table; by default $KPROF_DISPATCH_TABLE, if set.
        timeout: Time limit in seconds of one compile, measurement or query.
        provider: Implementations to run, comma-separated: triton, tuned, torch, sdpa, aiter, ck, alternatives. By
            default triton, and torch if it supports the case.
        limit: Limits of the machine that override kprof's: gbs=4800,fp16=990.
        measure_limits: Measure unknown limits with a copy and a matrix product.
        check_only: Only compare with the reference, without timing.
        graph: Always or never launch through a device graph.
        warmup_ms: Milliseconds to run before measuring.
        rep_ms: Milliseconds to measure.
        inputs: Values of the inputs: own, zeros, same, integers or normal. They affect clocks, not correctness:
            zeros can be a fifth faster.
        profile: Write PyTorch profiler traces to a folder.
        keep: Keep the instructions, MLIR, metadata, launches and kprof's report of each Triton kernel that ran, and
            the times, in a new folder for kprof validate.
        write_table: Add the fastest configurations to a dispatch table for kprof select.
        gpus: Number of GPUs that run the kernel at once: 2 for both GCDs of an MI250X.
        progress: called with each measurement.

    Raises:
        HardwareError: there is no GPU.
        TargetError: the kernel does not exist.
        KprofError: a case, a provider or a table cannot be used, or torch is missing.
    """

def occupancy(
    target: str | os.PathLike[str] | None = ...,
    *,
    arch: str | Sequence[str] = ...,
    config: Mapping[str, Any] | str | None = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    signature: str | None = None,
    constexpr: Mapping[str, Any] | str | None = ...,
    condition: str = "warm",
    lds: int | str | None = None,
    num_warps: int | None = None,
    launch: str | os.PathLike[str] | None = None,
    vgpr: int | None = None,
    agpr: int | None = None,
    sgpr: int | None = None,
    wavefront_size: int | None = None,
    mode: str | None = None,
    method: str = "hardware",
    llvm: int | None = None,
    curve: str | None = None,
) -> Occupancies:
    """Compute the wavefronts per SIMD and their limit, for a kernel or for given resource counts. No GPU is used.

    Args:
        target: a bundled kernel, ``"file.py::function"``, an assembly file or a code object; ``None`` for given
            resource counts.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        condition: State of the caches before a timed launch: warm (left by the previous launch), flushed (by
            reads), flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed
            conditions include the time of events.
        lds: LDS per workgroup in bytes: 32768 or 32K.
        num_warps: Wavefronts per workgroup; by default 4 for kprof occupancy without a target.
        launch: Launches of compiled kernels: a JSON object from kernel name to grid, num_warps, lds and values.
        vgpr: VGPRs of a wavefront, per lane.
        agpr: AGPRs of a wavefront, per lane.
        sgpr: SGPRs of a wavefront, as in .sgpr_count.
        wavefront_size: 32 or 64 lanes.
        mode: wgp or cu, on RDNA.
        method: hardware, llvm (what the compiler prints) or guide (AMD's formula).
        llvm: LLVM's major version, for --method llvm.
        curve: Draw occupancy over vgpr, lds or num-warps.

    Raises:
        HardwareError: an architecture is not known.
        TargetError: the target does not exist or holds no kernel.
        KprofError: a resource count is missing, or impossible on the architecture.
    """

@overload
def oracle(
    candidate: Source,
    reference: str,
    *,
    arch: str | Sequence[str] = ...,
    seed: int = 0,
    timeout: float = 300.0,
    jobs: int = 0,
    memory: int = 4096,
    any_python: bool = False,
    allow_network: bool = False,
) -> OracleAnswer:
    """Check candidates for a kernel: whether they compile and are correct, and their predicted time.

    Results are reproducible.

    A candidate is a file with a Triton function that replaces the function that the case launches; both have the same
    name and arguments. ``CONFIG = {"BLOCK": 1024, "num_warps": 8}`` in the file sets knobs of the case. The case is
    trusted, but candidates are not, and run in a sandbox.

    Args:
        candidate: the candidate's text, or its file as a ``Path``; a list returns answers in the same order.
        reference: a bundled kernel's name or a file with a ``KERNEL``, which is imported without restrictions;
            ``NAME@CASE`` selects another shape than the first. Its ``checks`` and ``reference`` define correct results.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        seed: Seed of the inputs.
        timeout: Time limit in seconds of one compile, measurement or query.
        jobs: Worker processes; 0: one for each core.
        memory: Memory limit of a candidate and its files in MiB, without Python, Triton and torch.
        any_python: Run candidates that contain other Python in a sandbox, and judge their Triton functions.
        allow_network: Allow candidates to use the network.

    Raises:
        KprofError: the case or the GPU does not exist, Triton is missing, candidates cannot be sandboxed on this
            system, or running code is forbidden.
    """

@overload
def oracle(
    candidate: list[Source] | list[str] | list[Path],
    reference: str,
    *,
    arch: str | Sequence[str] = ...,
    seed: int = 0,
    timeout: float = 300.0,
    jobs: int = 0,
    memory: int = 4096,
    any_python: bool = False,
    allow_network: bool = False,
) -> list[OracleAnswer]:
    """Check candidates for a kernel: whether they compile and are correct, and their predicted time.

    Results are reproducible.

    A candidate is a file with a Triton function that replaces the function that the case launches; both have the same
    name and arguments. ``CONFIG = {"BLOCK": 1024, "num_warps": 8}`` in the file sets knobs of the case. The case is
    trusted, but candidates are not, and run in a sandbox.

    Args:
        candidate: the candidate's text, or its file as a ``Path``; a list returns answers in the same order.
        reference: a bundled kernel's name or a file with a ``KERNEL``, which is imported without restrictions;
            ``NAME@CASE`` selects another shape than the first. Its ``checks`` and ``reference`` define correct results.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        seed: Seed of the inputs.
        timeout: Time limit in seconds of one compile, measurement or query.
        jobs: Worker processes; 0: one for each core.
        memory: Memory limit of a candidate and its files in MiB, without Python, Triton and torch.
        any_python: Run candidates that contain other Python in a sandbox, and judge their Triton functions.
        allow_network: Allow candidates to use the network.

    Raises:
        KprofError: the case or the GPU does not exist, Triton is missing, candidates cannot be sandboxed on this
            system, or running code is forbidden.
    """

def profile(
    target: str | os.PathLike[str] | Sequence[str],
    *,
    arch: str | Sequence[str] = ...,
    condition: str = "warm",
    output: str | os.PathLike[str] | None = None,
    top: int = 20,
    budget: float = 60.0,
    by: str = "",
    advise: float = 0.0,
    time_limit: float | None = None,
    jobs: int = 0,
    within: str = "",
    html: str | os.PathLike[str] | None = None,
    layers: str = "",
) -> Profile:
    """Predict where a program spends its time on a GPU. Needs no GPU.

    The times of Triton kernels come from the performance model. The time of a torch operator is its roofline time,
    divided by the share of the roofline that such operators reached in public traces. Host time, overlap between
    streams and other ranks are not modelled.

    With several GPUs the program runs once for each, since its launches may depend on the GPU. A capture belongs to one
    architecture; the default is the GPU that it was recorded for. With ``html``, each Triton kernel gets its own page
    for the first GPU. ``advise`` searches better knobs for kernels that take at least 5 % of the step on the first GPU;
    for this search, a program that ran no longer than ``advise`` seconds is run again. With ``layers``, the program is
    run with 1 and 2 layers (for ``4,8,32`` with 4 and 8), and the difference is extrapolated to the requested number.

    Args:
        target: a capture that was recorded with its operators, or a program to run: ``["python", "step.py"]``.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        condition: State of the caches before a timed launch: warm (left by the previous launch), flushed (by
            reads), flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed
            conditions include the time of events.
        output: File or folder to write; for a file, - is standard output.
        top: Rows to show; 0: all.
        budget: Seconds after which no further compile is started; 0: no limit.
        by: Grouping of the rows. For a profile: name, shapes, module, phase, range, place, or module,name. For a
            tree: modules, operators or both. For counters: properties that identify a kernel, such as name,grid.
        advise: Seconds to search for better knobs by recompiling; 0: no search.
        time_limit: Time limit in seconds of the program after --; 3600 by default.
        jobs: Worker processes; 0: one for each core.
        within: Count only calls inside torch.profiler.record_function(NAME).
        html: Write one page with all results, for a browser. - is standard output.
        layers: Predict a model with N layers from runs with 1 and 2 as {layers}; 4,8,N: from 4 and 8.

    Raises:
        TargetError: the program launches no kernel and calls no operator, or fails before it does.
        KprofError: the capture cannot be read or has no operators, or the architecture has no product with known peaks.
    """

def report(
    *targets: TargetLike,
    arch: str | Sequence[str] = ...,
    config: Mapping[str, Any] | str | None = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    signature: str | None = None,
    constexpr: Mapping[str, Any] | str | None = ...,
    jobs: int = 0,
    condition: str = "warm",
    all_configs: bool = False,
    grid: str | int | Sequence[int | str] | None = ...,
    env: Mapping[str, Any] | str | None = ...,
    value: Mapping[str, int | Sequence[int]] | str | None = ...,
    passes: bool = False,
    lds: int | str | None = None,
    num_warps: int | None = None,
    launch: str | os.PathLike[str] | None = None,
    counters: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    trace: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    thread_trace: str | os.PathLike[str] | None = None,
    kernel: str | None = None,
    time_limit: float | None = None,
    try_cures: bool = True,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    output: str | os.PathLike[str] | None = None,
    max_size: float | None = None,
    keep_going: bool = ...,
    program: Sequence[str] | None = ...,
) -> Analysis:
    """Write one self-contained HTML page with all results for a kernel.

    The page is written to ``output``; nothing is written without ``output`` or if no kernel could be analysed.

    Args:
        targets: as for :func:`kprof.analyze`, including reports that ``--json`` wrote.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: State of the caches before a timed launch: warm (left by the previous launch), flushed (by
            reads), flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed
            conditions include the time of events.
        all_configs: Analyse each configuration that the kernel lists; for a capture, also kernels without a launch.
        grid: Workgroups of the launch, for a kernel without cases or compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: Value of an argument that the launch does not define, or a tensor's contents as one number or
            FILE.json.
        passes: Also show what each compiler pass changed.
        lds: LDS per workgroup in bytes: 32768 or 32K.
        num_warps: Wavefronts per workgroup; by default 4 for kprof occupancy without a target.
        launch: Launches of compiled kernels: a JSON object from kernel name to grid, num_warps, lds and values.
        counters: Files or folders of a ROCm profiler that measured the kernel or run.
        trace: PyTorch traces of the kernel or run, or folders of traces.
        thread_trace: A decoded thread trace (ATT) of the kernel.
        kernel: Only this kernel of a target with several; for counters, all kernels whose names contain the text.
        time_limit: Time limit in seconds of the program after --; 3600 by default.
        try_cures: Compile cheap fixes for findings that cost more than 5 % of the time: up to a dozen compiler
            options; after two seconds only the first is still started. KPROF_TRY=0 disables them everywhere.
        source: A folder with the sources of precompiled targets; the current folder is always searched too.
        output: File or folder to write; for a file, - is standard output.
        max_size: Maximum size of the page of kernels in megabytes, 1 by default; 0: no limit.
        keep_going: set the verdict to ``cannot_tell`` instead of raising if a target cannot be analysed.
        program: arguments of the one Python file in ``targets``, as for :func:`kprof.analyze`.

    Raises:
        KprofError: as :func:`kprof.analyze`, or the size is invalid, or the page cannot be written.
    """

def run_report(
    *,
    arch: str | Sequence[str] = ...,
    config: Mapping[str, Any] | str | None = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    signature: str | None = None,
    constexpr: Mapping[str, Any] | str | None = ...,
    jobs: int = 0,
    condition: str = "warm",
    all_configs: bool = False,
    grid: str | int | Sequence[int | str] | None = ...,
    env: Mapping[str, Any] | str | None = ...,
    value: Mapping[str, int | Sequence[int]] | str | None = ...,
    passes: bool = False,
    lds: int | str | None = None,
    num_warps: int | None = None,
    launch: str | os.PathLike[str] | None = None,
    counters: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    trace: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    kernel: str | None = None,
    try_cures: bool = True,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    target: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    output: str | os.PathLike[str] | None = None,
    scheduler: str | None = None,
) -> RunReport:
    """Write one self-contained HTML page about the traces and counters of a run.

    Each kernel of ``target`` gets its own page with its measurements from the traces, which the run's page links to.
    ``arch`` names the product if the files do not contain it. The other options define how the kernels are compiled.

    Args:
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: State of the caches before a timed launch: warm (left by the previous launch), flushed (by
            reads), flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed
            conditions include the time of events.
        all_configs: Analyse each configuration that the kernel lists; for a capture, also kernels without a launch.
        grid: Workgroups of the launch, for a kernel without cases or compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: Value of an argument that the launch does not define, or a tensor's contents as one number or
            FILE.json.
        passes: Also show what each compiler pass changed.
        lds: LDS per workgroup in bytes: 32768 or 32K.
        num_warps: Wavefronts per workgroup; by default 4 for kprof occupancy without a target.
        launch: Launches of compiled kernels: a JSON object from kernel name to grid, num_warps, lds and values.
        counters: Files or folders of a ROCm profiler that measured the kernel or run.
        trace: PyTorch traces of the kernel or run, or folders of traces.
        kernel: Only this kernel of a target with several; for counters, all kernels whose names contain the text.
        try_cures: Compile cheap fixes for findings that cost more than 5 % of the time: up to a dozen compiler
            options; after two seconds only the first is still started. KPROF_TRY=0 disables them everywhere.
        source: A folder with the sources of precompiled targets; the current folder is always searched too.
        target: A target, as for kprof analyze kernel, whose kernel is in the traces or files; repeatable.
        output: File or folder to write; for a file, - is standard output.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.

    Raises:
        InputError: a file cannot be read, or the traces contain no kernel of the targets.
        TargetError: targets are named without traces or without a file for the run's page, or options without targets.
        KprofError: no measurement is named, the product is not known, or a page cannot be written.
    """

def server_configs(
    model: str | os.PathLike[str],
    *,
    arch: str | Sequence[str] = ...,
    device_name: str | None = None,
    strict: bool = False,
    verify: bool = False,
    jobs: int = 0,
    scheduler: str | None = None,
    server: str | None = None,
    tp: int = 1,
    ep: int = 1,
    quant: str | None = None,
    batches: str | Sequence[int] | None = ...,
    server_path: str | os.PathLike[str] | None = None,
    server_triton: str | None = None,
    rank: bool = False,
    alternatives: bool = False,
    trials: int | None = None,
    progress: Callable[[str, Progress], None] | None = ...,
    report: Callable[[str], None] | None = ...,
) -> NeededConfigs:
    """Find the tuned files that a server looks for when it serves a model, and whether they exist. Needs no GPU.

    The lookups are the server's own functions, extracted from its code and run in a separate process; no other code of
    the server is executed. Sizes are computed from the model's configuration. If this Python has no server and no
    checkout is named, file names come from a table, and whether the files exist is unknown.

    Args:
        model: a ``config.json`` of Hugging Face, or its folder. Nothing is downloaded.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        device_name: Device name in file names, if it is not the product's usual one.
        strict: Fail when anything is missing, unreadable or only assumed.
        verify: Also measure the short list on this machine's GPU.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        server: Server that serves the model: vllm, sglang or aiter.
        tp: GPUs that share a layer (tensor parallelism).
        ep: Groups that experts are distributed over (a divisor of --tp).
        quant: bf16, fp8, fp8-block, int8, w4a16, mxfp4 (experts) or mxfp4-all (default: the model's own).
        batches: Rows of a step (default: 1,8,64,512,4096).
        server_path: A checkout of the server, or its installation folder (default: the one in this Python).
        server_triton: The server's version of Triton, which selects SGLang's folder of files.
        rank: Also predict each batch's time, now and with a proposal. Compiles the server's kernels.
        alternatives: Also rank other kernel families for the same weights (AITER's caller uses one).
        trials: Configurations to try per batch if no tuned file of another shape helps.
        progress: called with a file's name and the state of its search.
        report: called with each measurement.

    Raises:
        HardwareError: the GPU is unknown, or there is no GPU to measure on.
        InputError: the configuration does not exist or is not a JSON object.
        KprofError: the server is unknown, its code is missing or unexpected, or an option has an invalid value.
    """

def trace_breakdown(
    *paths: str | os.PathLike[str],
    jobs: int = 0,
    scheduler: str | None = None,
    exclude_warm_up: bool = False,
    cap_durations: bool = False,
    categories: str | os.PathLike[str] | None = None,
    by_name: bool = False,
) -> TraceBreakdown:
    """Divide GPU time into categories: attention, its GEMMs, MLP GEMMs, norms, communication, memory, ...

    The picture is a donut for one trace, and stacked bars for several.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Exclude kernels launched before the recording began; by default they count.
        cap_durations: Cut impossible durations at the next start on their stream.
        categories: A TOML file with your own category rules, which take precedence over kprof's.
        by_name: Use only kernel names, which needs little memory for traces of any size.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def trace_diff(
    before: str | os.PathLike[str],
    after: str | os.PathLike[str],
    *,
    jobs: int = 0,
    scheduler: str | None = None,
    exclude_warm_up: bool = False,
    cap_durations: bool = False,
    categories: str | os.PathLike[str] | None = None,
    tree: str | None = None,
) -> TraceDiff:
    """Compare two runs: before and after a change, or two batch sizes.

    If both traces mark steps, the mean step is compared, so the numbers of steps may differ. With --fail-over, the exit
    code is 2 (cannot tell) if a trace is truncated, or if only one trace marks steps. The times of all traces in a
    folder are added up and form one side.

    A measured trace and a trace that kprof profile -o wrote are compared operator by operator: the mean time per call
    in both, and the error of the prediction over all measured calls.

    Args:
        before: The trace to compare with.
        after: The trace to check.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Exclude kernels launched before the recording began; by default they count.
        cap_durations: Cut impossible durations at the next start on their stream.
        categories: A TOML file with your own category rules, which take precedence over kprof's.
        tree: Also match the two sides' trees of calls by the names of modules, operators or both.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def trace_gaps(
    *paths: str | os.PathLike[str],
    rows: int = ...,
    jobs: int = 0,
    scheduler: str | None = None,
    exclude_warm_up: bool = False,
    cap_durations: bool = False,
    categories: str | os.PathLike[str] | None = None,
    at_least: float = 0.0,
) -> TraceGaps:
    """Find the largest gaps between GPU activities, and the stretches where launching cannot keep up.

    Causes of gaps. Launch-bound: when the gap began, the next kernel had not been launched. Synchronisation: it had not
    been launched either, and the CPU waited for the GPU or for memory during the gap. Queued: the next kernel had been
    launched, and the GPU waited for something else.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        rows: maximum number of rows to compute; 0: all.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Exclude kernels launched before the recording began; by default they count.
        cap_durations: Cut impossible durations at the next start on their stream.
        categories: A TOML file with your own category rules, which take precedence over kprof's.
        at_least: Omit gaps shorter than this.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def trace_ops(
    *paths: str | os.PathLike[str],
    targets: TargetLike | Sequence[TargetLike] = ...,
    progress: Callable[[Progress], None] | None = ...,
    jobs: int = 0,
    scheduler: str | None = None,
    exclude_warm_up: bool = False,
    cap_durations: bool = False,
    arch: str | Sequence[str] = ...,
    config: Mapping[str, Any] | str | None = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    signature: str | None = None,
    constexpr: Mapping[str, Any] | str | None = ...,
    condition: str = "warm",
    grid: str | int | Sequence[int | str] | None = ...,
    value: Mapping[str, int | Sequence[int]] | str | None = ...,
    space: str | os.PathLike[str] | None = None,
    budget: float = 60.0,
    tune: bool = False,
) -> TraceOps:
    """Compare each operator's TFLOP/s and TB/s with the GPU's limits, largest time lost first.

    The work is computed from the shapes in the trace (record_shapes=True): operations, and the bytes of every operand
    and result once. The limit is the GPU's published HBM bandwidth or matrix peak, whichever takes longer; an operator
    whose data stay in a cache can be faster than that.

    --target adds the model's time to the launches of that kernel, and --tune the time that the best configuration is
    predicted to save.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        targets: kernels, as for :func:`kprof.analyze`: their launches get the model's time beside the measured one.
        progress: called with the state of each search.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Exclude kernels launched before the recording began; by default they count.
        cap_durations: Cut impossible durations at the next start on their stream.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        condition: State of the caches before a timed launch: warm (left by the previous launch), flushed (by
            reads), flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed
            conditions include the time of events.
        grid: Workgroups of the launch, for a kernel without cases or compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        value: Value of an argument that the launch does not define, or a tensor's contents as one number or
            FILE.json.
        space: Knobs and their values (TOML, YAML, JSON) instead of the kernel's own.
        budget: Seconds after which no further compile is started; 0: no limit.
        tune: Search the targets' configurations, and predict the time that the best one saves.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def trace_path(
    *paths: str | os.PathLike[str],
    jobs: int = 0,
    scheduler: str | None = None,
    exclude_warm_up: bool = False,
    cap_durations: bool = False,
) -> TracePath:
    """Find the critical path of a run, traced back from the end of each rank's last GPU activity.

    A GPU activity waits for the previous activity on its stream, for its launch, or for another stream, whichever ends
    last. A launch waits for the CPU work before it, back to where a thread waited for the GPU. Speeding up work that is
    not on the path does not shorten the run; work on the path shortens it by at most its time there.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Exclude kernels launched before the recording began; by default they count.
        cap_durations: Cut impossible durations at the next start on their stream.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def trace_ranks(
    *paths: str | os.PathLike[str],
    rows: int = ...,
    jobs: int = 0,
    scheduler: str | None = None,
    exclude_warm_up: bool = False,
    cap_durations: bool = False,
    categories: str | os.PathLike[str] | None = None,
) -> TraceRanks:
    """Compare ranks, from one file per rank or one merged trace: which rank computes longer, and which ranks wait.

    A collective ends at the same time on all ranks: the rank with the shortest kernel came last, and the others waited.
    Sends and receives have no common end and are summed separately. If ranks of the job are missing, the last rank
    cannot be determined.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        rows: maximum number of rows to compute; 0: all.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Exclude kernels launched before the recording began; by default they count.
        cap_durations: Cut impossible durations at the next start on their stream.
        categories: A TOML file with your own category rules, which take precedence over kprof's.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def trace_report(
    *paths: str | os.PathLike[str],
    jobs: int = 0,
    scheduler: str | None = None,
    exclude_warm_up: bool = False,
    cap_durations: bool = False,
    categories: str | os.PathLike[str] | None = None,
    arch: str | Sequence[str] = ...,
) -> TraceReport:
    """Report the results of all views of kprof trace on one page; each trace is read once.

    The parts of the page are completeness, the views (breakdown, steps, top, gaps, tree, ops, ranks), and next: what to
    do, with the maximum time that it could save. -o page.html writes the page; --show gaps,next prints parts by name.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Exclude kernels launched before the recording began; by default they count.
        cap_durations: Cut impossible durations at the next start on their stream.
        categories: A TOML file with your own category rules, which take precedence over kprof's.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def trace_steps(
    *paths: str | os.PathLike[str],
    jobs: int = 0,
    scheduler: str | None = None,
    exclude_warm_up: bool = False,
    cap_durations: bool = False,
) -> TraceSteps:
    """Group kernels by the step that launched them.

    A step is marked by torch.profiler's schedule (ProfilerStep#7), or is a batch that vLLM or SGLang marks. A step is
    slow if its kernels take more than 1.25 times the median of its phase, and cut if kernels that it launched are
    missing.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Exclude kernels launched before the recording began; by default they count.
        cap_durations: Cut impossible durations at the next start on their stream.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def trace_summary(
    *paths: str | os.PathLike[str],
    jobs: int = 0,
    scheduler: str | None = None,
    exclude_warm_up: bool = False,
    cap_durations: bool = False,
    categories: str | os.PathLike[str] | None = None,
) -> TraceSummary:
    """Read timelines of PyTorch, rocprofv3, rocpd, rocprof-sys, JAX and Proton, and summarise them.

    PyTorch's traces (1.8 from 2021 to current, ROCm and CUDA) are read in bounded memory, regardless of their size.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Exclude kernels launched before the recording began; by default they count.
        cap_durations: Cut impossible durations at the next start on their stream.
        categories: A TOML file with your own category rules, which take precedence over kprof's.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def trace_top(
    *paths: str | os.PathLike[str],
    jobs: int = 0,
    scheduler: str | None = None,
    exclude_warm_up: bool = False,
    cap_durations: bool = False,
    categories: str | os.PathLike[str] | None = None,
) -> TraceTop:
    """List kernels, operators and Triton kernels, most GPU time first.

    Kernels with the same name but other template arguments are listed separately. ``--show operators`` lists CPU
    operators by the GPU time that they launch, ``--show triton`` Triton kernels with the shape of their launch.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Exclude kernels launched before the recording began; by default they count.
        cap_durations: Cut impossible durations at the next start on their stream.
        categories: A TOML file with your own category rules, which take precedence over kprof's.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def trace_tree(
    *paths: str | os.PathLike[str],
    jobs: int = 0,
    scheduler: str | None = None,
    exclude_warm_up: bool = False,
    cap_durations: bool = False,
    by: str = "",
    each: bool = False,
) -> TraceTree:
    """Show GPU time as a tree of modules (--by modules, the default), operators or both.

    Modules need a trace recorded with with_modules=True or with_stack=True; without them, the tree consists of
    operators. A backward pass is shown under "backward", by the modules of its forward pass. Kernels of a replayed
    graph are grouped by category.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Exclude kernels launched before the recording began; by default they count.
        cap_durations: Cut impossible durations at the next start on their stream.
        by: Grouping of the rows. For a profile: name, shapes, module, phase, range, place, or module,name. For a
            tree: modules, operators or both. For counters: properties that identify a kernel, such as name,grid.
        each: Show modules of the same class separately instead of merging them.

    Raises:
        InputError: a named recording is missing or unreadable, or a folder has no readable one.
        KprofError: an option cannot be used.
    """

def tune(
    kernel: TargetLike | None = ...,
    *,
    arch: str | Sequence[str] = ...,
    config: Mapping[str, Any] | str | None = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    signature: str | None = None,
    constexpr: Mapping[str, Any] | str | None = ...,
    jobs: int = 0,
    condition: str = "warm",
    grid: str | int | Sequence[int | str] | None = ...,
    value: Mapping[str, int | Sequence[int]] | str | None = ...,
    budget: float = 60.0,
    run: bool = True,
    scheduler: str | None = None,
    space: str | os.PathLike[str] | None = None,
    verify: bool = False,
    device_name: str | None = None,
    output: str | os.PathLike[str] | None = None,
    shape_file: str | os.PathLike[str] | None = None,
    short_list: int = 8,
    write: str | Sequence[str] = ...,
    measured: str | os.PathLike[str] | None = None,
    resume: bool = True,
    key: Mapping[str, Any] | str | None = ...,
    program: Sequence[str] | None = ...,
    progress: Callable[[Progress], None] | None = ...,
    tell: Callable[[str], None] = ...,
) -> Tuned:
    """Rank a kernel's configurations by predicted time. All are compiled, and no GPU is used.

    Ctrl-C ends the search with the results so far; the same call continues it.

    Args:
        kernel: a bundled kernel, a file with a ``KERNEL``, ``"file.py::function"``, a :class:`kprof.Kernel`, a
            ``@triton.jit`` function, or ``"capture::kernel"``. With ``program``, a Python file to run,
            ``"file.py::function"`` to tune that function's launch, or ``None``.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: State of the caches before a timed launch: warm (left by the previous launch), flushed (by
            reads), flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed
            conditions include the time of events.
        grid: Workgroups of the launch, for a kernel without cases or compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        value: Value of an argument that the launch does not define, or a tensor's contents as one number or
            FILE.json.
        budget: Seconds after which no further compile is started; 0: no limit.
        run: Run a capture's program again up to the launch, to try other tiles; else try only compiler options.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        space: Knobs and their values (TOML, YAML, JSON) instead of the kernel's own.
        verify: Also measure the short list on this machine's GPU.
        device_name: Device name in file names, if it is not the product's usual one.
        output: File or folder to write; for a file, - is standard output.
        shape_file: Further problems from a YAML, JSON or TOML file: - {M: 4096, N: 4096, K: 4096}
        short_list: Length of the short list.
        write: Also write, to -o: triton, aiter, vllm, sglang, tune_gemm, dispatch.
        measured: CSV of measured times (knobs, sizes, time_us) that correct the model.
        resume: Continue an earlier search; else start over.
        key: A key of the written format, with the knob or value for it: GROUP_SIZE_M=1.
        program: a program to record, whose launch is tuned: its command, or only its arguments if ``kernel`` is a file.
        progress: called with the state of the search.
        tell: called with a line on each measurement and each program that is run.

    Raises:
        TargetError: the kernel, case, knob or size does not exist.
        CompileError: Triton is missing.
        HardwareError: the architecture is not known, or there is no GPU to verify on.
        KprofError: a space, a grid, a format or a file of times cannot be used.
    """

def validate(
    *targets: TargetLike,
    arch: str | Sequence[str] = ...,
    config: Mapping[str, Any] | str | None = ...,
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = ...,
    case: str | Sequence[str] | None = None,
    signature: str | None = None,
    constexpr: Mapping[str, Any] | str | None = ...,
    jobs: int = 0,
    condition: str = "warm",
    all_configs: bool = False,
    grid: str | int | Sequence[int | str] | None = ...,
    env: Mapping[str, Any] | str | None = ...,
    value: Mapping[str, int | Sequence[int]] | str | None = ...,
    lds: int | str | None = None,
    num_warps: int | None = None,
    launch: str | os.PathLike[str] | None = None,
    counters: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    trace: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    thread_trace: str | os.PathLike[str] | None = None,
    kernel: str | None = None,
    time_limit: float | None = None,
    try_cures: bool = True,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    program: Sequence[str] | None = ...,
) -> Validation:
    """Compare the performance model's predictions for kernels with measurements.

    Args:
        targets: as for :func:`kprof.analyze`; or folders of ``kprof bench --keep``, which have the measured times.
        arch: GPUs as products or architectures, comma-separated: MI300X,gfx950. By default the input's, else
            MI300X.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. For several problems, repeat the option or separate them by ;.
        case: Named shape of the kernel; some commands accept several, comma-separated.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: State of the caches before a timed launch: warm (left by the previous launch), flushed (by
            reads), flushed-dirty (by writes, as in triton.testing.do_bench), graph (replayed). Both flushed
            conditions include the time of events.
        all_configs: Analyse each configuration that the kernel lists; for a capture, also kernels without a launch.
        grid: Workgroups of the launch, for a kernel without cases or compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: Value of an argument that the launch does not define, or a tensor's contents as one number or
            FILE.json.
        lds: LDS per workgroup in bytes: 32768 or 32K.
        num_warps: Wavefronts per workgroup; by default 4 for kprof occupancy without a target.
        launch: Launches of compiled kernels: a JSON object from kernel name to grid, num_warps, lds and values.
        counters: Files or folders of a ROCm profiler that measured the kernel or run.
        trace: PyTorch traces of the kernel or run, or folders of traces.
        thread_trace: A decoded thread trace (ATT) of the kernel.
        kernel: Only this kernel of a target with several; for counters, all kernels whose names contain the text.
        time_limit: Time limit in seconds of the program after --; 3600 by default.
        try_cures: Compile cheap fixes for findings that cost more than 5 % of the time: up to a dozen compiler
            options; after two seconds only the first is still started. KPROF_TRY=0 disables them everywhere.
        source: A folder with the sources of precompiled targets; the current folder is always searched too.
        program: arguments of the one Python file in ``targets``, as for :func:`kprof.analyze`.

    Raises:
        KprofError: as :func:`kprof.analyze`, or no measurement is named.
    """
