"""How the CPU's clocks are chosen."""

from collections import Counter

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host
from kprof.doctor.settings import wanted_by

_WANTED = wanted_by("cpu-governor")


class CpuGovernor(DoctorCheck):
    """The frequency governor of all CPUs."""

    name = "cpu-governor"
    section = "host"
    source = _WANTED.source
    why = _WANTED.why

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        found = Counter(
            governor[:24]
            for cpu in machine.entries("/sys/devices/system/cpu", "cpu")
            if (governor := machine.text(cpu / "cpufreq" / "scaling_governor")) is not None
        )
        if not found:
            return self.unknown("the kernel does not say, as in virtual machines")
        words = ", ".join(f"{name} on {count}" for name, count in sorted(found.items()))
        if all(map(_WANTED.rules[0].accepts, found)):
            return self.ok(words)
        return self.warn(words, *_WANTED.fix)
