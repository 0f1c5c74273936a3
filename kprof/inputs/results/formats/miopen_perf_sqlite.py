"""MIOpen's perf-db as it is installed and kept for a user: an SQLite file (``gfx*.db``, ``*.udb``).

Two tables: ``config`` with a column for each size of a convolution, and ``perf_db`` with a solver's parameters for
one of them. The file's own views and triggers are not run.
"""

from pathlib import Path
from typing import Any

from kprof.errors import InputError
from kprof.inputs.results.model import ResultFormat, RowCollector, ToolResults
from kprof.inputs.rocprof.database import is_database, opened, plain_tables

_SIZES = ("layout", "data_type", "direction", "batchsize", "in_channels", "out_channels", "in_d", "in_h", "in_w",
          "fil_d", "fil_h", "fil_w", "pad_d", "pad_h", "pad_w", "conv_stride_d", "conv_stride_h", "conv_stride_w",
          "dilation_d", "dilation_h", "dilation_w", "group_count", "spatial_dim")  # fmt: skip
_DIRECTIONS = {"F": "forward", "B": "backward data", "W": "backward weights"}
_MOST = 5_000_000


def recognise(head: bytes) -> bool:
    """SQLite whose schema has the table of solvers: the schema is on the first page."""
    return is_database(head) and b"perf_db" in head and b"conv_stride_h" in head


def read(path: Path, shown: str) -> ToolResults:
    """A row a solver of a convolution."""
    found = RowCollector()
    with opened(path) as connection:
        tables = plain_tables(connection)
        have = [name for name in _SIZES if name in tables.get("config", [])]
        if not {"solver", "params", "config"} <= set(tables.get("perf_db", [])) or "id" not in tables.get("config", []):
            raise InputError("a perf-db without its tables: it is damaged or of another version", path=shown)
        count = connection.execute("SELECT count(*) FROM perf_db").fetchone()[0]
        if count > _MOST:
            raise InputError(f"too large: {count:,} rows, and {_MOST:,} are read at most", path=shown)
        chosen = ", ".join(f"c.{name}" for name in have)
        query = f"SELECT p.solver, p.params, c.id, {chosen} FROM perf_db p LEFT JOIN config c ON c.id = p.config"  # noqa: S608 - names of this file's own list
        for at, (solver, parameters, config, *values) in enumerate(connection.execute(query), 1):
            _row((solver, parameters, config), dict(zip(have, values, strict=True)), at, found)
    found.facts["problems"] = f"{len({row['config'] for row in found.rows}):,}"
    return found.results(shown, "MIOpen perf-db", "tuned solver")


def _row(chosen: tuple[object, object, object], sizes: dict[str, Any], at: int, found: RowCollector) -> None:
    solver, parameters, config = chosen
    if not isinstance(solver, str) or not isinstance(parameters, str):
        found.complain(None, f"row {at}: the solver or its parameters are no text")
        return
    if config is None:
        found.complain(None, f"row {at}: {solver[:60]} is for a problem that is not in the file")
        return
    wide = sizes.pop("spatial_dim", 2) == 3
    kept = {name: value for name, value in sizes.items() if wide or not name.endswith("_d")}
    kept["direction"] = _DIRECTIONS.get(str(kept.get("direction")), kept.get("direction"))
    found.rows.append({"config": config, **kept, "solver": solver, "parameters": parameters})


FORMAT = ResultFormat("MIOpen perf-db in SQLite", recognise, read)
"""Tuned parameters of convolution solvers."""
