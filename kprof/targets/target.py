"""Recognise a target, which is a text or an object, before it is read, imported or compiled."""

import errno
import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from kprof.errors import InputError, TargetError, near
from kprof.hardware.default import DEFAULT_GPU
from kprof.importing.without_gpu import simulating
from kprof.importing.wrappers import kernel_function
from kprof.inputs.opening import opened
from kprof.kernel_spec import Kernel
from kprof.targets.library import bare, bundled, is_python, load, not_python

_BLANK = b" \t\r\n\xef\xbb\xbf"

TargetLike = str | Path | Kernel | Any
"""A name or path, a :class:`kprof.Kernel`, or a ``@triton.jit`` function, possibly behind an autotuner or a wrapper."""


class TargetKind(Enum):
    """Kinds of targets, as named in messages. They differ in the options that they use."""

    SOURCE = "a Python file"
    KERNEL = "a kernel with cases"
    FUNCTION = "a Triton function without a KERNEL"
    HIP = "HIP source"
    CODE = "a file of compiled code"
    DIRECTORY = "a directory of compiled kernels"
    CAPTURE = "a capture"
    REPORT = "a report"


@dataclass(frozen=True)
class Target:
    """A target, recognised by its form.

    Attributes:
        text: name in messages: the given text, or the name of the kernel or function.
        kind: ``SOURCE`` for a file or a bundled kernel's name; only loading it shows whether it is a ``KERNEL`` or a
            ``FUNCTION``.
        kernel: the kernel, if an object was given.
    """

    text: str
    kind: TargetKind
    kernel: Kernel | None = None

    @property
    def would_run(self) -> str | None:
        """Description of the step of an analysis that would run or compile untrusted code; None if files are only read.

        A kernel that is passed as an object counts as read: its code is imported already.
        """
        if self.kind is TargetKind.HIP:
            return "compiled as HIP source"
        if self.kind is TargetKind.SOURCE and self.kernel is None and is_python(self.text.partition("::")[0]):
            return "imported as Python"
        return None

    @property
    def path(self) -> Path:
        """The text as a path, without a function's name."""
        return Path(self.text.partition("::")[0])


def resolve(target: TargetLike) -> Target:
    """Recognise a target. Nothing is imported, and files are read only as far as necessary to distinguish their kinds.

    A text is one of these:

    * a bundled kernel's name (``gemm``, ``gemm::reduce``);
    * a Python file with a ``KERNEL``, or ``file.py::function``;
    * an assembly file, a code object or HIP source;
    * a directory that Triton, a compiler or ``kprof capture`` wrote;
    * ``capture::kernel`` with a kernel's name or identifier.

    An object is a :class:`kprof.Kernel` or a ``@triton.jit`` function. A function defined in a notebook, in
    ``__main__`` or inside another function is written to a file for the compile workers.

    Raises:
        TargetError: if the file or directory does not exist, the object is of another kind, or the function cannot be
            sent to another process.
    """
    if isinstance(target, str | Path):
        return _of_text(str(target))
    if isinstance(target, Kernel):
        return _of_kernel(target)
    if kernel_function(target) is None:
        kind = "a function without @triton.jit" if callable(target) else f"a {type(target).__name__}"
        raise TargetError(
            f"{getattr(target, '__name__', kind)} is {kind}, which cannot be analysed",
            hint="Give a @triton.jit function, a kprof.Kernel, a bundled kernel's name or a path.",
        )
    return _of_kernel(bare(target))


def _of_kernel(kernel: Kernel) -> Target:
    from kprof.targets.exported import make_importable

    for entry in (kernel.entry, *(part.entry for part in kernel.parts.values())):
        make_importable(entry)
    return Target(kernel.name, kind_of(kernel), kernel)


def kernel_of(target: TargetLike, gpu: str = DEFAULT_GPU) -> Kernel:
    """Load the kernel that a target names without compiling it, to try or run several of its configurations.

    Args:
        target: see :func:`resolve`.
        gpu: architecture or product that its file sees on a machine without a GPU.

    Raises:
        TargetError: see :func:`resolve`; also if the target is already compiled.
        KprofError: see :func:`kprof.targets.library.load`.
    """
    found = resolve(target)
    if found.kernel is not None:
        return found.kernel
    if found.kind is not TargetKind.SOURCE:
        raise TargetError(
            f"is {found.kind.value}, and not a kernel that can be compiled with other knobs",
            path=found.text,
            hint="Give a bundled kernel's name, a Python file with a KERNEL, or FILE.py::FUNCTION.",
        )
    with simulating(gpu):
        return load(found.text, interpret=False)


def is_report(path: Path) -> bool:
    """Return whether a path is a JSON file, as commands write it with ``--json``.

    Raises:
        InputError: if the file cannot be read.
    """
    # pathlib raises an error for a name that exceeds the maximum length.
    is_file = os.path.isfile(path)  # noqa: PTH113
    if not is_file or path.suffix == ".json":
        return is_file
    try:
        with opened(path) as file:
            return file.read(256).lstrip(_BLANK)[:1] in {b"{", b"["}
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=str(path)) from None


def kind_of(kernel: Kernel) -> TargetKind:
    """Return the kind of a kernel: ``KERNEL`` if it defines its launches, else ``FUNCTION``."""
    return TargetKind.KERNEL if kernel.shapes else TargetKind.FUNCTION


def _of_text(text: str) -> Target:
    from kprof.captures.layout import is_capture
    from kprof.targets.hip_source import is_hip

    _check_is_possible(text)
    path = Path(text)
    if is_capture(Path(text.partition("::")[0])):
        return Target(text, TargetKind.CAPTURE)
    place = text.partition("::")[0]
    if (is_python(place) and not os.path.isdir(place)) or place in bundled():  # noqa: PTH112 - any name is taken
        return Target(text, TargetKind.SOURCE)
    if "::" in text and (os.path.lexists(place) or path.suffix or "/" in place):
        raise not_python(place)
    if path.is_dir():
        return Target(text, TargetKind.DIRECTORY)
    if is_report(path):
        return Target(text, TargetKind.REPORT)
    if path.is_file():
        return Target(text, TargetKind.HIP if is_hip(path) else TargetKind.CODE)
    if path.suffix or "/" in text:
        siblings = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
        raise TargetError(f"no such file or directory{near(path.name, siblings)}", path=text)
    return Target(text, TargetKind.SOURCE)


def _check_is_possible(text: str) -> None:
    """Reject texts that cannot be a file name; pathlib would use the current folder or raise another error.

    Raises:
        TargetError: if the text is empty, or longer than a file name can be.
    """
    if not text:
        raise TargetError("the target is empty", hint="Give a kernel's name, a file, or . for the current folder.")
    try:
        os.lstat(text.partition("::")[0])
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise TargetError(f"no such file: a name of {len(text):,} characters", path=f"{text[:60]}…") from None
    except ValueError:
        # A name with a null byte is reported like any other unknown name.
        return
