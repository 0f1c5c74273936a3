"""Whether somebody has fixed the clocks."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host
from kprof.doctor.settings import wanted_by

_WANTED = wanted_by("performance-level")
_GOOD = {_WANTED.rules[0].value, *_WANTED.rules[0].also}
_SLOW = {"low", "profile_min_sclk", "profile_min_mclk"}
_KNOWN = {*_GOOD, *_SLOW, "manual", "profile_standard", "profile_exit"}


class PerformanceLevel(DoctorCheck):
    """The driver's performance level."""

    name = "performance-level"
    section = "gpu"
    needs_gpu = True
    source = _WANTED.source
    why = _WANTED.why

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        levels = {
            name: level
            for name, device in machine.devices
            if (level := machine.text(device / "power_dpm_force_performance_level")) is not None
        }
        words = ", ".join(sorted({level[:24] for level in levels.values()}))
        if not levels or not set(levels.values()) <= _KNOWN:
            return self.unknown(words or "the driver does not say")
        fixes = [_WANTED.fix[0].format(device=name) for name, level in levels.items() if level not in _GOOD]
        if set(levels.values()) & _SLOW:
            return self.fail(words, *fixes[:8])
        return self.warn(words, *fixes[:8]) if fixes else self.ok(words)
