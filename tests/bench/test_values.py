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


def test_numbers_at_many_places_are_left_alone():
    """An expanded tensor has one number for several elements. A single element may have any stride."""
    expanded = torch.full((4, 1), 7.0).expand(4, 6)
    both = torch.full((1, 1), 7.0).expand(4, 6)
    one = torch.full((4, 1), 7.0).as_strided((4, 1), (1, 0))
    made = refilled({"expanded": expanded, "both": both, "one": one, "scalar": torch.tensor(7.0)}, "zeros", 0)
    assert bool((made["expanded"] == 7).all())
    assert bool((made["both"] == 7).all())
    assert bool((made["one"] == 0).all())
    assert float(made["scalar"]) == 0


def test_whole_numbers_are_drawn_from_all_of_minus_8_to_7():
    """Of 4,000 draws each of 16 numbers is missing with a chance of 16 * (15 / 16) ** 4000."""
    made = refilled({"x": torch.zeros(4000)}, "integers", 0)["x"]
    assert sorted(set(made.tolist())) == list(range(-8, 8))


def test_all_tensors_of_a_device_are_drawn_one_after_the_other():
    """Two inputs of one shape are not the same numbers; tuples stay tuples."""
    made = refilled({"a": torch.zeros(64), "b": (torch.zeros(64), 3)}, "normal", 5)
    assert isinstance(made["b"], tuple)
    assert made["b"][1] == 3
    assert not torch.equal(made["a"], made["b"][0])
    generator = torch.Generator().manual_seed(5)
    assert torch.equal(made["a"], torch.randn(64, generator=generator))
