"""Where kprof keeps what it compiled."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.disk import folder, look_at
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host


class KprofCache(DoctorCheck):
    """kprof's cache: writable, and with room."""

    name = "kprof-cache"
    section = "disk"
    why = "Without it every kernel is compiled each time."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        own = machine.environment.get("KPROF_CACHE_DIR")
        return look_at(self, machine, folder(machine, own, "XDG_CACHE_HOME", ".cache", "kprof"), "KPROF_CACHE_DIR")
