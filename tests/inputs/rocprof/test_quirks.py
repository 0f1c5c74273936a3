"""The oddities of real files, one test each. Numbers are those of the list the project keeps of them."""

import json

import pytest

from kprof.inputs import rocprof
from kprof.inputs.rocprof.columns import DISPATCH as VOCABULARY
from kprof.inputs.rocprof.columns import accumulated, instance_of, is_repeated


def kinds(data) -> set[str]:
    """Kinds of the issues."""
    return {issue.kind for issue in data.issues}


def trace(tmp_path, *rows: str, heading: str | None = None):
    """A kernel trace with the given records."""
    first = heading or (
        '"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp",'
        '"End_Timestamp","Workgroup_Size_X","Grid_Size_X","Grid_Size_Z","Dispatch_Id"'
    )
    path = tmp_path / "trace.csv"
    path.write_text("\n".join([first, *rows, ""]), encoding="utf-8")
    return rocprof.read(path)


def test_01_kernel_names_hold_commas_templates_and_five_kilobytes(tmp_path):
    """A 5,200-character name with commas, quotes, lambdas and anonymous namespaces comes through whole."""
    name = "void f<(anonymous namespace)::g{lambda()#1}, quoted, " + "x, " * 1720 + "y>(int, float const*)"
    escaped = name.replace('"', '""')
    data = trace(tmp_path, f'"KERNEL_DISPATCH",1,1,1,"{escaped}",1,100,200,64,64,1,1')
    assert data.dispatches["kernel_name"][0] == name
    assert len(name) > 5000
    assert not data.issues


@pytest.mark.parametrize("name", ["X [clone .kd]", "X.kd", "X (.kd)", "X", '"X.kd"', "X.kd [clone .kd]"])
def test_02_names_lose_each_tools_decoration(name):
    """All ways to write the same kernel become one; the original is kept."""
    assert rocprof.normalise(name) == "X"


def test_02_mangled_names_keep_their_mangling():
    """Only the decoration goes."""
    assert rocprof.normalise("_ZN5aiter3fooE.kd") == "_ZN5aiter3fooE"
    assert rocprof.short("_ZN5aiter3fooE.kd") == "aiter::foo"


def test_03_quoting_bom_and_crlf_do_not_matter(tmp_path):
    """Everything quoted, nothing quoted, a byte order mark and CRLF read the same."""
    heading = "Agent_Id,Queue_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp"
    plain = [
        f"Kind,{heading},Workgroup_Size_X,Grid_Size_X,Grid_Size_Z",
        "K,Agent 4,1,9,k,1,100,250,64,128,1",
    ]
    every = [",".join(f'"{cell}"' for cell in line.split(",")) for line in plain]
    tables = []
    for number, (lines, end, mark) in enumerate([(plain, "\n", ""), (every, "\n", ""), (every, "\r\n", "\ufeff")]):
        path = tmp_path / f"{number}.csv"
        path.write_bytes((mark + end.join([*lines, ""])).encode())
        tables.append(rocprof.read(path).dispatches)
    for table in tables:
        assert table[["agent", "duration_ns", "kernel_id", "grid_x"]].to_numpy().tolist() == [[4, 150, 9, 128]]


def test_04_glued_records_are_reported_and_the_rest_kept(tmp_path):
    """Two records without a line break between them: neither is guessed at, both neighbours stay."""
    row = '"K",1,1,1,"k{0}",1,{0}00,{0}50,64,64,1,{0}'
    data = trace(tmp_path, row.format(1), row.format(2) + row.format(3), row.format(4))
    issue = next(issue for issue in data.issues if issue.kind == "glued-records")
    assert (issue.severity, issue.record) == ("error", 2)
    assert "k2" in (issue.excerpt or "")
    assert data.dispatches["kernel_name"].tolist() == ["k1", "k4"]


def test_05_ids_need_not_start_at_zero_and_may_repeat(tmp_path):
    """Ids 15184 and 111 of two agents, and the same id again from another process: all rows stay apart."""
    rows = [
        '"K","Agent 1",1,1,"a",1,100,150,64,64,1,15184',
        '"K","Agent 2",1,1,"a",1,110,150,64,64,1,15184',
        '"K","Agent 1",1,2,"b",1,500,550,64,64,1,15184',
    ]
    data = trace(tmp_path, *rows)
    assert len(data.dispatches) == 3
    assert kinds(data) == {"ids-repeat"}


def test_06_rounded_timestamps_give_no_durations(files):
    """8.1097E+14 as start and end: the duration is unknown, not 0."""
    data = rocprof.read(files / "omniperf/SQ_LEVEL_WAVES.csv")
    assert data.dispatches["duration_ns"].isna().all()
    assert "rounded-timestamps" in kinds(data)
    assert data.kernels["total_ns"].isna().all()


def test_07_number_formats(tmp_path):
    """%.10f, integers, scientific notation and blanks."""
    path = tmp_path / "c.csv"
    path.write_text(
        "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,arch_vgpr,A,B,C,D\n"
        '0,"k",1,0,0,1,1,64,64,8,4.9375000000,16384,4.731e-03,0.00000000e+00\n'
        '1,"k",1,0,0,1,1,64,64,8,16384.000000,,7,1\n'
    )
    table = rocprof.read(path).counters
    values = {(str(row.counter), row.dispatch): row.value for row in table.itertuples()}
    assert values == {
        ("A", 0): 4.9375,
        ("B", 0): 16384,
        ("C", 0): 0.004731,
        ("D", 0): 0.0,
        ("A", 1): 16384,
        ("C", 1): 7,
        ("D", 1): 1,
    }


@pytest.mark.parametrize("variant", ["1_plain", "2_threads", "3_streams", "4_registers", "5_rocpd"])
def test_08_kernel_trace_headings(files, variant):
    """Five generations of heading."""
    data = rocprof.read(files / f"v3/kernel_trace_{variant}.csv")
    assert data.dispatches["agent"].tolist() == [4 if variant[0] in "345" else 1] * 3
    assert not data.issues


@pytest.mark.parametrize("variant", "1234")
def test_08_counter_collection_headings(files, variant):
    """Four generations of heading."""
    data = rocprof.read(files / f"v3/counter_collection_{variant}.csv")
    assert len(data.dispatches) == 3
    assert ("kernel_id" in data.dispatches) == (variant != "1")
    assert data.dispatches["duration_ns"].notna().all() == (variant in "34")


def test_09_long_and_wide_give_the_same_counters(files):
    """A row a value, or a column a counter."""
    long = rocprof.read(files / "v3/counter_collection_4.csv").counters
    wide = rocprof.read(files / "v3/pivoted.csv").counters
    key = ["dispatch", "counter"]
    left, right = (t.assign(counter=t["counter"].astype(str)).sort_values(key)["value"].tolist() for t in (long, wide))
    assert left == right


def test_09_channels_are_numbers_whatever_their_order():
    """TCC_REQ[10] after TCC_REQ[1] in one tool, after TCC_REQ[9] in another."""
    assert [instance_of(name) for name in ("TCC_REQ[0]", "TCC_REQ[10]", "TCC_REQ_sum")] == [
        ("TCC_REQ", 0),
        ("TCC_REQ", 10),
        ("TCC_REQ_sum", -1),
    ]


def test_10_repeated_metadata_is_no_counter(files):
    """Wave_Size_1 is a column repeated by a join; SQC_DCACHE_REQ_READ_1 is a counter."""
    names = set(rocprof.read(files / "omniperf").counters["counter"].astype(str))
    assert "SQC_DCACHE_REQ_READ_1" in names
    assert not {name for name in names if name.startswith("Wave_Size")}
    assert is_repeated("XCC_Index_9", VOCABULARY)
    assert not is_repeated("SQC_DCACHE_REQ_READ_16", VOCABULARY)


def test_11_passes_of_one_dispatch_are_kept_apart(files):
    """Three start times for one dispatch: three passes, and the total is not the sum of its channels."""
    data = rocprof.read(files / "compute_rocpd")
    assert sorted(set(data.counters["pass"])) == [0, 1, 2]
    assert len(data.dispatches) == 3
    assert {"several-passes", "passes-disagree"} <= kinds(data)


def test_11_a_counter_that_differs_between_files_is_not_averaged(files):
    """GRBM_GUI_ACTIVE of two passes: both values stay, with an issue."""
    data = rocprof.read(files / "omniperf")
    table = data.counters
    values = table.loc[(table["counter"] == "GRBM_GUI_ACTIVE") & (table["dispatch"] == 0), "value"]
    assert sorted(values) == [160000, 190000]
    assert any("GRBM_GUI_ACTIVE differs" in issue.message for issue in data.issues)


def test_11_the_accumulator_gets_the_name_of_what_it_integrates():
    """SQ_ACCUM_PREV_HIRES beside SQ_LEVEL_WAVES; ambiguous beside two levels."""
    assert accumulated(["SQ_LEVEL_WAVES", "SQ_ACCUM_PREV_HIRES"]) == "SQ_LEVEL_WAVES_ACCUM"
    assert accumulated(["SQ_LEVEL_WAVES", "SQ_INST_LEVEL_LDS"]) is None


def test_12_a_zero_that_means_unsupported_is_reported(tmp_path):
    """All reads 0 while the 32-byte ones are not: that is no measurement."""
    path = tmp_path / "c.csv"
    path.write_text(
        "Dispatch_Id,Agent_Id,Grid_Size,Kernel_Name,LDS_Block_Size,VGPR_Count,Workgroup_Size,"
        "TCC_EA0_RDREQ_sum,TCC_EA0_RDREQ_32B_sum,OccupancyPercent\n1,Agent 1,64,k,0,8,64,0.0,77.0,140.0\n"
    )
    data = rocprof.read(path)
    assert {"unsupported-counter", "over-100-percent"} <= kinds(data)
    assert data.counters.loc[data.counters["counter"] == "TCC_EA0_RDREQ_sum", "value"].tolist() == [0.0]


def test_13_files_of_one_workload_with_other_rows_are_reported(files, tmp_path):
    """A pass with a dispatch less."""
    import shutil

    shutil.copytree(files / "omniperf", tmp_path / "w")
    times = tmp_path / "w" / "timestamps.csv"
    times.write_text("".join(times.read_text().splitlines(keepends=True)[:-1]))
    data = rocprof.read(tmp_path / "w")
    assert {"row-sets-differ", "other-dispatches"} <= kinds(data)


def test_14_unknown_system_properties_stay_unknown(files):
    """A clock of 0 and an empty memory clock are not measurements."""
    data = rocprof.read(files / "compute_rocpd")
    properties = data.table("systems").astype(str).set_index("name")["value"]
    assert "max_sclk" not in properties
    assert properties["cu_per_gpu"] == "304"
    assert data.agents["max_clock_mhz"].isna().all()
    assert "unknown-property" in kinds(data)


def test_17_grids_are_work_items(files):
    """4096 work-items in workgroups of 256 are 16 workgroups, in v1 (grd) and v3 (Grid_Size) alike."""
    for name in ("v1/results.csv", "v3/kernel_trace_4_registers.csv", "v3/counter_collection_4.csv"):
        row = rocprof.read(files / name).dispatches.iloc[0]
        assert (row["grid_work_items"], row["workgroups"]) == (4096, 16)


def test_18_v1_json_has_exact_times_in_its_args(files):
    """Ts and dur are cut to microseconds and may be text; the args have nanoseconds. Fragments are read too."""
    exact = rocprof.read(files / "v1/results.json").dispatches
    assert exact["duration_ns"].tolist() == [10_000, 40_000, 9_000]
    fragment = rocprof.read(files / "v1/fragment/results.json")
    assert fragment.dispatches["duration_ns"].tolist() == exact["duration_ns"].tolist()
    assert kinds(fragment) == {"fragment"}


def _copies_first(path):
    """As ``rocprof --sys-trace`` writes: 6 copies, 135 calls with arrows to them, one operation and a barrier."""

    def event(pid, name, begin, end, **more):
        args = {"BeginNs": str(begin), "EndNs": str(end), "pid": "77", "tid": "77", "Name": name, **more}
        head = {
            "ph": "X",
            "name": name,
            "pid": pid,
            "tid": 77,
            "ts": str(begin // 1000),
            "dur": str((end - begin) // 1000),
        }
        return head | {"args": args}

    def label(pid, name):
        return {"args": {"name": name}, "ph": "M", "pid": pid, "name": "process_name", "sort_index": 0}

    events = [
        {},
        label(1, "COPY"),
        *(event(1, "CopyHostToDevice", n * 10_000, n * 10_000 + 4_000) for n in range(1, 7)),
    ]
    events += [label(2, "CPU HIP API"), *(event(2, "hipMemcpy", n * 1000, n * 1000 + 500) for n in range(1, 101))]
    events += [label(3, "CPU HSA API"), *(event(3, "hsa_init", n * 1000, n * 1000 + 100) for n in range(1, 36))]
    arrow = {"ts": 1, "ph": "s", "cat": "DataFlow", "id": 1, "pid": 2, "tid": 77, "name": "dep"}
    events += [arrow, label(6, "GPU0"), event(6, "gemm.kd", 200_000, 230_000, **{"dev-id": "0", "queue-id": "0"})]
    events += [event(6, "<barrier packet>", 240_000, 241_000, **{"dev-id": "0", "queue-id": "0"})]
    lines = [json.dumps(event, separators=(",", ":")) for event in events]
    path.write_text('{ "traceEvents":[' + "\n,".join(lines) + "\n]}")
    return path


def test_18_v1_json_that_begins_with_copies(tmp_path):
    """1 kernel, 6 copies, 135 calls: by what the processes are called; a barrier is no kernel."""
    data = rocprof.read(_copies_first(tmp_path / "results.json"))
    assert (data.sources[0].tool, data.sources[0].format) == ("rocprof", "trace JSON")
    kernel = data.dispatches.iloc[0]
    assert (len(data.dispatches), kernel["kernel_name"], kernel["agent"], kernel["duration_ns"]) == (
        1,
        "gemm",
        0,
        30_000,
    )
    assert (len(data.copies), set(data.copies["direction"])) == (6, {"CopyHostToDevice"})
    assert data.copies["duration_ns"].sum() == 6 * 4_000
    assert data.table("api_calls")["domain"].value_counts().to_dict() == {"HIP_API": 100, "HSA_API": 35}
    assert kinds(data) == {"barriers-left-out"}


def test_18_stats_that_do_not_agree_with_their_trace_are_reported(files, tmp_path):
    """stats.csv is the aggregate of results.csv; a changed one is told."""
    for name in ("results.csv", "results.stats.csv"):
        (tmp_path / name).write_bytes((files / "v1" / name).read_bytes())
    assert "stats-disagree" not in kinds(rocprof.read(tmp_path))
    stats = tmp_path / "results.stats.csv"
    stats.write_text(stats.read_text().replace(",40000,", ",50000,", 1))
    assert "stats-disagree" in kinds(rocprof.read(tmp_path))


def test_19_json_names_come_from_the_symbol_table(files):
    """kernel_id leads to the name; ids are wrapped in handles; agents to logical nodes."""
    table = rocprof.read(files / "v3_json").dispatches
    assert table["kernel_name"].tolist()[1] == "gemm_kernel"
    assert set(table["agent"]) == {4}


def test_20_rocpd_durations_are_nanoseconds(files):
    """Taken from the tables, not from views of which some are in microseconds."""
    import sqlite3

    data = rocprof.read(files / "rocpd")
    with sqlite3.connect(f"file:{files / 'rocpd/run.db'}?mode=ro", uri=True) as connection:
        total = connection.execute('SELECT sum("end" - start) FROM rocpd_kernel_dispatch').fetchone()[0]
    connection.close()
    assert data.kernels["total_ns"].sum() == total == 59_000
    assert data.dispatches["duration_ns"].sum() == total
