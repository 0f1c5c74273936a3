"""What the API takes of measurements, and how they become part of a kernel's report."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kprof.errors import InputError, KprofError
from kprof.options.groups import ThreadTraceOptions

if TYPE_CHECKING:
    from kprof.document import KernelReport
    from kprof.targets.loaded import LoadedKernel
    from kprof_analyzers.profiles.measured.reading import GpuMeasurements

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One path, or several."""


def paths(given: Paths) -> list[str]:
    """The single paths as text."""
    return [os.fspath(path) for path in ([given] if isinstance(given, str | os.PathLike) else given)]


@dataclass
class Joining:
    """Kernels joined to a measurement, and why some could not be.

    Attributes:
        measurement: what was measured.
        joined: kernels that were found in it.
        problems: why the others were not.
    """

    measurement: "GpuMeasurements"
    joined: int = 0
    problems: list[KprofError] = field(default_factory=list)

    def add_to(self, report: "KernelReport", kernel: "LoadedKernel") -> "KernelReport":
        """The report with what was measured of the kernel, or with a note that says why nothing is."""
        from kprof_analyzers.profiles.measured.join import subject_of
        from kprof_analyzers.profiles.measured.judge import judge

        try:
            self._check(report)
            subject = subject_of(kernel, report, kernel.arch)
            found = judge(report, subject, self.measurement, kernel.program)
        except InputError as error:
            self.problems.append(error)
            return replace(report, notes=[*report.notes, f"not measured: {error.message}"])
        self.joined += 1
        return replace(report, measured=found)

    def _check(self, report: "KernelReport") -> None:
        gpu = self.measurement.gpu
        if gpu is not None and gpu.arch.name != report.arch:
            raise InputError(f"this was measured on {self.measurement.name}, {report.name} is for {report.arch}")

    def check_some(self) -> None:
        """Say why nothing was joined.

        Raises:
            InputError: there were kernels, and none of them was measured.
        """
        if self.problems and not self.joined:
            raise self.problems[0]


def joining(options: ThreadTraceOptions, archs: Sequence[str]) -> Joining | None:
    """Read measurements; ``None`` when no file is named.

    Args:
        options: what was measured.
        archs: the architectures that are asked for.

    Raises:
        InputError: a file cannot be read, or is of another GPU than asked for.
        KprofError: several architectures are asked for.
    """
    if not options.counters and not options.trace and options.thread_trace is None:
        return None
    if len(archs) > 1:
        raise KprofError("a measurement is of one GPU: name one with --arch, or none")
    from kprof_analyzers.profiles.measured import reading

    named = (list(options.counters), list(options.trace))
    return Joining(reading.read(*named, archs[0] if archs else None, options.thread_trace))
