"""The random state of the simulated GPU: what is kept of it, and how much."""

import pytest

torch = pytest.importorskip("torch")

from kprof.recording import torch_random  # noqa: E402
from kprof.recording.torch_random import PhiloxState  # noqa: E402


def test_old_states_are_forgotten(monkeypatch):
    """A program that moves the offset with each of its kernels takes no more memory after the first thousands."""
    monkeypatch.setattr(torch_random, "_MOST_STATES", 8)
    source = torch.Generator()
    state = PhiloxState(source)
    state.manual_seed(1)
    for offset in range(4, 400, 4):
        state.go_to(1, offset)
        assert state.offset() == offset
    assert len(state._states) == len(state._offsets) == 8
    # Forgotten, it is the same made-up state again.
    state.go_to(1, 4)
    first = torch.rand(3, generator=source)
    state.go_to(1, 4)
    assert torch.equal(torch.rand(3, generator=source), first)


def test_a_source_that_somebody_seeded_is_not_at_its_beginning():
    """Numbers may have been drawn since; a seed that is set here is."""
    source = torch.Generator()
    state = PhiloxState(source)
    source.manual_seed(5)
    torch.rand(4, generator=source)
    assert state.seed() == 5
    assert state.offset() > 0
    state.manual_seed(5)
    assert state.offset() == 0
