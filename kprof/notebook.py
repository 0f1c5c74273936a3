"""``%%kprof`` in a notebook: after ``%load_ext kprof``, above a cell with a kernel.

    %%kprof --arch MI300X
    scale[(64,)](x, y, n, BLOCK=1024)

The cell runs on the simulated GPU, and each kernel that it launches is analysed. If argument types are given, nothing
has to be launched: the cell runs, and the last kernel that it defines, or the named one, is compiled for these types:

    %%kprof --signature '*fp16,*fp16,i32:16' --constexpr BLOCK=1024 --grid 4096
    @triton.jit
    def scale(x, y, n, BLOCK: tl.constexpr): ...

``%kprof TARGET ...`` is ``kprof analyze TARGET ...``, with the same options. The result is that of
:func:`kprof.analyze`, which notebooks display.
"""

import argparse
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from kprof.errors import KprofError, TargetError
from kprof.hardware.default import DEFAULT_GPU
from kprof.options.kernels import AnalyzeOptions
from kprof.options.option import Declared, declared

if TYPE_CHECKING:
    from kprof.api.analyze import Analysis

_folders: list[tempfile.TemporaryDirectory[str]] = []
"""Folders with the captures of cells.

They are kept until the process ends, because results are read from them later.
"""


def load_ipython_extension(shell: Any) -> None:
    """Register ``%kprof`` and ``%%kprof``; called by ``%load_ext kprof`` with IPython's shell."""

    def kprof(line: str, cell: str | None = None) -> "Analysis | None":
        """Analyse a target, or the kernels of a cell, with the options of ``kprof analyze kernel``."""
        try:
            return run(shell, line, cell)
        except KprofError as error:
            from IPython.core.error import UsageError

            # IPython shows a UsageError without a traceback.
            raise UsageError(str(error)) from None

    shell.register_magic_function(kprof, "line_cell", "kprof")


def run(shell: Any, line: str, cell: str | None) -> "Analysis | None":
    """Analyse the targets of ``%kprof``, or the kernels that the cell of ``%%kprof`` launches or defines.

    Args:
        shell: IPython's shell, in which the cell runs: ``run_cell`` and ``user_ns``.
        line: arguments after ``%kprof`` or ``%%kprof``.
        cell: text of the cell; ``None`` for ``%kprof``.

    Returns:
        The result of :func:`kprof.analyze`; ``None`` if the cell raised an exception, which the shell has shown.

    Raises:
        TargetError: an unknown option, no target, or a cell without a kernel.
        KprofError: as :func:`kprof.analyze`.
    """
    from kprof.api.analyze import analyze

    targets, options = _words(line)
    if cell is None:
        if not targets:
            raise TargetError("%kprof needs a target", hint="%kprof softmax --arch MI300X, or %%kprof above a cell")
        return analyze(*targets, **options)
    if "signature" in options:
        before = dict(shell.user_ns)
        if not _ran(shell, cell):
            return None
        return analyze(*_kernels(shell.user_ns, before, targets), **options)
    folder = _launches(shell, cell, options.pop("arch", None))
    if folder is None:
        return None
    return analyze(*([f"{folder}::{name}" for name in targets] or [str(folder)]), **options)


def _launches(shell: Any, cell: str, arch: str | None) -> Path | None:
    """Run a cell on the simulated GPU; return the capture of its launches, or ``None`` if the cell fails."""
    from kprof.recording.scope import capture

    _folders.append(tempfile.TemporaryDirectory(prefix="kprof-cell-"))
    folder = Path(_folders[-1].name) / "cell"
    with capture(arch or DEFAULT_GPU, folder):
        succeeded = _ran(shell, cell)
    return folder if succeeded else None


def _ran(shell: Any, cell: str) -> bool:
    """Run a nested cell without showing its value; return whether it raised no exception."""
    # IPython stores a cell's value in this attribute, and the nested cell would clear the outer cell's value.
    outer = shell.displayhook.exec_result
    try:
        return bool(shell.run_cell(cell, silent=True).success)
    finally:
        shell.displayhook.exec_result = outer


def _kernels(after: Mapping[str, Any], before: Mapping[str, Any], named: list[str]) -> list[Any]:
    """Return the named functions, or the last kernel that the cell defined if none is named."""
    for name in named:
        if name not in after:
            raise TargetError(f"the cell defines no {name}")
    if named:
        return [after[name] for name in named]
    # Kernels are objects that @triton.jit, @triton.autotune or @triton.heuristics returned; names that the cell did not
    # define are skipped.
    defined = [
        value
        for name, value in after.items()
        if not name.startswith("_") and type(value).__module__.startswith("triton.runtime")
        if before.get(name) is not value
    ]
    if not defined:
        raise TargetError(
            "the cell defines no kernel", hint="without --signature, the kernels that it launches are analysed"
        )
    return [max(defined, key=_line)]


def _line(kernel: Any) -> int:
    """Return the first line of a kernel's function."""
    while hasattr(kernel, "fn"):
        kernel = kernel.fn
    return int(kernel.__code__.co_firstlineno)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise a TargetError instead of ending the process."""
        raise TargetError(f"%kprof: {message}", hint="it accepts the options of kprof analyze kernel")


def _words(line: str) -> tuple[list[str], dict[str, Any]]:
    """Parse the targets and the options of a line into arguments of :func:`kprof.analyze`."""
    parser = _Parser(prog="%kprof", add_help=False, allow_abbrev=False)
    parser.add_argument("targets", nargs="*")
    for each in declared(AnalyzeOptions):
        parser.add_argument(*filter(None, (each.flag, each.option.short)), dest=each.name, **_taken(each))
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise TargetError(f"%kprof: {error}") from None
    given = vars(parser.parse_intermixed_args(words))
    return given.pop("targets"), {name: value for name, value in given.items() if value is not None}


def _taken(option: Declared) -> dict[str, Any]:
    """Return argparse's keyword arguments for an option; its value is ``None`` if the line does not contain it."""
    if option.option.kind is not None:
        return {"action": "append"} if option.option.kind.several else {}
    if option.type is bool:
        return {"action": argparse.BooleanOptionalAction}
    return {"type": float if option.type == float | None else int if option.type is int else str}
