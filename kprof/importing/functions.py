"""Find a Triton function in a user's file. This imports the file, and therefore runs it."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from kprof.errors import TargetError, near_hint
from kprof.importing.dependencies import Dependencies
from kprof.importing.loading import dependencies_of, left_out, load_module, loaded_modules
from kprof.importing.wrappers import configs_of, heuristics_of, jit_function, kernel_function


@dataclass(frozen=True)
class Function:
    """A Triton function with the information from its decorators.

    Attributes:
        path: file from which another process can load it.
        name: name in that file, see :func:`load_function`.
        jit: the ``@triton.jit`` function without the wrappers of other decorators.
        configs: configurations of ``@triton.autotune``: values by knob, including options such as ``num_warps``.
        heuristics: names of the arguments that ``@triton.heuristics`` computes.
        module: the imported file.
        in_memory: names whose values in memory differ from the original file. If there are any, ``path`` is a file that
            was written from memory.
    """

    path: Path
    name: str
    jit: Any
    configs: Sequence[Mapping[str, Any]] = ()
    heuristics: tuple[str, ...] = ()
    module: ModuleType | None = field(default=None, repr=False, compare=False)
    in_memory: tuple[str, ...] = ()

    @cached_property
    def dependencies(self) -> Dependencies:
        """Files that determine the function."""
        module = self.module or sys.modules.get(getattr(self.jit.fn, "__module__", ""))
        return dependencies_of(module) if module is not None else Dependencies(complete=False)

    @property
    def line(self) -> int | None:
        """First line of the function in ``path``, including decorators; ``None`` if another file defines it."""
        line = getattr(self.jit, "starting_line_number", None)
        code = getattr(getattr(self.jit, "fn", None), "__code__", None)
        elsewhere = code is not None and not _same_file(code.co_filename, self.path)
        return line if isinstance(line, int) and not elsewhere else None

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the function's arguments, in order."""
        return tuple(parameter.name for parameter in self.jit.params)

    @property
    def constexprs(self) -> tuple[str, ...]:
        """Names of the function's ``tl.constexpr`` arguments."""
        return tuple(parameter.name for parameter in self.jit.params if parameter.is_constexpr)


def load_function(path: str | Path, name: str) -> Function:
    """Import a file and find a Triton function in it.

    Args:
        path: a Python file.
        name: a name in the file, dotted for a function in a class. The function's own name works too: after ``fast =
            triton.jit(slow)`` both ``fast`` and ``slow`` are found.

    Raises:
        KprofError: under the conditions of :func:`~kprof.importing.loading.load_module`, or if the name does not exist
            or is not a Triton function.
    """
    module = load_module(path)
    entry = find_entry(module, path, name)
    function = unwrap(entry, path=Path(path).absolute(), name=name, module=module)
    if function is None:
        raise TargetError(f"{name!r} is run by Triton's interpreter and cannot be compiled", path=str(path))
    return function


def find_entry(module: ModuleType, path: str | Path, name: str) -> Any:
    """Return the object with this name in a module, with all wrappers around the Triton function.

    Raises:
        KprofError: the name does not exist or is not a Triton function; the hint lists the existing functions.
    """
    value = _value_of(module, name)
    if kernel_function(value) is not None:
        return value
    other = _by_own_name(module, name)
    if other is not None:
        return other
    known = triton_functions(module)
    has = f"its Triton functions are {', '.join(known)}" if known else "it has no Triton functions"
    if value is None:
        hint = near_hint(name, known, "its Triton functions are") if known else has
        skipped = left_out(module)
        hint = hint if skipped is None else f"{hint}; {skipped}"
        raise TargetError(f"has no function {name!r}", path=str(path), hint=hint)
    kind = "a Python function without @triton.jit" if callable(value) else f"a {type(value).__name__}"
    raise TargetError(f"{name!r} is {kind}, not a Triton function", path=str(path), hint=has)


def triton_functions(module: ModuleType) -> tuple[str, ...]:
    """Return the names of the Triton functions that a module defines itself, in the order of its lines.

    Each name can be passed to :func:`load_function`. Functions that the module only imports are not included.
    """
    found = {}
    for name, value in vars(module).items():
        function = kernel_function(value)
        if function is not None and getattr(function.fn, "__module__", None) == module.__name__:
            found[name] = function.fn.__code__.co_firstlineno
    return tuple(sorted(found, key=lambda name: (found[name], name)))


def unwrap(entry: Any, *, path: Path | None = None, name: str | None = None, module: Any = None) -> Function | None:
    """Return the Triton function inside autotuners, heuristics and other wrappers; ``None`` if there is none.

    Args:
        entry: any object.
        path: file that it was loaded from; by default the file in which it can be found again.
        name: its name in that file.
        module: the imported file.
    """
    jit = jit_function(entry)
    if jit is None:
        return None
    if path is None or name is None:
        path, name = place_of(jit)
    return Function(path, name, jit, configs_of(entry), tuple(name for name, _ in heuristics_of(entry)), module)


_PLACES: dict[int, tuple[Any, Path, str]] = {}


def set_place(jit: Any, path: Path, name: str) -> None:
    """Set the file and name under which other processes can load a function that its original file does not provide."""
    # Functions with the same source have the same hash in Triton, so the object's identity is the key.
    _PLACES[id(jit)] = jit, path, name


def forget_place(jit: Any) -> None:
    """Undo :func:`set_place`, because the values that the function refers to may have changed since then."""
    _PLACES.pop(id(jit), None)


def place_of(jit: Any) -> tuple[Path, str]:
    """Return the file and the name with which :func:`load_function` can find a function again.

    A name with ``<locals>`` means that no such file exists and only this process has the function.
    """
    known = _PLACES.get(id(jit))
    if known is not None:
        return known[1:]
    file, name = Path(jit.fn.__code__.co_filename), jit.fn.__qualname__
    own = sys.modules.get(getattr(jit.fn, "__module__", None) or "")
    modules = [module for module in (own, *loaded_modules()) if module is not None]
    for module in modules:
        held = _same_file(getattr(module, "__file__", None), file) and _name_in(module, jit)
        if held:
            return Path(str(module.__file__)), held
    if "<locals>" not in name:
        return file, name
    for module in modules:
        held = _name_in(module, jit)
        if held and getattr(module, "__file__", None) and module.__name__ != "__main__":
            return Path(str(module.__file__)), held
    return file, name


def _name_in(module: ModuleType, jit: Any) -> str | None:
    """Return a name under which a module contains the function, preferably its own; ``None`` if it has no such name."""
    own = jit.fn.__qualname__
    if jit_function(_value_of(module, own)) is jit:
        return str(own)
    return next((name for name, value in list(vars(module).items()) if jit_function(value) is jit), None)


def _value_of(module: ModuleType, name: str) -> Any:
    value: Any = module
    for attribute in name.split("."):
        value = getattr(value, attribute, None)
    return value


def _by_own_name(module: ModuleType, name: str) -> Any:
    """Return the object whose Triton function has this own name, although the module stores it under another name.

    After ``fast = triton.jit(slow)``, the object for ``slow`` is found.
    """
    for value in vars(module).values():
        function = kernel_function(value)
        if function is not None and name in {function.fn.__qualname__, function.fn.__name__}:
            return value
    return None


def _same_file(one: str | Path | None, other: str | Path) -> bool:
    return one is not None and (str(one) == str(other) or Path(one).absolute() == Path(other).absolute())
