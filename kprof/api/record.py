"""Running a program and recording the Triton kernels that it launches, without a GPU."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.captures.layout import VALUES
from kprof.hardware.default import DEFAULT_ARCH

if TYPE_CHECKING:
    from kprof.captures.model import Capture
    from kprof.recording.command import Ended

# Below this a disk is full.
_FULL = 1 << 16


@dataclass(frozen=True)
class Recorded:
    """What was recorded, and how the program ended.

    Attributes:
        capture: the kernels, with their launches.
        ended: its exit status, and whether it was interrupted.
        operators: whether calls of torch's operators were asked for, which count as something recorded.
    """

    capture: "Capture"
    ended: "Ended"
    operators: bool = False

    @property
    def empty(self) -> bool:
        """Whether nothing that was asked for was recorded."""
        return not self.capture.kernels and not (self.operators and self.capture.torch)

    @property
    def complete(self) -> bool:
        """Whether the program succeeded, something was recorded, and all that it launches compiles."""
        launched = [kernel for kernel in self.capture.kernels if kernel.launches and not kernel.ok]
        return not (self.ended.status or launched or self.empty)

    @property
    def document(self) -> dict[str, Any]:
        """A summary, as ``kprof capture --json`` writes it."""
        from kprof.reporters._capture_summary import summary

        return summary(self.capture, self.ended.status)

    @property
    def trouble(self) -> str | None:
        """Why the program did not end well, in words."""
        import shutil

        if not self.capture.complete and shutil.disk_usage(self.capture.path).free < _FULL:
            return "the disk is full"
        if self.ended.interrupted:
            return "interrupted"
        if self.ended.status < 0:
            return f"the program was ended by signal {-self.ended.status}"
        return f"the program failed with exit status {self.ended.status}" if self.ended.status else None


def record(
    program: Sequence[str],
    *,
    output: "str | os.PathLike[str]",
    arch: str = DEFAULT_ARCH,
    jobs: int = 0,
    use_cache: bool = True,
    force: bool = False,
    execute: bool = True,
    timeout: float = 600.0,
    arithmetic: bool = True,
    full_values: bool = False,
    values: int = VALUES,
    argv: bool = True,
    operators: bool = False,
) -> Recorded:
    """Run a program in a process of its own and record what it launches.

    Args:
        program: what to run: ``["python", "train.py"]``.
        output: the folder that gets the capture.
        arch: the architecture or product that the program sees.
        jobs: worker processes, 0 for one a core.
        use_cache: use the cache of compiled kernels.
        force: replace a capture that is there.
        execute: let kernels run where there is a ROCm GPU.
        timeout: seconds that one compile may take.
        arithmetic: compute torch's matrix products; else they are zeros.
        full_values: compute large tensors of the GPU too, in the machine's memory.
        values: integers of a tensor that are kept at most, where the course of a kernel depends on them.
        argv: keep command lines, without their secrets.
        operators: keep each call of torch's own operators with its shapes, as ``kprof profile`` needs them.

    Raises:
        KprofError: there is a capture already, the program cannot be run, or the folder cannot be written.
    """
    from kprof.captures.reader import read
    from kprof.recording.command import RecordOptions, prepare, run

    place = Path(output)
    options = RecordOptions(
        arch,
        place,
        jobs=jobs,
        use_cache=use_cache,
        force=force,
        execute=execute,
        timeout=timeout,
        arithmetic=arithmetic,
        full_values=full_values,
        values=values,
        argv=argv,
        operators=operators,
    )
    settings = prepare(options, list(program))
    ended = run(settings, list(program))
    return Recorded(read(place), ended, operators)
