"""Record a part of a program: ``with kprof.capture(arch="gfx942", output="DIR"):``."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kprof.captures.layout import VALUES
from kprof.errors import KprofError
from kprof.hardware.default import DEFAULT_GPU
from kprof.recording.settings import VARIABLE, Settings, environment

if TYPE_CHECKING:
    from kprof.captures.model import Capture


@dataclass(frozen=True)
class Recording:
    """A capture that is being written.

    Attributes:
        path: the capture directory.
    """

    path: Path

    def read(self) -> "Capture":
        """Read the capture after the recording has ended.

        Raises:
            KprofError: see :func:`kprof.captures.reader.read`.
        """
        from kprof.captures.reader import read

        return read(self.path)


@contextmanager
def capture(
    arch: str = DEFAULT_GPU,
    output: str | Path = "kprof-capture",
    *,
    jobs: int = 0,
    cache: bool = True,
    force: bool = False,
    execute: bool = True,
    arithmetic: bool = True,
    full_values: bool = False,
    keep_values: int = VALUES,
) -> Iterator[Recording]:
    """Record the Triton kernels launched by the code inside, and by Python programs that it starts.

    See docs/capture.md.

    Args:
        arch: architecture or product to compile for.
        output: the capture directory, created if it does not exist.
        jobs: number of parallel compiles, 0 for one per core.
        cache: whether repeated compiles may come from kprof's cache.
        force: True to replace an existing capture.
        execute: True to execute kernels if there is a ROCm device; otherwise they are only compiled.
        arithmetic: True to compute torch's matrix products, convolutions and attention; otherwise they return zeros.
        full_values: True to give tensors of 1 MiB and more memory and values, too.
        keep_values: maximum number of integers stored per tensor, for tensors that a kernel's control flow depends on.

    Raises:
        KprofError: if the architecture is unknown, the directory is unusable, or this process is already being
            recorded.
    """
    from kprof.recording import command
    from kprof.recording.session import RecordingSession

    if VARIABLE in os.environ:
        raise KprofError("this process is already being recorded", hint="Use kprof.capture or kprof capture, not both.")
    options = command.RecordOptions(
        arch,
        Path(output),
        jobs=jobs,
        use_cache=cache,
        force=force,
        execute=execute,
        arithmetic=arithmetic,
        full_values=full_values,
        values=keep_values,
    )
    settings = command.prepare(options)
    session = RecordingSession(settings)
    try:
        with _environment(settings):
            session.start()
            yield Recording(Path(settings.folder))
    except KeyboardInterrupt:
        session.interrupted = True
        raise
    finally:
        session.finish()
        command.clean(Path(settings.folder))


@contextmanager
def _environment(settings: Settings) -> Iterator[None]:
    """Set the environment variables that make child Python programs record themselves."""
    before = {name: os.environ.get(name) for name in (VARIABLE, "PYTHONPATH", "PATH")}
    os.environ.update({name: environment(settings, os.environ)[name] for name in before})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
