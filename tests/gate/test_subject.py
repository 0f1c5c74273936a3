"""What a check is called in the baseline, and which numbers it has."""

import enum
import json

import pytest

from kprof.document import KernelReport, Occupancy, Resources, Specialization
from kprof.findings import Location
from kprof.gate.config import METRICS, KernelEntry
from kprof.gate.subject import COMPILER_STAGES, Subject, failed


class Kind(enum.Enum):
    """A value that JSON does not have."""

    A = 1


def subject(target="k.py", name="add", case=None, **report):
    """A check of a kernel."""
    return Subject(KernelEntry(target=target), KernelReport(name=name, arch="gfx942", **report), case)


@pytest.mark.parametrize(
    ("target", "name", "kernel"),
    [
        ("softmax", "softmax", "softmax"),
        ("mine.py::add", "add", "mine.py::add"),
        ("mine.py::add", "other", "mine.py::add"),
        ("k.amdgcn", "add", "k.amdgcn::add"),
    ],
)
def test_the_kernel_s_name(target, name, kernel):
    """As the configuration says it, with the function where a file may hold several."""
    assert subject(target, name).kernel == kernel


def test_a_specialisation_in_words_and_digits():
    """Case, knobs that are set, and digits that stand for all of it."""
    spec = Specialization(
        signature={"x": "*fp16"}, constexprs={"BK": 64, "ACC": None}, options={"num_warps": 4}, environment={"E": "1"}
    )
    plain, named = subject(specialization=spec), subject(specialization=spec, case="large")
    words, _, digits = plain.specialization.rpartition(" ")
    assert words == "BK=64 num_warps=4 E=1"
    assert len(digits) == 9
    assert digits[0] == "#"
    assert int(digits[1:], 16) >= 0
    assert named.specialization == f"large {plain.specialization}"
    assert subject().specialization == "as found"
    assert subject(specialization=Specialization()).specialization.startswith("#")


def test_long_words_are_cut_and_the_digits_tell_them_apart():
    """A hundred and twenty characters of knobs."""
    one, other = (subject(specialization=Specialization(constexprs={"K": "x" * 200 + end})) for end in "ab")
    words = one.specialization.split(" #")[0]
    assert words == ("K=" + "x" * 200)[:120]
    assert one.specialization.split(" #")[0] == other.specialization.split(" #")[0]
    assert one.specialization != other.specialization


def test_digits_do_not_depend_on_an_order():
    """Two dictionaries with the same members are the same."""
    one = subject(specialization=Specialization(constexprs={"A": 1, "B": 2}))
    other = subject(specialization=Specialization(constexprs={"B": 2, "A": 1}))
    assert one.specialization.split("#")[1] == other.specialization.split("#")[1]


@pytest.mark.parametrize(
    "change",
    [{"signature": {"x": "*fp32"}}, {"attributes": {"x": {"divisibility": 16}}}, {"options": {"num_warps": 8}}],
)
def test_digits_stand_for_everything_that_was_compiled(change):
    """Types and hints too, which are in no words."""
    assert (
        subject(specialization=Specialization(**change)).specialization.split("#")[1]
        != subject(specialization=Specialization()).specialization.split("#")[1]
    )


def test_types_and_knobs():
    """What was not compiled by Triton has none; unset ones are left out, and values are JSON's."""
    spec = Specialization(
        signature={"x": "*fp16"}, constexprs={"A": Kind.A, "N": None}, options={"w": 0}, environment={"E": "1"}
    )
    found = subject(specialization=spec)
    assert found.types == {"x": "*fp16"}
    assert found.knobs == {"A": "Kind.A", "w": 0, "E": "1"}
    assert json.loads(json.dumps(found.knobs)) == found.knobs
    assert "#" in found.specialization
    assert (subject().types, subject().knobs) == ({}, {})


def test_the_compiler():
    """Triton's version first."""
    assert subject(triton="3.9.0", compiler="clang 22").compiler == "Triton 3.9.0"
    assert subject(compiler="clang 22").compiler == "clang 22"
    assert subject().compiler == "unknown compiler"


def test_metrics():
    """Every one, unknown where nothing is known; zero is known."""
    assert subject().metrics() == dict.fromkeys(METRICS)
    resources = Resources(vgpr_spills=0, sgpr=20, lds_bytes=4096)
    found = subject(resources=resources, occupancy=Occupancy(4.0, 8, 2, "vgpr", {})).metrics()
    assert (found["vgpr_spills"], found["sgpr"], found["lds_bytes"], found["waves_per_simd"]) == (0, 20, 4096, 4.0)
    assert found["scratch_bytes"] is None
    assert list(found) == list(METRICS)
    assert subject(occupancy=None).metrics()["waves_per_simd"] is None
    assert subject(resources=resources).metrics()["waves_per_simd"] is None


def test_a_check_that_could_not_be_made():
    """One line of reason, the hint on its second line in brackets, with the case that it is of."""
    entry = KernelEntry(target="k.py")
    place = Location("k.py", 3)
    found = failed(entry, "gfx950", "no  good \n  Do it. ", place, case="large")
    assert (found.problem, found.case, found.entry) == ("no good (Do it)", "large", entry)
    assert (found.report.name, found.report.arch, found.report.source) == ("k.py large", "gfx950", place)
    assert found.report.notes == ["no good (Do it)"]
    assert (found.refused, found.stale, found.optional) == (False, False, False)
    plain = failed(entry, "gfx950", "no", None)
    assert plain.report.name == "k.py"
    assert not plain.report.source


def test_stages_of_the_compiler():
    """A failure in one of them is the compiler's own; importing the kernel's file is none."""
    assert {"source", "ttir", "ttgir", "llir", "amdgcn", "hsaco"} == COMPILER_STAGES
