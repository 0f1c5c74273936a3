"""Databases of newer ROCm versions: times in a table of their own, samples beside a dispatch's counters, zeros."""

import shutil
import sqlite3

import pytest

from kprof.inputs import rocprof
from kprof.inputs.rocprof.timeline import load_timeline


@pytest.fixture
def database(files, tmp_path):
    """A copy of the made-up run, and its tables by their plain names."""
    path = tmp_path / "run.db"
    shutil.copy(files / "rocpd/run.db", path)
    connection = sqlite3.connect(path)
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    yield path, connection, {name.split("_0")[0]: name for name in names}
    connection.close()


def values(path):
    """Counter values by name."""
    return rocprof.read(path).counters.groupby("counter", observed=True)["value"].sum().to_dict()


def test_samples_of_streaming_counters_are_not_added_to_a_dispatch(database):
    """They carry a sample_id; the counters keep their values and the samples are reported."""
    path, connection, tables = database
    events = tables["rocpd_pmc_event"]
    before = values(path)
    connection.execute(f'ALTER TABLE "{events}" ADD COLUMN sample_id INTEGER')
    row = connection.execute(f'SELECT * FROM "{events}" LIMIT 1').fetchone()
    columns = [each[1] for each in connection.execute(f'PRAGMA table_info("{events}")')]
    kept = [name for name in columns if name not in {"id", "sample_id"}]
    given = dict(zip(columns, row, strict=False))
    for sample in range(1, 31):
        connection.execute(
            f'INSERT INTO "{events}" ({", ".join(kept)}, sample_id) VALUES ({", ".join("?" * (len(kept) + 1))})',
            [*(given[name] for name in kept), sample],
        )
    connection.commit()
    assert values(path) == before
    data = rocprof.read(path)
    assert len(data.counters)
    assert "30 samples" in next(issue.message for issue in data.issues if issue.kind == "streamed-samples")


def test_times_in_a_table_of_their_own_are_the_times(database):
    """Schema 4 refers to them by start_id and end_id."""
    path, connection, tables = database
    table = tables["rocpd_kernel_dispatch"]
    before = rocprof.read(path).dispatches["duration_ns"].tolist()
    stamps = table.replace("rocpd_kernel_dispatch", "rocpd_timestamp")
    connection.execute(f'CREATE TABLE "{stamps}" (id INTEGER PRIMARY KEY, value BIGINT)')
    for view in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
        connection.execute(f'DROP VIEW "{view[0]}"')
    rows = connection.execute(f'SELECT id, start, "end" FROM "{table}"').fetchall()
    connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN start TO start_id')
    connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN "end" TO end_id')
    for number, start, end in rows:
        connection.executemany(f'INSERT INTO "{stamps}" VALUES (?, ?)', [(2 * number, start), (2 * number + 1, end)])
        connection.execute(
            f'UPDATE "{table}" SET start_id = ?, end_id = ? WHERE id = ?',
            (2 * number, 2 * number + 1, number),
        )
    connection.commit()
    data = rocprof.read(path)
    assert data.kernels["total_ns"].sum() == sum(before)
    assert data.dispatches["duration_ns"].tolist() == before


SCHEMA_4 = """
CREATE TABLE rocpd_metadata{g} (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_string{g} (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE rocpd_info_category{g} (id INTEGER PRIMARY KEY, guid TEXT, name TEXT);
CREATE TABLE rocpd_info_agent{g} (id INTEGER PRIMARY KEY, nid, pid, type TEXT, absolute_index INTEGER,
    logical_index INTEGER, name TEXT, generic_name TEXT, product_name TEXT);
CREATE TABLE rocpd_info_pmc{g} (id INTEGER PRIMARY KEY, name TEXT, symbol TEXT);
CREATE TABLE rocpd_info_kernel_symbol{g} (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT,
    sgpr_count INTEGER, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER);
CREATE TABLE rocpd_track{g} (id INTEGER PRIMARY KEY, nid INTEGER, ppid INTEGER, pid INTEGER, tid INTEGER,
    agent_id INTEGER, queue_id INTEGER, stream_id INTEGER, name_id INTEGER);
CREATE TABLE rocpd_timestamp{g} (id INTEGER PRIMARY KEY, value BIGINT, phase INTEGER, track_id INTEGER);
CREATE TABLE rocpd_event{g} (id INTEGER PRIMARY KEY, category_id INTEGER, stack_id INTEGER, correlation_id INTEGER);
CREATE TABLE rocpd_pmc_event{g} (id INTEGER PRIMARY KEY, event_id INTEGER, pmc_id INTEGER, value REAL);
CREATE TABLE rocpd_sample{g} (id INTEGER PRIMARY KEY, track_id INTEGER, name_id INTEGER, timestamp_id INTEGER,
    event_id INTEGER);
CREATE TABLE rocpd_region{g} (id INTEGER PRIMARY KEY, track_id INTEGER, name_id INTEGER, start_id INTEGER,
    end_id INTEGER, event_id INTEGER);
CREATE TABLE rocpd_memory_copy{g} (id INTEGER PRIMARY KEY, track_id INTEGER, start_id INTEGER, end_id INTEGER,
    name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER);
CREATE TABLE rocpd_memory_allocate{g} (id INTEGER PRIMARY KEY, track_id INTEGER, type TEXT, level TEXT,
    start_id INTEGER, end_id INTEGER, name_id INTEGER, size INTEGER);
CREATE TABLE rocpd_kernel_dispatch{g} (id INTEGER PRIMARY KEY, track_id INTEGER, kernel_id INTEGER,
    dispatch_id INTEGER, start_id INTEGER, end_id INTEGER, private_segment_size INTEGER, group_segment_size INTEGER,
    workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER,
    grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER);
INSERT INTO rocpd_metadata{g} VALUES (1, 'schema_version', '4.0.0');
INSERT INTO rocpd_string{g} VALUES (1, '', 'hipLaunchKernel'), (2, '', 'MEMORY_COPY_HOST_TO_DEVICE');
INSERT INTO rocpd_info_category{g} VALUES (1, '', 'HIP_RUNTIME_API_EXT'), (2, '', 'KERNEL_DISPATCH');
INSERT INTO rocpd_info_agent{g} VALUES (1, 1, 1, 'CPU', 0, 0, 'EPYC', 'EPYC', 'EPYC'),
    (2, 1, 1, 'GPU', 4, 4, 'gfx942', 'gfx942', 'AMD Instinct MI300X');
INSERT INTO rocpd_info_pmc{g} VALUES (1, 'SQ_WAVES', 'SQ_WAVES'), (2, 'GRBM_COUNT', 'GRBM_COUNT');
INSERT INTO rocpd_info_kernel_symbol{g} VALUES (7, 'gemm.kd', 'gemm', 32, 96, 0);
INSERT INTO rocpd_track{g} (id, nid, pid, tid) VALUES (1, 1, 77, 78);
INSERT INTO rocpd_track{g} (id, nid, pid, agent_id, queue_id, stream_id) VALUES (2, 1, 77, 2, 1, 3);
INSERT INTO rocpd_event{g} VALUES (1, 1, 0, 11), (2, 1, 0, 12), (3, 2, 0, 11), (4, 2, 0, 12), (5, 2, 0, 0),
    (6, 2, 0, 0);
INSERT INTO rocpd_timestamp{g} (id, value) VALUES (1, 5200), (2, 5500), (3, 3100), (4, 3200), (5, 1000), (6, 1010),
    (7, 2000), (8, 2020), (9, 500), (10, 900);
INSERT INTO rocpd_region{g} VALUES (1, 1, 1, 5, 6, 1), (2, 1, 1, 7, 8, 2);
INSERT INTO rocpd_kernel_dispatch{g} VALUES (1, 2, 7, 1, 3, 4, 0, 512, 64, 1, 1, 256, 1, 1, 3),
    (2, 2, 7, 2, 1, 2, 0, 512, 64, 1, 1, 512, 1, 1, 4);
INSERT INTO rocpd_memory_copy{g} VALUES (1, 2, 9, 10, 2, 2, 1, 4096);
INSERT INTO rocpd_pmc_event{g} VALUES (1, 3, 1, 4), (2, 4, 1, 8), (3, 6, 2, 1e9);
INSERT INTO rocpd_sample{g} VALUES (1, 2, 1, 9, 6);
"""
GUID = "_00000a10_7bc0_7bc0_a1ef_6b94d43555c0"


def test_schema_4_is_read_with_its_tracks_and_times(tmp_path):
    """Dispatches have neither agents nor times of their own: tracks and timestamps have them, in any order."""
    path = tmp_path / "run.db"
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA_4.replace("{g}", GUID))
    connection.close()
    data = rocprof.read(path)
    assert data.kernels[["calls", "total_ns", "agent"]].values.tolist() == [[2, 400, 4]]
    assert data.dispatches["duration_ns"].tolist() == [100, 300]
    assert data.dispatches["stream_id"].tolist() == [3, 3]
    assert data.counters["value"].tolist() == [4, 8]
    trace = load_timeline(path)
    assert [trace.launches[each.launch].correlation for each in trace.activities if each.kind == "kernel"] == [11, 12]
    assert {each.kind for each in trace.activities} == {"kernel", "copy"}
    assert data.table("api_calls")["domain"].tolist() == ["HIP_RUNTIME_API_EXT"] * 2


def test_the_executions_of_a_replayed_dispatch_count_once(tmp_path):
    """They share a dispatch id; their counters are of passes of the one dispatch."""
    path = tmp_path / "run.db"
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA_4.replace("{g}", GUID))
    connection.executescript(f"""
        INSERT INTO rocpd_kernel_dispatch{GUID} VALUES (3, 2, 7, 1, 1, 2, 0, 512, 64, 1, 1, 256, 1, 1, 5);
        INSERT INTO rocpd_pmc_event{GUID} VALUES (11, 5, 1, 4), (12, 5, 2, 900);
    """)
    connection.close()
    data = rocprof.read(path)
    assert data.kernels["calls"].tolist() == [2]
    assert data.dispatches["duration_ns"].tolist() == [100, 300]
    found = data.counters[["dispatch_id", "counter", "pass", "value"]].values.tolist()
    assert sorted(found) == [[1, "GRBM_COUNT", 1, 900], [1, "SQ_WAVES", 0, 4], [1, "SQ_WAVES", 1, 4],
                             [2, "SQ_WAVES", 0, 8]]  # fmt: skip
    assert "1 executions are replays of 1 dispatches" in str([issue.message for issue in data.issues])
    kernel = [each for each in load_timeline(path).activities if each.kind == "kernel"]
    assert len(kernel) == 2


def test_passes_that_share_an_event_are_not_added_up(database):
    """ROCm 10.0 writes the counters of all passes to the event of the first one."""
    path, connection, tables = database
    events = tables["rocpd_pmc_event"]
    connection.execute(f'DELETE FROM "{events}"')
    names = tables["rocpd_info_pmc"]
    connection.execute(f'DELETE FROM "{names}"')
    connection.executemany(f'INSERT INTO "{names}" VALUES (?, ?)', [(1, "SQ_WAVES"), (2, "A"), (3, "B")])
    # Two instances of SQ_WAVES in each of two passes.
    rows = [(1, 1, 5.0), (1, 1, 6.0), (1, 2, 20.0), (1, 1, 5.0), (1, 1, 6.0), (1, 3, 30.0)]
    connection.executemany(f'INSERT INTO "{events}" (event_id, pmc_id, value) VALUES (?, ?, ?)', rows)
    connection.commit()
    data = rocprof.read(path)
    found = sorted(data.counters[["counter", "pass", "value"]].values.tolist())
    assert found == [["A", 0, 20.0], ["B", 1, 30.0], ["SQ_WAVES", 0, 11.0], ["SQ_WAVES", 1, 11.0]]
    assert any(issue.kind == "replayed-counters" for issue in data.issues)


def test_a_counter_that_every_kernel_counts_up_is_not_zero(database):
    """RDNA 4 does not count unless the performance level is profile_standard."""
    path, connection, tables = database
    name = tables["rocpd_info_pmc"]
    connection.execute(f'UPDATE "{name}" SET name = ? WHERE id = (SELECT min(id) FROM "{name}")', ("SQ_WAVES",))
    connection.execute(
        f'UPDATE "{tables["rocpd_pmc_event"]}" SET value = 0 WHERE pmc_id = (SELECT min(id) FROM "{name}")'
    )
    connection.commit()
    data = rocprof.read(path)
    assert len(data.counters)
    issue = next(issue for issue in data.issues if issue.kind == "zero-counter")
    assert issue.unknown == ("SQ_WAVES",)
    assert "profile_standard" in issue.cure
