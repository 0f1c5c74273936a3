"""Databases of newer ROCm versions: times in a table of their own, samples beside a dispatch's counters, zeros."""

import shutil
import sqlite3

import pytest

from kprof.inputs import rocprof


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
