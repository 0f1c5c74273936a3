"""Recording a part of a program: ``with kprof.capture(arch="gfx942", output="DIR"):``."""

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
        path: its directory.
    """

    path: Path

    def read(self) -> "Capture":
        """What was recorded, once the recording has ended.

        Raises:
            KprofError: as :func:`kprof.captures.reader.read`.
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
    """Record the Triton kernels that the code inside launches, and Python programs that it starts. See docs/capture.md.

    Args:
        arch: architecture or product to compile for.
        output: the capture directory; made when it is not there.
        jobs: compiles at a time, 0 for one a core.
        cache: whether to serve repeated compiles from kprof's cache.
        force: replace a capture that is there.
        execute: where there is a ROCm device, let kernels run; else they are only compiled.
        arithmetic: whether torch's matrix products, convolutions and attention are computed; else they give zeros.
        full_values: whether tensors of 1 MiB and more have memory and values, too.
        keep_values: integers of a tensor that are kept at most, where the course of a kernel depends on them.

    Raises:
        KprofError: the architecture is not known, the directory is not usable, or something is being recorded already.
    """
    from kprof.recording import command
    from kprof.recording.session import RecordingSession

    if VARIABLE in os.environ:
        raise KprofError("this process is being recorded already", hint="Leave out kprof.capture, or kprof capture.")
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
    """The variables by which Python programs that are started know that they are recorded."""
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
