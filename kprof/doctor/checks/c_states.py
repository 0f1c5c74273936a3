"""How deep the CPU sleeps."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host
from kprof.doctor.settings import wanted_by

_WANTED = wanted_by("c-states")


class CStates(DoctorCheck):
    """Whether C2 and deeper states are switched off."""

    name = "c-states"
    section = "host"
    needs_gpu = True
    source = _WANTED.source
    why = _WANTED.why

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        on: dict[str, str] = {}
        seen = False
        # CPUs of a machine are alike in this: the first one that tells will do.
        for cpu in machine.entries("/sys/devices/system/cpu", "cpu"):
            states = machine.entries(cpu / "cpuidle", "state")
            for state in states:
                name, disabled = machine.text(state / "name"), machine.number(state / "disable")
                if name is None or disabled is None:
                    continue
                seen = True
                if name.startswith("C") and name[1:2].isdecimal() and name[1:2] >= "2" and not disabled:
                    on[name[:16]] = state.name.removeprefix("state")
            if seen:
                break
        if not seen:
            return self.unknown("the kernel does not say, as in virtual machines")
        if on:
            fixes = [f"sudo cpupower idle-set -d {number}" for number in on.values() if number.isdecimal()]
            return self.warn(f"{', '.join(on)} in use", *fixes)
        return self.ok("C2 and deeper are off")
