"""Which kernel driver is loaded."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host


class Driver(DoctorCheck):
    """The amdgpu module and the kernel that it runs in."""

    name = "driver"
    section = "gpu"
    needs_gpu = True
    why = "The driver schedules kernels and sets clocks; its version belongs to every measurement."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        kernel = (machine.text("/proc/sys/kernel/osrelease") or "unknown")[:60]
        if not machine.at("/sys/module/amdgpu").is_dir():
            return self.fail(f"amdgpu is not loaded (Linux {kernel})", "sudo modprobe amdgpu")
        version = machine.text("/sys/module/amdgpu/version")
        # Only the driver that ROCm ships has a version of its own.
        return self.ok(f"amdgpu {version[:40]}, Linux {kernel}" if version else f"amdgpu of Linux {kernel}")
