"""Checks of environment variables that need code of their own; ``settings.toml`` has the advice on other variables."""

from kprof.doctor.check import Seen, check, fail, ok, warn
from kprof.doctor.host import Host
from kprof.doctor.settings import wanted_by

_INTERPRETER = wanted_by("triton-interpreter")
_DEVICES = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


@check(
    "compile-switches",
    "environment",
    why="These switches change the compiled code; kprof stores them with each result.",
)
def compile_switches(machine: Host) -> Seen:
    """Check whether switches of Triton that change the compiled code are set."""
    from kprof.compiler.environment import SWITCHES

    found = [name for name in sorted(SWITCHES) if machine.environment.get(name)]
    if found:
        words = ", ".join(f"{name}={machine.environment[name][:40]}" for name in found)
        return warn(words, f"unset {' '.join(found)}")
    return ok("none is set")


@check("triton-interpreter", "environment", source=_INTERPRETER.source, why=_INTERPRETER.why)
def triton_interpreter(machine: Host) -> Seen:
    """Check whether Triton interprets kernels instead of compiling them: ``TRITON_INTERPRET``."""
    value = machine.environment.get(_INTERPRETER.name, "")
    if value.lower() in {"1", "true", "on", "yes", "y"}:
        return fail(f"{_INTERPRETER.name}={value}", f"unset {_INTERPRETER.name}")
    return ok("off")


@check(
    "visible-devices",
    "environment",
    needs_gpu=True,
    why="These variables hide and renumber GPUs; a combination of them can select an unintended GPU.",
)
def visible_devices(machine: Host) -> Seen:
    """Check the variables that select GPUs, and whether they hide some."""
    values = {name: machine.environment[name] for name in _DEVICES if name in machine.environment}
    words = ", ".join(f"{name}={value[:40]}" for name, value in values.items())
    hidden = [name for name, value in values.items() if value.strip() in {"", "-1"}]
    if hidden:
        return fail(f"{words}: every GPU is hidden", f"unset {' '.join(hidden)}")
    if len(values) > 1:
        return warn(words, f"unset {' '.join(list(values)[1:])}")
    return ok(words or "all GPUs are visible")
