"""Derive the compile that Triton would perform for a launch.

This follows Triton's own launcher (``runtime/jit.py`` and, since 3.6, ``specialize.cc``), but uses descriptors instead
of tensors, so it needs neither torch nor a GPU. The tests compare it with the installed Triton.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kprof.compiler.constants import constant
from kprof.compiler.request import CompileRequest
from kprof.errors import TargetError
from kprof.importing.functions import Function, unwrap
from kprof.importing.uses import in_memory
from kprof.kernel_spec import ELEMENT_TYPES, Launch, Tensor

DIVISIBILITY = 16
"""Triton specialises on addresses and integers that are multiples of this number."""

POINTER_RANGE_BYTES = 2**31 - 1
"""Maximum bytes of a storage with ``tt.pointer_range = 32`` (``HIPBackend.is_within_2gb``)."""

_Specialized = tuple[Any, Any, Any]
"""Type, hints (``None`` if Triton does not determine any) and compile-time value."""


class _Absent:
    """Marker for "no compile-time value", because ``None`` is a valid one."""


_ABSENT = _Absent()


def from_launch(
    entry: Any,
    launch: Launch,
    arch: str,
    options: Mapping[str, Any] | None = None,
    environment: Mapping[str, str | None] | None = None,
    *,
    passes: bool = False,
) -> CompileRequest:
    """Return the compile that Triton would perform for a launch.

    Args:
        entry: the Triton function, autotuned or not.
        launch: the launch; missing arguments get the function's defaults.
        arch: architecture, such as ``gfx942``.
        options: backend options, as given in a launch.
        environment: environment variables for this compile.
        passes: whether to keep the MLIR after every pass.

    Raises:
        KprofError: if ``entry`` is not a Triton function or cannot be found by its name; if an argument is missing,
            unknown, or of a type that launches do not accept.
    """
    function = unwrap(entry)
    if function is None:
        raise TargetError(f"{getattr(entry, '__name__', entry)!r} is not a Triton function")
    if "<locals>" in function.name:
        raise TargetError(
            f"{function.name} is defined inside another function, where no other process can find it",
            path=str(function.path),
            hint="move it to the top level of its file",
        )
    values = bind(function, launch.args)
    buffer_ops = _buffer_ops(environment or {})
    signature: dict[str, Any] = {}
    constexprs: dict[str, Any] = {}
    attributes: dict[str, Mapping[str, int]] = {}
    for parameter in function.jit.params:
        name = parameter.name
        kind, hints, value = _parameter(parameter, values[name], buffer_ops, f"{function.name}: argument {name!r}")
        signature[name] = kind
        constexprs.update(_leaves(name, kind, value, _ABSENT))
        attributes.update(_leaves(name, kind, hints, None))
    # Launchers turn TRITON_DEBUG into an option; Triton has read the variable when it was imported.
    wanted = getattr(function.jit, "debug", None) or _is_on("TRITON_DEBUG", environment or {}, default=False)
    debug = {"debug": True} if wanted else {}
    return CompileRequest(
        path=str(function.path),
        function=function.name,
        arch=arch,
        signature=signature,
        constexprs=constexprs,
        attributes=attributes,
        options={**debug, **(options or {})},
        environment=dict(environment or {}),
        passes=passes,
        memory=in_memory(function.jit),
    )


def bind(function: Function, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all arguments of a function in order, including defaults.

    Raises:
        KprofError: if an argument is unknown or missing.
    """
    from kprof.errors import TargetError, near_hint

    known = function.arguments
    for name in args:
        if name not in known:
            raise TargetError(
                f"{function.name} has no argument {name!r}",
                path=str(function.path),
                hint=near_hint(name, known, "its arguments are"),
            )
    defaults = {p.name: p.default for p in function.jit.params if p.has_default}
    missing = [name for name in known if name not in args and name not in defaults]
    if missing:
        raise TargetError(
            f"{function.name} is launched without {', '.join(missing)}",
            path=str(function.path),
            hint="every argument without a default needs a value",
        )
    return {name: args.get(name, defaults.get(name)) for name in known}


def _buffer_ops(environment: Mapping[str, str | None]) -> bool:
    """Return whether launches specialise on the range of pointers, as they do only with buffer operations."""
    from kprof.compiler.versions import buffer_ops_default, installed

    return _is_on("AMDGCN_USE_BUFFER_OPS", environment, default=buffer_ops_default(installed().numbers))


def _is_on(name: str, environment: Mapping[str, str | None], *, default: bool) -> bool:
    """Return whether an environment variable is on; the request's environment overrides that of this process."""
    value = {**os.environ, **environment}.get(name)
    return default if value is None else value.lower() in {"1", "true", "on"}


def _parameter(parameter: Any, value: Any, buffer_ops: bool, what: str) -> _Specialized:
    """Specialise one argument as ``create_function_from_signature`` does."""
    if parameter.is_constexpr:
        return "constexpr", None, constant(value, what)
    annotated = parameter.annotation_type
    if annotated and (annotated == "u1" or annotated[:2] in {"fp", "bf"}):
        return annotated, None, _ABSENT
    how = _How(
        what,
        buffer_ops,
        is_const=parameter.is_const,
        specialize=not parameter.do_not_specialize,
        align=not parameter.do_not_specialize_on_alignment,
    )
    kind, hints, constexpr = _specialize(value, how)
    if annotated:
        # The annotation determines the type, so the value 1 stays a number and gets no hints.
        return annotated, None if constexpr is not _ABSENT else hints, _ABSENT
    return kind, hints, constexpr


@dataclass(frozen=True)
class _How:
    """Rules for specialising an argument, from its declaration and the environment."""

    what: str
    buffer_ops: bool
    is_const: bool = False
    specialize: bool = True
    align: bool = True


def _specialize(value: Any, how: _How) -> _Specialized:
    if value is None:
        return "constexpr", None, None
    if isinstance(value, bool):
        return "u1", None, _ABSENT
    if isinstance(value, int):
        return _integer(value, how)
    if isinstance(value, float):
        return "fp32", None, _ABSENT
    if isinstance(value, Tensor):
        hints = _pointer_hints(value, how) if how.specialize else None
        # Launchers use u1 for the element type of a bool tensor.
        element = "u1" if value.dtype == "i1" else value.dtype
        return ("*k" if how.is_const else "*") + element, hints, _ABSENT
    if isinstance(value, tuple):
        # Elements are specialised independently of the argument's own flags.
        parts = [_specialize(item, _How(how.what, how.buffer_ops)) for item in value]
        return tuple(p[0] for p in parts), tuple(p[1] for p in parts), tuple(p[2] for p in parts)
    return "constexpr", None, constant(value, how.what)


def _integer(value: int, how: _How) -> _Specialized:
    if value == 1 and how.specialize:
        return "constexpr", None, 1
    hints = None
    if how.specialize:
        hints = {"divisibility": DIVISIBILITY} if how.align and value % DIVISIBILITY == 0 else {}
    if -(2**31) <= value < 2**31:
        return "i32", hints, _ABSENT
    if -(2**63) <= value < 2**63:
        return "i64", hints, _ABSENT
    if value < 2**64 and value > 0:
        return "u64", hints, _ABSENT
    raise TargetError(f"{how.what} is {value}, which does not fit into 64 bits")


def _pointer_hints(tensor: Tensor, how: _How) -> dict[str, int]:
    hints = {"divisibility": DIVISIBILITY} if how.align and tensor.aligned else {}
    size = storage_bytes(tensor)
    if how.buffer_ops and size <= POINTER_RANGE_BYTES:
        hints["pointer_range"] = 32
    return hints


def storage_bytes(tensor: Tensor) -> int:
    """Return the bytes that a tensor occupies.

    Raises:
        KprofError: if Triton does not know its dtype.
    """
    from kprof.errors import TargetError, near_hint

    if tensor.dtype not in ELEMENT_TYPES:
        raise TargetError(
            f"{tensor.dtype!r} is not an element type", hint=near_hint(tensor.dtype, ELEMENT_TYPES, "there are")
        )
    total = ELEMENT_TYPES[tensor.dtype].size
    for size in tensor.shape:
        total *= size
    return total


def _leaves(name: str, kind: Any, value: Any, absent: Any) -> dict[str, Any]:
    """Return ``{"t.0": a, "t.1": b}`` for a tuple argument, else ``{"x": a}``, without absent values."""
    if isinstance(kind, tuple):
        items = value if isinstance(value, tuple) else (absent,) * len(kind)
        parts = zip(kind, items, strict=True)
        return {
            k: v
            for i, (inner, item) in enumerate(parts)
            for k, v in _leaves(f"{name}.{i}", inner, item, absent).items()
        }
    return {} if value is absent else {name: value}
