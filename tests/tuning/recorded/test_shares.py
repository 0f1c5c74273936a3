"""How the seconds of a search are divided among the kernels of a capture."""

import importlib
from types import SimpleNamespace
from typing import Any

import pytest

import kprof.deadline
from kprof.targets import recompile

# The package's function hides the module of that name.
module = importlib.import_module("kprof.tuning.recorded.advise")


@pytest.mark.parametrize(("start", "beyond"), [(0.0, 0.0), (40.0, 0.0), (40.0, 3.0), (0.0, 9.0)])
def test_the_kernel_that_is_launched_last_has_as_much_as_the_others(
    monkeypatch: pytest.MonkeyPatch, start: float, beyond: float
) -> None:
    """Neither the way to the first launch nor compiles that end late are taken from the kernels that come last."""
    now, shares, kernels, budget = [0.0], [], 7, 70.0
    monkeypatch.setattr(kprof.deadline, "time", SimpleNamespace(monotonic=lambda: now[0]))
    each = [SimpleNamespace(kernel=SimpleNamespace(id=str(n), name=str(n)), target=str(n)) for n in range(kernels)]

    def opened(chosen: Any, *_arguments: Any, **_options: Any) -> Any:
        now[0] += start
        for one in chosen:
            yield SimpleNamespace(recorded=one), ""

    def found(_subject: Any, _how: str, share: float, **_options: Any) -> str:
        shares.append(share)
        now[0] += share + beyond
        return ""

    monkeypatch.setattr(recompile, "recorded", lambda *_arguments: (each, {}))
    monkeypatch.setattr(module, "_opened_each", opened)
    monkeypatch.setattr(module, "_advise_kernel", found)
    assert len(list(module.advise("capture", budget=budget, only=[str(n) for n in range(kernels)]))) == kernels
    assert shares[-1] == pytest.approx(shares[1])
    assert shares[0] == pytest.approx(budget / kernels)
    assert now[0] <= start + budget + 2 * beyond


def test_where_no_kernel_can_be_compiled_again_each_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """A capture without its TTIR: nothing is searched, and no program is run."""
    why = "the capture does not contain its TTIR"
    monkeypatch.setattr(recompile, "recorded", lambda *_arguments: ([], {"scale": why}))
    (found,) = module.advise("capture", budget=1.0)
    assert (found.name, found.error, found.trials) == ("scale", why, None)
