"""The profiler that records counters."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host


class Rocprof(DoctorCheck):
    """``rocprofv3``, whose results ``kprof ingest counters`` reads."""

    name = "rocprof"
    section = "software"
    needs_gpu = True
    why = "Counters and thread traces are recorded by rocprofv3; kprof reads what it writes."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        home = machine.environment.get("ROCM_PATH", "/opt/rocm")
        found = machine.which("rocprofv3")
        if found is None and machine.at(f"{home}/bin/rocprofv3").is_file():
            found = f"{home}/bin/rocprofv3"
        if found is None:
            older = next((tool for tool in ("rocprofv2", "rocprof") if machine.which(tool)), None)
            words = "rocprofv3 not found" + (f", but {older}" if older else "")
            return self.warn(words, "sudo apt install rocprofiler-sdk")
        return self.ok(found)
