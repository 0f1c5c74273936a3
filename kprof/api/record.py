"""Run a program and record the Triton kernels that it launches, without a GPU."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.hardware.default import DEFAULT_GPU
from kprof.options.keywords import keywords
from kprof.options.programs import CaptureOptions

if TYPE_CHECKING:
    from kprof.captures.model import Capture
    from kprof.recording.command import Ended

# Number of free bytes below which the disk counts as full.
_FULL = 1 << 16


@dataclass(frozen=True)
class Recorded:
    """A recording, and how the program ended.

    Attributes:
        capture: the recorded kernels, with their launches.
        ended: exit status of the program, and whether it was interrupted.
        operators: whether calls of torch operators were recorded in addition to kernels.
    """

    capture: "Capture"
    ended: "Ended"
    operators: bool = False

    @property
    def empty(self) -> bool:
        """Whether neither a kernel nor, if requested, an operator call was recorded."""
        return not self.capture.kernels and not (self.operators and self.capture.torch)

    @property
    def complete(self) -> bool:
        """Whether the program succeeded, the recording is not empty, and all launched kernels compile."""
        launched = [kernel for kernel in self.capture.kernels if kernel.launches and not kernel.ok]
        return not (self.ended.status or launched or self.empty)

    @property
    def incomplete(self) -> bool:
        """Whether launches may be missing: operators did not run, or launches of other languages are left out."""
        return bool(self.capture.unrun or self.capture.left_out)

    @property
    def document(self) -> dict[str, Any]:
        """A summary, as ``kprof capture --json`` writes it."""
        from kprof.reporters._capture_summary import summary

        return summary(self.capture, self.ended.status)

    @property
    def trouble(self) -> str | None:
        """Reason why the program failed, or ``None``."""
        import shutil

        if not self.capture.complete and shutil.disk_usage(self.capture.path).free < _FULL:
            return "the disk is full"
        if self.ended.interrupted:
            return "interrupted"
        if self.ended.status < 0:
            return f"the program was ended by signal {-self.ended.status}"
        return f"the program failed with exit status {self.ended.status}" if self.ended.status else None


@keywords
def record(program: Sequence[str], *, options: CaptureOptions) -> Recorded:
    """Run a program in its own process and record its launches in a folder, by default ``kprof-capture``.

    Args:
        program: command to run: ``["python", "train.py"]``.
        options: what to record, and the folder to write to.

    Raises:
        KprofError: the folder already contains a capture or cannot be written, or the program cannot be run.
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
