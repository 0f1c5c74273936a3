"""Where kprof keeps what it compiled."""

from kprof.doctor.check import Check
from kprof.doctor.disk import folder, look_at
from kprof.doctor.document import Outcome
from kprof.doctor.host import Host


class KprofCache(Check):
    """kprof's cache: writable, and with room."""

    name = "kprof-cache"
    section = "disk"
    why = "Without it every kernel is compiled each time."

    def look(self, machine: Host) -> Outcome:
        """See :meth:`Check.look`."""
        own = machine.environment.get("KPROF_CACHE_DIR")
        return look_at(self, machine, folder(machine, own, "XDG_CACHE_HOME", ".cache", "kprof"), "KPROF_CACHE_DIR")
