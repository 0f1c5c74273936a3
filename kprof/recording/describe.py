"""Describe launches as JSON values for the journal.

Imports only the standard library; Triton's objects are recognised by their attributes.
"""

import ctypes
import math
import os
import struct
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from kprof.compiler.constants import constant
from kprof.compiler.request import encode
from kprof.recording.device_marks import mark_of

FRAMES = 12
"""Maximum number of stack frames stored for a source position in the program."""

_TEXT = 200
_STANDARD = tuple(str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "platstdlib"))
_SELF = str(Path(__file__).resolve().parent)


def site(skip: int = 1) -> tuple[tuple[str, int, str], ...]:
    """Return the stack frames from the launch outwards, without those that :func:`is_machinery` recognises."""
    frame: FrameType | None = sys._getframe(skip)  # noqa: SLF001  # the call stack is inspected
    found: list[tuple[str, int, str]] = []
    while frame is not None and len(found) < FRAMES:
        code = frame.f_code
        if not is_machinery(code):
            found.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return tuple(found)


def names_in_program(names: frozenset[str]) -> bool:
    """Return whether a function of the program on the stack uses one of these names."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    while frame is not None:
        code = frame.f_code
        if not names.isdisjoint(code.co_names) and not is_machinery(code):
            return True
        frame = frame.f_back
    return False


_PACKAGES = frozenset({"torch", "triton", "flydsl", "kprof", "_pytest", "pytest", "pluggy"})
_MACHINERY: dict[str, bool] = {}


def is_machinery(code: CodeType) -> bool:
    """Return whether code belongs to Triton, FlyDSL, torch, the standard library or kprof, and not to the program."""
    file = code.co_filename
    known = _MACHINERY.get(file)
    if known is None:
        known = file.startswith("<") or _in_machinery(file)
        _MACHINERY[file] = known
    return known


def _in_machinery(file: str) -> bool:
    parts = Path(file).parts
    for folder in ("site-packages", "dist-packages"):
        if folder in parts:
            return parts[parts.index(folder) + 1] in _PACKAGES
    return file.startswith((_SELF, *_STANDARD, *_imported()))


def _imported() -> Iterator[str]:
    """Yield the folders of Triton, torch and FlyDSL, which may be a checkout or an environment created by kprof."""
    for name in ("triton", "torch", "flydsl"):
        if file := getattr(sys.modules.get(name), "__file__", None):
            yield f"{Path(file).parent}{os.sep}"


def argument(value: Any) -> Any:
    """Convert an argument of a launch to JSON: numbers are kept, a tensor becomes an object, other objects a text."""
    if value is None or isinstance(value, bool | int | float):
        # JSON has neither infinities nor NaN.
        return str(value) if isinstance(value, float) and not math.isfinite(value) else value
    if hasattr(value, "data_ptr") and hasattr(value, "dtype"):
        return _tensor(value)
    if hasattr(value, "base") and hasattr(value, "block_shape"):
        return {**_tensor(value.base), "block": [int(n) for n in value.block_shape]}
    if isinstance(value, tuple | list):
        return [argument(item) for item in value[:64]]
    inner = getattr(value, "value", None)
    if type(value).__name__ == "constexpr":
        return argument(inner)
    return str(getattr(value, "__name__", value))[:_TEXT]


def _tensor(value: Any) -> dict[str, Any]:
    base = getattr(value, "base", value) if type(value).__name__ == "TensorWrapper" else value
    shape, stride = getattr(base, "shape", ()), getattr(base, "stride", None)
    try:
        return {
            "dtype": str(value.dtype).removeprefix("torch."),
            "shape": [int(n) for n in shape],
            "strides": [int(n) for n in stride()] if callable(stride) else [],
        }
    except (TypeError, ValueError, RuntimeError):
        return {"dtype": str(value.dtype), "shape": [], "strides": []}


def values_of(tensor: Any, most: int) -> list[int] | None:
    """Return the integers in a tensor of the simulated GPU; ``None`` if they are unknown or more than ``most``.

    The bytes are read directly from memory, without calling an operator.
    """
    form = INTEGERS.get(str(getattr(tensor, "dtype", "")))
    found = mark_of(tensor)
    if form is None or found is None or found.unknown:
        return None
    count = tensor.numel()
    if not 0 < count <= most or not tensor.is_contiguous():
        return None
    return list(struct.unpack(f"={count}{form}", ctypes.string_at(tensor.data_ptr(), count * tensor.element_size())))


INTEGERS = {
    "torch.int8": "b",
    "torch.uint8": "B",
    "torch.int16": "h",
    "torch.int32": "i",
    "torch.int64": "q",
    "torch.uint64": "Q",
}
"""Format letters of :mod:`struct` by integer type."""


def key_of(described: Any) -> Any:
    """Convert a result of :func:`argument` to a hashable form."""
    if isinstance(described, dict):
        return tuple((name, key_of(value)) for name, value in described.items())
    if isinstance(described, list):
        return tuple(key_of(value) for value in described)
    # 1, 1.0 and True are equal in Python, but different arguments.
    return (type(described).__name__, described)


def request_of(source: Any, arch: str, options: dict[str, Any], environment: dict[str, str]) -> dict[str, Any]:
    """Return a compile request in the form of :meth:`kprof.compiler.request.CompileRequest.to_json`.

    Args:
        source: Triton's ``ASTSource``.
        arch: architecture, for example ``gfx942``.
        options: options that differ from the backend's defaults.
        environment: environment switches that are set.
    """
    function = source.fn
    names = [parameter.name for parameter in function.params]
    attributes: dict[str, dict[str, int]] = {}
    for path, hints in (source.attrs or {}).items():
        attributes[_name(names, path)] = {str(h[0]).removeprefix("tt."): int(h[1]) for h in hints or ()}
    return {
        "path": function.fn.__code__.co_filename,
        "function": function.fn.__qualname__,
        "arch": arch,
        "signature": [[name, encode(_kind(kind))] for name, kind in source.signature.items()],
        "constexprs": {_name(names, path): _constant(value) for path, value in (source.constants or {}).items()},
        "attributes": attributes,
        "options": {name: _constant(value) for name, value in options.items()},
        "environment": environment,
    }


def kernel(function: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a specialisation's :class:`kprof.captures.records.KernelRecord`, without the identifiers.

    Args:
        function: the ``@triton.jit`` function.
        request: a request from :func:`request_of`.
    """
    from kprof.compiler import versions

    arguments = {str(parameter.name) for parameter in function.params if not parameter.is_constexpr}
    return {
        "name": function.fn.__name__,
        "triton": versions.installed().version,
        "module": str(getattr(function.fn, "__module__", "")),
        "line": function.starting_line_number,
        "request": request,
        # Triton specialises on the value 1 and compiles it in.
        "specialized": [name for name in request["constexprs"] if name.partition(".")[0] in arguments],
    }


def _kind(kind: Any) -> Any:
    return tuple(_kind(item) for item in kind) if isinstance(kind, tuple | list) else str(kind)


def _name(names: list[str], path: Any) -> str:
    """Return the name of the argument at one of Triton's paths, or ``argument.0`` for an element of a tuple."""
    if isinstance(path, str):
        return path
    first, *inner = path if isinstance(path, tuple | list) else (path,)
    return ".".join((names[first] if first < len(names) else str(first), *map(str, inner)))


def _constant(value: Any) -> Any:
    from kprof.errors import KprofError

    try:
        return encode(constant(value, ""))
    except (KprofError, TypeError, RecursionError):
        return str(getattr(value, "__qualname__", value))[:_TEXT]


def given_options(options: Any, defaults: Any) -> dict[str, Any]:
    """Return the options that differ from the backend's defaults, and always ``num_warps`` and ``num_stages``."""
    base = vars(defaults)
    always = {"num_warps", "num_stages"}
    return {
        name: value
        for name, value in vars(options).items()
        if name in base and (name in always or base[name] != value) and isinstance(value, bool | int | float | str)
    }
