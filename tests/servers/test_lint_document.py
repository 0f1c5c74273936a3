"""The document of a run over configuration files: what fails, and the one line that says so."""

import subprocess

import pytest

from kprof.document import KernelReport
from kprof.errors import KprofError
from kprof.findings import Finding, Location, Severity
from kprof_servers.configs.compiling import CompiledConfigs
from kprof_servers.configs.model import ConfigFile
from kprof_servers.configs.reading import FoundFiles
from kprof_servers.lint_document import document


def finding(severity, rule="KP901", file="/elsewhere/a.json"):
    """What a check has found."""
    return Finding(rule, "n", severity, "m", location=Location(file, 2), evidence={"k": 1})


def entry(*findings, file="/elsewhere/a.json"):
    """A file's entry."""
    return KernelReport(
        name="a.json", arch="gfx942", source=Location(file, 1), findings=list(findings), notes=["first"]
    )


def file(buckets=1):
    """A file that was read."""
    return ConfigFile("/elsewhere/a.json", "f", buckets=(None,) * buckets)


NOTE, WARNING, ERROR = (finding(severity) for severity in Severity)


@pytest.mark.parametrize(
    ("findings", "fail_on", "status", "summary"),
    [
        ([], "warning", "ok", "ok: 1 file, 1 bucket: no findings"),
        ([NOTE], "warning", "ok", "ok: 1 file, 1 bucket: 1 note"),
        ([WARNING], "warning", "regression", "failed (--fail-on warning): 1 file, 1 bucket: 1 warning"),
        ([WARNING], "error", "ok", "ok: 1 file, 1 bucket: 1 warning"),
        ([NOTE], "note", "regression", "failed (--fail-on note): 1 file, 1 bucket: 1 note"),
        ([ERROR], "never", "ok", "ok: 1 file, 1 bucket: 1 error"),
        (
            [NOTE, NOTE, ERROR, WARNING, ERROR],
            "error",
            "regression",
            "failed (--fail-on error): 1 file, 1 bucket: 2 errors, 1 warning, 2 notes",
        ),
    ],
)
def test_what_fails(findings, fail_on, status, summary):
    """Findings that bad or worse, worst first in the count; each that fails is marked."""
    report = document([entry(*findings)], FoundFiles(files=[file()]), None, set(), fail_on)
    assert (report.verdict.status, report.verdict.summary) == (status, summary)
    (kernel,) = report.kernels
    ranks = {"note": 0, "warning": 1, "error": 2, "never": 3}
    assert [f.evidence.get("gate") for f in kernel.findings] == [
        "fails" if f.severity.rank >= ranks[fail_on] else None for f in findings
    ]
    assert all(f.evidence["k"] == 1 for f in kernel.findings)
    assert report.notes == []


def test_rules_that_are_left_out_do_not_count():
    """Neither in the entry nor in the verdict."""
    findings = [finding(Severity.ERROR, "KP901"), finding(Severity.NOTE, "KP902")]
    report = document([entry(*findings)], FoundFiles(files=[file()]), None, {"KP901"}, "note")
    assert [f.rule for f in report.kernels[0].findings] == ["KP902"]
    assert report.verdict.summary == "failed (--fail-on note): 1 file, 1 bucket: 1 note"


def test_what_could_not_be_read_cannot_be_told():
    """It is an entry of its own; a regression is still one and says so beside it."""
    found = FoundFiles(files=[file(2000), file(0)], problems=[KprofError("no such file", path="/elsewhere/b/x.json")])
    report = document([entry()], found, None, set(), "warning")
    assert report.verdict.status == "cannot_tell"
    assert report.verdict.summary == "cannot tell: 1 could not be read; 2 files, 2,000 buckets: no findings"
    lost = report.kernels[1]
    assert (lost.name, lost.arch, lost.source) == ("x.json", "unknown", Location("/elsewhere/b/x.json", 1))
    (said,) = lost.findings
    assert (said.rule, said.name, said.severity.value, said.message, said.evidence) == (
        "KP013",
        "cannot-tell",
        "warning",
        "no such file",
        {"gate": "cannot tell"},
    )
    assert said.location == Location("/elsewhere/b/x.json", 1)
    report = document([entry(ERROR)], found, None, set(), "warning")
    assert report.verdict.status == "regression"
    assert report.verdict.summary == (
        "failed (--fail-on warning): 2 files, 2,000 buckets: 1 error, 1 could not be read"
    )


def test_a_problem_without_a_file():
    """Has a mark in its place."""
    report = document([], FoundFiles(problems=[KprofError("no")]), None, set(), "warning")
    assert (report.kernels[0].name, report.kernels[0].source) == ("?", Location("?", 1))
    assert report.verdict.summary == "cannot tell: 1 could not be read; 0 files, 0 buckets: no findings"


@pytest.mark.parametrize(("others", "note"), [(0, []), (1, ["1 JSON file is"]), (2, ["2 JSON files are"])])
def test_nothing_found_is_never_ok(others, note):
    """Files of other kinds are counted."""
    report = document([], FoundFiles(others=others), None, set(), "warning")
    assert (report.verdict.status, report.verdict.summary) == (
        "cannot_tell",
        "cannot tell: no tuned configuration was found",
    )
    assert report.notes == [f"{words} no tuned configuration that kprof knows" for words in note]


@pytest.mark.parametrize(("done", "status"), [(0, "cannot_tell"), (1, "ok")])
def test_compiling_that_was_asked_for_and_not_done_cannot_be_told(done, status):
    """One bucket is enough; the files' notes say why the others were not."""
    tried = CompiledConfigs(
        done=done, asked=3, notes={"/elsewhere/a.json": ["no kernel"], "/elsewhere/b.json": ["other"]}
    )
    report = document([entry()], FoundFiles(files=[file()]), tried, set(), "warning")
    assert report.verdict.status == status
    if not done:
        assert report.verdict.summary == ("cannot tell: no bucket could be compiled; 1 file, 1 bucket: no findings")
    assert report.kernels[0].notes == ["first", "no kernel"]
    assert report.notes == tried.summary()
    regression = document([entry(ERROR)], FoundFiles(files=[file()]), tried, set(), "error")
    assert regression.verdict.status == "regression"


def test_an_entry_without_a_place_has_no_notes_of_another():
    """It is left as it is."""
    plain = KernelReport(name="a", arch="gfx942")
    tried = CompiledConfigs(done=1, notes={"/elsewhere/a.json": ["no kernel"]})
    assert document([plain], FoundFiles(files=[file()]), tried, set(), "warning").kernels == [plain]


def test_paths_are_given_from_the_repository_s_root(tmp_path, monkeypatch):
    """From the nearest folder with a .git, from any place in it; without one from the folder itself."""
    (tmp_path / "repo" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repo" / "sub")
    path = f"{tmp_path}/repo/sub/a.json"

    def shown():
        report = document(
            [entry(finding(Severity.NOTE, file=path), file=path)], FoundFiles(files=[file()]), None, set(), "never"
        )
        return report.kernels[0].source.file, report.kernels[0].findings[0].location.file

    assert shown() == ("a.json", "a.json")
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    assert shown() == ("sub/a.json", "sub/a.json")
