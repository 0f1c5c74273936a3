"""Environment variables that change how HIP and the HSA runtime run kernels."""

from kprof.doctor.check import Check
from kprof.doctor.document import Outcome
from kprof.doctor.host import Host

# What each does to a measurement.
_WRONG = {
    "HSA_OVERRIDE_GFX_VERSION": "the GPU is taken for another one, and gets another one's code",
    "HIP_LAUNCH_BLOCKING": "each launch waits for its end",
    "CUDA_LAUNCH_BLOCKING": "each launch waits for its end",
    "AMD_SERIALIZE_KERNEL": "kernels wait for each other",
    "AMD_SERIALIZE_COPY": "copies wait for each other",
    "ROCPROFILER_REGISTER_FORCE_LOAD": "a profiler is loaded into every program",
    "HSA_TOOLS_LIB": "a profiler is loaded into every program",
}
_CHANGED = {
    "HSA_ENABLE_SDMA": "copies use other engines",
    "GPU_MAX_HW_QUEUES": "streams share other queues",
    "HIP_FORCE_DEV_KERNARG": "arguments are put elsewhere, which changes a launch by microseconds",
    "HSA_XNACK": "pages may be fetched on demand, and code is compiled for that",
    "AMD_LOG_LEVEL": "the runtime writes a log",
    "PYTORCH_NO_HIP_MEMORY_CACHING": "every allocation goes to the driver",
    "PYTORCH_HIP_ALLOC_CONF": "torch's memory is managed in another way",
    "PYTORCH_TUNABLEOP_ENABLED": "torch tries out products while it runs",
    "TORCH_BLAS_PREFER_HIPBLASLT": "torch's products come from another library",
}
_OFF = {"", "0", "false"}
# Zero is a choice here, too.
_ANY_VALUE = {"HSA_ENABLE_SDMA", "HIP_FORCE_DEV_KERNARG", "TORCH_BLAS_PREFER_HIPBLASLT", "HSA_XNACK"}


class RuntimeSwitches(Check):
    """Variables of HIP, HSA and torch that are set."""

    name = "runtime-switches"
    section = "environment"
    why = "They change what a launch does or how long it takes."

    def look(self, machine: Host) -> Outcome:
        """See :meth:`Check.look`."""
        wrong, changed = _set(machine, _WRONG), _set(machine, _CHANGED)
        # HIP's arguments in device memory are what the guide asks for.
        changed = {n: v for n, v in changed.items() if (n, v) != ("HIP_FORCE_DEV_KERNARG", "1")}
        if not wrong and not changed:
            return self.ok("none that matters is set")
        words = ", ".join(f"{name}={value[:40]}" for name, value in {**wrong, **changed}.items())
        reasons = dict.fromkeys(f"{name}: {(_WRONG | _CHANGED)[name]}" for name in {**wrong, **changed})
        why = "; ".join(reasons) + "."
        fix = f"unset {' '.join({**wrong, **changed})}"
        if wrong and machine.has_gpu:
            return self.fail(words, fix, why=why)
        return self.warn(words, fix, why=why)


def _set(machine: Host, names: dict[str, str]) -> dict[str, str]:
    values = {name: machine.environment[name] for name in names if name in machine.environment}
    return {n: v for n, v in values.items() if v != "" and (n in _ANY_VALUE or v.lower() not in _OFF)}
