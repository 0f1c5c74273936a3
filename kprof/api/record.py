"""Running a program and recording the Triton kernels that it launches, without a GPU."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.api.other_triton import takes_triton
from kprof.hardware.default import DEFAULT_GPU
from kprof.options.keywords import keywords
from kprof.options.programs import CaptureOptions

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


@keywords
@takes_triton
def record(program: Sequence[str], *, options: CaptureOptions) -> Recorded:
    """Run a program in a process of its own and record what it launches, in a folder: ``kprof-capture`` by default.

    Args:
        program: what to run: ``["python", "train.py"]``.
        options: what is recorded, and where it is written.

    Raises:
        KprofError: there is a capture already, the program cannot be run, or the folder cannot be written.
    """
    from kprof.captures.reader import read
    from kprof.recording.command import RecordOptions, prepare, run

    place = Path(options.output or "kprof-capture")
    asked = RecordOptions(
        options.one_gpu("kprof capture") or DEFAULT_GPU,
        place,
        jobs=options.jobs,
        use_cache=options.cache,
        force=options.force,
        execute=options.execute,
        timeout=options.timeout,
        arithmetic=options.arithmetic,
        full_values=options.full_values,
        values=options.keep_values,
        argv=options.argv,
        operators=options.operators,
    )
    settings = prepare(asked, list(program))
    ended = run(settings, list(program))
    return Recorded(read(place), ended, options.operators)
