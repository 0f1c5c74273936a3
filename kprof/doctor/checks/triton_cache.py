"""Where Triton keeps what it compiled."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.disk import folder, look_at
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host


class TritonCache(DoctorCheck):
    """Triton's cache: writable, and with room."""

    name = "triton-cache"
    section = "disk"
    why = "Programs compile all their kernels again when Triton cannot keep them, and fail when its disk is full."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        own = machine.environment.get("TRITON_CACHE_DIR")
        return look_at(self, machine, folder(machine, own, "TRITON_HOME", ".triton", "cache"), "TRITON_CACHE_DIR")
