"""What torch computes in a benchmark is the kernel's problem: the same result as the reference, on the CPU."""

from typing import Any

import pytest

from kprof.targets.library import catalogue, load

torch = pytest.importorskip("torch", reason="the providers are torch")
pytest.importorskip("triton", reason="kernel files import triton")

from kprof.bench.compare import compare_all  # noqa: E402
from kprof.bench.implementations import find, providers  # noqa: E402
from kprof.bench.providers.prepared import NotInstalled, need  # noqa: E402
from kprof.errors import KprofError  # noqa: E402
from kprof.kernel_spec import resolve_fp8  # noqa: E402

LIBRARIES = {"aiter", "ck", "vllm"}
PAIRS = [
    (entry.name, provider)
    for entry in catalogue()
    for provider in providers(load(entry.name))
    if provider not in LIBRARIES
]


@pytest.mark.triton
@pytest.mark.parametrize(("name", "provider"), PAIRS)
def test_provider_computes_the_reference(name: str, provider: str) -> None:
    """Rounding may differ; the function may not: the relative error of the whole output is small."""
    kernel = load(name)
    assert kernel.inputs is not None
    assert kernel.reference is not None
    compared = 0
    for check in kernel.checks.values():
        shape = resolve_fp8(check.shape, "sm_90")
        inputs = kernel.inputs(shape, "cpu", 1)
        try:
            outputs: Any = providers(kernel)[provider](inputs, shape)
        except (KprofError, RuntimeError, NotImplementedError):
            continue  # torch has no such kernel for the CPU
        for error in compare_all(outputs, kernel.reference(inputs, shape), (1.0, 1.0)):
            assert error.relative is not None, (check, error)
            assert error.relative < 0.05, (check, error)
            compared += 1
    assert compared, "no check could be compared"


@pytest.mark.parametrize("provider", sorted(LIBRARIES))
def test_missing_library_is_said(provider: str) -> None:
    """By name, and without importing anything."""
    with pytest.raises(NotInstalled, match="no_such_package"):
        need("no_such_package", provider)


@pytest.mark.triton
def test_provider_without_an_answer_lists_the_others() -> None:
    """Torch has no mLSTM attention kernel of its own, and CK has none at all."""
    kernel = load("mlstm_chunkwise")

    with pytest.raises(KprofError, match="ck has no implementation of mlstm_chunkwise") as caught:
        find(kernel, "ck", kernel.problem("gfx942"), "gfx942", {})

    assert caught.value.hint is not None
    assert "mlstm_chunkwise_d64" in caught.value.hint


@pytest.mark.triton
def test_unsupported_architecture_is_the_reason() -> None:
    """8-bit floats on gfx90a: the kernel's own words."""
    kernel = load("rmsnorm_residual_fp8")

    with pytest.raises(KprofError, match="gfx90a has no 8-bit float instructions"):
        find(kernel, "triton", kernel.problem("gfx90a"), "gfx90a", {})


@pytest.mark.triton
def test_triton_runs_with_the_architectures_defaults() -> None:
    """And the user's knobs on top."""
    kernel = load("layernorm_backward")

    found = find(kernel, "triton", kernel.problem("gfx950"), "gfx950", {"ROWS": 8})

    assert (found.config["GROUPS"], found.config["ROWS"]) == (512, 8)
