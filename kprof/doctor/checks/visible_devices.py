"""Whether some GPUs are hidden."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host

_NAMES = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


class VisibleDevices(DoctorCheck):
    """Variables that choose GPUs."""

    name = "visible-devices"
    section = "environment"
    needs_gpu = True
    why = "They hide and renumber GPUs, and one applied to what another has left chooses a GPU that nobody meant."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        values = {name: machine.environment[name] for name in _NAMES if name in machine.environment}
        words = ", ".join(f"{name}={value[:40]}" for name, value in values.items())
        hidden = [name for name, value in values.items() if value.strip() in {"", "-1"}]
        if hidden:
            return self.fail(f"{words}: every GPU is hidden", f"unset {' '.join(hidden)}")
        if len(values) > 1:
            return self.warn(words, f"unset {' '.join(list(values)[1:])}")
        return self.ok(words or "all GPUs are visible")
