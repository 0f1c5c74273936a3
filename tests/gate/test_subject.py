"""What a check is called in the baseline, and which numbers it has."""

import enum
import json
from dataclasses import replace

import pytest

from kprof.document import KernelReport, Occupancy, Resources, Specialization
from kprof.findings import Finding, Location, Severity
from kprof.gate.config import METRICS, KernelEntry
from kprof.gate.subject import COMPILER_STAGES, CheckSubject, failed, numbered


class Kind(enum.Enum):
    """A value that JSON does not have."""

    A = 1


def subject(target="k.py", name="add", case=None, arch="gfx942", **report):
    """A check of a kernel."""
    return CheckSubject(KernelEntry(target=target), KernelReport(name=name, arch=arch, **report), case)


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


def _of(spills=0, waves=4.0, lds=0, rules=()):
    resources = Resources(vgpr_spills=spills, lds_bytes=lds)
    findings = [Finding(rule=rule, name=rule, severity=Severity.NOTE, message="") for rule in rules]
    occupancy = None if waves is None else Occupancy(waves, 8, 2, "vgpr", {})
    return subject(resources=resources, occupancy=occupancy, findings=findings)


@pytest.mark.parametrize(
    ("best", "worst"),
    [
        (_of(0), _of(1)),
        (_of(waves=4.0), _of(waves=3.0)),
        (_of(waves=0.5), _of(waves=0.25)),
        (_of(waves=1.0), _of(waves=None)),
        (_of(waves=None, rules=["KP101"]), _of(waves=0.0, rules=["KP102"])),
        (_of(spills=0, waves=1.0), _of(spills=1, waves=8.0)),
        (_of(rules=[]), _of(rules=["KP101"])),
        (_of(rules=["KP102", "KP101"]), _of(rules=["KP101", "KP103"])),
    ],
)
def test_kernels_of_one_name_are_numbered_from_the_best(best, worst):
    """Metrics first, fewer wavefronts being worse, then findings; in the order given."""
    for given in ([best, worst], [worst, best]):
        assert [one.number for one in numbered(given)] == [1 + (one is worst) for one in given]
        assert [replace(one, number=1, left_out="") for one in numbered(given)] == given
        assert [one.left_out for one in numbered(given)] == [
            "2 k.py::add on gfx942 are distinguished only by their metrics",
            "",
        ]


def test_only_kernels_of_one_name_are_told_apart():
    """Another architecture, compiler, name or specialisation is another check."""
    one = subject()
    others = [
        subject(arch="gfx950"),
        subject(triton="3.9.0"),
        subject(name="other"),
        subject(specialization=Specialization()),
    ]
    assert [found.number for found in numbered([one, *others, one])] == [1, 1, 1, 1, 1, 2]
    first, *_, last = numbered([one, *others, one])
    assert (first.specialization, last.specialization) == ("as found", "as found (2)")
    compiled = [found.specialization for found in numbered([others[-1], others[-1]])]
    assert compiled[1] == f"{compiled[0]} (2)"
    assert numbered([]) == []


def _in(file, **more):
    return replace(subject(file=file), **more)


@pytest.mark.parametrize("files", [("a.amdgcn", "b.amdgcn"), ("old/add.amdgcn", "new/add.amdgcn"), ("a.s", "A.s")])
def test_kernels_of_one_name_are_told_apart_by_the_names_of_their_files(files):
    """In any order, and nothing has to be said."""
    for given in (files, files[::-1]):
        found = numbered([_in(file) for file in given])
        assert [one.specialization for one in found] == [f"as found in {file}" for file in given]
        assert [(one.number, one.left_out) for one in found] == [(1, "")] * 2


@pytest.mark.parametrize("folder", ["0123456789abcdef" * 4, "ABCDEFGH234567XY" * 3 + "ABCD", "abcdefgh234567xy" * 2])
def test_a_name_that_is_a_hash_tells_nothing(folder):
    """Of another program a compiler's cache has another folder."""
    found = numbered([_in(f"{folder}/add.amdgcn", left_out="more"), _in(f"{folder[::-1]}/add.amdgcn"), _in("a.s")])
    assert [one.specialization for one in found] == ["as found", "as found (2)", "as found in a.s"]
    assert found[0].left_out == "more; 2 k.py::add on gfx942 are distinguished only by their metrics"
    assert [one.left_out for one in found[1:]] == ["", ""]


def test_several_in_one_file():
    """An archive of configurations: by its name, and then by their figures."""
    found = numbered([_in("all.aks2"), _in("all.aks2"), _in("b.aks2")])
    assert [one.specialization for one in found] == [
        "as found in all.aks2",
        "as found in all.aks2 (2)",
        "as found in b.aks2",
    ]


def test_what_could_not_be_told_is_not_one_of_several():
    """Two failures of one target are two problems."""
    bad = failed(KernelEntry(target="k.py"), "gfx942", "no", None)
    assert numbered([bad, bad]) == [bad, bad]


def test_one_kernel_of_its_name_may_move():
    """Its file is no part of what it is called."""
    assert numbered([_in("a.s")])[0].specialization == "as found"
