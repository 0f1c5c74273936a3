"""MIOpen's find-db and perf-db, in text and in SQLite."""

# ruff: noqa: E501 - lines are as the programs write them

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs import results

FORWARD = "192-13-13-3x3-384-13-13-1024-1x1-1x1-1x1-0-NCHW-FP32-F"
BACKWARD = "384-7-7-3x3-192-14-14-64-1x1-2x2-1x1-0-NHWC-FP16-B"
ALGORITHM = "miopenConvolutionFwdAlgo"


def test_find_db_old_and_new(reading):
    """Algorithm first with the solver among the values, or the solver first; the fastest is marked."""
    old = f"{FORWARD}={ALGORITHM}Direct:ConvOclDirectFwd,86.485,0,{ALGORITHM}Direct,<unused>;"
    old += f"{ALGORITHM}Winograd:ConvBinWinograd3x3U,23.0836,4096,{ALGORITHM}Winograd,<unused>\n"
    new = f"{BACKWARD}_g2=ConvHipImplicitGemm:0.5,128,miopenConvolutionBwdDataAlgoImplicitGEMM\n"
    found = reading(old + new)
    assert [
        (row["solver"], row["algorithm"], row["time_ms"], row["workspace_bytes"], row["best"]) for row in found.rows
    ] == [
        ("ConvOclDirectFwd", "Direct", 86.485, 0, False),
        ("ConvBinWinograd3x3U", "Winograd", 23.0836, 4096, True),
        ("ConvHipImplicitGemm", "ImplicitGEMM", 0.5, 128, True),
    ]
    assert not found.issues


def test_operations_of_a_convolution(reading):
    """Two for each output element, channel and filter tap; backward keys begin with the output; groups share channels."""
    lines = f"{FORWARD}={ALGORITHM}Direct:A,1.0,0,x,y\n{BACKWARD}_g2=B:1.0,0,{ALGORITHM}GEMM\n"
    forward, backward = reading(lines).rows
    assert forward["tflops"] == pytest.approx(2 * 1024 * 192 * 384 * 9 * 13 * 13 / 1e-3 / 1e12)
    assert (forward["in_channels"], forward["out_channels"], forward["image"]) == (192, 384, "13x13")
    assert backward["tflops"] == pytest.approx(2 * 64 * (192 * 384 // 2) * 9 * 7 * 7 / 1e-3 / 1e12)
    assert (backward["in_channels"], backward["out_channels"], backward["image"]) == (192, 384, "14x14")
    assert (backward["direction"], backward["groups"], backward["layout"]) == ("backward data", 2, "NHWC")


def test_three_dimensions(reading):
    """Depth, height and width."""
    key = "1024-14-14-4-1x1x1-2048-7-7-2-4-0x0x0-2x2x2-1x1x1-0-NCDHW-FP32-F"
    row = reading(f"{key}={ALGORITHM}GEMM:G,2.0,0,x,y\n").rows[0]
    assert (row["image"], row["batch"], row["stride"]) == ("14x14x4", 4, "2x2x2")
    assert row["tflops"] == pytest.approx(2 * 4 * 1024 * 2048 * 7 * 7 * 2 / 2e-3 / 1e12)


def test_find_db_damage(reading):
    """A key that is none, times and workspaces that are none, solvers without values."""
    good = f"{FORWARD}={ALGORITHM}Direct:A,1.0,0,x,y\n"
    found = reading(
        good
        + good.replace("192-13", "192-x")
        + good.replace("1.0", "-1")
        + good.replace(",0,", ",-,")
        + f"{FORWARD}={ALGORITHM}Direct\n"
    )
    assert [issue.partition(":")[0] for issue in found.issues] == ["line 2", "line 3", "line 4", "line 5"]
    assert len(found.rows) == 1


def test_perf_db_in_text(reading):
    """Parameters stay as they are; keys of other primitives are kept as written."""
    found = reading(
        f"{FORWARD}=ConvAsm1x1U:1,8,2,64,2,4,1,8;ConvOclDirectFwd:1,128,1,1,0,2,32,4,0\n12x3x4-abc=Solver:7\n"
    )
    assert [(row["solver"], row["parameters"]) for row in found.rows] == [
        ("ConvAsm1x1U", "1,8,2,64,2,4,1,8"),
        ("ConvOclDirectFwd", "1,128,1,1,0,2,32,4,0"),
        ("Solver", "7"),
    ]
    assert (found.rows[0]["filter"], found.rows[2].get("filter"), found.facts["problems"]) == ("3x3", None, "2")
    broken = reading(f"{FORWARD}=ConvAsm1x1U:1,8;Half\nno key\n{FORWARD}=A:1\n")
    assert [issue.partition(":")[0] for issue in broken.issues] == ["line 1", "line 2"]


COLUMNS = ("layout", "data_type", "direction", "spatial_dim", "in_channels", "in_h", "in_w", "in_d", "fil_h", "fil_w", "fil_d",
           "out_channels", "batchsize", "pad_h", "pad_w", "pad_d", "conv_stride_h", "conv_stride_w", "conv_stride_d",
           "dilation_h", "dilation_w", "dilation_d", "bias", "group_count")  # fmt: skip


def database(path, configs, solvers):
    """A perf-db with MIOpen's tables."""
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE config (id INTEGER PRIMARY KEY ASC, {', '.join(COLUMNS)})")
    connection.execute("CREATE TABLE perf_db (id INTEGER PRIMARY KEY ASC, solver TEXT, config INTEGER, params TEXT)")
    for at, config in enumerate(configs, 1):
        connection.execute(f"INSERT INTO config VALUES ({', '.join('?' * 25)})", (at, *config))
    connection.executemany("INSERT INTO perf_db (solver, config, params) VALUES (?, ?, ?)", solvers)
    connection.commit()
    connection.close()


CONFIG = ("NCHW", "FP16", "W", 2, 64, 28, 28, 1, 3, 3, 1, 128, 32, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1)


def test_perf_db_in_sqlite(tmp_path):
    """Solvers joined with their sizes; one whose sizes are missing is told."""
    path = tmp_path / "gfx942130.db"
    database(path, [CONFIG], [("ConvAsm", 1, "1,2"), ("Lost", 9, "3")])
    found = results.read(path)
    row = found.rows[0]
    assert (row["solver"], row["parameters"], row["direction"], row["in_channels"], row["fil_h"], row["batchsize"]) == (
        "ConvAsm", "1,2", "backward weights", 64, 3, 32,
    )  # fmt: skip
    assert "in_d" not in row
    assert ["Lost is for a problem that is not in the file" in issue for issue in found.issues] == [True]


def test_a_database_that_is_cut_off_is_refused(tmp_path):
    """In words, with the file."""
    path = tmp_path / "gfx.db"
    database(path, [CONFIG] * 50, [(f"S{n}", 1 + n % 50, "1" * 200) for n in range(2000)])
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(KprofError) as raised:
        results.read(path)
    assert "damaged" in raised.value.message
    assert raised.value.path == str(path)


@given(st.lists(st.tuples(st.floats(1e-4, 1e4), st.integers(0, 1 << 40)), min_size=1, max_size=20))
def test_times_equal_those_that_were_written(tmp_path_factory, solvers):
    """Any number of solvers on a line."""
    path = tmp_path_factory.getbasetemp() / "find"
    items = [f"S{at}:{time:.6g},{size},{ALGORITHM}Direct" for at, (time, size) in enumerate(solvers)]
    path.write_text(f"{FORWARD}={';'.join(items)}\n")
    read = results.read(path).rows
    assert [row["workspace_bytes"] for row in read] == [size for _, size in solvers]
    assert [row["time_ms"] for row in read] == [float(f"{time:.6g}") for time, _ in solvers]
    assert min(row["time_ms"] for row in read) == next(row["time_ms"] for row in read if row["best"])
