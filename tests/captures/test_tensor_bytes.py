"""Bytes of the tensors that a launch is given, against sums done by hand."""

from typing import Any

import pytest

from kprof.captures.arguments import tensor_bytes
from kprof.captures.model import TensorInfo, TensorList


@pytest.mark.parametrize(
    ("arguments", "bytes_"),
    [
        ({}, None),
        ({"n": 7, "scale": 0.5, "name": "x", "mask": None}, None),
        ({"x": TensorInfo("float16", (4, 8), (8, 1)), "y": TensorInfo("float32", (4,), (1,))}, 64 + 16),
        ({"x": TensorInfo("bfloat16", (4, 8), (100, 1))}, 64),  # gaps are not touched
        ({"x": TensorInfo("int8", (4, 8), (0, 1))}, 8),  # four times the same row
        ({"x": TensorInfo("float8_e4m3fn", (16,), (1,)), "mask": TensorInfo("bool", (16,), (1,))}, 32),
        ({"x": TensorInfo("float32", (), ())}, 4),
        ({"x": TensorInfo("float32", (0, 8), (8, 1))}, None),
        ({"each": TensorList("float32", 3, 100)}, 400),
        ({"x": TensorInfo("float16", (4,), (1,)), "places": TensorInfo("int64", (4,), (1,))}, None),  # addresses?
    ],
)
def test_no_more_than_the_tensors_hold(arguments: dict[str, Any], bytes_: int | None) -> None:
    """A stride of 0 repeats a tensor's numbers; what is no tensor holds nothing."""
    assert tensor_bytes(arguments) == bytes_
