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
    "lint_configs",
    "measure",
    "occupancy",
    "oracle",
    "perf_model",
    "profile",
    "prune_configs",
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
    """Try other knobs by recompiling, and say what they change. No GPU is used.

    With ``counters`` or ``trace`` the findings are first compared with what was measured. Spills, registers, occupancy
    and instructions are those of compiled programs; time is predicted.

    Kernels of a capture get other compiler options from what was recorded, and other tiles by running its program again
    up to the launch; that is only done where the program lies here as it was recorded.

    Args:
        target: a bundled kernel, a file with a ``KERNEL``, a :class:`kprof.Kernel`, or a capture, with ``::NAME`` one
            kernel of it. With ``program`` a Python file to run, or ``None``.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: What a timed launch finds in the caches: warm (what the one before left), flushed (by reads),
            flushed-dirty (by writes, as triton.testing.do_bench), graph (replayed). Both flushed ones add events.
        grid: Workgroups of the launch of a kernel without cases, or of compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: What the launch does not say: an argument's value, or a tensor's contents as one number or FILE.json.
        budget: Seconds after which no compile is begun; 0: no limit.
        run: Run a capture's program again, up to the launch, for other tiles; else compiler options only.
        counters: Files or folders of a ROCm profiler with what is asked about.
        trace: PyTorch traces, or folders of them, with what is asked about.
        search: Try other knobs; else only judge by --counters and --trace.
        program: a program to record and to advise on: its command, or with a file as the target its arguments.
        progress: called with the number of finished compiles and a few words.
        tell: called with what is run.

    Raises:
        TargetError: there is no such kernel, it has no cases, or it is several.
        CompileError: it does not compile as it is.
        InputError: a measurement cannot be read, or does not have the kernel.
        KprofError: more than one architecture, or nothing to do.
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
    """Compile or read kernels, and find out what an AMD GPU will do with them. No GPU is used.

    Sources are compiled for the GPU that was measured where ``arch`` is empty; ``kernels[0].measured`` says what
    ``counters``, ``trace`` and ``thread_trace`` tell beside what is modelled.

    Args:
        targets: a bundled kernel's name, ``"file.py::function"``, a ``@triton.jit`` function, a :class:`kprof.Kernel`,
            an assembly file, a code object, HIP source, a Triton cache directory, a capture, or a report that
            ``--json`` wrote. Only Python files are run, as ``import`` runs them.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: What a timed launch finds in the caches: warm (what the one before left), flushed (by reads),
            flushed-dirty (by writes, as triton.testing.do_bench), graph (replayed). Both flushed ones add events.
        all_configs: Each configuration that the kernel lists; of a capture, also what was not launched.
        grid: Workgroups of the launch of a kernel without cases, or of compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: What the launch does not say: an argument's value, or a tensor's contents as one number or FILE.json.
        passes: Also show what each compiler pass changed.
        lds: LDS of a workgroup: bytes, or 32K.
        num_warps: Wavefronts of a workgroup; 4 where occupancy has numbers alone.
        counters: Files or folders of a ROCm profiler with what is asked about.
        trace: PyTorch traces, or folders of them, with what is asked about.
        thread_trace: A decoded thread trace (ATT) of the kernel.
        kernel: Only this kernel of a target with several; of counters all that have this in their names.
        time_limit: Seconds that the program after -- may run; 3600 if left out.
        try_cures: Compile the cheap fixes of findings that cost more than 5 % of the time: a dozen compiler options
            at most, none but the first started after two seconds. KPROF_TRY=0 turns them off everywhere.
        source: A folder with the sources of what is compiled already; the current one always counts.
        fail_on: Exit with 1 on this or worse: note, warning, error or never. If left out, a warning where files or
            compiles are compared and checked, never where a kernel is analysed.
        dump: Write each stage of the compiler, and with --passes each pass, to this folder.
        keep_going: a target that cannot be analysed makes the verdict ``cannot_tell`` instead of raising.
        keep_programs: keep the instructions, a few megabytes a kernel, which pages and timelines show.
        program: arguments of the one Python file in ``targets``, which is run as ``__main__`` in a process of its own
            on the simulated GPU; what it launches is analysed. ``None``: nothing is run.

    Raises:
        TargetError: a target does not exist, lacks something, or cannot use one of the options.
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
    """Take an upgrade of Triton apart: in which release a kernel got worse, why, and what cures it.

    As :func:`kprof.diff` of the two releases and the minor ones between them, explained at the step at which most got
    worse. No GPU is used.

    Args:
        target: a kernel, or a capture.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: What a timed launch finds in the caches: warm (what the one before left), flushed (by reads),
            flushed-dirty (by writes, as triton.testing.do_bench), graph (replayed). Both flushed ones add events.
        all_configs: Each configuration that the kernel lists; of a capture, also what was not launched.
        grid: Workgroups of the launch of a kernel without cases, or of compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: What the launch does not say: an argument's value, or a tensor's contents as one number or FILE.json.
        budget: Seconds after which no compile is begun; 0: no limit.
        fail_on: Exit with 1 on this or worse: note, warning, error or never. If left out, a warning where files or
            compiles are compared and checked, never where a kernel is analysed.
        package: A package that the program after -- needs besides.
        tolerance: What may get worse: vgpr_spills=4,loop_instructions=20%.
        good: Release of Triton with which it was good.
        bad: Release of Triton with which it is bad; the installed one by default.
        program: a command to record under each release. With ``target`` the arguments of that Python file.
        progress: called with each step, in words.
        waiting: called with what is downloaded or waited for, in words.

    Raises:
        TargetError: the target does not exist or cannot be compiled again.
        CompileError: a kernel does not compile, or a release of Triton cannot be had.
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
        config_file: ``kprof.toml`` or ``pyproject.toml``; looked for in this folder and above when ``None``.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        advise: Seconds to search, by recompiling, for better knobs; 0: none.
        jobs: Worker processes; 0: one for each core.
        baseline: Baseline file instead of the configuration's.
        update_baseline: Write the present state to the baseline file; judge nothing.
        init: Write kprof.toml, its baseline and a GitHub workflow for the kernels and programs of this folder.

    Returns:
        The verdict. A kernel that cannot be compiled raises nothing: it makes the verdict ``cannot_tell``.

    Raises:
        KprofError: the configuration or the baseline cannot be read, or no baseline is named that could be updated.
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
    """What changed between two profiled runs: the same kernels, metric by metric, with their spread over dispatches.

    The same kernel has the same name, grid, workgroup, LDS and VGPRs, and the same agent where a run has several. One
    launch of two builds, with other LDS or VGPRs, is compared where nothing else can be meant, and says so.

    Times are for as many dispatches as the first run has. With --fail-over an incomplete run, or a kernel without a
    partner or without times, gives "cannot tell" and exit code 2. What was compared of complete runs and is too slow
    already gives 1.

    Args:
        before: The run to compare with: files of any ROCm profiler.
        after: The run in question.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        kernel: Only this kernel of a target with several; of counters all that have this in their names.
        by: What makes a row. Of a profile: name, shapes, module, phase, range, place, or module,name. Of a tree:
            modules, operators or both. Of counters: what launches of a kernel agree in, such as name,grid.
        dispatch: Only this dispatch; repeatable.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
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
    """Derived metrics of each kernel, from the files of any ROCm profiler. Several paths are several runs.

    Missing counters leave metrics out, and are listed. Launches that differ in grid, workgroup, LDS, VGPRs or agent
    count as different kernels. Several runs are shown side by side.

    Args:
        paths: Files or folders of any ROCm profiler; each is a run.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        kernel: Only this kernel of a target with several; of counters all that have this in their names.
        by: What makes a row. Of a profile: name, shapes, module, phase, range, place, or module,name. Of a tree:
            modules, operators or both. Of counters: what launches of a kernel agree in, such as name,grid.
        dispatch: Only this dispatch; repeatable.
        only_run: Only this run: its number or a part of its path; repeatable.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
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
    """Plan which counters to collect for a finding, a metric or a kernel's findings, in which passes.

    Args:
        target: a rule (``KP301`` or ``lds-bank-conflicts``), a metric of ``kprof counters metrics``, or a kernel as for
            :func:`kprof.analyze`, of whose findings those count that counters decide.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        condition: What a timed launch finds in the caches: warm (what the one before left), flushed (by reads),
            flushed-dirty (by writes, as triton.testing.do_bench), graph (replayed). Both flushed ones add events.
        grid: Workgroups of the launch of a kernel without cases, or of compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: What the launch does not say: an argument's value, or a tensor's contents as one number or FILE.json.
        output: File or folder to write; as a file, - is standard output.

    Raises:
        KprofError: nothing has that name, the kernel cannot be compiled, or the GPU has no formulas.
    """

def counter_roofline(
    *paths: str | os.PathLike[str],
    arch: str | Sequence[str] = ...,
    kernel: str | None = None,
    by: str = "",
    dispatch: int | Sequence[int] = ...,
    only_run: str | Sequence[str] = ...,
) -> CounterRoofline:
    """Kernels under the GPU's roofline: what bounds each, and how near it is.

    Args:
        paths: Files or folders of any ROCm profiler; each is a run.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        kernel: Only this kernel of a target with several; of counters all that have this in their names.
        by: What makes a row. Of a profile: name, shapes, module, phase, range, place, or module,name. Of a tree:
            modules, operators or both. Of counters: what launches of a kernel agree in, such as name,grid.
        dispatch: Only this dispatch; repeatable.
        only_run: Only this run: its number or a part of its path; repeatable.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
        KprofError: an option cannot be used.
    """

def diagnose(
    command: Sequence[str] = ...,
    *,
    root: str | os.PathLike[str] | None = "/",
    workload: str | None = None,
    gpu_report: str | os.PathLike[str] | None = None,
) -> Diagnosed:
    """Look whether a machine is set up for kernel work, as AMD's guides ask. Nothing is changed, nothing is run.

    Args:
        command: words of a command line whose variables and arguments are judged, too: ``["vllm", "serve", ...]``.
        root: Where the machine's /proc, /sys, /dev and /opt are: /host in a container.
        workload: What the settings are for: inference, training, tuning, multi-gpu, vllm or sglang.
        gpu_report: Output of rocminfo or of amd-smi static, whose GPUs the settings are judged for.

    Raises:
        KprofError: there is no such folder or workload, the report cannot be read, or no program in the command line is
            known.
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
    """Compare two compiles, or one kernel under several Tritons, and explain what got worse. No GPU is used.

    Args:
        old: a result of :func:`kprof.analyze`, or a target: a ``--json`` report, a capture or Triton cache directory,
            an ``.amdgcn``, ``.hsaco`` or ``.co`` file, a kernel.
        new: the same, to be compared with it; left out with ``triton``, where ``old`` is a kernel or a capture.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: What a timed launch finds in the caches: warm (what the one before left), flushed (by reads),
            flushed-dirty (by writes, as triton.testing.do_bench), graph (replayed). Both flushed ones add events.
        all_configs: Each configuration that the kernel lists; of a capture, also what was not launched.
        grid: Workgroups of the launch of a kernel without cases, or of compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: What the launch does not say: an argument's value, or a tensor's contents as one number or FILE.json.
        budget: Seconds after which no compile is begun; 0: no limit.
        fail_on: Exit with 1 on this or worse: note, warning, error or never. If left out, a warning where files or
            compiles are compared and checked, never where a kernel is analysed.
        triton: The Triton to compile with: a release, got once, 'installed', a .whl file, or a Python interpreter
            that has one; the installed one if left out. For a comparison, again for the next, old to new.
        package: A package that the program after -- needs besides.
        explain: Look for cause and fixes by recompiling; on by default with --triton, possible with two captures.
        since: Compare the work tree with this revision of git: whose machine code changed, and what launches it.
        tolerance: What may get worse: vgpr_spills=4,loop_instructions=20%.
        program: a command to record under each of ``triton``. With ``old`` the arguments of that Python file,
            ``FILE.py`` or ``FILE.py::FUNCTION``.
        targets: with ``since``, the Python files, folders and ``FILE.py::FUNCTION`` that are compared; the whole work
            tree when empty.
        progress: called with each step, in words.
        waiting: called with what is downloaded or waited for, in words.

    Raises:
        TargetError: a side does not exist or is of no known kind; sides and options that do not go together.
        InputError: a file cannot be read.
        CompileError: a kernel does not compile, or a release of Triton cannot be had.
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
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        condition: What a timed launch finds in the caches: warm (what the one before left), flushed (by reads),
            flushed-dirty (by writes, as triton.testing.do_bench), graph (replayed). Both flushed ones add events.
        grid: Workgroups of the launch of a kernel without cases, or of compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        kernel: Only this kernel of a target with several; of counters all that have this in their names.
        output: File or folder to write; as a file, - is standard output.

    Raises:
        TargetError: there is no such target or kernel, or it is several.
        CompileError: it does not compile, or Triton is missing.
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
    """Draw a layout: which lane holds which element, or LDS and its banks.

    Args:
        layout: an attribute (``#ttg.blocked<{...}>``), an alias of ``module`` (``#mma``), or a kind that ``setting``
            describes: ``blocked``, ``mfma``, ``wmma``, ``linear``, ``swizzled``, ``rotating``, ``padded``.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        size: Elements along each axis: 64x64.
        setting: A field of the kind: sizePerThread=1x8, version=3; others keep defaults.
        operand: Draw operand 0 or 1 of the product with this result.
        k_width: Neighbours along K in a lane, of an operand.
        bits: Size of an element in bits, for the banks of LDS.
        module: A TTGIR file whose aliases may be used.

    Raises:
        InputError: the module cannot be read.
        HardwareError: the architecture is not known.
        KprofError: it is no layout, or one that cannot be.
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
        target: A kernel of the traces or files, as kprof analyze kernel takes it; repeatable.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        fail_on: Exit with 1 on this or worse: note, warning, error or never. If left out, a warning where files or
            compiles are compared and checked, never where a kernel is analysed.
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

    Results are compared with the kernel's reference first; a wrong one is shown and not timed.

    Args:
        kernel: a bundled kernel, or a file with a ``KERNEL``.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        seed: Seed of the inputs.
        table: Dispatch table; $KPROF_DISPATCH_TABLE, if set, where none is named.
        timeout: Seconds that one compile, measurement or question may take.
        provider: Who computes it, comma separated: triton, tuned, torch, sdpa, aiter, ck, alternatives. By default
            triton, and torch where it can.
        limit: The machine's limits, where known better: gbs=4800,fp16=990.
        measure_limits: Measure limits that are not known with a copy and a matrix product.
        check_only: Compare with the reference, do not time.
        graph: Always or never launch through a device graph.
        warmup_ms: Milliseconds to run before measuring.
        rep_ms: Milliseconds to measure.
        inputs: Numbers in the inputs: own, zeros, same, integers or normal. They change clocks, not results: zeros
            can be a fifth faster.
        profile: Write PyTorch profiler traces to a folder.
        keep: Keep the instructions, MLIR, metadata, launches and kprof's report of each Triton kernel that ran, and
            the times, in a new folder for kprof validate.
        write_table: Add the fastest to a dispatch table for kprof select.
        gpus: GPUs that run it at the same time: 2 for both GCDs of an MI250X.
        progress: called with each measurement.

    Raises:
        HardwareError: there is no GPU.
        TargetError: there is no such kernel.
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
    vgpr: int | None = None,
    agpr: int | None = None,
    sgpr: int | None = None,
    wavefront_size: int | None = None,
    mode: str | None = None,
    method: str = "hardware",
    llvm: int | None = None,
    curve: str | None = None,
) -> Occupancies:
    """How many wavefronts a SIMD holds, from numbers or for a kernel, and what limits them. No GPU is used.

    Args:
        target: a bundled kernel, ``"file.py::function"``, an assembly file or a code object. Numbers that are given
            besides replace its own.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        condition: What a timed launch finds in the caches: warm (what the one before left), flushed (by reads),
            flushed-dirty (by writes, as triton.testing.do_bench), graph (replayed). Both flushed ones add events.
        lds: LDS of a workgroup: bytes, or 32K.
        num_warps: Wavefronts of a workgroup; 4 where occupancy has numbers alone.
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
        KprofError: a number is missing, or impossible on the architecture.
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
    """Judge candidates for a kernel. Equal questions have equal answers; the case is trusted, a candidate is not.

    A candidate is a file with the Triton function that the case launches, by its name and with its arguments, which
    takes its place. ``CONFIG = {"BLOCK": 1024, "num_warps": 8}`` in it sets knobs of the case.

    Args:
        candidate: its text, or its file as a ``Path``; a list of them is answered in its order.
        reference: a bundled kernel's name or a file with a ``KERNEL``, which is imported with all rights;
            ``NAME@CASE`` for another of its shapes than the first. Its ``checks`` and ``reference`` say what is right.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        seed: Seed of the inputs.
        timeout: Seconds that one compile, measurement or question may take.
        jobs: Worker processes; 0: one for each core.
        memory: MiB that a candidate and its files may take, besides Python, Triton and torch.
        any_python: Run candidates with other Python, contained, and judge the Triton functions that they define.
        allow_network: Leave the network to candidates.

    Raises:
        KprofError: there is no such case or GPU, Triton is missing, or candidates cannot be contained on this system
            or may not run.
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
    """Judge candidates for a kernel. Equal questions have equal answers; the case is trusted, a candidate is not.

    A candidate is a file with the Triton function that the case launches, by its name and with its arguments, which
    takes its place. ``CONFIG = {"BLOCK": 1024, "num_warps": 8}`` in it sets knobs of the case.

    Args:
        candidate: its text, or its file as a ``Path``; a list of them is answered in its order.
        reference: a bundled kernel's name or a file with a ``KERNEL``, which is imported with all rights;
            ``NAME@CASE`` for another of its shapes than the first. Its ``checks`` and ``reference`` say what is right.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        seed: Seed of the inputs.
        timeout: Seconds that one compile, measurement or question may take.
        jobs: Worker processes; 0: one for each core.
        memory: MiB that a candidate and its files may take, besides Python, Triton and torch.
        any_python: Run candidates with other Python, contained, and judge the Triton functions that they define.
        allow_network: Leave the network to candidates.

    Raises:
        KprofError: there is no such case or GPU, Triton is missing, or candidates cannot be contained on this system
            or may not run.
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
    """Where the time of a program would go on a GPU that it does not run on. Needs no GPU.

    Triton's kernels have the performance model's time, torch's own operators the time at the roofline over the share
    of it that such operators reached in public traces. Host time, overlap between streams and other ranks are outside.

    Of several GPUs the program runs once for each, since what it launches may depend on the GPU; a capture is of one
    architecture, by default of its own GPU. Each Triton kernel has a page beside the one of ``html``, of the first
    GPU. ``advise`` searches for kernels with 5 % of the step and more, on the first GPU; a program that ran no longer
    than that is run again up to their launches. With ``layers`` it is run with one and with two, or for ``4,8,32`` with
    4 and 8, and what the second has more comes on top as often as it takes.

    Args:
        target: a capture that was recorded with its operators, or a program to run: ``["python", "step.py"]``.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        condition: What a timed launch finds in the caches: warm (what the one before left), flushed (by reads),
            flushed-dirty (by writes, as triton.testing.do_bench), graph (replayed). Both flushed ones add events.
        output: File or folder to write; as a file, - is standard output.
        top: Rows to show; 0: all.
        budget: Seconds after which no compile is begun; 0: no limit.
        by: What makes a row. Of a profile: name, shapes, module, phase, range, place, or module,name. Of a tree:
            modules, operators or both. Of counters: what launches of a kernel agree in, such as name,grid.
        advise: Seconds to search, by recompiling, for better knobs; 0: none.
        time_limit: Seconds that the program after -- may run; 3600 if left out.
        jobs: Worker processes; 0: one for each core.
        within: Only what runs in torch.profiler.record_function(NAME).
        html: Write one page of everything that is known, for a browser. - is standard output.
        layers: The model's layers, from runs with 1 and 2 in place of {layers}; 4,8,N: with 4 and 8.

    Raises:
        TargetError: the program launches nothing and calls no operator, or fails before it does.
        KprofError: the capture cannot be read, or has no operators; the architecture has no product with peaks.
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
    """Write one HTML page of everything that is known about a kernel. It needs nothing but a browser.

    The page is ``output``; nothing is written where no kernel could be analysed, or without ``output``.

    Args:
        targets: as for :func:`kprof.analyze`, a report that ``--json`` wrote among them.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: What a timed launch finds in the caches: warm (what the one before left), flushed (by reads),
            flushed-dirty (by writes, as triton.testing.do_bench), graph (replayed). Both flushed ones add events.
        all_configs: Each configuration that the kernel lists; of a capture, also what was not launched.
        grid: Workgroups of the launch of a kernel without cases, or of compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: What the launch does not say: an argument's value, or a tensor's contents as one number or FILE.json.
        passes: Also show what each compiler pass changed.
        lds: LDS of a workgroup: bytes, or 32K.
        num_warps: Wavefronts of a workgroup; 4 where occupancy has numbers alone.
        counters: Files or folders of a ROCm profiler with what is asked about.
        trace: PyTorch traces, or folders of them, with what is asked about.
        thread_trace: A decoded thread trace (ATT) of the kernel.
        kernel: Only this kernel of a target with several; of counters all that have this in their names.
        time_limit: Seconds that the program after -- may run; 3600 if left out.
        try_cures: Compile the cheap fixes of findings that cost more than 5 % of the time: a dozen compiler options
            at most, none but the first started after two seconds. KPROF_TRY=0 turns them off everywhere.
        source: A folder with the sources of what is compiled already; the current one always counts.
        output: File or folder to write; as a file, - is standard output.
        max_size: Megabytes that the page of kernels should stay below, 1 if left out; 0: everything of all of them.
        keep_going: a target that cannot be analysed makes the verdict ``cannot_tell`` instead of raising.
        program: arguments of the one Python file in ``targets``, as for :func:`kprof.analyze`.

    Raises:
        KprofError: as :func:`kprof.analyze`, the size is no size, or the page cannot be written.
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
    counters: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    trace: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    kernel: str | None = None,
    try_cures: bool = True,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    target: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    output: str | os.PathLike[str] | None = None,
    scheduler: str | None = None,
) -> RunReport:
    """One HTML page of what traces and counters say of a run. It needs nothing but a browser.

    Each kernel of ``target`` gets a page of its own beside the run's, with what the traces say of it; the run's links
    to it. ``arch`` names the product where the files do not, and the other options say how the kernels are compiled.

    Args:
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: What a timed launch finds in the caches: warm (what the one before left), flushed (by reads),
            flushed-dirty (by writes, as triton.testing.do_bench), graph (replayed). Both flushed ones add events.
        all_configs: Each configuration that the kernel lists; of a capture, also what was not launched.
        grid: Workgroups of the launch of a kernel without cases, or of compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: What the launch does not say: an argument's value, or a tensor's contents as one number or FILE.json.
        passes: Also show what each compiler pass changed.
        lds: LDS of a workgroup: bytes, or 32K.
        num_warps: Wavefronts of a workgroup; 4 where occupancy has numbers alone.
        counters: Files or folders of a ROCm profiler with what is asked about.
        trace: PyTorch traces, or folders of them, with what is asked about.
        kernel: Only this kernel of a target with several; of counters all that have this in their names.
        try_cures: Compile the cheap fixes of findings that cost more than 5 % of the time: a dozen compiler options
            at most, none but the first started after two seconds. KPROF_TRY=0 turns them off everywhere.
        source: A folder with the sources of what is compiled already; the current one always counts.
        target: A kernel of the traces or files, as kprof analyze kernel takes it; repeatable.
        output: File or folder to write; as a file, - is standard output.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.

    Raises:
        InputError: a file cannot be read, or the traces have no kernel of the targets.
        TargetError: targets without traces, or without a file for the run's page; options without targets.
        KprofError: nothing was given, the product is not known, or a page cannot be written.
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
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        device_name: The device in file names, where it is not the product's usual one.
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
    """Where the GPU's time goes: attention, its GEMMs, MLP GEMMs, norms, communication, memory, ...

    The picture is a donut for one trace, and stacked bars for several.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Leave out what was launched before the recording began; it counts otherwise.
        cap_durations: Cut impossible durations at their stream's next start.
        categories: A TOML file with category rules of your own, read before those that come with kprof.
        by_name: Use kernel names only: bounded memory, whatever the size.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
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
    """What changed between two runs: before and after, or two batch sizes.

    Where both traces mark steps, the mean step is compared, so that they need not have equally many. With --fail-over a
    trace that is cut off, or that alone marks no steps, gives "cannot tell" and exit code 2. A folder is taken as one
    side, whose traces' times are added up.

    A measured trace and one that kprof profile -o wrote are compared operator by operator: a call's mean time in both,
    and how far the prediction is off for all calls that were measured.

    Args:
        before: The trace to compare with.
        after: The trace in question.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Leave out what was launched before the recording began; it counts otherwise.
        cap_durations: Cut impossible durations at their stream's next start.
        categories: A TOML file with category rules of your own, read before those that come with kprof.
        tree: Also align the trees of both sides by names: of modules, operators or both.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
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
    """The largest gaps between GPU activities, and the stretches where launching cannot keep up.

    launch-bound: the next kernel had not been launched yet when the gap began. synchronisation: and the CPU waited for
    the GPU or for memory in it. queued: it had been launched, and the GPU waited for something else.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        rows: maximum number of rows to compute; 0: all.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Leave out what was launched before the recording began; it counts otherwise.
        cap_durations: Cut impossible durations at their stream's next start.
        categories: A TOML file with category rules of your own, read before those that come with kprof.
        at_least: Leave out gaps shorter than this.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
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
    """What each operator computes and moves a second against the GPU's limits, those that lose most time first.

    Work comes from the shapes in the trace (record_shapes=True): operations, and every operand and result once. The
    limit is the GPU's published HBM bandwidth or matrix peak, whichever takes longer; what stays in a cache can be
    faster than that.

    With --target launches of that kernel get the model's time, and with --tune what the best configuration is
    predicted to give back.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        targets: kernels, as for :func:`kprof.analyze`: their launches get the model's time beside the measured one.
        progress: called with the state of each search.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Leave out what was launched before the recording began; it counts otherwise.
        cap_durations: Cut impossible durations at their stream's next start.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        condition: What a timed launch finds in the caches: warm (what the one before left), flushed (by reads),
            flushed-dirty (by writes, as triton.testing.do_bench), graph (replayed). Both flushed ones add events.
        grid: Workgroups of the launch of a kernel without cases, or of compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        value: What the launch does not say: an argument's value, or a tensor's contents as one number or FILE.json.
        space: Knobs with values (TOML, YAML, JSON) in place of the kernel's own.
        budget: Seconds after which no compile is begun; 0: no limit.
        tune: Search the targets' configurations for what the best one is predicted to give back.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
        KprofError: an option cannot be used.
    """

def trace_path(
    *paths: str | os.PathLike[str],
    jobs: int = 0,
    scheduler: str | None = None,
    exclude_warm_up: bool = False,
    cap_durations: bool = False,
) -> TracePath:
    """What decides how long a run takes, followed back from the end of each rank's last GPU activity.

    An activity waited for the one before it on its stream, for its launch, or for another stream, whichever was ready
    last; a launch for the CPU's work before it, back to where a thread waited for the GPU. What is not on the path
    shortens nothing; what is shortens the run by at most its time there.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Leave out what was launched before the recording began; it counts otherwise.
        cap_durations: Cut impossible durations at their stream's next start.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
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
    """Several files, one a rank, or one merged trace: who computes longer, who waits, and for whom.

    A collective ends on all ranks together: the rank whose kernel is shortest came last, and the others waited. Sends
    and receives have no common end and are summed apart. Without all ranks of the job none is named.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        rows: maximum number of rows to compute; 0: all.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Leave out what was launched before the recording began; it counts otherwise.
        cap_durations: Cut impossible durations at their stream's next start.
        categories: A TOML file with category rules of your own, read before those that come with kprof.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
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
    """What a timeline says of a run, on one page from one reading of each trace.

    Its parts are completeness, what each view of kprof trace says (breakdown, steps, top, gaps, tree, ops, ranks), and
    next: what to do, with the time that it could save at most. -o page.html writes the page; --show gaps,next prints
    parts by their names.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Leave out what was launched before the recording began; it counts otherwise.
        cap_durations: Cut impossible durations at their stream's next start.
        categories: A TOML file with category rules of your own, read before those that come with kprof.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
        KprofError: an option cannot be used.
    """

def trace_steps(
    *paths: str | os.PathLike[str],
    jobs: int = 0,
    scheduler: str | None = None,
    exclude_warm_up: bool = False,
    cap_durations: bool = False,
) -> TraceSteps:
    """Kernels by the step that launched them.

    A step is what torch.profiler's schedule marks (ProfilerStep#7) or a batch that vLLM or SGLang marks. It is slow
    when its kernels take more than 1.25 of the median of its phase, and cut when kernels that it launched are missing.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Leave out what was launched before the recording began; it counts otherwise.
        cap_durations: Cut impossible durations at their stream's next start.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
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
    """Read timelines of PyTorch, rocprofv3, rocpd, rocprof-sys, JAX and Proton, and say what is in them.

    PyTorch's traces (1.8 of 2021 to now, ROCm and CUDA) are read in bounded memory, whatever their size.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Leave out what was launched before the recording began; it counts otherwise.
        cap_durations: Cut impossible durations at their stream's next start.
        categories: A TOML file with category rules of your own, read before those that come with kprof.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
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
    """Kernels, operators and Triton kernels, those that take most GPU time first.

    Template arguments tell kernels of one name apart. ``--show operators`` has CPU operators by the GPU time that they
    launch, ``--show triton`` Triton kernels with the shape of their launch.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Leave out what was launched before the recording began; it counts otherwise.
        cap_durations: Cut impossible durations at their stream's next start.
        categories: A TOML file with category rules of your own, read before those that come with kprof.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
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
    """GPU time as a tree of modules (--by modules, the default), operators or both.

    Modules need a trace taken with with_modules=True or with_stack=True; without them the tree is of operators. A
    backward pass stands under "backward", at the modules of its forward pass. Kernels of a replayed graph stand by
    category.

    Args:
        paths: Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote.
        jobs: Worker processes; 0: one for each core.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        exclude_warm_up: Leave out what was launched before the recording began; it counts otherwise.
        cap_durations: Cut impossible durations at their stream's next start.
        by: What makes a row. Of a profile: name, shapes, module, phase, range, place, or module,name. Of a tree:
            modules, operators or both. Of counters: what launches of a kernel agree in, such as name,grid.
        each: Keep modules of one class apart instead of putting them together.

    Raises:
        InputError: a named recording is missing or cannot be read, or none in a folder can.
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
    """Rank a kernel's configurations by predicted time, without a GPU: all are compiled, and a model predicts.

    Ctrl-C ends the search with what is known so far; the same call goes on from there.

    Args:
        kernel: a bundled kernel, a file with a ``KERNEL``, ``"file.py::function"``, a :class:`kprof.Kernel`, a
            ``@triton.jit`` function, or ``"capture::kernel"``. With ``program`` a Python file to run, with
            ``::function`` that function's launch, or ``None``.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: What a timed launch finds in the caches: warm (what the one before left), flushed (by reads),
            flushed-dirty (by writes, as triton.testing.do_bench), graph (replayed). Both flushed ones add events.
        grid: Workgroups of the launch of a kernel without cases, or of compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        value: What the launch does not say: an argument's value, or a tensor's contents as one number or FILE.json.
        budget: Seconds after which no compile is begun; 0: no limit.
        run: Run a capture's program again, up to the launch, for other tiles; else compiler options only.
        scheduler: Dask scheduler whose workers do the work: tcp://host:8786.
        space: Knobs with values (TOML, YAML, JSON) in place of the kernel's own.
        verify: Also measure the short list on this machine's GPU.
        device_name: The device in file names, where it is not the product's usual one.
        output: File or folder to write; as a file, - is standard output.
        shape_file: Further problems from a YAML, JSON or TOML file: - {M: 4096, N: 4096, K: 4096}
        short_list: Length of the short list.
        write: Also write, to -o: triton, aiter, vllm, sglang, tune_gemm, dispatch.
        measured: CSV of measured times (knobs, sizes, time_us) that correct the model.
        resume: Go on from an earlier search, or forget it.
        key: A written format's key and the knob or value that it is: GROUP_SIZE_M=1.
        program: a program to record and whose launch is tuned: its command, or with a file as the kernel its arguments.
        progress: called with the state of the search.
        tell: called with a line on each measurement, and with what is run.

    Raises:
        TargetError: there is no such kernel, case, knob or size.
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
    counters: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    trace: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    thread_trace: str | os.PathLike[str] | None = None,
    kernel: str | None = None,
    time_limit: float | None = None,
    try_cures: bool = True,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    program: Sequence[str] | None = ...,
) -> Validation:
    """Hold what the model says of kernels against measurements of them.

    Args:
        targets: as for :func:`kprof.analyze`; or folders of ``kprof bench --keep``, which have the measured times.
        arch: GPUs, as products or architectures with commas: MI300X,gfx950. MI300X where nothing else names one.
        config: Knobs: BLOCK_M=64,num_warps=4.
        shape: Sizes of a problem: M=4096,dtype=fp16. Another problem is given again, or follows a ;.
        case: Named shape of the kernel; several with commas where a command takes them.
        signature: Argument types of a kernel without cases: '*fp16:16,*fp16,i32'.
        constexpr: Compile-time arguments of a kernel without cases: BLOCK=1024.
        jobs: Worker processes; 0: one for each core.
        condition: What a timed launch finds in the caches: warm (what the one before left), flushed (by reads),
            flushed-dirty (by writes, as triton.testing.do_bench), graph (replayed). Both flushed ones add events.
        all_configs: Each configuration that the kernel lists; of a capture, also what was not launched.
        grid: Workgroups of the launch of a kernel without cases, or of compiled code; axes separated by ;: 64;32 or
            'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.
        env: Triton's environment switches for the compile.
        value: What the launch does not say: an argument's value, or a tensor's contents as one number or FILE.json.
        lds: LDS of a workgroup: bytes, or 32K.
        num_warps: Wavefronts of a workgroup; 4 where occupancy has numbers alone.
        counters: Files or folders of a ROCm profiler with what is asked about.
        trace: PyTorch traces, or folders of them, with what is asked about.
        thread_trace: A decoded thread trace (ATT) of the kernel.
        kernel: Only this kernel of a target with several; of counters all that have this in their names.
        time_limit: Seconds that the program after -- may run; 3600 if left out.
        try_cures: Compile the cheap fixes of findings that cost more than 5 % of the time: a dozen compiler options
            at most, none but the first started after two seconds. KPROF_TRY=0 turns them off everywhere.
        source: A folder with the sources of what is compiled already; the current one always counts.
        program: arguments of the one Python file in ``targets``, as for :func:`kprof.analyze`.

    Raises:
        KprofError: as :func:`kprof.analyze`, or no measurement is named.
    """
