"""Whether this user may use the device files."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host


class DeviceAccess(DoctorCheck):
    """``/dev/kfd`` and the GPUs' files in ``/dev/dri``."""

    name = "device-access"
    section = "gpu"
    needs_gpu = True
    why = "Kernels are started through /dev/kfd and /dev/dri/renderD*."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        files = ["/dev/kfd", *(f"/dev/dri/{gpu.render}" for gpu in machine.gpus if gpu.render)]
        missing = [file for file in files if not machine.at(file).exists()]
        if missing:
            container = "docker run --device=/dev/kfd --device=/dev/dri --group-add video --group-add render ..."
            return self.fail(
                f"{_some(missing)} not there", f"in a container: {container}", "else: sudo modprobe amdgpu"
            )
        closed = [file for file in files if not machine.usable(machine.at(file))]
        if closed:
            return self.fail(
                f"{_some(closed)} closed to this user", "sudo usermod -aG render,video $USER", "log in again"
            )
        return self.ok(f"/dev/kfd and {len(files) - 1} in /dev/dri")


def _some(files: list[str]) -> str:
    left = len(files) - 2
    return f"{', '.join(files[:2])}{f' and {left} more' if left > 0 else ''}"
