"""Patch Triton's interpreter so that its arithmetic matches the hardware."""

import operator
from collections.abc import Iterator
from typing import Any


def mend_interpreter() -> None:
    """Make Triton's interpreter compute bfloat16 and 8-bit floats like the hardware.

    The interpreter stores them as integers, multiplies bfloat16 matrices as those integers, and truncates where
    hardware rounds to nearest even. The patch converts and rounds them with torch, which follows IEEE 754.
    """
    import numpy as np
    import torch
    from triton.runtime.interpreter import InterpreterBuilder, TensorHandle, tl

    stored_as_integers = {
        tl.bfloat16: (torch.bfloat16, torch.int16),
        tl.float8e5: (torch.float8_e5m2, torch.uint8),
        tl.float8e5b16: (torch.float8_e5m2fnuz, torch.uint8),
        tl.float8e4nv: (torch.float8_e4m3fn, torch.uint8),
        tl.float8e4b8: (torch.float8_e4m3fnuz, torch.uint8),
    }
    numpy_types = {tl.float16: np.float16, tl.float32: np.float32, tl.float64: np.float64}

    def widened(handle: Any) -> Any:
        if handle.dtype.scalar not in stored_as_integers:
            return handle.data
        kind, storage = stored_as_integers[handle.dtype.scalar]
        raw = np.ascontiguousarray(handle.data).view(np.int16 if storage is torch.int16 else np.uint8)
        return torch.from_numpy(raw).view(kind).float().numpy()

    def convert(handle: Any, to: Any) -> Any:
        values = widened(handle)
        if to.scalar not in stored_as_integers:
            return TensorHandle(values.astype(numpy_types[to.scalar]), to.scalar)
        kind, storage = stored_as_integers[to.scalar]
        raw = torch.from_numpy(np.ascontiguousarray(values)).to(kind).view(storage).numpy()
        return TensorHandle(raw.view(np.uint16) if storage is torch.int16 else raw, to.scalar)

    plain_cast = InterpreterBuilder.cast_impl

    def cast_impl(self: Any, handle: Any, to: Any) -> Any:
        floats = {*stored_as_integers, *numpy_types}
        if to.scalar in stored_as_integers and handle.dtype.scalar not in floats:
            handle = TensorHandle(handle.data.astype(np.float32), tl.float32)
        custom = {handle.dtype.scalar, to.scalar} & set(stored_as_integers)
        if custom and {handle.dtype.scalar, to.scalar} <= floats:
            return convert(handle, to)
        return plain_cast(self, handle, to)

    def create_fp_to_fp(_self: Any, handle: Any, to: Any, _rounding: Any) -> Any:
        return convert(handle, to)

    def create_dot(_self: Any, a: Any, b: Any, d: Any, *_options: Any) -> Any:
        product = np.matmul(widened(a), widened(b), dtype=d.data.dtype)
        return TensorHandle(product + d.data, d.dtype.scalar)

    for name in _OF_CONSTANTS:
        setattr(tl.constexpr, name, _with_tensors(getattr(tl.constexpr, name), name, tl.tensor))
    InterpreterBuilder.cast_impl = cast_impl
    InterpreterBuilder.create_fp_to_fp = create_fp_to_fp
    InterpreterBuilder.create_dot = create_dot


_OF_CONSTANTS = tuple(
    f"__{name}__"
    for name in [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
        "and",
        "or",
        "xor",
    ]
)


def _with_tensors(own: Any, name: str, kind: type) -> Any:
    """Return an operator of constants that accepts a tensor as its second operand, as the compiler does."""
    combine = getattr(operator, name)

    def combined(self: Any, other: Any) -> Any:
        return combine(self.value, other) if isinstance(other, kind) else own(self, other)

    return combined


def type_loop_variables(entry: Any) -> None:
    """Make the loop variables in a function's file tensors, as in the compiler; raise an error for undefined shifts.

    The interpreter's loop variables are Python integers, which have no limit and no type. Code could detect them, and
    do its work only in the interpreter. A shift by the bit width or more is 0 in numpy but undefined on hardware.
    """
    from triton.runtime import interpreter

    # The interpreter has no other hook to add functions of the language.
    patch, names = interpreter._patch_lang, entry.fn.__globals__  # noqa: SLF001
    names["range"] = _typed_range

    def patched(function: Any) -> Any:
        scope = patch(function)
        for value in list(function.__globals__.values()):
            if value in (interpreter.tl, interpreter.tl.core):
                # Triton before 3.5 patches the language permanently, and returns no scope object.
                getattr(scope, "set_attr", setattr)(value, "range", _typed_range)
        return scope

    interpreter._patch_lang = patched  # noqa: SLF001
    for name in ("create_shl", "create_lshr", "create_ashr"):
        setattr(interpreter.InterpreterBuilder, name, _defined_shift(getattr(interpreter.InterpreterBuilder, name)))


def _typed_range(*bounds: Any, **_options: Any) -> Iterator[Any]:
    import numpy as np
    from triton.runtime.interpreter import TensorHandle, tl

    wide = any(isinstance(one, tl.tensor) and one.dtype.primitive_bitwidth == 64 for one in bounds)
    values = range(*map(operator.index, bounds))
    wide = wide or any(abs(one) >= 1 << 31 for one in (values.start, values.stop))
    kind, storage = (tl.int64, np.int64) if wide else (tl.int32, np.int32)
    for value in values:
        yield tl.tensor(TensorHandle(np.array([value], dtype=storage), kind), kind)


def _defined_shift(shift: Any) -> Any:
    def defined(self: Any, left: Any, right: Any) -> Any:
        import numpy as np

        bits = left.dtype.scalar.primitive_bitwidth
        if np.any(right.data < 0) or np.any(right.data >= bits):
            raise ValueError(f"shifting a {bits}-bit integer by {int(np.max(right.data))} is undefined")
        return shift(self, left, right)

    return defined
