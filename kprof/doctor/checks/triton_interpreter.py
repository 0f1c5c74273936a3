"""Whether Triton interprets kernels instead of compiling them."""

from kprof.doctor.check import DoctorCheck
from kprof.doctor.document import CheckOutcome
from kprof.doctor.host import Host
from kprof.doctor.settings import wanted_by

_WANTED = wanted_by("triton-interpreter")


class TritonInterpreter(DoctorCheck):
    """``TRITON_INTERPRET``."""

    name = "triton-interpreter"
    section = "environment"
    source = _WANTED.source
    why = _WANTED.why

    def look(self, machine: Host) -> CheckOutcome:
        """See :meth:`DoctorCheck.look`."""
        value = machine.environment.get(_WANTED.name, "")
        if value.lower() in {"1", "true", "on", "yes", "y"}:
            return self.fail(f"{_WANTED.name}={value}", f"unset {_WANTED.name}")
        return self.ok("off")
