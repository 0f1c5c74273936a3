"""Which operators count as alike, and how their results are spread over a GPU."""

import re

import pytest

from kprof.hardware.machine import find_product
from kprof_analyzers.profiles.timeline.operators.arguments import Argument, Work
from kprof_analyzers.profiles.timeline.operators.rooflines import limits_of_product, work_of
from kprof_analyzers.whole_step.efficiency import efficiencies, operator_time
from kprof_analyzers.whole_step.kinds import ResultTiles, kind_at, kind_of, kind_of_shapes, tiles_of

PICTURE = (8, 3, 224, 224)

LIMITED_BY_ARITHMETIC = re.compile(
    r"igammac?|mvlgamma|polygamma|special_(airy_ai|bessel|modified_bessel|scaled_modified|spherical_bessel|zeta"
    r"|chebyshev|hermite|laguerre|legendre|shifted_chebyshev)\w*"
)
"""Functions of torch that iterate or evaluate long polynomials: their bytes do not determine their time."""


@pytest.mark.parametrize(
    ("name", "shapes", "kind"),
    [
        ("convolution", [(1, 64, 56, 56), (64, 64, 3, 3)], "convolution"),
        ("convolution", [(1, 64, 56, 56), (128, 64, 1, 1)], "pointwise convolution"),
        ("convolution", [PICTURE, (768, 3, 16, 16)], "convolution of few channels"),
        ("convolution_backward", [(1, 8, 9, 9), (1, 4, 9, 9), (8, 4, 1, 1)], "pointwise convolution"),
        ("_softmax", [(16, 1024)], "softmax"),
        ("_softmax", [(16, 1025)], "long softmax"),
        ("native_layer_norm", [(16, 4096)], "norm"),
        ("native_batch_norm", [(8, 64, 56, 56)], "batch norm"),
        ("cumsum", [(15,)], "scan"),
        ("sort", [(15,)], "sort"),
        ("topk", [(15,)], "sort"),
        ("histc", [(15,)], "count"),
        ("linalg_qr", [(15,)], ""),
    ],
)
def test_kinds(name, shapes, kind):
    assert kind_of_shapes(f"aten::{name}", shapes) == kind


def test_all_that_torch_calls_pointwise_is_known():
    """Except functions that are limited by their arithmetic, which no table of times covers."""
    torch = pytest.importorskip("torch")
    unknown, seen = [], 0
    for schema in torch._C._jit_get_all_schemas():
        _, _, name = schema.name.partition("aten::")
        packet = getattr(torch.ops.aten, name, None) if name else None
        overload = getattr(packet, schema.overload_name or "default", None)
        if overload is None or torch.Tag.pointwise not in overload.tags:
            continue
        # Operators that torch composes of others are recorded as those.
        if torch._C._dispatch_has_kernel_for_dispatch_key(overload.name(), "CompositeImplicitAutograd"):
            continue
        seen += 1
        if not kind_of(schema.name) and not LIMITED_BY_ARITHMETIC.fullmatch(name.rstrip("_")):
            unknown.append(schema.name)
    assert seen > 400
    assert unknown == []


def test_what_memory_limits_is_of_another_kind():
    assert kind_at("product", "HBM") == "thin product"
    assert kind_at("attention", "HBM") == "short attention"
    assert kind_at("product", "matrix_bf16") == "product"
    assert kind_at("copy", "HBM") == "copy"


@pytest.mark.parametrize(
    ("name", "shapes", "flop", "tiles"),
    [
        ("mm", [(300, 64), (64, 257)], None, ResultTiles(3 * 3, 257, depth=64)),
        ("mm", [(32, 64), (64, 257)], None, ResultTiles(3, 257)),
        ("addmm", [(257,), (300, 64), (64, 257)], None, ResultTiles(3 * 3, 257, depth=64)),
        ("bmm", [(5, 128, 64), (5, 64, 128)], None, ResultTiles(5, 128, depth=64)),
        ("_flash_attention_forward", [(2, 130, 3, 64)] * 3, None, ResultTiles(2 * 3 * 2, 0)),
        ("_scaled_dot_product_flash_attention", [(2, 3, 130, 64)] * 3, None, ResultTiles(2 * 3 * 2, 0)),
        ("native_batch_norm", [(10, 64, 56, 56), (64,), (64,)], None, ResultTiles(64, 0)),
        ("native_layer_norm", [(8, 16, 32), (32,), (32,)], None, ResultTiles(8 * 16, 0)),
        ("native_layer_norm", [(8, 16, 32)], None, None),
        ("native_layer_norm_backward", [(8, 16, 32), (8, 16, 32), (8, 16, 1), (8, 16, 1)], None, ResultTiles(128, 0)),
        ("native_group_norm", [(8, 16, 32, 32), (16,), (16,)], None, None),
        ("native_group_norm_backward", [(8, 16, 32), (8, 16, 32), (8, 4), (8, 4)], None, ResultTiles(32, 0)),
        ("add", [(4, 4), (4, 4)], None, None),
        ("mm", [(4, 4), (5, 4)], None, None),
    ],
)
def test_tiles(name, shapes, flop, tiles):
    assert tiles_of(f"aten::{name}", shapes, flop) == tiles


def test_tiles_of_a_convolution_follow_from_its_operations():
    """The pixels of the result are those that its formula finds from stride and padding."""
    given = [Argument(shape, "float") for shape in (PICTURE, (768, 3, 16, 16), (768,))]
    given += [Argument((), "scalarlist", words) for words in ("[16, 16]", "[0, 0]", "[1, 1]")]
    given += [Argument((), "scalar", "False"), Argument((), "scalarlist", "[0, 0]"), Argument((), "scalar", "1")]
    work = work_of("aten::convolution", given)
    assert tiles_of("aten::convolution", [PICTURE, (768, 3, 16, 16), (768,)], work.flop) == ResultTiles(
        -(-8 * 14 * 14 // 128) * 6, 768, 1
    )


def test_a_backward_pass_of_a_convolution_is_two_products():
    shapes = [(2, 64, 28, 28), (2, 64, 28, 28), (64, 64, 3, 3)]
    both = 2 * 2 * (2 * 64 * 28 * 28) * (64 * 9)
    assert tiles_of("aten::convolution_backward", shapes, both) == ResultTiles(13, 64, 2)
    assert tiles_of("aten::convolution_backward", shapes, both // 2) == ResultTiles(13, 64, 1)


def test_fewer_tiles_than_compute_units_reach_less():
    one = efficiencies("MI300X")["convolution"]
    assert one.filled > 0
    assert one.reached(ResultTiles(304, 512), 304) == one.share == one.reached(None, 304)
    assert one.reached(ResultTiles(38, 512), 304) < one.reached(ResultTiles(76, 512), 304) < one.share
    assert one.reached(ResultTiles(304, 64), 304) < one.share
    assert one.time_us(0.0, ResultTiles(304, 64, 2), 304) == 2 * one.floor_us


def test_a_deep_product_takes_longer_than_its_work():
    """On an MI355X 1.75 ns for each element of the depth, unless few rows have it split over workgroups."""
    one = efficiencies("MI355X")["thin product"]
    shallow, deep = (ResultTiles(16, 2048, depth=depth) for depth in (0, 4096))
    assert one.time_us(2.0, deep, 256) - one.time_us(2.0, shallow, 256) == pytest.approx(4.096 * one.depth_ns)
    assert one.depth_ns > 0
    assert efficiencies("MI300X")["thin product"].depth_ns == 0


def test_batches_of_products_reach_what_products_of_their_type_reach():
    gpu = find_product("MI355X")
    work = Work(2 * 128 * 4096 * 2880 * 5760, 1, "matrix_fp32")
    batch, single = (operator_time(kind, work, limits_of_product(gpu)) for kind in ("batched product", "product"))
    assert 0.9 < batch.us / single.us <= 1
