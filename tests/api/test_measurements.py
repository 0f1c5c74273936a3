"""Questions to measurements as Python asks them: the same documents as the commands', frames, files, pictures."""

import importlib.util
import json
from html import escape
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import kprof

ARTIFACTS = Path(__file__).parents[1] / "artifacts"
counter_metrics, counter_roofline, read_counters = kprof.counter_metrics, kprof.counter_roofline, kprof.read_counters
COUNTERS = [ARTIFACTS / "rocprof/v3" / name for name in ("counter_collection_1.csv", "agent_info.csv")]


@pytest.fixture
def trace(tmp_path):
    """A small model's trace."""
    spec = importlib.util.spec_from_file_location("kineto_builder_api", ARTIFACTS / "kineto/builder.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.small_model(module.Builder()).write(tmp_path / "model.json")


TRACES = {
    "breakdown": (kprof.trace_breakdown, ("trace", "breakdown"), "category", {"total_ns", "share"}),
    "top": (kprof.trace_top, ("trace", "top"), "name", {"total_ns", "count"}),
    "gaps": (kprof.trace_gaps, ("trace", "gaps", "-n", 0), "cause", {"duration_ns", "rank"}),
    "ranks": (kprof.trace_ranks, ("trace", "ranks", "-n", 0), "name", {"waited_ns", "last"}),
    "tree": (kprof.trace_tree, ("trace", "tree"), "place", {"total_ns", "own_ns"}),
    "steps": (kprof.trace_steps, ("trace", "steps"), "name", {"kernel_ns", "phase"}),
    "path": (kprof.trace_path, ("trace", "path"), "name", {"total_ns", "kind"}),
    "ops": (kprof.trace_ops, ("trace", "ops"), "name", {"total_ns", "lost_ns"}),
    "summary": (kprof.trace_summary, ("ingest", "trace"), "name", {"total_ns", "category"}),
}


@pytest.mark.parametrize("question", TRACES)
def test_an_answer_about_a_trace_is_the_commands(question, trace, kprof):
    """The document is what ``--json`` writes; the verdict is printed last; the frame has columns without rows, too."""
    function, command, first, columns = TRACES[question]
    found = function(trace)
    ran = kprof(*command, trace, "--json", "-")
    assert json.loads(found.to_json()) == json.loads(ran.out)
    assert kprof(*command, trace, "-q").out.splitlines() == [found.summary]
    assert {first, *columns} <= set(found.to_frame().columns)
    assert escape(found.summary) in found._repr_html_()


def test_frames_have_what_the_document_has(trace):
    """Kernels by time, categories that add up, both tables of ``trace_top``."""
    top = kprof.trace_top(trace)
    frame = top.to_frame()
    assert frame["total_ns"].is_monotonic_decreasing
    assert frame["share"].sum() == pytest.approx(1.0)
    assert list(top.to_frame("operators")["name"]) == [one.name for one in top.traces[0].operators]
    assert int(kprof.trace_breakdown(trace).to_frame()["total_ns"].sum()) == int(frame["total_ns"].sum())
    with pytest.raises(kprof.KprofError, match="there is no table 'x'"):
        top.to_frame("x")


def test_two_traces(trace, tmp_path):
    """The same trace twice has not grown; a picture and tables are written."""
    found = kprof.trace_diff(trace, trace)
    assert found.grown_percent == 0
    assert set(found.to_frame()["delta_ns"]) == {0}
    found.draw(tmp_path / "bars.svg")
    assert ET.parse(tmp_path / "bars.svg").getroot().tag.endswith("svg")
    (said,) = kprof.trace_summary(trace).write_tables(tmp_path / "tables")
    assert said.startswith("written: ")
    kernels = kprof.trace_top(tmp_path / "tables").to_frame()
    assert set(kernels["name"]) == {one.name for one in found.comparison.kernels}


def test_what_cannot_be_read_is_left_out_of_a_folder_and_raises_by_name(trace, tmp_path):
    """In a folder the rest counts."""
    (tmp_path / "broken.json").write_text("{")
    found = kprof.trace_top(tmp_path)
    assert [Path(one.path).name for one in found.left_out] == ["broken.json"]
    assert len(found.traces) == 1
    with pytest.raises(kprof.InputError, match=r"broken\.json"):
        kprof.trace_top(tmp_path / "broken.json")


def test_counters(kprof, tmp_path):
    """Metrics and roofline are those of the commands, and are saved by the ending of a name."""
    for function, name in ((counter_metrics, "metrics"), (counter_roofline, "roofline")):
        found = function(*COUNTERS)
        written = found.save(tmp_path / f"{name}.json")
        assert json.loads(written.read_text()) == json.loads(kprof("counters", name, *COUNTERS, "--json", "-").out)
        assert kprof("counters", name, *COUNTERS, "-q").out.splitlines()[-1] == found.summary
    metrics = counter_metrics(*COUNTERS).to_frame()
    assert metrics["value"].isna().any()
    assert not (metrics["value"] == 0).all()
    counters = read_counters(*COUNTERS)
    assert counters.document == json.loads(kprof("ingest", "counters", *COUNTERS, "--json", "-").out)
    assert {path.name for path in counters.write_tables(tmp_path / "t", file_format="csv")} >= {"kernels.csv"}


def test_a_picture_is_shown_and_saved(tmp_path):
    """As the command draws it; what is no layout is an error."""
    drawn = kprof.draw_layout("mfma", setting={"warpsPerCTA": "2x2"})
    assert drawn._repr_svg_() == drawn.save(tmp_path / "x.svg").read_text()
    assert ET.fromstring(drawn.svg).tag.endswith("svg")
    with pytest.raises(kprof.KprofError, match="a mfma layout has no field 'warps'"):
        kprof.draw_layout("mfma", setting={"warps": "2x2"})


def test_without_a_gpu_measuring_says_so():
    """The error's class tells it from a kernel that is not there."""
    with pytest.raises(kprof.TargetError):
        kprof.measure("no_such_kernel")


def test_a_machine_is_diagnosed(tmp_path):
    """A row a check; a folder that is not there is an error."""
    found = kprof.diagnose(root=tmp_path)
    assert len(found.to_frame()) == len(found.document.checks) > 0
    assert found.summary == found.document.verdict.summary
    with pytest.raises(kprof.KprofError, match="no such folder"):
        kprof.diagnose(root=tmp_path / "x")
    with pytest.raises(kprof.KprofError, match="no workload x"):
        kprof.diagnose(root=tmp_path, workload="x")
