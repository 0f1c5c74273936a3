"""Whether the power limit was lowered."""

from pathlib import Path

from kprof.doctor.check import DRIVER, DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host


class PowerCap(DoctorCheck):
    """The power cap against its default."""

    name = "power-cap"
    section = "gpu"
    needs_gpu = True
    source = DRIVER
    why = "Matrix kernels run at the clock that the power limit allows; below the usual limit they are slower."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        caps: list[str] = []
        fixes: list[str] = []
        for name, device in machine.devices:
            for monitor in machine.entries(device / "hwmon", "hwmon"):
                cap, usual = (machine.number(monitor / file) for file in ("power1_cap", "power1_cap_default"))
                most = machine.number(monitor / "power1_cap_max")
                usual = usual or most
                if cap is None or usual is None or cap <= 0:
                    continue
                caps.append(f"{cap / 1e6:.0f} of {usual / 1e6:.0f} W")
                if cap < usual:
                    fixes.append(f"echo {usual} | sudo tee {_path(name, monitor)}/power1_cap")
        if not caps:
            return self.unknown("the driver does not say")
        words = ", ".join(sorted(set(caps)))
        return self.warn(words, *fixes[:8]) if fixes else self.ok(words)


def _path(name: str, monitor: Path) -> str:
    return f"/sys/class/drm/{name}/device/hwmon/{monitor.name}"
