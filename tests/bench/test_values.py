"""What the numbers in a kernel's inputs are."""

import pytest

from kprof.api.measure import measure
from kprof.bench.values import VALUES, refilled
from kprof.errors import KprofError

torch = pytest.importorskip("torch", reason="inputs are tensors")


@pytest.fixture
def given():
    """Floats of several widths, a transposed view, whole numbers and a list."""
    base = torch.full((4, 6), 7.0)
    return {
        "half": torch.full((8, 8), 7.0, dtype=torch.float16),
        "byte": torch.full((8, 8), 7.0).to(torch.float8_e4m3fnuz),
        "view": base.t(),
        "lengths": torch.arange(5),
        "pair": [torch.full((3,), 7.0), "text"],
    }


@pytest.mark.parametrize("values", VALUES)
def test_floats_are_replaced_and_nothing_else(given, values):
    """Shape, strides, type and whole numbers stay; what is drawn is what was asked for."""
    kept = {name: value.stride() for name, value in given.items() if isinstance(value, torch.Tensor)}
    made = refilled(given, values, 3)
    assert made["lengths"].tolist() == [0, 1, 2, 3, 4]
    assert made["pair"][1] == "text"
    assert {name: made[name].stride() for name in kept} == kept
    half = made["half"].float()
    expected = {
        "own": lambda: bool((half == 7).all()),
        "zeros": lambda: bool((half == 0).all()),
        "same": lambda: bool((half == 2).all()),
        "integers": lambda: bool((half == half.round()).all() and half.min() >= -8 and half.max() <= 7),
        "normal": lambda: bool((half != half.round()).any() and abs(half.mean()) < 0.5 and 0.5 < half.std() < 1.5),
    }
    assert expected[values]()
    assert made["byte"].dtype == torch.float8_e4m3fnuz
    assert bool((made["byte"].float() == 7).all()) == (values == "own")
    assert bool((made["pair"][0] == 7).all()) == (values == "own")


def test_the_same_seed_draws_the_same(given):
    """And another one others."""
    first = refilled({"x": given["half"].clone()}, "normal", 1)["x"]
    again = refilled({"x": given["half"].clone()}, "normal", 1)["x"]
    other = refilled({"x": given["half"].clone()}, "normal", 2)["x"]
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_an_unknown_kind_is_refused():
    """Before a GPU is looked for."""
    with pytest.raises(KprofError, match="did you mean 'zeros'"):
        measure("gemm", inputs="zeroes")
