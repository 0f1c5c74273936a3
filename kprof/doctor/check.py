"""What a check is. Each is a file of the folder ``checks``, and the folder is the list of them."""

from typing import ClassVar

from kprof.doctor.document import CheckOutcome, Status
from kprof.doctor.host import Host

DRIVER = "the Linux kernel's documentation of amdgpu"


class DoctorCheck:
    """One thing to look at.

    Attributes:
        name: as in the document, in kebab-case.
        section: where it is shown.
        why: why it matters, a sentence.
        source: whose advice it is.
        needs_gpu: it means nothing on a machine without an AMD GPU.
        needs_report: it means nothing without the output of rocminfo or amd-smi.
        needs_cuda_gpu: it means nothing on a machine without an NVIDIA GPU, which is nothing to speak of.
    """

    name: ClassVar[str]
    section: ClassVar[str]
    why: ClassVar[str]
    source: ClassVar[str] = ""
    needs_gpu: ClassVar[bool] = False
    needs_cuda_gpu: ClassVar[bool] = False
    needs_report: ClassVar[bool] = False

    def look(self, machine: Host) -> CheckOutcome:
        """Look at the machine. Must only read."""
        raise NotImplementedError

    def ok(self, found: str) -> CheckOutcome:
        """All is well."""
        return CheckOutcome(self.name, self.section, "ok", found)

    def warn(self, found: str, *fix: str, why: str | None = None) -> CheckOutcome:
        """Something may make measurements worse, or leaves something out."""
        return self._bad("warn", found, fix, why)

    def fail(self, found: str, *fix: str, why: str | None = None) -> CheckOutcome:
        """Something makes measurements wrong or impossible."""
        return self._bad("fail", found, fix, why)

    def unknown(self, found: str, *fix: str) -> CheckOutcome:
        """It could not be determined, which is neither good nor bad."""
        return self._bad("unknown", found, fix, None)

    def _bad(self, status: Status, found: str, fix: tuple[str, ...], why: str | None) -> CheckOutcome:
        return CheckOutcome(self.name, self.section, status, found, why or self.why, list(fix), self.source)
