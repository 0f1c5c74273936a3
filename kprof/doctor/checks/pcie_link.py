"""Whether the link to the host is as fast as it can be."""

import re

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host

_SPEED = re.compile(r"(\d{1,3}(?:\.\d)?) GT/s")


class PcieLink(DoctorCheck):
    """Speed and width of the PCIe link against what both ends can do."""

    name = "pcie-link"
    section = "gpu"
    needs_gpu = True
    source = "the Linux kernel's documentation of PCI in sysfs"
    why = "Copies to and from the host are slower on a narrower link; times of kernels alone are not affected."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        links: set[str] = set()
        slower = False
        for _, device in machine.devices:
            now, most = (self._speed(machine.text(device / f"{which}_link_speed")) for which in ("current", "max"))
            width, widest = (machine.number(device / f"{which}_link_width") for which in ("current", "max"))
            if now is None or width is None:
                continue
            links.add(f"{now:g} GT/s x{width}")
            slower |= (most is not None and now < most) or (widest is not None and width < widest)
        if not links:
            return self.unknown("the driver does not say")
        words = ", ".join(sorted(links))
        if slower:
            fix = "under load: cat /sys/class/drm/renderD*/device/current_link_speed"
            return self.warn(f"{words}, less than possible (an idle GPU may lower its link)", fix)
        return self.ok(words)

    @staticmethod
    def _speed(text: str | None) -> float | None:
        found = _SPEED.match(text or "")
        return float(found[1]) if found else None
