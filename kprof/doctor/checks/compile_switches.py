"""Environment variables that change what Triton compiles."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host


class CompileSwitches(DoctorCheck):
    """Triton's switches that are set. What the guides say about variables is in ``settings.toml``."""

    name = "compile-switches"
    section = "environment"
    why = "They change the compiled code; kprof notes them with each result."

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        from kprof.compiler.environment import SWITCHES

        found = [name for name in sorted(SWITCHES) if machine.environment.get(name)]
        if found:
            words = ", ".join(f"{name}={machine.environment[name][:40]}" for name in found)
            return self.warn(words, f"unset {' '.join(found)}")
        return self.ok("none is set")
