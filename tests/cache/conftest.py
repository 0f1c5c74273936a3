"""Fixtures shared with the tests of the compiler."""

from tests.compiler.conftest import add_request, pool, write  # noqa: F401
