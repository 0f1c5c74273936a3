"""Read measurements and merge them into the reports of kernels."""

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
    """Return the paths as a list of strings."""
    return [os.fspath(path) for path in ([given] if isinstance(given, str | os.PathLike) else given)]


@dataclass
class Joining:
    """Measurements that are merged into kernel reports one by one, with the errors of kernels that were not measured.

    Attributes:
        measurement: the measurements.
        joined: number of kernels that were found in the measurements.
        problems: one error per kernel that was not found.
    """

    measurement: "GpuMeasurements"
    joined: int = 0
    problems: list[KprofError] = field(default_factory=list)

    def add_to(self, report: "KernelReport", kernel: "LoadedKernel") -> "KernelReport":
        """Return the report with the kernel's measurements, or with a note on why there are none."""
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
        """Raise an error if no kernel was found in the measurements.

        Raises:
            InputError: none of the kernels was measured.
        """
        if self.problems and not self.joined:
            raise self.problems[0]


def joining(options: ThreadTraceOptions, archs: Sequence[str]) -> Joining | None:
    """Read measurements; return ``None`` if the options name no file.

    Args:
        options: files of the measurements.
        archs: the requested architectures; empty for any.

    Raises:
        InputError: a file cannot be read, or was measured on another GPU than requested.
        KprofError: several architectures are requested.
    """
    if not options.counters and not options.trace and options.thread_trace is None:
        return None
    if len(archs) > 1:
        raise KprofError("a measurement belongs to one GPU: name one --arch, or none")
    from kprof_analyzers.profiles.measured import reading

    named = (list(options.counters), list(options.trace))
    return Joining(reading.read(*named, archs[0] if archs else None, options.thread_trace))
