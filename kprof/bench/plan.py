"""Plan a benchmark, run it, and collect the results."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

from msgspec.structs import replace

from kprof.bench.document import BenchReport, BenchTask, Device, Measurement
from kprof.bench.implementations import NAMES
from kprof.bench.implementations import providers as known_providers
from kprof.bench.pool import Runner
from kprof.bench.published import published
from kprof.bench.values import OWN
from kprof.errors import KprofError, near
from kprof.hardware.default import DEFAULT_ARCH
from kprof.kernel_spec import Config, Kernel, Shape
from kprof.version import __version__

ALONE = "another GPU did not reach its samples, so samples were not taken at the same time"


def at_once(runners: Sequence[Runner], tasks: Sequence[BenchTask]) -> list[Measurement]:
    """Run one task per GPU at the same time; samples begin when all GPUs have compiled, checked and warmed up.

    Args:
        runners: one per GPU.
        tasks: one per runner, with ``together`` set.

    Returns:
        Results in the order of the runners. If a GPU takes no samples, the results of the others contain a remark that
        they ran without it.
    """
    line = Barrier(len(runners))

    def one(runner: Runner, task: BenchTask) -> Measurement:
        waited: list[bool] = []

        def begin() -> None:
            try:
                line.wait(runner.timeout)
                waited.append(True)
            except BrokenBarrierError:
                waited.append(False)

        found = replace(runner.measure(task, begin), gpu=runner.gpu)
        if not waited:
            line.abort()
        if waited == [False]:
            # The samples' time span is only meaningful in comparison with the spans of the other GPUs.
            timing = None if found.timing is None else replace(found.timing, span=None)
            found = replace(found, timing=timing, message="; ".join(filter(None, (found.message, ALONE))))
        return found

    with ThreadPoolExecutor(len(runners)) as threads:
        return list(threads.map(one, runners, tasks))


def overlap(spans: Sequence[tuple[float, float]]) -> float:
    """Return the share of the time from first to last sample in which all GPUs took samples, 0 to 1.

    >>> overlap([(0.0, 10.0), (1.0, 9.0)])
    0.8
    """
    whole = max(end for _, end in spans) - min(begin for begin, _ in spans)
    common = min(end for _, end in spans) - max(begin for begin, _ in spans)
    return max(0.0, common / whole) if whole > 0 else 1.0


def sums(found: Sequence[Measurement]) -> list[str]:
    """Return the GPUs' total rates in words; empty if a GPU has no time, or was not timed together with the others."""
    timings = [one.timing for one in found]
    spans = [timing.span for timing in timings if timing is not None and timing.span is not None]
    if len(spans) != len(found):
        return []
    rates = [
        f"{sum(values):,.4g} {unit}"
        for unit, values in (
            ("TFLOP/s", [one.tflops for one in found if one.tflops]),
            ("GB/s", [one.gbs for one in found if one.gbs]),
        )
        if len(values) == len(found)
    ]
    share = f"all GPUs took samples in {100 * overlap(spans):.0f} % of the time from the first sample to the last"
    what = f"{found[0].case} {found[0].provider} on {len(found)} GPUs at once"
    return [f"{what}: {', '.join([*(f'{rate} together' for rate in rates), share])}"]


@dataclass(frozen=True)
class Plan:
    """Measurements to make, and their settings.

    Attributes:
        target: bundled kernel or file.
        cases: names of cases or of groups of cases (``llama405b`` for all ``llama405b_...``); empty for the default
            case.
        shape: parameters that override those of each case.
        providers: providers in order; empty for Triton, and torch if it has an implementation.
        config: knobs for the Triton kernel.
        seed: seed of the random inputs.
        values: contents of the floating-point input tensors, one of :data:`kprof.bench.values.VALUES`.
        warmup_ms, rep_ms: time before and during each measurement, in milliseconds.
        use_graph: whether to launch through a device graph; ``None``: only short kernels.
        check_only: whether to compare results without timing.
        profile: folder for PyTorch profiler traces.
        keep: folder for the instructions, MLIR and metadata of the Triton kernels that run.
        tuned: ``tuned(shape, arch)`` returns the configuration from a dispatch table, or ``None`` to search.
        timeout: maximum seconds for one measurement.
        given_limits: limits that the user knows.
        measure_limits: whether to measure limits that are not known.
        gpus: number of GPUs that run each measurement at the same time.
    """

    target: str
    cases: Sequence[str] = ()
    shape: Shape = field(default_factory=dict)
    providers: Sequence[str] = ()
    config: Config = field(default_factory=dict)
    seed: int = 0
    values: str = OWN
    warmup_ms: float = 25.0
    rep_ms: float = 100.0
    use_graph: bool | None = None
    check_only: bool = False
    profile: str | None = None
    keep: str | None = None
    tuned: Callable[[Shape, str], Config | None] | None = None
    timeout: float = 600.0
    given_limits: Mapping[str, Any] = field(default_factory=dict)
    measure_limits: bool = True
    gpus: int = 1


def cases_of(kernel: Kernel, names: Iterable[str]) -> list[str]:
    """Return the cases that names select.

    A name selects the case of that name, or else every case that begins with ``name_``; ``all`` selects every case.

    Raises:
        KprofError: a name selects no case.
    """
    found: list[str] = []
    for name in names:
        group = [case for case in kernel.shapes if case.startswith(f"{name}_")]
        if name == "all":
            found.extend(kernel.shapes)
        elif name in kernel.shapes:
            found.append(name)
        elif group:
            found.extend(group)
        else:
            hint = f"its cases are {', '.join(kernel.shapes)}" if kernel.shapes else "it has no cases"
            raise KprofError(f"{kernel.name} has no case {name!r}{near(name, kernel.shapes)}", hint=hint)
    return list(dict.fromkeys(found))


def problems(kernel: Kernel, plan: Plan, arch: str) -> list[tuple[str, dict[str, Any]]]:
    """Return case name and parameters of every problem of a plan; the name is ``custom`` if parameters were changed.

    Raises:
        KprofError: an unknown case, parameter or dtype.
    """
    names: list[str | None] = [*cases_of(kernel, plan.cases)] or [next(iter(kernel.shapes), None)]
    result = []
    for name in names:
        shape = kernel.problem(arch, name, plan.shape)
        case = name or "custom"
        if plan.shape and name is not None and shape != kernel.problem(arch, name):
            case = "custom" if len(names) == 1 else f"{name}*"
        result.append((case, shape))
    return result


def expand(kernel: Kernel, providers: Iterable[str]) -> list[str]:
    """Return provider names, with ``alternatives`` replaced by the kernels that solve the same problem.

    Raises:
        KprofError: unknown provider.
    """
    found: list[str] = []
    for name in providers:
        if name == "alternatives":
            found.extend(kernel.alternatives)
        elif name in NAMES or name in kernel.providers or name in kernel.alternatives:
            found.append(name)
        else:
            known = (*NAMES, *kernel.providers, *kernel.alternatives)
            hint = f"there are {', '.join(known)}, and alternatives"
            raise KprofError(f"no provider {name!r}{near(name, known)}", hint=hint)
    return list(dict.fromkeys(found))


def default_providers(kernel: Kernel) -> list[str]:
    """Return Triton, and torch if it has an implementation of the kernel."""
    return ["triton", "torch"] if "torch" in known_providers(kernel) else ["triton"]


def run(kernel: Kernel, plan: Plan, report: Callable[[Measurement], None] | None = None) -> BenchReport:
    """Run all measurements of a plan.

    Args:
        kernel: the kernel that ``plan.target`` names.
        plan: measurements to make, and their settings.
        report: called with each measurement when it is done.

    Raises:
        KprofError: there is no GPU, or the plan names something unknown.
    """
    providers = expand(kernel, plan.providers) or default_providers(kernel)
    # Find user errors before a process that looks for a GPU is started.
    for _, shape in problems(kernel, plan, DEFAULT_ARCH):
        kernel.configure(DEFAULT_ARCH, plan.config, shape)
    with ExitStack() as stack:
        runners = [stack.enter_context(Runner(plan.timeout, gpu)) for gpu in range(plan.gpus)]
        given, measure = dict(plan.given_limits), plan.measure_limits and not plan.check_only
        devices = [runner.describe(given, measure=measure) for runner in runners]
        measurements, notes = [], []
        for case, shape in problems(kernel, plan, devices[0].arch):
            for provider in providers:
                tasks = [_task(plan, device, case, shape, provider, gpu=gpu) for gpu, device in enumerate(devices)]
                found = at_once(runners, tasks) if plan.gpus > 1 else [runners[0].measure(tasks[0])]
                notes += sums(found) if plan.gpus > 1 else []
                measurements += found
                if report is not None:
                    for one in found:
                        report(one)
    others = list(dict.fromkeys(f"{d.name} ({d.arch})" for d in devices if d.arch != devices[0].arch))
    if others:
        notes.append(f"not all GPUs are {devices[0].name} ({devices[0].arch}): {', '.join(others)}")
    known = published(kernel.name, measurements)
    return BenchReport(__version__, devices[0], measurements, published=known, notes=notes)


def _task(plan: Plan, device: Device, case: str, shape: dict[str, Any], provider: str, *, gpu: int) -> BenchTask:
    config = dict(plan.config)
    if provider == "tuned" and plan.tuned is not None and (known := plan.tuned(shape, device.arch)) is not None:
        config = {**known, **config}
    trace = kept = None
    name = Path(plan.target).stem.replace("::", "_") + (f".gpu{gpu}" if plan.gpus > 1 else "")
    name = f"{name}.{case.replace('*', '_custom')}.{provider}"
    if plan.profile is not None:
        folder = Path(plan.profile)
        folder.mkdir(parents=True, exist_ok=True)
        trace = str((folder / f"{name}.json").absolute())
    if plan.keep is not None:
        kept = str((Path(plan.keep) / name).absolute())
    return BenchTask(
        target=plan.target,
        case=case,
        shape=shape,
        provider=provider,
        config=config,
        seed=plan.seed,
        values=plan.values,
        warmup_ms=plan.warmup_ms,
        rep_ms=plan.rep_ms,
        use_graph=plan.use_graph,
        check_only=plan.check_only,
        profile=trace,
        keep=kept,
        device=device,
        together=plan.gpus > 1,
    )


def verdict(report: BenchReport) -> tuple[int, str]:
    """Return the exit code and a one-line reason: 1 for a wrong result, 2 if something could not be measured."""
    wrong = [m for m in report.measurements if m.status == "wrong"]
    failed = [m for m in report.measurements if m.status in {"out_of_memory", "crashed", "timeout", "error"}]
    left_out = [m for m in report.measurements if m.status in {"unsupported", "not_installed"}]
    done = len(report.measurements) - len(wrong) - len(failed) - len(left_out)
    parts = [f"{done} measured"]
    for what, group in (("wrong", wrong), ("failed", failed), ("not available", left_out)):
        if group:
            parts.append(f"{len(group)} {what} ({', '.join(dict.fromkeys(f'{m.case} {m.who}' for m in group))})")
    code = 1 if wrong else 2 if failed or not done else 0
    return code, ", ".join(parts)
