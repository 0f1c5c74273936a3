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
    from kprof.bench.interpreter import mend_interpreter

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
