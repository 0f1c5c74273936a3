"""What a bundled case knows of its tensors reaches the model: lengths of sequences decide the time."""

import pytest

import kprof

pytestmark = pytest.mark.triton


@pytest.mark.parametrize("name", ["flash_decoding", "attention_varlen"])
def test_lengths_of_a_case_give_a_time(name):
    """No bound is assumed, and asked a second time, from what is remembered, the answer is the same."""
    first, second = (kprof.analyze(name, arch="MI300X").kernels[0].model for _ in range(2))
    assert first is not None
    assert first.time_us is not None
    assert second == first


def test_shorter_sequences_take_less():
    """Ragged: the same grid and code, and about half of the keys."""
    full, ragged = (
        kprof.analyze("flash_decoding", arch="MI300X", shape={"ragged": value}).kernels[0].model
        for value in (False, True)
    )
    assert full is not None
    assert ragged is not None
    assert full.time_us is not None
    assert ragged.time_us is not None
    assert ragged.time_us < full.time_us
