"""Whether the kernel moves memory between NUMA nodes on its own."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host
from kprof.doctor.settings import wanted_by

_WANTED = wanted_by("numa-balancing")


class NumaBalancing(DoctorCheck):
    """Automatic NUMA balancing."""

    name = "numa-balancing"
    section = "host"
    source = _WANTED.source
    why = _WANTED.why

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        value = machine.number(_WANTED.file)
        if value is None:
            nodes = machine.entries("/sys/devices/system/node", "node")
            return self.ok("one NUMA node only") if len(nodes) == 1 else self.unknown("the kernel does not say")
        return self.ok("off") if _WANTED.rules[0].accepts(str(value)) else self.warn("on", *_WANTED.fix)
