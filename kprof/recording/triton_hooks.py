"""What is changed in Triton: its compiler and driver where there is no GPU, its launches where there is one."""

import dataclasses
from collections.abc import Callable
from typing import Any

from kprof.recording import amd_libraries, executed, tuning
from kprof.recording.recorder import Recorder
from kprof.simulation import driver
from kprof.simulation.patches import Patches


def replace(recorder: Recorder, patches: Patches, device: Callable[[], int], stream: Callable[[int], int]) -> None:
    """Compile for the recorder's device; launch nothing.

    Args:
        recorder: gets each launch and compile.
        patches: how to get back.
        device: gives the index of the current device.
        stream: gives the current stream of a device.
    """
    import triton
    import triton.backends
    import triton.compiler

    active = driver.make_driver(recorder.settings.device, device, stream, tuning.call_once)
    config = triton.runtime.driver
    # Plain attributes until 3.4, behind properties since.
    for name in ("_default", "_active") if hasattr(config, "_default") else ("default", "active"):
        patches.set(config, name, active)
    # Some libraries make a driver of their own from Triton's list of backends.
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
    amd_libraries.install(patches)
    if recorder.settings.again:
        from kprof.recording.relaunch import RelaunchServer

        RelaunchServer(recorder, recorder.settings.again).install(patches)


def observe(recorder: Recorder, patches: Patches) -> None:
    """Let everything happen, and note what is launched."""
    from triton.compiler.compiler import CompiledKernel

    original = vars(CompiledKernel).get("run")
    get: Any = vars(CompiledKernel).get("__getattribute__")

    def launcher(kernel: Any) -> Any:
        getter: Any = getattr(original, "fget", None)
        inner = getter(kernel) if getter is not None else kernel.__dict__["run"]

        def run(x: int, y: int, z: int, stream: Any, *rest: Any) -> Any:
            executed.note(recorder, kernel, [int(x), int(y), int(z)], stream, rest[5:])
            return inner(x, y, z, stream, *rest)

        return run

    if isinstance(original, property):
        patches.set(CompiledKernel, "run", property(launcher))
    elif get is not None:

        def getattribute(self: Any, name: str) -> Any:
            value = get(self, name)
            return launcher(self) if name == "run" else value

        patches.set(CompiledKernel, "__getattribute__", getattribute)
