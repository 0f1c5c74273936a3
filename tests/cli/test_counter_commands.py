"""kprof ingest counters, tunableop and thread-trace, and kprof counters."""

import csv
import json
import re
from pathlib import Path

import pytest

from kprof.reporters.metrics_text import metrics_table
from tests.analyzers.profiles.counters.test_identity import agents, collection

FILES = Path(__file__).parents[1] / "artifacts" / "rocprof"


def test_ingest_says_what_was_read(kprof):
    """Tool, version, format, GPU, kernels by time, counters, verdict last."""
    ran = kprof("ingest", "counters", FILES / "rocpd", FILES / "v3/agent_info.csv")
    assert ran.code == 0
    for text in ("rocprofv3", "schema 3", "rocpd database", "MI300X", "gemm_kernel", "67.8 %", "4 counters"):
        assert text in ran.out
    assert ran.out.strip().splitlines()[-1].startswith("read 2 files, 3 dispatches")


def test_dispatches_that_were_traced_and_counted_are_not_added(kprof):
    """A run's trace and its counters are two files about the same dispatches."""

    def verdict(*names):
        return kprof("ingest", "counters", *(FILES / "v3" / name for name in names)).out.strip().splitlines()[-1]

    alone = verdict("kernel_trace_1_plain.csv"), verdict("counter_collection_1.csv")
    traced, counted = (int(re.search(r"(\d+) dispatch", line)[1]) for line in alone)
    both = verdict("kernel_trace_1_plain.csv", "counter_collection_1.csv")
    assert both.startswith(f"read 2 files, {traced} dispatches traced, {counted} counted")


def test_ingest_reports_issues_and_strict_makes_them_matter(kprof, tmp_path):
    """A cut record: reported, exit code 0; with --strict 2."""
    path = tmp_path / "t.csv"
    path.write_text((FILES / "v3/kernel_trace_4_registers.csv").read_text() + '"KERNEL_DISPATCH","Agent 4",1')
    assert kprof("ingest", "counters", path).code == 0
    ran = kprof("ingest", "counters", path, "--strict")
    assert ran.code == 2
    assert "cut-record" in ran.out


@pytest.mark.parametrize("form", ["parquet", "csv", "json"])
def test_tables_are_written_whole(kprof, tmp_path, form):
    """Every table, the sources and the issues; read back by another reader."""
    import pandas as pd

    ran = kprof("ingest", "counters", FILES / "omniperf", "-o", tmp_path / "out", "--table-format", form, "-q")
    assert ran.code == 0
    names = {path.stem for path in (tmp_path / "out").iterdir()}
    assert {"dispatches", "counters", "kernels", "sources", "issues", "agents"} <= names
    back = getattr(pd, f"read_{form}")(tmp_path / "out" / f"dispatches.{form}")
    assert back["duration_ns"].tolist() == [10_000, 40_000, 9_000]


def test_json_document(kprof):
    """Schema, kernels with sums, issues with file and words; nothing else on standard output."""
    document = json.loads(kprof("ingest", "counters", FILES / "v3/counter_collection_4.csv", "--json", "-").out)
    assert document["schema"] == "kprof.counters/1"
    assert {kernel["kernel_name"]: kernel["total_ns"] for kernel in document["kernels"]}["gemm_kernel"] == 40_000
    sums = {(row["kernel_name"], row["counter"]): row["sum"] for row in document["counters"]}
    assert sums["gemm_kernel", "TCC_HIT_sum"] == 9000


def test_output_into_the_input_folder_is_refused(kprof, tmp_path):
    """Nothing is ever written into an input directory."""
    (tmp_path / "r.csv").write_bytes((FILES / "v1/results.csv").read_bytes())
    ran = kprof("ingest", "counters", tmp_path, "-o", tmp_path / "out")
    assert ran.code == 2
    assert "inside the input folder" in ran.err
    assert not (tmp_path / "out").exists()


def test_unreadable_input_is_one_message(kprof, tmp_path):
    """Exit 2, no traceback."""
    (tmp_path / "x.bin").write_bytes(b"\x00\x01garbage")
    for target in (tmp_path / "x.bin", tmp_path / "nothing"):
        ran = kprof("ingest", "counters", target)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.count("kprof:") == 1
        assert "Traceback" not in ran.err


def test_metrics_of_a_workload(kprof):
    """The GPU comes from sysinfo.csv; what is missing is asked for with --pmc."""
    ran = kprof("counters", "metrics", FILES / "omniperf")
    assert ran.code == 0
    assert "gfx942 · MI300X · 304 CUs on 8 XCDs" in ran.out
    assert "L2 bandwidth" in ran.out
    assert "rocprofv3 --pmc" in ran.out


def test_metrics_as_json(kprof):
    """Value, unit, formula, source and confidence; or the missing counters."""
    document = json.loads(kprof("counters", "metrics", FILES / "omniperf", "-k", "gemm", "--json", "-").out)
    found = document["kernels"][0]["metrics"]
    assert found["l2_bandwidth"]["value"] == pytest.approx(803 * 128 / 40_000)
    assert found["l2_bandwidth"]["confidence"] == "one pass"
    assert found["vl1d_hit_rate"]["value"] is None
    assert "TCP_TOTAL_CACHE_ACCESSES_sum" in found["vl1d_hit_rate"]["missing"]
    assert document["collect"]


def test_metrics_need_a_gpu_and_counters(kprof):
    """Each missing thing is named with what to do."""
    ran = kprof("counters", "metrics", FILES / "v3/pivoted.csv")
    assert ran.code == 2
    assert "--arch" in ran.err
    assert kprof("counters", "metrics", FILES / "v3/pivoted.csv", "--arch", "MI300X").code == 0
    assert "no counters" in kprof("counters", "metrics", FILES / "v1/results.csv", "--arch", "MI300X").err
    assert "near" not in kprof("counters", "metrics", FILES / "v3/pivoted.csv", "--arch", "MI999").out


def test_pmc_lines_only(kprof):
    """For scripts: one command a line."""
    lines = kprof("counters", "metrics", FILES / "omniperf", "--pmc").out.strip().splitlines()
    assert lines
    assert all(line.startswith("rocprofv3 --pmc ") for line in lines)


def test_roofline_with_missing_counters_says_what_to_collect(kprof, tmp_path):
    """And still writes a picture that says so."""
    ran = kprof("counters", "roofline", FILES / "omniperf", "-o", tmp_path / "r.svg")
    assert ran.code == 0
    assert "0 of 2 kernels placed" in ran.out
    assert (tmp_path / "r.svg").read_text().startswith("<svg")


def test_roofline_of_published_kernels(kprof, shared, tmp_path):
    """2,894 kernels, counters from one file, times from the other; one has gaps in its counters."""
    ran = kprof(
        "counters", "roofline", shared / "samples/rocprof_v3/moe_gfx942_wide", "--arch", "MI300X", "--json", "-"
    )
    document = json.loads(ran.out)
    placed = [point for point in document["kernels"] if point["share"] is not None]
    assert (len(placed), len(document["kernels"])) == (2893, 2894)
    assert all(0 < point["share"] < 1.05 for point in placed)


def test_thread_trace_lists_all_dispatches(kprof, tmp_path):
    """The fill comes first in the folder and last in the list; the kernel is named and shown."""
    for number, name in ((1, "__amd_rocclr_fillBufferAligned"), (2, "gemm")):
        place = tmp_path / f"ui_output_agent_1_dispatch_{number}"
        place.mkdir()
        (place / "code.json").write_text(
            json.dumps({"code": [[f"; {name}", 0, 0, "", 4, 0, 0, 0], ["s_endpgm", 0, 1, "", 4, 4, number, 10]]})
        )
    ran = kprof("ingest", "thread-trace", tmp_path)
    assert ran.code == 0
    assert ran.out.index("gemm") < ran.out.index("fillBufferAligned")
    assert "2 dispatches" in ran.out
    assert re.search(r"^gemm   code.json", ran.out, re.MULTILINE)


def test_thread_trace(kprof, tmp_path):
    """By line and instruction, and as JSON."""
    path = tmp_path / "att.csv"
    path.write_text('CodeObj, Vaddr, Instruction, Hitcount, Latency, Source\n4,8,"s_barrier",5,100,k.py:7\n')
    ran = kprof("ingest", "thread-trace", path)
    assert ran.code == 0
    assert "k.py:7" in ran.out
    assert ran.out.strip().splitlines()[-1] == "5 instructions issued in 100 cycles, summed over wavefronts"
    assert json.loads(kprof("ingest", "thread-trace", path, "--json", "-").out)["lines"][0]["latency"] == 100


def test_thread_trace_of_single_wavefronts(kprof, tmp_path):
    """What stalled, how long wavefronts were in each state, and how many were resident; the same as JSON."""
    code = [["s_barrier", 0, 1, "k.py:7", 4, 8, 2, 80]]
    wave = {"begin": 0, "end": 90, "cu": 0, "simd": 0, "slot": 0, "instructions": [[10, 9, 30, 80, 1]]}
    occupancy = {"0": [[0, 0, 0, 0, 1, 1], [50, 1, 0, 0, 1, 1], [100, 0, 0, 0, 0, 1], [100, 1, 0, 0, 0, 1]]}
    files = {
        "code.json": {"code": code},
        "se0_sm0_sl0_wv0.json": {"name": "SE0", "duration": 90, "num_insts": 1, "wave": wave},
        "wstates2.json": {"time": [0, 60], "state": [1, 0]},
        "wstates4.json": {"time": [60, 80], "state": [1, 0]},
        "occupancy.json": occupancy,
        "filenames.json": {"wave_filenames": {"0": {"0": {"0": {"0": ["a", 0, 40], "1": ["b", 0, 40]}}}}},
    }
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    ran = kprof("ingest", "thread-trace", tmp_path)
    assert ran.code == 0
    assert "1 of 2 listed wavefronts have their own file" in ran.out
    assert "states     exec 75.0 %, stall 25.0 % of 80 wavefront cycles" in ran.out
    assert "shader engine 0: mean 1.5, at most 2 wavefronts; a CU of 2: mean 0.8, at most 1" in ran.out
    assert ran.out.strip().splitlines()[-1].startswith("2 instructions issued in 80 cycles")
    document = json.loads(kprof("ingest", "thread-trace", tmp_path, "--json", "-").out)
    assert [(one["source"], one["stall"], one["idle"]) for one in document["stalled"]] == [("k.py:7", 30, 10)]
    assert document["timeline"]["wavefronts"][0]["cycles"] == 90
    assert [one["share"] for one in document["timeline"]["states"]] == [0.75, 0.25]
    (tmp_path / "se0_sm0_sl0_wv0.json").write_text("{")
    (tmp_path / "wstates4.json").write_text("[]")
    ran = kprof("ingest", "thread-trace", tmp_path)
    assert "warning  se0_sm0_sl0_wv0.json is left out: " in ran.out
    assert "states     exec 60 of 60 wavefront cycles" in ran.out


def test_tunableop(kprof, tmp_path):
    """Verdict with the time lost."""
    path = tmp_path / "t.csv"
    path.write_text(
        "Validator,GCN_ARCH_NAME,gfx942\nGemmTunableOp_Half_TN,tn_8_8_8,Default,3.0\n"
        "GemmTunableOp_Half_TN,tn_8_8_8,Gemm_Hipblaslt_1,1.0\n"
    )
    ran = kprof("ingest", "tunableop", path)
    assert ran.code == 0
    assert "2 ms lost" in ran.out.strip().splitlines()[-1]
    assert json.loads(kprof("ingest", "tunableop", path, "--json", "-").out)["gains"][0]["lost_milliseconds"] == 2.0


def test_csv_output_has_whole_kernel_names(kprof, tmp_path):
    """Commas and brackets in a name survive the way out and back."""
    kprof("ingest", "counters", FILES / "v1/results.csv", "-o", tmp_path / "o", "--table-format", "csv", "-q")
    with (tmp_path / "o/dispatches.csv").open(newline="") as file:
        assert next(csv.DictReader(file))["kernel_name"] == "void copy<float, 4>(float const*, float*, int)"


def test_groups_get_lines_of_their_own_where_names_would_be_cut(monkeypatch):
    """In a narrow terminal every metric keeps its whole name; in a wide one the group stands beside it."""
    rows = [["memory", "L2 hit rate", "4.5", "%"], ["", "Bytes written over the fabric", "2,304", "bytes"]]
    monkeypatch.setattr("kprof.output.tables.table_width", lambda: 50)
    lines = metrics_table(rows, ["run 1"]).splitlines()
    assert [line.split("  ")[0] for line in lines if not line.startswith(" ")] == ["metric", "memory"]
    assert any(line.startswith("  Bytes written over the fabric") for line in lines)
    monkeypatch.setattr("kprof.output.tables.table_width", lambda: 80)
    assert len(metrics_table(rows, ["run 1"]).splitlines()) == 3


def test_why_kernels_have_no_place_under_the_roof_is_said_once(kprof, tmp_path):
    """The reason stands below the table, and takes no room from the names in it."""
    text = (FILES / "v3/counter_collection_4.csv").read_text()
    (tmp_path / "c.csv").write_text(text)
    ran = kprof("counters", "roofline", tmp_path / "c.csv", "--arch", "MI300X")
    assert ran.code == 0
    rows = [line for line in ran.out.splitlines() if "not placed (" in line]
    assert rows
    assert all(line.endswith("not placed (1)") for line in rows)
    assert sum(line.startswith("(1) ") for line in ran.out.splitlines()) == 1


def _run(folder, nanoseconds):
    """One launch that counted 1,000 KiB read and took so long."""
    folder.mkdir()
    lines = (FILES / "v3/counter_collection_4.csv").read_text().splitlines()
    name = '"k",256,0,0,8,4,16,"FETCH_SIZE",1000'
    row = f'1,1,"Agent 4",1,77,77,4096,12,{name},1000000,{1_000_000 + nanoseconds}'
    (folder / "counters.csv").write_text(f"{lines[0]}\n{row}\n")
    return folder


def test_two_runs_stand_side_by_side_with_their_ratio(kprof, tmp_path):
    """1,000 KiB in 1,000 ns and in 2,000 ns: 1,024 and 512 GB/s, half as much; never one number."""
    runs = _run(tmp_path / "before", 1000), _run(tmp_path / "after", 2000)
    ran = kprof("counters", "metrics", *runs, "--arch", "MI300X")
    assert ran.code == 0
    (line,) = [line for line in ran.out.splitlines() if "read bandwidth" in line]
    assert re.findall(r"[\d,.]+", line.partition("bandwidth")[2]) == ["1,024", "512", "0.500"]
    assert "run 2  after" in ran.out
    document = json.loads(kprof("counters", "metrics", *runs, "--arch", "MI300X", "--json", "-").out)
    assert [one["run"] for one in document["kernels"]] == ["after", "before"]
    assert [one["metrics"]["hbm_read_bandwidth"]["value"] for one in document["kernels"]] == pytest.approx([512, 1024])


def test_runs_and_dispatches_are_chosen(kprof, tmp_path):
    """By number or a part of the path; what is not there is an error."""
    runs = _run(tmp_path / "before", 1000), _run(tmp_path / "after", 2000)
    for choice in ("2", "aft"):
        out = kprof("counters", "metrics", *runs, "--arch", "MI300X", "--only-run", choice).out
        assert re.search(r"read bandwidth +512 ", out)
    for option, value in (("--only-run", "other"), ("--dispatch", "7"), ("--by", "colour")):
        ran = kprof("counters", "metrics", *runs, "--arch", "MI300X", option, value)
        assert ran.code == 2
        assert value in ran.err


def test_ingest_does_not_add_up_runs(kprof, tmp_path):
    """1,000 ns before and 2,000 ns after are two rows with their own means, not one of 1,500 ns."""
    runs = _run(tmp_path / "before", 1000), _run(tmp_path / "after", 2000)
    out = kprof("ingest", "counters", *runs).out
    assert re.search(r"^k +after +1 +0\.0020* +2 +100\.0 %", out, re.MULTILINE)
    assert re.search(r"^k +before +1 +0\.0010* +1 +100\.0 %", out, re.MULTILINE)
    assert " run " not in kprof("ingest", "counters", runs[0]).out


@pytest.fixture
def runs(tmp_path):
    """Two kernels with four dispatches each; in the second run each takes 10 % longer."""
    for side, ns in (("before", 10_000), ("after", 11_000)):
        rows = [{"ns": ns + n, "FETCH_SIZE": 1000.0, "name": name} for name in ("gemm", "copy") for n in range(4)]
        collection(tmp_path / side / "c.csv", *rows)
        agents(tmp_path / side / "agent_info.csv", (4, "gfx942", "AMD Instinct MI300X"))
    return tmp_path / "before", tmp_path / "after"


def test_diff_of_two_runs(kprof, runs):
    """Verdict, document and rows of CSV say the same; --fail-over decides the exit code."""
    before, after = runs
    ran = kprof("counters", "diff", before, after)
    assert ran.code == 0
    assert "(+10.0 %)" in ran.out.strip().splitlines()[-1]
    document = json.loads(kprof("counters", "diff", before, after, "--json", "-").out)
    assert document["schema"] == "kprof.counters.diff/1"
    assert document["after_ns"] == pytest.approx(1.1 * document["before_ns"], rel=1e-3)
    rows = list(csv.DictReader(kprof("counters", "diff", before, after, "--csv", "-").out.splitlines()))
    assert len(rows) == sum(1 + len(pair["metrics"]) for pair in document["kernels"])
    assert {row["metric"] for row in rows} >= {"nanoseconds", "hbm_read_bandwidth"}
    assert {row["beyond_spread"] for row in rows if row["metric"] == "nanoseconds"} == {"True"}
    assert kprof("counters", "diff", before, after, "--fail-over", "5").code == 1
    assert kprof("counters", "diff", before, after, "--fail-over", "15").code == 0
    assert kprof("counters", "diff", after, before, "--fail-over", "0").code == 0


def test_diff_that_cannot_tell_exits_with_2(kprof, runs):
    """A kernel that only one run has; with --kernel the others are judged."""
    before, after = runs
    path = after / "c.csv"
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if "gemm" not in line))
    ran = kprof("counters", "diff", before, after, "--fail-over", "50")
    assert (ran.code, "1 kernel has no partner" in ran.err) == (2, True)
    assert "1 only in the first run: gemm" in ran.out
    # What was compared is too slow already.
    assert kprof("counters", "diff", before, after, "--fail-over", "5").code == 1
    assert kprof("counters", "diff", before, after, "-k", "copy", "--fail-over", "50").code == 0
