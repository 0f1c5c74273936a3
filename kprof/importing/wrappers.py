"""Looking through what is wrapped around a Triton function: autotuners, heuristics, and a user's own classes.

Nothing of Triton is imported here: where a value is a Triton function, Triton is loaded already.
"""

import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

_DEPTH = 8
_INSIDE = ("fn", "__wrapped__")


def layers(value: Any) -> Iterator[Any]:
    """The value and what it is wrapped around, outermost first, down to the Triton function where there is one.

    A wrapper is anything with ``fn`` or ``__wrapped__``: Triton's autotuner and heuristics, a function made with
    ``functools.wraps``, a class of the user's.
    """
    for _ in range(_DEPTH):
        if value is None or isinstance(value, ModuleType | type):
            return
        yield value
        if is_jit(value) or is_interpreted(value):
            return
        value = next((inner for name in _INSIDE if (inner := _attribute(value, name)) is not None), None)


def kernel_function(value: Any) -> Any:
    """The Triton function inside, compiled or interpreted; ``None`` when there is none."""
    return next((layer for layer in layers(value) if is_jit(layer) or is_interpreted(layer)), None)


def jit_function(value: Any) -> Any:
    """The ``@triton.jit`` function inside, of Gluon too; ``None`` for an interpreted one, which nothing compiles."""
    return next((layer for layer in layers(value) if is_jit(layer)), None)


def source_function(value: Any) -> Any:
    """The function inside that Triton compiles or evaluates from its source; None where there is none.

    Besides ``@triton.jit`` it is a ``@triton.constexpr_function``, which has source and no parameters of a launch.
    """
    jit = jit_function(value)
    if jit is not None:
        return jit
    is_source = isinstance(_attribute(value, "src"), str) and hasattr(_attribute(value, "fn"), "__code__")
    return value if is_source else None


def is_jit(value: Any) -> bool:
    """Whether this is a Triton function itself, by its attributes: subclasses and stand-ins of libraries count."""
    # Not cache_key: that is computed, and may raise. The types are checked for objects that answer to any name.
    return isinstance(_attribute(value, "params"), list) and isinstance(_attribute(value, "starting_line_number"), int)


def is_interpreted(value: Any) -> bool:
    """Whether this is a function that Triton's interpreter would run, as under ``TRITON_INTERPRET=1``."""
    interpreter = sys.modules.get("triton.runtime.interpreter")
    return interpreter is not None and isinstance(value, getattr(interpreter, "InterpretedFunction", ()))


def configs_of(value: Any) -> list[dict[str, Any]]:
    """Configurations of the autotuners around a function, as knobs."""
    found: list[dict[str, Any]] = []
    for layer in layers(value):
        configs = _attribute(layer, "configs")
        if isinstance(configs, list | tuple):
            found.extend(_knobs(config) for config in configs if isinstance(_attribute(config, "kwargs"), Mapping))
    return found


def heuristics_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Arguments that ``@triton.heuristics`` fills in, each with its function of all other arguments."""
    for layer in layers(value):
        values = _attribute(layer, "values")
        if isinstance(values, Mapping):
            yield from values.items()


def _knobs(config: Any) -> dict[str, Any]:
    """A ``triton.Config`` as knobs."""
    knobs = dict(config.kwargs)
    for option in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
        value = getattr(config, option, None)
        if value is not None:
            knobs[option] = value
    return knobs


def _attribute(value: Any, name: str) -> Any:
    """An attribute, ``None`` where there is none: a user's object may raise anything when it is asked."""
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001 - see above
        return None
