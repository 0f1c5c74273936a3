"""``kprof trace`` and ``kprof ingest trace`` as a user runs them."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _builder():
    spec = importlib.util.spec_from_file_location("kineto_builder_cli", ROOT / "tests/artifacts/kineto/builder.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


KINETO = _builder()


@pytest.fixture
def trace(tmp_path):
    """A small model's trace."""
    return KINETO.small_model(KINETO.Builder()).write(tmp_path / "model.json")


def kprof(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the program; a traceback is a failure whatever the exit code."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "analyzers")])
    done = subprocess.run(
        [sys.executable, "-m", "kprof", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
        check=False,
        timeout=120,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_ingest_summarises_and_writes_tables_that_answer_later(trace, tmp_path):
    """The tables' breakdown is the trace's."""
    done = kprof("ingest", "trace", trace, "-o", tmp_path / "out")
    assert done.stdout.splitlines()[-1] == "1 trace, 10 kernels, 0.144 ms kernel time"

    first = kprof("trace", "breakdown", trace, "--json", "-")
    second = kprof("trace", "breakdown", tmp_path / "out", "--json", "-")
    assert json.loads(first.stdout)["traces"] == json.loads(second.stdout)["traces"]


def test_breakdown_says_the_most_important_first_and_draws(trace, tmp_path):
    """Largest category on the first line of the table, the verdict on the last, a picture as SVG."""
    done = kprof("trace", "breakdown", trace, "-o", tmp_path / "share.svg")

    lines = done.stdout.splitlines()
    assert lines[0].split() == ["category", "ms", "share", "count", "largest", "kernel"]
    assert lines[1].split()[:3] == ["MLP", "GEMM", "0.060"]
    assert lines[-1].startswith("measured: GPU busy ")
    assert "MLP GEMM takes 41.7 % of 0.144 ms GPU time" in lines[-1]
    assert (tmp_path / "share.svg").read_text().startswith("<svg")


def test_breakdown_by_name_and_with_own_rules(trace, tmp_path):
    """Names alone cannot tell attention's GEMMs; own rules come first."""
    (tmp_path / "own.toml").write_text('[[category]]\nname = "mine"\nkernel = ["attn_fwd"]\n')
    done = kprof("trace", "breakdown", trace, "--by-name", "--categories", tmp_path / "own.toml", "--json", "-")

    (found,) = json.loads(done.stdout)["traces"]
    assert {c["category"]: c["total_ns"] for c in found["categories"]} == {
        "GEMM": 80_000, "mine": 40_000, "communication": 16_000, "normalization": 8_000,
    }  # fmt: skip
    assert found["by_name_only"] is True


def test_top_kernels_operators_and_triton(trace):
    """Rows are limited, the verdict counts all."""
    done = kprof("trace", "top", trace, "-n", 2)
    assert [line.split()[0] for line in done.stdout.splitlines()[:3]] == ["ms", "0.060", "0.040"]
    assert done.stdout.splitlines()[-1].startswith("5 kernels, 0.144 ms; the largest takes 41.7 %")
    assert "aten::addmm" in kprof("trace", "top", trace, "--show", "operators").stdout.splitlines()[1]
    assert "nothing to show" in kprof("trace", "top", trace, "--show", "triton").stdout


def test_gaps_in_text_and_json(trace):
    """The sums are the same in both."""
    text = kprof("trace", "gaps", trace)
    (found,) = json.loads(kprof("trace", "gaps", trace, "--json", "-").stdout)["traces"]

    assert found["report"]["count"] == 9
    verdict = text.stdout.splitlines()[-1]
    assert verdict.startswith("measured: GPU idle 68.6 % of 0.458 ms, 0.314 ms in 9 gaps; 100.0 % of it launch-bound: ")
    assert '; next: torch.compile(model, mode="reduce-overhead") (' in verdict
    assert "gain not known, at most 0.314 of 0.458 ms, if no launch-bound gap were left" in verdict
    assert found["report"]["span_ns"] == 458_000
    assert sum(found["report"]["by_cause"].values()) == found["report"]["total_ns"]


def test_ranks_from_several_files(tmp_path):
    """One file a rank, in two processes."""
    for rank, compute in enumerate((50.0, 80.0)):
        builder = KINETO.Builder()
        builder.kernel("Cijk", 10.0, compute, 1)
        builder.kernel("ncclDevKernel", 10.0 + compute, 100.0 - compute, 2)
        path = builder.write(tmp_path / f"rank_{rank}.json")
        path.write_bytes(path.read_bytes().replace(b'"rank": 0', b'"rank": %d' % rank))
    done = kprof("trace", "ranks", tmp_path, "-j", 2)

    assert "rank 1 is last most often" in done.stdout.splitlines()[-1]
    assert (
        kprof("trace", "ranks", tmp_path / "rank_0.json").stdout.strip().endswith("one rank only: nothing to compare")
    )


def test_diff_and_its_gate(trace, tmp_path):
    """Exit 1 only when GPU time grew beyond what is allowed."""
    slower = tmp_path / "slower.json"
    slower.write_bytes(trace.read_bytes().replace(b'"dur": 30.0', b'"dur": 60.0'))

    done = kprof("trace", "diff", trace, slower, "--fail-over", 10, code=1)
    assert "kernel time 0.144 -> 0.204 ms (+41.7 %)" in done.stdout.splitlines()[-1]
    kprof("trace", "diff", slower, trace, "--fail-over", 10)
    kprof("trace", "diff", trace, slower)


def test_exports(trace, tmp_path):
    """Perfetto's and speedscope's files are JSON, and tables come as CSV."""
    kprof(
        "ingest", "trace", trace, "--perfetto", tmp_path / "p.json", "--speedscope", tmp_path / "s.json",
        "-o", tmp_path / "csv", "--table-format", "csv",
    )  # fmt: skip
    assert len(json.loads((tmp_path / "p.json").read_text())["traceEvents"]) > 20
    assert json.loads((tmp_path / "s.json").read_text())["profiles"][0]["endValue"] == 144_000
    assert (tmp_path / "csv" / "kernels.csv").read_text().count("\n") == 11


@pytest.mark.parametrize("command", ["breakdown", "top", "gaps", "ranks"])
@pytest.mark.parametrize("content", [b"", b"hello", b'{"a": 1}', b"\x1f\x8bgarbage garbage", b"[1, 2]"])
def test_bad_input_is_one_message_and_exit_2(tmp_path, command, content):
    """From every command, naming the file."""
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    done = kprof("trace", command, path, code=2)

    assert "bad.json" in done.stderr
    assert done.stdout == ""


def test_lost_events_are_told(trace):
    """A cut-off trace is answered for what is there, the cut is told beside and in the verdict; it is no success."""
    data = trace.read_bytes()
    trace.write_bytes(data[: len(data) * 2 // 3])
    for view in ("breakdown", "top", "gaps", "steps", "tree", "ops", "path", "ranks"):
        kprof("trace", view, trace, code=2)
    done = kprof("ingest", "trace", trace, code=2)

    assert "ends in the middle of an event" in done.stderr
    assert done.stdout.splitlines()[-1].endswith("; 1 event could not be read")


def test_a_bad_file_in_a_folder_does_not_end_the_rest(trace, tmp_path):
    """It is left out and named; a bad file that was named itself is an error."""
    (tmp_path / "bad.json").write_text("nothing")
    done = kprof("ingest", "trace", tmp_path)
    assert "left out" in done.stderr
    assert "bad.json" in done.stderr
    kprof("ingest", "trace", trace, tmp_path / "bad.json", code=2)


def test_output_never_goes_into_the_input(trace, tmp_path):
    """A folder that is read is not written to."""
    done = kprof("ingest", "trace", tmp_path, "-o", tmp_path / "inside", code=2)

    assert "inside the input folder" in done.stderr
    assert not (tmp_path / "inside").exists()


def test_unknown_picture_and_format_are_refused(trace, tmp_path):
    """Before or after the answer, in one sentence."""
    assert ".svg or .png, got" in kprof("trace", "breakdown", trace, "-o", tmp_path / "x.gif", code=2).stderr
    assert "--table-format" in kprof("ingest", "trace", trace, "--table-format", "xlsx", code=2).stderr


def test_a_mixed_folder_names_what_was_left_out(trace, tmp_path):
    """Files that are no traces, and a trace that cannot be read: counted, the first named, all of them in the JSON."""
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a.json").write_bytes(Path(trace).read_bytes())
    (folder / "broken.json").write_text('{"some": "thing"}')
    for number in range(6):
        (folder / f"table{number}.csv").write_text("a,b\n1,2\n")
    done = kprof("ingest", "trace", folder, "--json", tmp_path / "out.json")
    assert (
        "6 files whose names do not look like a trace: table0.csv, table1.csv, table2.csv, table3.csv and 2 more"
        in done.stderr
    )
    assert "broken.json" in done.stderr
    assert done.stdout.splitlines()[-1].endswith("; 7 files left out")
    found = json.loads((tmp_path / "out.json").read_text())["left_out"]
    assert sorted(Path(entry["path"]).name for entry in found) == ["broken.json", *(f"table{n}.csv" for n in range(6))]


def test_one_of_something_is_said_as_such(tmp_path):
    """``1 kernel``, not ``1 kernels``, in the lines that people read last."""
    event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "args": {"device": 0, "stream": 7}}
    events = [{**event, "ts": 1000 + 20 * turn, "dur": 5} for turn in range(2)]
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"traceEvents": events}))
    assert kprof("trace", "top", path).stdout.splitlines()[-1].startswith("1 kernel, ")
    assert " ms in 1 gap; 100.0 % of it unknown" in kprof("trace", "gaps", path).stdout.splitlines()[-1]
    assert kprof("trace", "gaps", path).stdout.splitlines()[-1].endswith("causes are unknown; gain not known)")


def test_gaps_that_are_no_time_send_to_the_kernels(tmp_path):
    """Below 1 % of the span the next step is the view of the operators, with the file's name as a shell takes it."""
    event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "args": {"device": 0, "stream": 7}}
    path = tmp_path / "a busy one.json"
    path.write_text(json.dumps({"traceEvents": [{**event, "ts": 1000 + 1001 * turn, "dur": 1000} for turn in (0, 1)]}))
    done = kprof("trace", "gaps", path)
    assert f"; next: kprof trace ops '{path}' (what each operator could gain: only 0.0 % is idle" in done.stdout


def test_a_predicted_trace_is_not_said_to_be_measured(tmp_path):
    """The mark that kprof profile -o leaves before the events."""
    path = _product(tmp_path)
    text = json.dumps({"kprof": {"predicted": True}, **json.loads(path.read_text())}, separators=(",", ":"))
    path.write_text(text)
    for view in ("breakdown", "ops"):
        assert kprof("trace", view, path).stdout.splitlines()[-1].startswith("predicted: ")


def _product(tmp_path, **changes):
    """A trace of one ``aten::mm`` of 1 ms on an MI300X."""
    call = {"ph": "X", "pid": 1, "tid": 1}
    shapes = {"Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::Half", "c10::Half"]}
    events = [
        {**call, "cat": "cpu_op", "name": "aten::mm", "ts": 10, "dur": 80, "args": {"External id": 2, **shapes}},
        {**call, "cat": "cuda_runtime", "name": "hipLaunchKernel", "ts": 20, "dur": 5, "args": {"correlation": 7}},
        {"ph": "X", "pid": 0, "tid": 3, "cat": "kernel", "name": "Cijk_x", "ts": 200, "dur": 1000,
         "args": {"correlation": 7, "device": 0}},
    ]  # fmt: skip
    document = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X"}],
        "traceEvents": events,
    }
    path = tmp_path / "product.json"
    path.write_text(json.dumps({**document, **changes}))
    return path


def test_ops_says_what_is_lost_and_of_how_much(tmp_path):
    """The verdict has the loss and the part of the time that was judged; JSON has the same figures."""
    path = _product(tmp_path)
    done = kprof("trace", "ops", path)
    assert "11 % matrix fp16" in done.stdout
    assert "mm 4096x4096 4096x4096 fp16" in done.stdout
    verdict = done.stdout.splitlines()[-1]
    assert verdict.startswith(
        "measured: 0.895 of 1.000 ms lost against the GPU's limits, most in mm 4096x4096 4096x4096, which reaches 11 % "
        "of the fp16 matrix peak (1.000 ms); 100.0 % of the kernels' 1.000 ms was judged; "
        "next: PYTORCH_TUNABLEOP_ENABLED=1 python PROGRAM (on the GPU it times the libraries' kernels for each "
        "product; gain not known, at most 0.895 of 1.000 ms, if each reached its limit; most in mm 4096x4096 4096x4096)"
    )

    kprof("trace", "ops", path, "-o", tmp_path / "roofline.svg")
    assert "Operators under the limits of MI300X" in (tmp_path / "roofline.svg").read_text()
    (found,) = json.loads(kprof("trace", "ops", path, "--json", "-").stdout)["traces"]
    assert found["limits"]["gpu"] == "MI300X"
    assert found["rows"][0]["flop"] == 2 * 4096**3


def test_ops_without_a_gpu_judges_nothing(tmp_path):
    """No limit, no loss; a product can be named, an architecture has none of its own."""
    path = _product(tmp_path, deviceProperties=[])
    done = kprof("trace", "ops", path)
    command = f"kprof trace ops {path} --arch MI300X (the trace does not name its GPU; MI300X is an example"
    assert "Not judged: the trace does not name its GPU" in done.stdout
    assert "no operator can be placed" in kprof("trace", "ops", path, "-o", tmp_path / "r.svg", code=2).stderr
    assert done.stdout.splitlines()[-1] == (
        "measured: the time lost is not known; work is known for 100.0 % of the kernels' 1.000 ms; "
        f"next: {command}; gain not known)"
    )
    assert "matrix fp16" in kprof("trace", "ops", path, "--arch", "MI325X").stdout
    assert "name a product" in kprof("trace", "ops", path, "--arch", "gfx942", code=2).stderr


def test_ops_answers_from_tables_as_from_the_trace(tmp_path):
    """Scalars that decide the work are kept in the tables."""
    path = _product(tmp_path)
    kprof("ingest", "trace", path, "-o", tmp_path / "out")
    rows = [
        json.loads(kprof("trace", "ops", where, "--json", "-").stdout)["traces"][0]["rows"]
        for where in (path, tmp_path / "out")
    ]
    assert rows[0] == rows[1]


def test_diff_refuses_to_judge_a_trace_that_is_cut_off(trace, tmp_path):
    """Half of the events took half the time: neither green nor red."""
    cut = tmp_path / "cut.json"
    cut.write_bytes(trace.read_bytes()[:-900])
    done = kprof("trace", "diff", cut, trace, "--fail-over", 10, code=2)
    assert "cannot tell whether it is slower" in done.stderr
    assert "incomplete: the file ends" in done.stdout.splitlines()[-1]
    kprof("trace", "diff", cut, trace)


def test_the_gate_does_not_pass_without_the_kernels_of_a_graph(trace, tmp_path):
    """A replay whose kernels were not recorded is no speed-up; a trace without kernels is none either."""
    replay = {"ph": "X", "pid": 1, "tid": 1, "cat": "cuda_runtime", "name": "hipGraphLaunch", "ts": 900, "dur": 5}
    document = json.loads(trace.read_text())
    document["traceEvents"].append({**replay, "args": {"correlation": 987654}})
    faster = tmp_path / "graph.json"
    faster.write_text(json.dumps(document))
    done = kprof("trace", "diff", trace, faster, "--fail-over", 3, code=2)
    assert "1 graph replay has no kernels recorded" in done.stderr
    shown = kprof("trace", "breakdown", faster, code=2)
    assert shown.stdout.splitlines()[-1].startswith("incomplete: 1 graph replay has no kernels recorded; kernel times")
    assert json.loads(kprof("trace", "breakdown", faster, "--json", "-", code=2).stdout)["incomplete"]
    document["traceEvents"] = [event for event in document["traceEvents"] if event.get("cat") != "kernel"]
    faster.write_text(json.dumps(document))
    kprof("trace", "diff", faster, trace, "--fail-over", 3, code=2)


def test_steps_of_a_trace(tmp_path):
    """Each step with its kernels; without marks, that there are none."""
    path = _product(tmp_path)
    assert "no steps are marked" in kprof("trace", "steps", path).stdout
    mark = {"ph": "X", "pid": 1, "tid": 1, "cat": "user_annotation", "name": "ProfilerStep#7", "ts": 0, "dur": 150}
    document = json.loads(path.read_text())
    document["traceEvents"].append({**mark, "args": {}})
    path.write_text(json.dumps(document))
    done = kprof("trace", "steps", path)
    assert "ProfilerStep#7" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 step of 1.000 ms (median)"


def test_tree_of_modules(trace):
    """The model's modules with their share; JSON nests."""
    done = kprof("trace", "tree", trace)
    assert "SelfAttention (2 of them)" in done.stdout
    root = json.loads(kprof("trace", "tree", trace, "--by", "both", "--json", "-").stdout)["traces"][0]["root"]
    assert root["children"][0]["children"][0]["name"].startswith("aten::")


def test_one_page_about_a_trace(trace, tmp_path):
    """Its incompleteness is on it; nothing but the page is written."""
    page = tmp_path / "page.html"
    done = kprof("trace", "report", trace, "-o", page)
    assert "1 trace" in done.stdout.splitlines()[-1]
    assert page.read_text().startswith("<!")
    document = json.loads(trace.read_text())
    replay = {"ph": "X", "pid": 1, "tid": 1, "cat": "cuda_runtime", "name": "hipGraphLaunch", "ts": 900, "dur": 5}
    document["traceEvents"].append({**replay, "args": {"correlation": 987654}})
    graph = tmp_path / "graph.json"
    graph.write_text(json.dumps(document))
    kprof("trace", "report", graph, "-o", page, code=2)
    assert "1 graph replay has no kernels recorded" in page.read_text()
