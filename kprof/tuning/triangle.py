"""Cholesky's root of a matrix of covariances, and what is solved with it."""

from collections.abc import Sequence
from math import sqrt

Triangle = Sequence[Sequence[float]]
"""Rows of a lower triangle, each up to its diagonal."""


def root_of(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """The lower triangle whose product with its transpose is the symmetric matrix ``rows``."""
    root: list[list[float]] = []
    for i, row in enumerate(rows):
        made: list[float] = []
        for j in range(i + 1):
            rest = row[j] - sum(a * b for a, b in zip(made, (root[j] if j < i else made)[:j], strict=False))
            made.append(sqrt(max(rest, 1e-12)) if i == j else rest / root[j][j])
        root.append(made)
    return root


def forward(root: Triangle, right: Sequence[float]) -> list[float]:
    """The solution of ``root * x = right``."""
    found: list[float] = []
    for row, value in zip(root, right, strict=True):
        found.append((value - sum(a * b for a, b in zip(row, found, strict=False))) / row[-1])
    return found


def backward(root: Triangle, right: Sequence[float]) -> list[float]:
    """The solution of ``root.T * x = right``."""
    found = [0.0] * len(right)
    for i in reversed(range(len(right))):
        found[i] = (right[i] - sum(root[j][i] * found[j] for j in range(i + 1, len(right)))) / root[i][i]
    return found


def diagonal_of_inverse(root: Triangle) -> list[float]:
    """The diagonal of the inverse of the matrix that ``root`` is of."""
    size = len(root)
    sums = [0.0] * size
    for place in range(size):
        # A column of the root's inverse starts at its own row.
        column: list[float] = []
        for i in range(place, size):
            unit = 1.0 if i == place else 0.0
            done = sum(a * b for a, b in zip(root[i][place:i], column, strict=True))
            column.append((unit - done) / root[i][i])
        sums[place] = sum(x * x for x in column)
    return sums
