"""Whether the compute driver lists the GPUs that are there."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host
from kprof.errors import KprofError


class GpuListed(DoctorCheck):
    """GPUs on the bus, and in the driver's topology."""

    name = "gpu"
    section = "gpu"
    needs_gpu = True
    why = "A GPU that the compute driver does not list cannot run kernels."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        listed = machine.gpus
        if not listed:
            return self.fail(f"{machine.on_the_bus} on the bus, none in the driver", "sudo modprobe amdgpu")
        archs = sorted({gpu.arch for gpu in listed})
        words = f"{len(listed)} of {', '.join(arch or 'an unknown architecture' for arch in archs)}"
        if "" in archs:
            return self.unknown(words)
        strange = [arch for arch in archs if not _known(arch)]
        if strange:
            return self.warn(
                words, why=f"kprof has no hardware data of {', '.join(strange)}: nothing is modelled for it."
            )
        return self.ok(words)


def _known(arch: str) -> bool:
    from kprof.hardware.machine import load

    try:
        load(arch)
    except KprofError:
        return False
    return True
