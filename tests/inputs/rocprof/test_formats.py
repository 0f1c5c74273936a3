"""Every format gives the same run in the same schema."""

from pathlib import Path

import pytest

from kprof.inputs import rocprof

COPY, GEMM = "void copy<float, 4>(float const*, float*, int)", "gemm_kernel"
TIMED = [
    "v1/results.csv",
    "v1/results.json",
    "v1/fragment",
    "v1/results.db",
    "v2",
    "v3/kernel_trace_1_plain.csv",
    "v3/kernel_trace_2_threads.csv",
    "v3/kernel_trace_3_streams.csv",
    "v3/kernel_trace_4_registers.csv",
    "v3/kernel_trace_5_rocpd.csv",
    "v3/counter_collection_3.csv",
    "v3/counter_collection_4.csv",
    "v3_json",
    "rocpd",
    "compute_rocpd/pmc_perf.csv",
]
COUNTED = [
    "v1/counters",
    "v2",
    "v3/counter_collection_1.csv",
    "v3/counter_collection_2.csv",
    "v3/counter_collection_3.csv",
    "v3/counter_collection_4.csv",
    "v3/pivoted.csv",
    "v3_json",
    "rocpd",
]


@pytest.mark.parametrize("name", TIMED)
def test_times_grids_and_names_are_the_same_in_every_format(files, name):
    """Two kernels, three dispatches, 59,000 ns; sizes in work-items; no decoration left on names."""
    table = rocprof.read(files / name).dispatches
    assert table["kernel_name"].tolist() == [COPY, GEMM, COPY]
    assert table["duration_ns"].tolist() == [10_000, 40_000, 9_000]
    assert table["start_ns"].tolist() == [1_000_000, 1_020_000, 1_070_000]
    assert table["grid_work_items"].tolist() == [4096, 8192, 4096]
    assert table["workgroup_work_items"].tolist() == [256, 512, 256]
    assert table["workgroups"].tolist() == [16, 16, 16]
    assert table["lds_bytes"].tolist() == [0, 32768, 0]


@pytest.mark.parametrize("name", COUNTED)
def test_counter_values_are_the_same_in_every_format(files, name):
    """Four counters of three dispatches, with the kernel that each value is of."""
    table = rocprof.read(files / name).counters
    values = {(str(row.kernel_name), str(row.counter), row.dispatch): row.value for row in table.itertuples()}
    assert len(table) == 12
    assert values[GEMM, "TCC_HIT_sum", 1] == 9000
    assert values[COPY, "TCC_HIT_sum", 2] == 110
    assert table.loc[table["counter"] == "SQ_INSTS_VALU", "value"].sum() == 67584
    assert set(table["instance"]) == {-1}


@pytest.mark.parametrize("name", TIMED)
def test_kernels_are_the_sums_of_the_dispatches(files, name):
    """The kernels table agrees with adding up the dispatches by hand."""
    table = rocprof.read(files / name).kernels.set_index("kernel_name")
    assert table["calls"].to_dict() == {COPY: 2, GEMM: 1}
    assert table["total_ns"].to_dict() == {COPY: 19_000, GEMM: 40_000}
    assert table.loc[COPY, "min_ns"] == 9_000
    assert table.loc[COPY, "max_ns"] == 10_000


def test_registers_are_read_where_the_tool_tells_them(files):
    """VGPRs, AGPRs and SGPRs of the GEMM, in the formats that have them."""
    for name in ("v1/results.csv", "v2", "v3/kernel_trace_4_registers.csv", "v3_json", "rocpd"):
        row = rocprof.read(files / name).dispatches.iloc[1]
        assert (row["vgprs"], row["agprs"], row["sgprs"]) == (128, 64, 32), name
    assert "vgprs" not in rocprof.read(files / "v3/kernel_trace_1_plain.csv").dispatches


@pytest.mark.parametrize(
    ("name", "tool", "kind"),
    [
        ("v1/results.csv", "rocprof", "kernel table"),
        ("v1/results.hip_stats.csv", "rocprof", "stats"),
        ("v2/results_77.csv", "rocprofv2", "kernel table"),
        ("v3/kernel_trace_1_plain.csv", "rocprofv3", "kernel trace"),
        ("v3/counter_collection_1.csv", "rocprofv3", "counter collection"),
        ("v3/pivoted.csv", "rocprofv3", "counter collection, pivoted"),
        ("v3/agent_info.csv", "rocprofv3", "agent info"),
        ("v3/rccl_trace.csv", "rocprofv3", "API trace"),
        ("v3_json/results.json", "rocprofv3", "results JSON"),
        ("rocpd/run.db", "rocprofv3", "rocpd database"),
        ("omniperf/sysinfo.csv", "Omniperf", "workload system"),
        ("omniperf/roofline.csv", "rocprof-compute", "measured peaks"),
        ("omniperf/analyze/2.1_Speed-of-Light.csv", "rocprof-compute", "derived metrics"),
    ],
)
def test_the_format_is_found_by_content(files, tmp_path, name, tool, kind):
    """A file with a meaningless name and no suffix is recognised as well."""
    anonymous = tmp_path / "x"
    anonymous.write_bytes((files / name).read_bytes())
    source = rocprof.read(anonymous).sources[0]
    assert (source.tool, source.format) == (tool, kind)
    assert source.rows > 0


def test_api_calls_copies_allocations_and_scratch(files):
    """The other traces of rocprofv3, with times in ns and sizes in bytes."""
    data = rocprof.read(files / "v3")
    calls = data.table("api_calls").set_index("function")
    assert calls.loc["hipLaunchKernel", "duration_ns"] == 800
    assert calls.loc["ncclAllReduce", "domain"] == "RCCL_API"
    assert "step(rows=4, cols=5)" in calls.index
    assert data.copies["duration_ns"].tolist() == [500, 400]
    assert data.copies["destination_agent"].tolist() == [0, 1]
    assert data.table("allocations")["bytes"].tolist() == [1024]
    assert data.table("scratch")["agent"].tolist() == [4]
    gpu = data.agents.set_index("type").loc["GPU"]
    assert (gpu["agent"], gpu["node_id"], gpu["cu_count"], gpu["xcd_count"]) == (4, 6, 304, 8)


def test_rocpd_has_calls_copies_and_allocations_too(files):
    """Joined by id in Python; agents are absolute indexes; the environment of the process is never read."""
    data = rocprof.read(files / "rocpd")
    assert data.table("api_calls")[["domain", "function"]].astype(str).to_numpy().tolist() == [
        ["HIP_RUNTIME_API", "hipLaunchKernel"]
    ]
    assert data.copies[["source_agent", "destination_agent", "bytes"]].to_numpy().tolist() == [[0, 4, 4096]]
    assert set(data.dispatches["agent"]) == {4}
    assert "hush" not in data.table("systems").to_string()
    assert data.sources[0].version == "schema 3"


def test_the_kernels_of_a_database_are_told_without_loading_its_rows(files, shared):
    """Neither the kernels nor the (absent) counters load the dispatches; the dispatches do."""
    data = rocprof.read(shared / "samples/rocpd/llamacpp_gfx1201/32432_results.db")
    assert len(data.kernels) == 15
    assert len(data.counters) == 0
    assert not data.is_loaded
    assert len(data.dispatches) == 5687
    assert data.is_loaded


def test_json_has_calls_and_copies_too(files):
    """Ids wrapped in handles are resolved; names come from the string tables."""
    data = rocprof.read(files / "v3_json")
    assert data.table("api_calls")["function"].tolist() == ["hipLaunchKernel"]
    assert data.copies[["source_agent", "destination_agent", "bytes"]].to_numpy().tolist() == [[0, 4, 4096]]
    assert data.dispatches["stream_id"].tolist() == [5, 5, 5]


def test_columns_do_not_share_memory(files):
    """Writing to one column changes no other."""
    table = rocprof.read(files / "v3/kernel_trace_4_registers.csv").dispatches
    before = table["grid_x"].tolist()
    table.loc[:, "grid_work_items"] = 0
    assert table["grid_x"].tolist() == before


def test_pc_samples_of_both_kinds(files):
    """A full 64-lane mask fits; reasons lose their long prefixes."""
    host = rocprof.read(files / "v3/pc_sampling_host_trap.csv").table("samples").iloc[0]
    assert host["exec_mask"] == 2**64 - 1
    assert host["source_line"] == "copy.hip:7"
    other = rocprof.read(files / "v3/pc_sampling_stochastic.csv").table("samples").iloc[0]
    assert (other["stall_reason"], other["instruction_type"], other["wave_count"]) == ("waitcnt", "no_inst", 4)


def test_gz_and_several_files_at_once(files, tmp_path):
    """A packed trace and a plain counter file of the same dispatches: counted once, every value kept."""
    import gzip

    packed = tmp_path / "trace.csv.gz"
    packed.write_bytes(gzip.compress((files / "v3/kernel_trace_4_registers.csv").read_bytes()))
    data = rocprof.read([packed, files / "v3/counter_collection_4.csv"])
    assert len(data.dispatches) == 3
    assert len(data.counters) == 12
    assert data.sources[1].same_as == 0
    joined = data.counters.merge(data.dispatches, left_on="dispatch", right_index=True)
    assert (joined["kernel_name_x"].astype(str) == joined["kernel_name_y"].astype(str)).all()


def test_provenance_of_every_row(files):
    """Each table's source column leads to the file that a row came from."""
    data = rocprof.read(files / "v3")
    for name in data.names():
        for number in data.table(name)["source"].unique():
            assert Path(data.sources[int(number)].path).is_file()


def test_columns_are_documented(files):
    """Every column of every table of every fixture is in COLUMNS, or a well-known extra of its format."""
    extra = {
        "grid_y",
        "grid_z",
        "workgroup_y",
        "workgroup_z",
        "min_ns",
        "max_ns",
        "stddev_ns",
        "kernel_name",
        "start_ns",
        "end_ns",
        "duration_ns",
        "correlation_id",
        "thread_id",
        "process_id",
        "address",
        "queue_id",
        "flags",
        "stream_id",
        "time_ns",
        "domain",
        "simd_per_cu",
    }
    for folder in sorted(path for path in files.iterdir() if path.is_dir()):
        data = rocprof.read(folder)
        for name in data.names():
            unknown = set(data.table(name).columns) - set(rocprof.COLUMNS[name]) - extra
            assert not unknown, (folder.name, name)


def test_importing_the_reader_loads_nothing_heavy():
    """pandas, pyarrow and numpy come in when the first file is read."""
    import subprocess
    import sys

    code = "import sys, kprof.inputs.rocprof; print(sorted({'pandas', 'pyarrow', 'numpy'} & set(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    assert ran.stdout.strip() == "[]"
