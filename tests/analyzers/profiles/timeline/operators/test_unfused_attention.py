"""Attention in steps, found by the shapes of its operators."""

import pytest

from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorRoofline
from kprof_analyzers.profiles.timeline.operators.unfused_attention import unfused_attention

STEPS = [
    ("aten::bmm", "96x1024x64 96x64x2048"),
    ("aten::mul", "8x12x1024x2048 scalar"),
    ("aten::_softmax", "8x12x1024x2048"),
    ("aten::bmm", "96x1024x2048 96x2048x64"),
]
OTHERS = [("aten::bmm", "96x64x64 96x64x64"), ("aten::mul", "8x1024x768"), ("aten::addmm", "768 8192x768 768x768")]


def rows(*named):
    return [OperatorRoofline(name, shapes, "bf16", 1, 1, 1000) for name, shapes in named]


def names(found):
    return [(row.name, row.shapes) for row in found]


def test_the_steps_of_an_attention_are_found_in_their_order():
    """Other products and other elementwise work of the program are left out."""
    assert names(unfused_attention(rows(*OTHERS, *STEPS))) == STEPS


@pytest.mark.parametrize("left", [0, 2, 3])
def test_without_a_product_or_the_softmax_it_is_none(left):
    assert unfused_attention(rows(*STEPS[:left], *STEPS[left + 1 :], *OTHERS)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # A head that no fused attention takes, few keys (experts, classes), a softmax of rows without heads.
        ("x64", "x512"),
        ("2048", "64"),
        ("8x12x1024x2048", "98304x2048"),
        # Products of another batch.
        ("96x", "48x"),
    ],
)
def test_what_is_no_attention(old, new):
    changed = [(name, " ".join(part.replace(old, new) for part in shapes.split(" "))) for name, shapes in STEPS]
    assert unfused_attention(rows(*changed)) == []


def test_two_attentions_of_a_program():
    """Two attentions of different lengths, one of them masked, are both found."""
    second = [
        ("aten::matmul", "2x4x256x128 2x4x128x256"),
        ("aten::masked_fill", "2x4x256x256 1x1x256x256 scalar"),
        ("aten::softmax", "2x4x256x256"),
        ("aten::matmul", "2x4x256x256 2x4x256x128"),
    ]
    assert sorted(names(unfused_attention(rows(*STEPS, *second)))) == sorted([*STEPS, *second])
