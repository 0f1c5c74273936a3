"""How the CPU's clocks are chosen."""

from collections import Counter

from kprof.doctor.check import Check
from kprof.doctor.document import Outcome
from kprof.doctor.host import Host


class CpuGovernor(Check):
    """The frequency governor of all CPUs."""

    name = "cpu-governor"
    section = "host"
    needs_gpu = True
    source = "the Linux kernel's documentation of cpufreq"
    why = "Launches take longer and scatter while the CPU's clock rises; kernels of a few microseconds feel it."

    def look(self, machine: Host) -> Outcome:
        """See :meth:`Check.look`."""
        found = Counter(
            governor[:24]
            for cpu in machine.entries("/sys/devices/system/cpu", "cpu")
            if (governor := machine.text(cpu / "cpufreq" / "scaling_governor")) is not None
        )
        if not found:
            return self.unknown("the kernel does not tell, as in virtual machines")
        words = ", ".join(f"{name} on {count}" for name, count in sorted(found.items()))
        if set(found) == {"performance"}:
            return self.ok(words)
        return self.warn(words, "sudo cpupower frequency-set -g performance")
