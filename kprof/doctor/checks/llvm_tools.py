"""LLVM's tools for what kprof does not read by itself."""

from kprof.doctor.check import Check
from kprof.doctor.document import Outcome
from kprof.doctor.host import Host

_VERSIONS = ("", *(f"-{n}" for n in range(24, 16, -1)))


class LlvmTools(Check):
    """``llvm-objdump`` for code objects, ``clang++`` for HIP source."""

    name = "llvm-tools"
    section = "software"
    why = (
        "Instructions of .hsaco and .co files need llvm-objdump, HIP source needs clang++; Triton kernels need neither."
    )

    def look(self, machine: Host) -> Outcome:
        """See :meth:`Check.look`."""
        objdump = _find(machine, "llvm-objdump")
        clang = _find(machine, "clang++")
        found = ", ".join(tool for tool in (objdump, clang) if tool is not None)
        missing = [name for name, tool in (("llvm-objdump", objdump), ("clang++", clang)) if tool is None]
        if missing:
            words = f"{found + '; ' if found else ''}{' and '.join(missing)} not found"
            return self.warn(words, "sudo apt install llvm clang")
        return self.ok(found)


def _find(machine: Host, tool: str) -> str | None:
    for version in _VERSIONS:
        found = machine.which(f"{tool}{version}")
        if found is not None:
            return found
    bundled = machine.at(f"/opt/rocm/llvm/bin/{tool}")
    return str(bundled) if bundled.is_file() else None
