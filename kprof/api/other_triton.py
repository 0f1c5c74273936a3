"""Run commands with ``--triton`` in their own process, which imports the named Triton.

A process cannot replace an imported module. Therefore the command runs again in a process whose module path begins with
the named Triton, so that every part of kprof uses it as if it were installed.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kprof import children
from kprof.api.programs import PYTHON
from kprof.errors import TargetError
from kprof.output.writing import log
from kprof.targets.target import TargetKind, resolve

_SOURCES = frozenset({TargetKind.SOURCE, TargetKind.KERNEL, TargetKind.FUNCTION})


def check_target(target: str, *, recompiled: bool = False) -> None:
    """Check that another Triton can compile a target.

    Args:
        target: a target, as on the command line.
        recompiled: whether the command can compile captures again.

    Raises:
        TargetError: the target is compiled already.
        KprofError: as :func:`kprof.targets.target.resolve`.
    """
    found = resolve(target)
    if found.kind in _SOURCES or (recompiled and found.kind is TargetKind.CAPTURE):
        return
    again = "Record the program with it: kprof capture --triton VERSION -- PROGRAM."
    source = "Name the kernel's source: a bundled kernel or FILE.py::FUNCTION."
    raise TargetError(
        f"the target is {found.kind.value}, which is already compiled: another Triton cannot compile it",
        path=found.text,
        hint=again if found.kind is TargetKind.CAPTURE else source,
    )


def run_with_triton(name: str, module: str, arguments: Sequence[str], program: Sequence[str] | None) -> int:
    """Run a module's ``main`` in a process that imports another Triton, and return its exit status.

    Args:
        name: a release, ``installed``, a ``.whl`` file, or the path of a Python interpreter.
        module: name of the module. ``sys.argv`` contains the Python interpreter for programs before the arguments;
            :func:`begin` removes it.
        arguments: the module's command line.
        program: the program's command after ``--``; ``None`` without a program.

    Raises:
        KprofError: this Triton cannot be found or installed, or is for another version of Python.
    """
    from kprof.compiler.locations import locate
    from kprof.tuning.trials.releases import VARIABLE

    with tempfile.TemporaryDirectory(prefix="kprof-triton-") as folder:
        place = locate(name, Path(folder) / "triton", log)
        if place.environment is None:
            raise TargetError(
                f"its Triton is for another version of Python than {sys.version.split()[0]}",
                path=name,
                hint="Run kprof with that interpreter, or name the release.",
            )
        words = list(arguments)
        if program is not None:
            words += ["--", *place.command(program)]
        imports = children.encoded_path(place.environment.module_path)
        python = str(place.interpreter or sys.executable)
        process = children.popen(
            [sys.executable, "-c", children.START, module, python, *words, imports],
            env={**place.variables, VARIABLE: name},
        )
        try:
            return process.wait()
        except KeyboardInterrupt:
            # The terminal also interrupts the other process, so wait until it ends.
            return process.wait()


def begin() -> list[str]:
    """Prepare a process that :func:`run_with_triton` started, and return the command line's arguments.

    Programs are run by the Python interpreter that the first argument names.
    """
    children.end_with_parent()
    PYTHON.set(sys.argv[1])
    return sys.argv[2:]
