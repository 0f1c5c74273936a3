"""What torch's operators have to do, against torch's own count of their operations."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.captures.model import CapturedOperator, TensorInfo, TensorList
from kprof.recording.operator_calls import called
from kprof_analyzers.whole_step.kinds import _KINDS, kind_of
from kprof_analyzers.whole_step.operator_work import shapes_text, work_of_call

BF16 = 2


def tensor(*shape: int, dtype: str = "bfloat16") -> TensorInfo:
    strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    return TensorInfo(dtype, shape, strides)


def recorded(function, *args, **kwargs):
    """A call as it is recorded, and torch's count of its operations."""
    torch = pytest.importorskip("torch")
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.flop_counter import FlopCounterMode

    from kprof.captures.arguments import argument

    calls = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            told = called(func, args, kwargs or {}, out)
            inputs, outputs = (tuple(map(argument, told[name])) for name in ("inputs", "outputs"))
            calls.append(CapturedOperator(told["name"], inputs, outputs))
            return out

    with FlopCounterMode(display=False) as counter, Watch():
        function(*args, **kwargs)
    assert torch is not None
    return calls, counter.get_total_flops()


def test_operations_are_those_that_torch_counts():
    torch = pytest.importorskip("torch")
    x, w, b = torch.ones(96, 64), torch.ones(64, 128), torch.ones(128)
    image, kernel = torch.ones(2, 8, 10, 10), torch.ones(4, 8, 3, 3)
    for function, arguments in (
        (torch.mm, (x, w)),
        (torch.addmm, (b, x, w)),
        (torch.bmm, (torch.ones(3, 8, 16), torch.ones(3, 16, 4))),
        (torch.nn.functional.conv2d, (image, kernel)),
    ):
        calls, counted = recorded(function, *arguments)
        works = [work_of_call(call) for call in calls]
        assert counted > 0
        assert sum(one.work.flop or 0 for one in works if one is not None) == counted, function


def test_attention_does_what_its_two_products_do():
    torch = pytest.importorskip("torch")
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q = torch.ones(2, 4, 32, 16, dtype=torch.bfloat16)
    with sdpa_kernel(SDPBackend.MATH):
        _, counted = recorded(torch.nn.functional.scaled_dot_product_attention, q, q, q)
    calls, _ = recorded(torch.nn.functional.scaled_dot_product_attention, q, q, q)
    (fused,) = [one for one in calls if one.name.endswith("_for_cpu")]
    assert work_of_call(fused).work.flop == counted > 0


def test_defaults_of_the_schema_are_recorded_in_their_places():
    torch = pytest.importorskip("torch")
    calls, _ = recorded(torch.addmm, torch.ones(4), torch.ones(2, 3), torch.ones(3, 4), alpha=2)
    (call,) = [one for one in calls if one.name == "aten::addmm"]
    assert call.inputs[3:] == (1, 2)  # beta is the schema's, alpha was given


def test_bytes_of_what_only_moves_memory():
    x = tensor(4096, 1024)
    size = 4096 * 1024 * BF16
    for name, inputs, outputs, expected in (
        ("aten::mul", (x, x), (x,), 3 * size),
        ("aten::gelu", (x, "none"), (x,), 2 * size),
        ("aten::zeros_like", (x,), (x,), size),
        ("aten::_to_copy", (x, "torch.float32"), (tensor(4096, 1024, dtype="float32"),), 3 * size),
        ("aten::copy_", (x, x), (x,), 2 * size),
        ("aten::sum", (x, [0]), (tensor(1024),), size + 1024 * BF16),
        (
            "aten::embedding",
            (tensor(50_000, 64), tensor(8, dtype="int64")),
            (tensor(8, 64),),
            64 + 2 * 8 * 64 * BF16,
        ),
        ("aten::_foreach_mul_", (TensorList("float32", 3, 1000), 0.9), (), 8000),
        # Parameters, gradients and two moments of 4,000 bytes are read, all but the gradients written.
        ("aten::_fused_adamw_", (*[TensorList("float32", 3, 1000)] * 4, 0.1), (), 28_000),
        ("aten::_foreach_sqrt", (TensorList("float32", 3, 1000),), (TensorList("float32", 3, 1000),), 8000),
    ):
        found = work_of_call(CapturedOperator(name, inputs, outputs))
        assert found is not None, name
        assert (found.work.flop, found.work.bytes) == (None, expected), name


def test_batches_of_small_products_are_told_apart():
    for shapes, kind in (
        (((4096, 4096), (4096, 4096)), "product"),
        (((1, 4096), (4096, 4096)), "product"),
        (((99, 8, 64), (99, 64, 8)), "small products"),
        (((99, 8, 64), (99, 64, 512)), "small products"),
        (((99, 16, 64), (99, 64, 512)), "batched product"),
    ):
        name = "aten::mm" if len(shapes[0]) == 2 else "aten::bmm"
        call = CapturedOperator(name, tuple(tensor(*shape) for shape in shapes), ())
        assert work_of_call(call).kind == kind, shapes


def test_grouped_products_do_as_many_operations_as_torch_counts():
    torch = pytest.importorskip("torch")
    experts, rows, k, n = 4, 64, 32, 16
    a, b = (torch.ones(*shape, dtype=torch.bfloat16) for shape in ((rows, k), (experts, k, n)))
    offsets = torch.tensor([16, 16, 48, 64], dtype=torch.int32)
    calls, _ = recorded(torch._grouped_mm, a, b, offs=offsets)
    (call,) = [one for one in calls if one.name == "aten::_grouped_mm"]
    found = work_of_call(call)
    # Each row meets the matrix of its group once, whichever that is.
    _, counted = recorded(torch.mm, a, b[0])
    assert found.work.flop == counted > 0
    assert found.work.bytes == BF16 * (rows * k + experts * k * n + rows * n)


def test_a_group_without_rows_is_not_read():
    call = CapturedOperator("aten::_grouped_mm", (tensor(2, 32), tensor(128, 32, 16), tensor(128, dtype="int32")), ())
    assert work_of_call(call).work.bytes == BF16 * (2 * 32 + 2 * 32 * 16 + 2 * 16)
    assert work_of_call(CapturedOperator("aten::_grouped_mm", (tensor(2, 32), tensor(8, 31, 16)), ())) is None


def test_what_is_put_into_a_tensor_leaves_the_rest_alone():
    whole, rows, at = tensor(1000, 64), tensor(8, 64), tensor(8, dtype="int64")
    inputs = (whole, 0, at, rows)
    put = 2 * (8 * 8 + 8 * 64 * BF16)
    assert work_of_call(CapturedOperator("aten::index_add_", inputs, (whole,))).work.bytes == put
    copied = work_of_call(CapturedOperator("aten::index_add", inputs, (whole,))).work.bytes
    assert copied == put + 2 * 1000 * 64 * BF16


def test_what_is_not_known_has_no_work():
    x = tensor(16, 16)
    assert work_of_call(CapturedOperator("aten::linalg_qr", (x,), (x, x))) is None
    assert work_of_call(CapturedOperator("aten::mm", (x, tensor(8, 8)), (x,))) is None
    assert work_of_call(CapturedOperator("aten::_to_copy", (x,), (x,), from_host=True)) is None
    assert kind_of("aten::linalg_qr") == kind_of("mine::thing") == ""


@given(st.lists(st.integers(1, 64), min_size=1, max_size=4), st.integers(1, 50))
def test_lists_weigh_as_much_as_their_tensors(extents, count):
    """An optimizer's operator on a list has the work of one on each tensor."""
    one = tensor(*extents, dtype="float32")
    listed = TensorList("float32", count, count * math.prod(extents))
    single = work_of_call(CapturedOperator("aten::sqrt", (one,), (one,)))
    many = work_of_call(CapturedOperator("aten::_foreach_sqrt", (listed,), (listed,)))
    assert many.work.bytes == count * single.work.bytes


@given(
    st.sampled_from(["aten::mm", "aten::mul", "aten::_foreach_mul_", "aten::embedding", "aten::sum", "aten::bmm"]),
    st.lists(st.lists(st.integers(-(10**400), 10**400), max_size=4), min_size=1, max_size=3),
)
def test_impossible_extents_have_no_work(name, shapes):
    """A capture may come from a stranger."""
    inputs = tuple(TensorInfo("float32", tuple(shape), ()) for shape in shapes)
    work = work_of_call(CapturedOperator(name, inputs, inputs))
    assert work is None or 0.0 <= float(work.work.bytes) < math.inf


@pytest.mark.parametrize("inputs", [(), (None,), (tensor(4),), ("a", 1, None), (tensor(4, 4), 2.0, [1])])
def test_damaged_calls_of_known_operators_have_some_work_or_none(inputs):
    """A recording may have lost a call's arguments."""
    for name in _KINDS:
        found = work_of_call(CapturedOperator(name, inputs, ()))
        assert found is None or (found.work.bytes or 0) >= 0, name


def test_shapes_in_words():
    assert shapes_text((tensor(4, 2), None, 3, tensor())) == "4x2 scalar"
    assert shapes_text((TensorList("float32", 2, 4096),)) == "2 tensors of 4,096 in all"


@pytest.mark.parametrize(
    ("name", "dtype", "passes", "launches"),
    [
        ("sort", "float32", 5, 5),
        ("topk", "bfloat16", 3, 2),
        ("argsort", "int64", 9, 9),
        ("histc", "int64", 3, 3),
        ("mul", "int64", 1, 1),
    ],
)
def test_what_passes_over_its_keys_several_times(name, dtype, passes, launches):
    """A radix sort or selection looks at eight bits of a key in a pass; its bytes are those of one."""
    keys = TensorInfo(dtype, (10_000,), (1,))
    found = work_of_call(CapturedOperator(f"aten::{name}", (keys,), (keys,)))
    assert (found.passes, found.launches) == (passes, launches)
    assert found.work.bytes == 2 * 10_000 * {"float32": 4, "bfloat16": 2, "int64": 8}[dtype]
    assert bool(found.work.assumed) == (passes > 1)


def test_what_torch_calls_for_transforms_pools_and_resampling_has_work():
    """Names and arguments as torch itself calls them; bytes by hand: what is read and what is written."""
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    picture = torch.ones(1, 2, 8, 8)

    def call(function, *args, **kwargs):
        found = recorded(function, *args, **kwargs)[0][-1]
        work = work_of_call(found)
        return found.name.removeprefix("aten::"), kind_of(found.name), work.work.bytes, work.passes

    pooled = 4 * 2 * (64 + 16)
    assert call(functional.avg_pool2d, picture, 2) == ("avg_pool2d", "pooling", pooled, 1)
    assert call(functional.max_pool2d, picture, 2)[1:3] == ("pooling", pooled + 8 * 2 * 16)
    resampled = call(functional.interpolate, picture, scale_factor=2, mode="bilinear")
    assert resampled[1:3] == ("resampling", 4 * 2 * (64 + 256))
    transform = "Fourier transform"
    assert call(torch.fft.rfft, torch.ones(4, 64)) == ("_fft_r2c", transform, 4 * 4 * 64 + 8 * 4 * 33, 3)
    assert call(torch.fft.fft2, torch.ones(4, 64, 64, dtype=torch.complex64))[1:] == (transform, 2 * 8 * 4 * 64 * 64, 6)
    assert call(torch.randperm, 1000) == ("randperm", "sort", 8 * 1000, 9)


def test_short_rows_are_sorted_at_once():
    """Torch copies keys, writes indices and sorts: rows of up to 4,096 elements, of the named dimension or the last."""
    keys, long = tensor(8192, 4096, dtype="int64"), tensor(4096, 8192, dtype="int64")
    for arguments, kernels in (((keys,), 3), ((keys, -1, False), 3), ((keys, 0, False), 9), ((long, 0, True), 3)):
        assert work_of_call(CapturedOperator("aten::sort", arguments, (keys, keys))).launches == kernels


def test_index_put_writes_as_many_elements_as_its_indices_pick():
    """Against the elements that torch changes; the values may be a single one."""
    torch = pytest.importorskip("torch")
    at, rows = torch.tensor([1, 3, 4]), torch.tensor([[0], [2]])
    one, many = torch.ones(()), torch.ones(6, 5, 3)
    for indices, value in (((at,), one), ((None, at), one), ((None, None, at), many), ((rows, at), one)):
        x = torch.zeros(6, 5, 7)
        (call,), _ = recorded(torch.ops.aten.index_put_, x, list(indices), value)
        read = 4 * value.numel() + 8 * sum(index.numel() for index in indices if index is not None)
        if indices[0] is None or len(indices) == 1:
            assert work_of_call(call).work.bytes == read + 4 * int(x.count_nonzero()), indices
        else:
            # The shapes of several tensors are not recorded unless one dimension is left out.
            assert work_of_call(call).work.bytes > read
    twice = CapturedOperator("aten::index_put_", (*call.inputs[:3], True), call.outputs)
    assert work_of_call(twice).work.bytes > work_of_call(call).work.bytes
    assert (
        work_of_call(CapturedOperator("aten::nonzero", (tensor(64),), (tensor(9, 1, dtype="int64"),))).host_reads == 1
    )


def test_a_matrix_times_a_vector_does_as_much_as_a_product_with_one_column():
    torch = pytest.importorskip("torch")
    a, x = torch.ones(96, 64), torch.ones(64)
    _, counted = recorded(torch.mm, a, x[:, None])
    for function, arguments in ((torch.mv, (a, x)), (torch.addmv, (torch.ones(96), a, x))):
        (call,) = recorded(function, *arguments)[0]
        found = work_of_call(call)
        assert found.work.flop == counted
        assert found.work.bytes == 4 * sum(one.numel() for one in (*arguments, torch.ones(96)))


def test_distances_are_a_product_from_26_points_on():
    """The product is counted by torch's own decomposition of the distances."""
    torch = pytest.importorskip("torch")
    few, many = torch.rand(25, 30), torch.rand(40, 30)
    for points in (few, many):
        (call,) = [one for one in recorded(torch.cdist, points, points)[0] if "dist" in one.name]
        found = work_of_call(call)
        if points is few:
            assert call.name == "aten::_cdist_forward"
            assert found is None
            continue
        squares = torch.ones(40, 2)
        _, counted = recorded(torch.mm, torch.cat((points, squares), 1), torch.cat((points, squares), 1).T)
        assert found.work.flop == counted
        assert found.launches == 12


READS_AND_WRITES = {
    "fill_": 1, "mean": 1, "neg": 2, "exp_": 2, "log1p_": 2, "log_sigmoid_forward": 2, "sub_": 3, "mul_": 3,
}  # fmt: skip


@pytest.mark.parametrize("name", ["binary_cross_entropy_with_logits", "soft_margin_loss"])
def test_composed_losses_have_the_kernels_that_the_profiler_sees(name):
    torch = pytest.importorskip("torch")
    x, y = torch.rand(64, 64), torch.rand(64, 64)
    function = getattr(torch.nn.functional, name)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as seen:
        function(x, y)

    def kernels(event):
        transfers = READS_AND_WRITES.get(event.name.removeprefix("aten::"))
        return [transfers] if transfers else [one for child in event.cpu_children for one in kernels(child)]

    counted = [one for event in seen.events() if event.cpu_parent is None for one in kernels(event)]
    (call,) = [one for one in recorded(function, x, y)[0] if one.name == f"aten::{name}"]
    found = work_of_call(call)
    assert found.launches == len(counted)
    assert found.work.bytes == sum(counted) * x.numel() * 4


def test_a_bag_reads_all_its_rows_and_writes_their_sum():
    torch = pytest.importorskip("torch")
    table, rows = torch.rand(1000, 64), torch.randint(0, 1000, (16, 10))
    calls, _ = recorded(torch.nn.functional.embedding_bag, rows, table, mode="sum")
    (call,) = [one for one in calls if "embedding_bag" in one.name]
    found = work_of_call(call)
    assert found.kind == "gather"
    written = sum(math.prod(one.shape) * (8 if one.dtype == "int64" else 4) for one in call.outputs)
    assert found.work.bytes == 16 * 10 * 64 * 4 + 16 * 10 * 8 + written
