"""Checks of the doctor: functions in the folder ``checks`` that are decorated with :func:`check`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from kprof.doctor.document import CheckOutcome, Status
from kprof.doctor.host import Host


class Seen(NamedTuple):
    """Result of a check on a machine.

    Attributes:
        status: severity of the result.
        found: description of the current state.
        fix: commands that correct the state.
        why: why the state matters; empty: the check's own reason applies.
    """

    status: Status
    found: str
    fix: tuple[str, ...] = ()
    why: str = ""


def ok(found: str) -> Seen:
    """Return the result that everything is fine."""
    return Seen("ok", found)


def warn(found: str, *fix: str, why: str = "") -> Seen:
    """Return a warning: measurements may be worse, or something is not available."""
    return Seen("warn", found, fix, why)


def fail(found: str, *fix: str, why: str = "") -> Seen:
    """Return a failure: measurements are wrong or impossible."""
    return Seen("fail", found, fix, why)


def unknown(found: str) -> Seen:
    """Return an undetermined result, which is neither good nor bad."""
    return Seen("unknown", found)


@dataclass(frozen=True)
class DoctorCheck:
    """A check of one property of the machine.

    Attributes:
        name: name of the check in the document, in kebab-case.
        section: section of the report that shows the check.
        why: why the property matters, one sentence.
        source: publication or guide that the advice comes from.
        needs_gpu: True if the check is only relevant on a machine with an AMD GPU.
        needs_cuda_gpu: True if the check is only relevant on a machine with an NVIDIA GPU.
        needs_report: True if the check needs the output of rocminfo or amd-smi.
        look: function that examines the machine. It must only read.
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
        """Return the check's entry in the document; an error during the check becomes an unknown outcome."""
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
    """Return a decorator that turns a function into a check; see :class:`DoctorCheck`."""
    return lambda look: DoctorCheck(name, section, why, source, needs_gpu, needs_cuda_gpu, needs_report, look)
