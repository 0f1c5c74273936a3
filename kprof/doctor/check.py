"""What a check is: a function in a file of the folder ``checks`` with :func:`check` over it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from kprof.doctor.document import CheckOutcome, Status
from kprof.doctor.host import Host


class Seen(NamedTuple):
    """What a check found on a machine.

    Attributes:
        status: how good it is.
        found: what is there.
        fix: commands that change it.
        why: why it matters, where that differs from the check's own reason.
    """

    status: Status
    found: str
    fix: tuple[str, ...] = ()
    why: str = ""


def ok(found: str) -> Seen:
    """All is well."""
    return Seen("ok", found)


def warn(found: str, *fix: str, why: str = "") -> Seen:
    """Something may make measurements worse, or leaves something out."""
    return Seen("warn", found, fix, why)


def fail(found: str, *fix: str, why: str = "") -> Seen:
    """Something makes measurements wrong or impossible."""
    return Seen("fail", found, fix, why)


def unknown(found: str) -> Seen:
    """It could not be determined, which is neither good nor bad."""
    return Seen("unknown", found)


@dataclass(frozen=True)
class DoctorCheck:
    """One thing to look at.

    Attributes:
        name: as in the document, in kebab-case.
        section: where it is shown.
        why: why it matters, a sentence.
        source: whose advice it is.
        needs_gpu: it means nothing on a machine without an AMD GPU.
        needs_cuda_gpu: it means nothing on a machine without an NVIDIA GPU, which is nothing to speak of.
        needs_report: it means nothing without the output of rocminfo or amd-smi.
        look: looks at the machine. Must only read.
    """

    name: str
    section: str
    why: str
    source: str
    needs_gpu: bool
    needs_cuda_gpu: bool
    needs_report: bool
    look: Callable[[Host], Seen]

    def outcome(self, machine: Host) -> CheckOutcome:
        """The check's part of the document; an error while looking is an unknown outcome."""
        try:
            seen = self.look(machine)
        except Exception as error:  # noqa: BLE001 - what is odd on a machine must not hide the rest of it
            seen = unknown(f"could not be determined: {type(error).__name__}: {error}"[:200])
        if seen.status == "ok":
            return CheckOutcome(self.name, self.section, "ok", seen.found)
        return CheckOutcome(
            self.name, self.section, seen.status, seen.found, seen.why or self.why, list(seen.fix), self.source
        )


def check(
    name: str,
    section: str,
    *,
    why: str,
    source: str = "",
    needs_gpu: bool = False,
    needs_cuda_gpu: bool = False,
    needs_report: bool = False,
) -> Callable[[Callable[[Host], Seen]], DoctorCheck]:
    """Make a check of the function below; see :class:`DoctorCheck`."""
    return lambda look: DoctorCheck(name, section, why, source, needs_gpu, needs_cuda_gpu, needs_report, look)
