"""SARIF, JUnit, GitHub, GitLab, Markdown and the terminal: one report in all of them, and their limits."""

import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kprof.document import KernelReport, Report, Specialization, Verdict
from kprof.findings import Advice, Finding, Location, Severity, Suppressed
from kprof.reporters._ci_findings import RuleHelp
from kprof.reporters._markdown_cells import COMMENT_LIMIT
from kprof.reporters.check_text import CheckTextReporter
from kprof.reporters.github import GitHubReporter
from kprof.reporters.gitlab import GitLabReporter
from kprof.reporters.junit import JUnitReporter
from kprof.reporters.markdown import MarkdownReporter
from kprof.reporters.sarif import MAX_RUNS, SarifReporter

GOLDEN = Path(__file__).parent / "golden"
RULES = [RuleHelp("KP301", "spill-in-loop", Severity.ERROR, "A loop\nspills.\n\n## Why it matters\nIt is slow.")]


def finding(rule="KP301", name="spill-in-loop", severity=Severity.ERROR, message="120 VGPRs spilled", **more):
    """One finding in ``kernels/k.py``."""
    more.setdefault("location", Location(file="kernels/k.py", line=12, column=5))
    return Finding(rule=rule, name=name, severity=severity, message=message, **more)


def kernel(name="add", arch="gfx942", **more):
    """One kernel in ``kernels/k.py``."""
    spec = Specialization(constexprs={"BLOCK": 64}, options={"num_warps": 4})
    source = Location(file="kernels/k.py", line=7)
    return KernelReport(name=name, arch=arch, triton="3.9.0", source=source, specialization=spec, **more)


@pytest.fixture
def report():
    """Failures, a warning, a note, a kernel that cannot be determined, and something silenced, on two architectures."""
    spills = finding(
        evidence={"gate": "fails", "loop": ".LBB0_2"},
        advice=[Advice(knob="BLOCK", from_=64, to=32)],
        related=[Location(file="triton/language/standard.py", line=40, function="sum")],
    )
    drain = finding("KP204", "full-drain", Severity.WARNING, "vmcnt(0) | 50% <b>`x`</b>\nsecond line")
    step = finding(
        "KP303", "registers-just-above-step", Severity.NOTE, "8 VGPRs fewer", location=Location("kernels/k.py", 30)
    )
    lost = Finding(
        rule="KP013",
        name="cannot-tell",
        severity=Severity.WARNING,
        message="crashed: signal 6 (SIGABRT)",
        evidence={"gate": "cannot tell"},
    )
    known = finding("KP101", "narrow-global-load", Severity.WARNING, "4 loads", evidence={"gate": "baseline"})
    return Report(
        kprof="1.2.3",
        kernels=[
            kernel(findings=[step, spills, drain], suppressed=[Suppressed(finding=known, reason="in the baseline")]),
            kernel(arch="gfx950", findings=[spills, drain, drain]),
            kernel("broken", "gfx950", findings=[lost]),
        ],
        verdict=Verdict(status="regression", summary="regression: 2 of 3 checks fail, 1 cannot be determined"),
        notes=["an allowance is not needed"],
    )


REPORTERS = {
    "result.sarif": SarifReporter(RULES),
    "result-suppressed.sarif": SarifReporter(RULES, suppressed=True),
    "junit.xml": JUnitReporter(),
    "github.txt": GitHubReporter(),
    "gitlab.json": GitLabReporter(),
    "comment.md": MarkdownReporter(),
    "terminal.txt": CheckTextReporter(),
    "terminal-verbose.txt": CheckTextReporter(verbose=2),
}


@pytest.mark.parametrize("name", REPORTERS)
def test_output_is_as_kept(report, name):
    """Each format's output is the one in ``golden/``."""
    text = REPORTERS[name].render(report)
    path = GOLDEN / name
    if os.environ.get("KPROF_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
    assert text == REPORTERS[name].render(report)


def test_comment_has_one_row_for_each_kernel():
    """Metrics before and after, the change once, other failing findings, and what to do."""
    cure = Advice(knob="BLOCK", from_=64, to=32, verified={"vgpr_spills": (49, 0)})
    failing = {"gate": "fails"}
    step = {**failing, "change": "BLOCK 32 → 64", "metric": "vgpr_spills", "value": 49, "baseline": 0}
    waves = {**failing, "change": "BLOCK 32 → 64", "metric": "waves_per_simd", "value": 1, "baseline": 4}
    slower = {**failing, "change": "BLOCK 32 → 64", "metric": "time_us", "value": 1810.0, "baseline": 47.0}
    budget = {**failing, "metric": "lds_bytes", "value": 65536, "budget": 32768}
    found = [
        finding(message="49 VGPRs spilled, the baseline has 0", evidence=step, advice=[cure]),
        finding(message="1 waves per SIMD, the baseline has 4", evidence=waves),
        finding(message="1.81 ms predicted, the baseline has 47.0 µs: 38.5 times as much", evidence=slower),
        finding("KP112", "lds-bank-conflicts", message="8 ways", evidence=failing, fix="pad it"),
    ]
    report = Report(
        kprof="1",
        kernels=[kernel(findings=found), kernel("other", findings=[finding(message="too much", evidence=budget)])],
        verdict=Verdict(status="regression", summary="bad"),
    )
    lines = MarkdownReporter().render(report).splitlines()
    head = lines.index("| kernel | arch | what is worse | fix | line |")
    first, second = lines[head + 2 : head + 4]
    assert lines[head - 2] == "**Kernels that fail: 2**"
    worse = "predicted time 47.0 µs → 1.81 ms (38.5x), VGPRs spilled 0 → 49, waves per SIMD 4 → 1"
    assert f"| BLOCK 32 → 64: {worse}; KP112 lds-bank-conflicts: 8 ways |" in first
    assert "| Fix: BLOCK 64 → 32 (compiled: vgpr\\_spills 49 → 0). Fix: pad it. |" in first
    assert "| bytes of LDS per workgroup 65,536 (budget 32,768) |" in second
    assert not any("<details>" in line for line in lines)


def many(count, severity=Severity.ERROR):
    """A report with this many failures in one kernel."""
    found = [finding(severity=severity, message=f"number {n}", evidence={"gate": "fails"}) for n in range(count)]
    return Report(kprof="1", kernels=[kernel(findings=found)], verdict=Verdict(status="regression", summary="bad"))


@pytest.mark.parametrize(("count", "shown", "left"), [(1, 1, 0), (10, 10, 0), (11, 9, 2), (500, 9, 491)])
def test_annotations_keep_githubs_limit(count, shown, left):
    """At most ten of a severity, and what is left out is counted in the tenth."""
    lines = GitHubReporter().render(many(count)).splitlines()
    assert sum("number" in line for line in lines) == shown
    assert len(lines) == min(count, 10)
    assert (f"::error title=kprof::{left} more of this severity" in lines[-1]) == (left > 0)


def test_worst_come_first(report):
    """Errors before warnings before notes, in every format that has an order."""
    order = {"error": 0, "warning": 1, "notice": 2, "note": 2}
    text = GitHubReporter().render(report)
    levels = [order[m] for m in re.findall(r"^::(\w+)", text, re.MULTILINE)]
    assert levels == sorted(levels)
    for run in json.loads(SarifReporter().render(report))["runs"]:
        levels = [order[r["level"]] for r in run["results"]]
        assert levels == sorted(levels)


def test_fingerprints_outlive_moved_lines_and_differ_from_each_other(report):
    """The same finding on another line is the same alert; two findings of a kernel are two."""
    before = [issue["fingerprint"] for issue in json.loads(GitLabReporter().render(report))]
    assert len(set(before)) == len(before) == 7
    moved = msgspec.convert(json.loads(msgspec.json.encode(report).replace(b'"line":12', b'"line":99')), Report)
    after = [issue["fingerprint"] for issue in json.loads(GitLabReporter().render(moved))]
    assert sorted(after) == sorted(before)
    for run in json.loads(SarifReporter().render(report))["runs"]:
        prints = [r["partialFingerprints"]["primaryLocationLineHash"] for r in run["results"]]
        assert len(set(prints)) == len(prints)


def test_sarif_has_what_github_needs(report):
    """Version, one run and category an architecture, a location each, relative paths, rules that results point to."""
    document = json.loads(SarifReporter(RULES).render(report))
    assert document["version"] == "2.1.0"
    categories = [run["automationDetails"]["id"].rpartition("/")[0] for run in document["runs"]]
    assert categories == ["kprof/gfx942", "kprof/gfx950"]
    for run in document["runs"]:
        rules = run["tool"]["driver"]["rules"]
        assert all(len(rule["properties"]["tags"]) <= 10 for rule in rules)
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            (place,) = result["locations"]
            assert not place["physicalLocation"]["artifactLocation"]["uri"].startswith("/")
    (related,) = document["runs"][0]["results"][0]["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "triton/language/standard.py"


def test_sarif_keeps_to_twenty_runs():
    """What does not fit is named."""
    kernels = [kernel(arch=f"gfx{n}", findings=[finding()]) for n in range(MAX_RUNS + 2)]
    report = Report(kprof="1", kernels=kernels, verdict=Verdict(status="ok", summary="fine"))
    runs = json.loads(SarifReporter().render(report))["runs"]
    assert len(runs) == MAX_RUNS
    assert "gfx20, gfx21" in json.dumps(runs[-1]["invocations"])


def test_junit_counts_what_it_lists(report):
    """Totals of the suites and of the whole agree with the elements, and lines of all findings are in the text."""
    root = ET.fromstring(JUnitReporter().render(report))
    for element in (root, *root):
        assert int(element.get("tests")) == len(list(element.iter("testcase")))
        assert int(element.get("failures")) == len(list(element.iter("failure")))
        assert int(element.get("errors")) == len(list(element.iter("error")))
    assert [suite.get("name") for suite in root] == ["kprof gfx942", "kprof gfx950"]
    names = [(case.get("classname"), case.get("name")) for case in root[1]]
    assert len(set(names)) == 2


@pytest.mark.parametrize("limit", [1_000, 5_000, COMMENT_LIMIT])
def test_markdown_keeps_its_limit(limit):
    """A comment that is too long is refused as a whole: kernels, and the findings of one, are counted instead."""
    text = MarkdownReporter(limit).render(many(2_000))
    assert len(text) <= limit
    shown = len(re.findall(r"number \d+", text))
    assert f"{2_000 - shown if shown else 1} more do not fit here" in text
    kernels = [kernel(f"k{n}", findings=[finding(evidence={"gate": "fails"})]) for n in range(2_000)]
    text = MarkdownReporter(limit).render(
        Report(kprof="1", kernels=kernels, verdict=Verdict(status="regression", summary="bad"))
    )
    assert len(text) <= limit
    assert "**Kernels that fail" in text
    assert f"{2_000 - text.count('120 VGPRs spilled')} more do not fit here" in text


TEXT = st.text(min_size=1, max_size=60)


@example(message="0", name="\\|")
@given(TEXT, TEXT)
def test_no_text_breaks_a_format(message, name):
    """Whatever stands in a message or a path: each annotation is one line, each table row has its cells, XML parses."""
    place = Location(file=f"a/{name}.py", line=1)
    broken = finding(message=message, location=place, evidence={"gate": "fails"})
    report = Report(
        kprof="1", kernels=[kernel(name, findings=[broken])], verdict=Verdict(status="regression", summary=message)
    )
    annotations = GitHubReporter().render(report)
    assert annotations.count("\n") == 1
    assert annotations.startswith("::error file=")
    (_, _, row) = [r for r in MarkdownReporter().render(report).split("\n") if r.startswith("|")]
    assert len(re.findall(r"(?<!\\)\|", row.replace("\\\\", ""))) == 6
    assert len(list(ET.fromstring(JUnitReporter().render(report)).iter("failure"))) == 1
    assert json.loads(GitLabReporter().render(report))[0]["location"]["path"] == place.file
    (result,) = json.loads(SarifReporter().render(report))["runs"][0]["results"]
    assert result["message"]["text"]


def test_every_rule_has_help():
    """The analyzers' docstrings and the gate's own texts reach SARIF."""
    from kprof.reporters.rule_list import all_rules

    found = {rule.id: rule for rule in all_rules()}
    assert {"KP101", "KP301", "KP011", "KP012", "KP013"} <= set(found)
    assert all(rule.summary and "\n" not in rule.summary for rule in found.values())
    assert "## Why it matters" in found["KP101"].help


def test_sarif_is_valid(report, sarif_schema):
    """The official schema takes all that can be written."""
    from jsonschema import Draft4Validator

    for suppressed in (False, True):
        document = json.loads(SarifReporter(RULES, suppressed=suppressed).render(report))
        Draft4Validator(sarif_schema).validate(document)
    empty = Report(kprof="1", kernels=[], verdict=Verdict(status="cannot_tell", summary="nothing"))
    Draft4Validator(sarif_schema).validate(json.loads(SarifReporter().render(empty)))
