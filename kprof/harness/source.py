"""Finding a Triton function in a user's file. This imports, and so runs, that file."""

import hashlib
import importlib
import importlib.util
import linecache
import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from kprof.errors import KprofError, near_hint
from kprof.harness.dependencies import Dependencies, dependencies, is_own, unchanged

_PREFIX = "_kprof_user_"


@dataclass(frozen=True)
class Function:
    """A Triton function with what its decorators say.

    Attributes:
        path: its file.
        name: its name there.
        jit: the ``@triton.jit`` function, decorators unwrapped.
        configs: configurations of ``@triton.autotune``: knob to value, options such as ``num_warps`` included.
        heuristics: names of the arguments that ``@triton.heuristics`` fills in.
        module: the imported file.
    """

    path: Path
    name: str
    jit: Any
    configs: Sequence[Mapping[str, Any]] = ()
    heuristics: tuple[str, ...] = ()
    module: ModuleType | None = field(default=None, repr=False, compare=False)

    @cached_property
    def dependencies(self) -> Dependencies:
        """Files that decide what the function is."""
        module = self.module or sys.modules.get(getattr(self.jit.fn, "__module__", ""))
        return dependencies_of(module) if module is not None else Dependencies(complete=False)

    @property
    def line(self) -> int | None:
        """Line of the function in its file, decorators included."""
        line = getattr(self.jit, "starting_line_number", None)
        return line if isinstance(line, int) else None

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of its arguments in order."""
        return tuple(parameter.name for parameter in self.jit.params)

    @property
    def constexprs(self) -> tuple[str, ...]:
        """Names of its ``tl.constexpr`` arguments."""
        return tuple(parameter.name for parameter in self.jit.params if parameter.is_constexpr)


@dataclass(frozen=True)
class _Loaded:
    """An imported file, with what it was made from."""

    module: ModuleType
    dependencies: Dependencies
    environment: Mapping[str, str]

    @property
    def current(self) -> bool:
        """Whether importing it again would give the same."""
        if not self.dependencies.complete and self.environment != dict(os.environ):
            return False
        return unchanged(self.dependencies.files)


_LOADED: dict[str, _Loaded] = {}


def load_module(path: str | Path) -> ModuleType:
    """Import a Python file under a private name; a second call gives the same module unless a file has changed.

    Files next to it can be imported from it, as when it is run. They are not left in ``sys.modules``, where those of
    another folder may have the same name.

    Raises:
        KprofError: the file is missing, no Python, or raises when imported.
    """
    file = Path(path).absolute()
    name = f"{_PREFIX}{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:16]}"
    known = _LOADED.get(name)
    if known is not None and known.current:
        return known.module
    try:
        file.open("rb").close()
    except IsADirectoryError:
        raise KprofError("is a directory, not a Python file", path=str(path)) from None
    except OSError as error:
        raise KprofError(f"cannot be read: {error.strerror}", path=str(path)) from error
    spec = importlib.util.spec_from_file_location(name, file, loader=SourceFileLoader(name, str(file)))
    if spec is None or spec.loader is None:
        raise KprofError("is not a Python file", path=str(path))
    module = importlib.util.module_from_spec(spec)
    # Triton, inspect and dataclasses look the module up by name; its source may be remembered from before.
    sys.modules[name] = module
    linecache.checkcache()
    try:
        with _importing(file.parent):
            spec.loader.exec_module(module)
            _LOADED[name] = _Loaded(module, dependencies(module), dict(os.environ))
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise _import_failure(path, file, error) from error
    return module


def dependencies_of(module: ModuleType) -> Dependencies:
    """Files that decide what a module defines, as they were when it was imported."""
    known = _LOADED.get(module.__name__)
    return known.dependencies if known is not None else dependencies(module)


@contextmanager
def _importing(folder: Path) -> Iterator[None]:
    """Siblings can be imported and are forgotten, no byte code is left next to them, and Triton does not interpret."""
    entry = str(folder)
    interpret = os.environ.pop("TRITON_INTERPRET", None)
    write, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    before = set(sys.modules)
    sys.path.insert(0, entry)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.dont_write_bytecode = write
        if entry in sys.path:
            sys.path.remove(entry)
        if interpret is not None:
            os.environ["TRITON_INTERPRET"] = interpret
        for name in set(sys.modules) - before:
            if not name.startswith(_PREFIX) and _is_sibling(sys.modules[name], folder):
                del sys.modules[name]


def _is_sibling(module: ModuleType, folder: Path) -> bool:
    """Whether a module lies below the folder, but not in an environment that was installed there."""
    file = getattr(module, "__file__", None)
    if not file or not is_own(module) or not Path(file).is_relative_to(folder):
        return False
    return not {"site-packages", "dist-packages"} & set(Path(file).parts)


def _import_failure(path: str | Path, file: Path, error: BaseException) -> KprofError:
    if isinstance(error, SystemExit):
        return KprofError(f"calls sys.exit({error.code!r}) when it is imported", path=str(path))
    if isinstance(error, SyntaxError) and error.filename:
        where = f"line {error.lineno}" if error.filename == str(file) else f"{error.filename}:{error.lineno}"
        return KprofError(f"is not valid Python: {error.msg}", path=str(path), place=where)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(file)]
    place = f"line {own[-1].lineno}" if own else None
    what = f"raises {type(error).__name__} when it is imported: {_first_line(error)}"
    hint = None
    if frames and own and frames[-1].filename != str(file):
        hint = f"raised in {frames[-1].filename}, line {frames[-1].lineno}"
    if isinstance(error, ModuleNotFoundError) and error.name == "triton":
        from kprof.harness.triton_versions import installed

        installed()
    return KprofError(what, path=str(path), place=place, hint=hint)


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0] or "no message"


def load_function(path: str | Path, name: str) -> Function:
    """Import a file and find a Triton function in it.

    Raises:
        KprofError: as :func:`load_module`; or there is no such name; or it is no Triton function.
    """
    module = load_module(path)
    value: Any = module
    for attribute in name.split("."):
        value = getattr(value, attribute, None)
    known = triton_functions(module)
    if value is None:
        value = _by_qualified_name(module, name)
    if value is None:
        hint = near_hint(name, known, "its Triton functions are") if known else "it has no Triton functions"
        raise KprofError(f"has no function {name!r}", path=str(path), hint=hint)
    function = unwrap(value, path=Path(path).absolute(), name=name, module=module)
    if function is None:
        kind = "a Python function without @triton.jit" if callable(value) else f"a {type(value).__name__}"
        has = f"its Triton functions are {', '.join(known)}" if known else "it has no Triton functions"
        raise KprofError(f"{name!r} is {kind}, not a Triton function", path=str(path), hint=has)
    return function


def _by_qualified_name(module: ModuleType, name: str) -> Any:
    """A function that the module holds under another name than its own: ``fast = triton.jit(slow)``."""
    for value in vars(module).values():
        jit = _innermost(value)
        if jit is not None and name in {jit.fn.__qualname__, jit.fn.__name__}:
            return jit
    return None


def triton_functions(module: ModuleType) -> tuple[str, ...]:
    """Names of the Triton functions that a module defines itself, in the order of its lines."""
    found = {}
    for name, value in vars(module).items():
        jit = _innermost(value)
        if jit is not None and getattr(jit.fn, "__module__", None) == module.__name__:
            found[name] = getattr(jit, "starting_line_number", 0)
    return tuple(sorted(found, key=lambda name: (found[name], name)))


def unwrap(entry: Any, *, path: Path | None = None, name: str | None = None, module: Any = None) -> Function | None:
    """Look through autotuners and heuristics; ``None`` when there is no Triton function inside."""
    jit = _innermost(entry)
    if jit is None:
        return None
    configs: list[dict[str, Any]] = []
    heuristics: list[str] = []
    value = entry
    while value is not jit:
        configs.extend(_config(config) for config in getattr(value, "configs", ()))
        heuristics.extend(getattr(value, "values", {}))
        value = value.fn
    file = path or Path(jit.fn.__code__.co_filename)
    return Function(file, name or jit.fn.__qualname__, jit, configs, tuple(heuristics), module)


def _innermost(value: Any) -> Any:
    """The JIT function inside; told by its shape, so that nothing of Triton need be imported."""
    for _ in range(8):
        # Not cache_key: that is computed, and may raise.
        if hasattr(value, "params") and hasattr(value, "starting_line_number"):
            return value
        if type(value).__name__ == "InterpretedFunction" or not hasattr(value, "fn"):
            return None
        value = value.fn
    return None


def heuristics_of(entry: Any) -> Iterator[tuple[str, Any]]:
    """Arguments that ``@triton.heuristics`` fills in, each with its function of all other arguments."""
    for _ in range(8):
        yield from getattr(entry, "values", {}).items()
        entry = getattr(entry, "fn", None)


def _config(config: Any) -> dict[str, Any]:
    """A ``triton.Config`` as knobs."""
    knobs = dict(config.kwargs)
    for option in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
        value = getattr(config, option, None)
        if value is not None:
            knobs[option] = value
    return knobs
