"""Compare results with a reference, on the device, and find the worst element."""

from collections.abc import Mapping
from typing import Any

from kprof.bench.document import Error

_SLAB = 1 << 24
"""Number of elements compared at a time, so that no float64 copies of a whole large output are needed."""


def compare(got: Any, expected: Any, tolerance: tuple[float, float], name: str = "output") -> Error:
    """Return how far a tensor is from its reference.

    An element is correct when ``|got - expected| <= atol + rtol * |expected|``, or if both are the same infinity or
    NaN.

    Args:
        got: result of any dtype.
        expected: reference of the same shape.
        tolerance: ``(rtol, atol)``.
        name: name of the output.
    """
    rtol, atol = tolerance
    shape = list(expected.shape)
    base = {"output": name, "shape": list(got.shape), "rtol": rtol, "atol": atol, "elements": expected.numel()}
    if list(got.shape) != shape:
        nothing: dict[str, Any] = {"max_absolute": None, "relative": None, "worst_ratio": None}
        return Error(**base, **nothing, index=[], got=None, expected=None, mismatched=expected.numel())
    if not expected.numel():
        same: dict[str, Any] = {"max_absolute": 0.0, "relative": None, "worst_ratio": 0.0}
        return Error(**base, **same, index=[], got=None, expected=None, mismatched=0)
    left, right = got.contiguous().view(-1), expected.contiguous().view(-1)
    found = _Worst()
    for start in range(0, right.numel(), _SLAB):
        found.add(left[start : start + _SLAB].double(), right[start : start + _SLAB].double(), rtol, atol, start)
    return Error(
        **base,
        max_absolute=_finite(found.absolute),
        relative=_finite((found.difference / found.norm) ** 0.5) if found.norm else None,
        worst_ratio=_finite(found.ratio),
        index=_unravel(found.at, shape),
        got=_finite(found.got),
        expected=_finite(found.expected),
        mismatched=found.mismatched,
    )


def compare_all(got: Mapping[str, Any], expected: Mapping[str, Any], tolerance: tuple[float, float]) -> list[Error]:
    """Compare the outputs that both sides have; a provider may lack outputs that it does not compute.

    Raises:
        ValueError: the two sides have no output in common.
    """
    common = [name for name in expected if name in got]
    if not common:
        raise ValueError(f"no output to compare: got {sorted(got)}, the reference has {sorted(expected)}")
    return [compare(got[name], expected[name], tolerance, name) for name in common]


def is_right(error: Error) -> bool:
    """Return whether every element is within its tolerance."""
    return error.mismatched == 0 and error.worst_ratio is not None


def describe(error: Error) -> str:
    """Describe the worst element in words."""
    if not error.index and error.got is None and error.mismatched == error.elements:
        return f"{error.output} has shape {tuple(error.shape)}, which is not the reference's"
    where = f"{error.output}[{', '.join(map(str, error.index))}]"
    ratio = "not a number" if error.worst_ratio is None else f"{error.worst_ratio:.3g} times the tolerance"
    return (
        f"{error.output} {tuple(error.shape)}: {error.mismatched:,} of {error.elements:,} elements are wrong; worst is "
        f"{where}: expected {_text(error.expected)}, got {_text(error.got)} ({ratio}: "
        f"{error.atol:.3g} + {error.rtol:.3g} x |expected|)"
    )


class _Worst:
    """Running maximum of the error over the slabs, the parts in which an output is compared."""

    def __init__(self) -> None:
        self.ratio, self.at, self.got, self.expected = float("-inf"), 0, float("nan"), float("nan")
        self.absolute = self.difference = self.norm = 0.0
        self.mismatched = 0

    def add(self, left: Any, right: Any, rtol: float, atol: float, start: int) -> None:
        import torch

        same = (left == right) | (left.isnan() & right.isnan())
        gap = torch.where(same, 0.0, (left - right).abs())
        limit = atol + rtol * right.abs()
        ratio = torch.where(same, 0.0, gap / limit)
        # NaN compared with a number, or a nonzero gap with a limit of zero, exceeds any tolerance.
        ratio = torch.where(ratio.isnan(), torch.inf, ratio)
        self.mismatched += int((ratio > 1).sum())
        # A gap is finite if both sides are, and 0 if both are the same infinity.
        finite = torch.where(gap.isfinite(), gap, 0.0)
        self.absolute = max(self.absolute, float(gap.nan_to_num(torch.inf, torch.inf).max()))
        self.difference += float(finite.square().sum())
        self.norm += float(torch.where(right.isfinite(), right, 0.0).square().sum())
        at = int(ratio.argmax())
        if float(ratio[at]) > self.ratio:
            self.ratio, self.at = float(ratio[at]), start + at
            self.got, self.expected = float(left[at]), float(right[at])


def _unravel(flat: int, shape: list[int]) -> list[int]:
    index: list[int] = []
    for size in reversed(shape):
        index.insert(0, flat % size)
        flat //= size
    return index


def _finite(value: float) -> float | None:
    """Return a finite number, else ``None``, because JSON has no infinity."""
    from math import isfinite

    return value if isfinite(value) else None


def _text(value: float | None) -> str:
    return "inf or nan" if value is None else f"{value:.6g}"
