"""Whether the GPU's accesses to host memory are translated."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host
from kprof.doctor.settings import wanted_by

_WANTED = wanted_by("iommu")


class Iommu(DoctorCheck):
    """IOMMU pass-through, of the GPU itself where the kernel tells, else from the kernel's command line."""

    name = "iommu"
    section = "host"
    source = _WANTED.source
    why = _WANTED.why

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        kinds = {
            kind[:24]
            for _, device in machine.devices
            if (kind := machine.text(device / "iommu_group" / "type")) is not None
        }
        if kinds == {"identity"}:
            return self.ok("pass-through")
        line = machine.text("/proc/cmdline")
        if kinds:
            return self._translated(f"the GPU's accesses are translated ({', '.join(sorted(kinds))})", machine)
        if line is None:
            return self.unknown("the kernel's command line cannot be read")
        words = line.split()
        if _WANTED.name in words:
            return self.ok(_WANTED.name)
        if {"iommu=off", "amd_iommu=off", "intel_iommu=off"} & set(words):
            return self.ok("off")
        if not machine.entries("/sys/kernel/iommu_groups"):
            return self.ok("none in use")
        return self._translated(f"{_WANTED.name} is not on the kernel's command line", machine)

    def _translated(self, found: str, machine: Host) -> CheckOutcome:
        intel = "GenuineIntel" in (machine.text("/proc/cpuinfo") or "")
        option = f"intel_iommu=on {_WANTED.name}" if intel else _WANTED.name
        return self.warn(found, *(fix.replace(_WANTED.name, option) for fix in _WANTED.fix))
