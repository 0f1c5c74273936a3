"""Large tensors: true shapes without memory or arithmetic, compared with what torch computes."""

import subprocess
from importlib.util import find_spec

import pytest

from kprof.captures.reader import read
from tests.recording.conftest import capture_command, kprof_environment

pytestmark = [pytest.mark.triton, pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")]


def test_a_model_beyond_the_machines_memory_is_recorded(tmp_path):
    """Hundreds of gigabytes take less than one; the sizes are true, and what is not known is told."""
    result = subprocess.run(
        capture_command(tmp_path / "capture", "large.py"),
        capture_output=True,
        text=True,
        env=kprof_environment(),
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "all fine" in result.stdout
    assert float(result.stdout.partition("gigabytes ")[2].split()[0]) < 1
    capture = read(tmp_path / "capture")
    (kernel,) = capture.kernels
    assert kernel.arguments["x"].shape == (65536, 65536)
    assert kernel.arguments["n"] == 65536 * 65536
    assert capture.reads_count == 1
    assert any("have their true sizes and no values" in note for note in capture.notes)


def calls():
    """Operators with arguments: element-wise, reductions, products, several results, sizes that are given."""
    import torch

    aten = torch.ops.aten
    x, y = torch.randn(6, 8), torch.randn(8, 5)
    return [
        (aten.add.Tensor, (x, x.t().contiguous().t()), {}),
        (aten.mul.Scalar, (x, 2.0), {}),
        (aten.mm.default, (x, y), {}),
        (aten.sum.dim_IntList, (x, [1], True), {}),
        (aten.topk.default, (x, 3), {}),
        (aten.native_layer_norm.default, (x, [8], None, None, 1e-5), {}),
        (aten._softmax.default, (x, 1, False), {}),
        (aten.cat.default, ([x, x], 1), {}),
        (aten.clone.default, (x.t(),), {}),
        (aten._to_copy.default, (x,), {"dtype": torch.bfloat16}),
        (aten.embedding.default, (x, torch.tensor([1, 2])), {}),
        (aten.full.default, ([3, 4], 1.5), {}),
        (aten.randn.default, ([3, 4],), {}),
        (aten.arange.start_step, (0, 1 << 20, 2), {}),
    ]


def _device(func):
    """Factories are told where; without it their shapes would be computed on the CPU."""
    import torch

    return (
        {"device": torch.device("cpu")} if func.name().startswith(("aten::full", "aten::randn", "aten::arange")) else {}
    )


@pytest.mark.parametrize("position", range(14))
def test_shapes_are_those_that_torch_computes(position):
    """Shape, strides and type of each result."""
    import torch

    from kprof.recording.torch_large import Large

    func, args, kwargs = calls()[position]
    expected = func(*args, **kwargs)
    answer = Large(1).shapes(
        func, args, {**kwargs, "device": torch.device("cpu")} if not args else kwargs, fetches=False
    )
    assert answer is not None
    assert answer.unknown
    for ours, theirs in zip(
        *(value if isinstance(value, list | tuple) else (value,) for value in (answer.out, expected)), strict=True
    ):
        assert (ours.shape, ours.stride(), ours.dtype) == (theirs.shape, theirs.stride(), theirs.dtype)
        assert not ours.bool().any()


def test_what_changes_its_argument_gives_it_back():
    """Undone, and the argument is no longer known; a tensor on the CPU is computed."""
    import torch

    from kprof.recording.device_marks import mark, mark_of
    from kprof.recording.torch_large import Large

    aten, large = torch.ops.aten, Large(1)
    x = torch.ones(4, 4)
    assert large.shapes(aten.add_.Tensor, (x, x), {}, fetches=False) is None
    mark(x, 0)
    answer = large.shapes(aten.add_.Tensor, (x, x), {}, fetches=False)
    assert answer is not None
    assert answer.out is x
    assert mark_of(x).unknown
    assert x.sum().item() == 16


def test_views_small_tensors_and_values_that_are_needed_are_computed():
    """None of them takes memory that matters."""
    import torch

    from kprof.recording.torch_large import Large

    aten, x = torch.ops.aten, torch.ones(64, 64)
    assert Large(1).shapes(aten.t.default, (x,), {}, fetches=False) is None
    assert Large(1).shapes(aten._to_copy.default, (x,), {}, fetches=True) is None
    assert Large(1 << 20).shapes(aten.neg.default, (x,), {}, fetches=False) is None
    lengths = torch.arange(1024)
    assert Large(lengths.numel() * 8).shapes(aten.cumsum.default, (lengths, 0), {}, fetches=False) is None
    outer = Large(1 << 20).shapes(aten.mul.Tensor, (torch.ones(4096, 1), torch.ones(1, 4096)), {}, fetches=False)
    assert outer is not None
    assert outer.out.shape == (4096, 4096)
