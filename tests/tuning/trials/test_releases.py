"""The releases of Triton that are kept on this machine compile a kernel too; where they differ the answer says so."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from kprof.compiler import installations
from kprof.diffing.comparing import Input
from kprof.document import KernelReport, OtherRelease, Prediction, Resources
from kprof.errors import KprofError
from kprof.options.groups import CompileOptions
from kprof.reporters.answer import releases_line
from kprof.tuning.trials import releases, tritons


def kernel(time_us: float, spills: int, name: str = "k") -> KernelReport:
    """A kernel with a predicted time and a range around it."""
    model = Prediction(time_us, time_us - 20.0, time_us + 40.0, 1000.0, "vector", {"vector": 1.0})
    return KernelReport(name, "gfx942", model=model, resources=Resources(vgpr_spills=spills))


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    """Let ``kept(3.8.0=[...])`` say what releases make of a target; the installed Triton is 3.9.0."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv(releases.VARIABLE, raising=False)
    monkeypatch.setattr(releases, "installed", lambda: SimpleNamespace(version="3.9.0", numbers=(3, 9)))
    asked: list[str] = []

    def make(answers: dict[str, Sequence[KernelReport] | KprofError]) -> list[str]:
        monkeypatch.setattr(installations, "known", lambda: list(answers))

        def sides(self: tritons.Tritons) -> list[Input]:
            (version,) = self.versions
            asked.append(version)
            answer = answers[version]
            if isinstance(answer, KprofError):
                raise answer
            return [Input(version, answer)]

        monkeypatch.setattr(tritons.Tritons, "sides", sides)
        return asked

    return make


def test_the_nearest_older_and_the_nearest_newer_one(kept):
    """Of a minor release the newest patch; the release of the installed one is no neighbour."""
    kept(dict.fromkeys(["3.4.0", "3.7.0", "3.7.1", "3.9.1", "3.10.0", "3.11.0"], ()))
    assert releases.neighbours() == ["3.7.1", "3.10.0"]


def test_without_kept_releases_or_a_home_nothing_is_asked(kept, monkeypatch):
    """Neither a Triton nor a folder for others has to be there."""
    kept({})
    monkeypatch.setattr(releases, "installed", lambda: pytest.fail("Triton was looked for"))
    assert releases.neighbours() == []
    kept({"3.8.0": ()})
    monkeypatch.setattr(releases.location, "root", lambda: None)
    assert releases.neighbours() == []


def test_a_named_release_has_no_neighbours(kept, monkeypatch):
    """The answer is about the one that was named."""
    kept({"3.8.0": ()})
    monkeypatch.setenv(releases.VARIABLE, "3.9.0")
    assert releases.neighbours() == []


def test_what_differs_is_said_with_a_range_over_both(kept):
    """By more than 12 %, or in spills; the second question is answered from the cache."""
    asked = kept({"3.8.0": [kernel(130.0, 7)]})
    (found,) = releases.with_other_releases([kernel(100.0, 0)], "k.py::k", CompileOptions())
    assert found.other_releases == [OtherRelease("3.8.0", 130.0, 110.0, 170.0, 7)]
    assert releases_line(found) == (
        "with Triton 3.8.0: 130 µs (0.769x), spilled VGPRs 0 → 7; with all of these likely 80.0 µs to 170 µs"
    )
    assert releases.with_other_releases([kernel(100.0, 0)], "k.py::k", CompileOptions()) == [found]
    assert asked == ["3.8.0"]
    releases.with_other_releases([kernel(101.0, 0)], "k.py::k", CompileOptions())
    assert asked == ["3.8.0", "3.8.0"]


def test_alike_releases_are_quiet(kept):
    """They were asked, and nothing is said."""
    kept({"3.8.0": [kernel(111.0, 0)]})
    (found,) = releases.with_other_releases([kernel(100.0, 0)], "k.py::k", CompileOptions())
    assert found.other_releases == [OtherRelease("3.8.0", 111.0, 91.0, 151.0, 0)]
    assert releases_line(found) == ""
    assert releases_line(kernel(1.0, 0)) == ""


def test_a_release_that_cannot_compile_it(kept):
    """Its reason is in the answer; the kernel keeps its own time."""
    kept({"3.8.0": KprofError("no such builtin")})
    (found,) = releases.with_other_releases([kernel(100.0, 0)], "k.py::k", CompileOptions())
    assert releases_line(found) == "with Triton 3.8.0 it does not compile: no such builtin"


def test_only_the_same_kernel_is_compared(kept):
    """Of several launches each has its own; one that the other release does not make has none."""
    kept({"3.8.0": [kernel(50.0, 0, "other"), kernel(200.0, 0)]})
    first, second = releases.with_other_releases([kernel(100.0, 0), kernel(9.0, 0, "alone")], "k", CompileOptions())
    assert [one.time_us for one in first.other_releases] == [200.0]
    assert second.other_releases is msgspec.UNSET
