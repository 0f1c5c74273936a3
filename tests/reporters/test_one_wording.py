"""A finding has one wording: its message, its cost and what to do are the same text on every surface."""

import html
import io
import json
import re
from xml.etree import ElementTree as ET

import msgspec
import pytest
from rich.console import Console

from kprof.api.live import answers
from kprof.api.live.editor import remarks
from kprof.api.live.mcp_server import text as model_text
from kprof.api.live.questions import kernel_answer
from kprof.api.live.view.application import words
from kprof.document import KernelReport, Prediction, Report, Resources, Verdict
from kprof.findings import Cause, Cure, Gain, Location
from kprof.reporters import _notebook
from kprof.reporters.answer import cause_text
from kprof.reporters.check_text import CheckTextReporter
from kprof.reporters.console import ConsoleReporter
from kprof.reporters.github import GitHubReporter
from kprof.reporters.gitlab import GitLabReporter
from kprof.reporters.html import HtmlReporter
from kprof.reporters.junit import JUnitReporter
from kprof.reporters.markdown import MarkdownReporter
from kprof.reporters.sarif import SarifReporter
from kprof_analyzers.rules import rules
from tests.rules.literate import cases, facts_of

CURE = Cure({"waves_per_eu": (2, 1)}, 100.0, 25.0, 0.95, {"vgpr_spills": (443, 0)})
GAIN = Gain(30.0, 20.0, 40.0, 0.3)


def reports(cure):
    """A kernel for the first case of each rule in which it fires, with one cause."""
    found = []
    for rule in rules():
        module = type(rule).__module__
        for case in cases():
            if case.fires and module.endswith(f".{case.file.parent.name}.{case.file.stem}"):
                finding = rule.analyze(facts_of(case)).findings[0]
                finding = msgspec.structs.replace(finding, gain=GAIN, evidence={**finding.evidence, "gate": "fails"})
                cause = Cause([0], GAIN, cure) if cure else Cause([0], GAIN)
                model = Prediction(100.0, 80.0, 130.0, 1000.0, "matrix", {"matrix": 1.0})
                found.append(KernelReport("k", case.arch, model=model, findings=[finding], causes=[cause],
                                          resources=Resources(vgpr=64), source=Location("/user/k.py", 1)))  # fmt: skip
                break
    return found


def terminal(report):
    """On a screen that is wide enough for every line."""
    stream = io.StringIO()
    ConsoleReporter(Console(file=stream, width=2000, highlight=False)).show(report)
    return stream.getvalue()


def tags_left_out(page):
    """Return the text of a page."""
    return html.unescape(re.sub(r"<[^>]*>", " ", page))


def live_page(report):
    """Return the words that the page of ``kprof view`` shows."""
    (kernel,) = words(msgspec.to_builtins(report))
    (cause,) = kernel["causes"]
    return " ".join([cause["message"], cause["cost"], *cause["todo"].values()])


def model(report):
    """Return the text of an answer to an agent."""
    return model_text(answers.Analyzed("", [kernel_answer(msgspec.to_builtins(report.kernels[0]))]))


def editor(report):
    """Return the diagnostics of an editor."""
    return "\n".join(one.message for one in remarks(msgspec.to_builtins(report.kernels[0]), "k.py"))


SURFACES = {
    "terminal": terminal,
    "notebook": lambda report: tags_left_out(_notebook.report(report)),
    "page": lambda report: tags_left_out(HtmlReporter().render(report)),
    "live page": live_page,
    "agents": model,
    "editor": editor,
    "gate": lambda report: CheckTextReporter().render(report),
    "comment": lambda report: tags_left_out(re.sub(r"\\(.)", r"\1", MarkdownReporter().render(report))),
    "SARIF": lambda report: json.loads(SarifReporter().render(report))["runs"][0]["results"][0]["message"]["text"],
    "GitHub": lambda report: GitHubReporter().render(report).replace("%25", "%"),
    "GitLab": lambda report: json.loads(GitLabReporter().render(report))[0]["description"],
    "JUnit": lambda report: "".join(ET.fromstring(JUnitReporter().render(report)).itertext()),
}


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("cure", [CURE, None], ids=["cured", "not compiled"])
def test_every_rule_is_told_in_the_same_words(surface, cure):
    """Message, cost, cure and fix of each rule's case."""
    for kernel in reports(cure):
        report = Report(kprof="1", kernels=[kernel], verdict=Verdict(status="regression", summary="worse"))
        shown = " ".join(SURFACES[surface](report).split())
        told = cause_text(kernel, kernel.causes[0])
        assert told.cost == "30.0 µs (30 %)"
        for part in (told.message, told.cost, *told.todo.values()):
            assert " ".join(part.split()) in shown, (told.finding.rule, surface)


def test_every_rule_is_tried():
    assert len(reports(CURE)) == len(rules())
