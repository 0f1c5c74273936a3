"""Unwrap Triton functions: autotuners, heuristics, and user-defined wrapper classes.

This module does not import Triton: if a value is a Triton function, Triton is already loaded.
"""

import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

_MAX_DEPTH = 8
_LANGUAGES = {"flydsl": "FlyDSL"}
_INSIDE = ("fn", "__wrapped__")


def layers(value: Any) -> Iterator[Any]:
    """Yield the value and the objects that it wraps, outermost first, down to a Triton function if there is one.

    A wrapper is any object with ``fn`` or ``__wrapped__``: Triton's autotuner and heuristics, a function made with
    ``functools.wraps``, or an object of a user-defined class.
    """
    for _ in range(_MAX_DEPTH):
        if value is None or isinstance(value, ModuleType | type):
            return
        yield value
        if is_jit(value) or is_interpreted(value):
            return
        value = next((inner for name in _INSIDE if (inner := _attribute(value, name)) is not None), None)


def kernel_function(value: Any) -> Any:
    """Return the Triton function inside a value, compiled or interpreted; ``None`` if there is none."""
    return next((layer for layer in layers(value) if is_jit(layer) or is_interpreted(layer)), None)


def jit_function(value: Any) -> Any:
    """Return the Triton or Gluon ``jit`` function inside a value; ``None`` for an interpreted function."""
    return next((layer for layer in layers(value) if is_jit(layer)), None)


def other_language(value: Any) -> str | None:
    """Return the language of a kernel that only its program can launch; ``None`` for Triton and other values."""
    return _LANGUAGES.get(type(value).__module__.partition(".")[0])


def source_function(value: Any) -> Any:
    """Return the function inside a value that Triton compiles or evaluates from its source, or None.

    This is a ``@triton.jit`` or a ``@triton.constexpr_function``; the latter has source but no launch parameters.
    """
    jit = jit_function(value)
    if jit is not None:
        return jit
    is_source = isinstance(_attribute(value, "src"), str) and hasattr(_attribute(value, "fn"), "__code__")
    return value if is_source else None


def is_jit(value: Any) -> bool:
    """Return whether a value itself, without unwrapping, is a Triton function.

    Attributes decide rather than the type, so that subclasses and stubs count.
    """
    # cache_key is not read, since computing it may raise. Types are checked because some objects have every attribute.
    return isinstance(_attribute(value, "params"), list) and isinstance(_attribute(value, "starting_line_number"), int)


def is_interpreted(value: Any) -> bool:
    """Return whether a value is a function for Triton's interpreter, as created under ``TRITON_INTERPRET=1``."""
    interpreter = sys.modules.get("triton.runtime.interpreter")
    return interpreter is not None and isinstance(value, getattr(interpreter, "InterpretedFunction", ()))


def configs_of(value: Any) -> list[dict[str, Any]]:
    """Return the configurations of the autotuners around a function, as knobs."""
    found: list[dict[str, Any]] = []
    for layer in layers(value):
        configs = _attribute(layer, "configs")
        if isinstance(configs, list | tuple):
            found.extend(_knobs(config) for config in configs if isinstance(_attribute(config, "kwargs"), Mapping))
    return found


def heuristics_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each argument that ``@triton.heuristics`` computes, with the function that computes it from the rest."""
    for layer in layers(value):
        values = _attribute(layer, "values")
        if isinstance(values, Mapping):
            yield from values.items()


def _knobs(config: Any) -> dict[str, Any]:
    """Convert a ``triton.Config`` to knobs."""
    knobs = dict(config.kwargs)
    for option in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
        value = getattr(config, option, None)
        if value is not None:
            knobs[option] = value
    return knobs


def _attribute(value: Any, name: str) -> Any:
    """Return an attribute, or ``None`` if it is missing or reading it raises, as user-defined objects may."""
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001 - user-defined properties may raise any exception
        return None
