"""Which Python this is."""

import platform
import sys

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host


class Python(DoctorCheck):
    """Version and machine type of the running Python."""

    name = "python"
    section = "software"
    why = "Triton's wheels, with the compiler in them, are for Linux on x86-64 and ARM64 only."

    def look(self, machine: Host) -> CheckOutcome:  # noqa: ARG002 - it is this process
        """See :meth:`DoctorCheck.look`."""
        found = f"{platform.python_version()} on {sys.platform} {platform.machine()}"
        if sys.platform != "linux":
            return self.warn(found, "Reading artefacts works here; compile on Linux, in WSL or in a container.")
        return self.ok(found)
