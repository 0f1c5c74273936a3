"""Which Triton is imported, where it comes from, and whether there are several."""

import re

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host
from kprof.doctor.versions import Copy, copies

_DISTRIBUTIONS = ("triton", "pytorch-triton-rocm", "triton-rocm", "pytorch-triton", "triton-nightly", "triton-windows")
_NUMBERS = re.compile(r"(\d+)\.(\d+)")
_MINIMUM = (3, 4)


class Triton(DoctorCheck):
    """The compiler that decides every result."""

    name = "triton"
    section = "software"
    why = "The same kernel gets other registers, spills and LDS from another Triton."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        found = copies(machine, "triton", "__init__.py", _DISTRIBUTIONS)
        if not found:
            why = "Compiled files can be read without it; compiling a kernel needs its compiler."
            return self.warn("not installed", 'pip install "triton>=3.4"', why=why)
        first = found[0]
        words = f"{first.version} {_origin(first)}"
        numbers = _NUMBERS.match(first.version)
        if numbers is None:
            return self.unknown(f"its version cannot be read from {first.folder}")
        if (int(numbers[1]), int(numbers[2])) < _MINIMUM:
            why = "kprof compiles with Triton 3.4 and later."
            return self.fail(words, 'pip install "triton>=3.4"', why=why)
        if not (first.folder / "backends" / "amd").is_dir():
            why = "It was built without the AMD backend and cannot compile for AMD GPUs."
            return self.fail(
                f"{words}, without the AMD backend", 'pip install --force-reinstall "triton>=3.4"', why=why
            )
        if len(first.distributions) > 1:
            names = " and ".join(first.distributions)
            return self.warn(
                f"{words}; {names} are installed over each other",
                f"pip uninstall -y {' '.join(first.distributions)}",
                f"pip install --force-reinstall {first.distributions[0]}",
                why="Both write the same folder: which files are from which is not known.",
            )
        if len(found) > 1:
            others = ", ".join(f"{other.version} in {other.folder.parent}" for other in found[1:])
            why = "The first on Python's path is used; a change of the path changes the compiler silently."
            return self.warn(f"{words} in {first.folder.parent}; also {others}", "python -m pip list -v", why=why)
        return self.ok(words)


def _origin(copy: Copy) -> str:
    """Who built it, as far as names tell."""
    if any("rocm" in name for name in copy.distributions) or "rocm" in copy.version:
        return "built for ROCm"
    if "+git" in copy.version:
        return "built from a checkout"
    if copy.distributions == ("triton",):
        return "from its own wheel"
    return f"as {copy.distributions[0]}" if copy.distributions else "from a checkout or an unknown package"
