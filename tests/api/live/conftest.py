"""Sessions that end with their test."""

from collections.abc import Iterator

import pytest

from kprof.api.live.session import Session


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """A session of one process, shared by a file's tests."""
    with Session(jobs=1, timeout=120) as running:
        yield running
