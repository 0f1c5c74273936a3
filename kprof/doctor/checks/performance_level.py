"""Whether somebody has fixed the clocks."""

from kprof.doctor.check import DRIVER, Check
from kprof.doctor.document import Outcome
from kprof.doctor.host import Host

_GOOD = {"auto", "high", "perf_determinism", "profile_peak"}
_SLOW = {"low", "profile_min_sclk", "profile_min_mclk"}
_KNOWN = {*_GOOD, *_SLOW, "manual", "profile_standard", "profile_exit"}


class PerformanceLevel(Check):
    """The driver's performance level."""

    name = "performance-level"
    section = "gpu"
    needs_gpu = True
    source = DRIVER
    why = "At a forced level the GPU runs at other clocks than it would; at the low ones every time is wrong."

    def look(self, machine: Host) -> Outcome:
        """See :meth:`Check.look`."""
        levels = {
            name: level
            for name, device in machine.devices
            if (level := machine.text(device / "power_dpm_force_performance_level")) is not None
        }
        words = ", ".join(sorted({level[:24] for level in levels.values()}))
        if not levels or not set(levels.values()) <= _KNOWN:
            return self.unknown(words or "the driver does not tell")
        fixes = [
            f"echo auto | sudo tee /sys/class/drm/{name}/device/power_dpm_force_performance_level"
            for name, level in levels.items()
            if level not in _GOOD
        ]
        if set(levels.values()) & _SLOW:
            return self.fail(words, *fixes[:8])
        return self.warn(words, *fixes[:8]) if fixes else self.ok(words)
