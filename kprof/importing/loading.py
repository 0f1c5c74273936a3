"""Import a Python file under a module name chosen by kprof. This runs the file, as any import does."""

import hashlib
import importlib
import importlib.util
import linecache
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from kprof.errors import KprofError, TargetError, near
from kprof.importing.dependencies import Dependencies, dependencies, is_own, unchanged
from kprof.importing.permission import require
from kprof.importing.without_gpu import Missing, answering, execute, simulated_gpu

_PREFIX = "_kprof_user_"
_INTERPRET = "TRITON_INTERPRET"


@dataclass(frozen=True)
class _Loaded:
    """An imported file with everything that the import depended on.

    Attributes:
        module: the file's module.
        dependencies: files that determine what the module defines.
        environment: environment variables at the time of the import.
        interpreted: True if Triton's interpreter was enabled.
        siblings: names of modules of the same folder that were imported with it.
        missing: parts of the import that needed a GPU.
        gpu: architecture or product of the simulated GPU that the import saw.
    """

    module: ModuleType
    dependencies: Dependencies
    environment: Mapping[str, str]
    interpreted: bool
    siblings: frozenset[str] = frozenset()
    missing: Missing = field(default_factory=Missing)
    gpu: str = ""

    @property
    def current(self) -> bool:
        """Whether importing the file again would give the same definitions as this import."""
        if self.missing.asked and self.gpu != simulated_gpu():
            return False
        if not self.dependencies.complete and self.environment != dict(os.environ):
            return False
        return unchanged(self.dependencies.files)


_LOADED: dict[tuple[Path, bool], _Loaded] = {}


def load_module(path: str | Path, *, interpret: bool = False) -> ModuleType:
    """Import a Python file; repeated calls return the same module unless a file that it depends on has changed.

    The file can import other files of its folder, as when it is run as a program. These are removed from
    ``sys.modules`` afterwards, because files of another folder may have the same names. Relative imports work in a file
    inside a package. No byte code is written.

    Args:
        path: the file.
        interpret: whether to keep ``TRITON_INTERPRET`` as it is, for kernels that will be run. If False, it is off
            during the import, because a function that Triton interprets cannot be compiled.

    Raises:
        KprofError: the file is missing, is not Python, or raises when imported; or running users' code is forbidden.
    """
    file = Path(path).absolute()
    require(file, "imported as Python")
    interpreted = interpret and os.environ.get(_INTERPRET, "0") not in {"", "0"}
    known = _LOADED.get((file, interpreted))
    if known is not None and known.current:
        return known.module
    _check(path, file)
    name, folder = _module_name_and_folder(file, interpreted=interpreted)
    spec = importlib.util.spec_from_file_location(name, file, loader=SourceFileLoader(name, str(file)))
    assert spec is not None
    assert isinstance(spec.loader, SourceFileLoader)
    module = importlib.util.module_from_spec(spec)
    for sibling in known.siblings if known is not None else ():
        sys.modules.pop(sibling, None)
    before = sys.modules.get(name)
    # Triton, inspect and dataclasses look the module up by name; linecache may still contain its old source.
    sys.modules[name] = module
    linecache.checkcache()
    missing = Missing()
    try:
        with _importing(folder, package=not name.startswith(_PREFIX), interpret=interpret) as siblings:
            with answering(missing):
                execute(spec.loader, module, str(file), missing)
            found = dependencies(module)
            # The result depends on the simulated GPU, which no file contains, so the files alone are not sufficient.
            found.complete = found.complete and not missing.asked
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        if before is not None:
            sys.modules[name] = before
        if isinstance(error, KprofError):
            raise
        raise _import_failure(path, file, error) from error
    _LOADED[file, interpreted] = _Loaded(
        module, found, dict(os.environ), interpreted, frozenset(siblings), missing, simulated_gpu()
    )
    return module


def loaded_modules() -> list[ModuleType]:
    """Return the modules that :func:`load_module` has imported so far."""
    return [known.module for known in _LOADED.values()]


def left_out(module: ModuleType) -> str | None:
    """Return a sentence on the statements of a file that were skipped without a GPU; ``None`` if none were skipped."""
    for known in _LOADED.values():
        if known.module is module and known.missing.lines:
            lines = known.missing.lines
            which = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines[:5]))}"
            more = f" and {len(lines) - 5} more" if len(lines) > 5 else ""
            return f"{known.missing.reason}: statements at {which}{more} were not run when the file was imported"
    return None


def dependencies_of(module: ModuleType) -> Dependencies:
    """Return the files that determine a module's definitions, as they were at its import."""
    for known in _LOADED.values():
        if known.module is module:
            return known.dependencies
    return dependencies(module)


def _check(path: str | Path, file: Path) -> None:
    try:
        file.open("rb").close()
    except FileNotFoundError:
        siblings = [p.name for p in file.parent.glob("*.py")] if file.parent.is_dir() else []
        raise TargetError(f"no such file{near(file.name, siblings)}", path=str(path)) from None
    except IsADirectoryError:
        example = "give a Python file, as file.py or file.py::function"
        raise TargetError("is a directory, not a Python file", path=str(path), hint=example) from None
    except OSError as error:
        raise TargetError(f"cannot be read: {error.strerror}", path=str(path)) from error


def _module_name_and_folder(file: Path, *, interpreted: bool) -> tuple[str, Path]:
    """Return a file's module name, and the folder from which it is imported.

    A file in a package gets its full dotted name; another file gets a name that no other module has.
    """
    real = file.resolve()
    if not (real.parent / "__init__.py").is_file():
        mode = "interpreted_" if interpreted else ""
        return f"{_PREFIX}{mode}{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:16]}", file.parent
    parts, root = [real.stem], real.parent
    while (root / "__init__.py").is_file():
        parts.insert(0, root.name)
        root = root.parent
    return ".".join(parts), root


@contextmanager
def _importing(folder: Path, *, package: bool, interpret: bool) -> Iterator[set[str]]:
    """Make a folder importable, disable byte code, and disable Triton's interpreter unless ``interpret`` is set.

    Yields the set of the folder's modules, which is filled at the end. Modules of a package stay in ``sys.modules``,
    because imports inside functions find them by their full names later; other modules are removed.
    """
    entry = str(folder)
    interpreter = None if interpret else os.environ.pop(_INTERPRET, None)
    write, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    before = set(sys.modules)
    sys.path.insert(0, entry)
    importlib.invalidate_caches()
    siblings: set[str] = set()
    try:
        yield siblings
    finally:
        sys.dont_write_bytecode = write
        if entry in sys.path:
            sys.path.remove(entry)
        if interpreter is not None:
            os.environ[_INTERPRET] = interpreter
        new = (name for name in set(sys.modules) - before if not name.startswith(_PREFIX))
        siblings.update(name for name in new if _is_sibling(sys.modules[name], folder))
        for name in () if package else siblings:
            del sys.modules[name]


def _is_sibling(module: ModuleType, folder: Path) -> bool:
    """Return whether a module is in the folder or below it, but not in a virtual environment inside the folder."""
    file = getattr(module, "__file__", None)
    if not file or not is_own(module) or not Path(file).is_relative_to(folder):
        return False
    return not {"site-packages", "dist-packages"} & set(Path(file).parts)


def _is_missing_package(error: ModuleNotFoundError, package: str) -> bool:
    """Return whether an import failed because the whole package is missing, not only one of its modules."""
    return (error.name or "").partition(".")[0] == package and find_spec(package) is None


def _import_failure(path: str | Path, file: Path, error: BaseException) -> KprofError:
    if isinstance(error, SystemExit):
        return TargetError(f"calls sys.exit({error.code!r}) when it is imported", path=str(path))
    if isinstance(error, ModuleNotFoundError) and _is_missing_package(error, "triton"):
        how = "pip install triton, or your ROCm build of it"
        return TargetError("Triton is not installed", path=str(path), hint=how)
    if isinstance(error, ModuleNotFoundError) and _is_missing_package(error, "torch"):
        how = "pip install torch; its build without CUDA or ROCm is enough"
        return TargetError("imports torch, which is not installed", path=str(path), hint=how)
    if isinstance(error, SyntaxError) and error.filename:
        where = f"line {error.lineno}" if error.filename == str(file) else f"{error.filename}:{error.lineno}"
        return TargetError(f"is not valid Python: {error.msg}", path=str(path), place=where)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(file)]
    place = f"line {own[-1].lineno}" if own else None
    what = f"raises {type(error).__name__} when it is imported: {_first_line(error)}"
    hint = None
    if frames and own and frames[-1].filename != str(file):
        hint = f"raised in {frames[-1].filename}, line {frames[-1].lineno}"
    return TargetError(what, path=str(path), place=place, hint=hint)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or "no message"
