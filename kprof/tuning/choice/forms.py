"""Bundled kernels that compute another one's function under other parameters or from data that is stored otherwise.

Kernels with the same parameters and inputs are the kernel's ``alternatives``; these are the others. Each function turns
a problem of the kernel that was asked for into one of the other kernel, or says why it cannot.
"""

from collections.abc import Callable, Mapping
from typing import Any

from kprof.kernel_spec import Shape

Form = Callable[[Shape], dict[str, Any] | str]

_PRODUCT = ("M", "N", "K", "dtype", "out")
_ATTENTION = ("B", "H", "HK", "SQ", "SK", "D", "causal", "dtype")

SKINNY_ROWS = 32
"""Rows that the skinny product is made for."""

TINY_ROWS = 8
"""Rows up to which a product without matrix instructions is worth considering."""


def forms(kernel: str) -> Mapping[str, Form]:
    """Name of each kernel that solves the problem in another form, with the translation of a problem."""
    return _FORMS.get(kernel, {})


def _only(shape: Shape, names: tuple[str, ...], **more: Any) -> dict[str, Any]:
    return {name: shape[name] for name in names} | more


def _plain(shape: Shape) -> str | None:
    """What of ``gemm`` only it can do."""
    if shape["trans_a"]:
        return "A would have to be stored by rows (trans_a=False)"
    return "rows would have to lie without padding (pad=0)" if shape["pad"] else None


def _stream_k(shape: Shape) -> dict[str, Any] | str:
    return _plain(shape) or _only(shape, _PRODUCT, bias=shape["bias"], trans_b=shape["trans_b"])


def _skinny(shape: Shape) -> dict[str, Any] | str:
    if not shape["dtype"].startswith("fp8"):
        return f"multiplies 8-bit floats, not {shape['dtype']}"
    if shape["M"] > SKINNY_ROWS:
        return f"made for at most {SKINNY_ROWS} rows"
    if not shape["trans_b"]:
        return "B would have to be stored along K (trans_b=True)"
    return _plain(shape) or ("it adds no bias" if shape["bias"] else _only(shape, _PRODUCT, per_channel=False))


def _multiply_reduce(shape: Shape) -> dict[str, Any] | str:
    if shape["M"] > TINY_ROWS:
        return f"made for at most {TINY_ROWS} rows: it does not use the matrix instructions"
    if not shape.get("trans_b", True):
        return "B would have to be stored along K (trans_b=True)"
    return _plain({"trans_a": False, "pad": 0, **shape}) or _only(shape, _PRODUCT, bias=shape["bias"])


def _gemm(shape: Shape) -> dict[str, Any] | str:
    return _only(shape, _PRODUCT, bias=shape["bias"], trans_a=False, trans_b=shape.get("trans_b", True), pad=0)


def _heads_first(shape: Shape) -> str | None:
    if shape.get("layout", "bhsd") != "bhsd":
        return "heads would have to come before the sequence (layout=bhsd)"
    return None


def _extras(shape: Shape) -> str | None:
    """Return which feature of ``flash_attention`` no other kernel has, or None."""
    used = [name for name in ("window", "sinks", "dropout") if shape.get(name)]
    return f"only flash_attention has {' and '.join(used)}" if used else None


def _persistent(shape: Shape) -> dict[str, Any] | str:
    return _extras(shape) or _heads_first(shape) or _only(shape, _ATTENTION)


def _transposed_v(_shape: Shape) -> str:
    return "V would have to be stored transposed"


def _packed(shape: Shape) -> dict[str, Any] | str:
    if _extras(shape) or shape.get("layout") != "bshd":
        return _extras(shape) or "the sequence would have to come before the heads (layout=bshd)"
    return _only(shape, _ATTENTION, lengths="equal", alibi=False, bias=False)


def _decoding(shape: Shape) -> dict[str, Any] | str:
    if shape["SQ"] != 1:
        return "made for one query a sequence"
    if _extras(shape) or shape.get("layout") != "bshd":
        return _extras(shape) or "the sequence would have to come before the heads (layout=bshd)"
    return _only(shape, ("B", "H", "HK", "D", "dtype"), N=shape["SK"], ragged=False)


def _forward(shape: Shape) -> dict[str, Any]:
    return _only(shape, _ATTENTION, layout="bhsd", lse=False, window=0, sinks=False, dropout=0.0)


_FORMS: Mapping[str, Mapping[str, Form]] = {
    "gemm": {"gemm_streamk": _stream_k, "gemm_skinny_fp8": _skinny, "gemm_multiply_reduce": _multiply_reduce},
    "gemm_streamk": {"gemm": _gemm, "gemm_multiply_reduce": _multiply_reduce},
    "gemm_multiply_reduce": {"gemm": _gemm},
    "flash_attention": {
        "attention_persistent": _persistent,
        "attention_varlen": _packed,
        "flash_decoding": _decoding,
        "attention_transposed_v": _transposed_v,
        "attention_lean": _transposed_v,
    },
    "attention_persistent": {"flash_attention": _forward, "attention_transposed_v": _transposed_v},
}
