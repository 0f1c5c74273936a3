"""Helion's searches while a program is recorded, with stand-ins for its classes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from kprof.recording import helion
from kprof.recording.torch_streams import ANSWERED_MS, Event
from kprof.simulation.patches import Patches


class FakeRecorder:
    """Stands for the recorder."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.trials = 0

    def note(self, text: str) -> None:
        """Keep a note."""
        self.notes.append(text)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Count trials."""
        self.trials += 1
        yield


@pytest.fixture
def classes(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Helion's base classes, patched for a recording, with the recorder."""

    class BaseSearch:
        """A search; everything else is in its subclasses."""

        kernel = SimpleNamespace(kernel=SimpleNamespace(name="add"))
        config_spec = SimpleNamespace(default_config=lambda: "default")

        def autotune(self, *, skip_cache: bool = False) -> str:
            """Time everything."""
            return f"searched, skip_cache={skip_cache}"

    class AutotuneCacheBase:
        """A cache of best configurations."""

        def __init__(self, autotuner: Any) -> None:
            self.autotuner = autotuner

        def autotune(self, *, skip_cache: bool = False) -> str:
            """Look into the files first."""
            raise AssertionError

    search, cache = ModuleType(helion.SEARCH), ModuleType(helion.CACHE)
    search.BaseSearch = BaseSearch  # type: ignore[attr-defined]
    cache.AutotuneCacheBase = AutotuneCacheBase  # type: ignore[attr-defined]
    for name in ("helion", "helion.autotuner"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, helion.SEARCH, search)
    monkeypatch.setitem(sys.modules, helion.CACHE, cache)
    recorder, patches = FakeRecorder(), Patches()
    helion.install_search(recorder, patches)  # type: ignore[arg-type]
    helion.install_cache(patches)
    return SimpleNamespace(search=BaseSearch, cache=AutotuneCacheBase, recorder=recorder, patches=patches)


def test_helions_search_does_not_run(classes: SimpleNamespace) -> None:
    """The default configuration is used, the cache is not asked, and a note says so."""
    own = type("LFBOTreeSearch", (classes.search,), {"__module__": "helion.autotuner.surrogate_pattern_search"})

    assert classes.cache(own()).autotune(skip_cache=True) == "default"
    assert classes.recorder.notes == [
        "Helion: the default configuration of add is recorded, its search is not run"
    ]  # fmt: skip


def test_the_first_of_a_list_is_used(classes: SimpleNamespace) -> None:
    """The order of ``configs=[...]``, and of kprof's prior."""
    own = type("FiniteSearch", (classes.search,), {"__module__": "helion.autotuner.finite_search", "configs": "ab"})

    assert own().autotune() == "a"
    assert classes.recorder.notes == ["Helion: the first of 2 configurations of add is recorded, none is timed"]


def test_a_search_of_the_program_runs_as_trials(classes: SimpleNamespace) -> None:
    """Its launches are not those of the program."""
    own = type("Ranked", (classes.search,), {"__module__": "program"})

    assert own().autotune(skip_cache=True) == "searched, skip_cache=True"
    assert classes.recorder.trials == 1
    classes.patches.undo()
    assert own().autotune() == "searched, skip_cache=False"
    assert classes.recorder.trials == 1


def test_times_between_events_are_finite_and_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs divide by such a time and make an integer of the result."""
    asked: list[bool] = []
    monkeypatch.setattr(Event, "asked", lambda: asked.append(True))

    assert int(100 / Event().elapsed_time(Event())) == 100
    assert Event().elapsed_time(Event()) == ANSWERED_MS
    assert len(asked) == 2
