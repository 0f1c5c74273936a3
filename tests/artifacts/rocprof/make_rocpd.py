"""A rocpd database."""

from run import COUNTS, RUN, fresh

# Columns of each table, as schema 3 has them.
TABLES = {
    "metadata": "id INTEGER PRIMARY KEY, tag, value",
    "string": "id INTEGER PRIMARY KEY, guid, string",
    "info_node": "id INTEGER PRIMARY KEY, hostname, system_name, release",
    "info_process": "id INTEGER PRIMARY KEY, pid, command, environment",
    "info_agent": "id INTEGER PRIMARY KEY, type, absolute_index INTEGER, logical_index INTEGER, name, product_name",
    "info_kernel_symbol": "id INTEGER PRIMARY KEY, kernel_name, display_name, sgpr_count INTEGER, "
    "arch_vgpr_count INTEGER, accum_vgpr_count INTEGER",
    "info_pmc": "id INTEGER PRIMARY KEY, name",
    "pmc_event": "id INTEGER PRIMARY KEY, event_id INTEGER, pmc_id INTEGER, value REAL",
    "event": "id INTEGER PRIMARY KEY, category_id INTEGER, correlation_id INTEGER",
    "region": 'id INTEGER PRIMARY KEY, pid, tid, start BIGINT, "end" BIGINT, name_id INTEGER, event_id INTEGER',
    "memory_copy": 'id INTEGER PRIMARY KEY, pid, tid, start BIGINT, "end" BIGINT, name_id INTEGER, '
    "src_agent_id INTEGER, dst_agent_id INTEGER, size INTEGER",
    "memory_allocate": 'id INTEGER PRIMARY KEY, pid, tid, start BIGINT, "end" BIGINT, type, level, '
    "agent_id INTEGER, "
    "size INTEGER",
    "kernel_dispatch": "id INTEGER PRIMARY KEY, pid, tid, agent_id INTEGER, kernel_id INTEGER, "
    "dispatch_id INTEGER, "
    'queue_id INTEGER, stream_id INTEGER, start BIGINT, "end" BIGINT, private_segment_size INTEGER, '
    "group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, "
    "grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER",
}
ROWS: dict[str, list[tuple[object, ...]]] = {
    "metadata": [(1, "schema_version", "3")],
    "string": [(1, "g", "HIP_RUNTIME_API"), (2, "g", "hipLaunchKernel"), (3, "g", "MEMORY_COPY_HOST_TO_DEVICE")],
    "info_node": [(1, "host", "Linux", "6.14")],
    "info_process": [(1, 77, "./copy", '{"TOKEN": "hush"}')],
    "info_agent": [(11, "CPU", 0, 0, "AMD EPYC", "AMD EPYC"), (12, "GPU", 4, 4, "gfx942", "AMD Instinct MI300X")],
    "info_kernel_symbol": [(len(n), f"{n}.kd", n, s, v, a) for n, *_, v, a, s in RUN[:2]],
    "info_pmc": [(n, name) for n, name in enumerate(COUNTS)],
    "event": [(n, 1, n) for n in range(1, 5)],
    "region": [(1, 77, 77, 999000, 999800, 2, 4)],
    "memory_copy": [(1, 77, 77, 5000, 5400, 3, 11, 12, 4096)],
    "memory_allocate": [(1, 77, 77, 100, 150, "ALLOC", "REAL", 12, 1024)],
    "kernel_dispatch": [
        (at, 77, 77, 12, len(name), number, 1, 5, start, end, 0, lds, group, 1, 1, *grid, at + 1)
        for at, (name, number, start, end, grid, group, lds, *_) in enumerate(RUN)
    ],
    "pmc_event": [
        (None, at + 1, n, values[at] / 2)
        for n, values in enumerate(COUNTS.values())
        for at in range(3)
        for _half in (0, 1)
    ],
}


def rocpd() -> None:
    """A rocpd database: schema 3, one run."""
    guid = "00000a10_7bc0_7bc0_a1ef_6b94d43555c0"
    db = fresh("rocpd/run.db")
    for name, columns in TABLES.items():
        db.execute(f"CREATE TABLE rocpd_{name}_{guid} ({columns})")
        db.execute(f"CREATE VIEW rocpd_{name} AS SELECT * FROM rocpd_{name}_{guid}")
    for name, records in ROWS.items():
        db.executemany(f"INSERT INTO rocpd_{name}_{guid} VALUES ({', '.join('?' * len(records[0]))})", records)
    db.commit()
    db.close()
