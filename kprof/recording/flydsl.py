"""Record the kernels of FlyDSL: compile for the simulated GPU, and answer the functions of FlyDSL's run-time library.

The host half of a FlyDSL function is machine code that computes the grid and calls the library's ``mgpu...`` functions,
which need HIP. Here Python answers them: each launch's grid, workgroup, dynamic LDS and argument values are recorded,
and nothing runs. The device half is compiled to assembly and not to a code object, so no linker of ROCm is needed.
"""

import contextlib
import ctypes
import importlib
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from kprof.captures import layout
from kprof.recording.language_kernels import LanguageKernel, words_of
from kprof.recording.recorder import Recorder
from kprof.simulation.gpu import SimulatedGpu
from kprof.simulation.patches import Patches

PACKAGE, MODULE = "flydsl", "flydsl.compiler"
LANGUAGE = "FlyDSL"

_ENVIRONMENT = {
    "FLYDSL_DEBUG_ENABLE_DEBUG_INFO": "1",
    # FlyDSL's own cache has code without source lines, and must not get code that no GPU can load.
    "FLYDSL_RUNTIME_ENABLE_CACHE": "0",
    "FLYDSL_RUNTIME_RUN_ONLY": "0",
}
_LIBRARY = "fly_jit_runtime"
_BINARY, _ASSEMBLY = "format=fatbin", "format=isa"
_ROCM = "ROCM_PATH"
_BITCODE = ("amdgcn", "bitcode")
_POINTER, _WORD, _INT = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
_LAUNCH = (_WORD,) * 6 + (_INT, _POINTER, _POINTER, _POINTER, ctypes.c_size_t)


class MissingLibrariesError(Exception):
    """A kernel calls device functions such as ``erf``, but neither ROCm nor Triton is installed to provide them."""


class UnknownVersionError(Exception):
    """The installed FlyDSL lacks a part that has to be patched; the message names it."""


@dataclass(frozen=True)
class KernelPlace:
    """Place of a kernel's Python function."""

    path: str
    line: int
    module: str


@dataclass
class _Current(threading.local):
    """State of the current thread while FlyDSL compiles, loads or calls a function.

    Attributes:
        definitions: places of the kernels that were traced last, by name.
        seconds: duration of the last compile; ``None`` after an artifact has stored it.
        artifact: artifact whose code is being loaded.
        arguments: arguments of the function that is being called, by name.
        error: exception raised in an answer, which the calling machine code cannot propagate.
        precompiles: whether the program compiles a function to call the result later.
    """

    definitions: dict[str, KernelPlace] = field(default_factory=dict)
    seconds: float | None = None
    artifact: Any = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    error: BaseException | None = None
    precompiles: bool = False


@dataclass(frozen=True)
class _Code:
    """Assembly that a program loaded, with the compile that it came from."""

    assembly: str
    definitions: Mapping[str, KernelPlace]
    seconds: float | None


def name_gpu(gpu: SimulatedGpu) -> Callable[[], None]:
    """Let FlyDSL compile for the simulated GPU, with source lines; return a function that undoes this."""
    values = {**_ENVIRONMENT, "FLYDSL_GPU_ARCH": gpu.arch}
    if os.environ.get("ARCH", "").startswith("gfx"):
        values["ARCH"] = gpu.arch
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)

    def undo() -> None:
        for name, value in before.items():
            _set(name, value)

    return undo


def _set(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def install(recorder: Recorder, patches: Patches) -> None:
    """Patch FlyDSL to record launches; if this version cannot be patched, the capture says so."""
    try:
        _FlyDsl(recorder, patches).install()
    except UnknownVersionError as error:
        recorder.leave_out(LANGUAGE, f"{_version()} {error}", 0)


def count(recorder: Recorder, patches: Patches) -> None:
    """Count the calls of FlyDSL's functions, which run on a real GPU and are not recorded."""
    try:
        functions = _compiler_module("jit_function")
        original = functions._build_call_state  # noqa: SLF001
    except (UnknownVersionError, AttributeError):
        recorder.leave_out(LANGUAGE, _ON_GPU, 0)
        return

    def build(*args: Any, **kwargs: Any) -> Any:
        return _Call(original(*args, **kwargs), (), lambda _: _counted(recorder))

    patches.set(functions, "_build_call_state", build)


_ON_GPU = "they run on this machine's GPU, where only Triton's launches are recorded; --no-execute records them"


@contextlib.contextmanager
def _counted(recorder: Recorder) -> Iterator[None]:
    recorder.leave_out(LANGUAGE, _ON_GPU, 1)
    yield


def _version() -> str:
    return f"{LANGUAGE} {getattr(sys.modules.get(PACKAGE), '__version__', 'of an unknown version')}"


def _compiler_module(name: str) -> Any:
    """Import one of the modules of FlyDSL's compiler.

    Raises:
        UnknownVersionError: if this version does not have it.
    """
    try:
        return importlib.import_module(f"{MODULE}.{name}")
    except ImportError:
        raise UnknownVersionError(f"has no module {MODULE}.{name}") from None


class _Call:
    """A call of a compiled function, inside a context that knows its arguments."""

    def __init__(self, state: Any, names: tuple[str, ...], context: Callable[[dict[str, Any]], Any]) -> None:
        self._state, self._names, self._context = state, names, context

    def __call__(self, args: tuple[Any, ...]) -> Any:
        with self._context(dict(zip(self._names, args, strict=False))):
            return self._state(args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)


class _FlyDsl:
    """The patched parts of FlyDSL in one process.

    Args:
        recorder: receives the launches.
        patches: collects the changes for a later removal.
    """

    def __init__(self, recorder: Recorder, patches: Patches) -> None:
        self._recorder, self._patches = recorder, patches
        self._current = _Current()
        self._codes: list[_Code] = []
        self._functions: list[tuple[int, str]] = []
        self._kernels: dict[tuple[Any, ...], LanguageKernel] = {}

    def install(self) -> None:
        """Patch the compiler and what it calls.

        Raises:
            UnknownVersionError: if this version of FlyDSL lacks one of the patched parts; nothing is patched then.
        """
        executor, functions, kernels = (
            _compiler_module("jit_executor"),
            _compiler_module("jit_function"),
            _compiler_module("kernel_function"),
        )
        backend = _compiler_module("backends.rocm")
        wanted = {
            "ExecutionEngine": executor,
            "GpuJitModule": executor,
            "CompiledArtifact": executor,
            "MlirCompiler": functions,
            "_build_call_state": functions,
            "JitFunction": functions,
            "KernelFunction": kernels,
            "RocmBackend": backend,
        }
        for name, module in wanted.items():
            if not hasattr(module, name):
                raise UnknownVersionError(f"has no {module.__name__}.{name}")
        self._compile(functions.MlirCompiler, backend.RocmBackend, kernels.KernelFunction)
        self._load(executor)
        self._call(functions)
        self._trials()

    def _compile(self, compiler: Any, backend: Any, kernel_function: Any) -> None:
        """Compile to assembly, and remember the places of the kernels' functions."""
        fragments, emit = backend.pipeline_fragments, kernel_function._emit_kernel  # noqa: SLF001
        compile_module, current = compiler.compile, self._current

        def pipeline_fragments(own: Any, **kwargs: Any) -> list[str]:
            return [one.replace(_BINARY, _ASSEMBLY) for one in fragments(own, **kwargs)]

        def emit_kernel(own: Any, *args: Any, **kwargs: Any) -> Any:
            made = emit(own, *args, **kwargs)
            code = own._func.__code__  # noqa: SLF001
            module = str(getattr(own._func, "__module__", ""))  # noqa: SLF001
            name = str(own._kernel_name)  # noqa: SLF001
            current.definitions[name] = KernelPlace(code.co_filename, code.co_firstlineno, module)
            return made

        def compile(*args: Any, **kwargs: Any) -> Any:  # noqa: A001  # the name that it replaces
            started = time.monotonic()
            with self._device_libraries():
                try:
                    made = compile_module(*args, **kwargs)
                except Exception as error:
                    if _BITCODE[-1] in str(error) and self._without_libraries:
                        raise MissingLibrariesError from error
                    raise
            current.seconds = time.monotonic() - started
            return made

        self._patches.set(backend, "pipeline_fragments", pipeline_fragments)
        self._patches.set(kernel_function, "_emit_kernel", emit_kernel)
        self._patches.set(compiler, "compile", staticmethod(compile))

    @contextlib.contextmanager
    def _device_libraries(self) -> Iterator[None]:
        """Let the compiler find the libraries of device functions such as ``exp``: those of ROCm, else Triton's."""
        before = os.environ.get(_ROCM)
        if self._libraries is not None:
            os.environ[_ROCM] = str(self._libraries)
        try:
            yield
        finally:
            _set(_ROCM, before)

    @cached_property
    def _own_libraries(self) -> bool:
        """Whether ROCm's libraries are installed where FlyDSL looks for them."""
        return any(Path(name, *_BITCODE).is_dir() for name in (os.environ.get(_ROCM), "/opt/rocm") if name)

    @property
    def _without_libraries(self) -> bool:
        return not self._own_libraries and self._libraries is None

    @cached_property
    def _libraries(self) -> Path | None:
        """A folder in the form of ROCm's with Triton's libraries; ``None`` to use ROCm's own, or without Triton."""
        if self._own_libraries:
            return None
        triton = importlib.util.find_spec("triton")
        places = [] if triton is None else list(triton.submodule_search_locations or ())
        files = [file for place in places for file in Path(place, "backends", "amd", "lib").glob("*.bc")]
        if not files:
            return None
        root = Path(self._recorder.settings.folder, layout.WORK, "rocm")
        folder = root.joinpath(*_BITCODE)
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            with contextlib.suppress(FileExistsError):
                (folder / file.name).symlink_to(file)
        return root

    def _load(self, executor: Any) -> None:
        """Replace the run-time library, which needs HIP, by answers in Python."""
        answers, current = self._runtime_functions(), self._current
        base = executor.ExecutionEngine
        artifact = executor.CompiledArtifact
        make, ensure = artifact.__init__, artifact._ensure_engine  # noqa: SLF001

        class Engine(base):  # type: ignore[misc, valid-type]  # its base is only known at run time
            """FlyDSL's engine for host code, with answers instead of the run-time library."""

            def __init__(self, module: Any, *args: Any, **kwargs: Any) -> None:
                libraries = [one for one in kwargs.get("shared_libs", ()) if _LIBRARY not in Path(one).name]
                super().__init__(module, *args, **{**kwargs, "shared_libs": libraries})
                self._registered = False

            def initialize(self) -> None:
                if not self._registered:
                    for name, answer in answers.items():
                        self.raw_register_runtime(name, ctypes.cast(answer, _POINTER))
                    self._registered = True
                super().initialize()

        def init(own: Any, *args: Any, **kwargs: Any) -> None:
            make(own, *args, **kwargs)
            own.kprof_compile = (dict(current.definitions), current.seconds)
            current.seconds = None

        def ensure_engine(own: Any) -> Any:
            outer, current.artifact = current.artifact, own
            try:
                return ensure(own)
            finally:
                current.artifact = outer

        self._patches.set(executor, "ExecutionEngine", Engine)
        self._patches.set(executor, "GpuJitModule", _LoadedModule)
        self._patches.set(artifact, "__init__", init)
        self._patches.set(artifact, "_ensure_engine", ensure_engine)

    def _call(self, functions: Any) -> None:
        """Record the arguments of each call, because the machine code knows only their bytes."""
        original = functions._build_call_state  # noqa: SLF001

        def build_call_state(sig: Any, *args: Any, **kwargs: Any) -> Any:
            return _Call(original(sig, *args, **kwargs), tuple(sig.parameters), self._calling)

        self._patches.set(functions, "_build_call_state", build_call_state)
        self._without_code(functions)

    def _without_code(self, functions: Any) -> None:
        """Count the launches of functions that cannot be compiled here, and let the program continue."""
        call, current = functions.JitFunction.__call__, self._current

        def count_launch(*_args: Any) -> None:
            reason = f"{_version()} needs ROCm's or Triton's libraries of device functions; pip install triton"
            self._recorder.leave_out(LANGUAGE, reason, 1)

        def called(own: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return call(own, *args, **kwargs)
            except MissingLibrariesError:
                if current.precompiles:
                    raise
                return count_launch()

        self._patches.set(functions.JitFunction, "__call__", called)
        compile_function = getattr(functions, "_compile_impl", None)
        if compile_function is None:
            return

        def compiled(*args: Any, **kwargs: Any) -> Any:
            outer, current.precompiles = current.precompiles, True
            try:
                return compile_function(*args, **kwargs)
            except MissingLibrariesError:
                # FlyDSL launches a function once when it compiles it with tensors.
                count_launch()
                return count_launch
            finally:
                current.precompiles = outer

        self._patches.set(functions, "_compile_impl", compiled)

    @contextlib.contextmanager
    def _calling(self, arguments: dict[str, Any]) -> Iterator[None]:
        current = self._current
        outer, current.arguments, current.error = current.arguments, arguments, None
        try:
            yield
        finally:
            current.arguments = outer
        self._raise()

    def _raise(self) -> None:
        """Raise the exception of the last answer, if there was one."""
        error, self._current.error = self._current.error, None
        if error is not None:
            raise error

    def _trials(self) -> None:
        """Let the autotuner's trials compile their kernels without counting as launches of the program."""
        tuner = sys.modules.get(f"{PACKAGE}.autotune")
        if not hasattr(tuner, "do_bench"):
            return

        def do_bench(fn: Callable[[], Any], *_args: Any, quantiles: Any = None, **_options: Any) -> Any:
            with self._recorder.trial():
                fn()
            return [_TRIAL_MS] * len(quantiles) if quantiles else _TRIAL_MS

        self._patches.set(tuner, "do_bench", do_bench)

    def _runtime_functions(self) -> dict[str, Any]:
        """Return the functions of the run-time library that host code calls, by name."""
        current = self._current

        def kept(function: Callable[..., Any]) -> Callable[..., Any]:
            def answer(*args: Any) -> Any:
                try:
                    return function(*args)
                except BaseException as error:  # noqa: BLE001  # raised again after the machine code
                    current.error = error
                    return 1

            return answer

        def nothing(*_args: Any) -> int:
            return 1

        kinds: dict[str, tuple[Callable[..., Any], Any, tuple[Any, ...]]] = {
            "mgpuModuleLoadJIT": (self._module_load, _POINTER, (_POINTER, _INT)),
            "mgpuModuleGetFunction": (self._get_function, _POINTER, (_POINTER, ctypes.c_char_p)),
            "mgpuLaunchKernel": (self._launch, None, (_POINTER, *_LAUNCH)),
            "mgpuLaunchClusterKernel": (self._launch_cluster, None, (_POINTER, _WORD, _WORD, _WORD, *_LAUNCH)),
            "mgpuModuleUnload": (nothing, None, (_POINTER,)),
            "mgpuStreamCreate": (nothing, _POINTER, ()),
            "mgpuStreamDestroy": (nothing, None, (_POINTER,)),
            "mgpuStreamSynchronize": (nothing, None, (_POINTER,)),
            "mgpuStreamWaitEvent": (nothing, None, (_POINTER, _POINTER)),
            "mgpuEventCreate": (nothing, _POINTER, ()),
            "mgpuEventDestroy": (nothing, None, (_POINTER,)),
            "mgpuEventSynchronize": (nothing, None, (_POINTER,)),
            "mgpuEventRecord": (nothing, None, (_POINTER, _POINTER)),
        }
        return {
            name: ctypes.CFUNCTYPE(result, *types)(kept(function)) for name, (function, result, types) in kinds.items()
        }

    def _module_load(self, data: int, _level: int) -> int:
        """Answer ``mgpuModuleLoadJIT``: keep the assembly, and return its handle."""
        text = ctypes.string_at(data).decode(errors="replace")
        definitions, seconds = getattr(self._current.artifact, "kprof_compile", None) or (
            dict(self._current.definitions),
            None,
        )
        self._codes.append(_Code(text, definitions, seconds))
        return len(self._codes)

    def _get_function(self, module: int, name: bytes) -> int:
        """Answer ``mgpuModuleGetFunction`` with a handle."""
        self._functions.append((module, name.decode()))
        return len(self._functions)

    def _launch_cluster(self, function: int, _x: int, _y: int, _z: int, *launch: Any) -> None:
        """Answer ``mgpuLaunchClusterKernel``: record the launch without its clusters."""
        self._launch(function, *launch)

    def _launch(self, function: int, *launch: Any) -> None:
        """Answer ``mgpuLaunchKernel``: record the launch."""
        gx, gy, gz, bx, by, bz, lds, stream, parameters, _extra, count = launch
        module, name = self._functions[function - 1]
        kernel = self._kernel(module, name, (bx, by, bz), lds)
        words = _argument_words(kernel, parameters, count)
        arguments = {name: _plain(value) for name, value in self._current.arguments.items()}
        self._recorder.launch_compiled(kernel, [gx, gy, gz], stream or 0, arguments, words)

    def _kernel(self, module: int, name: str, block: tuple[int, int, int], lds: int) -> LanguageKernel:
        place = (module, name, block, lds)
        if place not in self._kernels:
            code = self._codes[module - 1]
            where = code.definitions.get(name, KernelPlace("", 0, ""))
            self._kernels[place] = LanguageKernel(
                name=name,
                compiler=_version(),
                assembly=code.assembly,
                block=block,
                dynamic_lds=lds,
                path=where.path,
                line=where.line or None,
                module=where.module,
                seconds=code.seconds,
            )
        return self._kernels[place]


_TRIAL_MS = 1.0
"""Time that every trial of an autotuner gets, because its true time is unknown. The first configuration wins."""


class _LoadedModule:
    """Replacement for FlyDSL's loaded GPU module: there is nothing to unload."""

    def __init__(self, *_args: Any) -> None:
        """Ignore the arguments: there is no GPU onto which the binary could be loaded."""

    def unload(self) -> None:
        """Do nothing."""


def _argument_words(kernel: LanguageKernel, parameters: int, count: int) -> dict[str, int]:
    """Return the values of the arguments that the host code passes by value.

    Args:
        kernel: the kernel.
        parameters: address of an array with the address of each argument.
        count: number of arguments.
    """
    if not parameters or count > len(kernel.arguments):
        return {}
    addresses = ctypes.cast(parameters, ctypes.POINTER(_POINTER))
    found: dict[str, int] = {}
    for argument, address in zip(kernel.arguments, addresses[:count], strict=False):
        if address:
            found |= words_of(argument, ctypes.string_at(address, argument.size))
    return found


def _plain(value: Any) -> Any:
    """Return the tensor or number inside one of FlyDSL's wrappers, or the type's name of a wrapper without either."""
    if not type(value).__module__.startswith(PACKAGE):
        return value
    for name in ("torch_tensor", "value"):
        inner = getattr(value, name, None)
        if isinstance(inner, int | float) or hasattr(inner, "data_ptr"):
            return inner
    return type(value).__name__
