"""Read MIOpen's databases of convolution solvers: measured solvers in the find-db, tuned solvers in the perf-db."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kprof.errors import InputError
from kprof.inputs.results.model import ResultFormat, RowCollector, ToolResults, lines_of, positive, whole_number
from kprof.inputs.rocprof.database import is_database, opened, plain_tables

_DIMENSIONS = {15: 2, 17: 3}
"""Number of image dimensions by the number of fields in a key."""
_DIRECTIONS = {"F": "forward", "B": "backward data", "W": "backward weights"}
# A key in the text databases looks like ``3-224-224-7x7-64-112-112-64-3x3-2x2-1x1-0-NCHW-FP32-F``.
_KEY = re.compile(rb"^[0-9]{1,9}(?:-[0-9]{1,9}){2,3}-[0-9]{1,6}x[0-9x]{1,20}-[\w-]{10,160}=[\w:]", re.MULTILINE)
_ALGORITHM = "miopenConvolution"
_LINE = re.compile(rb"^[0-9][\w.-]{8,250}=[A-Za-z]\w{2,100}:[^=\n]{1,}", re.MULTILINE)
_SOLVER = re.compile(r"([A-Za-z][\w<>-]{0,120}):(.*)", re.ASCII)
_SIZE_COLUMNS = (
    "layout", "data_type", "direction", "batchsize", "in_channels", "out_channels", "in_d", "in_h", "in_w",
    "fil_d", "fil_h", "fil_w", "pad_d", "pad_h", "pad_w", "conv_stride_d", "conv_stride_h", "conv_stride_w",
    "dilation_d", "dilation_h", "dilation_w", "group_count", "spatial_dim",
)  # fmt: skip
_MOST_ROWS = 5_000_000


def _is_find_db(head: bytes) -> bool:
    """Return whether the file has convolution keys and names of algorithms, which only the find-db contains."""
    return _KEY.search(head) is not None and _ALGORITHM.encode() in head


def _read_find_db(path: Path, shown: str) -> ToolResults:
    """Return one row per solver of a convolution; ``best`` marks the fastest solver of each convolution.

    This reads MIOpen's find-db in text form, the measured solvers of each convolution (``*.fdb.txt``, ``*.ufdb.txt``).

    A line contains a convolution and its solvers: ``KEY=ALGORITHM:SOLVER,MS,WORKSPACE,KERNELS,KEY;...``, and since
    MIOpen 3 ``KEY=SOLVER:MS,WORKSPACE,ALGORITHM;...``. Times are in milliseconds, workspaces in bytes. All solvers of a
    line were measured together, so MIOpen uses the one with the smallest time.
    """
    found = RowCollector()
    problems = 0
    for at, key, solvers in _entries(path, shown, found):
        convolution = _problem(key) if solvers is not None else None
        if convolution is None or solvers is None:
            found.complain(at, f"{key[:60]!r} is not a convolution")
            continue
        problems += 1
        flops = convolution.pop("flops")
        rows = [row for item in solvers.split(";") if item and (row := _solver(item, at, found)) is not None]
        best = min((row["time_ms"] for row in rows), default=None)
        for row in rows:
            row["tflops"] = flops / (row["time_ms"] * 1e9)
            row["best"] = row["time_ms"] == best
            found.rows.append({"problem": key, **convolution, **row})
    found.facts["problems"] = f"{problems:,}"
    return found.results(shown, "MIOpen find-db", "timed solver", cost="time_ms")


def _solver(item: str, at: int, found: RowCollector) -> dict[str, Any] | None:
    name, colon, rest = item.partition(":")
    fields = rest.split(",")
    old = name.startswith(_ALGORITHM)
    solver, values = (fields[0], fields[1:]) if old else (name, fields)
    if not colon or len(values) < 2:
        found.complain(at, f"{item[:60]!r} has no time and workspace")
        return None
    time = positive(values[0])
    workspace = whole_number(values[1])
    if time is None or workspace is None:
        wrong = values[0] if time is None else values[1]
        found.complain(at, f"{wrong[:40]!r} is not a {'time' if time is None else 'size of a workspace'}")
        return None
    algorithm = name if old else (values[2] if len(values) > 2 else "")
    return {"solver": solver, "algorithm": _short_algorithm(algorithm), "time_ms": time, "workspace_bytes": workspace}


def _short_algorithm(algorithm: str) -> str | None:
    """Shorten ``miopenConvolutionFwdAlgoWinograd`` to ``Winograd``."""
    return algorithm.rpartition("Algo")[2] if algorithm.startswith(_ALGORITHM) else algorithm or None


def _is_perf_db(head: bytes) -> bool:
    """Return whether the file has keys with solvers but no algorithms with times."""
    return _LINE.search(head) is not None and b"miopenConvolution" not in head


def _read_perf_db(path: Path, shown: str) -> ToolResults:
    """Return one row per solver of a problem.

    This reads MIOpen's perf-db in text form, the tuned parameters of solvers (``*.updb.txt``, ``*.cd.updb.txt`` and
    older ``*.pdb.txt``).

    A line contains a problem and its solvers: ``KEY=SOLVER:PARAMETERS;SOLVER:PARAMETERS``. The parameters are unnamed
    values whose meaning depends on the solver. Times are only in the find-db.
    """
    found = RowCollector()
    problems = 0
    for at, key, solvers in _entries(path, shown, found):
        if solvers is None or not re.fullmatch(r"[0-9][\w.-]{0,250}", key, re.ASCII):
            found.complain(at, f"{key[:60]!r} is not a problem's key")
            continue
        problems += 1
        convolution = _problem(key) or {}
        convolution.pop("flops", None)
        for item in filter(None, solvers.split(";")):
            match = _SOLVER.fullmatch(item)
            if match is None or not match[2]:
                found.complain(at, f"{item[:60]!r} has no solver and parameters")
                continue
            found.rows.append({"problem": key, **convolution, "solver": match[1], "parameters": match[2]})
    found.facts["problems"] = f"{problems:,}"
    return found.results(shown, "MIOpen perf-db", "tuned solver")


def _is_sqlite(head: bytes) -> bool:
    """Return whether the file is SQLite with a table of solvers; the schema is on the first page."""
    return is_database(head) and b"perf_db" in head and b"conv_stride_h" in head


def _read_sqlite(path: Path, shown: str) -> ToolResults:
    """Return one row per solver of a convolution.

    This reads MIOpen's perf-db in SQLite form, as it is installed and kept per user (``gfx*.db``, ``*.udb``).

    It has two tables: ``config`` with a column for each size of a convolution, and ``perf_db`` with a solver's
    parameters for a configuration. The file's own views and triggers are not run.
    """
    found = RowCollector()
    with opened(path) as connection:
        tables = plain_tables(connection)
        have = [name for name in _SIZE_COLUMNS if name in tables.get("config", [])]
        if not {"solver", "params", "config"} <= set(tables.get("perf_db", [])) or "id" not in tables.get("config", []):
            raise InputError("a perf-db without its tables: it is damaged or of another version", path=shown)
        count = connection.execute("SELECT count(*) FROM perf_db").fetchone()[0]
        if count > _MOST_ROWS:
            raise InputError(f"too large: {count:,} rows; the limit is {_MOST_ROWS:,}", path=shown)
        chosen = ", ".join(f"c.{name}" for name in have)
        query = f"SELECT p.solver, p.params, c.id, {chosen} FROM perf_db p LEFT JOIN config c ON c.id = p.config"  # noqa: S608 - column names from _SIZE_COLUMNS
        for at, (solver, parameters, config, *values) in enumerate(connection.execute(query), 1):
            _row((solver, parameters, config), dict(zip(have, values, strict=True)), at, found)
    found.facts["problems"] = f"{len({row['config'] for row in found.rows}):,}"
    return found.results(shown, "MIOpen perf-db", "tuned solver")


def _row(chosen: tuple[object, object, object], sizes: dict[str, Any], at: int, found: RowCollector) -> None:
    solver, parameters, config = chosen
    if not isinstance(solver, str) or not isinstance(parameters, str):
        found.complain(None, f"row {at}: the solver or its parameters are not text")
        return
    if config is None:
        found.complain(None, f"row {at}: {solver[:60]} is for a problem that is not in the file")
        return
    wide = sizes.pop("spatial_dim", 2) == 3
    kept = {name: value for name, value in sizes.items() if wide or not name.endswith("_d")}
    kept["direction"] = _DIRECTIONS.get(str(kept.get("direction")), kept.get("direction"))
    found.rows.append({"config": config, **kept, "solver": solver, "parameters": parameters})


def _problem(key: str) -> dict[str, Any] | None:
    """Parse a key of a convolution; return ``None`` for other keys.

    Keys of backward convolutions name the output's channels and image first, because those are their inputs. ``flops``
    counts two operations per output element, filter element and channel of a group, for every direction.
    """
    name, _, rest = key.partition("_g")
    fields = name.split("-")
    spatial = _DIMENSIONS.get(len(fields))
    groups = int(rest) if re.fullmatch(r"[1-9][0-9]{0,8}", rest) else 1 if not rest else None
    if spatial is None or groups is None or fields[-1] not in _DIRECTIONS:
        return None
    first = _sizes(fields[: spatial + 1])
    kernel = _sizes(fields[spatial + 1].split("x"))
    second = _sizes(fields[spatial + 2 : 2 * spatial + 3])
    batch = _sizes([fields[2 * spatial + 3]])
    pad, stride, dilation = (fields[2 * spatial + at] for at in (4, 5, 6))
    if first is None or second is None or kernel is None or batch is None or len(kernel) != spatial:
        return None
    inside, outside = (first, second) if fields[-1] == "F" else (second, first)
    channels = inside[0] * outside[0] // groups
    return {
        "direction": _DIRECTIONS[fields[-1]],
        "dtype": fields[-2],
        "layout": fields[-3],
        "batch": batch[0],
        "in_channels": inside[0],
        "out_channels": outside[0],
        "image": "x".join(map(str, inside[1:])),
        "filter": fields[spatial + 1],
        "pad": pad,
        "stride": stride,
        "dilation": dilation,
        "groups": groups,
        "flops": 2 * batch[0] * channels * math.prod(kernel) * math.prod(outside[1:]),
    }


def _sizes(fields: list[str]) -> list[int] | None:
    sizes = [int(field) for field in fields if re.fullmatch(r"[1-9][0-9]{0,8}", field, re.ASCII)]
    return sizes if len(sizes) == len(fields) else None


def _entries(path: Path, shown: str, found: RowCollector) -> Iterator[tuple[int, str, str | None]]:
    """Yield number, key and solvers of each non-empty line of a text database; solvers are ``None`` without ``=``."""
    for at, line in enumerate(lines_of(path, shown, found), 1):
        if text := line.strip():
            key, equals, solvers = text.partition("=")
            yield at, key, solvers if equals else None


FORMATS = (
    ResultFormat("MIOpen find-db", _is_find_db, _read_find_db),
    ResultFormat("MIOpen perf-db in text", _is_perf_db, _read_perf_db),
    ResultFormat("MIOpen perf-db in SQLite", _is_sqlite, _read_sqlite),
)
