"""Which torch is installed, and what it was built for."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host
from kprof.doctor.versions import copies

_INSTALL = "pip install torch --index-url https://download.pytorch.org/whl/rocm6.4"
_INSTALL_CUDA = "pip install torch"
# This one leaves an installed Triton alone.
_INSTALL_CPU = "pip install torch --index-url https://download.pytorch.org/whl/cpu"


class Torch(DoctorCheck):
    """What runs kernels and holds their tensors."""

    name = "torch"
    section = "software"
    why = "kprof bench runs kernels through torch, and only a build for ROCm can use an AMD GPU."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        found = copies(machine, "torch", "version.py", ("torch",))
        if not found:
            why = "kprof bench, and kprof capture of torch programs, need it; everything else does not."
            without = _INSTALL_CUDA if machine.cuda_gpus else _INSTALL_CPU
            fix = _INSTALL if machine.has_gpu else without
            return self.warn("not installed", fix, why=why)
        values, version = found[0].values, found[0].version
        if "hip" in values:
            return self.ok(f"{version} for ROCm (HIP {values['hip']})")
        built = f"CUDA {values['cuda']}" if "cuda" in values else "the CPU only"
        words = f"{version} for {built}"
        if machine.has_gpu:
            return self.fail(words, "pip uninstall -y torch", _INSTALL)
        return self.ok(words)
