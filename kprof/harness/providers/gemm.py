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


def _multiply_reduce(inputs: Values, shape: Shape) -> Values:
    """``b`` is stored as [N, K]."""
    return _gemm(inputs, {**shape, "trans_a": False, "trans_b": True})


def _skinny(inputs: Values, shape: Shape) -> Values:
    import torch

    if shape["dtype"] not in {"fp8e4nv", "fp8e4b8"}:
        raise KprofError("torch multiplies e5m2 only with e4m3")
    if shape["per_channel"]:
        raise KprofError("torch scales rows and columns together or not at all")
    one = inputs["a_scale"].reshape(()), inputs["b_scale"].reshape(())
    c = torch._scaled_mm(inputs["a"], inputs["b"].T, *one, out_dtype=torch_dtype(shape["out"]))  # noqa: SLF001 - as above
    return {"out": c}


PROVIDERS = {
    "gemm": {"torch": _gemm},
    "gemm_multiply_reduce": {"torch": _multiply_reduce},
    "gemm_skinny_fp8": {"torch": _skinny},
}
