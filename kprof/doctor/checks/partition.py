"""Whether GPUs are divided."""

from kprof.doctor.check import DRIVER, Check
from kprof.doctor.document import Outcome
from kprof.doctor.host import Host


class Partition(Check):
    """Compute and memory partition modes of GPUs with several dies."""

    name = "partition"
    section = "gpu"
    needs_gpu = True
    source = DRIVER
    why = (
        "Predictions and published times are for the whole GPU (SPX, NPS1); a partition has a share of its CUs, "
        "and with NPS4 of its memory."
    )

    def look(self, machine: Host) -> Outcome:
        """See :meth:`Check.look`."""
        modes: dict[str, str] = {}
        fixes: list[str] = []
        for name, device in machine.devices:
            compute = machine.text(device / "current_compute_partition")
            memory = machine.text(device / "current_memory_partition")
            if compute is None and memory is None:
                continue
            modes[name] = f"{(compute or 'unknown')[:12]}/{(memory or 'unknown')[:12]}"
            if compute not in {None, "SPX"}:
                fixes.append(f"echo SPX | sudo tee /sys/class/drm/{name}/device/current_compute_partition")
            if memory not in {None, "NPS1"}:
                fixes.append(f"echo NPS1 | sudo tee /sys/class/drm/{name}/device/current_memory_partition")
        if not modes:
            if any(_divisible(gpu.arch) for gpu in machine.gpus):
                return self.unknown("the driver tells no mode")
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
