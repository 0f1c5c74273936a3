"""Solving with Cholesky's root, against numpy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.tuning.residuals import backward, diagonal_of_inverse, forward, root_of

numpy = pytest.importorskip("numpy")


@given(st.integers(1, 8), st.integers(0, 1000))
def test_it_solves_as_numpy_does(size, seed):
    drawn = numpy.random.default_rng(seed).normal(size=(size, size))
    rows = drawn @ drawn.T + numpy.eye(size)
    root = root_of(rows.tolist())
    for i, row in enumerate(root):
        assert numpy.allclose(row, numpy.linalg.cholesky(rows)[i, : i + 1])
    right = drawn[0].tolist()
    assert numpy.allclose(backward(root, forward(root, right)), numpy.linalg.solve(rows, right))
    assert numpy.allclose(diagonal_of_inverse(root), numpy.diag(numpy.linalg.inv(rows)))
