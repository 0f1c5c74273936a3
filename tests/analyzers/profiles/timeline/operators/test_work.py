"""Operations and bytes of operators, against torch's own counter and by hand."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof_analyzers.profiles.timeline.operators.arguments import Argument, Work, arguments
from kprof_analyzers.profiles.timeline.operators.convolutions import output_dims, transposed_output_dims
from kprof_analyzers.profiles.timeline.operators.rooflines import FORMULAS, triton_work, work_of

extents = st.integers(1, 64)
BF16 = "c10::BFloat16"


def shaped(*dims, values=None, types=BF16):
    """Arguments as a trace has them."""
    names = [types if shape else "Scalar" for shape in dims]
    return arguments(json.dumps(dims), json.dumps(names), json.dumps(values) if values else None)


@pytest.mark.parametrize("dims", ["[" * 50_000, "[" * 50_000 + "]" * 50_000, "[[4, 4], [\udcff]]", "[1e999]", "no"])
def test_arguments_that_are_no_lists_are_none(dims):
    """Text of a trace that is nested too deep is one of them."""
    assert arguments(dims, '["float"]') == ()
    assert Argument((4,), "float", dims).integers() is None


@given(st.integers(1, 4), extents, extents, extents)
def test_products_count_as_torch_counts_them(batch, m, n, k):
    """2 M N K for every form of a product; bytes once for each matrix."""
    flops = pytest.importorskip("torch.utils.flop_counter")
    plain, batched = flops.mm_flop([m, k], [k, n]), flops.bmm_flop([batch, m, k], [batch, k, n])
    moved = 2 * (m * k + k * n + m * n)

    assert work_of("aten::mm", shaped([m, k], [k, n])) == Work(plain, moved, "matrix_bf16")
    assert work_of("aten::addmm", shaped([n], [m, k], [k, n])) == Work(plain, moved + 2 * n, "matrix_bf16")
    assert work_of("aten::linear", shaped([m, k], [n, k])) == Work(plain, moved, "matrix_bf16")
    assert work_of("_rocm_C::wvSplitK", shaped([n, k], [m, k])) == Work(plain, moved, "matrix_bf16")
    assert work_of("aten::bmm", shaped([batch, m, k], [batch, k, n])) == Work(batched, batch * moved, "matrix_bf16")


@given(
    st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3),
    st.integers(8, 20), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2), st.integers(1, 2),
)  # fmt: skip
def test_convolutions_count_as_torch_counts_them(batch, inputs, outputs, groups, size, taps, stride, padding, dilation):
    """Shape of the result by torch's own meta kernel, operations by its counter; padding is read for nothing."""
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import conv_flop_count

    x, weight = [batch, inputs * groups, size, size], [outputs * groups, inputs, taps, taps]
    steps = [stride, stride], [padding, padding], [dilation, dilation]
    result = torch.nn.functional.conv2d(
        torch.empty(x, device="meta"), torch.empty(weight, device="meta"), None, *steps, groups
    ).shape

    assert output_dims(x, weight, *steps) == tuple(result)
    values = ["", "", "", *map(str, steps), "False", "[0, 0]", str(groups)]
    found = work_of("aten::convolution", shaped(x, weight, [], [], [], [], [], [], [], values=values))
    assert found is not None
    assert found.flop == conv_flop_count(x, weight, list(result))


@given(
    st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3),
    st.integers(2, 9), st.integers(1, 4), st.integers(1, 3), st.integers(0, 1), st.integers(1, 2),
)  # fmt: skip
def test_transposed_convolutions_count_as_torch_counts_them(
    batch, inputs, outputs, groups, size, taps, stride, padding, dilation
):
    """Shape of the result by torch's own meta kernel, operations of both passes by its counter."""
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import conv_backward_flop, conv_flop_count

    x, weight = [batch, inputs * groups, size, size], [inputs * groups, outputs, taps, taps]
    more = stride - 1
    if (size - 1) * stride - 2 * padding + dilation * (taps - 1) + more + 1 < 1:
        assert transposed_output_dims(x, weight, [[stride], [padding], [dilation], [more]], groups) is None
        return
    result = torch.nn.functional.conv_transpose2d(
        torch.empty(x, device="meta"), torch.empty(weight, device="meta"), None, stride, padding,
        more if more < max(stride, dilation) else 0, groups, dilation,
    ).shape  # fmt: skip

    steps = [[stride, stride], [padding], [dilation, dilation], [more, more]]
    assert transposed_output_dims(x, weight, steps, groups) == tuple(result)
    values = ["", "", "", *map(str, steps[:3]), "True", str(steps[3]), str(groups)]
    found = work_of("aten::convolution", shaped(x, weight, [], [], [], [], [], [], [], values=values))
    assert found is not None
    assert found.flop == conv_flop_count(x, weight, list(result), transposed=True)

    values = ["", "", "", "", *map(str, steps[:3]), "True", str(steps[3]), str(groups), "[True, True, False]"]
    backward = work_of("aten::convolution_backward", shaped(list(result), x, weight, *[[]] * 8, values=values))
    assert backward is not None
    if groups == 1:
        # Torch's counter takes shapes for tensors, and counts no groups in a backward pass.
        mask = [True, True, False]
        made = [x, weight, [outputs]]
        assert backward.flop == conv_backward_flop(
            list(result), x, weight, None, None, None, None, True, None, groups, mask, out_val=made
        )


@given(st.integers(1, 3), st.integers(1, 8), st.integers(1, 64), st.integers(1, 64), st.integers(8, 64))
def test_attention_counts_as_torch_counts_it(batch, heads, queries, keys, size):
    """Without a mask; torch's counter does not know that causal attention has half the work."""
    flops = pytest.importorskip("torch.utils.flop_counter")
    q, k = [batch, heads, queries, size], [batch, heads, keys, size]
    forward = work_of(
        "aten::_scaled_dot_product_flash_attention", shaped(q, k, k, [], [], values=["", "", "", "0.", "False"])
    )
    assert forward is not None
    assert forward.flop == flops.sdpa_flop_count(q, k, k)
    assert forward.assumed == ""

    given = shaped(q, q, k, k, *[[]] * 8, values=[""] * 11 + ["False"])
    backward = work_of("aten::_scaled_dot_product_flash_attention_backward", given)
    assert backward is not None
    assert backward.flop == flops.sdpa_backward_flop_count(q, q, k, k)


@given(st.integers(1, 3), st.integers(1, 8), st.integers(1, 40), st.integers(1, 40))
def test_causal_attention_counts_the_scores_that_are_seen(batch, heads, queries, keys):
    """Against a mask drawn in full."""
    q, k = [batch, queries, heads, 16], [batch, keys, heads, 16]
    values = [""] * 8 + ["True"]
    found = work_of("aten::_flash_attention_forward", shaped(q, k, k, *[[]] * 6, values=values))
    seen = sum(1 for i in range(queries) for j in range(keys) if j <= i)
    assert found is not None
    assert found.flop == batch * heads * seen * 4 * 16


def test_attention_over_packed_sequences_has_no_work():
    """Their lengths are in a tensor: no number rather than one of the sum's square."""
    packed = [4096, 16, 128]
    assert work_of("aten::_flash_attention_forward", shaped(packed, packed, packed, [9], [9], [], [])) is None


def test_element_wise_operators_read_and_write():
    """A broadcast operand is read once; the result has the common shape."""
    assert work_of("aten::add", shaped([8, 1, 64], [1, 32, 64], [])) == Work(None, 2 * (512 + 2048 + 16384))
    assert work_of("aten::add_", shaped([8, 64], [64])) == Work(None, 2 * (512 + 64 + 512))
    assert work_of("aten::copy_", shaped([8, 64], [8, 64])) == Work(None, 2 * 1024)
    assert work_of("aten::add", shaped([8, 3], [8, 5])) is None


def test_triton_kernels_move_what_they_are_given():
    """Scalars count for nothing; a kernel without shapes has no work."""
    found = triton_work(shaped([32, 64], [64], [], [32, 64]))
    assert found is not None
    assert found.bytes == 2 * (2048 + 64 + 2048)
    assert found.flop is None
    assert triton_work(()) is None


@given(st.sampled_from(sorted(FORMULAS)), st.lists(st.lists(st.integers(0, 5), max_size=5), max_size=12))
def test_no_arguments_break_a_formula(name, dims):
    """A trace may hold anything: no work, or work that is not negative."""
    found = work_of(name, shaped(*dims))
    assert found is None or (found.flop or 0) >= 0
    assert found is None or (found.bytes or 0) >= 0


@pytest.mark.parametrize(
    ("dims", "types"),
    [
        (None, None),
        ("[[1,2]]", None),
        ("[[1,2]]", '["float","float"]'),
        ("[[1,-2]", '["float"]'),
        ("{}", "[]"),
        ("not JSON", "[]"),
    ],
)
def test_shapes_that_cannot_be_read_are_none(dims, types):
    """Nothing is guessed."""
    assert arguments(dims, types) == ()


def test_extents_that_are_no_extents_are_none():
    """Negative, huge and nested ones: the argument stays, without a shape."""
    found = arguments('[[1,-2],[4611686018427387904],[[1]],"x"]', '["float","float","float",7]')
    assert found == (Argument((), "float"), Argument((), "float"), Argument((), "float"), Argument((), ""))
