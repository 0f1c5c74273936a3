"""``kprof trace report``: one reading, one page, and its parts in the terminal by their names."""

import json
import re
from pathlib import Path

import pytest

import kprof as api
from tests.api.test_run_report import write_model

PARTS = ["completeness", "breakdown", "steps", "top", "gaps", "tree", "ops", "ranks", "next"]
CASES = Path(__file__).resolve().parents[3] / "shared/cases/measurements"


@pytest.fixture
def trace(tmp_path):
    return write_model(tmp_path / "model.json", name="void softmax<float, 128>(float*)")


def names(text: str) -> list[str]:
    return re.findall(r"^== (\w+)", text, re.MULTILINE)


def test_the_parts_stand_in_the_terminal_by_their_names(kprof, trace):
    """All of them, or those that are asked for; each says what its own command says."""
    ran = kprof("trace", "report", trace, "-n", "4")
    assert ran.code == 0, ran.err
    assert names(ran.out) == PARTS
    for name in ("breakdown", "steps", "gaps", "ops"):
        verdict = kprof("trace", name, trace).out.splitlines()[-1]
        assert f"== {name}: {verdict}" in ran.out, name
    assert "softmax<float, 128>" in kprof("trace", "report", trace, "--show", "top").out
    assert names(kprof("trace", "report", trace, "--show", "next,gaps").out) == ["gaps", "next"]
    wrong = kprof("trace", "report", trace, "--show", "gap")
    assert (wrong.code, "did you mean 'gaps'" in wrong.err) == (2, True)


def test_the_page_has_every_part(kprof, trace, tmp_path):
    """From one file without the network, with the same verdicts."""
    page = tmp_path / "page.html"
    ran = kprof("trace", "report", trace, "-o", page)
    assert ran.code == 0, ran.err
    assert names(ran.out) == []
    text = page.read_text()
    assert kprof("trace", "report", trace, "-o", "-").out == text
    assert [one for one in PARTS if f'id="{one}"' in text or f'id="t1-{one}"' in text] == PARTS
    assert "softmax&lt;float, 128&gt;" in text
    assert re.findall(r"https?://(?!www\.w3\.org/)", text) == []


def test_a_trace_is_read_once(monkeypatch, trace):
    """However many parts there are."""
    from kprof_analyzers.profiles.timeline import files

    read, count = files.load, []
    monkeypatch.setattr(files, "load", lambda *given, **named: count.append(given) or read(*given, **named))
    api.trace_report(trace).to_html()
    assert len(count) == 1


def test_what_to_do_next_is_sorted_by_what_it_saves(trace):
    """The same numbers as in the views; the verdict names the first."""
    found = api.trace_report(trace)
    rows = found.to_frame()
    saved = rows["saves_ns"].tolist()
    assert saved == sorted(saved, reverse=True)
    (gaps,) = api.trace_gaps(trace).traces
    launch_bound = gaps.report.by_cause["launch-bound"]
    assert launch_bound in saved
    assert rows["text"][0] in found.summary
    assert json.loads(found.to_json())["next"][0]["saves_ns"] == saved[0]


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not here")
def test_an_incomplete_recording_says_so_first(kprof):
    """The cure is the first thing to do, and what is unknown stands in the verdict."""
    ran = kprof("trace", "report", CASES / "graph_no_kernels.json")
    first = next(line for line in ran.out.splitlines() if line.startswith("== completeness"))
    assert "incomplete" in first
    assert ran.out.splitlines()[-1].startswith("incomplete: ")
    advice = ran.out[ran.out.index("== next") :].splitlines()[1]
    assert advice.startswith("- complete the recording: ")
