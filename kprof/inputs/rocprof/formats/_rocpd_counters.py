"""Read the counters of a rocpd database by dispatch and pass. Streamed samples are excluded, replays kept separate."""

import sqlite3
from math import nan
from typing import Any

from kprof.inputs.rocprof.columns import instance_of
from kprof.inputs.rocprof.formats._rocpd_schema import Run, columns_of, field_of, select, text_of
from kprof.inputs.rocprof.frames import factorised
from kprof.inputs.rocprof.model import Columns, FileTables
from kprof.inputs.rocprof.plausible import COUNTER_LIMIT

# Executions that agree in these columns are replays of one dispatch.
_SAME_DISPATCH = ("process_id", "agent", "dispatch_id", "kernel_id", "grid_x", "grid_y", "grid_z")


def without_replays(columns: Columns, part: FileTables) -> dict[Any, tuple[int, int]]:
    """Keep only the first execution of each replayed dispatch in the columns.

    Kernel replay runs a dispatch once per group of counters. The executions share one dispatch id, and the program
    requested only one execution.

    Returns:
        For each event id, the row of its dispatch after the removal and the number of the execution.
    """
    first: dict[tuple[Any, ...], int] = {}
    times: dict[int, int] = {}
    kept: list[int] = []
    events: dict[Any, tuple[int, int]] = {}
    keys = zip(*(columns[name] for name in _SAME_DISPATCH), strict=True)
    for row, (key, number, event) in enumerate(zip(keys, columns["dispatch_id"], columns["event"], strict=True)):
        # Without ids, a replay cannot be distinguished from the next launch.
        place = first.setdefault(key, len(kept)) if number else len(kept)
        execution = 0
        if place == len(kept):
            kept.append(row)
        else:
            execution = times[place] = times.get(place, 0) + 1
        if event is not None:
            events[event] = place, execution
    del columns["event"]
    if times:
        repeats = sum(times.values())
        for name, values in columns.items():
            columns[name] = [values[row] for row in kept]
        part.complain("replayed-dispatches", "note", f"{repeats:,} executions are replays of {len(times):,} dispatches "
                      "for further counters: their times are ignored, and their counters are kept separate",
                      count=repeats)  # fmt: skip
    return events


def has_replays(connection: sqlite3.Connection, run: Run) -> bool:
    """Return whether dispatch ids repeat, so that executions must be checked one by one."""
    table = run["rocpd_kernel_dispatch"]
    present = columns_of(connection, table)
    if "dispatch_id" not in present:
        return False
    pid, agent = field_of(run, present, "pid"), field_of(run, present, "agent_id")
    distinct = f'SELECT DISTINCT {pid}, {agent}, dispatch_id FROM "{table}" WHERE dispatch_id > 0'  # noqa: S608 - checked names
    count = f'SELECT count(*) FROM "{table}" WHERE dispatch_id > 0'  # noqa: S608 - checked names
    return bool(connection.execute(f"SELECT ({count}) > (SELECT count(*) FROM ({distinct}))").fetchone()[0])  # noqa: S608 - checked names


def _counted_values(connection: sqlite3.Connection, run: Run, part: FileTables) -> list[tuple[Any, ...]]:
    """Return event, counter and value of each row that belongs to a dispatch, excluding streamed samples."""
    rows = select(connection, run, "rocpd_pmc_event", ("event_id", "pmc_id", "value", "sample_id"))
    of_samples = {event for (event,) in select(connection, run, "rocpd_sample", ("event_id",))} - {None}
    kept = [row[:3] for row in rows if row[3] is None and row[0] not in of_samples]
    sampled = len(rows) - len(kept)
    if sampled:
        part.complain("streamed-samples", "note", f"{sampled:,} samples of streaming counters are left out: they are "
                      "values over time, not parts of a dispatch's counters", count=sampled)  # fmt: skip
    return kept


def _passes(rows: list[tuple[Any, ...]], part: FileTables) -> list[int]:
    """Return the pass of each value if the passes of a replayed dispatch share one event.

    rocprofv3 writes the counters of a pass one after the other, each with all of its instances. If a counter recurs
    after other counters, another pass begins. Passes count different groups of counters; if all groups are equal, the
    rows are not passes but interleaved instances.
    """
    by_event: dict[Any, list[int]] = {}
    for place, (event, *_) in enumerate(rows):
        by_event.setdefault(event, []).append(place)
    passes, replayed = [0] * len(rows), 0
    for places in by_event.values():
        groups: list[set[Any]] = [set()]
        last, found = None, []
        for place in places:
            counter = rows[place][1]
            if counter != last and counter in groups[-1]:
                groups.append(set())
            groups[-1].add(counter)
            found.append(len(groups) - 1)
            last = counter
        if any(group != groups[0] for group in groups):
            replayed += 1
            for place, number in zip(places, found, strict=True):
                passes[place] = number
    if replayed:
        part.complain(
            "replayed-counters",
            "note",
            f"the counters of {replayed:,} dispatches come from several passes (kernel "
            "replay): they are kept separate and not added up",
            count=replayed,
        )
    return passes


def counters_of(
    connection: sqlite3.Connection,
    run: Run,
    own: Columns,
    located: tuple[dict[Any, tuple[int, int]], int],
    part: FileTables,
) -> Columns:
    """Return the counters of a run.

    Args:
        connection: connection to the open database.
        run: real table name of each plain table name of the run.
        own: dispatch columns of the run.
        located: dispatch row and execution of each event, and the number of dispatches of earlier runs.
        part: tables of the file, to which issues are added.
    """
    import numpy as np

    events, offset = located
    rows = _counted_values(connection, run, part)
    if not rows:
        return {}
    names = dict(select(connection, run, "rocpd_info_pmc", ("id", "name")))
    # There is one row per instance (XCD, shader engine, channel); a counter's value is the sum of its instances.
    sums: dict[tuple[int, int, Any], float] = {}
    wrong: dict[tuple[int, int, Any], float] = {}
    for (event, counter, value), one_pass in zip(rows, _passes(rows, part), strict=True):
        if event not in events:
            continue
        row, execution = events[event]
        key = row, execution + one_pass, counter
        if isinstance(value, int | float) and 0 <= value < COUNTER_LIMIT:
            sums[key] = sums.get(key, 0.0) + value
        else:
            # Adding an impossible value would hide it, so it replaces the sum and is reported later.
            wrong[key] = float(value) if isinstance(value, int | float) else nan
    sums |= wrong
    places = np.array([row for row, _, _ in sums], dtype=np.int64)
    split = [instance_of(text_of(names.get(counter)) or f"counter {counter}") for _, _, counter in sums]
    return {
        "dispatch": places + offset,
        **{name: own[name].take(places) for name in ("agent", "dispatch_id", "kernel_name")},
        "counter": factorised([name for name, _ in split]),
        "instance": np.array([instance for _, instance in split], dtype=np.int16),
        "pass": np.array([one_pass for _, one_pass, _ in sums], dtype=np.int16),
        "value": np.array(list(sums.values()), dtype=np.float64),
    }
