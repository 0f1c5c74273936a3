"""Compiling in this process, stage by stage. :mod:`kprof.compiler.compile` does the same in a worker, safely."""

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
    """A compile in progress: what it has made so far, kept when it fails."""

    request: CompileRequest
    function: Function
    stages: dict[str, str | bytes] = field(default_factory=dict)
    stage_seconds: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    stage: str | None = None


def function_of(request: CompileRequest) -> Function:
    """What a request compiles: a function of a Python file, as it is in memory where that differs, or recorded TTIR.

    Raises:
        KprofError: there is no such file or function, or what is in memory differs and cannot be compiled.
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
    """Compile a function that is loaded already. The request's environment is the caller's affair.

    Raises:
        CompileError: the compiler refused: a :class:`RefusedError`, which holds the stages made before.
        KprofError: no usable Triton; an argument or option is wrong.
    """
    build = Build(request, function)
    return finished(
        api, build, lambda: _run(api, build, progress or (lambda _stage: None)), lambda: hash_of(request, function)
    )


def finished(api: versions.Api, build: Build, run: Callable[[], None], identity: Callable[[], str]) -> Compiled:
    """What a compile gives once ``run`` has gone through its stages.

    Raises:
        CompileError: as :func:`compile_function`.
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
    """SHA-256 of what decides the result; see :func:`kprof.compiler.compiled_cache.content_hash`.

    Raises:
        RefusedError: Triton cannot find what the function refers to.
    """
    from kprof.compiler.compiled_cache import content_hash

    try:
        # Where the file gives what is in memory, the result is that of the file.
        plain = request if function.in_memory else replace(request, memory=None)
        return content_hash(plain, function.jit, function.dependencies)
    except (AttributeError, NameError, RuntimeError, TypeError, ValueError) as error:
        raise explain(error, "source", function, {}) from error


def _run(api: versions.Api, build: Build, progress: Progress) -> None:
    request, function = build.request, build.function
    if not _ARCH.fullmatch(request.arch):
        raise CompileError(
            f"{request.arch!r} is no AMD architecture that Triton compiles for",
            hint="they are named gfx942, gfx1100, ...",
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
    """What a source is compiled for: Triton's own objects."""

    target: Any
    backend: Any
    options: Any


def run_stages(
    api: versions.Api, build: Build, target: CompileTarget, source: Any, progress: Progress, *, last: str | None = None
) -> None:
    """Compile a source of Triton's (``ASTSource``), stage by stage, into ``build``; no further than the last one named.

    Raises:
        Exception: whatever the compiler raises; :func:`kprof.compiler.failures.explain` puts it into words.
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
    """One stage; the linked code object alone may be missing, for want of a linker."""
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

    Older IR is read by newer releases; what IR says of a newer one may not be known to an older one.

    Raises:
        CompileError: LLVM does not read it, or cannot make code of it.
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
            raise CompileError(f"LLVM of Triton {api.version} makes no code of it: {text[0][:300]}") from error


def parse_options(api: versions.Api, backend: Any, request: CompileRequest, warnings: list[str]) -> Any:
    """Triton's own option object.

    Raises:
        KprofError: Triton refuses a value.
    """
    options = check(request.options, versions.option_defaults(api.hip_options), api.numbers)
    with versions.quiet(warnings):
        try:
            return backend.parse_options(options)
        except (AssertionError, ValueError, TypeError) as error:
            given = ", ".join(f"{name}={value}" for name, value in request.options.items())
            raise CompileError(f"Triton refuses the options {given}: {error}") from error


def _values(api: versions.Api, request: CompileRequest, function: Function) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Compile-time values and attributes under the paths that Triton uses: ``(3,)``, or ``(3, 0)`` inside tuples."""
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
    """Metadata as JSON."""
    if isinstance(value, set | frozenset | tuple):
        return sorted(value) if isinstance(value, set | frozenset) else list(value)
    return vars(value) if hasattr(value, "__dict__") else str(value)


def check(options: Mapping[str, Any], defaults: Mapping[str, Any], version: tuple[int, int]) -> dict[str, Any]:
    """Options with their values in the types that Triton wants.

    Raises:
        KprofError: an option that this Triton does not have, or a value of the wrong kind.
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
