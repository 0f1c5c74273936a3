"""How the columns of a CSV format become tables; shared by formats of one shape."""

from kprof.inputs.rocprof import counting, dispatching
from kprof.inputs.rocprof.format import CsvContent
from kprof.inputs.rocprof.frames import agent_numbers, length, renamed
from kprof.inputs.rocprof.model import Columns, FileTables
from kprof.inputs.rocprof.names import normalise


def wide(content: CsvContent, part: FileTables) -> None:
    """A row a dispatch; further columns are counters."""
    table = dispatching.dispatches(content.columns, part, rounded=content.rounded)
    dispatching.complain_about_repeats(table, part)
    part.tables["dispatches"] = table
    if content.counters:
        part.tables["counters"] = counting.from_wide(content.counters, table)
        missing = sum(map(len, content.counters.values())) - length(part.tables["counters"])
        if missing:
            words = f"counter values that are missing (empty or nan) and in no sum: {missing:,}"
            part.complain("missing-values", "note", words, count=missing)
        part.distinct = True
        part.describe(role="counters")


def long(content: CsvContent, part: FileTables) -> None:
    """A row a counter value."""
    import pandas as pd

    columns = content.columns
    if isinstance(columns.get("agent"), pd.Categorical):
        columns["agent"] = agent_numbers(columns["agent"])
    own, counters = counting.from_long(columns, part)
    table = dispatching.dispatches(own, part, rounded=content.rounded)
    part.tables["dispatches"] = table
    if "kernel_name" in columns and content.table.rows:
        counters["kernel_name"] = renamed(columns["kernel_name"], normalise)
    part.tables["counters"] = counters


def timed(name: str, content: CsvContent, part: FileTables) -> None:
    """Rows with a start and an end: calls, copies, allocations."""
    import pandas as pd

    columns: Columns = dict(content.columns)
    for column in ("agent", "source_agent", "destination_agent"):
        if isinstance(columns.get(column), pd.Categorical):
            columns[column] = agent_numbers(columns[column])
    if "start_ns" in columns and "end_ns" in columns:
        columns["duration_ns"] = dispatching.trusted_durations(
            columns, part, rounded=content.rounded, what=name.replace("_", " ")
        )
    part.tables[name] = columns
