"""Compile in this process, stage by stage. :mod:`kprof.compiler.compile` does the same safely in a worker."""

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kprof.compiler import environment, versions
from kprof.compiler.failures import explain
from kprof.compiler.from_ttir import SUFFIX, RecordedFunction, load_recorded
from kprof.compiler.in_memory import as_in_memory
from kprof.compiler.request import STAGES, Compiled, CompileRequest, DtypeRef, FunctionRef
from kprof.errors import CompileError, KprofError, near_hint
from kprof.importing.functions import Function, load_function
from kprof.importing.without_gpu import simulating

Progress = Callable[[str], None]

_ARCH = re.compile(r"gfx\d{1,2}[0-9a-f]{2}(-strict)?")


@dataclass
class Build:
    """A compile in progress, with the results so far, which are kept if it fails."""

    request: CompileRequest
    function: Function
    stages: dict[str, str | bytes] = field(default_factory=dict)
    stage_seconds: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    stage: str | None = None


def function_of(request: CompileRequest) -> Function:
    """Return the function that a request compiles: from a Python file, from memory if that differs, or from TTIR.

    Raises:
        KprofError: if the file or function does not exist, or the function in memory differs and cannot be compiled.
    """
    if request.path.endswith(SUFFIX):
        return load_recorded(request.path, request.function)
    with simulating(request.arch):
        if request.memory is not None:
            return as_in_memory(request.path, request.function, request.memory)
        return load_function(request.path, request.function)


def compile_function(
    api: versions.Api, request: CompileRequest, function: Function, progress: Progress | None = None
) -> Compiled:
    """Compile a loaded function. The caller sets the request's environment variables.

    Raises:
        CompileError: if the compiler rejects the function: a :class:`RefusedError` with the results of earlier stages.
        KprofError: if no usable Triton is installed, or an argument or option is wrong.
    """
    build = Build(request, function)
    return finished(
        api, build, lambda: _run(api, build, progress or (lambda _stage: None)), lambda: hash_of(request, function)
    )


def finished(api: versions.Api, build: Build, run: Callable[[], None], identity: Callable[[], str]) -> Compiled:
    """Run the stages of a compile by calling ``run``, and return the result.

    Raises:
        CompileError: see :func:`compile_function`.
    """
    started = time.perf_counter()
    try:
        run()
    except KprofError:
        raise
    except Exception as error:
        raise explain(error, build.stage, build.function, build.stages) from error
    return Compiled(
        request=build.request,
        stages=build.stages,
        metadata=build.metadata,
        triton_version=api.version,
        seconds=time.perf_counter() - started,
        cached=False,
        hash=identity(),
        source_line=build.function.line,
        source_path=str(build.function.path) if build.function.in_memory else "",
        in_memory=build.function.in_memory,
        stage_seconds=build.stage_seconds,
        diagnostics="\n".join(build.warnings),
        missing=build.missing,
    )


def hash_of(request: CompileRequest, function: Function) -> str:
    """Return the SHA-256 of all inputs; see :func:`kprof.compiler.compiled_cache.content_hash`.

    Raises:
        RefusedError: if Triton cannot find a name that the function refers to.
    """
    from kprof.compiler.compiled_cache import content_hash

    try:
        # If the file's function equals the one in memory, the result is the same as for the file alone.
        plain = request if function.in_memory else replace(request, memory=None)
        return content_hash(plain, function.jit, function.dependencies)
    except (AttributeError, NameError, RuntimeError, TypeError, ValueError) as error:
        raise explain(error, "source", function, {}) from error


def _run(api: versions.Api, build: Build, progress: Progress) -> None:
    request, function = build.request, build.function
    if not _ARCH.fullmatch(request.arch):
        raise CompileError(
            f"{request.arch!r} is not an AMD architecture that Triton compiles for",
            hint="for example gfx942 or gfx1100",
        )
    target = api.gpu_target("hip", request.arch, versions.warp_size(request.arch))
    backend = api.make_backend(target)
    options = parse_options(api, backend, request, build.warnings)
    if isinstance(function, RecordedFunction):
        source: Any = function.source(api.language.TRITON)
        run_stages(api, build, CompileTarget(target, backend, options), source, progress)
        return
    gluon = function.jit.is_gluon()
    if gluon and api.gluon_source is None:
        raise CompileError(f"Triton {api.version} has no Gluon", path=request.path)
    source = (api.gluon_source if gluon else api.ast_source)(
        function.jit, dict(request.signature), *_values(api, request, function)
    )
    run_stages(api, build, CompileTarget(target, backend, options), source, progress)


@dataclass(frozen=True)
class CompileTarget:
    """Triton's own objects that describe the target of a compile."""

    target: Any
    backend: Any
    options: Any


def run_stages(
    api: versions.Api, build: Build, target: CompileTarget, source: Any, progress: Progress, *, last: str | None = None
) -> None:
    """Compile one of Triton's sources (``ASTSource``), stage by stage, into ``build``, up to the stage ``last``.

    Raises:
        Exception: whatever the compiler raises; :func:`kprof.compiler.failures.explain` describes it.
    """
    backend, options = target.backend, target.options
    metadata: dict[str, Any] = {"target": target.target, **vars(options), **api.environment()}
    metadata["triton_version"] = api.version
    makers: dict[str, Any] = {}
    backend.add_stages(makers, options, source.language)
    context = api.ir.context()
    api.ir.load_dialects(context)
    backend.load_dialects(context)
    build.stage = "source"
    progress("source")
    started = time.perf_counter()
    with versions.quiet(build.warnings):
        module = versions.make_ir(source, target.target, backend, options, context)
        if source.ext == "ttgir":
            build.stages["ttir"] = str(module)
        for stage in list(makers)[list(makers).index(source.ext) :]:
            build.stage = stage
            progress(stage)
            module = _stage(api, build, makers[stage], module, metadata)
            now = time.perf_counter()
            build.stage_seconds[stage] = now - started
            started = now
            if module is None or stage == last:
                break
    build.metadata = json.loads(json.dumps(metadata, default=_plain))


def _stage(api: versions.Api, build: Build, make: Any, module: Any, metadata: dict[str, Any]) -> Any:
    """Run one stage. Only the linked code object may be missing, if there is no linker."""
    stage = str(build.stage)
    if stage != "hsaco":
        module = make(module, metadata)
        if stage in STAGES:
            build.stages[stage] = str(module)
        return module
    with versions.linker(api.numbers, build.request.environment):
        try:
            build.stages[stage] = make(module, metadata)
        except Exception as error:
            if "linker" not in str(error):
                raise
            build.missing[stage] = f"Triton {api.version} links with ld.lld, which was not found"
            return None
    return build.stages[stage]


def assembly_of(api: versions.Api, request: CompileRequest, llvm_ir: str) -> str:
    """Compile LLVM IR, possibly of another release, to AMDGCN with this Triton's LLVM.

    A newer LLVM reads older IR; an older LLVM may not understand newer IR.

    Raises:
        CompileError: if LLVM cannot read the IR, or cannot generate code from it.
    """
    from triton._C.libtriton import llvm

    target = api.gpu_target("hip", request.arch, versions.warp_size(request.arch))
    backend = api.make_backend(target)
    makers: dict[str, Any] = {}
    with environment.applied(request.environment):
        options = parse_options(api, backend, request, [])
        backend.add_stages(makers, options, api.language.TRITON)
        llvm.init_targets()
        try:
            return str(makers["amdgcn"](llvm_ir, {"name": request.function, "hash": "0"}))
        except Exception as error:
            text = str(error).strip().splitlines() or [type(error).__name__]
            raise CompileError(f"LLVM of Triton {api.version} cannot compile it: {text[0][:300]}") from error


def parse_options(api: versions.Api, backend: Any, request: CompileRequest, warnings: list[str]) -> Any:
    """Return Triton's own option object.

    Raises:
        KprofError: if Triton rejects a value.
    """
    options = check(request.options, versions.option_defaults(api.hip_options), api.numbers)
    with versions.quiet(warnings):
        try:
            return backend.parse_options(options)
        except (AssertionError, ValueError, TypeError) as error:
            given = ", ".join(f"{name}={value}" for name, value in request.options.items())
            raise CompileError(f"Triton refuses the options {given}: {error}") from error


def _values(api: versions.Api, request: CompileRequest, function: Function) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return compile-time values and attributes by position: ``(3,)``, or ``(3, 0)`` for an element of a tuple."""
    positions = {name: index for index, name in enumerate(function.arguments)}

    def path(name: str) -> tuple[int, ...]:
        argument, *inner = name.split(".")
        return (positions[argument], *map(int, inner))

    constexprs = {path(name): _value(api, value) for name, value in request.constexprs.items()}
    attributes = {path(name): _attributes(hints) for name, hints in request.attributes.items()}
    return constexprs, attributes


def _attributes(hints: Mapping[str, int]) -> list[list[Any]]:
    return [[f"tt.{name}", value] for name, value in hints.items()]


def _value(api: versions.Api, value: Any) -> Any:
    if isinstance(value, DtypeRef):
        return api.dtype(value.name)
    if isinstance(value, FunctionRef):
        return load_function(value.path, value.name).jit
    if isinstance(value, tuple):
        return tuple(_value(api, item) for item in value)
    return value


def _plain(value: Any) -> Any:
    """Convert a metadata value to JSON."""
    if isinstance(value, set | frozenset | tuple):
        return sorted(value) if isinstance(value, set | frozenset) else list(value)
    return vars(value) if hasattr(value, "__dict__") else str(value)


def check(options: Mapping[str, Any], defaults: Mapping[str, Any], version: tuple[int, int]) -> dict[str, Any]:
    """Return the options with values of the types that Triton expects.

    Raises:
        KprofError: if this Triton does not have an option, or a value has the wrong type.
    """
    return {name: _typed_value(name, value, defaults, version) for name, value in options.items()}


def _typed_value(name: str, value: Any, defaults: Mapping[str, Any], version: tuple[int, int]) -> Any:
    if name not in defaults:
        release = f"Triton {version[0]}.{version[1]}"
        raise CompileError(f"{release} has no option {name!r}", hint=near_hint(name, defaults, "its options are"))
    default = defaults[name]
    if value is None:
        return None
    if isinstance(default, bool):
        if value in (0, 1):
            return bool(value)
        raise CompileError(f"the option {name} is true or false, got {value!r}")
    if isinstance(default, int):
        if isinstance(value, bool) or not isinstance(value, int):
            raise CompileError(f"the option {name} is a whole number, got {value!r}")
        return _number(name, value)
    if isinstance(default, str) and not isinstance(value, str | tuple):
        raise CompileError(f"the option {name} is text, got {value!r}")
    return value


def _number(name: str, value: int) -> int:
    if value < 0:
        raise CompileError(f"the option {name} cannot be negative, got {value}")
    if name == "num_warps" and (value == 0 or value & (value - 1)):
        raise CompileError(f"num_warps must be a power of two, got {value}", hint="1, 2, 4, 8, 16 or 32")
    return value
