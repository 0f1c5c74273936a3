"""``kprof.diagnose``: check whether this machine is set up to compile, run and time kernels."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from kprof.api.result import JudgedResult
from kprof.doctor import WORKLOADS, Diagnosis, Host, Workload, examine, read_command
from kprof.errors import KprofError, near_hint
from kprof.inputs.gpu_report import read_gpu_report
from kprof.options.keywords import keywords
from kprof.options.tools import DoctorOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosed(JudgedResult):
    """Result of the checks of a machine.

    Attributes:
        document: the JSON document that ``kprof doctor --json`` writes (``kprof.doctor/1``).
    """

    document: Diagnosis
    kind: ClassVar[str] = "doctor"

    @property
    def ok(self) -> bool:
        """Whether no check failed, so that measurements can be trusted."""
        return self.document.verdict.status != "fail"

    def script(self) -> str:
        """Return a shell script with the proposed changes; kprof has run none of them."""
        from kprof.doctor import script

        return script(self.document)

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per check: its name, what was found, and what to do."""
        from kprof.api.frames import struct_frame
        from kprof.doctor import CheckOutcome

        return struct_frame(CheckOutcome, [({}, one) for one in self.document.checks])


@keywords
def diagnose(command: "Sequence[str]" = (), *, options: DoctorOptions) -> Diagnosed:
    """Check whether a machine is set up for kernel work as AMD's guides recommend. Nothing is changed or run.

    Args:
        command: words of a command line, whose variables and arguments are also checked: ``["vllm", "serve", ...]``.
        options: the machine to check, and the workload that it will run.

    Raises:
        KprofError: the folder does not exist, the workload is unknown, the report cannot be read, or the command line
            has no known program.
    """
    folder = Path(options.root)
    if not folder.is_dir():
        hint = "--root needs a folder that contains proc, sys and dev."
        raise KprofError("no such folder", path=str(folder), hint=hint)
    workload = _workload(options.workload)
    read = read_command(command) if command else None
    if read is not None and {workload, read.workload} == {"vllm", "sglang"}:
        raise KprofError(f"--workload {workload} does not fit a command line of {read.workload}")
    reported = read_gpu_report(options.gpu_report) if options.gpu_report is not None else ()
    return Diagnosed(examine(Host(root=folder, reported=reported), workload, read))


def _workload(name: str | None) -> Workload | None:
    if name is None:
        return None
    for each in WORKLOADS:
        if each == name:
            return each
    raise KprofError(f"no workload {name}", hint=near_hint(name, WORKLOADS, "--workload takes"))
