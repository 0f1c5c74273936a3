"""Which dispatches are one measured kernel, which files are one run, and which GPU each agent is."""

import csv
import shutil
from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.inputs import rocprof
from kprof_analyzers.profiles.counters.identity import FIELDS, parse_fields
from kprof_analyzers.profiles.counters.kernels import kernels
from kprof_analyzers.profiles.counters.machine import Gpus, gpu_of
from kprof_analyzers.profiles.counters.metrics import metrics
from kprof_analyzers.profiles.counters.runs import runs_of

_HEADINGS = (
    "Dispatch_Id", "Agent_Id", "Queue_Id", "Process_Id", "Thread_Id", "Grid_Size", "Kernel_Id", "Kernel_Name",
    "Workgroup_Size", "LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count", "Counter_Name",
    "Counter_Value", "Start_Timestamp", "End_Timestamp",
)  # fmt: skip


def collection(path: Path, *rows: dict) -> Path:
    """A counter collection of rocprofv3: ``{"ns": 1000, "FETCH_SIZE": 1000.0, "grid": 64, ...}`` is one dispatch."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_HEADINGS)
        for number, row in enumerate(rows, 1):
            begin = row.get("begin", 1_000_000 * number)
            for counter, value in row.items():
                if counter.isupper() or counter == "L2CacheHit" or counter.endswith("_sum"):
                    writer.writerow([number, row.get("agent", 4), 1, 7, 7, row.get("grid", 4096), 9,
                                     row.get("name", "k"), row.get("workgroup", 256), row.get("lds", 0), 0,
                                     row.get("vgprs", 8), 0, 16, counter, value, begin,
                                     begin + row["ns"]])  # fmt: skip
    return path


def agents(path: Path, *gpus: tuple[int, str, str]) -> None:
    """``agent_info.csv`` with these numbers, architectures and products."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["Node_Id,Logical_Node_Id,Agent_Type,Cu_Count,Simd_Count,Wave_Front_Size,Num_Xcc,Name,Product_Name"]
    lines += [f'{number},{number},"GPU",40,160,64,1,"{arch}","{product}"' for number, arch, product in gpus]
    path.write_text("\n".join(lines) + "\n")


def read_bandwidth(data, **options) -> list[float | None]:
    """GB/s of each kernel, in the order of runs and grids."""
    gpus = Gpus(data, "MI300X")
    found = sorted(kernels(data, gpus=gpus, **options), key=lambda one: (one.run, one.identities[0].grid))
    return [metrics(one, gpus[one.gpu])["hbm_read_bandwidth"].value for one in found]


def value(one, counter: str) -> tuple[float, int] | None:
    """A counter and the pass that it is taken from."""
    found = one.place(counter)
    return None if found is None else (one.passes[found[0]][found[1]], found[0])


def test_two_runs_are_two_numbers(tmp_path):
    """1,000 KiB in 1,000 ns and in 2,000 ns: 1,024 and 512 GB/s, not 1,024,000 bytes in their mean time."""
    paths = [collection(tmp_path / f"run{n}" / "c.csv", {"ns": 1000 * n, "FETCH_SIZE": 1000.0}) for n in (1, 2)]
    data = rocprof.read([path.parent for path in paths])
    assert runs_of(data).labels == ("run1", "run2")
    assert read_bandwidth(data) == [pytest.approx(1024), pytest.approx(512)]
    assert read_bandwidth(data, by=("name",)) == [pytest.approx(1024), pytest.approx(512)]


def test_three_batch_sizes_are_three_kernels(tmp_path):
    """Each grid has its own counters and its own time."""
    rows = [{"ns": 1000 * n, "FETCH_SIZE": 1000.0 * n * n, "grid": 64 * n} for n in (1, 2, 3)]
    data = rocprof.read(collection(tmp_path / "c.csv", *rows))
    assert read_bandwidth(data) == [pytest.approx(1024), pytest.approx(2048), pytest.approx(3072)]
    # Asked for: 14,000 KiB in 6,000 ns.
    assert read_bandwidth(data, by=("name",)) == [pytest.approx(14_336_000 / 6000)]
    assert read_bandwidth(data, dispatches=[2]) == [pytest.approx(2048)]


@pytest.mark.parametrize("field", ["grid", "workgroup", "lds", "vgprs", "agent", "name"])
def test_each_field_keeps_kernels_apart_unless_left_out(tmp_path, field):
    """Two dispatches that differ in one thing are two kernels; without it in ``by`` they are one."""
    other = {"name": "other"}.get(field, 128)
    rows = [{"ns": 10, "SQ_WAVES": 5.0}, {"ns": 20, "SQ_WAVES": 7.0, field: other}]
    data = rocprof.read(collection(tmp_path / "c.csv", *rows))
    assert sorted(one.nanoseconds for one in kernels(data)) == [10, 20]
    (one,) = kernels(data, by=tuple(name for name in FIELDS if name != field))
    assert (one.nanoseconds, one.calls, value(one, "SQ_WAVES")) == (15, 2, (6.0, 0))


def test_a_counter_that_one_of_the_kernels_lacks_is_not_the_others(tmp_path):
    """A mean over some of the launches would be none of them all."""
    rows = [{"ns": 10, "SQ_WAVES": 5.0}, {"ns": 20, "SQ_WAVES": 7.0, "SQ_INSTS": 3.0, "grid": 64}]
    (one,) = kernels(rocprof.read(collection(tmp_path / "c.csv", *rows)), by=("name",))
    assert value(one, "SQ_INSTS") is None
    assert value(one, "SQ_WAVES") == (6.0, 0)


def test_passes_in_one_folder_are_one_run(tmp_path):
    """Different counters, a shared one among them: what one run of the program could not count at once."""
    collection(tmp_path / "pmc_1/c.csv", {"ns": 1000, "SQ_WAVES": 1.0, "GRBM_GUI_ACTIVE": 9.0})
    collection(tmp_path / "pmc_2/c.csv", {"ns": 1200, "SQ_INSTS": 2.0, "GRBM_GUI_ACTIVE": 8.0})
    data = rocprof.read(tmp_path)
    assert len(runs_of(data).labels) == 1
    (one,) = kernels(data)
    assert value(one, "SQ_WAVES") == (1.0, 0)
    assert value(one, "SQ_INSTS") == (2.0, 1)


@pytest.mark.parametrize(("later", "runs"), [(0, 1), (50_000_000, 2)])
def test_the_same_counters_again_are_another_run_unless_at_the_same_time(tmp_path, later, runs):
    """Ranks of one program run together; a second run comes after the first."""
    collection(tmp_path / "1_c.csv", *({"ns": 1000, "SQ_WAVES": 1.0, "begin": b} for b in (100, 5000)))
    collection(tmp_path / "2_c.csv", *({"ns": 1001, "SQ_WAVES": 1.0, "begin": b + later} for b in (200, 6000)))
    assert len(runs_of(rocprof.read(tmp_path)).labels) == runs


def test_times_come_from_the_trace_of_the_same_run(tmp_path):
    """Counting slows down: 900 ns when traced. The other run has no trace and keeps its own 2,000."""
    for number in (1, 2):
        collection(tmp_path / f"run{number}/c.csv", {"ns": 1000 * number, "FETCH_SIZE": 1.0})
    (tmp_path / "run1/trace.csv").write_text(
        "Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,"
        "End_Timestamp,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,Workgroup_Size_X,"
        "Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"
        "KERNEL_DISPATCH,4,1,0,7,1,9,k,1,5000,5900,0,0,8,0,16,256,1,1,4096,1,1\n"
        "KERNEL_DISPATCH,4,1,0,7,2,9,k,2,6000,6500,0,0,8,0,16,256,1,1,2048,1,1\n"
    )
    data = rocprof.read([tmp_path / "run1", tmp_path / "run2"])
    assert {one.run: one.nanoseconds for one in kernels(data)} == {0: 900, 1: 2000}


def test_each_agent_has_its_own_gpu(tmp_path):
    """One folder with files of two machines, distinguished by the process that wrote them."""
    agents(tmp_path / "11_agent_info.csv", (4, "gfx950", "AMD Instinct MI350X"))
    agents(tmp_path / "12_agent_info.csv", (4, "gfx1151", "Radeon 8060S"))
    collection(tmp_path / "11_counter_collection.csv", {"ns": 10, "SQ_WAVES": 1.0, "name": "a"})
    collection(tmp_path / "12_counter_collection.csv", {"ns": 20, "SQ_WAVES": 1.0, "name": "b"})
    data = rocprof.read(tmp_path)
    gpus = Gpus(data)
    assert {one.name: gpus[one.gpu].arch.name for one in kernels(data, gpus=gpus)} == {"a": "gfx950", "b": "gfx1151"}
    with pytest.raises(KprofError, match="several GPUs"):
        gpu_of(data)


def test_agents_of_one_machine_by_number(tmp_path):
    """A workstation with two kinds of GPU: the second agent's kernels are not the first's."""
    agents(tmp_path / "agent_info.csv", (1, "gfx1151", "Radeon 8060S"), (2, "gfx1201", "Radeon RX 9070 XT"))
    rows = [{"ns": 10, "SQ_WAVES": 1.0, "agent": agent} for agent in (1, 2, 3)]
    data = rocprof.read(collection(tmp_path / "c.csv", *rows).parent)
    gpus = Gpus(data)
    found = {one.identities[0].agent: gpus[one.gpu] for one in kernels(data, gpus=gpus)}
    assert [found[agent].arch.name for agent in (1, 2)] == ["gfx1151", "gfx1201"]
    assert found[3] is None


def test_a_gpu_of_another_file_is_not_borrowed(shared, tmp_path):
    """Real files of a gfx1151, which do not say so, beside those of a gfx950, which do."""
    samples = shared / "samples/rocprof_v3"
    for name in ("llamacpp_gfx1151/decode_fetch_counter_collection.csv", "training_gfx950_json/908_results.json.gz"):
        shutil.copy(samples / name, tmp_path)
    data = rocprof.read(tmp_path)
    gpus = Gpus(data)
    found = kernels(data, gpus=gpus)
    assert found
    assert {one.gpu for one in found} == {-1}


def test_published_runs_of_two_kernels_stay_apart(shared):
    """Two workload folders of one program: each kernel has the time of its own run."""
    folder = shared / "samples/rocprof_compute/ubench_mi300x_with_expected/l2_cache/workloads"
    times = {one.name.partition("(")[0]: one.nanoseconds for one in kernels(rocprof.read(folder))}
    assert times == {"cache_friendly_sum": 14621.0, "cache_unfriendly_sum": 7531.0}
    assert len(runs_of(rocprof.read(folder)).labels) == 2


def test_by_takes_known_fields_only():
    """The name always counts."""
    assert parse_fields("grid, lds") == ("name", "grid", "lds")
    for text in ("", "grid,colour"):
        with pytest.raises(KprofError, match="--by takes"):
            parse_fields(text)


def test_a_metric_of_an_unsupported_counter_has_no_value(tmp_path):
    """L2CacheHit reads 0 where hits were counted: no hit rate of 0 %, and nothing to collect again."""
    data = rocprof.read(collection(tmp_path / "c.csv", {"ns": 10, "L2CacheHit": 0.0, "TCC_HIT_sum": 50.0}))
    assert any("0 is not a measurement" in issue.message for issue in data.issues)
    gpus = Gpus(data, "MI300X")
    (one,) = kernels(data, gpus=gpus)
    metric = metrics(one, gpus[one.gpu])["l2_hit_rate"]
    assert metric.value is None
    assert "TCC_MISS_sum" in metric.missing or "0 is not a measurement" in metric.flag


def test_a_counter_is_doubted_in_the_dispatches_that_show_it_only(tmp_path):
    """Another kernel of the run in which 0 may well be 0 keeps its value."""
    rows = [{"ns": 10, "L2CacheHit": 0.0, "TCC_HIT_sum": hits, "grid": grid} for hits, grid in ((50, 4096), (0, 64))]
    data = rocprof.read(collection(tmp_path / "c.csv", *rows))
    doubts = {one.identities[0].grid: one.doubt("L2CacheHit") for one in kernels(data)}
    assert doubts[4096,] is not None
    assert doubts[64,] is None
