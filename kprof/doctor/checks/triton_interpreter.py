"""Whether Triton interprets kernels instead of compiling them."""

from kprof.doctor.check import Check
from kprof.doctor.document import Outcome
from kprof.doctor.host import Host


class TritonInterpreter(Check):
    """``TRITON_INTERPRET``."""

    name = "triton-interpreter"
    section = "environment"
    why = "Kernels then run in Python on the CPU: what is timed is not a kernel."

    def look(self, machine: Host) -> Outcome:
        """See :meth:`Check.look`."""
        value = machine.environment.get("TRITON_INTERPRET", "")
        if value.lower() in {"1", "true", "on", "yes", "y"}:
            return self.fail(f"TRITON_INTERPRET={value}", "unset TRITON_INTERPRET")
        return self.ok("off")
