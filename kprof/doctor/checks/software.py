"""Checks of Python, the compiler, torch and ROCm."""

import platform
import re
import sys

from kprof.doctor.check import Seen, check, fail, ok, unknown, warn
from kprof.doctor.host import Host
from kprof.doctor.versions import Copy, copies

_TORCH = "pip install torch --index-url https://download.pytorch.org/whl/rocm6.4"
_TORCH_CUDA = "pip install torch"
# This build does not replace an installed Triton.
_TORCH_CPU = "pip install torch --index-url https://download.pytorch.org/whl/cpu"
_DISTRIBUTIONS = ("triton", "pytorch-triton-rocm", "triton-rocm", "pytorch-triton", "triton-nightly", "triton-windows")
_NUMBERS = re.compile(r"(\d+)\.(\d+)")
_MINIMUM = (3, 4)


@check("python", "software", why="Triton's wheels, with the compiler in them, are for Linux on x86-64 and ARM64 only.")
def python(machine: Host) -> Seen:  # noqa: ARG001 - it is this process
    """Check the version and machine type of the running Python."""
    found = f"{platform.python_version()} on {sys.platform} {platform.machine()}"
    if sys.platform != "linux":
        return warn(found, "Reading artefacts works here; compile on Linux, in WSL or in a container.")
    return ok(found)


@check(
    "rocm",
    "software",
    needs_gpu=True,
    why="torch's wheels bring their own libraries; the profilers and management tools come with ROCm.",
)
def rocm(machine: Host) -> Seen:
    """Check the version of the ROCm installation; ROCm libraries inside wheels are not considered."""
    home = machine.environment.get("ROCM_PATH", "/opt/rocm")
    version = machine.text(f"{home}/.info/version")
    if version:
        return ok(f"{version.splitlines()[0][:40]} in {home}")
    if not machine.at(home).is_dir():
        return warn(f"not found in {home}", "https://rocm.docs.amd.com/projects/install-on-linux")
    return unknown(f"{home} contains no version")


@check(
    "rocprof",
    "software",
    needs_gpu=True,
    why="Counters and thread traces are recorded by rocprofv3; kprof reads what it writes.",
)
def rocprof(machine: Host) -> Seen:
    """Check for ``rocprofv3``, the profiler whose results ``kprof ingest counters`` reads."""
    home = machine.environment.get("ROCM_PATH", "/opt/rocm")
    found = machine.which("rocprofv3")
    if found is None and machine.at(f"{home}/bin/rocprofv3").is_file():
        found = f"{home}/bin/rocprofv3"
    if found is None:
        older = next((tool for tool in ("rocprofv2", "rocprof") if machine.which(tool)), None)
        words = "rocprofv3 not found" + (f", but {older}" if older else "")
        return warn(words, "sudo apt install rocprofiler-sdk")
    return ok(found)


@check(
    "torch",
    "software",
    why="kprof bench runs kernels through torch, and only a build for ROCm can use an AMD GPU.",
)
def torch(machine: Host) -> Seen:
    """Check torch, which runs kernels and holds their tensors: its version and its backend."""
    found = copies(machine, "torch", "version.py", ("torch",))
    if not found:
        why = "kprof bench, and kprof capture of torch programs, need it; everything else does not."
        without = _TORCH_CUDA if machine.cuda_gpus else _TORCH_CPU
        return warn("not installed", _TORCH if machine.has_gpu else without, why=why)
    values, version = found[0].values, found[0].version
    if "hip" in values:
        return ok(f"{version} for ROCm (HIP {values['hip']})")
    built = f"CUDA {values['cuda']}" if "cuda" in values else "the CPU only"
    words = f"{version} for {built}"
    if machine.has_gpu:
        return fail(words, "pip uninstall -y torch", _TORCH)
    return ok(words)


@check("triton", "software", why="The same kernel gets other registers, spills and LDS from another Triton.")
def triton(machine: Host) -> Seen:
    """Check Triton, the compiler: its version and origin, and whether several are installed."""
    found = copies(machine, "triton", "__init__.py", _DISTRIBUTIONS)
    if not found:
        why = "Compiled files can be read without it; compiling a kernel needs its compiler."
        return warn("not installed", 'pip install "triton>=3.4"', why=why)
    first = found[0]
    words = f"{first.version} {_origin(first)}"
    numbers = _NUMBERS.match(first.version)
    if numbers is None:
        return unknown(f"its version cannot be read from {first.folder}")
    if (int(numbers[1]), int(numbers[2])) < _MINIMUM:
        return fail(words, 'pip install "triton>=3.4"', why="kprof compiles with Triton 3.4 and later.")
    if not (first.folder / "backends" / "amd").is_dir():
        why = "It was built without the AMD backend and cannot compile for AMD GPUs."
        return fail(f"{words}, without the AMD backend", 'pip install --force-reinstall "triton>=3.4"', why=why)
    if len(first.distributions) > 1:
        names = " and ".join(first.distributions)
        return warn(
            f"{words}; {names} are installed over each other",
            f"pip uninstall -y {' '.join(first.distributions)}",
            f"pip install --force-reinstall {first.distributions[0]}",
            why="Both install into the same folder, so it is not known which files belong to which distribution.",
        )
    if len(found) > 1:
        others = ", ".join(f"{other.version} in {other.folder.parent}" for other in found[1:])
        why = "Python imports the first one on its path; a change of the path changes the compiler silently."
        return warn(f"{words} in {first.folder.parent}; also {others}", "python -m pip list -v", why=why)
    return ok(words)


def _origin(copy: Copy) -> str:
    """Return the origin of a copy of Triton, derived from the names of its distributions."""
    if any("rocm" in name for name in copy.distributions) or "rocm" in copy.version:
        return "built for ROCm"
    if "+git" in copy.version:
        return "built from a checkout"
    if copy.distributions == ("triton",):
        return "from its own wheel"
    return f"as {copy.distributions[0]}" if copy.distributions else "from a checkout or an unknown package"
