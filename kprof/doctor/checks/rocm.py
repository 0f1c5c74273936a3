"""Which ROCm is installed, besides what wheels bring."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host


class Rocm(DoctorCheck):
    """The version of ROCm's own installation."""

    name = "rocm"
    section = "software"
    needs_gpu = True
    why = "torch's wheels bring their own libraries; the profilers and management tools come with ROCm."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        home = machine.environment.get("ROCM_PATH", "/opt/rocm")
        version = machine.text(f"{home}/.info/version")
        if version:
            return self.ok(f"{version.splitlines()[0][:40]} in {home}")
        if not machine.at(home).is_dir():
            return self.warn(f"not found in {home}", "https://rocm.docs.amd.com/projects/install-on-linux")
        return self.unknown(f"{home} does not say its version")
