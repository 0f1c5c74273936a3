"""Plan and run the compiles of source targets: bundled kernels and kernels in a user's file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.compiler.request import Compiled, CompileRequest, from_json
from kprof.compiler.specialization import specialization_of
from kprof.condition import CONDITIONS, WARM, Condition
from kprof.errors import KprofError, TargetError, UnknownLaunchError, near
from kprof.findings import Location
from kprof.hardware.machine import Architecture, Product
from kprof.options.groups import CompileOptions
from kprof.targets.loaded import LoadedKernel
from kprof.targets.target import Target, TargetKind, kernel_of, kind_of, resolve
from kprof.targets.usable_options import check, given
from kprof.targets.values import supplied

if TYPE_CHECKING:
    from kprof.importing.functions import Function
    from kprof.kernel_spec import Config, Kernel, Launch, Part
    from kprof.targets.target import TargetLike


@dataclass(frozen=True)
class TargetJob:
    """One compile to be done, with its launch.

    Attributes:
        request: the compile request.
        machine: hardware model of its architecture.
        name: name of the kernel.
        grid: workgroups of the launch; ``None`` if no launch is known.
        problem: problem parameters of the launch.
        arguments: numeric arguments of the launch by name.
        notes: descriptions of unknown facts.
        product: the GPU, if a product was named.
        values: numbers that the launch does not determine, see :mod:`kprof.targets.values`.
        contents: values of integer tensors of the launch by name, if known.
        tensor_bytes: bytes of all tensors of a recorded launch; ``None`` if unknown.
        job: name of the call that makes this launch and others; empty if the call makes one launch.
        listed: configurations among which an autotuner chooses at this launch, each with its compile; else empty.
        condition: state of the caches for a timed launch.
    """

    request: CompileRequest
    machine: Architecture
    name: str
    grid: tuple[int, ...] | None
    problem: Mapping[str, Any]
    arguments: Mapping[str, int | float] = field(default_factory=dict)
    notes: Sequence[str] = ()
    product: Product | None = None
    values: Mapping[str, int | Sequence[int]] = field(default_factory=dict)
    contents: Mapping[str, Sequence[int]] = field(default_factory=dict)
    tensor_bytes: int | None = None
    job: str = ""
    listed: "Sequence[tuple[str, TargetJob]]" = ()
    condition: Condition = WARM


def plan(
    target: "TargetLike | Target",
    machines: Sequence[Architecture],
    options: CompileOptions,
    product: Product | None = None,
) -> list[TargetJob]:
    """Return the compiles of a source target, without doing them.

    Args:
        target: any argument or result of :func:`kprof.targets.target.resolve`.
        machines: architectures to compile for.
        options: which kernels, cases and configurations to compile.
        product: the GPU whose number of CUs determines launches; ``None``: each architecture's first product.

    Raises:
        KprofError: if a kernel, case or knob does not exist, the target cannot use an option, the architecture does not
            support the kernel, or Triton is missing.
    """
    from kprof.compiler.versions import installed
    from kprof.targets.library import bundled, load

    found = target if isinstance(target, Target) else resolve(target)
    if found.kernel is not None:
        installed()
        return [job for machine in machines for job in calls_of(found.kernel, machine, options, product)]
    place = found.text.partition("::")[0]
    if not Path(place).suffix and "/" not in place and place not in bundled():
        # An unknown name is reported first, even if Triton is not installed.
        load(found.text)
    installed()
    question = _question(found.text, machines, options, product)
    jobs = _asked_before(question, machines, options) if options.use_cache else None
    return _ask(found.text, machines, options, product) if jobs is None else jobs


def _question(
    target: str, machines: Sequence[Architecture], options: CompileOptions, product: Product | None
) -> dict[str, Any]:
    from kprof.targets.library import bundled

    place, _, function = target.partition("::")
    path = bundled().get(place) or Path(place)
    named = vars(options.part(CompileOptions))
    chosen = {name: value for name, value in named.items() if name not in {"arch", "jobs", "use_cache", "condition"}}
    # Options that a source cannot use are part of the key, too; otherwise a stored result would hide the error.
    chosen |= {name: getattr(options, name) for name in given(options) if name not in named}
    gpus = [machine.name if product is None else product.name for machine in machines]
    return {"file": str(path.absolute()), "function": function, "gpus": gpus, **chosen}


def _asked_before(
    question: Mapping[str, Any], machines: Sequence[Architecture], options: CompileOptions
) -> list[TargetJob] | None:
    """Return the compiles that were stored for an equal question, unless a file has changed since then.

    With stored compiles, Triton need not be imported. See :mod:`kprof.compiler.question_cache`.
    """
    from kprof.compiler.question_cache import recall

    answer = recall(question)
    if not isinstance(answer, list):
        return None
    return [_read(entry, {machine.name: machine for machine in machines}, options) for entry in answer]


def _read(entry: Mapping[str, Any], machines: Mapping[str, Architecture], options: CompileOptions) -> TargetJob:
    """Convert a stored compile to a job; the inverse of :func:`_written`."""
    return TargetJob(
        request=from_json(entry["request"]),
        machine=machines[entry["arch"]],
        name=entry["name"],
        grid=None if entry["grid"] is None else tuple(entry["grid"]),
        problem=entry["problem"],
        arguments=entry["arguments"],
        notes=tuple(entry["notes"]),
        values=options.value if entry["values"] else {},
        contents=entry["contents"],
        job=entry["job"],
        listed=tuple((config, _read(each, machines, options)) for config, each in entry["listed"]),
        condition=CONDITIONS[options.condition],
    )


def _written(job: TargetJob, options: CompileOptions) -> dict[str, Any]:
    """Convert a job to JSON values to be stored with its question."""
    return {
        "request": job.request.to_json(),
        "arch": job.machine.name,
        "name": job.name,
        "grid": job.grid,
        "problem": dict(job.problem),
        "arguments": dict(job.arguments),
        "contents": dict(job.contents),
        "notes": list(job.notes),
        # Values apply to the kernel itself; its parts have other arguments.
        "values": job.values is options.value,
        "job": job.job,
        "listed": [[config, _written(each, options)] for config, each in job.listed],
    }


def _ask(
    target: str, machines: Sequence[Architecture], options: CompileOptions, product: Product | None
) -> list[TargetJob]:
    """Load the kernel's file, derive its compiles, and store them for the next equal question."""
    import sys

    from kprof.compiler.question_cache import remember
    from kprof.importing.functions import unwrap

    jobs: list[TargetJob] = []
    function = None
    for machine in machines:
        # A file may define something else if it sees another GPU.
        kernel = kernel_of(target, machine.name if product is None else product.name)
        jobs += calls_of(kernel, machine, options, product)
        function = unwrap(kernel.entry)
    module = sys.modules.get(function.jit.fn.__module__) if function is not None else None
    if options.use_cache and module is not None:
        answer = [_written(job, options) for job in jobs]
        remember(_question(target, machines, options, product), answer, module)
    return jobs


def calls_of(
    kernel: "Kernel", machine: Architecture, options: CompileOptions, product: Product | None = None
) -> "Iterator[TargetJob]":
    """Yield every launch of a kernel's call: the kernel itself and the parts that its ``run`` launches.

    Args:
        kernel: the kernel.
        machine: architecture.
        options: case, sizes and knobs.
        product: the GPU whose number of CUs determines launches; ``None``: the architecture's first product.

    Raises:
        TargetError: if the kernel does not use an option.
        KprofError: if a case or knob does not exist, or the architecture does not support the kernel.
    """
    if kind_of(kernel) is TargetKind.FUNCTION or not kernel.parts:
        yield from jobs_of(kernel, machine, options, product)
        return
    problem, configs = _cases(kernel, machine, options, product)
    for number, config in enumerate(configs, 1):
        launches = list(launches_of(kernel, machine, problem, config, options))
        name = f"{kernel.name} (configuration {number})" if len(configs) > 1 else kernel.name
        yield from (replace(launch, job=name if len(launches) > 1 else "") for launch in launches)


def launches_of(
    kernel: "Kernel", machine: Architecture, problem: Mapping[str, Any], config: "Config", options: CompileOptions
) -> "Iterator[TargetJob]":
    """Yield the launches of one call, in order: the kernel itself, then the parts that the call needs.

    Raises:
        KprofError: if the file's ``launch`` or ``when`` fails, or describes a launch that cannot be compiled.
    """
    from kprof.kernel_spec import Part

    yield _from_case(
        kernel.name, Part(kernel.entry, kernel.launch, options=kernel.options), machine, problem, config, options
    )
    for name, part in kernel.parts.items():
        full = f"{kernel.name}::{name}"
        if part.when is None or _call_user_function(full, "when", part.when, problem, config):
            yield _from_case(full, part, machine, problem, config, replace(options, value={}))


def jobs_of(
    kernel: "Kernel", machine: Architecture, options: CompileOptions, product: Product | None = None
) -> "Iterator[TargetJob]":
    """Yield the compiles of a kernel's own launch, without its parts, on one architecture.

    Args:
        kernel: the kernel.
        machine: architecture.
        options: case, sizes and knobs.
        product: the GPU whose number of CUs determines launches; ``None``: the architecture's first product.

    Raises:
        TargetError: if the kernel does not use an option.
        KprofError: if a case or knob does not exist, or the architecture does not support the kernel.
    """
    kind = kind_of(kernel)
    check(kind, kernel.name, given(options))
    if kind is TargetKind.FUNCTION:
        yield from _from_signature(kernel, machine, options)
        return
    from kprof.kernel_spec import Part

    problem, configs = _cases(kernel, machine, options, product)
    own = Part(kernel.entry, kernel.launch, options=kernel.options)
    for config in configs:
        yield _from_case(kernel.name, own, machine, problem, config, options)


def _cases(
    kernel: "Kernel", machine: Architecture, options: CompileOptions, product: Product | None
) -> "tuple[Mapping[str, Any], list[Config]]":
    """Return the problem, and the configurations to compile for it."""
    check(kind_of(kernel), kernel.name, given(options))
    problem = kernel.problem(machine.name, options.case, options.sizes)
    reason = kernel.unsupported(machine.name, problem) if kernel.unsupported is not None else None
    if reason:
        raise TargetError(f"{kernel.name} cannot run on {machine.name}: {reason}")
    overrides: Sequence[Config] = [options.config]
    if options.all_configs:
        overrides = [{**config, **options.config} for config in kernel.configs]
        _require_several(kernel, len(overrides))
    gpu = machine.name if product is None else product.name
    return problem, [kernel.configure(gpu, override, problem) for override in overrides]


def _from_case(  # noqa: PLR0917 - one launch: its code, the GPU, the problem and the knobs
    name: str,
    code: "Part",
    machine: Architecture,
    problem: Mapping[str, Any],
    config: "Config",
    options: CompileOptions,
) -> TargetJob:
    from kprof.kernel_spec import Tensor, split_config
    from kprof.targets.specialize import from_launch

    launch: Launch = _call_user_function(name, "launch", code.launch, problem, config)
    if any(axis < 1 for axis in launch.grid):
        grid = "x".join(map(str, launch.grid))
        raise TargetError(f"the launch of {name} has no workgroups: its grid is {grid}", hint="See --shape.")
    request = from_launch(
        code.entry,
        launch,
        machine.name,
        options=split_config(config if code.options is None else code.options)[1],
        environment=options.env,
        passes=options.passes,
    )
    numbers = {n: v for n, v in launch.args.items() if isinstance(v, int | float)}
    tensors = {n: v for n, v in launch.args.items() if isinstance(v, Tensor)}
    contents = {n: tensor.values for n, tensor in tensors.items() if tensor.values is not None}
    workgroups = tuple(launch.grid)
    return TargetJob(
        request, machine, name, workgroups, problem, numbers,
        values=options.value, contents=contents, condition=CONDITIONS[options.condition],
    )  # fmt: skip


def _call_user_function(name: str, what: str, function: Any, problem: Mapping[str, Any], config: "Config") -> Any:
    """Call a function of the user's kernel file; any exception becomes a TargetError."""
    try:
        return function(problem, config)
    except KprofError:
        raise
    except Exception as error:
        raise TargetError(f"the {what} of {name} fails: {type(error).__name__}: {error}") from error


def _from_signature(kernel: "Kernel", machine: Architecture, options: CompileOptions) -> Iterator[TargetJob]:
    """Yield a job for each of the autotuner's configurations with ``all_configs``, else one job with the first one."""
    from kprof.importing.functions import unwrap
    from kprof.kernel_spec import split_config
    from kprof.targets.signature import from_signature, numbers
    from kprof.targets.sizes import with_sizes

    function = unwrap(kernel.entry)
    if function is None:
        raise TargetError(f"{kernel.name} is not a Triton function")
    if options.signature is None:
        raise _no_launch(kernel, function)
    constexprs, backend = split_config(options.config)
    values = {**options.constexpr, **constexprs}
    signature = with_sizes(function, options.signature, values, options.sizes)
    passed = numbers(function, signature, values)
    tuned = {name for config in function.configs for name in config}
    chooses = len(function.configs) > 1 and bool(options.grid) and not tuned & {*values, *backend}
    each_alone = [replace(function, configs=[config]) for config in function.configs]
    if options.all_configs:
        _require_several(kernel, len(each_alone))

    def job_of_configuration(each: "Function") -> TargetJob:
        known = {**(each.configs[0] if each.configs else {}), **passed, **values, **backend}
        derived = _derived(kernel.entry, known)
        request = from_signature(
            each,
            signature,
            machine.name,
            constexprs={**{n: v for n, v in derived.items() if n in each.arguments}, **values},
            options={**{n: v for n, v in derived.items() if n not in each.arguments}, **backend},
            environment=options.env,
            passes=options.passes,
        )
        notes, problem = _left_out(function), dict(options.sizes)
        numbers = {name: value for name, value in options.value.items() if isinstance(value, int)}
        grid = _workgroups(options, {**numbers, **problem, **known, **derived})
        return TargetJob(
            request, machine, kernel.name, grid, problem, passed, notes,
            values=options.value, condition=CONDITIONS[options.condition],
        )  # fmt: skip

    if options.all_configs:
        yield from map(job_of_configuration, each_alone)
        return
    own = job_of_configuration(function)
    if chooses:
        listed = tuple((_config_words(each.configs[0]), job_of_configuration(each)) for each in each_alone)
        own = replace(own, listed=listed)
    yield own


def _config_words(config: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in config.items())


def _workgroups(options: CompileOptions, known: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Return the launch's workgroups along each axis, computed from ``--grid``; ``None`` without ``--grid``.

    Raises:
        KprofError: if a formula uses a name that is neither a knob nor a size.
    """
    from kprof.expressions import SCALARS, parse, whole

    formulas = [parse(str(axis), "--grid", SCALARS) for axis in options.grid]
    for name in sorted({name for formula in formulas for name in formula.names - known.keys()}):
        hint = near(name, known).removeprefix("; ") or f"give it: --shape {name}=..."
        raise KprofError(f"the grid uses {name}, which is neither a knob nor a size that was given", hint=hint)
    return tuple(whole(formula, known) for formula in formulas) or None


def _left_out(function: "Function") -> tuple[str, ...]:
    """Describe the parts of the function's file that were not run."""
    import sys

    from kprof.importing.loading import left_out

    module = sys.modules.get(function.jit.fn.__module__)
    words = None if module is None else left_out(module)
    return () if words is None else (words,)


def _derived(entry: Any, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of heuristics for known values; nothing if a heuristic needs an unknown value."""
    from kprof.targets.sizes import by_heuristics

    try:
        return by_heuristics(entry, values)
    except TargetError:
        # A constexpr without a value is reported together with all others.
        return {}


def _require_several(kernel: "Kernel", count: int) -> None:
    """Check that ``all_configs`` has several configurations to compile."""
    if count <= 1:
        has = "lists one configuration only" if count else "lists no configurations"
        raise TargetError(
            f"{kernel.name} {has}, so there is nothing for --all-configs",
            hint="Leave it out; --config sets knobs, kprof tune tries them.",
        )


def _no_launch(kernel: "Kernel", function: "Function") -> KprofError:
    import shlex

    from kprof.importing.launches import launches_kernels

    tuned = function.configs[0] if function.configs else {}
    needed = [p.name for p in function.jit.params if p.is_constexpr and not p.has_default and p.name not in tuned]
    arguments = [name for name in function.arguments if name not in function.constexprs]
    typed = ",".join(f"{name}=..." for name in arguments)
    values = "".join(f" --constexpr {name}=..." for name in needed)
    own = f"{kernel.name} does not say how it is launched"
    options = f"--signature '{typed}'{values} with types such as *fp16, i32, i32:16, fp32"
    if not launches_kernels(function.path):
        hint = f"{options}; or add a KERNEL to the file"
        return UnknownLaunchError(own, hint=hint, arguments=arguments, constexprs=needed)
    file = function.path
    file = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    return UnknownLaunchError(
        f"run it: kprof analyze kernel {shlex.quote(str(file))} --",
        hint=f"{own}, and its file launches it. Without running the file: {options}; or add a KERNEL to it",
        program=str(file),
        arguments=arguments,
        constexprs=needed,
    )


def compile_jobs(jobs: Sequence[TargetJob], options: CompileOptions) -> Iterator[Compiled]:
    """Compile planned jobs, and yield the results in the same order.

    Raises:
        KprofError: if Triton is missing or rejects a kernel.
    """
    from kprof.compiler.compile import compile_kernel, compile_many

    if not jobs:
        return
    if len(jobs) == 1:
        yield compile_kernel(jobs[0].request, cache=options.use_cache)
        return
    waiting: dict[int, Compiled] = {}
    following = 0
    for outcome in compile_many([job.request for job in jobs], options.jobs or None, cache=options.use_cache):
        waiting[outcome.index] = outcome.result()
        while following in waiting:
            yield waiting.pop(following)
            following += 1


def job_of(kernel: LoadedKernel) -> TargetJob:
    """Return the compile and the launch that a kernel came from.

    Raises:
        TargetError: if the kernel was not compiled here.
    """
    if kernel.request is None:
        raise TargetError(f"{kernel.name} was not compiled here, so it cannot be compiled again")
    return TargetJob(
        kernel.request, kernel.arch, kernel.name, kernel.grid, kernel.problem, kernel.arguments,
        product=kernel.product, contents=kernel.contents, tensor_bytes=kernel.tensor_bytes, condition=kernel.condition,
    )  # fmt: skip


def loaded(job: TargetJob, compiled: Compiled) -> LoadedKernel:
    """Convert a finished compile to a kernel that can be analysed."""
    from kprof.compiler.versions import with_argument_names
    from kprof.inputs import amdgcn, mlir

    assembly = amdgcn.parse(compiled.amdgcn)
    notes = [*job.notes, *assembly.notes, *(f"{stage} was not made: {why}" for stage, why in compiled.missing.items())]
    if compiled.in_memory:
        names = ", ".join(compiled.in_memory)
        notes.insert(0, f"compiled as it is in memory: not as in {job.request.path}: {names}")
    line = compiled.source_line
    kernel = LoadedKernel(
        name=job.name,
        arch=job.machine,
        product=job.product,
        program=assembly.kernels[0],
        ttgir=mlir.parse(with_argument_names(compiled.ttgir, job.request.run_time_arguments)),
        metadata=compiled.metadata,
        specialization=specialization_of(job.request),
        grid=job.grid,
        arguments=job.arguments,
        contents=job.contents,
        tensor_bytes=job.tensor_bytes,
        condition=job.condition,
        problem=job.problem,
        request=job.request,
        job=job.job,
        triton=compiled.triton_version,
        source=Location(file=compiled.source_path or job.request.path, line=line) if line else None,
        compile_seconds=compiled.seconds,
        cached=compiled.cached,
        passes=compiled.passes,
        stages=compiled.stages,
        notes=notes,
    )
    (found,) = supplied([kernel], job.values, job.name)
    return found
