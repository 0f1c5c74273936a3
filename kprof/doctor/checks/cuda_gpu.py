"""Whether an NVIDIA GPU can check kernels where there is no AMD GPU."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host
from kprof.doctor.versions import copies

_INSTALL = "pip install torch"


class CudaGpu(DoctorCheck):
    """NVIDIA GPUs with what ``kprof bench`` needs to run kernels on them."""

    name = "cuda-gpu"
    section = "gpu"
    needs_cuda_gpu = True
    why = "kprof bench checks kernels on a CUDA GPU against their reference; times there are not those of an AMD GPU."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        found = machine.cuda_gpus
        words = ", ".join(f"{found.count(name)} x {name}" for name in dict.fromkeys(found))
        files = [path for path in machine.entries("/dev", "nvidia") if path.name[6:].isdecimal()]
        if not files or not machine.at("/dev/nvidiactl").exists():
            fix = ("in a container: docker run --gpus all ...", "else: sudo modprobe nvidia")
            return self.warn(f"{words}, but no /dev/nvidia0 and /dev/nvidiactl", *fix)
        if not all(machine.usable(path) for path in (*files, machine.at("/dev/nvidiactl"))):
            return self.warn(f"{words}, but /dev/nvidia* is closed to this user", "who may use it: ls -l /dev/nvidia*")
        hidden = machine.environment.get("CUDA_VISIBLE_DEVICES")
        if hidden is not None and hidden.strip() in {"", "-1"}:
            return self.warn(f"{words}, hidden by CUDA_VISIBLE_DEVICES={hidden}", "unset CUDA_VISIBLE_DEVICES")
        return self._software(machine, words)

    def _software(self, machine: Host, words: str) -> CheckOutcome:
        """What torch and Triton are built for."""
        torch = copies(machine, "torch", "version.py", ("torch",))
        if not torch:
            return self.warn(f"{words}, but no torch", _INSTALL)
        if "hip" in torch[0].values and machine.has_gpu:
            return self.ok(f"{words}, not used: torch is built for ROCm")
        if "cuda" not in torch[0].values:
            return self.warn(f"{words}, but torch {torch[0].version} cannot use it", "pip uninstall -y torch", _INSTALL)
        triton = copies(machine, "triton", "__init__.py", ("triton",))
        if not triton or not (triton[0].folder / "backends" / "nvidia").is_dir():
            missing, again = ("Triton's NVIDIA backend", "--force-reinstall ") if triton else ("Triton", "")
            return self.warn(f"{words}, but no {missing}", f'pip install {again}"triton>=3.4"')
        return self.ok(f"{words}, for checking kernels with kprof bench")
