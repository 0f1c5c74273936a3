"""Whether GPUs are divided."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host
from kprof.doctor.settings import settings

_COMPUTE = settings()["current_compute_partition"]
_MEMORY = settings()["current_memory_partition"]


class Partition(DoctorCheck):
    """Compute and memory partition modes of GPUs with several dies."""

    name = "partition"
    section = "gpu"
    needs_gpu = True
    source = _COMPUTE.source
    why = f"{_COMPUTE.why} {_MEMORY.why}"

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        modes: dict[str, str] = {}
        fixes: list[str] = []
        for name, device in machine.devices:
            compute = machine.text(device / _COMPUTE.name)
            memory = machine.text(device / _MEMORY.name)
            if compute is None and memory is None:
                continue
            modes[name] = f"{(compute or 'unknown')[:12]}/{(memory or 'unknown')[:12]}"
            for value, wanted in ((compute, _COMPUTE), (memory, _MEMORY)):
                if value is not None and not wanted.rules[0].accepts(value):
                    fixes.append(wanted.fix[0].format(device=name))
        if not modes:
            if any(_divisible(gpu.arch) for gpu in machine.gpus):
                return self.unknown("the driver gives no mode")
            return self.ok("GPUs of this architecture cannot be divided")
        words = ", ".join(sorted(set(modes.values())))
        if fixes:
            return self.warn(words, *fixes[:8])
        return self.unknown(words) if "unknown" in words else self.ok(words)


def _divisible(arch: str) -> bool:
    """Whether GPUs of an architecture can be divided: those of several dies, and those that are not known."""
    from kprof.hardware.machine import architectures, load

    if arch not in architectures():
        return True
    return any((product.xcds or 1) > 1 for product in load(arch).products.values())
