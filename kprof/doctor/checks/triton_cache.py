"""Where Triton keeps what it compiled."""

from kprof.doctor.check import Check
from kprof.doctor.disk import folder, look_at
from kprof.doctor.document import Outcome
from kprof.doctor.host import Host


class TritonCache(Check):
    """Triton's cache: writable, and with room."""

    name = "triton-cache"
    section = "disk"
    why = "Programs compile all their kernels again when Triton cannot keep them, and fail when its disk is full."

    def look(self, machine: Host) -> Outcome:
        """See :meth:`Check.look`."""
        own = machine.environment.get("TRITON_CACHE_DIR")
        return look_at(self, machine, folder(machine, own, "TRITON_HOME", ".triton", "cache"), "TRITON_CACHE_DIR")
