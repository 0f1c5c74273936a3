"""What the answers about traces have in common, and the step that is done for each file."""

import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from kprof.api.result import Result
from kprof.errors import InputError

if TYPE_CHECKING:
    from kprof.inputs.completeness import Repairs
    from kprof.inputs.torch_profiler.issues import TraceIssue
    from kprof_analyzers.profiles.timeline.files import LeftOut
    from kprof_analyzers.profiles.timeline.occupation import DeviceTime

R = TypeVar("R")
Path_ = str | os.PathLike[str]


@dataclass(frozen=True, eq=False, repr=False)
class TraceAnswer(Result):
    """What was found in some traces. Times are in ns.

    Attributes:
        left_out: files of folders that could not be read, each with its ``path`` and the ``reason``.
    """

    left_out: "Sequence[LeftOut]"
    kind: ClassVar[str] = "trace"

    @property
    @abstractmethod
    def contents(self) -> dict[str, Any]:
        """The answer as a document, without the judgement of the recording."""

    @property
    @abstractmethod
    def conclusion(self) -> str:
        """The answer in one line, as if the recording were complete."""

    @property
    def incomplete(self) -> str:
        """What the recording lacks, what is therefore unknown and the cure; "" for a complete recording."""
        from kprof.inputs.completeness import headline

        return headline(self.issues)

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as the command writes it with ``--json``."""
        return {**self.contents, "incomplete": self.incomplete}

    @property
    def summary(self) -> str:
        """The answer in one line, behind what the recording lacks."""
        from kprof.inputs.completeness import with_headline

        return with_headline(self.conclusion, self.issues)

    @property
    @abstractmethod
    def issues(self) -> "list[TraceIssue]":
        """What was met while reading; ``lost`` is how many events are missing by it."""


@dataclass(frozen=True, eq=False, repr=False)
class PerTrace(TraceAnswer):
    """An answer trace by trace.

    Attributes:
        traces: what each gave.
    """

    traces: "Sequence[Any]"

    @property
    def issues(self) -> "list[TraceIssue]":
        """What was met while reading, trace by trace."""
        return [issue for one in self.traces for issue in one.issues]


def per_file(
    step: Callable[..., R],
    paths: Sequence[Path_],
    *,
    jobs: int,
    scheduler: str | None,
    repairs: "Repairs" = (),
    **options: Any,
) -> "tuple[list[R], list[LeftOut]]":
    """A step's result for each file, and the files in folders that could not be read.

    Args:
        step: a function of :mod:`kprof_analyzers.profiles.timeline.steps`.
        paths: files and folders.
        jobs: processes, 0 for one a core.
        scheduler: a Dask scheduler instead.
        repairs: what to leave out or cut in each trace; nothing by default.
        options: further arguments of the step.

    Raises:
        InputError: no file at all could be read, or one that was named, not found in a folder.
    """
    from kprof_analyzers.profiles.timeline.files import Failed, LeftOut, each_file, trace_files

    files = trace_files([Path(path) for path in paths], repairs)
    found: list[R] = []
    missed: list[LeftOut] = []
    for file, result in zip(files, each_file(step, files, jobs=jobs, scheduler=scheduler, **options), strict=True):
        if not isinstance(result, Failed):
            found.append(result)
        elif file.found:
            missed.append(LeftOut(file.path, result.message.removeprefix(f"{file.path}: ")))
        else:
            raise InputError(result.message)
    if not found:
        raise InputError(f"none of {len(files)} files is a readable trace")
    return found, missed


def all_rows(limit: int) -> int:
    """A limit where 0 means none."""
    return limit or 1_000_000


def device_document(device: "DeviceTime") -> dict[str, Any]:
    """A device's times with those that follow from them."""
    import msgspec

    return {**msgspec.structs.asdict(device), "span_ns": device.span_ns, "idle_ns": device.idle_ns}


def picture(path: Path_, svg: Callable[[], str]) -> None:
    """Write a picture as SVG or PNG, by the name's ending.

    Raises:
        KprofError: PNG without a converter, another ending, or a path that cannot be written.
    """
    from kprof.errors import KprofError
    from kprof.output.writing import write_output

    target = os.fspath(path)
    ending = Path(target).suffix.lower()
    if ending not in {".svg", ".png"}:
        raise KprofError(f"pictures are written as .svg or .png, got {target!r}")
    content: str | bytes = svg()
    if ending == ".png":
        from kprof_analyzers.profiles.timeline.pictures.png import png

        content = png(str(content))
    write_output(target, content)
