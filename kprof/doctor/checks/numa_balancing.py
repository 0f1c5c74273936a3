"""Whether the kernel moves memory between NUMA nodes on its own."""

from kprof.doctor.check import GUIDE, Check
from kprof.doctor.document import Outcome
from kprof.doctor.host import Host


class NumaBalancing(Check):
    """Automatic NUMA balancing."""

    name = "numa-balancing"
    section = "host"
    needs_gpu = True
    source = GUIDE
    why = "The kernel unmaps pages to see who uses them: launches and copies become slower and their times scatter."

    def look(self, machine: Host) -> Outcome:
        """See :meth:`Check.look`."""
        value = machine.number("/proc/sys/kernel/numa_balancing")
        if value is None:
            nodes = machine.entries("/sys/devices/system/node", "node")
            return self.ok("one NUMA node only") if len(nodes) == 1 else self.unknown("the kernel does not tell")
        return self.ok("off") if value == 0 else self.warn("on", "sudo sysctl kernel.numa_balancing=0")
