"""What lies inside the timed call of a provider: its own operators, and no copies. Libraries are stand-ins."""

import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the providers are torch")
pytest.importorskip("triton", reason="kernel files import triton")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from kprof.bench.compare import compare_all  # noqa: E402
from kprof.bench.implementations import find  # noqa: E402
from kprof.errors import KprofError  # noqa: E402
from kprof.kernel_spec import resolve_fp8  # noqa: E402
from kprof.targets.library import load  # noqa: E402

pytestmark = pytest.mark.triton

FREE = {
    "transpose",
    "view",
    "_unsafe_view",
    "unsqueeze",
    "permute",
    "slice",
    "select",
    "expand",
    "t",
    "detach",
    "alias",
}
"""Operations that touch no memory."""


class Counted(TorchDispatchMode):  # type: ignore[misc] - torch's own class is not typed
    """The operations that are executed, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, function: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note the operation and do it."""
        name = function.overloadpacket.__name__
        if name not in FREE:
            self.names.append(name)
        return function(*args, **(kwargs or {}))


def operations(call: Any, values: Mapping[str, Any]) -> list[str]:
    """What one timed call executes, without views."""
    counted = Counted()
    with counted:
        call(values)
    return counted.names


def attention(q: Any, k: Any, v: Any, causal: bool = False) -> Any:
    """The library's own function, on (batch, token, head, D): one operation, whatever it does inside."""
    with torch.utils._python_dispatch._disable_current_modes():
        for tensor in (q, k, v):
            assert tensor.is_contiguous()
        group = q.shape[2] // k.shape[2]
        q, k, v = (t.transpose(1, 2).double() for t in (q, k, v))
        k, v = (t.repeat_interleave(group, dim=1) for t in (k, v))
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        if causal:
            hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1 + scores.shape[-1] - scores.shape[-2])
            scores = scores.masked_fill(hidden, -torch.inf)
        return (scores.softmax(-1).nan_to_num(0.0) @ v).transpose(1, 2).float().contiguous()


def packed(q: Any, k: Any, v: Any, cu_q: Any, cu_k: Any, *_longest: int, causal: bool, alibi_slopes: Any = None) -> Any:
    """The same for packed sequences."""
    assert alibi_slopes is None
    with torch.utils._python_dispatch._disable_current_modes():
        out = torch.zeros_like(q, dtype=torch.float32)
        for b in range(len(cu_q) - 1):
            (q0, q1), (k0, k1) = cu_q[b : b + 2].tolist(), cu_k[b : b + 2].tolist()
            if q1 > q0 and k1 > k0:
                out[q0:q1] = attention(q[None, q0:q1], k[None, k0:k1], v[None, k0:k1], causal)[0]
        return out


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """AITER and vLLM as far as the providers call them."""
    for name in ("aiter", "aiter.ops", "aiter.ops.triton", "aiter.ops.triton.mha", "vllm", "vllm._custom_ops"):
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        module.__dict__.update(flash_attn_func=attention, flash_attn_varlen_func=packed, rms_norm=_norm)
        monkeypatch.setitem(sys.modules, name, module)
    library = torch.library.Library("_C", "FRAGMENT")
    library.define("rms_norm(Tensor! result, Tensor input, Tensor weight, float epsilon) -> ()")
    library.define(
        "fused_add_rms_norm_static_fp8_quant(Tensor! result, Tensor input, Tensor! residual, Tensor weight, "
        "Tensor scale, float epsilon) -> ()"
    )
    library.define("silu_and_mul_quant(Tensor! result, Tensor input, Tensor scale) -> ()")
    library.impl("rms_norm", _norm_into, "CPU")
    library.impl("fused_add_rms_norm_static_fp8_quant", _add_norm, "CPU")
    library.impl("silu_and_mul_quant", _swiglu, "CPU")
    yield
    library._destroy()


def _norm(x: Any, gain: Any, eps: float) -> Any:
    with torch.utils._python_dispatch._disable_current_modes():
        value = x.double()
        return (value * (value.square().mean(-1, keepdim=True) + eps).rsqrt() * gain.double()).to(x.dtype)


def _norm_into(out: Any, x: Any, gain: Any, eps: float) -> None:
    out.copy_(_norm(x, gain, eps))


def _quantised(out: Any, value: Any, scale: Any) -> None:
    """Divided by the scale, as vLLM's operators do."""
    limit = torch.finfo(out.dtype).max
    out.copy_((value / scale.double()).clamp(-limit, limit))


def _add_norm(out: Any, x: Any, residual: Any, weight: Any, scale: Any, eps: float) -> None:
    residual.copy_((residual.float() + x.float()).to(residual.dtype))
    value = residual.double()
    norm = value * (value.square().mean(-1, keepdim=True) + eps).rsqrt() * weight.double()
    _quantised(out, norm, scale)


def _swiglu(out: Any, x: Any, scale: Any) -> None:
    gate, up = x.double().chunk(2, dim=-1)
    _quantised(out, torch.nn.functional.silu(gate) * up, scale)


LIBRARY_CALLS = [
    (name, provider)
    for name in (
        "flash_attention",
        "attention_lean",
        "attention_persistent",
        "attention_transposed_v",
        "attention_varlen",
    )
    for provider in ("aiter", "ck")
] + [("rmsnorm", "aiter"), ("rmsnorm", "vllm"), ("rmsnorm_residual_fp8", "vllm"), ("swiglu_fp8", "vllm")]


@pytest.mark.parametrize(("name", "provider"), LIBRARY_CALLS)
def test_a_library_is_timed_alone_and_computes_the_problem(name: str, provider: str) -> None:
    """No layout is copied, nothing is scaled or masked in the call; outputs are allocated, as everybody's are."""
    kernel = load(name)
    assert kernel.inputs is not None
    assert kernel.reference is not None
    compared = 0
    for check in kernel.checks.values():
        shape = resolve_fp8(check.shape, "sm_90")
        inputs = kernel.inputs(shape, "cpu", 1)
        before = {k: v.clone() if hasattr(v, "clone") else v for k, v in inputs.items()}
        found = find(kernel, provider, shape, "sm_90", {})
        if shape.get("alibi"):
            continue  # the stand-in has no slopes
        try:
            prepared = found.prepare(inputs)
        except KprofError:
            continue
        names = operations(found.call, prepared)
        own = {"rms_norm", "fused_add_rms_norm_static_fp8_quant", "silu_and_mul_quant"}
        assert set(names) <= {"empty_like", "empty", *own}, (check, names)
        outputs = found.call(found.prepare(inputs))
        for error in compare_all(outputs, kernel.reference(inputs, shape), (1.0, 1.0)):
            assert error.relative is not None, (check, error)
            assert error.relative < 0.05, (check, error)
            compared += 1
        for key, value in before.items():
            assert not hasattr(value, "equal") or value.equal(inputs[key]), f"{key} was overwritten"
    assert compared


@pytest.mark.parametrize("name", ["flash_attention", "attention_transposed_v", "attention_lean", "attention_int8"])
def test_sdpa_is_timed_alone(name: str) -> None:
    """Masks, layouts and what is dequantised are made before: SDPA's own operators are all there is."""
    kernel = load(name)
    shape = kernel.problem("gfx942", None, {"B": 1, "H": 2, "HK": 2, "SQ": 32, "SK": 32, "D": 64, "dtype": "fp16"})
    assert kernel.inputs is not None
    found = find(kernel, "sdpa", shape, "gfx942", {})

    names = operations(found.call, found.prepare(kernel.inputs(shape, "cpu", 1)))

    assert len(names) == 1
    assert "scaled_dot_product" in names[0]


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("flash_decoding", "sdpa"),
        ("flash_decoding_int4", "torch"),
        ("mla_decode", "torch"),
        ("mla_decode", "naive"),
        ("attention_varlen", "sdpa"),
    ],
)
def test_the_device_is_not_waited_for(name: str, provider: str) -> None:
    """Lengths are read before: a number that Python needs would stop the queue of the device."""
    kernel = load(name)
    assert kernel.inputs is not None
    for check in kernel.checks.values():
        shape = resolve_fp8(check.shape, "gfx942")
        found = find(kernel, provider, shape, "gfx942", {})
        names = operations(found.call, found.prepare(kernel.inputs(shape, "cpu", 1)))
        assert not {"_local_scalar_dense", "item", "nonzero", "is_nonzero"} & set(names), (check, names)
