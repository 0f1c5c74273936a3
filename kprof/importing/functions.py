"""Finding a Triton function in a user's file. This imports, and so runs, that file."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from kprof.errors import KprofError, near_hint
from kprof.importing.dependencies import Dependencies
from kprof.importing.loading import dependencies_of, load_module


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


def load_function(path: str | Path, name: str) -> Function:
    """Import a file and find a Triton function in it.

    Raises:
        KprofError: as :func:`~kprof.importing.loading.load_module`; or there is no such name; or it is no Triton
            function.
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
