"""Matrix products in torch: rocBLAS, hipBLASLt or cuBLAS, whichever torch chooses."""

from collections.abc import Mapping
from typing import Any

from kprof.bench.providers.prepared import Prepared
from kprof.errors import KprofError
from kprof.kernel_spec import Shape, torch_dtype

Values = Mapping[str, Any]


def _with_scale(inputs: Values, shape: Shape) -> Values:
    """Add a scale of one for types for which torch requires scales."""
    import torch

    if not shape["dtype"].startswith("fp8"):
        return inputs
    return {**inputs, "one": torch.ones((), device=inputs["a"].device)}


def _gemm(inputs: Values, shape: Shape) -> Values:
    import torch

    a, b = inputs["a"], inputs["b"]
    a = a[:, : shape["M"]].T if shape["trans_a"] else a[:, : shape["K"]]
    b = b[:, : shape["K"]].T if shape["trans_b"] else b[:, : shape["N"]]
    dtype, out = shape["dtype"], torch_dtype(shape.get("out", shape["dtype"]))
    if dtype.startswith("fp8"):
        if "fp8e5" in dtype:
            raise KprofError("torch multiplies e5m2 only with e4m3")
        c = torch._scaled_mm(a, b, inputs["one"], inputs["one"], out_dtype=out)  # noqa: SLF001 - torch has no public name for it
    elif dtype == "i8":
        c = torch._int_mm(a, b)  # noqa: SLF001 - as above
    else:
        c = a @ b
    return {"c": (c + inputs["bias"]).to(out) if shape.get("bias") else c}


def _multiply_reduce(inputs: Values, shape: Shape) -> Values:
    """Compute a product with ``b`` stored as [N, K]."""
    return _gemm(inputs, {**shape, "trans_a": False, "trans_b": True})


def _stream_k(inputs: Values, shape: Shape) -> Values:
    return _gemm(inputs, {**shape, "trans_a": False})


def _w4a16(inputs: Values, shape: Shape) -> Values:
    """Convert the weights to the activations' dtype in each call, then multiply once."""
    import torch

    a, scale = inputs["a"], inputs["scale"]
    shift = torch.arange(0, 16, 4, device=a.device)
    nibbles = ((inputs["words"].int()[:, :, None] >> shift) & 15).reshape(shape["N"], -1, shape["group"])
    zero = inputs["zero"].T[:, :, None].to(a.dtype) if shape["zeros"] else 8
    weight = ((nibbles.to(a.dtype) - zero) * scale.T[:, :, None]).reshape(shape["N"], shape["K"])
    return {"out": a @ weight.T}


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
    "gemm": {"torch": Prepared(_with_scale, _gemm)},
    "gemm_multiply_reduce": {"torch": Prepared(_with_scale, _multiply_reduce)},
    "gemm_streamk": {"torch": Prepared(_with_scale, _stream_k)},
    "gemm_w4a16_splitk": {"torch": _w4a16},
    "gemm_skinny_fp8": {"torch": _skinny},
}
