"""Check for the LLVM tools that kprof needs for code objects and HIP source."""

import re
from collections.abc import Iterator
from pathlib import Path

from kprof.doctor.check import Seen, check, ok, warn
from kprof.doctor.host import Host
from kprof.doctor.settings import archs_of
from kprof.errors import KprofError

_VERSIONS = range(26, 13, -1)
_ROCM = ("/opt/rocm/llvm", "/opt/rocm/lib/llvm")
_IN_PATH = re.compile(r"llvm(?:-objdump)?-(\d{1,3})(?:/|$)")


@check(
    "llvm-tools",
    "software",
    why="Instructions of .hsaco and .co files need LLVM's library or an llvm-objdump that is new enough for the GPU, "
    "HIP source needs clang++; Triton kernels need neither.",
)
def llvm_tools(machine: Host) -> Seen:
    """Check for a disassembler of code objects and for ``clang++``."""
    from kprof.inputs.code_object.llvm_library import PACKAGE

    reader, good = _disassembler(machine)
    clang = _clang(machine)
    fixes = [] if good else [f"pip install {PACKAGE}"]
    fixes += [] if clang else ["sudo apt install clang"]
    words = f"{reader}; {clang or 'clang++ not found'}"
    return warn(words, *fixes) if fixes else ok(words)


def _disassembler(machine: Host) -> tuple[str, bool]:
    """Return a description of the disassembler for this machine's GPUs, and whether it is recent enough."""
    library = _library(machine)
    if library is not None:
        return f"code objects are read by {library}", True
    archs = archs_of(machine)
    oldest = max(map(_oldest, archs))
    tools = list(_objdumps(machine))
    for tool, version in tools:
        if oldest == 0 or (version or 0) >= oldest:
            return f"code objects are read by {tool}", True
    if not tools:
        return "no disassembler: neither LLVM's library nor llvm-objdump", False
    tool, version = tools[0]
    said = "is of unknown version" if version is None else f"is version {version}"
    return f"{tool} {said}, {' and '.join(archs)} needs {oldest} or newer", False


def _library(machine: Host) -> str | None:
    """Find LLVM's library like :func:`kprof.inputs.code_object.llvm_library.find_library`, and describe it."""
    from kprof.inputs.code_object.llvm_library import IN_PACKAGE, IN_ROCM, PACKAGE

    if any(machine.at(place).is_file() for place in IN_ROCM):
        return "ROCm's libLLVM.so"
    if any((folder / IN_PACKAGE).is_file() for folder in machine.packages):
        return f"LLVM's library of {PACKAGE}"
    return None


def _oldest(arch: str) -> int:
    """Return the first LLVM release whose llvm-objdump supports an architecture; 0 if every release supports it."""
    from kprof.hardware.machine import load

    try:
        return load(arch).llvm.oldest_objdump or 0
    except KprofError:
        return 0


def _objdumps(machine: Host) -> Iterator[tuple[str, int | None]]:
    """Yield every llvm-objdump with its major version, which is taken from its path; nothing is executed."""
    for folder in _ROCM:
        if machine.at(f"{folder}/bin/llvm-objdump").is_file():
            versions = [path.name for path in machine.entries(f"{folder}/lib/clang")]
            numbers = [int(name.split(".")[0]) for name in versions if name.split(".")[0].isdecimal()]
            yield str(machine.at(f"{folder}/bin/llvm-objdump")), max(numbers, default=None)
    for name in (*(f"llvm-objdump-{number}" for number in _VERSIONS), "llvm-objdump"):
        found = machine.which(name)
        if found is not None:
            version = _IN_PATH.search(found) or _IN_PATH.search(str(Path(found).resolve()))
            yield found, int(version[1]) if version else None


def _clang(machine: Host) -> str | None:
    for name in ("clang++", *(f"clang++-{number}" for number in _VERSIONS)):
        found = machine.which(name)
        if found is not None:
            return found
    places = [machine.at(f"{folder}/bin/clang++") for folder in _ROCM]
    return next((str(place) for place in places if place.is_file()), None)
