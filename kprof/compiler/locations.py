"""Find a Triton, given as a release, a wheel or a Python interpreter, for programs and for kprof's own processes."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kprof import children
from kprof.compiler import installations
from kprof.compiler.installations import Environment
from kprof.compiler.installers import find_installer
from kprof.errors import CompileError, TargetError

Tell = Callable[[str], None]

_PYTHON = ("python", "python3")
_ASK_TRITON = (
    "import importlib.util, importlib.metadata as m, sys; "
    "s = importlib.util.find_spec('triton'); d = m.distribution('triton'); "
    "print(sys.implementation.cache_tag + getattr(sys, 'abiflags', '')); print(s.submodule_search_locations[0]); "
    "print(getattr(d, '_path', ''))"
)


@dataclass(frozen=True)
class TritonLocation:
    """The location of one Triton for programs.

    Attributes:
        label: name of this side of a comparison.
        folders: folders to put in front of the program's module path.
        interpreter: the Python to use instead of the program's own, or ``None``.
        environment: the same Triton for a kprof process; ``None`` if this Python cannot import it.
    """

    label: str
    folders: tuple[Path, ...] = ()
    interpreter: Path | None = None
    environment: Environment | None = None

    def command(self, command: Sequence[str]) -> list[str]:
        """Return the program's command with the Python that runs it.

        Raises:
            TargetError: if there is an interpreter, and the program is not Python.
        """
        first = Path(command[0])
        is_python = first.name in _PYTHON or (shutil.which(command[0]) or "") == sys.executable
        if self.interpreter is not None:
            if is_python:
                return [str(self.interpreter), *command[1:]]
            if first.suffix != ".py":
                raise TargetError(
                    "with an interpreter the program must be Python: -- python program.py", path=command[0]
                )
            return [str(self.interpreter), *command]
        if first.suffix == ".py":
            return [sys.executable, *command]
        # A bare ``python`` means this Python, because folders of modules work with one version of Python only.
        return [sys.executable, *command[1:]] if command[0] in _PYTHON else list(command)

    @property
    def variables(self) -> Mapping[str, str]:
        """Environment variables for a program that uses this Triton."""
        path = [*map(str, self.folders), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def is_path(name: str) -> bool:
    """Return whether a Triton is named by the path of an interpreter or wheel, not by its release."""
    return os.sep in name or name.endswith(".whl")


def locate(name: str, folder: Path, wait: Tell) -> TritonLocation:
    """Return the location of a Triton; a release is installed once, a wheel is unpacked.

    Args:
        name: a release, ``installed``, a ``.whl`` file, or the path of a Python interpreter.
        folder: a new folder for files of this call alone.
        wait: called with a description of each download or wait.

    Raises:
        KprofError: if the release, file or interpreter does not exist, or the environment cannot be created.
    """
    if name.endswith(".whl"):
        if not Path(name).is_file():
            raise CompileError("no such wheel", path=name)
        install([str(Path(name).absolute())], folder, wait)
        label = Path(name).name.split("-cp")[0]
        return TritonLocation(label, (folder,), environment=Environment(label, folder))
    if is_path(name):
        if not os.access(name, os.X_OK) or Path(name).is_dir():
            raise CompileError("no such interpreter", path=name)
        # Resolving the link of a virtual environment's interpreter would yield the base interpreter.
        interpreter = Path(name).absolute()
        return TritonLocation(name, interpreter=interpreter, environment=_triton_of(interpreter, folder))
    environment = installations.provide(installations.normalise(name), tell=wait)
    own = (environment.folder,) if environment.folder is not None else ()
    return TritonLocation(f"Triton {name}", own, environment=environment)


def install(packages: Sequence[str], folder: Path, wait: Tell) -> None:
    """Install packages into a folder.

    Raises:
        KprofError: if a package cannot be installed.
    """
    installer = find_installer()
    for package in packages:
        wait(f"getting {package} with {installer.name}")
        installer.install(package, folder)


def _triton_of(interpreter: Path, folder: Path) -> Environment | None:
    """Link another Python's Triton into a folder for this Python; return ``None`` if the Python versions differ."""
    try:
        answer = children.run(
            [str(interpreter), "-c", children.NOT_FROM_HERE + _ASK_TRITON], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    tag, triton, metadata = [*answer.stdout.splitlines(), "", "", ""][:3]
    if answer.returncode or tag != f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}":
        return None
    folder.mkdir()
    for path in filter(None, (triton, metadata)):
        (folder / Path(path).name).symlink_to(Path(path).absolute())
    return Environment(str(interpreter), folder)
