"""A few programs of a timed launch: everything that they write is seen."""

from types import SimpleNamespace

import pytest

from kprof.api.live.chosen_programs import TimedLaunch, poisoned_tensors, written_elements

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.triton


class _WritesZeros:
    """A function whose programs write zeros into the first half of a tensor."""

    def __getitem__(self, _grid):
        return lambda **tensors: tensors["y_ptr"][:4].zero_()


def _run(_inputs, _shape, _config):
    y = torch.empty(8)
    store[(2,)](y_ptr=y)  # noqa: F821 - the case's function, which is replaced by what is tried
    return {"y": y}


def test_zeros_that_are_written_into_zeros_are_seen(monkeypatch):
    """Memory that the system has just given is zero: a program without rows was taken for one that writes nothing."""
    monkeypatch.setattr(torch, "empty", torch.zeros)
    monkeypatch.setitem(_run.__globals__, "store", None)
    kernel = SimpleNamespace(run=_run, flops=None, parts={})
    found = written_elements(kernel, "store", _WritesZeros(), TimedLaunch({}, {}, 0), {})
    places, values = found.values["y_ptr"]
    assert places.tolist() == [0, 1, 2, 3]
    assert values.tolist() == [0.0] * 4
    assert found.outputs == {"y": "y_ptr"}
    assert torch.empty is torch.zeros


def test_memory_of_an_earlier_run_is_not_there():
    """Neither in a new tensor nor in one like another; numbers without a dimension stay."""
    with poisoned_tensors():
        for tensor in (torch.empty(3), torch.empty_like(torch.ones(3))):
            assert (tensor < -1e5).all() or tensor.isnan().all()
        assert torch.empty(0).numel() == 0
    with pytest.raises(ZeroDivisionError), poisoned_tensors():
        raise ZeroDivisionError
    assert torch.empty.__name__ == "empty"
