"""Environment variables that change what Triton compiles."""

from kprof.doctor.check import Check
from kprof.doctor.document import Outcome
from kprof.doctor.host import Host

# Not about the code, but about whether it is compiled at all, or replaced.
_OTHERS = (
    "TRITON_ALWAYS_COMPILE",
    "TRITON_KERNEL_OVERRIDE",
    "TRITON_SWAP_MIR",
    "AMDGCN_ENABLE_DUMP",
    "MLIR_ENABLE_DUMP",
)


class CompileSwitches(Check):
    """Triton's switches that are set."""

    name = "compile-switches"
    section = "environment"
    why = "They change the compiled code, or how long compiling takes; kprof notes them with each result."

    def look(self, machine: Host) -> Outcome:
        """See :meth:`Check.look`."""
        from kprof.compiler.environment import SWITCHES

        found = [name for name in (*sorted(SWITCHES), *_OTHERS) if machine.environment.get(name)]
        if "TRITON_KERNEL_OVERRIDE" in found:
            why = "Triton may replace what it compiled by files of the override directory."
            return self.fail(_shown(machine, found), "unset TRITON_KERNEL_OVERRIDE", why=why)
        if found:
            return self.warn(_shown(machine, found), f"unset {' '.join(found)}")
        return self.ok("none is set")


def _shown(machine: Host, names: list[str]) -> str:
    return ", ".join(f"{name}={machine.environment[name][:40]}" for name in names)
