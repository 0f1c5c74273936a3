"""Hundreds of findings in every format: each is there, or the place says how many are not."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from kprof.document import Report, Verdict
from kprof.findings import Advice, Edit, Location, Severity
from kprof.reporters._markdown_cells import COMMENT_LIMIT
from kprof.reporters.github import LIMIT, GitHubReporter
from kprof.reporters.interface import ReportRequest
from kprof.reporters.markdown import MarkdownReporter
from kprof.reporters.registry import formats_of
from tests.reporters.test_ci_formats import finding, kernel

ASSEMBLY = Path(__file__).parents[1] / "artifacts/gfx942/matmul.triton-3.9.0.amdgcn"
COUNT = 310
SUMMARY_LIMIT = 1 << 20
"""Bytes that GitHub takes of a step's summary."""
GITLAB_COMMENT = 1_000_000


@pytest.fixture(scope="module")
def report():
    """As many kernels as findings, each a line of its own, with a cure; a third of each severity."""
    severities = [Severity.ERROR, Severity.WARNING, Severity.NOTE]
    kernels = []
    for number in range(COUNT):
        edit = Edit(file="kernels/k.py", line=number + 1, before="BLOCK = 128", after="BLOCK = 64  # " + "x" * 200)
        advice = Advice(knob="BLOCK", from_=128, to=64, verified={"vgpr_spills": (12, 0)}, edit=edit)
        found = finding(
            severity=severities[number % 3],
            message=f"message {number} of a kernel whose name is long enough to fill a row of the table",
            location=Location(file="kernels/k.py", line=number + 1),
            evidence={"gate": "fails"} if number % 3 == 0 else {},
            advice=[advice],
        )
        kernels.append(kernel(f"kernel_{number}", findings=[found]))
    notes = [f"remark {number}: {'what could not be looked at ' * 8}" for number in range(COUNT)]
    verdict = Verdict(status="regression", summary="regression: many checks fail")
    return Report(kprof="1.2.3", kernels=kernels, verdict=verdict, notes=notes)


def rendered(report, name):
    (found,) = (each for each in formats_of("check") if each.name == name)
    return found.render(report, ReportRequest("check", frozenset(), dict))


@pytest.mark.parametrize("name", [each.name for each in formats_of("check")])
def test_each_finding_is_told_or_counted(report, name):
    """What a place cannot hold is a number there, and what is shown and what is counted are all."""
    text = rendered(report, name)
    shown = {int(number) for number in re.findall(r"message (\d+) of a kernel", text)}
    counted = sum(int(number) for number in re.findall(r"(\d+) more (?:of this severity|do not fit here\.)", text))
    if name == "junit":
        # Only what fails is a failure; the others are test cases that pass.
        assert len(shown) == len(range(0, COUNT, 3))
        assert len(ET.fromstring(text.partition("?>")[2]).findall(".//testcase")) == COUNT
    elif name == "html":
        assert len(text.encode()) <= 1_000_000
        assert all(f"kernel_{number}" in text for number in range(COUNT))
    else:
        assert len(shown) + counted == COUNT


@pytest.mark.parametrize("limit", [2_000, COMMENT_LIMIT, SUMMARY_LIMIT // 4])
def test_a_comment_keeps_its_limit_and_counts_what_is_left_out(report, limit):
    """Findings, cures and remarks alike."""
    text = MarkdownReporter(limit).render(report)
    assert len(text) <= limit
    remarks = len(re.findall(r"^- remark", text, re.MULTILINE))
    left = re.search(r"- (\d+) more remarks? do", text)
    assert remarks + int(left[1] if left else 0) == COUNT
    cures = text.count("```suggestion")
    left = re.search(r"Fixes\*\* left out for lack of room: (\d+)", text)
    assert cures + int(left[1] if left else 0) == len(range(0, COUNT, 3))


def test_a_long_verdict_does_not_push_everything_out(report):
    """It is cut, with its length."""
    long = Report(kprof="1", kernels=report.kernels, verdict=Verdict(status="ok", summary="ok: " + "x" * COMMENT_LIMIT))
    text = MarkdownReporter().render(long)
    assert len(text) <= COMMENT_LIMIT
    assert "65,540 characters" in text
    assert "message 0 of" in text


def test_no_more_annotations_than_github_shows(report):
    """Ten of each severity, the last of which counts the others; GitHub drops more without a word."""
    lines = GitHubReporter().render(report).splitlines()
    for command in ("error", "warning", "notice"):
        own = [line for line in lines if line.startswith(f"::{command} ")]
        assert len(own) == LIMIT
        assert "the job summary has all of them" in own[-1]


def test_limits_of_the_services(report, monkeypatch, tmp_path):
    """The summary of a step, SARIF's results and a comment of GitLab's."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (github,) = (each for each in formats_of("check") if each.name == "github")
    github.finish(report, ReportRequest("check", frozenset(), dict))
    summary = (tmp_path / "summary.md").read_text()
    assert len(summary.encode()) <= SUMMARY_LIMIT
    assert len(re.findall(r"message \d+ of a kernel", summary)) == COUNT
    sarif = json.loads(rendered(report, "sarif"))
    assert [len(run["results"]) for run in sarif["runs"]] == [COUNT]
    prints = [entry["fingerprint"] for entry in json.loads(rendered(report, "gitlab"))]
    assert len(set(prints)) == COUNT
    assert len(rendered(report, "markdown")) <= GITLAB_COMMENT


def test_files_of_a_folder_are_told_apart(kprof, tmp_path, monkeypatch):
    """Kernels of one name without source lines: each finding names its own file, and none stands for the others."""
    folder = tmp_path / "asm"
    folder.mkdir()
    text = re.sub(r"^\s*\.(loc|file)\b.*\n", "", ASSEMBLY.read_text(), flags=re.MULTILINE)
    for number in range(40):
        (folder / f"k{number}.amdgcn").write_text(text)
    (tmp_path / "kprof.toml").write_text('[[kernel]]\ntarget = "asm"\nbudget = {max_vgpr_allocated = 8}\n')
    monkeypatch.chdir(tmp_path)
    ran = kprof("check", "--gitlab", "found.json", "--format", "concise")
    assert ran.code == 1
    lines = ran.out.splitlines()
    places = {f"asm/k{number}.amdgcn" for number in range(40)}
    assert {line.partition(":")[0] for line in lines if " KP011 " in line} == places
    assert {entry["location"]["path"] for entry in json.loads((tmp_path / "found.json").read_text())} == places
