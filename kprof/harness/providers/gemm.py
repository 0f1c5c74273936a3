"""Matrix products in torch: rocBLAS, hipBLASLt or cuBLAS, whichever torch chooses."""

from collections.abc import Mapping
from typing import Any

from kprof.errors import KprofError
from kprof.kernel_spec import Shape, torch_dtype

Values = Mapping[str, Any]


def _gemm(inputs: Values, shape: Shape) -> Values:
    import torch

    a, b = inputs["a"], inputs["b"]
    a = a[:, : shape["M"]].T if shape["trans_a"] else a[:, : shape["K"]]
    b = b[:, : shape["K"]].T if shape["trans_b"] else b[:, : shape["N"]]
    dtype, out = shape["dtype"], torch_dtype(shape.get("out", shape["dtype"]))
    if dtype.startswith("fp8"):
        if "fp8e5" in dtype:
            raise KprofError("torch multiplies e5m2 only with e4m3")
        one = torch.ones((), device=a.device)
        c = torch._scaled_mm(a, b, one, one, out_dtype=out)  # noqa: SLF001 - torch has no public name for it
    elif dtype == "i8":
        c = torch._int_mm(a, b)  # noqa: SLF001 - as above
    else:
        c = a @ b
    return {"c": (c + inputs["bias"]).to(out) if shape.get("bias") else c}


PROVIDERS = {"gemm": {"torch": _gemm}}
