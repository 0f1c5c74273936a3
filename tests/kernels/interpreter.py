"""Run kernels' checks in Triton's interpreter: one JSON request a line in, one JSON answer a line out.

A process of its own, because TRITON_INTERPRET has to be set before Triton is imported.
"""

import json
import os
import sys
import time
import traceback
from typing import Any


def worst(got: Any, want: Any, rtol: float, atol: float) -> dict[str, Any]:
    """The element that is furthest outside its tolerance; ``ratio`` is at most 1 when all is well."""
    import torch

    if tuple(got.shape) != tuple(want.shape):
        return {"ratio": None, "why": f"shape {tuple(got.shape)}, expected {tuple(want.shape)}"}
    actual, wanted = got.double().flatten(), want.double().flatten()
    same = (actual == wanted) | (actual.isnan() & wanted.isnan())
    ratio = (actual - wanted).abs() / (atol + rtol * wanted.abs())
    ratio = torch.where(same, 0.0, torch.where(ratio.isnan(), torch.inf, ratio))
    at = int(ratio.argmax()) if ratio.numel() else 0
    if not ratio.numel():
        return {"ratio": None, "why": "empty output"}
    return {
        "ratio": min(float(ratio[at]), 1e30),
        "why": f"element {at} of {tuple(got.shape)}: got {float(actual[at])}, expected {float(wanted[at])}",
    }


def mend_interpreter() -> None:
    """Give Triton's interpreter the arithmetic of the hardware for 16-bit brain floats and 8-bit floats.

    It stores them as integers, multiplies bfloat16 matrices as those integers, and cuts where hardware rounds to
    nearest even. torch converts and rounds them as IEEE 754 asks.
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

    def create_fp_to_fp(self: Any, handle: Any, to: Any, rounding: Any) -> Any:
        return convert(handle, to)

    def create_dot(_self: Any, a: Any, b: Any, d: Any, *_options: Any) -> Any:
        product = np.matmul(widened(a), widened(b), dtype=d.data.dtype)
        return TensorHandle(product + d.data, d.dtype.scalar)

    InterpreterBuilder.cast_impl = cast_impl
    InterpreterBuilder.create_fp_to_fp = create_fp_to_fp
    InterpreterBuilder.create_dot = create_dot


def answer(request: dict[str, str]) -> dict[str, Any]:
    """Run one check of one kernel and compare every output."""
    from kprof.kernel_spec import resolve_fp8
    from kprof.targets import library as kernel_library

    started = time.monotonic()
    kernel = kernel_library.load(request["kernel"])
    check = kernel.checks[request["check"]]
    shape = resolve_fp8(check.shape, "gfx942")
    config = kernel.configure("gfx942", check.config, shape)
    inputs = kernel.inputs(shape, "cpu", 0)
    outputs = kernel.run(inputs, shape, config)
    expected = kernel.reference(inputs, shape)
    if outputs.keys() != expected.keys():
        return {"error": f"outputs {sorted(outputs)}, reference {sorted(expected)}"}
    rtol, atol = kernel.tolerance(shape)
    result = {name: worst(outputs[name], expected[name], rtol, atol) for name in expected}
    return {"outputs": result, "seconds": time.monotonic() - started, "shape": {k: str(v) for k, v in shape.items()}}


def main() -> None:
    """Answer requests until standard input ends."""
    os.environ["TRITON_INTERPRET"] = "1"
    # Kernels and numpy may print: keep standard output for the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    mend_interpreter()
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception:  # noqa: BLE001 - whatever a kernel raises is its test's failure
            reply = {"error": traceback.format_exc(limit=-12)}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
