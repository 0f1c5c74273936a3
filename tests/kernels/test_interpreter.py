"""The interpreter worker judges outputs rightly, and its arithmetic on small floats is that of the hardware."""

import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("interpreter.py")

KERNEL_FILE = """
import triton
import triton.language as tl
from kprof.kernel_spec import Check, Kernel, Launch, Tensor, execute, torch_dtype


@triton.jit
def product(a_ptr, b_ptr, c_ptr, N: tl.constexpr, WRONG: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    c = tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at))
    tl.store(c_ptr + at, (c + WRONG).to(c_ptr.dtype.element_ty))


def launch(shape, config):
    tensors = {name: Tensor(shape["dtype"], (16, 16)) for name in ("a_ptr", "b_ptr", "c_ptr")}
    return Launch({**tensors, "N": 16, "WRONG": config["WRONG"]}, (1,))


def inputs(shape, device, seed):
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    return {n: torch.randn(16, 16, generator=generator).to(torch_dtype(shape["dtype"])) for n in "ab"}


def run(inputs, shape, config):
    import torch

    c = torch.empty_like(inputs["a"])
    execute(product, launch(shape, config), {"a_ptr": inputs["a"], "b_ptr": inputs["b"], "c_ptr": c}, config)
    return {"c": c}


# Half a unit in the last place: right rounding is the only way to pass. The absolute part is that of the sum.
KERNEL = Kernel(
    name="product", entry=product, summary="", launch=launch, shapes={}, config={"WRONG": 0}, run=run, inputs=inputs,
    reference=lambda inputs, shape: {"c": inputs["a"].double() @ inputs["b"].double()},
    tolerance=lambda shape: ({"bf16": 2.0**-8, "fp8e4nv": 2.0**-4, "fp8e4b8": 2.0**-4}[shape["dtype"]], 2.0**-9),
    checks={
        "bf16": Check({"dtype": "bf16"}),
        "fp8e4nv": Check({"dtype": "fp8e4nv"}),
        "fp8e4b8": Check({"dtype": "fp8e4b8"}),
        "wrong": Check({"dtype": "bf16"}, {"WRONG": 1}),
        "unknown_knob": Check({"dtype": "bf16"}, {"NOTHING": 1}),
    },
)
"""


@pytest.fixture(scope="module")
def worker() -> ModuleType:
    """The worker's module, loaded without starting it."""
    spec = spec_from_file_location("kernel_interpreter", WORKER)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.triton
def test_worker_answers_one_request_after_another(tmp_path: Path) -> None:
    """Right products of small floats pass at half a unit in the last place; wrong ones and errors are reported."""
    pytest.importorskip("torch")
    path = tmp_path / "product.py"
    path.write_text(KERNEL_FILE)
    checks = ("bf16", "fp8e4nv", "fp8e4b8", "wrong", "unknown_knob")
    requests = "".join(json.dumps({"kernel": str(path), "check": check}) + "\n" for check in checks)

    ran = subprocess.run(
        [sys.executable, str(WORKER)],
        input=requests,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
    )

    *right, wrong, failed = map(json.loads, ran.stdout.splitlines())
    assert [answer["outputs"]["c"]["ratio"] <= 1 for answer in right] == [True, True, True]
    assert wrong["outputs"]["c"]["ratio"] > 10
    assert "no knob 'NOTHING'" in failed["error"]


def test_worst_element_is_found(worker: ModuleType) -> None:
    """The element furthest outside its tolerance is named with both values."""
    torch = pytest.importorskip("torch")
    want = torch.tensor([[1.0, 100.0], [0.0, -1.0]], dtype=torch.float64)
    got = torch.tensor([[1.0, 100.5], [0.02, -1.0]])

    found = worker.worst(got, want, rtol=0.01, atol=0.01)

    assert found["ratio"] == pytest.approx(2.0)
    assert found["why"].startswith("element 2 of (2, 2): got 0.0199")


@pytest.mark.parametrize(
    ("got", "want", "passes"),
    [
        ([float("nan")], [1.0], False),
        ([1.0], [float("nan")], False),
        ([float("nan")], [float("nan")], True),
        ([float("inf")], [float("inf")], True),
        ([float("-inf")], [float("inf")], False),
        ([1e30], [float("inf")], False),
    ],
)
def test_values_that_are_not_finite(worker: ModuleType, got: list[float], want: list[float], *, passes: bool) -> None:
    """NaN and infinity only pass where the reference has the same."""
    torch = pytest.importorskip("torch")

    found = worker.worst(torch.tensor(got), torch.tensor(want).double(), rtol=0.01, atol=0.01)

    assert (found["ratio"] <= 1) == passes


def test_other_shapes_and_nothing_are_refused(worker: ModuleType) -> None:
    """An output of another shape, or of no elements, is never right."""
    torch = pytest.importorskip("torch")

    assert worker.worst(torch.ones(2), torch.ones(3), 0.1, 0.1)["ratio"] is None
    assert worker.worst(torch.ones(0), torch.ones(0), 0.1, 0.1)["ratio"] is None
