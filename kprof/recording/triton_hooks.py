"""Patch Triton: its compiler and driver if kernels are only recorded; its launches alone if they are executed."""

import dataclasses
import hashlib
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kprof.captures import layout
from kprof.compiler import environment as switches
from kprof.recording import compile_results, describe, tuning
from kprof.recording.recorder import Recorder
from kprof.simulation import driver
from kprof.simulation.patches import Patches

_SESSIONS = ("activate", "activate_all", "deactivate", "deactivate_all", "finalize", "finalize_all")


class HipblasLt:
    """Replacement for Triton's binding of hipBLASLt; its products are recorded as calls of torch's operators.

    Args:
        workspace: memory that the library could use.
    """

    def __init__(self, workspace: Any) -> None:
        self._workspace = workspace

    def matmul(self, a: Any, b: Any, c: Any) -> None:
        """Write ``a`` (M x K) times ``b`` (N x K), transposed, to ``c`` (M x N)."""
        c.copy_(a.float() @ b.float().t())

    def gemm(self, a: Any, b: Any, c: Any, d: Any, alpha: float, beta: float) -> None:  # noqa: PLR0917  # as BLAS has it
        """Write ``alpha`` times the product from :meth:`matmul` plus ``beta`` times ``c`` to ``d``."""
        d.copy_(alpha * (a.float() @ b.float().t()) + beta * c.float())


def install(patches: Patches) -> None:
    """Patch hipBLASLt and Proton, if the installed Triton has them."""
    from triton._C import libtriton

    hipblas = getattr(getattr(libtriton, "amd", None), "hipblas", None)
    if hasattr(hipblas, "HipblasLt"):
        patches.set(hipblas, "HipblasLt", HipblasLt)
    _proton(patches)


def _proton(patches: Patches) -> None:
    """Prevent Proton sessions from starting, and let programs activate and deactivate sessions that do not exist."""
    try:
        from triton import knobs
        from triton._C.libproton import proton
    except ImportError:
        return
    if hasattr(knobs, "proton") and hasattr(knobs.proton, "disable"):
        patches.set_value(knobs.proton, "disable", True)
        for name in _SESSIONS:
            if hasattr(proton, name):
                patches.set(proton, name, _nothing)


def _nothing(*_args: Any, **_kwargs: Any) -> None:
    """Do nothing, because no session was started."""


def note(recorder: Recorder, kernel: Any, grid: list[int], stream: Any, args: tuple[Any, ...]) -> None:
    """Record a launch of Triton's ``CompiledKernel``; at a kernel's first launch, also store its stages."""
    if not hasattr(kernel.src, "fn") or getattr(kernel.metadata.target, "backend", None) != "hip":
        return
    recorder.start()
    number = getattr(kernel, "kprof_number", None)
    if number is None:
        number = kernel.kprof_number = _keep(recorder, kernel)
    recorder.note_launch(number, kernel.src, grid, stream, args)


def _keep(recorder: Recorder, kernel: Any) -> int:
    identifier = hashlib.sha256(str(kernel.hash).encode()).hexdigest()[: layout.ID_LENGTH]
    metadata = {name: _plain(value) for name, value in kernel.metadata._asdict().items()}
    environment = {name: value for name, value in switches.relevant({}).items() if name != "TRITON_DEBUG"}
    options = {name: metadata[name] for name in ("num_warps", "num_stages", "waves_per_eu") if name in metadata}
    request = describe.request_of(kernel.src, kernel.metadata.target.arch, options, environment)
    folder = Path(recorder.settings.folder) / layout.KERNELS / identifier
    if not (folder / layout.RESULT).is_file():
        blobs = {stage: kernel.asm[stage] for stage in layout.STAGES if stage in kernel.asm}
        result = {"status": "ok", "triton": str(metadata.get("triton_version", ""))}
        compile_results.place_or_fail(recorder.journal, folder, result, metadata, blobs)
    return recorder.number(identifier, kernel.src, request)


def _plain(value: Any) -> Any:
    if hasattr(value, "backend") and hasattr(value, "arch"):
        return {"backend": value.backend, "arch": value.arch, "warp_size": value.warp_size}
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def replace(recorder: Recorder, patches: Patches, device: Callable[[], int], stream: Callable[[int], int]) -> None:
    """Patch Triton to compile for the recorder's device, and to launch nothing.

    Args:
        recorder: receives each launch and compile.
        patches: collects the changes for a later removal.
        device: returns the index of the current device.
        stream: returns the current stream of a device.
    """
    import triton
    import triton.backends
    import triton.compiler

    active = driver.make_driver(recorder.settings.device, device, stream, tuning.call_once)
    config = triton.runtime.driver
    # Up to Triton 3.4 the driver's configuration has plain attributes; since then it has properties that read
    # ``_default`` and ``_active``.
    for name in ("_default", "_active") if hasattr(config, "_default") else ("default", "active"):
        patches.set(config, name, active)
    # Some libraries create their own driver from Triton's list of backends.
    backends = triton.backends.backends
    patches.set_item(backends, "amd", dataclasses.replace(backends["amd"], driver=driver.class_of(active)))
    original = triton.compiler.compile

    def compile(  # noqa: A001  # the name that it replaces
        src: Any, target: Any = None, options: Any = None, **rest: Any
    ) -> Any:
        if not hasattr(src, "fn") or (target is not None and target.backend != "hip"):
            return original(src, target=target, options=options, **rest)
        chosen = target or active.get_current_target()
        backend = triton.compiler.make_backend(chosen)
        parsed = backend.parse_options({**(options or {}), **src.parse_options()})
        return recorder.compile(src, chosen, parsed, backend)

    patches.set(triton.compiler, "compile", compile)
    patches.set(triton, "compile", compile)
    tuning.install(recorder, patches)
    install(patches)
    _leave_torch_alone(patches)
    if recorder.settings.again:
        from kprof.recording.relaunch import RelaunchServer

        RelaunchServer(recorder, recorder.settings.again).install(patches)


def _leave_torch_alone(patches: Patches) -> None:
    """Let Triton judge the size of an argument without importing torch, which takes seconds.

    Triton imports torch to ask whether the argument is a tensor. No argument is one before the program imports torch.
    """
    from triton.backends.amd.compiler import HIPBackend

    backend: Any = HIPBackend
    original = getattr(backend, "is_within_2gb", None)
    if original is None or ("torch" not in sys.modules and find_spec("torch") is None):
        # In older Tritons this import fails without torch, and the program fails outside of a recording, too.
        return

    def is_within_2gb(argument: Any) -> bool:
        if "torch" in sys.modules:
            return bool(original(argument))
        return hasattr(argument, "ptr_range") and argument.ptr_range() < 1 << 31

    patches.set(backend, "is_within_2gb", staticmethod(is_within_2gb))


def observe(recorder: Recorder, patches: Patches) -> None:
    """Patch Triton to record launches, which run as usual."""
    from triton.compiler.compiler import CompiledKernel

    original = vars(CompiledKernel).get("run")
    get: Any = vars(CompiledKernel).get("__getattribute__")

    def launcher(kernel: Any) -> Any:
        getter: Any = getattr(original, "fget", None)
        inner = getter(kernel) if getter is not None else kernel.__dict__["run"]

        def run(x: int, y: int, z: int, stream: Any, *rest: Any) -> Any:
            note(recorder, kernel, [int(x), int(y), int(z)], stream, rest[5:])
            return inner(x, y, z, stream, *rest)

        return run

    if isinstance(original, property):
        patches.set(CompiledKernel, "run", property(launcher))
    elif get is not None:

        def getattribute(self: Any, name: str) -> Any:
            value = get(self, name)
            return launcher(self) if name == "run" else value

        patches.set(CompiledKernel, "__getattribute__", getattribute)
